#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The pages of docs/papers name every published result that the experiments expect, and what stands in their tables is of the form
# that the comments above say; nothing is run. Then the test of the test: planted gaps must be seen. papers.sh SUITE
set -u
suite=$(readlink -f "$1")
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
"$suite" --check "$root/experiments" "$root/docs/papers" || failed=1

# planted NAME WORDS SED FILE: the check fails, with these words, once the file is edited so.
planted() {
  local name=$1 words=$2 edit=$3 file=$4
  rm -rf "$work/experiments" "$work/papers"
  cp -r "$root/experiments" "$work/experiments"
  cp -r "$root/docs/papers" "$work/papers"
  sed -i "$edit" "$work/$file"
  if cmp -s "$work/$file" "$root/${file/#papers/docs/papers}"; then
    echo "FAIL $name: nothing was planted"
    failed=1
  fi
  if "$suite" --check "$work/experiments" "$work/papers" >"$work/said" || ! grep -qF "$words" "$work/said"; then
    echo "FAIL $name is not seen:"
    head -n 5 "$work/said"
    failed=1
  fi
}
planted 'a new expectation' 'is there 0 times: capacity.hit == 110cycles' '$a expect capacity.hit == 110cycles on gtx780 from "Mei14 Table 5"' experiments/cache/structure.gexp
planted 'another number' 'mei17.md: cache/structure expects no such thing on gtx780' 's/capacity.C == 12288B and/capacity.C == 12289B and/' experiments/cache/structure.gexp
planted 'another device' 'on gtx980 is there 0 times' 's/^# simulated: gtx280 gtx560ti gtx780$/& gtx980/; s/ on gtx560ti, gtx780 from "Mei17 section 4.3/ on gtx560ti, gtx780, gtx980 from "Mei17 section 4.3/' experiments/wong10/texture.gexp
planted 'another source' 'is from "Mei17 Table VI"' 's/on gtx780, gtx980 from "Mei17 Table V"/on gtx780, gtx980 from "Mei17 Table VI"/' experiments/cache/structure.gexp
planted 'another paper' 'belongs to mei14.md' 's/on gtx780, gtx980 from "Mei17 Table V"/on gtx780, gtx980 from "Mei14 Table 4"/' experiments/cache/structure.gexp
planted 'a result that is not run any more' 'is not run' 's/^# simulated: gtx780 gtx980$/# simulated: gtx780/' experiments/cache/structure.gexp
planted 'a row that is gone' 'mei17.md: cache/structure on gtx980 is there 0 times' '/^| gtx980 | `capacity.C == 24576B and/d' papers/mei17.md
planted 'a row twice' 'is there 2 times' 's/^| gtx980 | `capacity.C == 24576B and.*/&\n&/' papers/mei17.md
planted 'a published number that the table does not follow' 'mei17.md:' '0,/^| GTX 780 | published | 198 |/s//| GTX 780 | published | 199 |/' papers/mei17.md
planted 'a row beside that is gone' 'the table is not what is made of the comment above it' '0,/^| K20: kind | like a PRT | prt |$/{/prt |$/d}' papers/lashgar15.md

# A page stands whichever NVRTC compiled the kernels: figures with a decimal point may differ by 1 %, nothing else may.
same() { "$suite" --same "$1" "$2" || { echo "FAIL '$1' should stand for '$2'"; failed=1; }; }
other() { ! "$suite" --same "$1" "$2" || { echo "FAIL '$1' should not stand for '$2'"; failed=1; }; }
same 'copy.peak = 106.8 GB/s' 'copy.peak = 106.7 GB/s'
same 'a = 5.001 GB/s, b = …' 'a = 5.01 GB/s, b = 1'
other 'a = 5.001 GB/s, b = …' 'a = 5.01 GB/s, c = 1'
other 'a = 5.001 GB/s, b' 'a = 5.01 GB/s, b = 1'
same 'l2.one.plateau = 30.2 GB/s, l2.one.knee = 463' 'l2.one.plateau = 30 GB/s, l2.one.knee = 463'
other 'copy.peak = 106.8 GB/s' 'copy.peak = 105.2 GB/s'
other 'copy.peak = 106.8 GB/s' 'copy.peak = 106.8 MB/s'
other 'sets.S.bits = [7, 8]' 'sets.S.bits = [7, 9]'
other 'sets.S.bits = [7, 8]' 'sets.S.bits = [7, 8, 9]'
other 'cold.one_miss = 344192 B' 'cold.one_miss = 344193 B'
[ "$failed" -eq 0 ]
