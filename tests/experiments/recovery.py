#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How often the experiments that read `model` find what drawn devices are: the tables of docs/inference/recovery.md.

    recovery.py GEXP DEVICES [FIRST] [--families usual,mutated,wide] [--only WORD] [--keep FOLDER] [--against FOLDER]
                [--seconds S] [--jobs N] [--page FILE]

A row is an experiment, a family of devices and a noise. Its verdicts stay in FOLDER as JSON, so that a later call goes on where one
was ended, and another build's can be put beside them (--against). A row ends after S seconds; devices that were not done by then are
left out, and the row says how many were. The page is written anew between its marks.
"""
import argparse
import json
import math
import re
import signal
import subprocess
import sys
from pathlib import Path

from odd import reads_model

ROOT = Path(__file__).resolve().parents[2]
FAMILIES = {"usual": [], "mutated": ["--mutate"], "wide": ["--devices", "wide"]}
NOISES = {"usual": ["none", "real"], "mutated": ["real"], "wide": ["real"]}
NAMES = {"none": "none", "real": "an H200's", "usual": "usual", "mutated": "misused files", "wide": "wide"}
SURE = 0.95
BINS = [0, 0.5, 0.8, 0.9, 0.95, 0.99, 0.999, 1.01]
SUREST = 0.999  # what a confidence counts as in the log-loss, at most


def experiments(only):
    """Those that ship and expect something of `model`, by name."""
    files = sorted((ROOT / "experiments").rglob("*.gexp"))
    for file in files:
        name = str(file.relative_to(ROOT / "experiments"))[: -len(".gexp")]
        if only in name and reads_model(file.read_text()):
            yield name, file


def verified(gexp, file, family, noise, options, kept):
    """A row's verdicts by device: read from `kept`, or made and written there."""
    if kept.exists():
        return json.loads(kept.read_text())
    command = [gexp, "verify", str(file), "--models", str(options.devices), "--first", str(options.first), "--noise", noise, "--quiet", "--json", *FAMILIES[family]]
    if options.jobs:
        command += ["--jobs", str(options.jobs)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        out, err = process.communicate(timeout=options.seconds)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)  # the devices that are done are kept
        out, err = process.communicate()
    except KeyboardInterrupt:
        process.send_signal(signal.SIGINT)
        process.communicate()
        raise
    if not out.strip():
        print(f"{file}: {err.strip()}", file=sys.stderr, flush=True)
        return None
    row = json.loads(out)[noise]
    row["asked"] = options.devices
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_text(json.dumps(row))
    return row


def claims(row):
    """(confidence, right) of each claim, and how often nothing was claimed. What a device lacks was not asked."""
    made, abstained = [], 0
    for device in row["devices"]:
        for verdict in device["verdicts"]:
            if verdict["verdict"] == "abstained":
                abstained += 1
            elif verdict["verdict"] != "not here":
                made.append((verdict["confidence"], verdict["verdict"] == "right"))
    return made, abstained


def log_loss(made):
    total = 0.0
    for confidence, right in made:
        sure = min(max(confidence, 1 - SUREST), SUREST)
        total -= math.log(sure if right else 1 - sure)
    return total / len(made) if made else 0.0


def percent(part, whole):
    return f"{100 * part / whole:.1f} %" if whole else "-"


def cells(row):
    made, abstained = claims(row)
    whole = len(made) + abstained
    right = sum(ok for _, ok in made)
    sure = [ok for confidence, ok in made if confidence >= SURE]
    bad = sure.count(False)
    return [str(len(row["devices"])), str(whole), percent(right, whole), percent(abstained, whole), f"{percent(len(made) - right, whole)} ({len(made) - right})",
            str(len(sure)), f"{percent(bad, len(sure))} ({bad})", f"{log_loss(made):.4f}"]


HEAD = ["experiment", "family", "noise", "devices", "claims", "right", "abstained", "wrong", "at 95 % and more", "of them wrong", "log-loss"]


def table(head, lines):
    yield "| " + " | ".join(head) + " |"
    yield "|" + "---|" * len(head)
    for line in lines:
        yield "| " + " | ".join(line) + " |"


def reliability(rows):
    """Claims of all rows by what they stated, and how many of them were right."""
    made = [claim for row in rows for claim in claims(row)[0]]
    lines = []
    for low, high in zip(BINS, BINS[1:]):
        inside = [claim for claim in made if low <= claim[0] < high]
        if not inside:
            continue
        stated = sum(confidence for confidence, _ in inside) / len(inside)
        right = sum(ok for _, ok in inside)
        name = f"{100 * low:g} % to {100 * high:g} %" if high <= 1 else f"{100 * low:g} % and more"
        lines.append([name, str(len(inside)), f"{100 * stated:.2f} %", f"{100 * right / len(inside):.2f} %", str(len(inside) - right)])
    yield from table(["stated", "claims", "stated on average", "right", "wrong"], lines)
    yield ""
    yield f"Log-loss over all of them: {log_loss(made):.4f}."


def write_page(page, text):
    """Between the marks; a page without them stays as it is."""
    old = page.read_text()
    new = re.sub(r"(<!-- recovery -->\n).*?(<!-- end -->)", lambda marks: marks[1] + text + marks[2], old, flags=re.S)
    page.write_text(new)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gexp")
    parser.add_argument("devices", type=int)
    parser.add_argument("first", type=int, nargs="?", default=1)
    parser.add_argument("--families", default="usual")
    parser.add_argument("--only", default="")
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--against", type=Path)
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--jobs", type=int)
    parser.add_argument("--page", type=Path)
    options = parser.parse_args()
    keep = options.keep or ROOT / "build" / "recovery" / f"{options.first}_{options.devices}"
    families = options.families.split(",")
    if unknown := set(families) - set(FAMILIES):
        sys.exit(f"{', '.join(unknown)}: the families are {', '.join(FAMILIES)}")
    lines, rows, before, failed = [], [], [], False
    print("\n".join(table(HEAD, [])), flush=True)
    for family in families:
        for name, file in experiments(options.only):
            for noise in NOISES[family]:
                kept = f"{family}/{name.replace('/', '_')}_{noise}.json"
                row = verified(options.gexp, file, family, noise, options, keep / kept)
                if row is None:
                    failed = True
                    continue
                line = [name, NAMES[family], NAMES[noise], *cells(row)]
                lines.append(line)
                rows.append(row)
                print("| " + " | ".join(line) + " |", flush=True)
                if options.against and (options.against / kept).exists():
                    old = json.loads((options.against / kept).read_text())
                    numbers = {device["number"] for device in row["devices"]} & {device["number"] for device in old["devices"]}
                    old["devices"] = [device for device in old["devices"] if device["number"] in numbers]
                    before.append(old)
                    print("| " + " | ".join(["", "", "before", *cells(old)]) + " |", flush=True)
    print("\n" + "\n".join(reliability(rows)))
    if before:
        print("\nBefore:\n\n" + "\n".join(reliability(before)))
    if options.page:
        write_page(options.page, "\n".join([*table(HEAD, lines), "", *reliability(rows)]) + "\n")
    if failed:
        sys.exit("some experiments did not run")


if __name__ == "__main__":
    main()
