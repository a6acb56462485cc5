#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every survey file on every shipped device model that accepts it: no finding contradicts the model. survey.py GEXP [FILTER] [--jobs N] [--all]

A finding is held against the model by the expectations of its file that read `model`. One that fails while its findings are found at
95 % or more fails the test. A finding that no such expectation reads is named in survey_alone.txt, with the reason why the model has no
counterpart; one that is missing there, or not alone any more, fails, too. A file whose expectations read no `model` runs on one device.
FILTER runs the pairs whose name has it.
"""
import argparse
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from odd import SURE, claims, reads_model, run_spec  # noqa: E402

ROOT = HERE.parents[1]
SECONDS = 600
MOST_PATHS = "h200"  # no survey file is refused by it
REFUSED = ("E0401", "E0419", "E0443", "E0501")  # the device has no such path, not what the file requires, not so much memory, or simulating it would take longer than the file allows


def run(gexp, spec, device):
    result, error = run_spec(gexp, spec, f"sim:{device}", seconds=SECONDS)
    refused = re.search(r"error\[(E\d+)\]", error or "")
    return spec, device, result, refused[1] if refused else error


def main():
    options = argparse.ArgumentParser()
    options.add_argument("gexp")
    options.add_argument("filter", nargs="?", default="")
    options.add_argument("--jobs", type=int, default=1)
    options.add_argument("--all", action="store_true")
    options = options.parse_args()
    devices = sorted(path.stem for path in (ROOT / "runtime/sim/models").glob("*.toml"))
    specs = sorted((ROOT / "experiments/survey").glob("*.gexp"))
    pairs = [(spec, device) for spec in specs for device in (devices if reads_model(spec.read_text()) else [MOST_PATHS])
             if options.filter in f"{spec.stem} on {device}"]
    alone = {line.split(":")[0] for line in (HERE / "survey_alone.txt").read_text().splitlines() if line and not line.startswith("#")}
    seen, held, failures = set(), set(), 0
    right = abstained = refused = 0
    with ThreadPoolExecutor(options.jobs) as pool:
        for spec, device, result, problem in pool.map(lambda pair: run(options.gexp, *pair), pairs):
            if problem:
                if problem in REFUSED:
                    refused += 1
                else:
                    failures += 1
                    print(f"FAIL {spec.stem} on {device}: {problem}")
                continue
            seen |= {f"{spec.stem} {finding['id']}" for finding in result["findings"]}
            for text, status, confidence, observed in claims(result):
                held |= {f"{spec.stem} {name}" for name in re.findall(r"\b[a-z_]\w*\.[a-zA-Z_]\w*", text)}
                right += status == "pass"
                abstained += status == "unknown"
                wrong = status == "fail" and confidence >= SURE
                failures += wrong
                if wrong or options.all:
                    print(f"{'FAIL' if wrong else status} {spec.stem} on {device}: {text}\n       {observed}, at {100 * confidence:.5g} %", flush=True)
    stems = {name.split()[0] for name in seen}
    for name in sorted(seen - held - alone):
        failures += 1
        print(f"FAIL {name} is held against nothing: add an expectation that reads `model`, or a line to survey_alone.txt")
    for name in sorted(alone):
        if name.split()[0] in stems and (name in held or (name not in seen and not options.filter)):
            failures += 1
            print(f"FAIL survey_alone.txt: {name} {'is held against the model' if name in held else 'is no finding'}")
    print(f"{len(pairs)} pairs, {refused} refused, {right} right, {abstained} abstained, {failures} failures")
    return 1 if failures or not right else 0


if __name__ == "__main__":
    sys.exit(main())
