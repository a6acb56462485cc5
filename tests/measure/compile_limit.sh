#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# --time-limit and Ctrl-C end a run that waits for the compiler. compile_limit.sh GEXP FAKE_NVRTC
set -u
gexp=$(readlink -f "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 3
export GEXP_NVRTC=$2 GEXP_CACHE=$work/cache GEXP_STORE=none FAKE_NVRTC_SECONDS=100
failed=0
that() {  # NAME CONDITION…
  local name=$1
  shift
  if ! "$@"; then failed=1 && echo "FAIL $name" && cat out.txt; fi
}
spec='gexp 1 experiment t memory A: u32[64KiB] in global stage s { sweep n in 1KiB..4KiB times 2 pattern r = uniform(stride: 32B, span: n) timed lat each { chase A by r laps 2 } find h: cycles = fastest(lat) }'

begin=$SECONDS
"$gexp" run -e "$spec" --device sim:gtx780 --time-limit 2 --out result.json >out.txt 2>&1
code=$?
that 'a run that is over within its limit' test $((SECONDS - begin)) -le 20
that 'by the code of a fault' test $code -eq 4
that 'that says why' grep -q 'the time of --time-limit is used up' out.txt
that 'with a result' grep -q '"schema": "gexp.result/1"' result.json

begin=$SECONDS
"$gexp" run -e "$spec" --device sim:gtx780 >out.txt 2>&1 &
sleep 3
kill -INT $!
wait $!
code=$?
that 'an interrupt ends the wait' test $((SECONDS - begin)) -le 20
that 'by its code' test $code -eq 130
that 'and says so' grep -q 'interrupted' out.txt
exit $failed
