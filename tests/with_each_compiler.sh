#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The tests whose outcome hangs on what NVRTC writes (ctest's label `nvrtc`), once for each NVRTC of this machine that the other tests did
# not use: Debian's libnvrtc11.2 and a toolkit's, where both are found.
#   with_each_compiler.sh BUILD            with all but the one that gexp takes by itself, which `./dev test` ran
#   with_each_compiler.sh BUILD --all      with each
#   with_each_compiler.sh BUILD --list     runs nothing
# The exit code is 1 where a test fails, 2 where there is no NVRTC.
set -u
build=$(readlink -f "$1") which=${2:-others}
doctor=$(env -u GEXP_NVRTC "$build/gexp" doctor) || true
# doctor's section: the NVRTC that is taken, then `also here:` for each other one.
first=$(awk '/^NVRTC$/ { getline; if ($1 ~ /^\//) print $1; exit }' <<<"$doctor")
others=$(awk '/^  also here: / { print $3 }' <<<"$doctor")
[ -n "$first" ] || { echo "no NVRTC was found: ./dev installs Debian's libnvrtc11.2"; exit 2; }
echo "taken by itself: $first"
for other in $others; do echo "also here: $other"; done
[ "$which" != --list ] || exit 0
if [ "$which" = --all ]; then others="$first $others"
else export GEXP_COMPILED_BEFORE=1  # with the first one, the suite ran each experiment on every device of its head
fi

failed=0
for library in $others; do
  version=$(GEXP_NVRTC=$library "$build/gexp" doctor | awk '/^NVRTC$/ { getline; print $2; exit }')
  echo "tests of label nvrtc with NVRTC ${version%,}: $library"
  # A library finds its own built-ins beside it.
  (cd "$build" && GEXP_NVRTC=$library LD_LIBRARY_PATH=$(dirname "$library")${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} GEXP_BINARY=$build/gexp \
    ctest -L '^nvrtc$' -j "$(nproc)" --output-on-failure) || failed=1
done
[ "$failed" -eq 0 ]
