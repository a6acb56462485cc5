#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Each phase of a run ends within a second of its time, of Ctrl-C and of SIGTERM, keeps what was measured, and holds no more memory than
# it may. limits.sh GEXP FAKE_NVRTC
set -u
gexp=$(readlink -f "$1")
fake=$(readlink -f "$2")
lip=$(readlink -f "$(dirname "$0")/../experiments/odd_devices/lip_tlb.toml")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 3
export GEXP_STORE=none
passed=0 failed=0
that() {  # NAME CONDITION…
  local name=$1
  shift
  if "$@"; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAIL $name"; tail -n 8 out.txt; fi
}
now() { date +%s%N; }
# A machine that does other things as well is given more than the second.
slack=500
read -r load _ </proc/loadavg
[ "${load%.*}" -lt "$(nproc)" ] || slack=4000

stage() { printf 'gexp 1\nexperiment hostile\nmemory A: u32[%s] in global\nbudget time 1000000000s memory 100GiB\nstage s {\n%s\nfind h: cycles = fastest(t)\n}\n' "$1" "$2"; }
stage 64KiB 'pattern r = uniform(stride: 32B, span: 4KiB) timed t each { chase A by r steps 100000000 }' >windows.gexp
stage 64KiB 'launch grid 1 block 32 timed t total { loop i in 0..4000000000 { load A at lane * 4B } }' >launch.gexp
patterns=$(for i in $(seq 40); do printf 'pattern p%s = shuffle(uniform(stride: 8B, span: 64MiB), %s)\n' "$i" "$i"; done)
stage 256MiB "$patterns
timed t each { chase A by p1 steps 10 }" >planning.gexp
stage 64KiB 'pattern r = uniform(stride: 32B, span: 4KiB) timed t each { chase A by r laps 2 } repeat 100000' >repeats.gexp
stage 64KiB 'sweep n in 1KiB..4KiB times 2 pattern r = uniform(stride: 32B, span: n) timed t each { chase A by r laps 2 }' >compiling.gexp
stage 64GiB 'launch grid 16000 block 1024 timed t total { store A at gtid * 4KiB }' >pages.gexp
stage 256MiB 'let l = [i * 4B for i in 0..30000000] pattern p = l timed t each { chase A by p steps 100 }' >list.gexp

# Measured in a moment, and answered in a minute: no policy that is known explains what it sees, and some nearly do.
cat >answering.gexp <<'SPEC'
gexp 1
experiment answering
memory A: u32[512MiB] in global
budget time 1000s
stage first { pattern r = uniform(stride: 32B, span: 4KiB) timed t each { chase A by r laps 2 } find h: cycles = fastest(t) }
stage policy {
  sweep words in [1, 2, 4, 8]
  sweep order in 0..5
  let other = [i * 2MiB + (i mod 64) * 128B for i in 80..112]
  pattern flood = nonuniform(
    mix: [o + v * 4B for o in shuffle([p + r * 16B + b * 8KiB for p in other for r in 0..7 for b in 0..3], 1) for v in 0..(o div 2MiB + o div 16B) mod 4],
    last: [p + w * 64KiB + 32KiB for w in 0..1 for p in other])
  pattern walk = shuffle([i * 2MiB + i * 128B + w * 4B for i in 0..16 for w in 0..words - 1], order)
  warm { chase A by flood laps 1 via cg }
  timed lat each { chase A by walk steps 3584 via cg }
  record lat raw
  repeat 3
  find kind: structure = replacement(lat, members: [i * 2MiB + i * 128B for i in 0..16], line: 2MiB)
}
SPEC

# What was answered is kept, and the rest says why it was not.
kept() { grep -A12 '"first.h"' "$1" | grep -q '"found"' && grep -q "it was not answered: $2" "$1"; }

# Sets code and took: a command that is signalled after some seconds ends with that exit code, in so many milliseconds.
signalled() {  # SIGNAL SECONDS COMMAND…
  local signal=$1 seconds=$2 pid begin
  shift 2
  "$@" >out.txt 2>&1 &
  pid=$!
  sleep "$seconds"
  begin=$(now)
  kill -"$signal" $pid
  wait $pid
  code=$?
  took=$((($(now) - begin) / 1000000))
}

for phase in windows launch planning repeats compiling answering; do
  nvrtc=(env) device=sim:h200
  [ $phase = answering ] && device=sim:$lip
  [ $phase = compiling ] && nvrtc=(env GEXP_NVRTC="$fake" GEXP_CACHE="$work/cache" FAKE_NVRTC_SECONDS=100)
  begin=$(now)
  "${nvrtc[@]}" "$gexp" run $phase.gexp --device $device --quiet --jobs 1 --time-limit 2 --memory-limit 4000 --out $phase.json >out.txt 2>&1
  code=$?
  took=$((($(now) - begin) / 1000000))
  that "$phase: the time limit ends it" test $code -eq 4
  that "$phase: in time ($took ms)" test $took -lt $((3000 + slack))
  that "$phase: with a result" grep -q '"schema": "gexp.result/1"' $phase.json
  for signal in INT TERM; do
    signalled $signal 1.5 "${nvrtc[@]}" "$gexp" run $phase.gexp --device $device --quiet --jobs 1 --memory-limit 4000 --out $phase-$signal.json
    that "$phase: SIG$signal ends it" test $code -eq 130
    that "$phase: within a second ($took ms)" test $took -lt $((1000 + slack))
    that "$phase: with a result" grep -q '"end": "interrupted"' $phase-$signal.json
  done
