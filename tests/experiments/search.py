#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""search.py GEXP [--whole] [--all] [APPLICATION …]: soft_l1/threads finds the fastest of all launches, of each application.

On one multiprocessor of a Titan Black, with its share of the bandwidth; with --whole, on all of them. A launch is a number of blocks of a
multiprocessor and of their threads, in steps of 128. Those whose threads run at once are 42: without --all the search is compared with
these, and must find the same. With --all they are S-L1's, up to 32 blocks of 1,024 threads for each multiprocessor: 256, and with both
sizes of the hardware's L1 (hard: 48 KiB, small: 16 KiB) 512. Launches that wait may then be faster than what the search finds; it is told by how much.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "experiments/soft_l1"
SHARE = 15  # multiprocessors, of which one is left, with its share of the rest
ONE = {"sms = 15": "sms = 1", 'l2 = "1003 GB/s"': f'l2 = "{1003 / SHARE:.1f} GB/s"', 'dram = "307 GB/s"': f'dram = "{307 / SHARE:.1f} GB/s"'}
EVERY = {"blocks in [1, 2, 4, 8, 16] refine to 1 on highest(rate)": "blocks in 1..16",
         "threads in [128, 512, 1024] refine to 128 on highest(rate)": "threads in 128..1024 step 128"}
WAITING = {"online: count = 2048 in 128..2048": "online: count = 32768 in 128..32768", "blocks in 1..16": "blocks in 1..32"}
FORMS = ("none", "hard", "small", "soft")
CLOSE = 1.005  # launches less than this apart are as fast: the search ends at the first of them


def edited(text, edits):
    for old, new in edits.items():
        assert old in text, old
        text = text.replace(old, new)
    return text


def form_of(at):
    return "soft" if at["cached"]["n"] else "none" if at["level"] == "cg" else "small" if at["beside"]["n"] else "hard"


def found(gexp, folder, device, text):
    """Of each stage and form: how many launches were measured, the fastest of them, and what the experiment says is the highest rate."""
    (folder / "search.gexp").write_text(text)
    command = [gexp, "run", folder / "search.gexp", "--device", f"sim:{device}", "--store", "none", "--json", "--quiet"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    if not ran.stdout: sys.exit(ran.stderr)
    result = json.loads(ran.stdout)
    tops = {f["id"]: f["value"]["top"] for f in result["findings"] if isinstance(f.get("value"), dict) and "top" in f["value"]}
    best = {}
    for stage in result["stages"]:
        for form in FORMS:
            points = [p for p in stage["points"] if form_of(p["at"]) == form]
            fastest = max(points, key=lambda p: p["at"]["running"] / p["runs"][0]["ticks"][0])["at"]
            best[stage["name"], form] = len(points), fastest, tops[f"{stage['name']}.{form}"]
    return best


def main():
    options = argparse.ArgumentParser()
    options.add_argument("gexp")
    options.add_argument("application", nargs="*")
    options.add_argument("--whole", action="store_true")
    options.add_argument("--all", action="store_true")
    options = options.parse_intermixed_args()
    text = (FOLDER / "threads.gexp").read_text()
    text = re.sub(r"^expect .*\n(  .*\n)*", "", text, flags=re.M)
    if options.application: text = re.sub(r"^stage (?!(?:" + "|".join(options.application) + r") )\w+ .*?^\}\n", "", text, flags=re.M | re.S)
    everything = edited(text, EVERY)
    if options.all: everything = re.sub(r"^  skip .*\n", "", edited(everything, WAITING), flags=re.M)
    failed = False
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for kernel in FOLDER.glob("*.cu"): (folder / kernel.name).write_bytes(kernel.read_bytes())
        device = ROOT / "runtime/sim/models/titanblack.toml"
        if not options.whole:
            device = folder / "one.toml"
            device.write_text(edited((ROOT / "runtime/sim/models/titanblack.toml").read_text(), ONE))
        gexp = pathlib.Path(options.gexp).resolve()
        few, all_launches = found(gexp, folder, device, text), found(gexp, folder, device, everything)
    print(f"{'the Titan Black' if options.whole else 'one multiprocessor of 15'}: blocks x threads of a multiprocessor, and GB/s")
    for key, (count, at, top) in few.items():
        of, other, most = all_launches[key]
        right = count < of and (options.all or most <= top * CLOSE)
        failed = failed or not right
        print(f"{'' if right else 'FAIL '}{key[0]:9} {key[1]:5} {count:2} launches searched, {at['blocks']:2} x {at['threads']:4} {top / 1e9:7.3f}; "
              f"{of:3} launches, {other['blocks']:2} x {other['threads']:4} {most / 1e9:7.3f}, {100 * (most / top - 1):.2f} % faster", flush=True)
    sys.exit(failed)


if __name__ == "__main__":
    main()
