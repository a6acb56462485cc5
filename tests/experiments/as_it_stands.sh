#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `gexp run FILE --device sim:MODEL` on every shipped file and each model that its head names, with the file's own defaults and budget.
#   as_it_stands.sh GEXP          plans each: the device takes it, and the least time by estimate is within the budget
#   as_it_stands.sh GEXP --run    runs those that the suite does not run so (heads with settings, and `# simulated long:`): each must end by
#                                 itself with every expectation held
set -u
gexp=$(readlink -f "$1") run=${2:-}
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export GEXP_EXPERIMENTS=$root/experiments GEXP_STORE=none
planned=0 ran=0 failed=0

fail() {  # WHAT: with the first lines of what gexp said
  echo "FAIL $1"
  head -n 5 "$work/said"
  failed=$((failed + 1))
}

plan() {  # FILE MODEL
  planned=$((planned + 1))
  "$gexp" plan "$1" --device "sim:$2" --json >"$work/said" 2>&1 || { fail "$1 on $2: no plan"; return; }
  # A file without a budget has ten minutes (docs/language.md, *Limits*).
  awk '/"seconds": \[$/ { getline; least = $1 + 0 } /"time_budget": [0-9]/ { budget = $2 + 0 }
    END { if (budget == 0) budget = 600; if (least > budget) { printf "%g s by estimate, the budget is %g s\n", least, budget; exit 1 } }' \
    "$work/said" >"$work/time" || { mv "$work/time" "$work/said"; fail "$1 on $2: does not fit its budget"; }
}

run() {  # FILE MODEL: beside one other, since much of a run is one thread's
  ran=$((ran + 1))
  [ "$ran" -le 2 ] || wait -n
  one "$1" "$2" "$work/$ran" &
}

one() {  # FILE MODEL NAME: what went wrong in NAME.failed
  "$gexp" run "$1" --device "sim:$2" --quiet </dev/null >"$3" 2>&1 || { echo "FAIL $1 on $2"; tail -n 5 "$3"; } >"$3.failed"
}

while read -r file head; do
  settings=${head#*: }
  models=${settings%% with *}
  for model in $models; do
    if [ "$run" != --run ]; then plan "$root/$file" "$model"
    elif [[ $head == *' long: '* || $head == *' with '* ]]; then run "$root/$file" "$model"
    fi
  done
done < <(cd "$root" && grep -rE '^# simulated( long)?: ' experiments --include='*.gexp' | sed 's/:/ /' | sort)
wait
for problem in "$work"/*.failed; do
  [ -f "$problem" ] || continue
  cat "$problem"
  failed=$((failed + 1))
done
echo "$planned planned, $ran run, $failed failed"
[ "$failed" -eq 0 ] && [ $((planned + ran)) -gt 0 ]
