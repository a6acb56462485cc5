#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# gexp as a user has it: installed by CMake, and from the Debian package, with no sources beside it. run.sh BUILD_FOLDER
set -u
build=$(readlink -f "$1")
failures=0
fail() { echo "FAIL $*"; failures=$((failures + 1)); }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# What holds of an installation whose `usr` is FOLDER.
installed() {  # FOLDER
  local folder=$1 file
  for file in bin/gexp share/man/man1/gexp.1.gz share/bash-completion/completions/gexp share/zsh/vendor-completions/_gexp \
    share/fish/vendor_completions.d/gexp.fish share/gexp/experiments/cache/structure.gexp; do
    [ -s "$folder/$file" ] || fail "$folder lacks $file"
  done
  mkdir -p "$work/elsewhere"
  # Nothing of the sources or of this shell's settings: GEXP_EXPERIMENTS and the folder that it is started from least of all.
  (cd "$work/elsewhere" && env -u GEXP_EXPERIMENTS GEXP_STORE=none "$folder/bin/gexp" run cache/structure.gexp --device sim:gtx780 --quiet >"$work/said" 2>&1)
  local code=$?
  [ "$code" -eq 0 ] || { fail "$folder/bin/gexp run cache/structure.gexp: exit $code"; cat "$work/said"; }
  grep -qE '^[0-9]+ of [0-9]+ findings found' "$work/said" || fail "no findings from $folder"
  grep -aq "$(dirname "$build")" "$folder/bin/gexp" && fail "the binary in $folder names the folder in which it was built"
  return 0
}

ninja -C "$build" gexp gexp_install_files >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
cmake --install "$build" --prefix "$work/usr" >"$work/log" 2>&1 || { cat "$work/log"; fail "cmake --install"; }
installed "$work/usr"

if command -v dpkg-shlibdeps >/dev/null && command -v file >/dev/null; then
  cpack --config "$build/CPackConfig.cmake" -B "$work/package" >"$work/log" 2>&1 || { cat "$work/log"; fail "cpack"; }
  package=$(ls "$work"/package/gexp_*.deb)
  for needed in libfmt9 libsqlite3-0 libzstd1 libstdc++6; do
    dpkg-deb -f "$package" Depends | grep -qF "$needed " || fail "the package does not depend on $needed"
  done
  dpkg-deb -x "$package" "$work/root"
  installed "$work/root/usr"
elif [ -n "${CI:-}" ]; then
  fail "dpkg-dev and file are missing: the package was not tried"
fi
echo "$failures failures"
[ "$failures" -eq 0 ]
