#!/usr/bin/env bash
# run.sh TEST_GPUOCELOT FOLDER: gpuocelot's PTX files (BSD), from the folder that GEXP_GPUOCELOT names, or fetched into FOLDER.
set -uo pipefail

here=$(dirname "${BASH_SOURCE[0]}")
. "$here/../strangers.sh"
strangers GEXP_GPUOCELOT "$2" https://github.com/gtcasl/gpuocelot.git fa63920ee7c5f9a86e264cd8acd4264657cbd190 '*.ptx' '/LICENSE*'
exec "$1" "$found" "$here/known.txt"
