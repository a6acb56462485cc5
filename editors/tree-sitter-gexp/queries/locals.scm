; SPDX-License-Identifier: Apache-2.0
[(source_file) (stage_body) (list) (loop) (unroll)] @local.scope

(param_statement name: (name) @local.definition)
(let_statement name: (name) @local.definition)
(memory_statement name: (name) @local.definition)
(pattern_statement name: (name) @local.definition)
(stage name: (name) @local.definition)
(use_statement name: (name) @local.definition)
(sweep_statement name: (name) @local.definition)
(timed_statement name: (name) @local.definition)
(derive_statement name: (name) @local.definition)
(find_statement name: (name) @local.definition)
(unroll name: (name) @local.definition)
(loop name: (name) @local.definition)
(for_clause name: (name) @local.definition)

(path . (name) @local.reference)
(pattern_name . (name) @local.reference)
(chase memory: (name) @local.reference)
(load memory: (name) @local.reference)
(store memory: (name) @local.reference)
(by_clause (name) @local.reference)
(log_clause (name) @local.reference)
