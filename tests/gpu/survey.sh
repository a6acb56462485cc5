#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The survey on the GPUs of this machine, for docs/results: twice on the first one, and how the two differ; where there are several, on
# all at once. The timed region in machine code besides. survey.sh GEXP FOLDER
set -u
gexp=$(readlink -f "$1")
mkdir -p "$2"
folder=$(readlink -f "$2")
root=$(cd "$(dirname "$0")/../.." && pwd)
export GEXP_EXPERIMENTS=${GEXP_EXPERIMENTS:-$root/experiments}
work=$(mktemp -d)
export GEXP_STORE=none         # every survey measures all
export GEXP_CACHE=$work/cache  # nothing compiled before
trap 'rm -rf "$work"' EXIT

record() {  # FILE COMMAND…: the command as a user writes it, what it prints, how long it took
  local file=$1 start
  shift
  start=$(date +%s%N)
  { echo "\$ gexp $*" && "$gexp" "$@" 2>&1; echo "exit code $?"; } >"$folder/$file"
  echo "$((($(date +%s%N) - start) / 10000000))0 ms wall" | tee -a "$folder/$file"
}
record survey.txt survey --device cuda:0 --quiet --out "$work/first"
record again.txt survey --device cuda:0 --quiet --out "$work/second"
record compare.txt compare "$work/first" "$work/second"
[ "$("$gexp" devices --json | grep -c '"cuda:')" -gt 1 ] && record all.txt survey --device cuda:all --quiet
bash "$root/tests/gpu/fidelity.sh" "$gexp" >"$folder/fidelity.txt" 2>&1
sed -i "s|$work/||g" "$folder"/*.txt
for result in "$work"/first/*.json; do gzip -9 -c "$result" >"$folder/$(basename "$result").gz"; done
ls -la "$folder"
