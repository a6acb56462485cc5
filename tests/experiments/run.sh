#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every experiment that ships: it is in house form and free of mistakes, and its kernels compile. run.sh GEXP
# What it finds on simulated devices is suite.cpp's. Comments at the head of a file: `# compiled: with most=12`
# (settings), `# compiled: for sim:h200` (another device than sim:gtx780), `# compiled: to PTX by NVRTC 11` (its assembler takes a
# minute or two for a megabyte of PTX, NVRTC 13's some seconds).
set -u
gexp=$(readlink -f "$1")
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export GEXP_EXPERIMENTS=$root/experiments
arch=sm_90
"$gexp" emit -e 'gexp 1 experiment t memory A: u32[4KiB] in global stage s { launch grid 1 block 1 timed t total { load A at 0B } repeat 3..3 find x: cycles = value(t) }' \
  --ptx --arch $arch >/dev/null 2>&1 || { echo "NVRTC does not make $arch: kernels are compiled for its oldest architecture"; arch=; }

# Which NVRTC it is: what is newer than an old one's assembler is compiled to PTX and no further.
nvrtc=$("$gexp" run -e 'gexp 1 experiment t memory A: u32[4KiB] in global stage s { launch grid 1 block 1 timed t total { load A at 0B } repeat 3..3 find x: cycles = value(t) }' \
  --device sim:gtx780 --store none --json --quiet 2>/dev/null | sed -n 's/.*"nvrtc": *"\([0-9]*\)\..*/\1/p' | head -1)

# one FILE: prints what went wrong; the name of the file's log is its own.
one() {
  local file=$1 log=$2 settings=() words word device assembled=$arch
  "$gexp" fmt --check "$file" >"$log" 2>&1 || { echo "FAIL $file: gexp fmt changes it"; return; }
  "$gexp" check "$file" >"$log" 2>&1 || { echo "FAIL $file: check"; cat "$log"; return; }
  words=$(sed -n 's/^# compiled: with //p' "$file")
  for word in $words; do settings+=(--set "$word"); done
  device=$(sed -n 's/^# compiled: for //p' "$file")
  device=${device:-sim:gtx780}
  "$gexp" emit "$file" --device "$device" --cuda "${settings[@]}" >"$log" 2>&1 || { echo "FAIL $file: CUDA text"; cat "$log"; }
  grep -qE '__global__|[.]entry' "$log" || echo "FAIL $file: no kernel"
  [ "${nvrtc:-0}" -lt 12 ] && grep -qE "^# compiled: to PTX by NVRTC 11$| via bulk|wgmma" "$file" && assembled=  # the last two: PTX ISA 8.0
  "$gexp" emit "$file" --device "$device" --ptx ${assembled:+--arch $assembled} "${settings[@]}" >"$log" 2>&1 || { echo "FAIL $file: NVRTC"; head -c 2000 "$log"; }
}

mapfile -t files < <(find "$root/experiments" -name '*.gexp' -not -path '*/lib/*' | sort)
ran=0
for i in "${!files[@]}"; do
  [ "$ran" -lt 2 ] || wait -n
  one "${files[i]}" "$work/$i.log" >"$work/$i.out" &
  ran=$((ran + 1))
done
wait
cat "$work"/*.out
failed=$(cat "$work"/*.out | grep -c '^FAIL')
echo "$ran experiments, $failed failed"
[ "$failed" -eq 0 ] && [ "$ran" -gt 0 ]
