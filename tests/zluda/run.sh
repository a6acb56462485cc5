#!/usr/bin/env bash
# run.sh TEST_ZLUDA FOLDER [NAME]: ZLUDA's kernels (MIT or Apache-2.0), from the folder that GEXP_ZLUDA names, or fetched into FOLDER.
set -uo pipefail

here=$(dirname "${BASH_SOURCE[0]}")
. "$here/../strangers.sh"
strangers GEXP_ZLUDA "$2" https://github.com/vosen/ZLUDA.git 8a7931be87d758835776f54ea2e33d30621c74ce '/ptx/src/test/spirv_run/' '/LICENSE*'
[ -f "$found/mod.rs" ] || found=$found/ptx/src/test/spirv_run
if [ ! -f "$found/mod.rs" ]; then
  echo "SKIPPED: no ptx/src/test/spirv_run/mod.rs in $found"
  exit 77
fi
exec "$1" "$found" "$here/known.txt" "${@:3}"
