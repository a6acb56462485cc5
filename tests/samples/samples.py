# SPDX-License-Identifier: Apache-2.0
"""Kernels of cuda-samples, device code alone, on a simulated device against the host: samples.py GEXP SAMPLES [NAME]."""
import os
import subprocess
import sys
import tempfile

import numpy as np

import cases
from device_code import Nvrtc, device_code, with_local_headers

LEAST = 50  # kernels that have to be right
NAMES = {"float32": "f32", "float64": "f64", "int32": "s32", "int64": "s64", "uint16": "u16", "uint32": "u32"}


def launch(gexp, ptx, entry, case, folder):
    """What the arrays of a case hold afterwards, by their place among the arguments; or why there is nothing."""
    with open(f"{folder}/kernel.ptx", "w") as file:
        file.write(ptx)
    command = [gexp, "sim", f"{folder}/kernel.ptx"]
    arrays = [k for k, argument in enumerate(case.arguments) if isinstance(argument, np.ndarray)]
    for k, argument in enumerate(case.arguments):
        if k in arrays:
            argument.tofile(f"{folder}/in{k}")
        command.append(f"{NAMES[argument.dtype.name]}[]=@{folder}/in{k}" if k in arrays else str(argument))
    command += ["--entry", entry, "--grid", case.grid, "--block", case.block, "--shared", str(case.shared), "--device", "sim:h200"]
    for k in arrays:
        command += ["--save", f"{k}={folder}/out{k}"]
    ended = subprocess.run(command, capture_output=True, text=True)
    if ended.returncode != 0:
        return None, ended.stderr.strip().split("\n")[0]
    return {k: np.fromfile(f"{folder}/out{k}", dtype=case.arguments[k].dtype) for k in arrays}, ""


def judge(nvrtc, gexp, samples, case, folder):
    path = os.path.join(samples, case.file)
    if not os.path.exists(path):
        return "is not there"
    before = "".join(with_local_headers(os.path.join(samples, name)).replace('extern "C"', "//") for name in case.headers)
    try:
        text = "".join(f"#include <{name}>\n" for name in case.includes) + before + device_code(with_local_headers(path), case.without)
        ptx, entry = nvrtc.compile(text, case.kernel)
    except RuntimeError as error:
        return "is not compiled: " + next((line for line in str(error).split("\n") if "error" in line), str(error))
    arrays, why = launch(gexp, ptx, entry, case, folder)
    if arrays is None:
        return why
    return "" if case.right(arrays) else "is wrong"


def main():
    gexp, samples, name = sys.argv[1], sys.argv[2], (sys.argv + [""])[3]
    nvrtc = Nvrtc.find()
    if nvrtc is None:
        print("SKIPPED: no CUDA toolkit of version 12 or later, whose headers the samples need")
        return 77
    right = wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for case in cases.all_of_them():
            label = f"{case.file.split('/')[1]} {case.kernel}"
            if name not in label:
                continue
            why = judge(nvrtc, gexp, samples, case, folder)
            right, wrong = right + (not why), wrong + bool(why)
            if why:
                print(f"{label}: {why}")
    version = ".".join(map(str, nvrtc.version()))
    print(f"{right} of {right + wrong} kernels of cuda-samples, by NVRTC {version}, give what the host computes")
    return 0 if wrong == 0 and (name or right >= LEAST) else 1


sys.exit(main())
