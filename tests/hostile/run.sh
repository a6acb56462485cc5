#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The hostile corpus under the address and undefined-behaviour sanitizers, as build.sh built it. run.sh ROOT [RESULTS MODELS [FIRST]]
set -euo pipefail
root=$1
shift
cd "$root"
ASAN_OPTIONS=quarantine_size_mb=32 build/fuzz/tests/hostile tests/hostile/base "${1:-5000}" "${2:-1000}" "${3:-1}"
