#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What a user sees at the command line: exit codes, messages, files. run.sh GEXP
set -u
. "$(dirname "$(readlink -f "$0")")/checks.sh"
gexp=$(readlink -f "$1")
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 3
export GEXP_EXPERIMENTS=$root/experiments
unset NO_COLOR

# expect NAME CODE WORDS -- COMMAND…: its exit code, and words (a regular expression) that it prints on stdout or stderr.
expect() { judge "$@"; }

structure=cache/structure.gexp
expect 'the main job' 0 'capacity.C +12 KiB' -- "$gexp" run $structure --device sim:gtx780 --out good.json
that 'it says SIMULATED' grep -q '^SIMULATED: ' out.txt
expect 'stdout is JSON and nothing else' 0 '"schema": "gexp.result/1"' -- "$gexp" run $structure --device sim:gtx780 --json --quiet
that 'JSON begins at once' test "$(head -c 1 out.txt)" = '{'
cp out.txt one.json
"$gexp" run $structure --device sim:gtx780 --json --quiet >two.json 2>/dev/null
that 'two runs of one seed differ in timing alone' cmp -s <(sed '/"timing": {/,$d' one.json) <(sed '/"timing": {/,$d' two.json)
for jobs in 1 4; do "$gexp" run $structure --device sim:gtx780 --json --quiet --jobs $jobs >two.json 2>/dev/null; that "and with $jobs jobs" cmp -s <(sed '/"timing": {/,$d' one.json) <(sed '/"timing": {/,$d' two.json); done
# An editor's session: nothing but the protocol on stdout, and the exit code that it asks for.
said() { for body in "$@"; do printf 'Content-Length: %d\r\n\r\n%s' "${#body}" "$body"; done; }
hello='{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}'
opened='{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{"uri":"file:///x.gexp","version":1,"text":"gexp 1\nexperiment x\nlet a = b\n"}}}'
bye='{"jsonrpc":"2.0","id":2,"method":"shutdown"}'
out='{"jsonrpc":"2.0","method":"exit"}'
said "$hello" "$opened" "$bye" "$out" | timeout 60 "$gexp" lsp --stdio >lsp.txt 2>lsp.err
that 'a language server ends as it is told' test "${PIPESTATUS[1]}" -eq 0
that 'it speaks the protocol at once' test "$(head -c 16 lsp.txt)" = 'Content-Length: '
that 'it says what check says' grep -q '"code":"E0202"' lsp.txt
that 'and nothing beside that' test ! -s lsp.err
said "$hello" "$out" | timeout 60 "$gexp" lsp >/dev/null
that 'without shutdown its exit code is 1' test "${PIPESTATUS[1]}" -eq 1
timeout 60 "$gexp" lsp </dev/null
that 'so it is when the editor is gone' test $? -eq 1
expect 'no job at all' 2 '--jobs' -- "$gexp" run $structure --device sim:gtx780 --jobs 0
expect 'the findings again' 0 '8 of 8 findings found' -- "$gexp" infer good.json
"$gexp" infer good.json --json >again.json
that 'they are the same' cmp -s <(sed -n '/"findings"/,/"expectations"/p' good.json) <(sed -n '/"findings"/,/"expectations"/p' again.json)
expect 'what was measured at each point' 0 '^n B,median\(lat\) cycles$' -- "$gexp" infer good.json --points capacity
that 'a line each' test "$(wc -l <out.txt)" -eq "$(($(sed -n '/"name": "capacity"/,/"name": "overflow"/p' good.json | grep -c '"overhead"') + 1))"
that 'in base units' grep -q '^1024,110$' out.txt
expect 'a report' 0 '^saved as good.html$' -- "$gexp" report good.json -o good.html
that 'of one page' grep -q '</html>' good.html
that 'that says SIMULATED' grep -q 'class="simulated"' good.html
that 'and loads nothing' test "$(grep -cE '<(link|script|img|iframe)[^>]* (src|href)="?(http|//|/|\.)' good.html)" -eq 0
expect 'in the terminal' 0 'median.lat. over n .log.' -- env COLUMNS=60 "$gexp" report good.json
that 'no wider than that' test "$(sed -n '/median(lat) over n/,$p' out.txt | LC_ALL=C.UTF-8 wc -L)" -le 60
expect 'what launches did' 0 'readonly +[0-9,]+ of [0-9,]+ lookups hit' -- "$gexp" run $structure --device sim:gtx780 --counters --quiet --out counted.json
expect 'which is in the result' 0 '"stalled.memory"' -- cat counted.json
expect 'by point' 0 '^  capacity: n = 1 KiB, [0-9]+ launches$' -- "$gexp" report counted.json --counters
expect 'as a table' 0 '^counted.capacity.csv$' -- "$gexp" export counted.json counted.csv --counters
that 'with a column for each' grep -qE '^n B,launches,cycles cycles,.*,dram.written B$' counted.capacity.csv
expect 'and in a page' 0 '' -- "$gexp" report counted.json -o counted.html
that 'with what each means' grep -q 'an operand was being computed' counted.html
expect 'of what was not counted' 3 'run --counters' -- "$gexp" report good.json --counters
expect 'as a table neither' 3 'holds no counters' -- "$gexp" export good.json counted.csv --counters
expect 'of a run that goes on' 2 '--resume' -- "$gexp" run $structure --device sim:gtx780 --counters --resume
chase='gexp 1 experiment t memory A: u32[64KiB] in global stage s { sweep n in [1KiB, 2KiB] pattern r = uniform(stride: 32B, span: n) launch grid 1 block 1 timed lat each { chase A by r laps 1 via nc } repeat 2 } stage e { launch grid 2 block 64 timed t total { barrier } repeat 1 }'
expect 'what warps did when' 0 '^timeline of s at n = 1 KiB, its first repetition: 1 of 1 launch, [0-9,]+ cycles; saved as t.json$' -- "$gexp" run -e "$chase" --device sim:gtx780 --timeline t.json
cat >trace.py <<'PY'
import json, sys
trace = json.load(open(sys.argv[1]))
events = trace["traceEvents"]
begins = {e["id"]: e for e in events if e["ph"] == "b"}
ends = {e["id"]: e for e in events if e["ph"] == "e"}
assert begins.keys() == ends.keys() and all(begins[k]["ts"] < ends[k]["ts"] and begins[k]["name"] == ends[k]["name"] for k in begins)
by = {}
for warp in {(e["pid"], e["tid"]) for e in events if e["ph"] == "X"}:
    mine = sorted((e["ts"], e["dur"]) for e in events if e["ph"] == "X" and (e["pid"], e["tid"]) == warp)
    assert all(a[0] + a[1] <= b[0] for a, b in zip(mine, mine[1:])), "two at once"
names = {e["name"] for e in events}
assert set(sys.argv[2:]) <= names, names
PY
that 'loads by level, in a trace without two things at once' python3 trace.py t.json issues memory readonly l2 'launch 1'
expect 'beside a result' 0 'saved as t.json' -- "$gexp" run -e "$chase" --device sim:gtx780 --timeline t.json --out looked.json --store looked.db
cat >part.py <<'PY'
import json, sys
result = json.load(open(sys.argv[1]))
part, trace = result["timeline"], json.load(open(sys.argv[2]))["traceEvents"]
names = [name["kind"] + " " + name["text"] for name in part["names"]]
spans = [(names[s[0]], s[1], s[1] + s[2]) for warp in part["warps"] for s in warp["spans"]]
assert part["of"] == "s at n = 1 KiB" and part["sm"] == 0 and len(part["warps"]) == 1 and 50 < len(spans) <= 800, part
assert part["to"] == max(end for name, begin, end in spans if name.startswith("loads"))
assert {"waits memory", "loads readonly"} <= set(names), names
every = {("loads " + e["name"], e["ts"]) for e in trace if e["ph"] == "b"} | {(e["cat"] + "s " + e["name"], e["ts"]) for e in trace if e["ph"] == "X" and e["pid"] == 0}
assert all((name, begin) in every or begin == part["from"] for name, begin, end in spans), "a span that the trace has not"
PY
that 'a part of it is kept, and is as in the trace' python3 part.py looked.json t.json
expect 'and drawn' 0 'saved as looked.html' -- "$gexp" report last --store looked.db -o looked.html
that 'in the page' grep -q 'class="timeline"' looked.html
that 'which says what is left out' grep -q 'What 1 of 1 warp of SM 0 did in s at n = 1 KiB. Shown are cycles' looked.html
that 'of a result without one nothing is drawn' bash -c "'$gexp' report good.json -o plain.html && ! grep -q 'class=.timeline' plain.html"
expect 'of another point' 0 '^timeline of s at n = 2 KiB' -- "$gexp" run -e "$chase" --device sim:gtx780 --timeline t.json --timeline-of 's n=2048B'
expect 'of a stage without sweeps' 0 '^timeline of e, its' -- "$gexp" run -e "$chase" --device sim:gtx780 --timeline t.json --timeline-of e
that 'with its barriers' python3 trace.py t.json barrier
expect 'with a result on stdout' 0 'timeline of s' -- "$gexp" run -e "$chase" --device sim:gtx780 --timeline t.json --json --quiet
that 'which is JSON alone' python3 -c "import json; json.load(open('out.txt'))"
expect 'of no such point' 3 'its points are n = 1 KiB; n = 2 KiB' -- "$gexp" run -e "$chase" --device sim:gtx780 --timeline none.json --timeline-of 's n=3KiB'
that 'and nothing is written' test ! -e none.json
expect 'of no such stage' 2 'it has s, e' -- "$gexp" run -e "$chase" --device sim:gtx780 --timeline none.json --timeline-of x
that 'which is known before it runs' test ! -s out.txt
expect 'of no such sweep' 2 'stage `s` has no sweep `k`' -- "$gexp" run -e "$chase" --device sim:gtx780 --timeline none.json --timeline-of 's k=3'
expect 'into a file without a name' 2 'timeline.*a name is wanted' -- "$gexp" run -e "$chase" --device sim:gtx780 --timeline ''
expect 'of what is no point' 2 'write a stage, then sweeps' -- "$gexp" run -e "$chase" --device sim:gtx780 --timeline none.json --timeline-of n=3
expect 'of a point without a file' 2 'name a file with --timeline' -- "$gexp" run -e "$chase" --device sim:gtx780 --timeline-of s
expect 'over a store' 3 'it is a store' -- bash -c "printf 'SQLite format 3\\0' >some.db; exec '$gexp' run -e '$chase' --device sim:gtx780 --timeline some.db"
expect 'over the result' 3 'would be written twice' -- "$gexp" run -e "$chase" --device sim:gtx780 --timeline t.json --out t.json
expect 'a report of nothing' 3 'there is no file none.json' -- "$gexp" report none.json -o good.html
expect 'a report nowhere' 3 'E0710' -- "$gexp" report good.json -o none/good.html
expect 'of a stage that is not there' 2 'did you mean `capacity`' -- "$gexp" infer good.json --points capcity
expect 'an expectation that fails' 1 '^  fail ' -- "$gexp" run -e 'gexp 1 experiment t memory A: u32[64KiB] in global stage s { pattern r = uniform(stride: 32B, span: 4KiB) launch grid 1 block 1 warm { chase A by r laps 2 via nc } timed lat each { chase A by r laps 2 via nc } repeat 3..3 find h: cycles = fastest(lat) } expect s.h == 1cycles' --device sim:gtx780

# Progress: a line that never wraps on a terminal, plain lines elsewhere, JSON, or nothing.
if command -v script >/dev/null; then
  on_terminal() { TERM=xterm script -qec "stty cols $1; $2 '$gexp' run $structure --device sim:gtx780 --jobs 1" /dev/null </dev/null | tr '\r' '\n' >terminal.txt; }
  on_terminal 50 ''
  that 'on a terminal one line is rewritten' grep -qF "$(printf '\033[K[6/7] sets')" terminal.txt
  that 'no line wraps' test -z "$(sed 's/\x1b\[[0-9;]*[mK]//g' terminal.txt | grep -E '^\[[1-7]/7\]' | awk 'length > 49')"
  that 'and it is gone before the result' grep -qF "$(printf '\033[K')SIMULATED" <(sed 's/\x1b\[[0-9;]*m//g' terminal.txt)
  # Points enough that some are left whenever the line is drawn, however quick the machine.
  "$gexp" emit --spec -e 'sweep n in 1KiB..64KiB step 32B chase uniform(32B, n) via nc' >many.gexp
  TERM=xterm script -qec "stty cols 80; '$gexp' run many.gexp --device sim:gtx780 --jobs 1" /dev/null </dev/null | tr '\r' '\n' >many.txt
  that 'with a bar where the points are known' grep -qE '\[1/1\].* \[#*-*\].*  [0-9]+ of [0-9]+ points' many.txt
  that 'in colour' grep -qF "$(printf '\033[36m')" many.txt
  on_terminal 100 'NO_COLOR=1'
  that 'NO_COLOR' test -z "$(grep -F "$(printf '\033[36m')" terminal.txt)"
  on_terminal 100 'TERM=dumb'
  that 'a dumb terminal gets plain lines' test -z "$(grep -F "$(printf '\033[K')" terminal.txt)"
fi
"$gexp" run $structure --device sim:gtx780 >out.txt 2>err.txt
that 'elsewhere a line a stage' test "$(grep -cE '^\[[1-7]/7\] [a-z]+$' err.txt) $(wc -l <err.txt)" = '7 7'
"$gexp" run $structure --device sim:gtx780 --quiet >out.txt 2>err.txt
that '--quiet' test ! -s err.txt
"$gexp" run $structure --device sim:gtx780 --json-progress >out.txt 2>err.txt
command -v python3 >/dev/null && that 'progress as JSON' python3 -c "
import json
all = [json.loads(line) for line in open('err.txt')]
stages = [e for e in all if e['event'] == 'stage']
assert [e['stage'] for e in stages] == ['fetch', 'capacity', 'overflow', 'line', 'elsewhere', 'sets', 'policy'] and all[-1]['event'] == 'finished'
assert stages[0] == {'event': 'stage', 'stage': 'fetch', 'number': 1, 'stages': 7, 'done': 0, 'of': 2, 'seconds': stages[0]['seconds']} and stages[1]['of'] is None
assert any(e['event'] == 'point' and e['stage'] == 'sets' and 'extra = ' in e['at'] for e in all)
assert [e['seconds'] for e in all] == sorted(e['seconds'] for e in all)"
expect 'either JSON or quiet' 2 '--json-progress' -- "$gexp" run $structure --device sim:gtx780 --quiet --json-progress
"$gexp" survey $structure shared/bank_stride.gexp --device sim:gtx780 --json-progress >out.txt 2>err.txt
that 'of a survey' test "$(grep -c '"event":"finished","experiment":' err.txt)" -eq 2

launched() { printf 'gexp 1\nexperiment t\nmemory A: u32[4KiB] in global\nstage s { launch %s timed t %s { load A at lane * 4B via cg } repeat 1 find v: %s = value(median(t)) }\n' "$1" "${2:-total}" "${3:-cycles}" >chosen.gexp; }
launched 'grid 1 block 32 sm 12'
expect 'a multiprocessor that is not there' 2 'there is no multiprocessor 12: the device has 12' -- "$gexp" run chosen.gexp --device sim:gtx780
launched 'grid 1 block 32 sms 13'
expect 'more than there are' 2 'there is no multiprocessor 12' -- "$gexp" run chosen.gexp --device sim:gtx780
launched 'grid 2 block 32 sm 1'
expect 'two blocks on a chosen one' 2 'runs one block, not 2' -- "$gexp" run chosen.gexp --device sim:gtx780
launched 'grid 1 block 32 sm 1' wall s
expect 'a whole launch on a chosen one' 2 '`wall` times a whole launch' -- "$gexp" run chosen.gexp --device sim:gtx780

expect 'a survey' 0 '^  cache_structure.capacity  .*' -- "$gexp" survey $structure shared/bank_stride.gexp --device sim:gtx780 --out surveyed
that 'in brief' grep -qE '^  capacity.C +12 KiB +9' out.txt
that 'each result is there' test "$(cd surveyed && echo *)" = 'bank_stride.json cache_structure.json'
expect 'which is a result like any' 0 '8 of 8 findings' -- "$gexp" infer surveyed/cache_structure.json
expect 'a model of what was found' 0 'of [1-9][0-9]* expectations that read `model` hold in it' -- "$gexp" model surveyed --base sim:k20 --out made.toml
that 'a finding is named as the source' grep -q '^found.line = "cache_structure: line.b, ' made.toml
expect 'which runs' 0 '8 of 8 findings' -- "$gexp" run $structure --device sim:made.toml --quiet
expect 'a model without a base' 3 'E0600' -- "$gexp" model surveyed --base sim:nothing --out other.toml
"$gexp" run shared/bank_stride.gexp --device sim:gtx980 --quiet --out another.json >/dev/null 2>&1
expect 'a model of two devices' 3 'E0735' -- "$gexp" model surveyed another.json --out other.toml
expect 'a model that is no model' 2 'a model.s file ends in .toml' -- "$gexp" model surveyed --out made.json
expect 'a survey as JSON' 0 '"schema": "gexp.survey/1"' -- "$gexp" survey $structure --device sim:gtx780 --json --quiet
mkdir empty
expect 'a survey of an empty folder' 2 'holds no .gexp file' -- "$gexp" survey empty --device sim:gtx780
expect 'a model of an empty folder' 3 'holds no result' -- "$gexp" model empty --out other.toml
expect 'one experiment twice' 2 'E0732' -- "$gexp" survey $structure $structure --device sim:gtx780
expect 'a survey that leaves out everything' 3 'E0734' -- "$gexp" survey $structure --device sim:gtx560ti shared/bank_mode.gexp
expect 'a survey counts what it found' 0 '^[1-9][0-9]* of [1-9][0-9]* findings found, ' -- "$gexp" survey $structure --device sim:gtx780 --quiet
mkdir -p ships/survey ships/more && cp "$root/experiments/shared/bank_stride.gexp" ships/survey/ && cp "$root/experiments/memories/cluster.gexp" "$root/experiments/latency/clock.gexp" ships/more/
printf 'more/clock.gexp\nmore/cluster.gexp\n' >ships/survey/deep.txt
expect 'a deep survey runs what deep.txt names' 0 '^clock_reads: ' -- env GEXP_EXPERIMENTS="$PWD/ships" "$gexp" survey --deep --device sim:gtx780 --quiet
expect 'what a file requires may be missing' 0 '^cluster  left out: ' -- env GEXP_EXPERIMENTS="$PWD/ships" "$gexp" survey --deep --device sim:gtx780 --quiet
expect 'all files of deep.txt ship' 0 '^0$' -- bash -c "cd $root/experiments && xargs -a survey/deep.txt ls 2>&1 >/dev/null | wc -l"
expect 'what a device lacks is left out' 0 'cache_structure  left out: ' -- "$gexp" survey $structure latency/spaces.gexp --device sim:gtx560ti
cp -r surveyed again
expect 'a result and itself' 0 '^findings  [0-9]+ SAME, 0 DIFFERENT, 0 AMBIGUOUS$' -- "$gexp" compare surveyed again
that 'its curves too' grep -qE '^curves    [0-9]+ SAME, 0 DIFFERENT, 0 AMBIGUOUS' out.txt
that 'with nothing to explain' test "$(grep -c 'the same device, driver' out.txt)" -eq 2
expect 'all of it' 0 '^  capacity.C +SAME +12 KiB$' -- "$gexp" compare surveyed again --all
"$gexp" run $structure --device sim:gtx980 --quiet --out again/cache_structure.json >/dev/null 2>&1
expect 'two devices' 1 '^  capacity.C +DIFFERENT  12 KiB → 24 KiB$' -- "$gexp" compare surveyed again
that 'which are named' grep -qE '^  device +sim:gtx780 .* → sim:gtx980 ' out.txt
that 'curve by curve' grep -qE '^  line median\(lat\) +17 points: 17 DIFFERENT: at hole = 0 B 110 cycles → 82 cycles, -25.5 % in every repetition$' out.txt
expect 'within a wide margin' 1 '^  capacity.C +DIFFERENT' -- "$gexp" compare surveyed again --margin 40
that 'the latencies are the same' test -z "$(grep -E 'line median|capacity.hit' out.txt)"
expect 'no margin' 2 '--margin' -- "$gexp" compare surveyed again --margin nan
once='gexp 1 experiment once memory A: u32[64KiB] in global stage s { pattern r = uniform(stride: 32B, span: 4KiB) launch grid 1 block 1 warm { chase A by r laps 2 via nc } timed lat each { chase A by r laps 2 via nc } repeat 1..1 find h: cycles = fastest(lat) }'
for device in gtx780 gtx980; do "$gexp" run -e "$once" --device sim:$device --quiet --out once-$device.json >out.txt 2>&1; done
expect 'one repetition' 0 'AMBIGUOUS  110 cycles → 82 cycles \(too few repetitions: one on A\)' -- "$gexp" compare once-gtx780.json once-gtx980.json
expect 'is too little under --strict' 1 '1 point: 1 AMBIGUOUS: 110 cycles → 82 cycles \(too few repetitions\)' -- "$gexp" compare once-gtx780.json once-gtx980.json --strict
rm again/bank_stride.json
expect 'an experiment on one side' 1 '^bank_stride is only in A$' -- "$gexp" compare surveyed again
"$gexp" compare surveyed again --json >out.txt
that 'a comparison is JSON' grep -q '"schema": "gexp.compare/1"' out.txt
command -v python3 >/dev/null && that 'with every verdict' python3 -c "
import json
all = json.load(open('out.txt'))
one = all['experiments'][0]
assert all['only_in_a'] == ['bank_stride'] and [f for f in one['findings'] if f['id'] == 'capacity.C'] == [{'id': 'capacity.C', 'verdict': 'DIFFERENT', 'a': '12 KiB', 'b': '24 KiB', 'why': ''}]
assert all['curves'] == {v.lower(): sum(c['verdict'] == v for c in one['curves']) for v in ('SAME', 'DIFFERENT', 'AMBIGUOUS', 'undetermined')}
assert one['curves'][0]['worst']['a'] == 110"
echo '{' >again/broken.json
expect 'a broken file of a folder' 3 'broken.json' -- "$gexp" compare surveyed again
that 'the others are compared' grep -qE '^  capacity.C +DIFFERENT' out.txt
expect 'nothing to compare' 3 'holds no result' -- "$gexp" compare surveyed empty

expect 'an unknown model' 3 'did you mean|gtx780' -- "$gexp" run $structure --device sim:gtx78
expect 'an unknown device' 3 'there is no device' -- "$gexp" run $structure --device foo
expect 'no such GPU' 3 'error\[E07' -- env GEXP_LIBCUDA=/nonexistent/libcuda.so "$gexp" run $structure --device cuda:7
expect 'NVRTC missing' 3 'E0701' -- env GEXP_NVRTC=/nonexistent GEXP_CACHE="$work/none" "$gexp" run $structure --device sim:gtx780
expect 'a load path that a device lacks' 3 'E0501' -- "$gexp" run $structure --device sim:gtx560ti
printf 'gexp 1\nexperiment near\nmemory A: u32[64] in global\nstage a { timed t total { load A at 0B } find x: cycles = value(median(t)) }\nstage b beside a { launch grid 1 block 1 place gpc timed u total { load A at 4B } find y: cycles = value(median(u)) }\n' >near.gexp
expect 'a place in the same GPC, without clusters' 3 'near.gexp:5:.*E0501.*`place gpc` needs clusters' -- "$gexp" run near.gexp --device sim:gtx980
expect 'and with them' 0 '2 of 2 findings found' -- "$gexp" run near.gexp --device sim:h200
expect 'a missing file' 2 'cannot read' -- "$gexp" run nothing.gexp
expect 'a folder' 2 'folder' -- "$gexp" run "$work"
head -c 3000 /dev/urandom >binary.gexp
expect 'a binary file' 2 'error\[E01' -- "$gexp" check binary.gexp
: >empty.gexp
expect 'an empty file' 2 'a file begins with `gexp 1`' -- "$gexp" check empty.gexp
for file in "$root"/tests/cases/diagnostics/{hex_unit,kw_name,missing_brace,mul_s,op_at_stage,pct_mod,typo_clause,typo_stmt,unit_space,unknown_unit}/*.gexp; do
  expect "refused: $(basename "$file")" 2 'error\[E' -- "$gexp" check "$file"
done
expect 'checks as JSON' 2 '"code": "E' -- "$gexp" check --json "$root/tests/cases/diagnostics/typo_stmt/typo_stmt.gexp"
# `gexp check --json`: an array on stdout and nothing else, whatever the files are.
json() {  # NAME CODE PROGRAM FILES…: a line of Python that looks at `all`, and the exit code
  local name=$1 code=$2 program=$3
  shift 3
  "$gexp" check --json "$@" >out.txt 2>err.txt
  that "$name: the exit code" test $? -eq "$code"
  that "$name: nothing on stderr" test ! -s err.txt
  that "$name" python3 -c "import json, sys; all = json.load(open('out.txt')); sys.exit(not ($program))"
}
cases=$root/tests/cases/diagnostics
if command -v python3 >/dev/null; then
  members='["file", "code", "severity", "message", "line", "column", "end_line", "end_column", "hint", "notes"]'
  json 'every case is valid JSON' 2 "len(all) > 300 and not [d for d in all if list(d) != $members or (d['line'], d['column']) > (d['end_line'], d['end_column'])]" "$cases"/*/*.gexp
  json 'as many diagnostics as are printed' 2 "len(all) == $("$gexp" check "$cases"/*/*.gexp 2>&1 >/dev/null | grep -cE ': (error|warning)\[')" "$cases"/*/*.gexp
  json 'the place of a mistake' 2 "[(d['file'], d['code'], d['line'], d['column'], d['end_line'], d['end_column'], d['hint']) for d in all] == [('$cases/unit_space/unit_space.gexp', 'E0105', 3, 15, 3, 21, 'write \`48KiB\`')]" "$cases/unit_space/unit_space.gexp"
  json 'a note has its place' 2 "all[0]['notes'] == [{'message': 'the first \`a\`', 'file': '$cases/twice_declared/twice_declared.gexp', 'line': 3, 'column': 5, 'end_line': 3, 'end_column': 6}]" "$cases/twice_declared/twice_declared.gexp"
  json 'a note in another file' 2 "[n['file'] for n in all[0]['notes']][-1].endswith('use_circle.gexp') and all[1]['file'].endswith('q.gexp')" "$cases/use_circle/use_circle.gexp"
  json 'warnings alone' 0 "[d['severity'] for d in all] == ['warning']" "$cases/stage_asks_nothing/stage_asks_nothing.gexp"
  json 'all is well' 0 "all == []" cache/structure.gexp
  json 'an unreadable file is a diagnostic among the others' 2 "[(d['file'], d['code'], d['line']) for d in all] == [('none.gexp', 'E0711', 0), ('$work', 'E0711', 0), ('$cases/typo_stmt/typo_stmt.gexp', 'E0102', 4)]" none.gexp "$work" "$cases/typo_stmt/typo_stmt.gexp"
  json 'a binary file' 2 "[d['code'] for d in all] == ['E0101']" binary.gexp
  json 'an empty file' 2 "[(d['code'], d['line'], d['end_column']) for d in all] == [('E0103', 0, 0)]" empty.gexp
  printf 'gexp 1\nexperiment x\nlet a = nothing\n' >"$(printf 'na\377me.gexp')"
  json 'a path that is no UTF-8' 2 "len(all) == 1" na*me.gexp
fi
expect 'what ships is fine' 0 'fine' -- "$gexp" check cache/structure.gexp cache/l1.gexp shared/bank_stride.gexp shared/bank_mode.gexp tlb/structure.gexp
expect 'a parameter outside its domain' 2 'E0414' -- "$gexp" run $structure --set limit=1GiB
expect 'a misspelt parameter' 2 'did you mean `limit`' -- "$gexp" run $structure --set limt=64KiB
expect 'a setting of another dimension' 2 'E0409.*is bytes' -- "$gexp" run $structure --set limit=65536
expect 'a text for a size' 2 'E0409' -- "$gexp" run $structure --set limit=large
expect 'a setting without a value' 2 'NAME=VALUE' -- "$gexp" run $structure --set limit

# The short form of -e.
expect 'a chase alone' 0 'run.classes +\[198 cycles\]' -- "$gexp" run -e 'timed chase of uniform(128B, 64KiB) in global via ca' --device sim:gtx780
"$gexp" emit -e 'timed chase of uniform(128B, 64KiB) in global via ca' --spec >short.gexp
that 'it stands for a file' grep -q 'memory A: u32\[64KiB\] in global' short.gexp
expect 'which is one' 0 'fine' -- "$gexp" check short.gexp
that 'in house form' "$gexp" fmt --check short.gexp
expect 'statements around it' 0 'run.C +8 KiB' -- "$gexp" run -e 'sweep n in 4KiB..32KiB times 2 chase uniform(32B, n) via nc find C: B = last_flat(misses(lat) over n)' --device sim:gtx780
expect 'its clauses' 0 'warm \{ chase A by ring laps 3 as 8B via cg \}' -- "$gexp" emit --spec -e 'chase shuffle(uniform(span: 4KiB, stride: 128B), 7) as 8B via cg steps 9 warm 3'
expect 'a warp' 0 'launch grid 1 block 32' -- "$gexp" emit --spec -e 'chase bank(2, 4B) steps 256 timed total'
expect 'arithmetic' 0 'run.time ' -- "$gexp" run -e 'alu add.u32 chain 256 ilp 1' --device sim:gtx780
expect 'a param set' 0 'u32\[4KiB\]' -- "$gexp" emit --spec -e 'param n: B = 64KiB chase uniform(32B, n)' --set n=4KiB
expect 'a budget and a memory' 0 'budget memory 4MiB' -- "$gexp" emit --spec -e 'budget memory 4MiB memory M: u32[4KiB] in shared chase uniform(32B, 4KiB)'
expect 'its result can be inferred again' 0 '1 of 2 findings' -- bash -c '"$1" run -e "chase uniform(32B, 4KiB)" --device sim:gtx780 --out short.json --quiet && "$1" infer short.json' - "$gexp"
expect 'a mistake is shown where it was typed' 2 '^-e:1:15: error\[E0211\]' -- "$gexp" run -e 'chase uniform(128, 64KiB)'
expect 'said once' 2 '^-e:1:32: error\[E0204\]' -- "$gexp" run -e 'chase uniform(128B, 64KiB) via cx'
that 'not twice' test "$(grep -c error err.txt)" -eq 1
expect 'a mistake of the chase' 2 '^-e:1:1: error\[E0422\]' -- "$gexp" run -e 'chase repeat(uniform(128B, 1KiB), 2)'
expect 'a comment first' 0 'span: 4KiB' -- "$gexp" emit --spec -e '# a ring
chase uniform(128B, 4KiB)'
expect 'all of the constant memory' 0 'u32\[65488B\] in constant' -- "$gexp" emit --spec -e 'chase uniform(32B, 65504B) in constant'
expect 'a file that does not parse' 2 'error\[E0103\]' -- "$gexp" emit --spec -e 'gexp 1 experiment'
expect 'an open bracket' 2 '^-e:1:14: error\[E0103\]' -- "$gexp" run -e 'chase uniform(128B, 64KiB'
expect 'no operation' 2 'write an operation' -- "$gexp" run -e 'launch grid 1'
expect 'neither form' 2 'write an operation' -- "$gexp" run -e 'hello'
expect 'a clause without its value' 2 'wanted after .laps' -- "$gexp" run -e 'chase uniform(32B, 1KiB) laps'
expect 'a file without its head' 2 'belongs to a whole file' -- "$gexp" run -e 'stage s { }'
# The chain of `alu`: as many instructions as are asked, and a loop of whole blocks only where it turns.
for n in 1 64 255; do
  expect "PTX of a chain of $n" 0 'fma.rn.f32' -- "$gexp" emit --ptx -e "gexp 1 experiment t stage s { timed t total { alu fma.f32 chain $n ilp 1 } find h: cycles = fastest(t) }"
  that "$n instructions" test "$(grep -c 'fma.rn.f32' out.txt)" -eq $n
done
expect 'PTX of a chain of two blocks' 0 'fma.rn.f32' -- "$gexp" emit --ptx -e 'gexp 1 experiment t stage s { timed t total { alu fma.f32 chain 515 ilp 2 } find h: cycles = fastest(t) }'
that 'one block in the loop and the rest' test "$(grep -c 'fma.rn.f32' out.txt)" -eq $((2 * (256 + 3)))
expect 'PTX for an architecture' 0 '^\.target sm_90' -- "$gexp" emit --ptx --arch sm_90 -e 'chase uniform(32B, 4KiB)'
expect 'no architecture' 2 'an architecture such as sm_90' -- "$gexp" emit --ptx --arch 90 -e 'chase uniform(32B, 4KiB)'

# `use`: the folder, the library, hashes.
mkdir -p used/sub
part='memory A: u32[m.n] in global stage s { launch grid 1 block 1 warm { chase A by m.ring laps 2 via nc } timed lat each { chase A by m.ring laps 2 via nc } repeat 3..3 find h: cycles = fastest(lat) }'
printf 'gexp 1\nexperiment u # \303\274\r\nuse "sub/m.gexp" as m\nuse "papers.gexp" as p sha256 "old" let x = m.n + p.page\n%s\n' "$part" >used/u.gexp
cp used/u.gexp used/before.gexp
printf 'gexp 1\nexperiment m\nparam n: B = 4KiB in 1KiB..8KiB\npattern ring = uniform(stride: 32B, span: n)\n' >used/sub/m.gexp
expect 'a hash of another file' 2 'u.gexp:4:24: error\[E0123\]' -- "$gexp" check used/u.gexp
expect 'a missing hash, with what to write' 2 "hint: write .use \"sub/m.gexp\" as m sha256 \"$(sha256sum <used/sub/m.gexp | head -c 64)\"" -- "$gexp" check used/u.gexp
expect 'lock --check tells' 1 '2 of its' -- "$gexp" lock --check used/u.gexp
that 'and changes nothing' cmp -s used/u.gexp used/before.gexp
chmod 640 used/u.gexp
expect 'lock writes' 0 '2 hashes written' -- "$gexp" lock used/u.gexp
that 'the hashes and nothing else' cmp -s used/u.gexp <(sed -e "s/as m$/& sha256 \"$(sha256sum <used/sub/m.gexp | head -c 64)\"/" -e "s/\"old\"/\"$(sha256sum <"$root/experiments/lib/papers.gexp" | head -c 64)\"/" used/before.gexp)
that 'the permissions stay' test "$(stat -c %a used/u.gexp)" = 640
expect 'locked' 0 ': locked' -- "$gexp" lock --check used/u.gexp
expect 'locked and fine' 0 'u.gexp: fine' -- "$gexp" check used/u.gexp
expect 'a param of a used file' 0 's.h ' -- "$gexp" run used/u.gexp --device sim:gtx780 --set m.n=2KiB --out used.json
that 'the result has the hashes' test "$(grep -c '"by": "used/u.gexp"' used.json)" -eq 2
cp used/sub/m.gexp used/m.kept
echo 'let k = 4 +' >>used/sub/m.gexp
expect 'a result needs no other file' 0 '1 of 1 findings' -- "$gexp" infer used.json
expect 'a changed file is not used' 2 'found: ' -- "$gexp" run used/u.gexp --device sim:gtx780
"$gexp" lock used/u.gexp >out.txt
expect 'a mistake inside is shown there' 2 'used/sub/m.gexp:5:12: error\[E0103\]' -- "$gexp" check used/u.gexp
that 'with the use that leads to it' grep -q 'used/u.gexp:3:5: note: it is used here' err.txt
expect 'as JSON too' 2 '"file": "used/sub/m.gexp"' -- "$gexp" check --json used/u.gexp
cp used/m.kept used/sub/m.gexp
"$gexp" lock used/u.gexp >out.txt
expect 'a param outside its domain there' 2 'sub/m.gexp:3:22: error\[E0414\]' -- "$gexp" run used/u.gexp --set m.n=1MiB
expect 'a misspelt param there' 2 'did you mean `m.n`' -- "$gexp" run used/u.gexp --set m.m=1KiB
expect 'the library anywhere' 0 'param q.span .* 4 KiB' -- "$gexp" emit --ir -e 'gexp 1 experiment t use "papers.gexp" as p use "rings.gexp" as q let x = p.page + q.footprint' --set q.span=4KiB
expect 'no way up' 2 'E0120' -- "$gexp" run -e 'gexp 1 experiment t use "../m.gexp" as m'
ln -s ../u.gexp used/sub/out.gexp
printf 'gexp 1 experiment l use "out.gexp" as o' >used/sub/l.gexp
expect 'a link that leads out' 2 'E0121' -- "$gexp" check used/sub/l.gexp
printf 'gexp 1 experiment c use "c.gexp" as c' >used/c.gexp
expect 'a circle' 2 'in a circle: used/c.gexp → used/c.gexp' -- "$gexp" check ./used/c.gexp
mkfifo used/pipe.gexp
expect 'a pipe' 2 'is no file' -- "$gexp" run -e 'gexp 1 experiment t use "used/pipe.gexp" as m'
cp "$root/experiments/lib/rings.gexp" used/papers.gexp
expect 'a file in the folder comes before the library' 2 'E0123' -- "$gexp" check used/u.gexp

model() { sed "$1" "$root/runtime/sim/models/gtx780.toml" >model.toml; }
model 's/ways = 96/ways = 95/'
expect 'impossible geometry' 3 'model.toml:[0-9]+' -- "$gexp" run $structure --device sim:model.toml
model 's/^replacement = "lru"/replacment = "lru"/'
expect 'a typo in a model' 3 'replacement' -- "$gexp" run $structure --device sim:model.toml
model 's/ways = 96/ways = 48/; s/"12 KiB"/"6 KiB"/'
expect 'an edited model gives the edited answer' 1 'capacity.C +6 KiB' -- "$gexp" run $structure --device sim:model.toml
that 'its published value fails' grep -q '^  fail ' out.txt

expect 'an output without a name' 2 '--out' -- "$gexp" run $structure --device sim:gtx780 --out ''
expect 'an output that is a folder' 3 'cannot write' -- "$gexp" run $structure --device sim:gtx780 --out "$work"
expect 'an output in a folder that is not there' 3 'cannot write' -- "$gexp" run $structure --device sim:gtx780 --out none/x.json
mkfifo pipe
timeout 30 cat pipe >piped.json &
expect 'an output that is a pipe' 0 '^saved as pipe$' -- "$gexp" run -e 'chase uniform(32B, 4KiB)' --device sim:gtx780 --out pipe --quiet
wait $!
that 'the result went through it' grep -q '"schema": "gexp.result/1"' piped.json
that 'and it is a pipe still' test -p pipe
rm pipe

head -c 2000 good.json >cut.json
expect 'a result cut short' 3 'E0901' -- "$gexp" infer cut.json
echo '{"a": 1}' >foreign.json
expect 'a foreign file' 3 'E0902' -- "$gexp" infer foreign.json
sed 's#gexp.result/1#gexp.result/9#' good.json >newer.json
expect 'a newer result' 3 'E0903' -- "$gexp" infer newer.json
sed 's/"steps": [0-9]*/"steps": "many"/' good.json >edited.json
expect 'a damaged result' 3 'E0904' -- "$gexp" infer edited.json

expect 'CUDA text' 0 'ld.global.nc.u32' -- "$gexp" emit $structure
expect 'PTX' 0 '\.visible \.entry' -- "$gexp" emit $structure --ptx
expect 'PTX for an architecture' 0 '\.target sm_90' -- "$gexp" emit $structure --ptx --arch sm_90
expect 'no architecture' 2 'such as sm_90' -- "$gexp" emit $structure --ptx --arch hopper
expect 'an architecture that NVRTC does not know' 3 'E0706' -- "$gexp" emit $structure --ptx --arch sm_20
expect 'an architecture of CUDA text' 2 'needs --ptx or --cubin' -- "$gexp" emit $structure --arch sm_90
copy='gexp 1 experiment t memory A: u32[64KiB] in global stage s { launch grid device.sms block 32 timed t total { load A at lane * 4B + device.sms * 64B } repeat 3..3 derive m: B = moved(t) find x: B = value(m) }'
expect 'facts of a device' 0 'ld.global' -- "$gexp" emit -e "$copy" --device sim:gtx780
expect 'a device that is not there' 3 'gtx780' -- "$gexp" emit -e "$copy" --device sim:gtx78
expect 'the graph after a pass' 0 'stage capacity <-' -- "$gexp" emit $structure --ir --dump-after order
that 'before kernels are collected' test "$(grep -c ' kernel ' out.txt)" -eq 0
expect 'and after the pass that collects them' 0 ' kernel each.cu <-' -- "$gexp" emit $structure --ir --dump-after kernels
expect 'after a pass that is none' 2 'the passes are depth, order, points, values, kernels, keys, idle' -- "$gexp" emit $structure --ir --dump-after odrer
that 'with its hint' grep -q 'did you mean `order`' err.txt
expect 'of no graph' 2 'write --ir --dump-after order' -- "$gexp" emit $structure --dump-after order
expect 'the graph' 0 'stage capacity <-' -- "$gexp" emit $structure --ir
expect 'a stage that is not there' 2 'did you mean `sets`' -- "$gexp" emit $structure --stage set
mkdir templates
sed 's/begin, end;/begin, end; this is wrong;/' "$root/templates/each.cu" >templates/each.cu
expect 'a template that does not compile is shown at the statement' 3 'structure.gexp:[0-9]+:[0-9]+: error\[E0702\]' -- "$gexp" run $structure --device sim:gtx780 --templates templates
expect 'a folder without templates' 2 'E0506' -- "$gexp" run $structure --device sim:gtx780 --templates /nonexistent

ugly="$root"/tests/cases/format/comments/in.gexp pretty="$root"/tests/cases/format/comments/out.gexp
cp "$ugly" a.gexp && chmod 640 a.gexp && cp "$pretty" b.gexp && touch -d '2001-01-01' b.gexp && ln -s a.gexp link.gexp
expect 'fmt --check names what would change' 1 '^a.gexp$' -- "$gexp" fmt --check a.gexp b.gexp
that 'and nothing else' test "$(cat out.txt err.txt)" = a.gexp
that 'and changes nothing' cmp -s a.gexp "$ugly"
cp "$root"/tests/cases/diagnostics/typo_stmt/typo_stmt.gexp broken.gexp
expect 'fmt handles the other files too' 3 'cannot read missing.gexp' -- "$gexp" fmt missing.gexp broken.gexp link.gexp b.gexp
that 'it names what it changed' test "$(cat out.txt)" = link.gexp
that 'it says what does not parse' grep -q '^broken.gexp:.*error\[E01' err.txt
that 'and leaves that alone' cmp -s broken.gexp "$root"/tests/cases/diagnostics/typo_stmt/typo_stmt.gexp
that 'the file is formatted' cmp -s a.gexp "$pretty"
that 'with its permissions' test "$(stat -c %a a.gexp)" = 640
that 'through its link' test -L link.gexp
that 'a formatted file is not written' test "$(stat -c %Y b.gexp)" = "$(date -d 2001-01-01 +%s)"
expect 'fmt of a file that does not parse' 2 'error\[E01' -- "$gexp" fmt --check broken.gexp
expect 'fmt of a folder' 3 'folder' -- "$gexp" fmt .
expect 'fmt of a device' 3 'not a regular file' -- "$gexp" fmt /dev/zero
name=$(printf 'x%.0s' {1..250})
cp "$ugly" "$name"
expect 'fmt of a file that cannot be written' 3 'cannot write x' -- "$gexp" fmt "$name"
that 'it is as it was' cmp -s "$name" "$ugly"
that 'fmt - writes to the standard output' cmp -s <("$gexp" fmt - <"$ugly") "$pretty"
"$gexp" fmt --check - <"$ugly" >out.txt
that 'fmt --check -' test "$? $(cat out.txt)" = '1 -'
"$gexp" fmt - <"$ugly" 2>err.txt >/dev/full
that 'a full disk is no success' test $? -eq 3
that 'no temporary files are left' test -z "$(ls | grep '\.tmp$')"

long='gexp 1 experiment t memory A: u32[1MiB] in global stage s { sweep n in 1..100000 pattern r = uniform(stride: 32B, span: 64KiB) launch grid 1 block 1 warm { chase A by r laps 200 via nc } timed lat each { chase A by r laps 1 via nc } repeat 3..3 find h: cycles = fastest(lat) }'
timeout -s INT 3 "$gexp" run -e "$long" --device sim:gtx780 --out interrupted.json --quiet >out.txt 2>err.txt </dev/null
"$gexp" run -e "$long" --device sim:gtx780 --out interrupted.json --quiet >out.txt 2>err.txt </dev/null &
pid=$!
sleep 2
kill -INT $pid
wait $pid
that 'Ctrl-C ends with 130' test $? -eq 130
that 'what was measured is kept' grep -q '"end": "interrupted"' interrupted.json
that 'with its records' grep -q '"ticks"' interrupted.json
"$gexp" run -e "$long" --device sim:gtx780 --out interrupted.json --quiet --jobs 4 >out.txt 2>err.txt </dev/null &
pid=$!
sleep 2
kill -INT $pid
SECONDS=0
wait $pid
that 'Ctrl-C while four points are measured' test $? -eq 130
that 'ends all four at once' test $SECONDS -le 5
that 'and keeps whole points' grep -q '"ticks"' interrupted.json
slow=${long/1..100000/1..100000 until misses(lat) < 0}  # its least is one point, so nothing is refused
expect 'a time budget' 4 'the time budget is used up' -- "$gexp" run -e "${slow/memory A/budget time 1s memory A}" --device sim:gtx780 --out late.json --quiet
that 'it is kept too' grep -q '"ticks"' late.json
expect '--time-limit' 4 'time of --time-limit is used up' -- "$gexp" run -e "${long/memory A/budget time 1s memory A}" --time-limit 1 --device sim:gtx780 --quiet
expect 'a time limit that is no number' 2 '--time-limit.*number' -- "$gexp" run -e "$long" --time-limit nan --device sim:gtx780
expect 'a time limit of nothing' 2 '--time-limit' -- "$gexp" run -e "$long" --time-limit 0 --device sim:gtx780
expect 'a plan far above its budget' 2 'E0443.*the budget is 1 s' -- "$gexp" run -e "${long/memory A/budget time 1s memory A}" --device sim:gtx780
expect 'more than 80 % of the memory' 2 'E0442' -- "$gexp" run -e "${long/1MiB/2700MiB}" --device sim:gtx780
expect 'as much in all' 2 'E0442' -- "$gexp" run -e "${long/memory A/memory B: u32[2GiB] in global memory C: u32[2GiB] in global memory A}" --device sim:gtx780
expect 'unless a budget says so' 0 '^memory  2700 MiB of a budget' -- "$gexp" plan -e "${long/memory A: u32\[1MiB\]/budget memory 3GiB memory A: u32[2700MiB]}" --device sim:gtx780
expect 'memory of the host is no memory of the device' 0 '^host    2 GiB of this machine' -- "$gexp" plan -e "${long/memory A/memory B: u32[2GiB] in host memory C: u32[2GiB] in global memory A}" --device sim:h200
expect 'pages that the host may have to hold as well' 2 'E0446.*in host and managed take 9216 GiB' -- "$gexp" run -e "${long/memory A/budget memory 9300GiB memory B: u32[9GiB * 1024] in managed memory A}" --device sim:h200
expect 'more of the host than a quarter of what is free' 2 'E0446.*9216 GiB' -- "$gexp" run -e "${long/memory A/budget memory 9300GiB memory B: u32[9GiB * 1024] in host memory A}" --device sim:h200
expect 'it counts for the budget' 2 'E0427.*65 MiB' -- "$gexp" run -e "${long/memory A/budget memory 64MiB memory B: u32[64MiB] in host memory A}" --device sim:h200
expect 'too many points' 2 'E0440' -- "$gexp" run -e "${long/sweep/sweep k in 1..100 sweep}" --device sim:gtx780
expect 'too many repetitions' 2 'E0441' -- "$gexp" check "$root/tests/cases/diagnostics/too_many_repetitions/too_many_repetitions.gexp"
head -c 5000000 /dev/zero | tr '\0' ' ' >large.gexp
expect 'too large a file' 2 'E0101' -- "$gexp" run large.gexp
expect 'too many brackets' 2 'E0101' -- "$gexp" check "$root/tests/cases/diagnostics/too_many_brackets/too_many_brackets.gexp"
expect 'a memory budget' 2 'E0427' -- "$gexp" run -e "${long/memory A/budget memory 64KiB memory A}" --device sim:gtx780
expect 'a pattern beyond its memory' 2 'E0420' -- "$gexp" run -e "${long/u32\[1MiB\]/u32[4KiB]}" --device sim:gtx780
expect 'a sweep without end' 2 'E0406' -- "$gexp" run -e "${long/1..100000/1..1000000000}" --device sim:gtx780
expect 'a pattern without end' 2 'E04' -- "$gexp" run -e "${long/span: 64KiB/span: 4000000GiB}" --device sim:gtx780

expect 'a plan' 0 'capacity +at least 1 +3..20' -- "$gexp" plan $structure --device sim:gtx780
that 'it says that nothing is run' grep -q '^PLAN .*nothing is run$' out.txt
that 'and what it depends on' grep -q 'depends on fetch.unit, capacity.C' out.txt
expect 'a plan with a setting' 0 'plateaus +9 +3..20' -- "$gexp" plan wong10/texture.gexp --device sim:gtx780 --set limit=256KiB
expect 'a plan as JSON' 0 '"schema": "gexp.plan/1"' -- "$gexp" plan $structure --device sim:gtx780 --json
expect 'a plan as a graph' 0 'label="stage.ncapacity"' -- "$gexp" plan $structure --dot
that 'in Graphviz form' test "$(head -c 9 out.txt) $(tail -n 1 out.txt)" = 'digraph " }'
expect 'what the device lacks' 3 'E0501' -- "$gexp" plan $structure --device sim:gtx560ti
that 'comes with the plan' grep -q '^PLAN' out.txt
expect 'a plan of a million points' 0 's +1000000 ' -- timeout 5 "$gexp" plan -e "${long/1..100000/1..1000000}" --device sim:gtx780
truth='gexp 1 experiment t memory A: u32[64KiB] in global stage fetch { sweep down in 0..1 pattern w = [(i + down * (1023 - 2 * i)) * 1elem for i in 0..1023] launch grid 1 block 1 timed lat each { chase A by w laps 1 via nc } repeat 3..3 find unit: B = miss_spacing(lat) } '
expect 'verify on drawn devices' 0 'fetch.unit == model.nc.fetch +3 100.0 % ' -- "$gexp" verify -e "$truth expect fetch.unit == model.nc.fetch" --models 3 --noise none
that 'it says which' grep -q '^t on 3 drawn devices without noise, sim:drawn-1 and on, ' out.txt
expect 'with each noise' 0 'harsh' -- "$gexp" verify -e "$truth expect fetch.unit in 0B..model.nc.line" --models 3 --first 7 --noise none,real,harsh
that 'one table each' test "$(grep -c '^t on 3 drawn devices' out.txt)" -eq 3
expect 'its progress as JSON' 0 '"event":"point","stage":"noise none","at":"","done":1,"of":2' -- "$gexp" verify -e "$truth expect fetch.unit == model.nc.fetch" --models 2 --noise none --json-progress
expect 'as JSON' 0 '"verdict": "right"' -- "$gexp" verify -e "$truth expect fetch.unit == model.nc.fetch" --models 2 --noise none --json --quiet
that 'and nothing else' test "$(head -c 1 out.txt)" = '{'
cp out.txt verdicts.json
"$gexp" verify -e "$truth expect fetch.unit == model.nc.fetch" --models 2 --noise none --json --quiet --jobs 1 >out.txt
that 'the same with one job' cmp -s <(grep -v '"seconds"' out.txt) <(grep -v '"seconds"' verdicts.json)
expect 'something done to the file for each device' 0 'mutated, on 3 drawn devices' -- "$gexp" verify -e "$truth expect fetch.unit == model.nc.fetch" --models 3 --noise none --mutate --write-mutated mutated
expect 'a mutated file says what was done, and runs' 0 'right' -- "$gexp" verify "mutated/$(ls mutated | head -1)" --models 1 --noise none
expect 'wrong claims name what was done' 1 '^      stage fetch: ' -- "$gexp" verify -e "$truth expect fetch.unit == 2 * model.nc.fetch" --models 3 --noise none --mutate
"$gexp" verify -e "$truth expect fetch.unit == model.nc.fetch" --models 2 --noise none --json --quiet >before.json
expect 'what has changed since' 0 '2 verdicts that both have' -- "$gexp" verify -e "$truth expect fetch.unit == model.nc.fetch" --models 2 --noise none --against before.json
expect 'compared with no JSON' 0 'is no output of' -- "$gexp" verify -e "$truth expect fetch.unit == model.nc.fetch" --models 2 --noise none --against "mutated/$(ls mutated | head -1)"
expect 'claims that are wrong' 1 '3 100.0 % wrong' -- "$gexp" verify -e "$truth expect fetch.unit == 2 * model.nc.fetch" --models 3 --noise none
that 'they are listed with their device' grep -q '^    sim:drawn-1  fetch.unit == 2 \* model.nc.fetch: fetch.unit = ' out.txt
expect 'abstaining is no failure' 0 'abstained because' -- "$gexp" verify -e "${truth//1023/1} expect fetch.unit == model.nc.fetch" --models 2 --noise none
expect 'what a device lacks is not asked' 0 'not asked 2 times: ' -- "$gexp" verify -e "$truth expect fetch.unit == model.nc.fetch where model.nc.replacement == \"turns\"" --models 2 --noise none
that 'and counts nowhere' bash -c '! grep -q "abstained because" out.txt && grep -qE "fetch +0 +0.0 % +0 +0.0 % +0 +0.0 %" out.txt'
expect 'one drawn device' 0 '^  pass +fetch.unit == model.nc.fetch' -- "$gexp" run -e "$truth expect fetch.unit == model.nc.fetch" --device sim:drawn-3-harsh
expect 'no drawn device' 3 'E0600' -- "$gexp" run -e "$truth" --device sim:drawn-2-loud
expect 'nothing to verify' 2 'E0730.*expects nothing of `model`' -- "$gexp" verify -e "$truth expect fetch.unit == 32B" --models 3
expect 'no devices' 2 '--models' -- "$gexp" verify -e "$truth" --models 0
expect 'no such noise' 2 '--noise' -- "$gexp" verify -e "$truth" --noise loud
spec='gexp 1 experiment t param k: count = 3 memory A: u32[64KiB] in global stage s { pattern w = uniform(stride: 128B, span: 4KiB) launch grid 1 block 1 timed lat each { chase A by w laps 1 via nc } repeat 3..3 derive m: count = misses(lat) }'
expect 'an expectation where its condition does not hold' 0 '0 of 0 expectations held' -- "$gexp" run -e "$spec expect k == 4 where k == 4" --device sim:gtx780
expect 'and where it holds' 1 '0 of 1 expectations held' -- "$gexp" run -e "$spec expect k == 4 where k == 3" --device sim:gtx780
expect 'devices' 0 'sim:gtx980' -- "$gexp" devices
expect 'one of them' 0 '12 SMs .*288' -- "$gexp" devices show sim:gtx780
that 'it says SIMULATED' grep -q 'SIMULATED' out.txt
expect 'an option before the part of a command' 3 'no store before.db' -- "$gexp" results --store before.db prune --keep 1
expect 'an option behind it wins' 3 'no store behind.db' -- "$gexp" results --store before.db prune --keep 1 --store behind.db
expect 'an option that the part does not have' 2 '--last is no option of gexp results prune' -- "$gexp" results --last 3 prune --keep 1
expect 'one of them as JSON, asked behind' 0 '"kind": "simulated"' -- "$gexp" devices show sim:gtx780 --json
expect 'one of them as JSON' 0 '"kind": "simulated"' -- "$gexp" devices --json show sim:gtx780
expect 'a model in a file' 0 'GTX 980' -- "$gexp" devices show "sim:$root/runtime/sim/models/gtx980.toml"
expect 'none of them' 3 'E0600' -- "$gexp" devices show sim:gtx78
expect 'the experiments that ship' 0 'cache/structure.gexp' -- "$gexp" list
expect 'doctor' 0 'NVRTC' -- "$gexp" doctor

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
