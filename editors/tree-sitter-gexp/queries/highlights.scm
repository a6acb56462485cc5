; SPDX-License-Identifier: Apache-2.0
; The standard capture names, which Neovim, Helix and Zed know. The last pattern that fits wins in Neovim and Zed,
; and no node is caught by two patterns that differ, so that the order does not matter to Helix either.

(comment) @comment
(string) @string
(number) @number
(integer) @number
(unit) @type

; Statements, made by ./dev bless lang, as are operations and clauses.
[
  "gexp" "experiment" "use" "meta" "param" "let" "require" "budget" "seed" "memory" "pattern" "analysis" "give" "stage" "sweep"
  "skip" "launch" "transform" "flush" "warm" "timed" "repeat" "record" "derive" "find" "expect" "plot"
] @keyword

; Operations.
[
  "chase" "load" "store" "alu" "atomic" "fence" "discard" "branch" "unroll" "loop" "signal" "wait" "kernel" "interleave" "var"
  "assign" "stamp" "keep"
] @keyword.function
(barrier) @keyword.function
(drain) @keyword.function

; Clauses.
[
  "align" "as" "at" "bank" "beside" "block" "by" "carveout" "chain" "cluster" "define" "doc" "else" "entry" "fetch" "for" "from"
  "grid" "hint" "holds" "ilp" "in" "into" "laps" "limit" "log" "need" "of" "on" "over" "page" "persm" "pitch" "place" "points"
  "rank" "red" "refine" "registers" "rows" "scope" "sha256" "sm" "smem" "sms" "step" "steps" "template" "time" "times" "to"
  "until" "value" "via" "vs" "where" "while" "why" "within" "xfail"
] @keyword.modifier

["and" "or" "xor" "not" "div" "mod" "shl" "shr"] @keyword.operator
["+" "-" "*" "??" "==" "!=" "<=" ">=" "<" ">" "=" ".." "->"] @operator
(binary_expression "/" @operator)
["(" ")" "[" "]" "{" "}"] @punctuation.bracket
["," ":"] @punctuation.delimiter
(path "." @punctuation.delimiter)
(pattern_name "." @punctuation.delimiter)
(function_path "." @punctuation.delimiter)

; Names where they are declared, then where they are read.
(header name: (name) @module)
(stage name: (name) @module)
(beside_clause leader: (name) @module)
(analysis name: (name) @function.call)
(typed_name name: (name) @variable.parameter)
(give_statement name: (name) @variable)
(use_statement name: (name) @module)
(param_statement name: (name) @variable.parameter)
(let_statement name: (name) @variable)
(memory_statement name: (name) @variable)
(pattern_statement name: (name) @variable)
(sweep_statement name: (name) @variable)
(timed_statement name: (name) @variable)
(record_statement name: (name) @variable)
(derive_statement name: (name) @variable)
(find_statement name: (name) @variable)
(unroll name: (name) @variable)
(loop name: (name) @variable)
(for_clause name: (name) @variable)
(path (name) @variable)
(function_path (name) @variable)
(pattern_name (name) @variable)
(chase memory: (name) @variable)
(load memory: (name) @variable)
(store memory: (name) @variable)
(atomic memory: (name) @variable)
(discard memory: (name) @variable)
(into_clause target: (name) @variable)
(var name: (name) @variable)
(assign name: (name) @variable)
(stamp name: (name) @variable)
(signal flag: (name) @variable)
(wait flag: (name) @variable)
(by_clause (name) @variable)
(kernel_argument record: (name) @variable)
(log_clause (name) @variable)
(on_clause (name) @constant)
(call function: (name) @function.call)
(kernel entry: (word) @function.call)
(label) @property
(field) @property

; Words of a place: memory spaces, paths, types, instructions.
(type) @type
(memory_statement space: (word) @constant.builtin)
(flush_statement level: (word) @constant.builtin)
(timed_statement how: (word) @constant.builtin)
(record_statement keep: (word) @constant.builtin)
(place_clause place: (word) @constant.builtin)
(drawn_clause drawn: (word) @constant.builtin)
(via_clause path: (word) @constant.builtin)
(hint_clause hint: (word) @constant.builtin)
(to_clause level: (word) @constant.builtin)
(scope_clause scope: (word) @constant.builtin)
(fence scope: (word) @constant.builtin)
(meta_statement key: (word) @property)
(instruction) @function.builtin
(define_clause name: (word) @constant.macro)
