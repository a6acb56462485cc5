#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# How often the experiments that read `model` find what drawn devices are, with and without the noise of an H200: the table of
# docs/inference/recovery.md, between `<!-- recovery -->` and `<!-- end -->`. recovery.sh GEXP DEVICES [FIRST]
set -eu
gexp=$(readlink -f "$1") devices=$2 first=${3:-1}
root=$(cd "$(dirname "$0")/../.." && pwd)
page=$root/docs/inference/recovery.md
table=$(mktemp)
trap 'rm -f "$table"' EXIT
cat >"$table" <<'T'
| experiment | noise | devices | claims | right | abstained | wrong | claims at 95 % and more | of them wrong |
|---|---|---|---|---|---|---|---|---|
T
cd "$root/experiments"
for file in $(grep -lE '^expect .*\bmodel\.' -r . --include='*.gexp' | sed 's|^\./||' | sort); do
  for noise in none real; do
    "$gexp" verify "$file" --models "$devices" --first "$first" --noise "$noise" --quiet | awk -v experiment="${file%.gexp}" -v noise="$noise" -v devices="$devices" '
      # … right N P %  wrong N P %  abstained N P %: the last row is of all expectations together
      /%  +[0-9]+ +[0-9.]+ %  +[0-9]+ +[0-9.]+ %$/ { right = $(NF - 8); wrong = $(NF - 5); abstained = $(NF - 2) }
      / claims, / && ($1 >= 95) { for (i = 1; i <= NF; ++i) if ($i == "claims,") { sure += $(i - 1); bad += $(i + 1) } }
      END {
        all = right + wrong + abstained
        printf "| %s | %s | %d | %d | %.1f %% | %.1f %% | %.1f %% (%d) | %d | %.1f %% |\n", experiment, noise == "none" ? "none" : "an H200'"'"'s", devices, all, 100 * right / all, 100 * abstained / all, 100 * wrong / all, wrong, sure, sure ? 100 * bad / sure : 0
      }' | tee -a "$table"
  done
done
awk -v table="$table" '
  /^<!-- recovery -->$/ { print; while ((getline line < table) > 0) print line; skip = 1; next }
  /^<!-- end -->$/ { skip = 0 }
  !skip { print }' "$page" >"$page.new"
mv "$page.new" "$page"
