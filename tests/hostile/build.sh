#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# gexp under the address and undefined-behaviour sanitizers, in build/hostile: its libraries in batches, none of the tests.
set -eu
cd "$(dirname "$0")/../.."
cmake --preset hostile >build/hostile.log 2>&1 || { cat build/hostile.log; exit 1; }
ninja -C build/hostile gexp >build/hostile.log 2>&1 || { tail -n 40 build/hostile.log; exit 1; }
