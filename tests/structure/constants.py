#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Constants of the inference: those of judgement stand in runtime/infer/model/evidence.h, and there are few. constants.py [--list]

A `constexpr … kName = …` of runtime/infer is one of three kinds:

    judgement  a number that someone chose. It stands in evidence.h below a `///` comment: its unit, its meaning, what it was
               calibrated on.
    limit      a bound of the work, which changes no answer but for its cost. Its line says `// limit: …`.
    fact       of hardware or of mathematics. Its line says `// fact: …`.

Files that are not sorted yet are listed below with how many constants without a mark they have. The numbers may only become smaller.
--list prints every constant with its kind.
"""
import re
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
EVIDENCE = "runtime/infer/model/evidence.h"
MOST_JUDGEMENTS = 50  # of evidence.h
CONSTANT = re.compile(r"\bconstexpr\b.*?\bk[A-Z]\w*(?:\[\])?\s*(?:=|\{)")
NAMES = re.compile(r"\b(k[A-Z]\w*)(?:\[\])?\s*[={]")
UNSORTED = {
    "runtime/infer/address_bias.cpp": 3,
    "runtime/infer/background_interference.cpp": 2,
    "runtime/infer/classes.cpp": 8,
    "runtime/infer/confounders.cpp": 8,
    "runtime/infer/model/cached_visits.cpp": 1,
    "runtime/infer/model/levels.cpp": 8,
    "runtime/infer/model/set_candidates.cpp": 1,
    "runtime/infer/modes.h": 4,
    "runtime/infer/outstanding_beside_hits.cpp": 2,
    "runtime/infer/outstanding_tables.cpp": 2,
    "runtime/infer/record_functions.cpp": 3,
    "runtime/infer/replacement_chance.cpp": 2,
    "runtime/infer/replacement_emission.cpp": 2,
    "runtime/infer/saturation_fit.cpp": 2,
    "runtime/infer/spikes.cpp": 3,
    "runtime/infer/way_tracking.cpp": 3,
    "runtime/infer/way_tracking.h": 1,
}


def constants(path):
    """(name, kind, line number) of each constant of a file; kind is '' where nothing says it."""
    lines = path.read_text().splitlines()
    for number, line in enumerate(lines, 1):
        if not CONSTANT.search(line):
            continue
        code, _, comment = line.partition("//")
        if "char*" in code:
            continue
        comment = comment.lstrip("/<").strip()
        documented = "//" in line or (number > 1 and lines[number - 2].lstrip().startswith("///"))
        for name in NAMES.findall(code):
            if str(path.relative_to(ROOT)) == EVIDENCE:
                yield name, "judgement" if documented else "", number
            else:
                yield name, next((kind for kind in ("limit", "fact") if comment.startswith(kind + ":")), ""), number


def main():
    failed, kinds = [], Counter()
    for path in sorted((ROOT / "runtime/infer").rglob("*")):
        if path.suffix not in (".h", ".cpp"):
            continue
        name = str(path.relative_to(ROOT))
        found = list(constants(path))
        kinds.update(kind or "not sorted" for _, kind, _ in found)
        if "--list" in sys.argv:
            for constant, kind, number in found:
                print(f"{name}:{number}: {constant} {kind or 'not sorted'}")
        unmarked = [(constant, number) for constant, kind, number in found if not kind]
        if len(unmarked) > UNSORTED.get(name, 0):
            failed += [f"{name}:{number}: {constant} is no `// limit:` and no `// fact:`: a judgement stands in {EVIDENCE}, "
                       "with its unit, meaning and calibration" for constant, number in unmarked]
    if kinds["judgement"] > MOST_JUDGEMENTS:
        failed.append(f"{EVIDENCE}: {kinds['judgement']} constants, and {MOST_JUDGEMENTS} is the most: share one, or remove the rule that needs it")
    for line in failed:
        print("FAIL", line)
    print(", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items())))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
