#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What stands between two reads of the clock, in machine code: timed_regions.py GEXP [--device cuda:0] [FILE…]

Each file is run with an empty kernel cache, so that what is disassembled is what ran. On a device whose kernels are no machine code
(sim:…) each stage's kernel is made for sm_90 instead. Without files: those of docs/how-to/seventeen.md.

A region is the code from a clock read to the next one. In none that accesses memory or computes may there be
  LDL, STL    local memory: a spilled value, a load or store that the file does not name
  CALL        a subroutine: a division of 64 bits, or one that rounds
Regions whose file asks for such a thing are listed with it: `alu div…`, memory in `local`, a remainder in a `warm grid`, which is a
kernel of its own whose clocks nobody reads.
Exits with 77 where there is no nvdisasm or no machine code, with 1 where a region has what it may not.
"""
import argparse
import collections
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORK = re.compile(r"^(LD|ST|ATOM|RED|TEX|TLD|CCTL|UBLK|UTMA|MEMBAR|[IUHDF]?(ADD|MUL|FMA|MAD|IMAD)|IADD3|FADD|FFMA|HFMA|DFMA|MUFU|HMMA|IMMA|HGMMA|BAR|WARPSYNC)")
NEVER = re.compile(r"^(LDL|STL|CALL)")
ASKED = re.compile(r"alu (\w*\.)?(div|rem|sqrt|rcp|mul(hi)?\.u64|mad\.u64)|\bin local\b|\bwarm grid\b[^}]*\bmod\b")


def disassembler():
    for tool in ("nvdisasm", "/usr/local/cuda/bin/nvdisasm"):
        if found := shutil.which(tool):
            return found
    return None


def shipped():
    page = (ROOT / "docs/how-to/seventeen.md").read_text()
    names = []
    for row in re.findall(r"^\|[^|]*\|([^|]*)\|", page, re.M):
        folder = ""
        for name in re.findall(r"`([\w/]+)\.gexp`", row):
            folder = name.rsplit("/", 1)[0] if "/" in name else folder
            names.append(ROOT / "experiments" / (name if "/" in name else f"{folder}/{name}"))
    return [name.with_suffix(".gexp") for name in names]


def cubins(gexp, file, device, work):
    """The machine code of the file's kernels: (name, path)."""
    cache = work / "cache"
    environment = dict(os.environ, GEXP_CACHE=str(cache), GEXP_STORE="none")
    if not device.startswith("sim:"):
        subprocess.run([gexp, "run", file, "--device", device, "--quiet", "--time-limit", "60"], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    found = []
    for path in sorted(cache.rglob("*")):
        data = path.read_bytes() if path.is_file() else b""
        if (at := data.find(b"\x7fELF")) >= 0:
            made = work / f"{len(found)}.cubin"
            made.write_bytes(data[at:])
            found.append((f"kernel {len(found)}", made))
    if found:
        return found
    for stage in re.findall(r"^stage (\w+)", pathlib.Path(file).read_text(), re.M):
        made = work / f"{stage}.cubin"
        code = subprocess.run([gexp, "emit", file, "--cubin", "--arch", "sm_90", "--device", "sim:h200", "--stage", stage], capture_output=True)
        if code.returncode == 0 and code.stdout.startswith(b"\x7fELF"):
            made.write_bytes(code.stdout)
            found.append((f"stage {stage}", made))
    return found


def regions(text):
    """Lists of opcodes between neighbouring clock reads, in the order of the text."""
    region, made = None, []
    for line in text.splitlines():
        if re.match(r"^\s*\.(section|text|type)", line):
            region = None
        found = re.match(r"^\s*/\*[0-9a-f]+\*/\s+(?:@!?U?P\w+\s+)?([A-Z0-9_.]+)(.*);", line)
        if not found:
            continue
        if "SR_CLOCK" in found[2]:
            if region is not None:
                made.append(region)
            region = []
        elif region is not None:
            region.append(found[1])
    return made


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("gexp")
    options.add_argument("--device", default="cuda:0")
    options.add_argument("files", nargs="*")
    options = options.parse_intermixed_args()
    tool = disassembler()
    if not tool:
        print("skipped: no nvdisasm")
        return 77
    read = bad = 0
    for file in [pathlib.Path(name) for name in options.files] or shipped():
        with tempfile.TemporaryDirectory() as folder:
            for name, path in cubins(options.gexp, str(file), options.device, pathlib.Path(folder)):
                code = subprocess.run([tool, "-c", str(path)], capture_output=True, text=True)
                if code.returncode != 0:
                    print(f"?    {file.stem}: {name}: {code.stderr.strip()[:120]}")
                    continue
                known = set()
                for region in regions(code.stdout):
                    if tuple(region) in known or known.add(tuple(region)):
                        continue
                    if not any(WORK.match(opcode) for opcode in region):
                        continue
                    read += 1
                    never = sorted({opcode for opcode in region if NEVER.match(opcode)})
                    asked = never and ASKED.search(file.read_text())
                    bad += bool(never and not asked)
                    counts = collections.Counter(opcode for opcode in region if opcode != "NOP")
                    told = " ".join(f"{opcode}*{count}" if count > 1 else opcode for opcode, count in counts.most_common(14))
                    print(f"{'FAIL' if never and not asked else 'ok  '} {file.stem}: {name}: {len(region)} instructions: {told}{'  has ' + ' '.join(never) if never else ''}")
    print(f"{read} regions, {bad} with local memory or a subroutine that the file does not ask for")
    return 77 if read == 0 else int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
