#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What holds of the documents' text: README.md, CONTRIBUTING.md and every page under docs/. style.py [ROOT | PAGE…]

  - A line has at most 120 columns, in code fences too. Rows of tables are the exception: a row cannot be wrapped.
  - A cell of a table has at most 200 characters, as a reader sees them: without the addresses of links.
  - A sentence has at most 45 words; the sentences of a page have at most 35 on average.
  - Private words stand nowhere outside code: the field has its own.

Every violation is named as FILE:LINE. No page is left out: generated pages and tables obey because their generators do. What is
inside fences is held to the columns alone, since it is what gexp prints.
"""
import os
import re
import sys
import tempfile

COLUMNS, CELL, LONGEST, AVERAGE = 120, 200, 45, 35

# What must not be said, and what the field says.
PRIVATE = [
    (r"at hand", "cached, already there"),
    (r"strays?", "background interference"),
    (r"look[s]?[- ]alikes?|what looks alike|looks? alike", "confounder, cannot be told apart"),
    (r"slow places?|only places|lies? in one place", "address bias"),
    (r"ever missed|missed ever", "cumulative misses"),
    (r"paces?", "speed, clock frequency"),
    (r"str(?:ikes?|uck)", "is rare and does not recur"),
    (r"outwits?", "is not affected by"),
    (r"(?:comes?|came|coming) ahead", "is prefetched"),
    (r"the same of ticks|not told from", "cannot be distinguished"),
]


def outline(path):
    """Yields (kind, line number, text): 'table', 'code', 'comment' or 'prose' for each line; 'blank' and 'item' begin a new block."""
    fence, comment, blank = None, False, True
    with open(path, encoding="utf-8") as page:
        for number, line in enumerate(page, 1):
            line = line.rstrip("\n")
            bare = line.strip()
            if fence:
                yield "code", number, line
                fence = None if bare == fence else fence
            elif comment or bare.startswith("<!--"):
                comment = "-->" not in line
                yield "table" if bare.startswith("|") else "comment", number, line
            elif bare.startswith("```"):
                fence = "```"
                yield "code", number, line
            elif bare.startswith("|"):
                yield "table", number, line
            elif not bare:
                yield "blank", number, line
            elif line.startswith("    ") and blank:
                yield "code", number, line
                continue  # an indented block goes on
            else:
                yield "item" if re.match(r"([-*+]|\d+\.|#+|>) ", bare) else "prose", number, line
            blank = not bare


def visible(text):
    """Text without the addresses of links and without marks."""
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return re.sub(r"[*_]{2,}", "", text)


def sentences(blocks):
    """Yields (line number, words) for each sentence of a page; `blocks` are lists of (line number, text)."""
    for block in blocks:
        words = []
        for number, text in block:
            text = re.sub(r"^\s*([-*+]|\d+\.|#+|>) ", "", text)
            words += [(number, word) for word in text.split()]
        # Code and links may hold spaces: they are one word, or the words that a reader sees.
        joined = " ".join(word for _, word in words)
        starts, at = [], 0
        for number, word in words:
            starts.append((at, number))
            at += len(word) + 1
        plain = re.sub(r"`[^`]*`", lambda code: "C" + "x" * (len(code.group()) - 1), joined)
        plain = re.sub(r"\]\([^)]*\)", lambda link: "]" + " " * (len(link.group()) - 1), plain)
        begin = 0
        ends = [end.end() for end in re.finditer(r"(?<![A-Z0-9 ]\b[A-Z])(?<!\be\.g)(?<!\bi\.e)(?<!\bvs)[.!?][\"')*\]]*(?=\s+[\"'(*\[]*[A-Z0-9])|(?<=\s)·(?=\s)", plain)]
        for end in [*ends, len(plain)]:
            said = [word for word in plain[begin:end].split() if re.search(r"\w", word)]
            if said:
                first = begin + len(plain[begin:end]) - len(plain[begin:end].lstrip())
                yield max(number for at, number in starts if at <= first), len(said)
            begin = end


def violations(path, name):
    found, blocks, block = [], [], []
    for kind, number, line in outline(path):
        if kind != "table" and len(line) > COLUMNS:
            found.append((number, f"{len(line)} columns, and {COLUMNS} is the most"))
        if kind == "table" and not re.match(r"^[|\s:-]*$", line):
            for cell in re.split(r"(?<!\\)\|", line.strip().strip("|")):
                if "{" in cell and "@" in cell:
                    continue  # of a comment: what a cell is made of
                if len(visible(cell).strip()) > CELL:
                    found.append((number, f"a cell of {len(visible(cell).strip())} characters, and {CELL} is the most"))
        if kind in ("table", "prose", "item"):
            text = re.sub(r"`[^`]*`", "", visible(line))
            for word, instead in PRIVATE:
                for match in re.finditer(rf"\b(?:{word})\b", text, re.IGNORECASE):
                    found.append((number, f"a private word, \"{match.group()}\": {instead}"))
        if kind != "prose" and block:
            blocks.append(block)
            block = []
        if kind in ("prose", "item"):
            block.append((number, line))
    if block:
        blocks.append(block)
    lengths = list(sentences(blocks))
    found += [(number, f"a sentence of {words} words, and {LONGEST} is the most") for number, words in lengths if words > LONGEST]
    if lengths and sum(words for _, words in lengths) > AVERAGE * len(lengths):
        found.append((1, f"{sum(words for _, words in lengths) / len(lengths):.1f} words a sentence on average, and {AVERAGE} is the most"))
    return [f"{name}:{number}: {what}" for number, what in sorted(found)], lengths


def pages_of(root):
    pages = [os.path.join(root, name) for name in ("README.md", "CONTRIBUTING.md")]
    for folder, _, files in os.walk(os.path.join(root, "docs")):
        pages += [os.path.join(folder, name) for name in files if name.endswith(".md")]
    return sorted(page for page in pages if os.path.exists(page))


def test_of_the_test():
    """Planted violations must be seen, each at its line, and nothing else."""
    good = "# A page\n\nA sentence. Another one.\n\n| a | b |\n|---|---|\n| x | y |\n\n```text\ncode\n```\n\n- An item.\n"
    long_sentence = "A " + "word " * 45 + "ends."
    wrapped = "\n".join(["Short.", "A " + "word " * 20, "word " * 20, "word " * 5 + "ends."])
    plants = [
        ("nothing", good, []),
        ("a long line", good + "\n" + "w" * 121 + "\n", [":15: 121 columns"]),
        ("a long line of a fence", good.replace("code", "c" * 121), [":10: 121 columns"]),
        ("a long line of a comment", good + "\n<!-- " + "c" * 121 + " -->\n", [":15: 130 columns"]),
        ("a long row", good.replace("| x ", "| " + "x " * 90), []),
        ("a long cell", good.replace("| x ", "| " + "x" * 201 + " "), [":7: a cell of 201"]),
        ("a long address", good.replace("| x ", "| [x](" + "x" * 201 + ") "), []),
        ("a long sentence", good + "\n" + long_sentence.replace("word word word word word ", "word word word word word\n") + "\n", [":15: a sentence of 47"]),
        ("a long sentence after a short one", good + "\n" + wrapped + "\n", [":16: a sentence of 47"]),
        ("a long sentence of an item", good + "- " + ("word " * 23 + "\n  ") * 2 + "end.\n", [":14: a sentence of 47"]),
        ("two sentences", good + "\n" + ("A " + "word " * 20 + "\n" + "word " * 4 + "ends.\n") * 2, []),
        ("long sentences on average", "# A page of ten words in all, so as to count\n\n" + ("A " + "word " * 20 + "\n" + "word " * 18 + "ends.\n") * 9, [":1: 37"]),
        ("a private word", good.replace("An item", "What is at hand"), [":13: a private word"]),
        ("a private word of a cell", good.replace("| y |", "| strays |"), [":7: a private word"]),
        ("a private word that is code", good.replace("An item", "`pace`"), []),
    ]
    failed = 0
    with tempfile.TemporaryDirectory() as root:
        os.mkdir(os.path.join(root, "docs"))
        path = os.path.join(root, "docs", "planted.md")
        for what, text, wanted in plants:
            with open(path, "w", encoding="utf-8") as page:
                page.write(text)
            seen = [violation for each in pages_of(root) for violation in violations(each, "planted.md")[0]]
            if len(seen) != len(wanted) or not all(one.startswith("planted.md" + other) for one, other in zip(seen, wanted)):
                failed += 1
                print(f"FAIL planted, {what}: wanted {wanted}, seen {seen}")
    return failed


def main(arguments):
    own = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
    root = arguments.pop(0) if arguments and os.path.isdir(arguments[0]) else own
    pages = [os.path.abspath(page) for page in arguments] or pages_of(root)
    failed = test_of_the_test()
    counted, words = 0, 0
    for page in pages:
        found, lengths = violations(page, os.path.relpath(page, root))
        for violation in found:
            print("FAIL", violation)
        failed += len(found)
        counted += len(lengths)
        words += sum(length for _, length in lengths)
    if not counted:
        print("FAIL no page was read")
        return 1
    print(f"{len(pages)} pages, {counted} sentences of {words / counted:.1f} words on average, {failed} violations")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
