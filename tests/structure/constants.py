#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Constants of the inference: those of judgement stand in runtime/infer/model/evidence.h, and there are few. constants.py [--list]

A `constexpr … kName = …` of runtime/infer is one of these kinds:

    judgement  a number that someone chose. It stands in evidence.h below a `///` comment: its unit, its meaning, what it was
               calibrated on.
    limit      a bound of the work, which changes no answer but for its cost. Its line says `// limit: …`.
    fact       of hardware or of mathematics. Its line says `// fact: …`.
    grid       values of a parameter that are tried, each as likely. Its line says `// grid: …`.
    made of    put together from judgements. Its line says `// made of: …`.

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
MARKS = ("limit", "fact", "grid", "made of")


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
                yield name, next((kind for kind in MARKS if comment.startswith(kind + ":")), ""), number


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
        failed += [f"{name}:{number}: {constant} has none of the marks {', '.join(MARKS)}: a judgement stands in {EVIDENCE}, with its unit, meaning and calibration"
                   for constant, kind, number in found if not kind]
    if kinds["judgement"] > MOST_JUDGEMENTS:
        failed.append(f"{EVIDENCE}: {kinds['judgement']} constants, and {MOST_JUDGEMENTS} is the most: share one, or remove the rule that needs it")
    for line in failed:
        print("FAIL", line)
    print(", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items())))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
