#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A link by gold whose warnings are errors: of functions of one name from two places, above all. What it says of names in the address sanitizer's own
# library, it says always. link_once.sh COMMAND…
set -uo pipefail
said=$("$@" 2>&1) || { printf '%s\n' "$said"; exit 1; }
said=$(grep -v "warning: Cannot export local symbol '__asan_" <<<"$said")
[ -z "$said" ] || { printf '%s\n' "$said"; exit 1; }
