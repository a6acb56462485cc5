#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Two different types of one name in two files break the one-definition rule: the linker keeps one destructor for both, and no compiler
# that sees one file at a time can tell. So every source is compiled for link-time optimization without any, and linked as far as
# the types are compared. odr.sh [ROOT [FOLDER…]]: by default every part of this checkout.
set -u
root=$(cd "${1:-$(dirname "$0")/../..}" && pwd) || exit 3
[ $# -gt 0 ] && shift
cd "$root" || exit 3
work=$(mktemp -d) || exit 3
trap 'rm -rf "$work"' EXIT
compiler=${CXX:-g++}
"$compiler" --version | grep -qi 'free software foundation' || { echo "$compiler is not GCC, which compares types when it links: skipped"; exit 77; }

[ $# -gt 0 ] || set -- lang compiler runtime
mapfile -t sources < <(find "$@" -name '*.cpp' | sort)
[ "${#sources[@]}" -gt 0 ] || { echo "no sources in $*"; exit 3; }

flags=(-std=c++20 -O0 -w -flto -fno-fat-lto-objects -DFMT_SHARED -DGEXP_VERSION='""' -I"$work" -I"$root")
mkdir -p "$work/cmake"
"$compiler" "${flags[@]}" -x c++-header cmake/precompiled.h -o "$work/cmake/precompiled.h.gch" || exit 3

compile() {  # SOURCE OBJECT
  "$compiler" "${flags[@]}" -include cmake/precompiled.h -c "$1" -o "$2"
}
# Links to LTO byte code again: types are compared, nothing is generated.
link() { "$compiler" -flto -r -nostdlib -flinker-output=rel -Wodr -Werror=odr -o "$work/all.o" "$@"; }

running=0 failed=0 objects=()
for source in "${sources[@]}"; do
  object=$work/${#objects[@]}.o
  objects+=("$object")
  compile "$source" "$object" &
  running=$((running + 1))
  if [ "$running" -ge "$(nproc)" ]; then
    wait -n || failed=1
    running=$((running - 1))
  fi
done
while [ "$running" -gt 0 ]; do
  wait -n || failed=1
  running=$((running - 1))
done
[ "$failed" -eq 0 ] || { echo "a source does not compile"; exit 1; }

link "${objects[@]}" || { echo "FAIL one name has two definitions"; exit 1; }

# A planted violation must be seen: the test of the test.
printf '#include <vector>\nnamespace gexp::planted { struct Group { double onset; std::vector<int> lines; }; std::vector<Group> one() { return {{}}; } }\n' >"$work/one.cpp"
printf '#include <vector>\nnamespace gexp::planted { struct Group { std::vector<double> samples; }; std::vector<Group> two() { return {{}}; } }\n' >"$work/two.cpp"
for each in one two; do compile "$work/$each.cpp" "$work/$each.o" || exit 3; done
link "$work/one.o" "$work/two.o" 2>/dev/null && { echo "FAIL a planted violation was not seen"; exit 1; }
echo "${#sources[@]} sources, no name with two definitions"