done

that 'answers are kept' kept answering.json 'the time is used up'
that 'an interrupt leaves the others' kept answering-TERM.json 'interrupted'
begin=$(now)
"$gexp" infer answering.json --time-limit 2 --out again.json >out.txt 2>&1
code=$?
took=$((($(now) - begin) / 1000000))
that "infer: the time limit ends it ($code)" test $code -eq 4
that "infer: in time ($took ms)" test $took -lt $((3000 + slack))
that 'infer: answers are kept' kept again.json 'the time is used up'
for signal in INT TERM; do
  signalled $signal 1.5 "$gexp" infer answering.json --out again-$signal.json
  that "infer: SIG$signal ends it" test $code -eq 130
  that "infer: within a second ($took ms)" test $took -lt $((1000 + slack))
  that 'infer: answers are kept' kept again-$signal.json 'interrupted'
done

# Devices that were done are reported.
{ stage 64KiB 'pattern r = uniform(stride: 32B, span: 4KiB) timed t each { chase A by r laps 2 } repeat 100'; echo 'expect s.h == model.cg.hit'; } >verified.gexp
for signal in INT TERM; do
  signalled $signal 3 "$gexp" verify verified.gexp --models 1000000 --noise none,real --quiet
  that "verify: SIG$signal ends it" test $code -eq 130
  that "verify: within a second ($took ms)" test $took -lt $((1000 + slack))
  that 'verify: with what was done' grep -qE '^hostile on [1-9][0-9]* drawn devices' out.txt
done

# Memory: of the simulated device, and of a plan.
/usr/bin/env python3 - "$gexp" <<'PYTHON' >out.txt 2>&1
import os, subprocess, sys
for name, says in (('pages', 'of the host'), ('list', 'E0722')):
    process = subprocess.Popen([sys.argv[1], 'run', name + '.gexp', '--device', 'sim:h200', '--quiet', '--time-limit', '60', '--memory-limit', '800'], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    text = process.stdout.read().decode()
    _, status, used = os.wait4(process.pid, 0)
    print(name, os.waitstatus_to_exitcode(status), used.ru_maxrss // 1024, 'MiB', 'says so' if says in text else text)
    if used.ru_maxrss // 1024 > 800 + 512 or says not in text:
        sys.exit(1)
PYTHON
that 'memory is held within its limit, and the refusal is said' test $? -eq 0

# Kernels that take the time, or the memory, where no loop asks for it.
/usr/bin/env python3 - "$gexp" "$slack" <<'PYTHON' >out.txt 2>&1
import os, subprocess, sys, time
gexp, slack = sys.argv[1], int(sys.argv[2]) / 1000
head = '.version 7.8\n.target sm_80\n.address_size 64\n'
entry = head + '.visible .entry k(.param .u64 x)\n{\n'
pairs = '_Z1fSt4pairIiiE' + ''.join(f'S_IS{a}_S{a}_E' for a in '0123456789ABCDEFGHIJKLMNO')
texts = {
    'frames': entry + '.local .align 8 .b8 l[524288];\nret;\n}\n',
    'jumps': entry + 'bra L100000;\nL0:\nret;\n' + ''.join(f'L{i}:\nbra L{i - 1};\n' for i in range(1, 100001)) + '}\n',
    'name': head + f'.visible .entry {pairs}()\n{{\nret;\n}}\n',
    'arrays': head + '.visible .entry k(' + ', '.join(f'.param .u64 p{i}' for i in range(100)) + ')\n{\nret;\n}\n',
    'marks': entry + ';' * (40 << 20) + '\nret;\n}\n',
}
arguments = {'name': [], 'arrays': ['u8[70000000]=1'] * 100}
for name, text in texts.items():
    open(name + '.ptx', 'w').write(text)
    begin = time.monotonic()
    process = subprocess.Popen([gexp, 'sim', name + '.ptx', *arguments.get(name, ['u32[4]']), '--grid', '10000', '--block', '32', '--time-limit', '2', '--memory-limit', '300'],
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    said = process.stdout.read().decode()
    _, status, used = os.wait4(process.pid, 0)
    wall, code, memory = time.monotonic() - begin, os.waitstatus_to_exitcode(status), used.ru_maxrss // 1024
    print(name, code, f'{wall:.1f} s', memory, 'MiB', said[-300:])
    if code not in (2, 3, 4) or wall > 4 + slack or memory > 300 + 512 or 'error[E' not in said:
        sys.exit(1)
PYTHON
that 'a kernel is held to its time and memory, whatever takes it' test $? -eq 0
that 'a launch that hangs names its line' grep -q 'launch.gexp:6' <("$gexp" run launch.gexp --device sim:h200 --quiet --launch-limit 0.5 | tr -d '\n ')
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
