# SPDX-License-Identifier: Apache-2.0
"""Device code of a .cu text, and PTX of it by the NVRTC of a CUDA toolkit, whose headers the samples need."""
import ctypes
import glob
import os
import re

TYPES = """typedef unsigned int uint; typedef unsigned char uchar; typedef unsigned short ushort;
typedef unsigned char uint8_t; typedef unsigned short uint16_t; typedef unsigned int uint32_t; typedef unsigned long long uint64_t;
typedef short int16_t; typedef int int32_t;
#define UINT_MAX 0xffffffffu
#define INV_SQRT_2 0.70710678118654752440f
#include <vector_types.h>
#include <vector_functions.h>
"""
DEVICE_HEADERS = ("cooperative_groups", "cuda_fp16", "cuda/", "cuda_pipeline", "mma.h")
NO_FUNCTION = r'(typedef|struct|class|using|namespace|enum|union|template|const |static const|constexpr|extern __shared__|extern "C" *\{)'


def with_local_headers(path, depth=0):
    """The text of a file, with the headers that stand beside it."""
    def header(match):
        beside = os.path.join(os.path.dirname(path), match.group(1))
        return with_local_headers(beside, depth + 1) if depth < 4 and os.path.exists(beside) else ""
    return re.sub(r'#include\s+"([^"]+)"', header, open(path, errors="replace").read())


def is_wanted(item, without):
    """Whether a top-level item of a text is no function of the host."""
    if any(word in item for word in without):
        return False
    if any(word in item for word in ("__global__", "__device__", "__constant__")):
        return True
    head = item.split("{")[0]
    if re.match(r"(namespace|using)", item):
        return True
    if item.startswith("template") and ("struct" in head or "class " in head.split(">")[-1]):
        return True
    return bool(re.match(NO_FUNCTION, item)) and "(" not in head


def device_code(text, without=()):
    """Directives, and top-level items that are no functions of the host."""
    text = re.sub(r"/\*.*?\*/", lambda comment: "\n" * comment.group(0).count("\n"), text, flags=re.S)
    text = re.sub(r"//[^\n]*", "", text).replace("\\\n", "\\\0")
    kept, item, depth = [], "", 0
    for line in text.split("\n"):
        line = line.replace("\\\0", "\\\n")
        if line.lstrip().startswith("#"):
            if depth > 0 or item.strip():
                item += "\n" + line + "\n"
            elif not re.match(r"\s*#\s*include", line) or any(name in line for name in DEVICE_HEADERS):
                kept.append(line)
            continue
        for character in line:
            item += character
            depth += (character == "{") - (character == "}")
            head = item.split("{")[0]
            is_body = bool(re.search(r"\)\s*(const)?\s*$", head.strip())) or "namespace" in head or 'extern "C"' in head
            if depth == 0 and (character == ";" or (character == "}" and is_body)):
                if is_wanted(item.strip(), without):
                    kept.append(item)
                item = ""
        item += "\n"
    return "\n".join(kept)


class Nvrtc:
    """Of the newest toolkit that is here; None where there is none of version 12 or later with its headers."""

    @staticmethod
    def find():
        folders = [os.environ.get("CUDA_PATH"), os.environ.get("CUDA_HOME"), "/usr/local/cuda"]
        for folder in filter(None, folders + sorted(glob.glob("/usr/local/cuda-*"), reverse=True)):
            libraries = sorted(glob.glob(folder + "/lib64/libnvrtc.so*"), key=len)
            if not libraries or not os.path.exists(folder + "/include/cooperative_groups.h"):
                continue
            nvrtc = Nvrtc(libraries[0], folder + "/include")
            if nvrtc.version()[0] >= 12:
                return nvrtc
        return None

    def __init__(self, library, include):
        self.library, self.include = ctypes.CDLL(library), include

    def version(self):
        major, minor = ctypes.c_int(), ctypes.c_int()
        self.library.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor))
        return major.value, minor.value

    def _text(self, program, what):
        size = ctypes.c_size_t()
        getattr(self.library, f"nvrtcGet{what}Size")(program, ctypes.byref(size))
        text = ctypes.create_string_buffer(size.value)
        getattr(self.library, f"nvrtcGet{what}")(program, text)
        return text.value.decode()

    def compile(self, text, kernel):
        """The PTX of a text and the name that `kernel`, an expression, has there."""
        program = ctypes.c_void_p()
        self.library.nvrtcCreateProgram(ctypes.byref(program), (TYPES + text).encode(), b"sample.cu", 0, None, None)
        self.library.nvrtcAddNameExpression(program, kernel.encode())
        options = ["-arch=compute_90", "--std=c++17", "--device-as-default-execution-space"]
        options += ["-I" + self.include, "-I" + self.include + "/cccl"]
        failed = self.library.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*[o.encode() for o in options]))
        if failed:
            raise RuntimeError(self._text(program, "ProgramLog"))
        name = ctypes.c_char_p()
        self.library.nvrtcGetLoweredName(program, kernel.encode(), ctypes.byref(name))
        result = self._text(program, "PTX"), name.value.decode()
        self.library.nvrtcDestroyProgram(ctypes.byref(program))
        return result
