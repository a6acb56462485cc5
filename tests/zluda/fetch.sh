#!/usr/bin/env bash
# Fetches ZLUDA's PTX tests (MIT or Apache-2.0) at a fixed commit into FOLDER: fetch.sh FOLDER. Nothing of them is kept in this repository.
set -euo pipefail

commit=8a7931be87d758835776f54ea2e33d30621c74ce
folder=${1:?usage: fetch.sh FOLDER}

[ "$(git -C "$folder" rev-parse HEAD 2>/dev/null)" = "$commit" ] && [ -f "$folder/ptx/src/test/spirv_run/mod.rs" ] && exit 0
rm -rf "$folder"
git init -q "$folder"
git -C "$folder" config core.sparseCheckout true
git -C "$folder" config advice.detachedHead false
printf '/ptx/src/test/spirv_run/\n/LICENSE*\n' >"$folder/.git/info/sparse-checkout"
git -C "$folder" remote add origin https://github.com/vosen/ZLUDA.git
git -C "$folder" config extensions.partialClone origin
GIT_TERMINAL_PROMPT=0 timeout "${GEXP_FETCH_SECONDS:-60}" git -C "$folder" fetch -q --depth 1 --filter=blob:none origin "$commit"
GIT_TERMINAL_PROMPT=0 timeout "${GEXP_FETCH_SECONDS:-60}" git -C "$folder" checkout -q FETCH_HEAD
