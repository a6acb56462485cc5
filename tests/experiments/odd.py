#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No confident claim that contradicts the model: on odd devices, and of edited experiments. odd.py GEXP [FILTER] [--jobs N] [--all]

Each device of odd_devices/*.toml names, in its comments, what is odd about it and what is run on it:

    # run: tlb/structure d=64KiB

Each section of odd_edits.txt names an experiment that ships, a device, and what is replaced in the text. A claim is an
expectation that reads `model` and whose findings were found; its confidence is the least of theirs. A claim at 95 % or more that
contradicts the model fails the test, unless odd_known.txt lists it. What that file lists and is not wrong any more fails, too:
the list can only become shorter. FILTER runs the cases whose name has it; --all prints every verdict, abstentions and their reasons.
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
EXPERIMENTS = HERE.parents[1] / "experiments"
SURE = 0.95
SHOWN = 300  # characters of what was found
SECONDS = 300  # one run takes a few; what takes longer is given up, and fails


def reads_model(text):
    """Whether an experiment expects something of `model`."""
    return re.search(r"^ *expect .*\bmodel\.", text, re.M) is not None


class Case:
    def __init__(self, name, experiment, device, settings=(), edits=()):
        self.name, self.experiment, self.device = name, experiment, device
        self.settings, self.edits = list(settings), list(edits)

    def text(self):
        text = (EXPERIMENTS / f"{self.experiment}.gexp").read_text()
        for old, new in self.edits:
            if old and old not in text:
                sys.exit(f"{self.name}: {self.experiment} has no `{old}`")
            text = text.replace(old, new) if old else text + "\n" + new + "\n"
        return text


def devices():
    """The cases that the devices' comments name."""
    for path in sorted((HERE / "odd_devices").glob("*.toml")):
        runs = re.findall(r"^# run: (.*)$", path.read_text(), re.M)
        if not runs:
            sys.exit(f"{path.name} says nothing to run")
        for run in runs:
            experiment, *settings = run.split()
            yield Case(f"{path.stem}: {run}", experiment, f"sim:{path}", settings)


def edits():
    """[NAME] EXPERIMENT DEVICE SETTING…, then `- old` and `+ new` lines in pairs; a `+` alone is appended."""
    case, old = None, None
    for number, line in enumerate((HERE / "odd_edits.txt").read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        head = re.fullmatch(r"\[(.+)\] (\S+) (\S+)(.*)", line)
        if head:
            if case:
                yield case
            case, old = Case(f"{head[1]}: {head[2]} on {head[3]}", head[2], head[3], head[4].split()), None
        elif line.startswith("- "):
            old = line[2:]
        elif line.startswith("+ ") and case:
            case.edits.append((old, line[2:]))
            old = None
        else:
            sys.exit(f"odd_edits.txt:{number}: neither a head nor an edit: {line}")
    if case:
        yield case


def claims(result):
    """(expectation, status, confidence, observed) of every expectation of `model`."""
    sure = {f["id"]: f["confidence"] for f in result["findings"] if f["status"] != "undetermined"}
    for expectation in result["expectations"]:
        text = expectation["text"]
        if not re.search(r"\bmodel\b", text) or expectation["status"] == "not here":
            continue
        read = [sure[i] for i in re.findall(r"\b[a-z_]\w*\.[a-zA-Z_]\w*", text) if i in sure]
        observed = expectation["observed"]
        yield text, expectation["status"], min(read, default=0), observed if len(observed) <= SHOWN else observed[:SHOWN] + " …"


def run_spec(gexp, spec, device, settings=(), seconds=SECONDS):
    """(result, error): the result of one run, or None and what gexp said instead."""
    command = [gexp, "run", str(spec), "--device", device, "--json", "--quiet"]
    for setting in settings:
        command += ["--set", setting]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, env={**os.environ, "GEXP_STORE": "none"})
    except subprocess.TimeoutExpired:
        return None, f"no end after {seconds} s"
    try:
        return json.loads(done.stdout), None
    except ValueError:
        return None, (done.stderr or done.stdout).strip() or "no result"


def run(gexp, case):
    with tempfile.TemporaryDirectory() as folder:
        spec = Path(folder) / "edited.gexp"
        spec.write_text(case.text())
        for kernel in (EXPERIMENTS / case.experiment).parent.glob("*.cu"):
            shutil.copy(kernel, folder)
        return case, *run_spec(gexp, spec, case.device, case.settings)


def main():
    options = argparse.ArgumentParser()
    options.add_argument("gexp")
    options.add_argument("filter", nargs="?", default="")
    options.add_argument("--jobs", type=int, default=1)
    options.add_argument("--all", action="store_true")
    options = options.parse_args()
    known = {line for line in (HERE / "odd_known.txt").read_text().splitlines() if line and not line.startswith("#")}
    cases = [case for case in [*devices(), *edits()] if options.filter in case.name]
    found, failures, right, abstained = set(), 0, 0, 0
    with ThreadPoolExecutor(options.jobs) as pool:
        for case, result, problem in pool.map(lambda one: run(options.gexp, one), cases):
            if problem:
                print(f"FAIL {case.name}: {problem}")
                failures += 1
                continue
            why = {f["id"]: f["why"] for f in result["findings"] if f["status"] == "undetermined"}
            judged = list(claims(result))
            if not judged:
                print(f"FAIL {case.name}: nothing is expected of the model")
                failures += 1
            for text, status, confidence, observed in judged:
                right += status == "pass"
                abstained += status == "unknown"
                if status == "fail" and confidence >= SURE:
                    found.add(f"{case.name}: {text}")
                    if f"{case.name}: {text}" not in known:
                        failures += 1
                        print(f"FAIL {case.name}: {text}\n       {observed}, at {100 * confidence:.5g} %")
                    elif options.all:
                        print(f"known {case.name}: {text}\n       {observed}, at {100 * confidence:.5g} %")
                elif options.all:
                    print(f"{status} {case.name}: {text}\n       {observed}, at {100 * confidence:.5g} %")
            if options.all:
                for finding, reason in why.items():
                    print(f"       {finding}: {reason}")
    named = {case.name for case in cases}
    for line in sorted(known - found):
        if any(line.startswith(name + ": ") for name in named):
            print(f"FAIL {line}\n       is not wrong any more: take it out of odd_known.txt")
            failures += 1
        elif not options.filter:
            print(f"FAIL {line}\n       odd_known.txt names no case")
            failures += 1
    print(f"{len(cases)} cases, {right} right, {abstained} abstained, {len(found)} wrong at 95 % or more, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
