#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Two types of one name in one namespace break the one-definition rule: the linker keeps one destructor for both, and a compiler that
sees one file at a time cannot tell. one_definition.py: no type is defined twice in the sources, but for those of unnamed namespaces.

What a scan of the text misses, the linker of the sanitized build sees (--detect-odr-violations in CMakePresets.json)."""
import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORD = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|//[^\n]*|/\*.*?\*/|[\w:]+|\S', re.DOTALL)


def types_of(text):
    """The types that a text defines outside of unnamed namespaces, each by its whole name."""
    text = re.sub(r'R"(\w*)\(.*?\)\1"', '""', text, flags=re.DOTALL)
    text = re.sub(r'^[ \t]*#.*$', '', text, flags=re.MULTILINE)
    words = [word for word in WORD.findall(text) if not word.startswith(('//', '/*', '"', "'"))]
    around, head, found = [], [], []  # around: a name for each open brace; None where names inside are nobody else's
    for word in words:
        if word == '{':
            name = None
            if head and head[0] == 'namespace':
                name = head[1] if len(head) > 1 else None
            elif any(kind in head for kind in ('struct', 'class', 'enum', 'union')) and '(' not in head and '=' not in head:
                kind = max(head.index(kind) for kind in ('struct', 'class', 'enum', 'union') if kind in head)
                after = [each for each in head[kind + 1:] if each not in ('class', 'struct')]
                name = after[0] if after and re.fullmatch(r'[\w:]+', after[0]) else None
                if name and '<' not in after[:2] and None not in around:
                    found.append('::'.join([*around, name]))
            around.append(name)
            head = []
        elif word == '}':
            if around:
                around.pop()
            head = []
        elif word == ';':
            head = []
        else:
            head.append(word)
    return found


def twice(texts):
    """Each type that is defined more than once, with the texts that define it."""
    where = collections.defaultdict(list)
    for name, text in texts.items():
        for each in types_of(text):
            where[each].append(name)
    return {each: names for each, names in where.items() if len(names) > 1}, len(where)


def main():
    planted = {'one.cpp': 'namespace gexp::planted { struct Group { double onset; }; namespace { struct Own {}; } }',
               'two.cpp': '#include "x"\nnamespace gexp::planted {\nclass Group : public Other {\n int lines; };\nnamespace { struct Own {}; }\nvoid f() { struct Local {}; }\n}'}
    if set(twice(planted)[0]) != {'gexp::planted::Group'}:
        print(f'FAIL a planted type was not seen, or another one was: {twice(planted)[0]}')
        return 1
    paths = [path for folder in ('lang', 'compiler', 'ptx', 'runtime') for ending in ('*.cpp', '*.h') for path in sorted((ROOT / folder).rglob(ending))]
    found, types = twice({str(path.relative_to(ROOT)): path.read_text() for path in paths})
    for each, names in sorted(found.items()):
        print(f'FAIL {each} is defined in {" and in ".join(names)}')
    print(f'{len(paths)} files, {types} types')
    return 1 if found or types < 100 else 0


if __name__ == '__main__':
    sys.exit(main())
