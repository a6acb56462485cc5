// SPDX-License-Identifier: Apache-2.0
#include "lang/names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace gexp::lang {

const char* known(Time time) {
  switch (time) {
    case Time::File: return "before anything runs";
    case Time::Point: return "at each point";
    case Time::Thread: return "in each thread";
    case Time::Row: return "after the runs of a point";
    case Time::Finding: return "after every point of its stage";
  }
  return "";
}

const char* settled(Time limit) {
  switch (limit) {
    case Time::File: return "before anything runs";
    case Time::Point: return "before the runs of a point";
    case Time::Thread: return "in each thread";
    case Time::Row: return "after the runs of a point";
    case Time::Finding: return "after every point";
  }
  return "";
}

const char* describe(Symbol::Kind kind) {
  switch (kind) {
    case Symbol::Kind::Param: return "a parameter";
    case Symbol::Kind::Let: return "a value";
    case Symbol::Kind::Memory: return "a memory";
    case Symbol::Kind::Pattern: return "a pattern";
    case Symbol::Kind::Stage: return "a stage";
    case Symbol::Kind::Sweep: return "a sweep variable";
    case Symbol::Kind::Thread: return "a thread's number";
    case Symbol::Kind::Record: return "a record";
    case Symbol::Kind::Column: return "a column of the record";
    case Symbol::Kind::Derive: return "a derived value";
    case Symbol::Kind::Find: return "a finding";
    case Symbol::Kind::Loop: return "a loop variable";
    case Symbol::Kind::Module: return "a used file";
    case Symbol::Kind::Outcome: return "how launches end";
    case Symbol::Kind::Variable: return "a variable";
    case Symbol::Kind::Analysis: return "an analysis";
    case Symbol::Kind::Argument: return "an argument";
  }
  return "";
}

Symbol& SymbolScope::declare(Symbol symbol, Diagnostics& diagnostics) {
  auto& kept = symbols_.emplace_back(std::move(symbol));
  const auto [found, fresh] = by_name_.try_emplace(kept.name, &kept);
  if (fresh) return kept;
  auto& first = *found->second;
  auto& problem = diagnostics.error("E0201", kept.span, fmt::format("`{}` is already {} here", kept.name, describe(first.kind)),
                                    "choose another name");
  problem.notes.push_back({first.span, fmt::format("the first `{}`", kept.name)});
  symbols_.pop_back();
  return first;
}

Symbol* SymbolScope::find_here(std::string_view name) {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : found->second;
}

const Symbol* SymbolScope::find_here(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : found->second;
}

const Symbol* SymbolScope::find(std::string_view name) const {
  for (const auto* scope = this; scope; scope = scope->outer_) {
    if (const auto* symbol = scope->find_here(name)) return symbol;
  }
  return nullptr;
}

std::vector<std::string_view> SymbolScope::names() const {
  std::vector<std::string_view> all;
  for (const auto* scope = this; scope; scope = scope->outer_) {
    const auto inner = static_cast<std::ptrdiff_t>(all.size());
    for (const auto& symbol : scope->symbols_) all.push_back(symbol.name);
    std::sort(all.begin() + inner, all.end());
  }
  return all;
}

const SymbolScope& builtin_names() {
  static const SymbolScope scope = [] {
    SymbolScope names;
    Diagnostics none;
    for (const char* name : {"lane", "tid", "warp", "cta", "gtid"}) {
      Symbol symbol;
      symbol.kind = Symbol::Kind::Thread;
      symbol.name = name;
      symbol.type = number_of({});
      symbol.time = Time::Thread;
      names.declare(std::move(symbol), none);
    }
    for (const char* name : {"step", "lap", "seg"}) {
      Symbol symbol;
      symbol.kind = Symbol::Kind::Column;
      symbol.name = name;
      symbol.type = std::string_view(name) == "seg" ? text_type() : number_of({});
      symbol.time = Time::Row;
      names.declare(std::move(symbol), none);
    }
    return names;
  }();
  return scope;
}

void declare_outcomes(SymbolScope& inside, Time time) {
  Diagnostics none;
  for (const char* name : {"hang", "fault"}) {
    if (inside.find(name)) continue;
    Symbol symbol;
    symbol.kind = Symbol::Kind::Outcome;
    symbol.name = name;
    symbol.type = bool_type();
    symbol.time = time;
    inside.declare(std::move(symbol), none);
  }
}

std::string did_you_mean(std::string_view word, const std::vector<std::string_view>& words) {
  const auto near = nearest(word, words);
  return near ? fmt::format("did you mean `{}`?", *near) : "";
}

std::string did_you_mean_one_of(std::string_view word, const std::vector<std::string_view>& words) {
  constexpr std::size_t kFew = 10;
  const auto near = did_you_mean(word, words);
  if (!near.empty() || words.empty() || words.size() > kFew) return near;
  return fmt::format("it has {}", fmt::join(words, ", "));
}

}  // namespace gexp::lang
