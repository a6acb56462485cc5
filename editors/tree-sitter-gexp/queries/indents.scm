; SPDX-License-Identifier: Apache-2.0
; Helix reads @indent and @outdent, Neovim those that begin with `indent.`; each leaves the other's alone.
[(stage_body) (analysis_body) (body) (list) (group) (call)] @indent @indent.begin
["}" "]" ")"] @outdent @indent.branch @indent.end
