#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""search.py GEXP: soft_l1/threads finds the fastest of all launches, of two applications, on one multiprocessor of a Titan Black."""
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHARE = 15  # multiprocessors, of which one is left, with its share of the rest
MODEL = {"sms = 15": "sms = 1", 'l2 = "1003 GB/s"': f'l2 = "{1003 / SHARE:.1f} GB/s"', 'dram = "307 GB/s"': f'dram = "{307 / SHARE:.1f} GB/s"'}
SWEEPS = {"blocks in [1, 2, 4, 16] refine to 1 on highest(rate)": "blocks in 1..16",
          "threads in [128, 512, 1024] refine to 128 on highest(rate)": "threads in 128..1024 step 128"}
SHA = {name: line.split('"')[3] for name in ("wc", "upper")
       for line in (ROOT / "experiments/soft_l1/applications.gexp").read_text().splitlines() if f'kernel "{name}.cu"' in line}
UPPER = {'"wc.cu" sha256 "' + SHA["wc"]: '"upper.cu" sha256 "' + SHA["upper"], "wc(T, part div 1B, W, L)": "upper(T, U, part div 1B)",
         "memory W:": "memory U: u8[most * part] in global\nmemory W:"}


def edited(text, edits):
    for old, new in edits.items():
        assert old in text, old
        text = text.replace(old, new)
    return text


def found(gexp, folder, text):
    """The points that were measured, and the fields of both findings."""
    for name in ("wc.cu", "upper.cu"):
        (folder / name).write_bytes((ROOT / "experiments/soft_l1" / name).read_bytes())
    (folder / "search.gexp").write_text(text)
    command = [gexp, "run", folder / "search.gexp", "--device", f"sim:{folder / 'one.toml'}", "--set", "online=2048", "--store", "none", "--json"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    if not ran.stdout:
        sys.exit(ran.stderr)
    result = json.loads(ran.stdout)
    values = {f["id"]: f.get("value") for f in result["findings"] if f["id"] in ("wc.hard", "wc.soft")}
    return sum(len(s["points"]) for s in result["stages"]), values


def main():
    gexp = pathlib.Path(sys.argv[1]).resolve()
    failed = False
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "one.toml").write_text(edited((ROOT / "runtime/sim/models/titanblack.toml").read_text(), MODEL))
        text = (ROOT / "experiments/soft_l1/threads.gexp").read_text()
        for application, spec in {"wc": text, "upper": edited(text, UPPER)}.items():
            few, searched = found(gexp, folder, spec)
            all_points, everything = found(gexp, folder, edited(spec, SWEEPS))
            right = searched == everything and len(searched) == 2 and few < all_points
            failed = failed or not right
            print(f"{'' if right else 'FAIL '}{application}: {few} of {all_points} launches, {json.dumps(searched)}")
            if not right:
                print(f"  of all launches: {json.dumps(everything)}")
    sys.exit(failed)


if __name__ == "__main__":
    main()
