#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Standard streams that cannot be written, files that are none, and texts that a terminal would obey. streams.sh GEXP
set -u
gexp=$(readlink -f "$1")
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 3
export GEXP_EXPERIMENTS=$root/experiments GEXP_CACHE=$work/cache
passed=0 failed=0
that() {  # NAME CONDITION…
  local name=$1
  shift
  if "$@"; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAIL $name"; cat err.txt 2>/dev/null | head -5; fi
}
# ends NAME CODE WORDS COMMAND: run by bash within 30 s, its exit code, and words on stderr (err.txt).
ends() {
  local name=$1 code=$2 words=$3 got
  : >err.txt
  timeout 30 bash -c "$4" 2>err.txt
  got=$?
  that "$name: exit $got" test "$got" -eq "$code"
  [ -z "$words" ] || that "$name: says so" grep -qE -- "$words" err.txt
}
export gexp
small='memory A: u32[64KiB] in global stage s { pattern r = uniform(stride: 32B, span: 4KiB) launch grid 1 block 1 warm { chase A by r laps 2 via nc } timed lat each { chase A by r laps 2 via nc } repeat 3..3 find h: cycles = fastest(lat) }'
printf 'gexp 1\nexperiment small\n%s\n' "$small" >small.gexp
run='"$gexp" run small.gexp --device sim:gtx780 --quiet'

# Every command that prints, to a disk that is full and to nothing at all.
"$gexp" run small.gexp --device sim:gtx780 --quiet --out one.json --store one.db >/dev/null
for command in 'list' 'devices' 'man' 'doctor' '--help' '--version' 'run --help' 'plan small.gexp --device sim:gtx780' 'check small.gexp' 'completions bash' \
  'infer one.json' 'infer one.json --json' 'infer one.json --points s' 'report one.json' 'results --store one.db' 'results --store one.db --json' 'compare one.json one.json' 'emit small.gexp' \
  'run small.gexp --device sim:gtx780 --quiet --store none' 'survey small.gexp --device sim:gtx780 --store none --quiet'; do
  timeout 30 "$gexp" $command >/dev/full 2>err.txt; code=$?
  that "a full disk behind: $command ($code)" test "$code" -eq 3
  that "it says so: $command" grep -q 'cannot write the standard output: No space left' err.txt
  timeout 30 "$gexp" $command >&- 2>err.txt; code=$?
  that "closed, behind: $command ($code)" test "$code" -eq 3
  that "no bug is told: $command" test -z "$(grep -i 'internal error' err.txt)"
done
ends 'formatted to a full disk' 3 'cannot write the standard output' '"$gexp" fmt - <small.gexp >/dev/full'
ends 'a reader that has gone' 3 '' '{ sleep 0.3; "$gexp" man; } | true; exit "${PIPESTATUS[0]}"'

# What was measured is written first, and a failing stderr costs nothing.
ends 'both streams full' 3 '' "$run --out full.json --store full.db >/dev/full 2>/dev/full"
that 'the file is whole' "$gexp" infer full.json >/dev/null
that 'the store has it' test "$("$gexp" results --store full.db --json | grep -c '"state": "complete"')" -eq 1
ends 'all streams closed' 3 '' "$run --out closed.json --store closed.db <&- >&- 2>&-"
that 'the file is whole' cmp -s <(sed '/"timing": {/,$d' closed.json) <(sed '/"timing": {/,$d' full.json)
that 'the store has it' test "$("$gexp" results --store closed.db --json | grep -c '"state": "complete"')" -eq 1
ends 'progress to a reader that has gone' 0 '' '"$gexp" run small.gexp --device sim:gtx780 --out gone.json --store none 2> >(exec true) >/dev/null'
that 'the file is whole' "$gexp" infer gone.json >/dev/null

# What is no file is not waited for.
mkfifo fifo
ln -s /dev/zero link.gexp
for what in fifo /dev/zero link.gexp . ; do
  for command in check run infer report fmt 'export X.lock' lock; do
    case $command in export*) words="export $what x.lock" ;; *) words="$command $what" ;; esac
    timeout 10 "$gexp" $words >out.txt 2>err.txt </dev/null; code=$?
    that "$words ($code)" test "$code" -eq 2 -o "$code" -eq 3
  done
done
mkdir folder
cp small.gexp folder
mkfifo folder/wait.gexp
ln -s /dev/zero folder/zero.gexp
timeout 20 "$gexp" survey folder --device sim:gtx780 --store none --quiet >out.txt 2>err.txt; code=$?
that "a folder with what is no file ($code)" test "$code" -lt 100
mkfifo fifo.toml
ends 'a model' 3 'a FIFO' '"$gexp" run small.gexp --device sim:fifo.toml --store none'
ends 'a lock' 3 'a FIFO' '"$gexp" run small.gexp --locked fifo --store none'
ends 'a store' 3 'a FIFO' '"$gexp" results --store fifo'
ends 'against' 2 'a FIFO' '"$gexp" verify small.gexp --against fifo'

# What a lock says is taken as it stands, or not at all.
"$gexp" export one.json one.lock >/dev/null
for seed in -1 18446744073709551616 1.5 '"1"' true; do
  sed "s/\"seed\": [0-9]*/\"seed\": $seed/" one.lock >bad.lock
  ends "a lock with the seed $seed" 3 'E0917' '"$gexp" run small.gexp --locked bad.lock --store none'
done

# Nothing that a terminal obeys comes from a stranger: ESC, CSI of C1, right-to-left override.
esc=$(printf '\033[31m') csi=$(printf '\302\233') rlo=$(printf '\342\200\256')
raw() { LC_ALL=C grep -qaP '\x1b|\xc2\x9b|\xe2\x80\xae' "$@"; }
for evil in "$esc" "$csi" "$rlo"; do
  printf 'gexp 1\nexperiment small # %s\n%s\n' "$evil" "$small" >evil.gexp
  ends 'a spec' 2 'E0101' '"$gexp" check evil.gexp'
  that 'shown as an escape' test -z "$(raw err.txt && echo raw)"
  sed "s/(simulated)\"/(simulated) $evil\"/" "$root/runtime/sim/models/gtx780.toml" >evil.toml
  ends 'a model' 3 '' '"$gexp" run small.gexp --device sim:evil.toml --store none'
  that 'shown as an escape' test -z "$(raw err.txt && echo raw)"
  for place in '"name": "GeForce' '"date": "' '"experiment": "' '"gexp": "' '"text": "gexp 1'; do
    sed "s/$place/$place$(printf '%s' "$evil" | sed 's/\x1b/\\\\u001b/; s/\[/\\[/')/" one.json >evil.json
    timeout 20 "$gexp" report evil.json >out.txt 2>err.txt
    that "a result, $place: refused" test $? -ne 0
    that "a result, $place" test -z "$(raw out.txt err.txt && echo raw)"
  done
  sed "s/\"nvrtc\": \"/&$(printf '%s' "$evil" | sed 's/\x1b/\\\\u001b/; s/\[/\\[/')/" one.lock >evil.lock
  ends 'a lock' 3 '' '"$gexp" run small.gexp --locked evil.lock --store none'
  that 'a lock' test -z "$(raw err.txt && echo raw)"
done
sed 's/title = "GeForce GTX 780 (simulated)"/title = "GTX \\u001b[31m"/' "$root/runtime/sim/models/gtx780.toml" >written.toml
ends 'an escape that TOML writes' 3 'E0605|no line of text' '"$gexp" run small.gexp --device sim:written.toml --store none'

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
