#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Specs that nobody should trust, made from seeds: shipped files with parts changed, and attacks on each limit. Each is checked, and
run on a simulated device; none may crash, go on past its limit by more than 2 s, or hold more than its memory and 512 MB.

specs.py GEXP COUNT [--first SEED] [--keep FOLDER]: the specs from SEED on; --keep leaves there what was found. A spec is made of its seed alone."""
import argparse
import concurrent.futures
import os
import pathlib
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
RUN_SECONDS = 1      # --time-limit of a run
CHECK_SECONDS = 4    # what a compile may cost is counted in work, a second or two of it
SLOWER = 10          # instrumented code
MEMORY = 1500        # MiB
MORE_SECONDS, MORE_MEMORY = 2, 512
EXITS = {0, 1, 2, 3, 4, 130}
SIGNS = re.compile(r'AddressSanitizer|LeakSanitizer|runtime error:|internal error|terminate called|Assertion')
DEVICES = ('gtx780', 'h200', 'gtx560ti', 'gtx980')
EXTREME = ('0', '1', '2', '3', '31', '33', '1024', '65536', '1000000', '4294967295', '4294967296', '9007199254740993', '1e19', '1e300', '1e-31', '0.5', '0B', '1B', '3B',
           '1KiB', '1GiB', '1000GiB', '1elem', '100%', '1cycles')
HEAD = 'gexp 1\nexperiment hostile\nmemory A: u32[1MiB] in global\n'


def seed_texts():
    paths = [*(ROOT / 'experiments').rglob('*.gexp'), *(ROOT / 'tests/cases/examples').rglob('*.gexp'), *(ROOT / 'tests/fuzz/corpus').rglob('*')]
    texts = [path.read_text(errors='replace') for path in sorted(paths) if path.is_file()]
    return [text for text in texts if len(text) < 20000]


def mutated(chance, texts):
    """A file with one to four things done to its tokens or lines."""
    text = chance.choice(texts)
    for _ in range(chance.randint(1, 4)):
        tokens = re.findall(r'"[^"\n]*"|#[^\n]*|\w+(?:\.\d+\w*)?%?|\s+|[^\w\s]', text)
        at = [i for i, token in enumerate(tokens) if not token.isspace()]
        if not at:
            break
        i, j = chance.choice(at), chance.choice(at)
        what = chance.randrange(8)
        numbers = [k for k in at if tokens[k][0].isdigit()]
        if what <= 2 and numbers:
            tokens[chance.choice(numbers)] = chance.choice(EXTREME)
        elif what == 3:
            del tokens[i]
        elif what == 4:
            tokens[i], tokens[j] = tokens[j], tokens[i]
        elif what == 5:
            tokens.insert(i, tokens[j] + ' ')
        elif what == 6:
            lines = ''.join(tokens).split('\n')
            lines.insert(chance.randrange(len(lines)), chance.choice(lines))
            tokens = ['\n'.join(lines)]
        else:
            tokens[i] = chance.choice(('(', ')', '{', '}', '[', ']', '..', '-', '*', 'div', 'mod', 'not', 'tid', 'gtid', 'lane', 'device.sms', 'sweep', 'repeat', 'total', 'each', 'wall'))
        text = ''.join(tokens)
    return text


def stage(before='', ops='load A at 0B', launch='grid 1 block 1', timing='total', after=''):
    return f'stage s {{\n{before}\nlaunch {launch}\ntimed t {timing} {{ {ops} }}\n{after}\nfind h: cycles = fastest(t)\n}}\n'


def chain(first, form, count):
    return first + ''.join(form.format(i, i - 1) for i in range(1, count))


def attacks(chance):
    """One of each kind, with sizes by chance."""
    n = chance.choice((3, 40, 70, 1100, 5000, 20000))
    big = chance.choice((2**20, 2**26, 2**32 - 1, 2**32, 2**40))
    mib = chance.choice((1, 16, 64, 256))
    memory = HEAD.replace('1MiB', f'{max(mib, 1) * 2}MiB')
    far = chance.choice(('4KiB', '64KiB', '2MiB'))
    kinds = {
        'brackets': lambda: HEAD + 'let a = ' + '(' * n + '1' + ')' * n,
        'sums': lambda: HEAD + 'let a = ' + '1 + ' * n + '1\n',
        'loops of a list': lambda: HEAD + 'let a = [1 ' + 'for i in 0..1 ' * n + ']\n',
        'lists in lists': lambda: HEAD + chain('let a0 = [1]\n', 'let a{0} = [a{1}]\n', n),
        'lists that grow': lambda: HEAD + chain('let a0 = [device.sms, 1]\n', 'let a{0} = [x for x in a{1} for y in 0..1]\n', n),
        'lets of the device': lambda: HEAD + chain('let a0 = [device.sms]\n', 'let a{0} = [a{1}]\n', n),
        'lets of threads': lambda: HEAD + stage(chain('let a0 = tid\n', 'let a{0} = a{1} + a{1}\n', n), f'load A at a{n - 1} * 4B', 'grid 1 block 32'),
        'derives': lambda: HEAD + stage('sweep n in 1..4', after=chain('derive d0: cycles = median(t)\n', 'derive d{0}: cycles = d{1} + 1cycles\n', n) + f'find p: cycles = plateau(d{n - 1} over n)'),
        'sweeps': lambda: HEAD + stage(''.join(f'sweep w{i} in {chance.choice(("[1]", "1..2", "1..1000"))}\n' for i in range(n))),
        'a refinement': lambda: HEAD + stage(f'sweep n in 1KiB..1MiB times 2 refine to {chance.choice(("1e-31B", "1B", "0.001B"))} on median(t) > {chance.choice((0, 1, 30))}cycles\npattern r = uniform(stride: 32B, span: n)',
                                              'chase A by r laps 1', timing='each'),
        'stages': lambda: HEAD + ''.join(stage('sweep n in 1..100000').replace('stage s', f'stage s{i}') for i in range(min(n, 3000))),
        'patterns': lambda: memory + stage(''.join(f'pattern p{i} = shuffle(uniform(stride: 8B, span: {mib}MiB), {i + 1})\n' for i in range(min(n, 40))), 'chase A by p0 steps 100', timing='each'),
        'patterns of the device': lambda: memory + ''.join(f'pattern p{i} = shuffle(uniform(stride: 8B, span: {mib}MiB + device.sms * 0B), {i + 1})\n' for i in range(min(n, 40))) + stage('', 'chase A by p0 steps 100', timing='each'),
        'a list of offsets': lambda: memory + stage(f'sweep k in 1..4\nlet l = [i * 4B for i in 0..{mib * 100000}]\npattern p = l', 'chase A by p steps 100', timing='each'),
        'a chase without end': lambda: HEAD + stage('pattern r = uniform(stride: 32B, span: 4KiB)', f'chase A by r steps {big}', timing=chance.choice(('each', 'total', 'wall'))),
        'a warm-up without end': lambda: HEAD + stage(f'pattern r = uniform(stride: 32B, span: 4KiB)\nwarm {{ chase A by r steps {big} }}', 'chase A by r laps 1', timing='each'),
        'a loop without end': lambda: HEAD + stage('', f'loop i in 1..{big} {{ load A at lane * 4B }}', 'grid 1 block 32'),
        'a wide launch': lambda: HEAD + stage('', 'load A at (gtid mod 1024) * 4B', f'grid {chance.choice((65535, 2**31 - 1))} block 1024'),
        'memory far and wide': lambda: HEAD.replace('1MiB', '2GiB') + stage('', f'store A at gtid * {far} mod 2GiB', 'grid 500 block 1024'),
        'pages': lambda: HEAD.replace('1MiB', '60GiB') + stage('', 'store A at gtid * 4KiB', 'grid 15000 block 1024'),
        'repetitions': lambda: HEAD + stage('pattern r = uniform(stride: 32B, span: 256KiB)', 'chase A by r laps 4', timing='each', after='repeat 100000'),
        'points': lambda: HEAD + stage('sweep a in 1..1000\nsweep b in 1..1000'),
        'a barrier': lambda: HEAD + stage('', f'branch tid < {chance.choice((1, 32, 64))} {{ barrier }}', 'grid 1 block 64'),
        'long texts': lambda: HEAD + f'let a = ["{"x" * n * 10}" for i in 0..{n}]\n',
        'many names': lambda: HEAD + ''.join(f'param p{i}: B = {i}B in 0B..1GiB\n' for i in range(n)),
        'deep blocks': lambda: HEAD + stage('', ''.join(f'loop i{k} in 0..1 {{ ' for k in range(min(n, 300))) + 'load A at 0B' + '}' * min(n, 300)),
        'an unroll': lambda: HEAD + stage('', f'unroll i in 0..{n} {{ load A at i * 4B }}'),
        'unique': lambda: HEAD + stage('let u = unique(gtid * 4B div 32B)', 'load A at (gtid mod 64) * 4B', f'grid {min(n, 5000)} block 1024'),
        'noise': lambda: ''.join(chr(chance.randrange(1, 0x300)) for _ in range(n)),
        'cut off': lambda: chance.choice(TEXTS)[:chance.randrange(2000)],
    }
    return kinds[chance.choice(sorted(kinds))]()


TEXTS = seed_texts()


def spec_of(seed):
    chance = random.Random(seed)
    return mutated(chance, TEXTS) if chance.random() < 0.8 else attacks(chance)


def run(command, seconds, environment):
    """Exit code, output, wall seconds, CPU seconds, MiB of the process at most."""
    begin = time.monotonic()
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, env=environment)
        killer = threading.Timer(seconds, process.kill)  # far beyond the limit: it hangs
        killer.start()
        _, status, used = os.wait4(process.pid, 0)
        killer.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        text = out.read(1 << 20).decode(errors='replace')
    return process.returncode, text, time.monotonic() - begin, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def wrong_with(command, limit, environment):
    code, text, wall, cpu, memory = run(command, 10 * limit + 60, environment)
    late = limit + MORE_SECONDS
    if SIGNS.search(text):
        return SIGNS.search(text).group() + '\n' + text[:4000]
    if code not in EXITS:
        return f'exit code {code}\n{text[-2000:]}'
    # On a machine that does other things too, a process that is late for want of a processor has used little of one.
    if wall > late and (cpu > late or wall > 20 * late):
        return f'{wall:.1f} s ({cpu:.1f} s of a processor), the limit is {limit} s\n{text[-500:]}'
    if memory > MEMORY + MORE_MEMORY:
        return f'{memory:.0f} MiB, {MEMORY} may be held\n{text[-500:]}'
    return ''


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('gexp')
    parser.add_argument('count', type=int)
    parser.add_argument('--first', type=int, default=1)
    parser.add_argument('--keep')
    parser.add_argument('--jobs', type=int, default=os.cpu_count())
    options = parser.parse_args()
    instrumented = b'__asan_init' in pathlib.Path(options.gexp).read_bytes()
    folder = pathlib.Path(tempfile.mkdtemp(prefix='gexp-hostile-'))
    environment = dict(os.environ, GEXP_STORE='none', GEXP_CACHE=str(folder / 'cache'), GEXP_MEMORY_LIMIT=str(MEMORY),
                       ASAN_OPTIONS='quarantine_size_mb=32:detect_leaks=0:allocator_may_return_null=0', UBSAN_OPTIONS='print_stacktrace=1')
    for kernel in (ROOT / 'experiments').rglob('*.cu'):
        shutil.copy(kernel, folder)
    found, ran = [], 0

    def look(seed):
        path = folder / f'{seed}.gexp'
        path.write_text(spec_of(seed), errors='replace')
        wrong = wrong_with([options.gexp, 'check', str(path)], CHECK_SECONDS * (SLOWER if instrumented else 1), environment)
        if not wrong:
            device = DEVICES[seed % len(DEVICES)]
            wrong = wrong_with([options.gexp, 'run', str(path), '--device', f'sim:{device}', '--quiet', '--jobs', '1', '--time-limit', str(RUN_SECONDS), '--memory-limit', str(MEMORY)],
                               RUN_SECONDS + (CHECK_SECONDS * SLOWER if instrumented else CHECK_SECONDS), environment)
        if wrong and options.keep:
            os.makedirs(options.keep, exist_ok=True)
            (pathlib.Path(options.keep) / f'{seed}.gexp').write_text(path.read_text(errors='replace'))
        path.unlink()
        return seed, wrong

    begin = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for seed, wrong in pool.map(look, range(options.first, options.first + options.count)):
            ran += 1
            if wrong:
                found.append(seed)
                print(f'FAIL spec {seed} (specs.py {options.gexp} 1 --first {seed} --keep FOLDER makes it again): {wrong}', flush=True)
    for path in sorted(folder.rglob('*'), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    folder.rmdir()
    print(f'{ran} specs, {len(found)} of them wrong, {time.monotonic() - begin:.0f} s')
    return 1 if found or ran == 0 else 0


if __name__ == '__main__':
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    sys.exit(main())
