#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Every link of README.md, CONTRIBUTING.md and the pages under docs/ to a file of this repository, and to a heading of a page, leads
somewhere. links.py [ROOT]"""
import os
import re
import sys
import tempfile


def without_code(text):
    text = re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)
    return re.sub(r"`[^`\n]*`", lambda code: code.group() if "](" not in code.group() else "", text)


def headings(path):
    """The anchors that GitHub gives the headings of a page."""
    anchors = set()
    with open(path, encoding="utf-8") as page:
        for heading in re.findall(r"^#+ (.*)$", re.sub(r"^```.*?^```$", "", page.read(), flags=re.M | re.S), flags=re.M):
            shown = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
            anchors.add(re.sub(r"[^\w\- ]", "", shown).replace(" ", "-"))
    return anchors


def broken(path):
    with open(path, encoding="utf-8") as page:
        text = without_code(page.read())
    for link in re.findall(r"\]\(([^)\s]+)\)|(?:src|srcset|href)=\"([^\"]+)\"", text):
        link = link[0] or link[1]
        if re.match(r"[a-z]+:", link):
            continue
        target, _, anchor = link.partition("#")
        to = os.path.normpath(os.path.join(os.path.dirname(path), target)) if target else path
        if not os.path.exists(to):
            yield f"{link} does not exist"
        elif anchor and to.endswith(".md") and anchor not in headings(to):
            yield f"{link}: no such heading"


def pages(root):
    found = [os.path.join(root, name) for name in ("README.md", "CONTRIBUTING.md")]
    for folder, _, files in os.walk(os.path.join(root, "docs")):
        found += [os.path.join(folder, name) for name in files if name.endswith(".md")]
    return sorted(page for page in found if os.path.exists(page))


def test_of_the_test():
    """Planted links that lead nowhere are seen, and no others."""
    with tempfile.TemporaryDirectory() as root:
        path = os.path.join(root, "README.md")
        with open(path, "w", encoding="utf-8") as page:
            page.write("# A `b` c\n\n[here](#a-b-c) [page](README.md#a-b-c) [web](https://example.org/x) [gone](gone.md) [none](#none)\n\n"
                       '<img src="gone.png">\n\n```\n[code](code.md)\n```\n')
        seen = [found for each in pages(root) for found in broken(each)]
    wanted = ["gone.md does not exist", "#none: no such heading", "gone.png does not exist"]
    if seen != wanted:
        print(f"FAIL planted: wanted {wanted}, seen {seen}")
    return seen != wanted


def main(root):
    failed = int(test_of_the_test())
    all_pages = pages(root)
    for page in all_pages:
        for what in broken(page):
            print(f"FAIL {os.path.relpath(page, root)}: {what}")
            failed += 1
    print(f"{len(all_pages)} pages, {failed} failed")
    return 1 if failed or not all_pages else 0


sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")))
