#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The store as a user meets it: what goes wrong, what is handed on, several processes, another user. run.sh GEXP
set -u
gexp=$(readlink -f "$1")
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; mountpoint -q "$work/small" && umount "$work/small"; rm -rf "$work"' EXIT
export NO_COLOR=1
unset GEXP_STORE
cd "$work" || exit 3
checks=0 failures=0
that() {  # WHAT COMMAND…
  local what=$1
  shift
  checks=$((checks + 1))
  "$@" >said 2>&1 || { failures=$((failures + 1)); echo "FAIL $what"; tail -n 5 said out err 2>/dev/null; }
}
run() { "$gexp" "$@" >out 2>err; code=$?; }
spec=$root/experiments/cache/structure.gexp

# By default: gexp.db here, and told.
run run "$spec" --device sim:gtx780
that 'a run ends well' [ $code -eq 0 ]
that 'it says where it is kept' grep -qx 'note: kept as result 1 in gexp.db' err
cp out first
run infer last
that 'inferred again it reads the same' diff <(sed '$d' first) <(sed '$d' out)
run run "$spec" --device sim:gtx780 --store none
that 'none keeps nothing' [ "$("$gexp" results --json | grep -c '"id"')" -eq 1 ]
run infer 7
that 'a number that is not there' grep -q 'E0914.*no result 7' err
run infer fisrt --store nowhere.db
that 'a store that is not there' grep -q 'E0711' err
that 'is not made by reading' [ ! -e nowhere.db ]

# Two processes at once.
"$gexp" run "$spec" --device sim:gtx980 --quiet >/dev/null 2>&1 &
"$gexp" run "$spec" --device sim:gtx780 --seed 3 --quiet >/dev/null 2>&1 &
wait
that 'two processes write at once' [ "$("$gexp" results --state complete --json | grep -c '"id"')" -eq 3 ]

# Interrupted, gone on with.
"$gexp" run "$spec" --device sim:drawn-7 --jobs 1 --quiet >out 2>err &
for _ in $(seq 100); do "$gexp" results --state running --json | grep -q '"id"' && break; sleep 0.05; done
kill -INT $!
wait $!
that 'an interrupted run is there' [ "$("$gexp" results --state interrupted --json | grep -c '"id"')" -eq 1 ]
run run "$spec" --device sim:drawn-7 --resume --json
that 'it goes on' grep -q '^note: going on with run 4 of ' err
sed '/"timing": {$/,$d' out >resumed
run run "$spec" --device sim:drawn-7 --json --store none
that 'to the result of an unbroken run' diff resumed <(sed '/"timing": {$/,$d' out)
run run "$spec" --device sim:drawn-7 --resume --quiet
that 'what is complete begins anew' [ "$("$gexp" results --json | grep -c '"id"')" -eq 5 ]
run run "$spec" --store none --resume
that '--resume needs a store' [ $code -eq 3 ]

# Ended early again and again, it keeps what it had; and of many that want to go on with it, one may.
"$gexp" run "$spec" --device sim:drawn-7 --jobs 1 --quiet --store early.db >/dev/null 2>&1 &
for _ in $(seq 100); do "$gexp" results --state running --store early.db --json 2>/dev/null | grep -q '"id"' && break; sleep 0.05; done
kill -KILL $!
wait $! 2>/dev/null
for limit in 0.05 0.2 0.02; do run run "$spec" --device sim:drawn-7 --jobs 1 --resume --time-limit $limit --store early.db --quiet; done
that 'out of time, and one result still' [ "$("$gexp" results --store early.db --json | grep -c '"out of time"')" -eq 1 ]
run run "$spec" --device sim:drawn-7 --resume --json-progress --json --store early.db
sed '/"timing": {$/,$d' out >resumed
that 'ended early, gone on with, ended early' grep -q 'going on with run 1 ' err
run run "$spec" --device sim:drawn-7 --json --store none
that 'it comes to the result of an unbroken run' diff resumed <(sed '/"timing": {$/,$d' out)
for _ in 1 2 3 4 5; do
  rm -f race.db*
  "$gexp" run "$spec" --device sim:gtx780 --quiet --time-limit 0.3 --store race.db >/dev/null 2>&1
  for who in 1 2 3 4; do "$gexp" run "$spec" --device sim:gtx780 --quiet --resume --store race.db --time-limit 0.$who >/dev/null 2>"race$who" & done
  wait
  run run "$spec" --device sim:gtx780 --quiet --resume --store race.db
  run infer last --store race.db
  that 'four that go on at once leave one whole result' diff <(sed '$d' first) <(sed '$d' out)
