#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each published result that an experiment expects of a model can fail: with the model or the program changed, the verdict is another one.

can_fail.py GEXP [FILTER …] [--jobs N]: every file and device that a head names `# simulated:`. A model is changed as a whole, in a few ways
(CHANGES); the next one is tried for those expectations that held under the ones before. What no model decides follows from what threads do:
can_fail_programs.txt has an edit of the experiment for each, behind which the verdict must be another one. What holds under all is told, and
what has an edit without need. The exit code is then 1. FILTER takes the pairs whose name has it, or one of several.
"""
import argparse
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 300
NUMBER = r"\d+(?:\.\d+)?"


def scaled(text, factor):
    """Every number of a value, fractions by their first number."""
    whole = lambda n: f"{max(1, round(float(n) * factor))}" if re.fullmatch(r"\d+", n) else f"{float(n) * factor:.4g}"
    return re.sub(rf"(?<![\w./]){NUMBER}(?![\w.]*\s*MHz)", lambda found: whole(found[0]), text)


def tables(model, change):
    """The model with change(table, key, value) for each line that has a value."""
    lines, table = [], ""
    for line in model.splitlines():
        head = re.fullmatch(r"\[([^\]]+)\]", line)
        table = head[1] if head else table
        pair = re.fullmatch(r"([\w.\"]+) = (.+)", line)
        if pair and not pair[1].startswith(("source", "assumed")):
            made = change(table, pair[1], pair[2])
            line = line if made is None else f"{pair[1]} = {made}"
        lines.append(line)
    return "\n".join(lines) + "\n"


def slower(model):
    """All latencies, intervals and rates."""
    def change(table, key, value):
        if table.startswith("paths.") and key.startswith("latency"): return scaled(value, 1.25)
        if table == "pipeline" and key in ("clock", "alu", "multiply", "divide", "constant", "barrier", "local", "interval"): return scaled(value, 1.3)
        if table in ("units", "operations") and "latency" in value: return scaled(value, 1.3)
        if table.startswith("caches.") and key == "interval": return scaled(value, 1.3)
        if table == "shared" and key == "cycles": return scaled(value, 1.4)
        if table == "bandwidth": return re.sub(NUMBER, lambda n: f"{float(n[0]) * 0.6:.4g}", value)
        return None
    return tables(model, change)


def smaller(model):
    """Half the ways of caches and TLBs, and half of what else can be counted."""
    halved = set()
    for name, body in re.findall(r"^\[((?:caches|tlbs)\.\w+)\]\n((?:.+\n)*)", model, re.M):
        if "weighted" not in body and re.search(r"^ways = \d*[02468]$", body, re.M) and re.search(r"^(capacity|reach) = ", body, re.M): halved.add(name)
    # Chances belong to ways, so what has them loses sets in their place.
    fewer = {name for name, body in re.findall(r"^\[(caches\.\w+)\]\n((?:.+\n)*)", model, re.M) if "weighted" in body}
    def change(table, key, value):
        def half():
            size = re.fullmatch(r"\"(\d+) (KiB|MiB)\"", value)
            return str(int(size[1]) << (9 if size[2] == "KiB" else 19)) if size else re.sub(r"\d+", lambda n: str(max(1, int(n[0]) // 2)), value)
        if table in halved and key in ("ways", "capacity", "reach"): return half()
        if table in fewer and key in ("sets", "capacity"): return half()
        if table in fewer and key == "xor": return re.sub(r", \[[^\[\]]*\]\]$", "]", value)
        if table.startswith("tlbs.") and key == "sets" and value.startswith("[17"): return value.replace("17", "9")
        if table.startswith("tlbs.") and key == "reach" and value == '"130 MiB"': return '"114 MiB"'
        if table == "outstanding" and key in ("entries", "requests", "loads_per_warp", "merges"): return half()
        if table == "limits" and key in ("registers_per_sm", "registers_per_thread", "register_step", "register_threads"): return half()
        if table == "paths.instruction" and key == "fetch": return half()
        if table == "window" or (table == "shared" and key == "banks"): return half()
        if table.startswith("caches.") and key == "prefetch": return half()
        return None
    return tables(model, change)


def coarser(model):
    """Lines and pages twice as long, with half the ways; index bits where they still are bits of a line's number."""
    def change(table, key, value):
        if not table.startswith(("caches.", "tlbs.")): return None
        name = re.escape(table)
        body = re.search(rf"^\[{name}\]\n((?:.+\n)*)", model, re.M)[1]
        line = re.search(r"^(?:line = (\d+)|page = \"(\d+) (KiB|MiB)\")$", body, re.M)
        if not line or "weighted" in body or not re.search(r"^ways = \d*[02468]$", body, re.M): return None
        if key in ("line", "block") and value.isdigit(): return str(2 * int(value))
        if key == "page": return re.sub(r"\d+", lambda n: str(2 * int(n[0])), value)
        if key == "ways": return str(int(value) // 2)
        if key == "bits" and "[[" not in value:
            size = int(line[1]) if line[1] else int(line[2]) * (1 << (10 if line[3] == "KiB" else 20))
            up = 1 if f"[{int(math.log2(size))}," in value else 0
            return re.sub(r"\d+", lambda n: str(int(n[0]) + up), value)
        return None
    return tables(model, change)


def otherwise(model):
    """Other policies, clocks and ways to diverge."""
    def change(table, key, value):
        if key == "replacement": return {'"lru"': '"random"', '"weighted"': '"lru"', '"random"': '"lru"'}.get(value)
        if key == "clocks": return '"device"'
        if key == "sms_per_tpc": return "2" if value != "2" else None
        if key == "scope" and "sms_per_tpc" in model: return '"device"'
        if key == "divergence": return '"independent"'
        if key == "kind": return {'"mshr"': '"prt"'}.get(value)
        if table == "pipeline" and key == "ahead": return "0"
        return None
    made = re.sub(r"^probabilities = .*\n", "", tables(model, change), flags=re.M)
    return re.sub(r"^(assumed\.)?merges = .*\n", "", made, flags=re.M) if '"mshr"' in model else made


def hasty(model):
    """Half the entries that book requests, and no time of a load unit for each thread."""
    def change(table, key, value):
        if table == "pipeline" and key == "thread": return "0"
        if table == "outstanding" and key == "entries": return str(int(value) // 2)
        return None
    return tables(model, change)


def ample(model):
    """Caches of 16 times the ways."""
    grown = {name for name, body in re.findall(r"^\[(caches\.\w+)\]\n((?:.+\n)*)", model, re.M) if "weighted" not in body}
    def change(table, key, value):
        if table in grown and key in ("ways", "capacity", "unified"): return re.sub(r"\d+", lambda n: str(16 * int(n[0])), value, count=1)
        return None
    return tables(model, change)


def busy(model):
    """Instructions that take 16 times as long to issue: what memory decided, they decide."""
    return tables(model, lambda table, key, value: scaled(value, 16) if table == "pipeline" and key == "issue" else None)


def scarce(model):
    """A quarter of all bandwidth at the same latencies."""
    return tables(model, lambda table, key, value: re.sub(NUMBER, lambda n: f"{float(n[0]) / 4:.4g}", value) if table == "bandwidth" else None)


CHANGES = (slower, smaller, coarser, otherwise, hasty, scarce, busy, ample)  # the last ones simulate longest


def pairs(filters):
    for path in sorted((ROOT / "experiments").rglob("*.gexp")):
        text = path.read_text()
        if 'from "' not in text: continue  # it expects nothing that was published
        for line in text.splitlines():
            if not line.startswith("#"): break
            head = re.fullmatch(r"# simulated: (.+?)(?: with (.+))?", line)
            for device in head[1].split() if head else ():
                name = str(path.relative_to(ROOT / "experiments"))[:-5]
                if any(text in f"{name} {device}" for text in filters or [""]): yield path, name, device, (head[2] or "").split()


def published(gexp, path, device, settings):
    """The published results that are expected of the device, and their verdicts; nothing, and why, where it does not run."""
    words = [gexp, "run", str(path), "--device", f"sim:{device}", "--json", "--quiet"] + [w for s in settings for w in ("--set", s)]
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=SECONDS, env={**os.environ, "GEXP_STORE": "none"})
        result = json.loads(done.stdout)
    except (subprocess.TimeoutExpired, json.JSONDecodeError) as problem:
        return None, done.stderr[:300] if isinstance(problem, json.JSONDecodeError) else "no end"
    return [(e["text"], e["status"]) for e in result["expectations"] if e.get("from") and e["status"] != "not here"], ""


def programs():
    """The edits of can_fail_programs.txt: of each expectation, by its pair and its text, what is replaced by what."""
    lines = [line for line in (Path(__file__).parent / "can_fail_programs.txt").read_text().splitlines() if line and not line.startswith("#")]
    return {name.strip(): edit.split(" ==> ") for name, _, edit in (line.partition("  # ") for line in lines)}


def one(gexp, work, pair, edits):
    """How many of the pair's results hold as it ships, those that nothing makes fail, those that a model makes fail in spite of an edit."""
    path, name, device, settings = pair
    before, why = published(gexp, path, device, settings)
    if before is None: return pair, None, [f"as it ships: {why}"]
    left, said = {k for k, (_, status) in enumerate(before) if status == "pass"}, []
    total = len(left)
    named = {k: edits[f"{name} on {device}: {text}"] for k, (text, _) in enumerate(before) if f"{name} on {device}: {text}" in edits}
    for change in CHANGES:
        if not left: break
        folder = Path(work) / f"{name.replace('/', '_')}-{device}-{change.__name__}"
        folder.mkdir()
        model = folder / f"{device}.toml"
        model.write_text(change((ROOT / f"runtime/sim/models/{device}.toml").read_text()))
        after, why = published(gexp, path, model, settings)
        if after is None: said.append(f"{change.__name__}: {why}")
        else: left -= {k for k in left if len(after) != len(before) or after[k][1] != "pass"}
    needless = [before[k][0] for k in named if k not in left]
    for k in sorted(left & set(named)):
        folder = Path(work) / f"{name.replace('/', '_')}-{device}-{k}"
        shutil.copytree(path.parent, folder)
        text = path.read_text()
        if named[k][0] not in text: said.append(f"nothing to edit: {named[k][0]}")
        (folder / path.name).write_text(text.replace(named[k][0], named[k][1]))
        after, why = published(gexp, folder / path.name, device, settings)
        if after is None: said.append(f"edited: {why}")
        elif len(after) == len(before) and after[k][1] in ("fail", "unknown"): left.remove(k)
    return pair, (total, [before[k][0] for k in sorted(left)], needless), said


def main():
    options = argparse.ArgumentParser()
    options.add_argument("gexp")
    options.add_argument("filter", nargs="*")
    options.add_argument("--jobs", type=int, default=1)
    options = options.parse_args()
    os.environ.setdefault("GEXP_EXPERIMENTS", str(ROOT / "experiments"))
    edits = programs()
    tried = held = broken = stale = 0
    with tempfile.TemporaryDirectory() as work, ThreadPoolExecutor(options.jobs) as pool:
        for pair, answer, said in pool.map(lambda p: one(options.gexp, work, p, edits), pairs(options.filter)):
            label = f"{pair[1]} on {pair[2]}"
            total, holds, needless = answer or (0, [], [])
            broken, tried, held, stale = broken + (answer is None), tried + total, held + len(holds), stale + len(needless)
            for text in holds: print(f"HELD {label}: {text}", flush=True)
            for text in needless: print(f"EDITED, and a model decides it: {label}: {text}", flush=True)
            for text in said if answer is None or holds else (): print(f"     {label}: {text}", flush=True)
    print(f"{tried} published results, {len(edits)} by an edit of the program; {held} hold whatever is changed, {stale} edits are needless; {broken} files did not run")
    return 1 if held or broken or stale or not tried else 0


sys.exit(main())
