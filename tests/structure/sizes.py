#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sizes of the sources: no file over 400 lines, no function over 80. sizes.py [ROOT]

What is longer for a reason stands in LONG, with the reason. An entry that is not needed any more is a failure too.
"""
import re
import sys
from pathlib import Path

FILE_LINES = 400
FUNCTION_LINES = 80
ROOMS = ("lang", "compiler", "ptx", "runtime", "tests")

# 'path' or 'path: name of the function' -> why.
LONG = {}

TEXT = re.compile(r'R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'|//[^\n]*|/\*.*?\*/', re.S)
HOLDER = re.compile(r"(?:^|\s)(namespace|class|struct|union|enum|extern)\b")
NAME = re.compile(r"([A-Za-z_~][\w:~<>]*)\s*\(")


def code_of(text):
    """The text without what stands in strings and comments; digits' separators are no quotes. Lines stay lines."""
    blank = lambda found: "".join(c if c == "\n" else " " for c in found.group())
    return TEXT.sub(blank, re.sub(r"(?<=\d)'(?=\d)", " ", re.sub(r"^#.*?(?<!\\)$", "", text, flags=re.M | re.S)))


def functions(text):
    """(name, first line, lines) of the outermost braces that are no namespace, class or initializer."""
    stack, head, line, begin = [], "", 1, 0
    for c in code_of(text):
        if c == "\n":
            line += 1
        if c == "{":
            outer = all(kind == "holder" for kind, _, _ in stack)
            holder = HOLDER.search(head) and ")" not in re.sub(r"alignas\([^)]*\)", "", head)
            name = NAME.search(head)
            kind = "holder" if holder else "function" if outer and name and head.count("(") == head.count(")") else "inner"
            stack.append((kind, begin or line, name.group(1) if name else ""))
            head, begin = "", 0
        elif c == "}":
            kind, first, name = stack.pop() if stack else ("inner", line, "")
            if kind == "function":
                yield name, first, line - first + 1
            head, begin = "", 0
        elif c == ";":
            head, begin = "", 0
        else:
            if not c.isspace() and not begin:
                begin = line
            head += c


def main(root):
    found, measured = [], 0
    for room in ROOMS:
        for path in sorted((root / room).rglob("*")):
            if path.suffix not in (".h", ".cpp", ".cu") or "vendor" in path.parts:
                continue
            text, name = path.read_text(), path.relative_to(root).as_posix()
            lines = text.count("\n")
            if lines > FILE_LINES:
                found.append((name, f"{name} has {lines} lines, more than {FILE_LINES}"))
            for function, first, length in functions(text) if path.suffix != ".cu" else ():
                measured += 1
                if length > FUNCTION_LINES:
                    found.append((f"{name}: {function}", f"{name}:{first}: {function} has {length} lines, more than {FUNCTION_LINES}"))
    failures = [said for key, said in found if key not in LONG]
    reasons = len(found) - len(failures)
    failures += [f"{key} is not long any more: take it out of LONG" for key in LONG if key not in {key for key, _ in found}]
    if measured < 1000:
        failures.append(f"only {measured} functions found")
    for failure in failures:
        print("FAIL", failure)
    print(f"{measured} functions, {reasons} long for a reason, {len(failures)} violations")
    return 1 if failures else 0


def sees_what_is_planted():
    """The test of the test."""
    body = "  a();\n" * 80
    planted = f'namespace n {{\nstruct S {{\n  int f(int a,\n        int b) const {{\n{body}  }}\n}};\n/* }} */ const char* s = "}}";\nvoid g() {{\n  if (x) {{\n{body}  }}\n}}\nvoid h() {{ i(); }}\n}}\n'
    return [(name, length) for name, _, length in functions(planted)] == [("f", 83), ("g", 84), ("h", 1)]


if __name__ == "__main__":
    if not sees_what_is_planted():
        sys.exit("FAIL planted functions were not measured as they are")
    sys.exit(main(Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[2])))
