#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What a run does when a kernel faults or hangs, when its worker dies, and when it is told to end, on a stand-in for the driver. run.sh GEXP FAKE_CUDA FAKE_NVML
set -u
gexp=$(readlink -f "$1")
GEXP_LIBCUDA=$(readlink -f "$2")
GEXP_NVML=/nonexistent
nvml=$(readlink -f "$3")
export GEXP_LIBCUDA GEXP_NVML
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 3
passed=0 failed=0
that() {  # NAME CONDITION…
  local name=$1
  shift
  if "$@"; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAIL $name"; cat out.txt err.txt 2>/dev/null | tail -n 12; fi
}
# planted SCRIPT ARGUMENTS…: runs the file under the script; the exit code is in `code`, the whole seconds in `took`.
planted() {
  local script=$1
  shift
  SECONDS=0
  FAKE_CUDA=$script timeout 60 "$gexp" run "${file:-one.gexp}" --device cuda:0 --out r.json "$@" >out.txt 2>err.txt </dev/null
  code=$? took=$SECONDS
}
points() { grep -c '"overhead"' r.json; }
child_of() { pgrep -P "$1" | head -n 1; }
gone() {  # PID: within two seconds
  local i
  for i in $(seq 20); do [ -d "/proc/$1" ] && ! grep -q ') Z' "/proc/$1/stat" 2>/dev/null || return 0; sleep 0.1; done
  return 1
}

stage() { printf 'stage %s { sweep n in 16..256 step 16 pattern r = uniform(stride: 64B, span: n * 64B) launch grid 1 block 1 warm { chase A by r laps 2 via ca } timed lat each { chase A by r laps %s via ca } repeat 3..3 find h: cycles = fastest(lat) }\n' "$1" "$2"; }
{ printf 'gexp 1\nexperiment planted\nmemory A: u32[64KiB] in global\n'; stage s 1; } >one.gexp
{ cat one.gexp; stage t 2; } >two.gexp

planted no_second_context
that 'all is well' test "$code $(points)" = '0 16'
that 'nothing but progress on stderr' test "$(cat err.txt)" = '[1/1] s'
export GEXP_STORE=$work/gpu.db
planted no_second_context
planted no_second_context
that 'a stage of a GPU is kept, and its age is told' grep -qE '^s: kept from result 1, less than a minute old$' out.txt
that 'with the kernel that it ran' test "$code $(grep -c '"key"' r.json) $(points)" = '0 1 16'
export GEXP_STORE=none
planted no_second_context,fault_at=64
that 'a fault loses its point' test "$code $(points) $(grep -c '"status": "fault"' r.json)" = '4 16 1'
that 'which the report names' grep -q 's: the point n = 64 ended by fault: CUDA_ERROR_ILLEGAL_ADDRESS' out.txt
that 'and no other' grep -q '1 of 1 findings found.*WITH POINTS LOST' out.txt
planted no_second_context,hang_at=64 --launch-limit 1
that 'a kernel that never ends loses its point' test "$code $(points) $(grep -c '"status": "timeout"' r.json)" = '4 16 1'
that 'and its limit of time' test "$took" -le 4
planted die_at=64
that 'a worker that dies loses its point' test "$code $(points)" = '4 16'
that 'with how it ended' grep -q 'the worker of cuda:0 was killed by signal 9 while the kernel ran' out.txt
planted die_at=64 --json --quiet
that 'JSON on stdout and nothing else' test "$(head -c 1 out.txt) $(tail -n 1 out.txt) $(wc -c <err.txt)" = '{ } 0'
file=two.gexp planted no_second_context,fault
that 'a stage that keeps faulting is given up' grep -q 's: given up after 3 faults in a row; the last: fault: CUDA_ERROR_ILLEGAL_ADDRESS' out.txt
that 'the next one has its chance' grep -q 't: given up after 3' out.txt
that 'and nothing more' test "$code $(points)" = '4 6'
file=two.gexp planted hang --launch-limit 1.5
that 'a stage that keeps hanging costs little more than one limit each' test "$code $((took <= 6))" = '4 1'
planted hang --time-limit 1
that '--time-limit ends a launch too' test "$code $((took <= 3))" = '4 1'
that 'and says so' grep -q 'the time of --time-limit is used up' out.txt
planted no_second_context,empty
that 'no GPU' test "$code" = 3
GEXP_IN_PROCESS=1 planted no_second_context,fault_at=64
that 'without a worker a fault ends the run' test "$code $(points)" = '4 4'

