#!/usr/bin/env bash
# run.sh TEST_ZLUDA FOLDER [NAME]: ZLUDA's kernels, from the folder that GEXP_ZLUDA names, or fetched into FOLDER. Skipped where neither is possible.
set -uo pipefail

test=$1 folder=$2
here=$(dirname "${BASH_SOURCE[0]}")
if [ -n "${GEXP_ZLUDA:-}" ]; then
  folder=$GEXP_ZLUDA
elif ! error=$(bash "$here/fetch.sh" "$folder" 2>&1); then
  echo "SKIPPED: no network: ZLUDA's tests are not here and cannot be fetched ($(printf '%s' "$error" | tail -n 1)); GEXP_ZLUDA=FOLDER names a copy"
  rm -rf "$folder"
  exit 77
fi
[ -f "$folder/mod.rs" ] || folder=$folder/ptx/src/test/spirv_run
if [ ! -f "$folder/mod.rs" ]; then
  echo "SKIPPED: no ptx/src/test/spirv_run/mod.rs in $folder"
  exit 77
fi
exec "$test" "$folder" "$here/known.txt" "${@:3}"
