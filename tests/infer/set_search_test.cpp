// SPDX-License-Identifier: Apache-2.0
// Sets that no function names: how they are found, and what it takes to describe them.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string_view>

#include "runtime/infer/model/set_candidates.h"
#include "runtime/infer/model/set_search.h"
#include "tests/infer/walks.h"

using namespace gexp;
using infer::LabelledLine;
using infer::model::SetHypothesis;
using infer::model::Walks;
using test::every;
using test::walked;

namespace {

/// Two sets of 8 lines of 32 B, scattered by four lines: b a a b, and so on. As by RRIP, each order keeps all lines of a set that overflows but
/// two, those that came last. So each single line seems to do as well in either set.
constexpr std::string_view kScattered = "baabab";
Walks of_blocks() {
  records::Table table = test::table({});
  for (int extra = 0; extra <= 7; ++extra) {
    const int lines = 16 + extra;
    for (int order = 0; order < 3; ++order) {
      auto offsets = every(32, 32 * lines);
      std::shuffle(offsets.begin(), offsets.end(), std::mt19937(static_cast<unsigned>(3 * extra + order)));
      auto point = walked({{"n", Value(static_cast<double>(extra))}, {"order", Value(static_cast<double>(order))}}, offsets, test::four_sets());
      for (auto& run : point.runs) {
        std::fill(run.ticks.begin(), run.ticks.end(), test::kHitTicks);
        for (const char set : {'a', 'b'}) {
          std::vector<std::size_t> own;
          for (std::size_t i = 0; i < offsets.size(); ++i) {
            if (kScattered[static_cast<std::size_t>(offsets[i] / 128)] == set) own.push_back(i);
          }
          for (std::size_t late = 0; own.size() > 8 && late <= own.size() - 8; ++late) {
            for (std::size_t i = own[own.size() - 1 - late]; i < run.ticks.size(); i += offsets.size()) run.ticks[i] = test::kMissTicks;
          }
        }
      }
      table.points.push_back(std::move(point));
    }
  }
  Walks walks;
  walks.add(table, infer::MissRange{.above = (test::kHitTicks + test::kMissTicks) / 2.0, .outlier = 1000}, "sets");
  return walks;
}

std::vector<LabelledLine> labels_by(std::string_view sets_of_blocks, std::int64_t block) {
  std::vector<LabelledLine> lines;
  for (std::size_t i = 0; i < sets_of_blocks.size() * static_cast<std::size_t>(block); ++i) {
    lines.push_back({static_cast<std::int64_t>(i), static_cast<std::size_t>(sets_of_blocks[i / static_cast<std::size_t>(block)] - 'a')});
  }
  return lines;
}

}  // namespace

TEST_CASE("an index that sends neighbours to one set: sets that single lines do not lead to are found by whole blocks") {
  const auto walks = of_blocks();
  const auto by_line = infer::model::by_line(walks, 32, 32);
  auto guess = labels_by(kScattered, 4);
  guess.pop_back();
  for (auto& line : guess) line.set = line.line % 3 == 0 ? 2 : line.line / 2 % 2;  // as it may seem by what begins to miss together
  const auto better = infer::model::improved(guess, 3, by_line, infer::model::Rates::OwnOfEach);
  const auto right = [](const infer::model::FoundSets& found) {
    return found.sets == 2 && std::all_of(found.lines.begin(), found.lines.end(), [&](const LabelledLine& line) {
             return (line.set == found.lines[0].set) == (kScattered[static_cast<std::size_t>(line.line / 4)] == kScattered[0]);
           });
  };
  CHECK_FALSE(right(better.whole));
  CHECK(std::any_of(better.by_block.begin(), better.by_block.end(), right));
  // They are held against those that differ by a line, and those that differ by a block.
  const auto found = *std::find_if(better.by_block.begin(), better.by_block.end(), right);
  const auto moves = infer::model::likeliest_moves(found, by_line);
  for (const int bits : {0, 2}) CHECK(std::any_of(moves.begin(), moves.end(), [&](const infer::model::Move& move) { return move.bits == bits; }));
}

TEST_CASE("sets by no function are described by block, by chance or in turn") {
  using infer::model::bits_of_labels;
  // Blocks of two lines are half as many labels as the same labels line by line.
  CHECK(bits_of_labels(labels_by("aabbabbbaaab", 2), 2) == doctest::Approx(bits_of_labels(labels_by("aabbabbbaaab", 1), 2)));
  // Each group of as many blocks as there are sets has all of them: half as many bits as by chance, and one for saying so.
  const double by_chance = bits_of_labels(labels_by("aabbabbbaaabbaba", 1), 2), in_turn = bits_of_labels(labels_by("abbaabababbabaab", 1), 2);
  CHECK(by_chance == doctest::Approx(7 + 16 - 1 + 1));
  CHECK(in_turn == doctest::Approx(7 + 8 - 1 + 1).epsilon(0.01));
  // That another set is of no block at all is the less likely, the more blocks there are.
  CHECK(bits_of_labels(labels_by("abcabcaabb", 1), 4) - bits_of_labels(labels_by("abcabcaabb", 1), 3) == doctest::Approx(10 * std::log2(4.0 / 3) - 2));
  CHECK(bits_of_labels(labels_by("abbaabababbabaab", 1), 3) > in_turn + 10);
}

TEST_CASE("which set a line is of has to be said only where it matters, and once for a block") {
  records::Table table = test::table({});
  for (int extra = 0; extra <= 20; ++extra) table.points.push_back(walked({{"n", Value(static_cast<double>(extra))}}, every(32, 32 * (32 + extra)), test::four_sets()));
  Walks walks;
  walks.add(table, *infer::miss_range(table, infer::classify(table)), "sets");
  const auto up_to = [](std::int64_t end) { return [=](std::int64_t line) { return line < end ? static_cast<std::uint32_t>(line / 4 % 4) : infer::model::kNoSet; }; };
  SetHypothesis own{"", 32, 4, up_to(45), 0, nullptr, 32};
  const auto labels = infer::model::score(own, walks);
  CHECK(std::count(labels.telling.begin(), labels.telling.end(), true) == 12);  // with line 32 one set overflows, with line 44 all do
  CHECK(labels.unsaid == 0);
  own.set_of = up_to(33);
  CHECK(infer::model::score(own, walks).unsaid == doctest::Approx(19 * std::log(4)));  // three sets have room at every footprint
  own.block_bits = 2;
  CHECK(infer::model::score(own, walks).unsaid == doctest::Approx(4 * std::log(4)));  // of lines 36, 40, 44, 48; 33 to 35 are with 32
}
