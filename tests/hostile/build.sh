#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# gexp and the hostile corpus under the address and undefined-behaviour sanitizers, in build/fuzz: the fuzzers' build, of which most is theirs too.
# Its linker tells two functions of one name: it must tell a pair that is planted.
set -eu
cd "$(dirname "$0")/../.."
cmake --preset fuzz >build/hostile.log 2>&1 || { cat build/hostile.log; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
value() { sed -n "s/^$1:[A-Z]*=//p" build/fuzz/CMakeCache.txt; }
read -ra flags <<<"$(value CMAKE_CXX_FLAGS) $(value CMAKE_CXX_FLAGS_DEBUG)"
printf 'inline int twice(int x) { return x + x; }\nint (*first)(int) = twice;\nint main() { return 0; }\n' >"$work/one.cpp"
printf '\n\ninline int twice(int x) {\n  return 2 * x; }\nint (*second)(int) = twice;\n' >"$work/two.cpp"
for name in one two; do clang++ "${flags[@]}" -c "$work/$name.cpp" -o "$work/$name.o"; done
link="$(value CMAKE_CXX_LINKER_LAUNCHER) clang++ ${flags[*]} $(value CMAKE_EXE_LINKER_FLAGS) $(value GEXP_LINK_ONCE) $work/one.o"
$link -o "$work/alone" || { echo "FAIL one file does not link"; exit 1; }
$link "$work/two.o" -o "$work/both" >"$work/said" && { echo "FAIL two functions of one name were linked"; exit 1; }
grep -q 'ODR' "$work/said" || { cat "$work/said"; exit 1; }
ninja -C build/fuzz gexp hostile >build/hostile.log 2>&1 || { tail -n 40 build/hostile.log; exit 1; }
