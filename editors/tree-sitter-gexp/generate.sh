#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes src/parser.c of grammar.js, and src/reserved.h, anew: generate.sh [TREE_SITTER]. The parser has version 14 of the
# interface, which Debian 12's library and all newer ones read. Where the tree-sitter command cannot be had, generator/build.sh makes one.
# src/made_of.sha256 tells what was made of what: a test compares it, so that an edited grammar without its parser is seen.
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")"
command=${1:-tree-sitter}
node >src/reserved.h -e '
const words = require("../words.json");
const lines = ["statements", "operations", "operators"].map((kind) => words[kind].map((word) => `"${word}",`).join(" "));
console.log("// SPDX-License-Identifier: Apache-2.0");
console.log("// The reserved words; made by generate.sh of editors/words.json, compared with lang/words.h by a test.\n#pragma once\n");
console.log(`static const char *const kReserved[] = {\n    ${lines.join("\n    ")}\n};`);'
options=(--abi=14)
if "$command" generate --help 2>/dev/null | grep -q -- --no-bindings; then options+=(--no-bindings); fi
"$command" generate "${options[@]}"
sha256sum grammar.js src/grammar.json src/parser.c src/node-types.json >src/made_of.sha256