# A kernel of a file: the same arguments and records as on a simulated device, in machine code.
printf 'extern "C" __global__ void count_up(unsigned* to, const unsigned* from, unsigned n, unsigned char step, float scale) {\n  for (unsigned i = 0; i < n; ++i) to[i] = from[0] + step * i * scale;\n}\n' >count.cu
printf 'gexp 1\nexperiment own\nmemory A: u32[4KiB] in global\nstage s {\n  sweep n in [4, 8]\n  timed r each { kernel "count.cu" entry count_up(r[n], A, n, 5, 3 / 2) }\n  repeat 2\n  find v: cycles = value(max(r), n: 8)\n}\n' >own.gexp
file=own.gexp planted no_second_context
that 'a kernel of a file records what it writes' grep -qE 's.v +52 cycles' out.txt
file=own.gexp planted no_second_context,fault
that 'and its fault names the line of the spec' grep -q 'CUDA_ERROR_ILLEGAL_ADDRESS.*(own.gexp:6)' r.json
sed -i 's/count_up(r\[n\], A, n, 5/count_up(r[n], A, n, 300/' own.gexp
file=own.gexp planted no_second_context
that 'what its parameters do not hold is refused in the spec' grep -q '^own.gexp:6:.*E0512.*300 is no whole number of 1 B' err.txt

# A block of so many threads that their registers would not do: the kernel is compiled with fewer, unless it bounds them itself.
printf 'gexp 1\nexperiment wide\nmemory A: u32[4KiB] in global\nmemory B: u32[4KiB] in global\nstage s {\n  sweep n in [512, 1024]\n  launch grid 1 block n\n  timed r wall { kernel "count.cu" entry count_up(B, A, 64, 5, 1) }\n  repeat 2\n  find v: s = value(median(r), n: 1024)\n}\n' >wide.gexp
file=wide.gexp planted no_second_context,threads=512
that 'a block too large for its registers runs with fewer' test "$code $(points) $(grep -c "(701)" r.json)" = '0 2 0'
file=wide.gexp GEXP_IN_PROCESS=1 planted no_second_context,threads=512
that 'without a worker, too' test "$code $(points)" = '0 2'
sed -i 's/__global__ void/__global__ void __launch_bounds__(512)/' count.cu
file=wide.gexp planted no_second_context,threads=512
that 'a kernel that says of how many threads its blocks are is left as it is' grep -q '(701)' r.json
sed -i 's/ __launch_bounds__(512)//' count.cu

# Little memory: a memory of 768 MiB where there are 600 MB.
{ printf 'gexp 1\nexperiment large\nmemory A: u32[768MiB] in global\n'; stage s 1 | sed 's/stride: 64B, span: n \* 64B/stride: 128KiB, span: n * 3MiB/'; } >large.gexp
file=large.gexp planted memory=900000000
that 'enough memory' test "$code $(points) $(grep -c no_room r.json)" = '0 16 0'
file=large.gexp planted memory=600000000
that 'points that fit are measured' test "$code $(points)" = '0 10'
tr '\n' ' ' <out.txt >line.txt  # the report wraps its lines
that 'and the others are said to be left out' grep -q 's: 6 points were left out for want of memory: a point reaches .* of `A`, and `A` is .* MiB long instead of 768 MiB: NVIDIA H200 has [0-9]* B of memory free' line.txt
that 'in the result too' test "$(sed -n '/"no_room"/,/}/p' r.json | grep -c '"points": 6')" = 1
file=large.gexp planted memory=3000000
that 'no memory for any' test "$code" = 1
that 'is said' grep -q 's: the device has not enough memory for any of its points' out.txt