done

# Nothing is written over a store, or over what is read.
cp "$spec" own.gexp
run run own.gexp --device sim:gtx780 --out own.gexp
that 'a spec is not replaced by its result' cmp -s own.gexp "$spec"
run run own.gexp --device sim:gtx780 --out gexp.db
that 'nor a store' grep -q 'E0710.*store' err
run report 1 -o gexp.db
that 'nor a store by a page' grep -q 'E0710.*store' err
run export 1 gexp.gexpz
cp gexp.gexpz gexp2.gexpz
: >gexp2.gexpz-wal
run export 2 gexp2.gexpz
that 'nor what is in use' grep -q 'E0710.*in use' err
rm gexp2.gexpz*
run export 1 race.db
run export 2 gexp.gexpz
that 'a bundle may be replaced by another' [ $code -eq 0 ]
for text in tomorrow 22.11.2026 2026-13 2026-1-1; do
  run results prune --before $text --dry-run
  that "$text is no date" [ $code -eq 2 ]
done
echo 'no result' >1
run infer 1
that 'a number is one in the store, whatever files there are' [ $code -eq 0 ]
rm 1

# A run that fails at its first point is no result.
printf 'gexp 1\nexperiment failing\nmemory A: u32[4KiB] in global\nstage s {\n  sweep n in [1KiB, 64KiB]\n  pattern p = uniform(stride: 128B, span: n)\n  launch grid 1 block 1\n  warm { chase A by p laps 1 }\n  timed lat each { chase A by p laps 1 }\n  repeat 3\n  find l: cycles = fastest(lat)\n}\n' >failing.gexp
run run failing.gexp --device sim:gtx780 --store failing.db
that 'it is not listed as complete' [ "$("$gexp" results --store failing.db --json 2>/dev/null | grep -c '"complete"')" -eq 0 ]

# A copy of 8 KiB, read-only, foreign, newer, damaged: said, and left as it is.
"$gexp" results name 1 base >/dev/null
cp gexp.db good.db
: >good.db-wal
for bad in text cut foreign folder; do
  case $bad in
    text) head -c 20000 /dev/zero | tr '\0' x >bad.db ;;
    cut) head -c 8192 good.db >bad.db ;;
    foreign) printf 'SQLite format 3\0' >bad.db ;;
    folder) rm -f bad.db; mkdir bad.db ;;
  esac
  [ $bad = folder ] || cp bad.db before
  run run "$spec" --device sim:gtx780 --store bad.db
  that "$bad: an error with a code" grep -qE 'error\[E091[012]\]' err
  that "$bad: exit 3" [ $code -eq 3 ]
  that "$bad: with a way out" grep -q -- '--store' err
  [ $bad = folder ] || that "$bad: left as it is" cmp -s bad.db before
  run results --store bad.db
  that "$bad: results says so too" grep -qE 'error\[E091[012]\]|no results' err out
done
rm -rf bad.db*

