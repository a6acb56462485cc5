#!/usr/bin/env bash
# Runs the experiments that ship on a GPU and keeps what they print and what they recorded: record.sh GEXP FOLDER [DEVICE].
set -u
gexp=$1 folder=$2 device=${3:-cuda:0}
experiments=$(cd "$(dirname "$0")/../../experiments" && pwd)
mkdir -p "$folder"
{
  date -u +%Y-%m-%d
  nvidia-smi --query-gpu=name,driver_version,clocks.sm,clocks.max.sm,clocks.mem,ecc.mode.current,mig.mode.current --format=csv 2>/dev/null
  "$gexp" devices
} >"$folder/device.txt" 2>&1
record() {  # NAME FILE OPTION…
  local name=$1 file=$2
  shift 2
  "$gexp" run "$experiments/$file" --device "$device" --quiet --out "$folder/$name.json" "$@" >"$folder/$name.txt" 2>&1
  echo "$name: exit $?"
}
record bank_stride shared/bank_stride.gexp
record bank_mode shared/bank_mode.gexp
record l1 cache/l1.gexp
record l1_carveout_64k cache/l1.gexp --set carveout=64KiB
record readonly cache/structure.gexp
record tlb tlb/structure.gexp
gzip -9 -f "$folder"/*.json