# What the management library tells.
FAKE_NVML=other GEXP_NVML=$nvml planted no_second_context
that 'another process is noted' grep -q '^note: 1 other process computes on cuda:0' err.txt
that 'in the report too' grep -q 'another process computed on cuda:0 (process 4242, 1 GiB), seen at begin and 1 times more' out.txt
that 'and in the result' test "$code $(grep -c '"pid": 4242' r.json) $(grep -c '"pid"' r.json)" = '0 2 2'
that 'with clocks, persistence and driver' test "$(grep -cE '"(persistence": true|driver": "999.42|sm_clock_max_hz": 1980000000.0)' r.json)" = 4
"$gexp" infer r.json --out again.json >out.txt
that 'which a result keeps' cmp -s <(sed -n '/"device"/,/"toolchain"/p' r.json) <(sed -n '/"device"/,/"toolchain"/p' again.json)
FAKE_NVML=hidden GEXP_NVML=$nvml planted no_second_context
that 'this process is no other, whatever its number' test "$code $(grep -c '"pid"' r.json)" = '0 0'
FAKE_NVML=busy GEXP_NVML=$nvml planted no_second_context
that 'a device that is busy before the first kernel' test "$code $(grep -c 'busy before' err.txt) $(grep -c 'busy before' out.txt)" = '0 1 1'
FAKE_NVML=slow=6-9 GEXP_NVML=$nvml planted slow=20000
that 'points under a power cap are measured again' grep -qE 's: [1-7] of 16 points were measured again: the SM clock went from 1500 to 1980 MHz \(power cap\)$' out.txt
that 'none is lost' test "$code $(points)" = '0 16'
FAKE_NVML=slow=1-999 GEXP_NVML=$nvml planted slow=20000
that 'a cap that stays is said' grep -q 's: 16 of 16 points were measured while the clocks were held down (power cap): they stand as they are' out.txt
that 'its records stay' test "$code $(points)" = '0 16'

# Every GPU at once.
several() { SECONDS=0; FAKE_CUDA=$1 timeout 60 "$gexp" run one.gexp --device cuda:all "${@:2}" >out.txt 2>err.txt </dev/null; code=$? took=$SECONDS; }
several gpus=2 --out all.json
that 'two GPUs alike' grep -qx '  the same on all: s.h' out.txt
that 'a result each' test "$code $(grep -l '"id": "cuda:0"' all-cuda0.json) $(grep -l '"id": "cuda:1"' all-cuda1.json)" = '0 all-cuda0.json all-cuda1.json'
that 'progress names them' test "$(sort err.txt)" = "$(printf 'cuda:0 [1/1] s\ncuda:1 [1/1] s')"
several gpus=3,uneven
that 'three that differ' grep -qE '^  s.h +differs: cuda:0 100 cycles, cuda:1 110 cycles, cuda:2 120 cycles$' out.txt
several gpus=2,uneven --json --quiet
that 'as JSON' test "$(grep -cE '"(schema": "gexp.survey/1|schema": "gexp.result/1|same": false)' out.txt) $(head -c 1 out.txt) $(wc -c <err.txt)" = '4 { 0'
several gpus=2,slow=30000
that 'at once' test "$code $((took <= 3))" = '0 1'
several gpus=2,hang_at=64 --launch-limit 1
that 'each loses its own points' test "$code $(grep -c 'the point n = 64 ended by timeout' out.txt)" = '4 2'
several empty
that 'none' test "$code" = 3
FAKE_CUDA=gpus=2,hang "$gexp" run one.gexp --device cuda:all >out.txt 2>err.txt </dev/null &
pid=$!
sleep 1
kill -INT $pid
SECONDS=0
wait $pid
that 'Ctrl-C ends all' test "$? $((SECONDS <= 1))" = '130 1'

# Killed, interrupted, orphaned: while launches take 30 ms each.
start() {  # SCRIPT ARGUMENTS…: in the background; `pid`, and the worker's once it measures
  local script=$1 i
  shift
  FAKE_CUDA=$script "$gexp" run one.gexp --device cuda:0 --out r.json --quiet "$@" >out.txt 2>err.txt </dev/null &
  pid=$!
  for i in $(seq 100); do worker=$(child_of $pid); [ -n "$worker" ] && break; sleep 0.05; done
  sleep 0.4
}
start slow=30000
that 'a worker' test -n "$worker"
kill -KILL "$worker"
wait $pid
that 'kill -9 of the worker loses a point' test "$? $(points) $(grep -c '"outcome"' r.json)" = '4 16 1'
that 'the rest is measured' grep -q '1 of 1 findings found' out.txt
start slow=30000
kill -INT $pid
SECONDS=0
wait $pid
that 'Ctrl-C ends with 130' test $? -eq 130
that 'within a second' test $SECONDS -le 1
that 'what was measured is kept' grep -q '"ticks": \[$' r.json
that 'no worker stays' gone "$worker"
start hang
kill -INT $pid
SECONDS=0
wait $pid
that 'Ctrl-C while a kernel hangs' test $? -eq 130
that 'within a second too' test $SECONDS -le 1
that 'the hanging worker is gone' gone "$worker"
start hang
kill -KILL $pid
wait $pid 2>/dev/null
that 'no orphan where gexp itself is killed' gone "$worker"

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
