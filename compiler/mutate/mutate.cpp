// SPDX-License-Identifier: Apache-2.0
#include "compiler/mutate/mutate.h"

#include <algorithm>
#include <random>

namespace gexp::compiler {
namespace {

constexpr std::uint64_t kSecondOneIn = 4;  // so many mutated files have two mutations
constexpr int kTries = 20;                 // for a second one that does not touch the first

using Edit = Mutation::Edit;

bool before(const Edit& a, const Edit& b) {
  return a.span.begin != b.span.begin ? a.span.begin < b.span.begin : a.span.end < b.span.end;
}

/// Whether edits in order leave each other's text alone.
bool apart(const std::vector<Edit>& edits) {
  for (std::size_t i = 1; i < edits.size(); ++i) {
    if (edits[i].span.begin < edits[i - 1].span.end || edits[i].span == edits[i - 1].span) return false;
  }
  return true;
}

std::string edited(const std::string& text, const std::vector<Edit>& edits) {
  std::string out;
  std::uint32_t at = 0;
  for (const auto& edit : edits) {
    out += text.substr(at, edit.span.begin - at) + edit.text;
    at = edit.span.end;
  }
  return out + text.substr(at);
}

class Draw {
 public:
  Draw(const std::vector<Mutation>& all, std::uint64_t seed) : all_(all), random_(seed) {
    for (const auto& mutation : all) {
      if (std::find(kinds_.begin(), kinds_.end(), mutation.kind) == kinds_.end()) kinds_.push_back(mutation.kind);
    }
  }

  /// The distributions of <random> differ from library to library; the engine does not.
  std::uint64_t below(std::uint64_t n) { return random_() % n; }

  const Mutation& one() {
    const auto& kind = kinds_[below(kinds_.size())];
    std::vector<const Mutation*> of_kind;
    for (const auto& mutation : all_) {
      if (mutation.kind == kind) of_kind.push_back(&mutation);
    }
    return *of_kind[below(of_kind.size())];
  }

 private:
  const std::vector<Mutation>& all_;
  std::vector<std::string> kinds_;
  std::mt19937_64 random_;
};

}  // namespace

std::optional<MutatedSpec> mutate(const Source& source, const std::vector<Mutation>& all, std::uint64_t seed) {
  if (all.empty()) return std::nullopt;
  Draw draw(all, seed);
  std::vector<const Mutation*> chosen{&draw.one()};
  auto edits = chosen[0]->edits;
  if (draw.below(kSecondOneIn) == 0) {
    for (int i = 0; i < kTries; ++i) {
      const auto& second = draw.one();
      auto both = edits;
      both.insert(both.end(), second.edits.begin(), second.edits.end());
      std::stable_sort(both.begin(), both.end(), before);
      if (second.kind == chosen[0]->kind || !apart(both)) continue;
      chosen.push_back(&second);
      edits = std::move(both);
      break;
    }
  }
  MutatedSpec mutated{Source(source.path(), edited(source.text(), edits)), {}, {}};
  for (const auto* mutation : chosen) {
    mutated.words.push_back(mutation->words);
    if (!mutation->nothing.empty()) mutated.nothing.push_back(mutation->nothing);
  }
  return mutated;
}

}  // namespace gexp::compiler