# Nobody but root writes what is read-only.
other() { setpriv --reuid 65534 --regid 65534 --clear-groups env -i PATH="$PATH" HOME="$work/home" NO_COLOR=1 ${CUDA_PATH:+CUDA_PATH="$CUDA_PATH"} ${GEXP_NVRTC:+GEXP_NVRTC="$GEXP_NVRTC"} "$@"; }
if [ "$(id -u)" -eq 0 ] && other true 2>/dev/null; then
  mkdir home shared
  chmod 755 "$work" shared
  chown 65534:65534 home
  run export base shared/colleague.gexpz
  that 'a bundle is made' [ -s shared/colleague.gexpz ]
  chmod 644 shared/colleague.gexpz
  cp "$gexp" shared/gexp
  cp -r "$root/experiments" shared/experiments
  cd shared || exit 3
  other ./gexp infer colleague.gexpz >../out 2>../err
  cd ..
  that 'another user, with an empty home, reads it' diff <(sed '$d' first) <(sed '$d' out)
  (cd shared && other ./gexp replay colleague.gexpz --json >../out 2>../err)
  that 'what differs is said before it runs' grep -q 'are the same here$' err
  that 'a folder that cannot be written is told, and the run goes on' grep -q 'note: the result will not be kept: cannot open gexp.db' err
  findings() { sed -n '/^ "findings": \[/,/^ \],/p' "$1"; }
  "$gexp" infer base --json >ours
  that 'there are findings to compare' grep -q '"value": 12288' <(findings ours)
  that 'and finds the same, byte for byte' cmp <(findings ours) <(findings out)
  (cd shared && other ./gexp replay colleague.gexpz --store "$work/home/own.db" >../out 2>../err)
  that 'the words too' grep -qx 'all 8 findings are the same, byte for byte' out
  cp good.db shared/readonly.db
  (cd shared && other ./gexp run experiments/cache/structure.gexp --device sim:gtx780 --store readonly.db >../out 2>../err; echo $? >../code)
  that 'a read-only store is an error where it was named' grep -q 'E0910' err
  that 'of exit 3' [ "$(cat code)" -eq 3 ]
  that 'and stays as it is' cmp -s good.db shared/readonly.db
  (cd shared && other ./gexp infer readonly.db:base >../out 2>../err)
  that 'and can be read' diff <(sed '$d' first) <(sed '$d' out)
else
  echo "not root: another user was not tried"
fi

# A disk that fills up while the run goes on.
mkdir small
if mount -t tmpfs -o size=192k none small 2>/dev/null; then
  run run "$spec" --device sim:gtx780 --store small/gexp.db --out rescued.json
  that 'a full disk is said' grep -q 'E0910.*no space is left' err
  that 'with exit 3' [ $code -eq 3 ]
  that 'the findings are printed all the same' grep -q 'capacity.C' out
  run infer rescued.json
  that 'and saved where --out says' diff <(sed '$d' first) <(sed '$d' out)
  umount small
else
  echo "cannot mount: a full disk was not tried"
fi

# Replayed with another model of that name, or none: the one that travels is taken.
cp "$root/runtime/sim/models/gtx780.toml" own.toml
run run "$spec" --device sim:own.toml
run export last own.gexpz
rm own.toml
run replay own.gexpz
that 'the model travels with the bundle' grep -q 'the model that travels with the result is taken' err
that 'and gives the same' grep -q '^all 8 findings are the same' out

# A lock.
run export base x.lock
run run "$spec" --locked x.lock
that 'what is locked runs' [ $code -eq 0 ]
sed 's/"sha256": "f/"sha256": "0/; t; s/"sha256": "./"sha256": "f/' x.lock >y.lock
run run "$spec" --locked y.lock
that 'what differs does not' grep -q 'E0918.*spec: ' err
sed 's/"sha256": "./"sha256": "z/' x.lock >y.lock
run run "$spec" --locked y.lock
that 'nor what is no hash' grep -q 'E0917' err
run run "$spec" --locked first
that 'a lock that is none' grep -q 'E0917' err
run run "$spec" --locked x.lock --seed 12
that 'a seed that is not its own' grep -q 'E0918.*seed: ' err

# Export by ending; prune.
for file in a.json a.csv a.cu; do run export base $file; that "export to $file" [ $code -eq 0 ]; done
that 'CSV has units in its head' grep -qx 'n B,median(lat) cycles' a.capacity.csv
that 'CUDA text' grep -q __global__ a.cu
run compare base a.json
that 'a result and its JSON are the same' [ $code -eq 0 ]
run export base a.xlsx
that 'an ending that is none' grep -q 'E0916' err
run results prune
that 'prune asks what' grep -q 'E0916' err
run results prune --keep 1
that 'prune leaves names and the newest' [ "$("$gexp" results --json | grep -c '"id"')" -eq 2 ]
run results name base last
that 'a name that cannot be' grep -q 'E0916' err

echo "$checks checks, $failures failures"
[ $failures -eq 0 ]
