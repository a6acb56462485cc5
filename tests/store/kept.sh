#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Kept stages as a user meets them: run, plan, survey, replay, compare, locks, budgets. kept.sh GEXP
set -u
gexp=$(readlink -f "$1")
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
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
launches() { sed -n '/"timing": {$/,$p' "$1" | grep '"launches"' | grep -vc ': 0,'; }  # stages with any
spec=small.gexp
cp "$root/experiments/cache/structure.gexp" $spec
on=(--device sim:gtx780)

run run $spec "${on[@]}" --out first.json
that 'the first run measures all' [ "$(launches first.json)" -eq 7 ]
that 'nothing is said to be kept' [ "$(grep -c 'kept from' out err | grep -vc ':0$')" -eq 0 ]
run run $spec "${on[@]}" --out second.json
that 'the second none' [ "$(launches second.json)" -eq 0 ]
that 'it says so stage by stage' [ "$(grep -c '^\[[1-7]/7\] [a-z]*: kept from result 1$' err)" -eq 7 ]
that 'and in the report' grep -qx 'fetch, capacity, overflow, line, elsewhere, sets, policy: kept from result 1' out
that 'as a page too' bash -c "'$gexp' report last -o page.html && grep -q 'kept from result 1' page.html"
that 'in JSON' [ "$(grep -c '"kept": {' second.json)" -eq 7 ]
that 'with its findings' diff <(sed -n '/"findings"/,/"expectations"/p' first.json) <(sed -n '/"findings"/,/"expectations"/p' second.json)
run run $spec "${on[@]}" --json-progress
that 'for programs' grep -q '^{"event":"kept","stage":"fetch","number":1,"stages":7,"text":"kept from result 1","seconds":' err
run run $spec "${on[@]}" --fresh --out fresh.json
that '--fresh measures all' [ "$(launches fresh.json)" -eq 7 ]
that 'and finds the same' diff <(sed -n '/"findings"/,/"expectations"/p' first.json) <(sed -n '/"findings"/,/"expectations"/p' fresh.json)
run run $spec "${on[@]}" --store none --out none.json
that 'without a store all is measured' [ "$(launches none.json)" -eq 7 ]

# An edit, as the plan sees it and as the run goes.
sed -i '/^stage line/,/^}/s/repeat 3\.\.20/repeat 4..20/' $spec
run plan $spec "${on[@]}"
that 'a plan says what is kept' [ "$(grep -c '^ *kept from result 4$' out)" -eq 4 ]
that 'and why the rest is measured' [ "$(grep -c '^ *measured: its text changed$' out)" -eq 1 ]
that 'as far as it is known' grep -q '^ *measured: unless .*line.b.* stays\? as \(it was\|they were\)$' out
run plan $spec "${on[@]}" --json
that 'a plan as JSON' grep -q '"measured_because": "its text changed"' out
run plan $spec "${on[@]}" --fresh
that 'a fresh one looks at no store' bash -c '! grep -qE "kept|measured:" out'
run plan $spec "${on[@]}" --store nowhere.db
that 'a store that is not there is no mistake' [ $code -eq 0 ]
that 'and is not made' [ ! -e nowhere.db ]
run plan $spec "${on[@]}" --seed 99
that 'another seed' [ "$(grep -c 'measured: it was measured with another seed' out)" -eq 7 ]
run plan $spec --device sim:gtx980
that 'another device' [ "$(grep -c 'measured: it was measured on another device' out)" -eq 7 ]
cp -r "$root/templates" templates
run plan $spec "${on[@]}" --templates templates
that 'templates of a folder' [ "$(grep -c 'measured: it was measured by another gexp, NVRTC or templates' out)" -eq 7 ]
run run $spec "${on[@]}" --out edited.json
that 'the edited stage is measured' [ "$(launches edited.json)" -eq 1 ]
that 'its readers are not: it found the same' grep -qx 'fetch, capacity, overflow, elsewhere, sets, policy: kept from result 4' out

# What asks whether the same comes out again measures.
run replay 2 --out replayed.json
that 'replay measures all' [ "$(launches replayed.json)" -eq 7 ]
that 'and finds the same' grep -q 'all 8 findings are the same, byte for byte' out
run export 5 edited.lock
run run $spec --locked edited.lock --out locked.json
that 'so does a locked run' [ "$(launches locked.json)" -eq 7 ]
run compare 1 2
that 'compare tells what is one measurement' grep -q 'one measurement on both sides, which one of them kept: fetch, capacity' out
run compare 1 4
that 'and what is two' bash -c '! grep -q "one measurement" out'
cat >low.gexp <<'S'
gexp 1
experiment low
budget time 20ms
memory A: u32[1MiB] in global
stage s {
  sweep n in 1KiB..128KiB step 1KiB
  pattern p = uniform(stride: 32B, span: n)
  launch grid 1 block 1
  timed lat each { chase A by p laps 2 }
  repeat 3
  find h: cycles = fastest(lat)
}
S
sed 's/budget time 20ms/budget time 60s/' low.gexp >high.gexp
run run low.gexp "${on[@]}"
that 'a plan beyond the budget is refused' grep -q E0443 err
run run high.gexp "${on[@]}" --quiet
run run low.gexp "${on[@]}"
that 'but what is kept takes no time' [ $code -eq 0 ]
that 'of the budget either' grep -q 's: kept from result' out
run run low.gexp "${on[@]}" --fresh
that 'unless it is to be measured' grep -q E0443 err

mkdir own
sed 's/experiment low/experiment other/; s/20ms/60s/; s/128KiB step 1KiB/4KiB step 1KiB/' low.gexp >own/other.gexp
run survey own "${on[@]}"
run survey own "${on[@]}"
that 'a survey keeps too' grep -q '^  s: kept from result' out
that 'and where the time went' grep -qE '^  other.s \(kept\) +0\.[0-9]+ +4 +0 ' out
run survey own "${on[@]}" --fresh
that 'but not a fresh one' bash -c '! grep -q "kept from" out'
echo "$checks checks, $failures failures"
[ $failures -eq 0 ]
