#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the experiments that ship on a GPU and keeps what they print and what they recorded: record.sh GEXP FOLDER [DEVICE].
set -u
gexp=$1 folder=$2 device=${3:-cuda:0}
mkdir -p "$folder"
gexp=$(readlink -f "$gexp") folder=$(readlink -f "$folder")
export GEXP_STORE=none  # every run measures all
cd "$(dirname "$0")/../.." || exit 3  # so that results name experiments as the repository does
{
  date -u +%Y-%m-%d
  nvidia-smi --query-gpu=name,driver_version,clocks.sm,clocks.max.sm,clocks.mem,ecc.mode.current,mig.mode.current --format=csv 2>/dev/null
  "$gexp" devices | grep cuda
} >"$folder/device.txt" 2>&1
record() {  # NAME FILE OPTION…
  local name=$1 file=$2
  shift 2
  echo "\$ gexp run experiments/$file $*" >"$folder/$name.txt"
  timeout -s INT "${LIMIT:-120}" "$gexp" run "experiments/$file" --device "$device" --quiet --out "$folder/$name.json" "$@" 2>&1 |
    grep -v '^saved as' >>"$folder/$name.txt"
  echo "$name: exit ${PIPESTATUS[0]}"
}
record bank_stride shared/bank_stride.gexp
record bank_mode shared/bank_mode.gexp
# The sets stage stays open on this L1; eight added lines show that as well as sixty-four, in a smaller file.
record l1 cache/l1.gexp --set most=8
for kib in 32 64 100 132; do record "l1_carveout_${kib}k" cache/l1.gexp --set "carveout=${kib}KiB" --set most=1; done
record readonly cache/structure.gexp --set most=1
record tlb tlb/structure.gexp --set limit=8GiB --set d=2MiB
record spaces latency/spaces.gexp
record l2_distances latency/l2_distances.gexp
record alu alu/latency_throughput.gexp
record barrier alu/barrier.gexp
record constant wong10/constant.gexp
LIMIT=40 record texture wong10/texture.gexp
record shared_copy throughput/shared_copy.gexp
record l1_read throughput/l1_read.gexp
record l2_read throughput/l2_read.gexp
record dram_copy throughput/dram_copy.gexp
gzip -9 -f "$folder"/*.json
