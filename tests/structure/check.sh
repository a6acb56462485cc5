#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What holds of the sources as a whole: which folder may include which, licence lines. sizes.py measures files and functions. check.sh [ROOT]
set -u
cd "${1:-$(dirname "$0")/../..}" || exit 3
failures=0
fail() { echo "FAIL $*"; failures=$((failures + 1)); }

# FOLDER may include only files that match PATTERN (extended regular expression on the quoted path).
allow() {
  local folder=$1 pattern=$2 file include
  while IFS=: read -r file include; do
    [[ $include =~ ^($pattern)$ ]] || fail "$file includes $include"
  done < <(grep -HoE '^#include "[^"]+"' "$folder"/*.h "$folder"/*.cpp 2>/dev/null | sed 's/#include "\(.*\)"/\1/')
}
own='lang/base/[a-z0-9_]+\.h'
device="$own|runtime/device/(backend|condition|outcome)\.h"
allow lang/base "$own"
allow lang "lang/.*"
allow compiler "lang/.*|compiler/.*"
allow compiler/ir "$own|compiler/ir/.*"
allow compiler/passes "lang/base/.*|compiler/.*"
for folder in formula memory lower plan codegen mutate; do allow compiler/$folder "lang/.*|compiler/.*|ptx/(soft_l1|take_registers)\.h"; done
allow runtime/device "$own|runtime/device/.*"
allow runtime/jit "$device|runtime/jit/.*"
allow runtime/cuda "$device|runtime/cuda/.*"
allow runtime/worker "$device|runtime/worker/.*"
allow ptx "$own|ptx/.*"
allow runtime/sim "$device|runtime/device/(qlru\.h|model_fact\.h|counters\.(h|def))|ptx/(lex|registers|tree|type)\.h|runtime/sim/.*"
allow runtime/records "$own|compiler/formula/formula\.h|compiler/program\.h|runtime/device/outcome\.h|runtime/records/.*"
allow runtime/infer "$own|lang/(analyses|parts)\.def|compiler/formula/formula\.h|compiler/program\.h|runtime/device/(outcome|qlru)\.h|runtime/records/.*|runtime/infer/.*"
allow runtime/result "lang/base/.*|compiler/.*|runtime/(device|records|infer|result)/.*"
# A report gets what it draws as numbers (figures), and the spec's tokens to highlight it; it evaluates no formula and knows no latency class.
allow runtime/report "$own|lang/(tokens|words)\.h|compiler/program\.h|runtime/result/(result|figures|timeline)\.h|runtime/report/.*|runtime/infer/finding\.h|runtime/records/table\.h"
# An editor's server knows the front end; files, streams and models are handed in.
allow runtime/lsp "lang/.*|compiler/(pipeline|program)\.h|compiler/plan/expand\.h|runtime/lsp/.*"
allow runtime/store "$own|compiler/plan/expand\.h|runtime/measure/(kept|point_log)\.h|runtime/result/(checked_json|point_table|read_budget|result|result_json)\.h|runtime/store/.*"
allow runtime/measure "lang/base/.*|compiler/.*|ptx/(bound_threads|soft_l1|take_registers)\.h|runtime/(device|records|infer|result|measure)/.*|runtime/jit/compiler\.h"

# Big libraries stay behind one door each.
only() {  # WHAT PATTERN FILES…
  local what=$1 pattern=$2 file
  shift 2
  while read -r file; do
    [[ " $* " == *" $file "* ]] || fail "$file includes $what"
  done < <(grep -rlE "#include <$pattern" lang compiler ptx runtime --include='*.h' --include='*.cpp')
}
only Boost.Graph 'boost/(graph|pending)' compiler/ir/graph.cpp ptx/flow.cpp
# What a simulated device is made of is read where expectations are checked and judged, and nowhere else. An editor's server knows
# that there is such a name, and its type.
while read -r file; do
  case $file in
    lang/references.cpp | compiler/mutate/parts.cpp | runtime/measure/judge_all.cpp | runtime/result/judge.cpp | runtime/result/model_facts.cpp | runtime/measure/verify.cpp | runtime/lsp/view.cpp) ;;
    *) fail "$file reads \"model\"" ;;
  esac
done < <(grep -rlF '"model"' lang compiler ptx runtime --include='*.h' --include='*.cpp')
only SQLite 'sqlite3' runtime/store/sqlite.cpp
only zstd 'zstd' runtime/store/packed.cpp
only nlohmann/json 'nlohmann' runtime/cli/json.cpp runtime/cli/verify_changes.cpp runtime/lsp/json.h runtime/result/checked_json.h runtime/result/lockfile.cpp runtime/result/result_json.cpp runtime/result/result_json_read.cpp runtime/report/html_data.cpp runtime/store/packed.cpp
only CLI11 'CLI' runtime/cli/command_line.cpp
only PEGTL 'tao/pegtl' lang/grammar.h lang/grammar_messages.h lang/grammar_tree.h lang/parse.cpp

count=0
while read -r file; do
  count=$((count + 1))
  head -n 3 "$file" | grep -q 'SPDX-License-Identifier: Apache-2.0' || fail "$file has no SPDX line"
done < <(find lang compiler ptx runtime templates tests cmake \( -name '*.h' -o -name '*.cpp' -o -name '*.cu' \))
[ "$count" -gt 50 ] || fail "only $count sources found"

# A planted violation must be seen: the test of the test.
if [ -z "${1:-}" ]; then
  planted=$(mktemp -d)
  cp -r lang compiler ptx runtime templates tests cmake "$planted"
  for include in runtime/sim/sim.h runtime/measure/verify.h runtime/device/backend.h runtime/result/result.h; do echo "#include \"$include\"" >>"$planted/runtime/infer/flat.cpp"; done
  echo 'const char* kPlanted = "model";' >>"$planted/runtime/infer/flat.cpp"
  echo '#include "runtime/measure/verify.h"' >>"$planted/compiler/program.h"
  bash "$0" "$planted" >"$planted/said"
  for violation in 'runtime/infer/flat.cpp includes runtime/sim/sim.h' 'runtime/infer/flat.cpp includes runtime/measure/verify.h' 'runtime/infer/flat.cpp includes runtime/device/backend.h' \
    'runtime/infer/flat.cpp includes runtime/result/result.h' 'runtime/infer/flat.cpp reads "model"' 'compiler/program.h includes runtime/measure/verify.h'; do
    grep -qxF "FAIL $violation" "$planted/said" || fail "a planted violation was not seen: $violation"
  done
  rm -rf "$planted"
fi
echo "$count sources, $failures violations"
[ "$failures" -eq 0 ]
