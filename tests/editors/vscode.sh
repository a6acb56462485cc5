#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# vscode.sh GEXP: the tests of editors/vscode, without VS Code. Exit 77, skipped, without node 18 and npm, or, outside of CI, without
# a network for the first `npm ci`.
set -uo pipefail
export GEXP_BINARY=$1
cd "$(dirname "${BASH_SOURCE[0]}")/../../editors/vscode" || exit 1

for program in node npm; do
  command -v $program >/dev/null || { echo "SKIPPED: there is no $program (Debian's packages: nodejs npm)"; exit 77; }
done
major=$(node -p 'process.versions.node.split(".")[0]')
[ "$major" -ge 18 ] || { echo "SKIPPED: node is version $major, 18 is needed"; exit 77; }

# The packages of the lock file, once for each lock file.
sum=$(sha256sum <package-lock.json)
if [ "$(cat node_modules/.sum 2>/dev/null)" != "$sum" ]; then
  if ! said=$(npm ci --prefer-offline 2>&1); then
    echo "$said"
    if [ -z "${CI:-}" ] && grep -qE 'ENOTFOUND|EAI_AGAIN|ETIMEDOUT|ECONNREFUSED|ENETUNREACH' <<<"$said"; then
      echo "SKIPPED: npm's packages cannot be fetched"
      exit 77
    fi
    exit 1
  fi
  echo "$sum" >node_modules/.sum
fi
npm test
