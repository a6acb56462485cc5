#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What can go wrong on a GPU, made to go wrong: robustness.sh GEXP FOLDER [DEVICE]. A log each in FOLDER, and a verdict each on stdout. Takes
# about two minutes. An illegal address and a loop without end are planted in a copy of the templates, as gexp refuses both in a spec.
set -u
gexp=$(readlink -f "$1") device=${3:-cuda:0}
mkdir -p "$2"
folder=$(readlink -f "$2")
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 3
passed=0 failed=0

begin() { name=$1; log=$folder/$1.log; printf '# %s\n' "$2" >"$log"; rm -f r.json; }
# run ARGUMENTS…: in the foreground, into the log; `code`, `took`.
run() {
  echo "\$ gexp run $*" >>"$log"
  local start=$EPOCHREALTIME
  timeout 120 "$gexp" run --fresh "$@" >out.txt 2>err.txt </dev/null
  code=$?
  took=$(awk -v a="$start" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.2f", b - a }')
  cat out.txt err.txt >>"$log"
  echo "exit $code after $took s" >>"$log"
}
# check WHAT CONDITION…
check() {
  local what=$1 verdict='ok  '
  shift
  if "$@"; then passed=$((passed + 1)); else failed=$((failed + 1)) verdict=FAIL; fi
  echo "$verdict $name: $what" | tee -a "$log"
}
less() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a < b) }'; }
points() { grep -c '"overhead"' r.json; }
child_of() { pgrep -P "$1" | head -n 1; }
gone() { local i; for i in $(seq 100); do [ -d "/proc/$1" ] && ! grep -q ') Z' "/proc/$1/stat" 2>/dev/null || return 0; sleep 0.1; done; return 1; }
start() {  # ARGUMENTS…: in the background; `pid`, `worker`
  echo "\$ gexp run $* &" >>"$log"
  "$gexp" run --fresh "$@" >out.txt 2>err.txt </dev/null &
  pid=$!
  local i
  for i in $(seq 600); do grep -q '^\[1/1\]' err.txt && break; sleep 0.05; done  # it measures
  worker=$(child_of $pid)
  echo "gexp is process $pid, its worker $worker" >>"$log"
}
finish() {  # waits for it; `code`, `took` since finish was called
  local start=$EPOCHREALTIME
  wait "$pid"
  code=$?
  took=$(awk -v a="$start" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.2f", b - a }')
  cat out.txt err.txt >>"$log"
  echo "exit $code, $took s later" >>"$log"
}
# plant NAME CODE: templates in which the point of 64 timed steps runs CODE.
plant() {
  cp -r "$root/templates" "$1"
  sed -i "s|^  unsigned int begin, end;\$|  unsigned int begin, end;\n  if (skip == 0 \&\& steps == 64) { $2 }|" "$1/each.cu"
  grep -q 'steps == 64' "$1/each.cu" || { echo "the template is another one: nothing was planted"; exit 3; }
}

body='launch grid 1 block 1 warm { chase A by r laps 2 via ca } timed lat each { chase A by r laps 1 via ca }'
printf 'gexp 1\nexperiment planted\nmemory A: u32[64KiB] in global\nstage s { sweep n in 16..256 step 16 pattern r = uniform(stride: 64B, span: n * 64B) %s repeat 3..3 find h: cycles = fastest(lat) }\n' "$body" >small.gexp
printf 'gexp 1\nexperiment long\nmemory A: u32[1MiB] in global\nstage s { sweep n in 16..64 sweep k in 1..60 pattern r = uniform(stride: 64B, span: n * 64B) %s repeat 40..40 find h: cycles = fastest(lat) }\n' "$body" >long.gexp
cat >hog.gexp <<'TEXT'
gexp 1
experiment hog doc "Every multiprocessor reads, launch after launch"
param size: B = 1GiB in 1GiB..128GiB
budget memory 130GiB
memory A: u32[size] in global
stage s {
  sweep n in 1..1000000
  launch grid 1056 block 256
  timed t wall { loop p in 0..2000 { load A at gtid * 4B + (p mod 512) * 1MiB } }
  repeat 3..3
  derive m: B = moved(t)
  find h: B = value(m)
}
TEXT

begin plain 'nothing goes wrong'
run small.gexp --device "$device" --out r.json
check 'all points' test "$code $(points)" = '0 16'
sed -n '/"seen"/,/^  \]/p' r.json >>"$log"
check 'driver, ECC, MIG and persistence are recorded' test "$(grep -cE '^  "(driver|ecc|mig|persistence)": ' r.json)" = 4
plain=$took

begin illegal_address 'the point n = 64 stores to address 64'
plant illegal 'asm volatile("st.global.u32 [%0], %1;" :: "l"(64ull), "r"(begin) : "memory");'
run small.gexp --device "$device" --templates illegal --out r.json
check 'that point is lost and no other' test "$code $(points) $(grep -c '"status": "fault"' r.json)" = '4 16 1'
check 'the report names it' grep -q 'the point n = 64 ended by fault: CUDA_ERROR_ILLEGAL_ADDRESS' out.txt
echo "a fault cost about $(awk -v a="$took" -v b="$plain" 'BEGIN { printf "%.2f", a - b }') s, compiling included" | tee -a "$log"

begin in_process 'the same without a worker'
GEXP_IN_PROCESS=1 run small.gexp --device "$device" --templates illegal --out r.json
echo "points: $(points)" >>"$log"

begin endless_loop 'the point n = 64 never ends'
plant endless 'for (;;) asm volatile("mov.u32 %0, %%clock;" : "=r"(begin) :: "memory");'
run small.gexp --device "$device" --templates endless --launch-limit 3 --out r.json
check 'that point is lost and no other' test "$code $(points) $(grep -c '"status": "timeout"' r.json)" = '4 16 1'
check 'after its limit' less "$took" 15

begin always_faults 'every point faults'
cp -r illegal always
sed -i 's/steps == 64/steps > 0/' always/each.cu
run small.gexp --device "$device" --templates always --out r.json
check 'the stage is given up' grep -q 'given up after 3 faults in a row' out.txt
check 'after three points' test "$code $(points)" = '4 3'

begin killed_worker 'kill -9 of the worker while it measures'
start long.gexp --device "$device" --out r.json
sleep 2
kill -KILL "$worker" && echo "killed $worker" >>"$log"
finish
check 'it was measuring' grep -q '"outcome"' r.json
check 'one point is lost' test "$code $(points) $(grep -c '"outcome"' r.json)" = '4 2940 1'

begin interrupt 'Ctrl-C while a kernel never ends'
start small.gexp --device "$device" --templates endless --out r.json
sleep 3
kill -INT "$pid"
finish
check 'exit 130' test "$code" = 130
check 'within a second' less "$took" 1.05
check 'what was measured is kept' grep -q '"ticks"' r.json
check 'no worker stays' gone "$worker"

begin orphan 'kill -9 of gexp while a kernel never ends'
start small.gexp --device "$device" --templates endless
sleep 3
kill -KILL "$pid"
wait "$pid" 2>/dev/null
check 'its worker ends' gone "$worker"
run small.gexp --device "$device" --out r.json
check 'the GPU is free again' test "$code $(points)" = '0 16'

begin hog 'another process keeps every multiprocessor busy'
"$gexp" run --fresh hog.gexp --device "$device" --time-limit 60 --quiet >hog.txt 2>&1 </dev/null &
hog=$!
sleep 4
nvidia-smi --query-compute-apps=pid,used_memory --format=csv >>"$log" 2>&1
run small.gexp --device "$device" --out r.json
sed -n '/"seen"/,/^  \]/p' r.json >>"$log"
check 'it is noted on stderr' grep -qE 'note: .*(other process|busy)' err.txt
check 'and in the report' grep -qE 'another process computed on|was busy before' out.txt
check 'the run ends well' test "$code $(points)" = '0 16'
kill -INT $hog
wait $hog
cat hog.txt >>"$log"

begin little_memory 'another process holds 100 GiB; a sweep wants 80 GiB'
"$gexp" run --fresh hog.gexp --set size=100GiB --device "$device" --time-limit 90 --quiet >hog.txt 2>&1 </dev/null &
hog=$!
sleep 6
printf 'gexp 1\nexperiment large\nbudget memory 100GiB\nmemory A: u32[80GiB] in global\nstage s { sweep n in 8..80 step 8 pattern r = uniform(stride: 64MiB, span: n * 1GiB) %s repeat 3..3 find h: cycles = fastest(lat) }\n' "${body//via/as 8B via}" >large.gexp
run large.gexp --device "$device" --out r.json
check 'the points that fit are measured, the others named' grep -qE 's: [1-9] points were left out for want of memory' out.txt
check 'and the run ends well' test "$code" = 0
kill -INT $hog
wait $hog

begin time_limit '--time-limit while a kernel never ends'
run small.gexp --device "$device" --templates endless --time-limit 4 --out r.json
check 'ends the launch' test "$code" = 4
check 'soon' less "$took" 9
check 'and says so' grep -q 'the time of --time-limit is used up' out.txt

begin cost 'what the worker costs: 19600 short launches'
sed 's/k in 1..60/k in 1..10/' long.gexp >cost.gexp
for where in worker here worker here; do
  if [ $where = here ]; then GEXP_IN_PROCESS=1 run cost.gexp --device "$device" --quiet --out r.json; else run cost.gexp --device "$device" --quiet --out r.json; fi
  echo "$where: $took s, of which measuring $(sed -n 's/^  "seconds": \([0-9.]*\).*/\1/p' r.json | tail -n 1) s" | tee -a "$log"
done

begin all 'every GPU of this machine at once'
run small.gexp --device cuda:all --out all.json
check 'a result each' test "$(ls all-cuda*.json | wc -l)" = "$("$gexp" devices | grep -c '^cuda:')"
check 'compared' grep -q 'GPUs compared' out.txt

echo "$passed passed, $failed failed" | tee "$folder/summary.txt"
[ "$failed" -eq 0 ]
