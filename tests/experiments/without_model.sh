#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Findings come from records alone: of three results everything that the model says is taken out, the device gets a name that no
# model has, and what `gexp infer` finds is byte for byte what the run found. without_model.sh GEXP
set -u
gexp=$(readlink -f "$1")
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 3
export GEXP_EXPERIMENTS=$root/experiments
failed=0
fail() {
  failed=$((failed + 1))
  echo "FAIL $*"
}

# A member of the top object: its lines up to the next one.
member() { sed -n "/^ \"$1\": /,/^ \"$2\": /p" "$3" | sed '$d'; }

# What is left: no structure, no hash of a model, no findings and no judgements; nothing else is touched.
stripped() {
  awk '
    /^ "findings": / { skip = " \"stages\": " }
    /^  "structure_by_model": / { skip = " }," }
    skip != "" && index($0, skip) == 1 { skip = "" }
    skip != "" { next }
    /^  "model_sha256": / { next }
    /^  "id": / { $0 = "  \"id\": \"sim:unheard-of\"," }
    /^  "selector": / { $0 = "  \"selector\": \"unheard-of\"," }
    /^  "name": / { $0 = "  \"name\": \"A device\"," }
    { lines[++n] = $0 }
    END { for (i = 1; i <= n; ++i) { if (i < n && lines[i + 1] == " },") sub(/,$/, "", lines[i]); print lines[i] } }' "$1"
}

ran=0
while read -r experiment model; do
  settings=()
  for word in $(sed -n "/^# simulated: .*$model/s/.* with //p" "$root/experiments/$experiment.gexp"); do settings+=(--set "$word"); done
  "$gexp" run "$experiment.gexp" --device "sim:$model" --quiet --out run.json ${settings[@]+"${settings[@]}"} >said.txt 2>&1 || fail "$experiment on $model: $(tail -n 3 said.txt)"
  ran=$((ran + 1))
  grep -q '"structure_by_model"' run.json && grep -q '"model_sha256"' run.json || fail "$experiment: the result names no model"
  member findings expectations run.json >wanted.txt
  [ "$(grep -c '"status": "found"' wanted.txt)" -gt 1 ] || fail "$experiment on $model finds nothing"
  stripped run.json >bare.json
  if grep -qiE 'structure_by_model|model_sha256' bare.json || sed '/^  "text": /d' bare.json | grep -qi "$model"; then fail "$experiment: the model is still named"; fi
  "$gexp" devices show sim:unheard-of >said.txt 2>&1 && fail 'there is a model of that name'
  "$gexp" infer bare.json --json >again.json 2>said.txt
  member findings expectations again.json >found.txt
  cmp wanted.txt found.txt || { fail "$experiment on $model: other findings without the model"; head -n 3 said.txt; diff wanted.txt found.txt | head; }
done <<'LIST'
cache/structure gtx780
tlb/structure gtx980
outstanding/threads m2070
LIST
echo "$ran results, $failed failed"
[ "$failed" -eq 0 ] && [ "$ran" -eq 3 ]
