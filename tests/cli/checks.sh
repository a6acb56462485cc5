# SPDX-License-Identifier: Apache-2.0
# What the tests of commands share: counts `passed` and `failed`, and says what failed. Sourced.
passed=0 failed=0

# judge NAME CODE WORDS -- COMMAND…: its exit code, and words (a regular expression) that it prints on stdout or stderr.
judge() {
  local name=$1 code=$2 words=$3 got
  shift 4
  timeout 60 "$@" >out.txt 2>err.txt </dev/null
  got=$?
  if [ "$got" -eq "$code" ] && cat out.txt err.txt | grep -qE -- "$words" && ! grep -q 'internal error' err.txt; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAIL $name: exit $got (wanted $code), words '$words'"
    head -c 900 out.txt err.txt
  fi
}
that() {  # NAME CONDITION…
  local name=$1
  shift
  if "$@"; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAIL $name"; fi
}
