#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The hostile corpus under the address and undefined-behaviour sanitizers, in a build of its own: build/hostile. run.sh ROOT [RESULTS MODELS [FIRST]]
set -euo pipefail
root=$1
shift
cd "$root"
cmake --preset hostile >/dev/null
ninja -C build/hostile hostile >build/hostile/build.log 2>&1 || { tail -n 40 build/hostile/build.log; exit 1; }
ASAN_OPTIONS=quarantine_size_mb=32 build/hostile/tests/hostile tests/hostile/base "${1:-5000}" "${2:-1000}" "${3:-1}"
