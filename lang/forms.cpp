// SPDX-License-Identifier: Apache-2.0
#include "lang/forms.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "lang/words.h"

namespace gexp::lang {
namespace {

constexpr auto kForms = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"gexp", "gexp 1 experiment NAME"},
    {"experiment", "experiment NAME"},
    {"use", "use \"papers.gexp\" as p"},
    {"meta", "meta cite \"Mei17\""},
    {"param", "param limit: B = 512KiB in 16KiB..4MiB"},
    {"let", "let half = limit / 2"},
    {"require", "require half > 4KiB else \"too small\""},
    {"budget", "budget time 60s memory 16MiB"},
    {"seed", "seed 7"},
    {"memory", "memory A: u32[1MiB] in global"},
    {"pattern", "pattern ring = uniform(stride: 32B, span: 4KiB)"},
    {"stage", "stage NAME { … }"},
    {"sweep", "sweep n in 1KiB..64KiB step 1KiB"},
    {"skip", "skip n > 1MiB why \"too large\""},
    {"launch", "launch grid 1 block 32"},
    {"flush", "flush l2"},
    {"warm", "warm { chase A by ring laps 2 }"},
    {"timed", "timed lat each { chase A by ring laps 2 }"},
    {"repeat", "repeat 3..20 until stable(misses(lat))"},
    {"record", "record lat raw"},
    {"derive", "derive per: cycles = median(lat) / 256"},
    {"find", "find C: B = last_flat(misses(lat) over n)"},
    {"expect", "expect capacity.C == 12KiB on gtx780 from \"Mei17\""},
    {"plot", "plot median(lat) vs n log n"},
    {"chase", "chase A by ring laps 2 via ca"},
    {"load", "load A at tid * 4B"},
    {"store", "store A at tid * 4B"},
    {"alu", "alu fma.f32 chain 64 ilp 2"},
    {"barrier", "barrier"},
    {"branch", "branch tid < 16 { load A at tid * 4B }"},
    {"unroll", "unroll j in 0..3 { load A at j * 4B }"},
    {"loop", "loop j in 0..9 { load A at j * 4B }"},
});

constexpr const char* kStray = "no statement has this sign: delete it";

bool starts(std::string_view text, std::uint32_t at, std::string_view sign) { return text.substr(std::min<std::size_t>(at, text.size())).starts_with(sign); }

}  // namespace

std::string_view form_of(std::string_view word) {
  const auto found = std::find_if(kForms.begin(), kForms.end(), [&](const auto& form) { return form.first == word; });
  return found == kForms.end() ? std::string_view() : found->second;
}

std::string form_hint(std::string_view text, std::uint32_t begin, std::uint32_t at) {
  std::string_view last;
  for (std::uint32_t i = begin; i < at;) {
    if (text[i] == '#') {
      while (i < at && text[i] != '\n') ++i;
    } else if (text[i] == '"') {
      ++i;
      while (i < at && text[i] != '"' && text[i] != '\n') ++i;
      ++i;
    } else if (is_word(text[i])) {
      const auto from = i;
      while (i < at && is_word(text[i])) ++i;
      const auto word = text.substr(from, i - from);
      if (last.empty() || is_operation_word(word)) last = word;
    } else {
      ++i;
    }
  }
  const auto form = form_of(last);
  return form.empty() ? "" : fmt::format("write it like `{}`", form);
}

std::string sign_hint(std::string_view text, std::uint32_t at) {
  if (at >= text.size()) return "";
  const char before = at > 0 ? text[at - 1] : ' ';
  const char after = at + 1 < text.size() ? text[at + 1] : ' ';
  const bool digit = after >= '0' && after <= '9';
  switch (text[at]) {
    case ';': return "a statement ends without a sign";
    case '/': return after == '/' || after == '*' ? "a comment begins with `#`" : "";
    case '&': return "write `and`";
    case '|': return "write `or`";
    case '!': return "write `not`";
    case '^': return "there is no sign for powers: write a product";
    case '*': return before == '*' ? "there is no sign for powers: write a product" : "";
    case '?': return "there is no `a ? b : c`; `a ?? b` is `b` where `a` was not found";
    case '\'': return "a text stands between `\"`";
    case '<':
    case '>': return starts(text, at, "<<") ? "" : "compare twice: `a < b and b < c`";
    case '=': return after == '>' ? "write `>=`" : after == '<' ? "write `<=`" : "a comparison is written `==`";
    case '(': return before == ' ' ? "a call's `(` touches the name: `f(x)`" : "";
    case '[': return is_word(before) ? "the arguments of a call stand in `( )`" : "";
    case '{': return "a list is written `[a, b]`";
    case ')':
    case ']': return fmt::format("this `{}` closes nothing", text[at]);
    case '.': return before == '.' ? "an interval is written `1..4`" : is_word(before) && digit ? "a number has one point" : digit ? "write a digit before the point: `0.5`" : "";
    default: return is_word(text[at]) || text[at] == '"' ? "" : kStray;
  }
}

}  // namespace gexp::lang
