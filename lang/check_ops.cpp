// SPDX-License-Identifier: Apache-2.0
#include "lang/check_stage.h"

#include <fmt/format.h>

/// The operations inside `warm` and `timed`.
namespace gexp::lang {

void StageChecker::ops(const std::vector<Op>& body, const SymbolScope& names) {
  auto place = at("an access", Time::Point, true);
  SymbolScope own(&names);
  place.names = &own;
  for (const auto& each : body) op(each, place, own);
  if (!body.empty()) expressions_.note(own, {body.front().span.begin, body.back().span.end});
}

void StageChecker::clauses(const Op& each, const Place& place, const Place& counted) {
  expressions_.want(each.width, bytes(), counted, "the width after `as`");
  expressions_.want(each.fetch, bytes(), counted, "what `fetch` brings");
  expressions_.want(each.rows, plain(), counted, "the number of rows of a tile");
  expressions_.want(each.pitch, bytes(), counted, "the distance of rows");
  expressions_.want(each.rank, plain(), place, "the rank of a block in its cluster");
  if (each.into) expressions_.refer(*each.into, place, "a memory");
  expressions_.want(each.into_at, bytes(), place, "the offset after `at`");
  if (each.via) check_word(diagnostics_, *each.via, via_words());
  if (each.hint) check_word(diagnostics_, *each.hint, hint_words());
  if (each.level) check_word(diagnostics_, *each.level, level_words());
  if (each.scope) check_word(diagnostics_, *each.scope, scope_words());
}

void StageChecker::chase(const Op& each, const Place& place, const Place& counted) {
  if (const auto* first = place.names->find(each.memory.text); first && first->kind == Symbol::Kind::Pattern) {
    if (const auto* second = place.names->find(each.pattern.text); second && second->kind == Symbol::Kind::Memory) {
      diagnostics_.error("E0207", cover(each.memory.span, each.pattern.span), fmt::format("`{}` is a pattern and `{}` a memory: they are swapped", each.memory.text, each.pattern.text),
                         fmt::format("write `chase {} by {}`", each.pattern.text, each.memory.text));
      expressions_.want(each.count, plain(), counted, "the count");
      return;
    }
  }
  expressions_.refer(each.memory, place, "a memory");
  if (expressions_.module_pattern(each.pattern, place)) {
    // said there
  } else if (const auto* pattern = expressions_.refer(each.pattern, place, "a pattern"); pattern && !fits(pattern->type, pattern_type())) {
    auto& problem = diagnostics_.error("E0207", each.pattern.span, fmt::format("`{}` is {}, and a pattern is wanted here", each.pattern.text, describe(pattern->type)),
                                       "write `pattern NAME = uniform(stride: 32B, span: 4KiB)` and name it here");
    problem.notes.push_back({pattern->span, fmt::format("`{}` is declared here", each.pattern.text)});
  }
  expressions_.want(each.count, plain(), counted, each.laps ? "the number of laps" : "the number of steps");
}

void StageChecker::interleave(const Op& each, const Place& place) {
  for (const auto& inner : each.body) {
    if (inner.kind == Op::Kind::Chase) continue;
    diagnostics_.error("E0232", inner.span, "only chases are interleaved", "write `interleave { chase A by p steps 64 chase A by q steps 64 }`");
    return;
  }
  if (each.body.size() < 2) diagnostics_.error("E0232", each.span, "an `interleave` has two chases or more", "write a lone chase without it");
  ops(each.body, *place.names);
}

void StageChecker::op(const Op& each, const Place& place, SymbolScope& names) {
  const auto counted = [&] {
    auto counts = place;
    counts.threads = false;
    counts.what = "a count";
    return counts;
  }();
  switch (each.kind) {
    case Op::Kind::Chase: chase(each, place, counted); break;
    case Op::Kind::Load:
    case Op::Kind::Store:
    case Op::Kind::Atomic:
    case Op::Kind::Discard:
      expressions_.refer(each.memory, place, "a memory");
      expressions_.want(each.at, bytes(), place, "the offset after `at`");
      if (!each.at && !expressions_.module_pattern(each.pattern, place)) expressions_.refer(each.pattern, place, "a pattern");
      if (each.kind == Op::Kind::Store) expressions_.want(each.value, plain(), place, "what is stored");
      if (each.gives && !is_settable(place.names->find(each.gives->text))) {
        declare_variable(*each.gives, each.span.end, false, names);
        const auto* memory = place.names->find(each.memory.text);
        if (auto* variable = names.find_here(each.gives->text); variable && memory) variable->element = memory->element;
      }
      break;
    case Op::Kind::Var:
    case Op::Kind::Assign:
    case Op::Kind::Stamp:
    case Op::Kind::Keep: variable(each, place, names); break;
    case Op::Kind::Interleave: interleave(each, place); break;
    case Op::Kind::Alu:
      // The name of a value, or of an instruction that the compiler is to refuse.
      if (each.named && place.names->find(each.instruction.text)) expressions_.want(each.named, text_type(), counted, "the instruction");
      expressions_.want(each.chain, plain(), counted, "the length of the chain");
      expressions_.want(each.ilp, plain(), counted, "the number of chains");
      break;
    case Op::Kind::Unroll:
    case Op::Kind::Loop: {
      if (each.condition) {
        expressions_.want(each.condition, bool_type(), place, "the condition after `while`");
        expressions_.want(each.count, plain(), counted, "the most rounds of a loop");
        ops(each.body, *place.names);
        break;
      }
      const bool first = !each.from || expressions_.want(each.from, plain(), counted, "the start of a loop").type.number();
      const bool last = first ? !each.to || expressions_.want(each.to, plain(), counted, "the end of a loop").type.number() : false;
      SymbolScope inner(place.names);
      Symbol variable;
      variable.kind = Symbol::Kind::Loop;
      variable.name = each.variable.text;
      variable.span = each.variable.span;
      variable.type = first && last ? plain() : any_type();
      variable.time = Time::Point;
      inner.declare(std::move(variable), diagnostics_);
      expressions_.note(inner, {each.to ? each.to->span.end : each.variable.span.end, each.span.end});
      ops(each.body, inner);
      break;
    }
    case Op::Kind::Branch:
      expressions_.want(each.condition, bool_type(), place, "the condition of `branch`");
      ops(each.body, *place.names);
      ops(each.otherwise, *place.names);
      break;
    case Op::Kind::Barrier:
    case Op::Kind::Fence:
    case Op::Kind::Drain:
    case Op::Kind::Signal: break;
    case Op::Kind::Wait:
      expressions_.want(each.signals, plain(), counted, "the number of signals");
      expressions_.want(each.bound, number_of(kCycles), counted, "the time after which a wait is given up");
      break;
    case Op::Kind::Kernel: {
      auto given = counted;
      given.what = "an argument of a kernel";
      kernel(each, given);
      break;
    }
  }
  clauses(each, place, counted);
}

}  // namespace gexp::lang
