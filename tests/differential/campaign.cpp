// SPDX-License-Identifier: Apache-2.0
#include "tests/differential/campaign.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <bit>
#include <charconv>
#include <cstring>
#include <regex>
#include <string>
#include <string_view>

#include "tests/differential/check.h"
#include "tests/differential/print.h"
#include "tests/differential/shrink.h"
#include "tests/differential/soft_l1.h"

namespace gexp::differential {
namespace {

constexpr std::uint64_t kBatch = 24;  // kernels in one text: the simulator reads all of it for each
constexpr std::uint64_t kCached = 1000;

/// What went wrong, wherever it did: the same access has another line and another address where the text has become longer. NVRTC 13.0
/// reads `a[(c - i) & 127]`, where the mask changes nothing, 2^32 too far; such a kernel faults with the cache and without it.
std::string anywhere(const std::string& what) {
  static const std::regex place("0x[0-9a-f]+|line [0-9]+");
  return std::regex_replace(what, place, "");
}

class Runner {
 public:
  Runner(const Campaign& campaign, jit::Compiler compiler) : c_(campaign), compiler_(std::move(compiler)) {}
  Totals run();

 private:
  bool batch(const std::vector<Program>& programs);
  std::optional<std::vector<Verdict>> verdicts(const std::vector<Program>& programs, Totals& totals);
  void failed(const Program& program, const Verdict& verdict);
  void stop(const std::string& why) {
    fmt::print(c_.log, "{}\n", why);
    totals_.broken = true;
  }

  const Campaign& c_;
  jit::Compiler compiler_;
  Totals totals_;
  int shown_ = 0;
};

std::optional<std::vector<Verdict>> Runner::verdicts(const std::vector<Program>& programs, Totals& totals) {
  auto backend = c_.open();
  if (!backend) return stop(backend.error().message), std::nullopt;
  auto target = (*backend)->target();
  if (c_.soft_l1) target.form = device::Target::Form::Ptx;
  const auto images = compile(compiler_, programs, target);
  if (!images) return stop(images.error().message), std::nullopt;
  totals.corrected += static_cast<std::uint64_t>(images->corrected);
  std::vector<Verdict> list;
  for (std::size_t i = 0; i < programs.size(); ++i) {
    if (!c_.soft_l1) {
      list.push_back(check(**backend, images->kernels[i], programs[i]));
    } else {
      auto image = images->kernels[i];
      const auto loops = add_soft_l1(image, programs[i]);
      if (!loops) return stop(loops.error().message), std::nullopt;
      totals.cached += *loops > 0, totals.slices += *loops;
      list.push_back(check(**backend, image, programs[i]));
      Verdict& with = list.back();
      if (with.kind != Verdict::Kind::Same && (*backend)->usable()) {
        const Verdict without = check(**backend, images->kernels[i], programs[i]);
        if (without.kind == with.kind && anywhere(without.what) == anywhere(with.what)) ++totals.without_too, with.kind = Verdict::Kind::Same;
      }
    }
    if (!(*backend)->usable()) break;
  }
  return list;
}

void Runner::failed(const Program& program, const Verdict& verdict) {
  static constexpr const char* kWords[] = {"agrees", "differs", "faults", "is refused"};
  fmt::print(c_.log, "seed {} {}: {}; {} of {} values\n", program.seed, kWords[static_cast<std::size_t>(verdict.kind)], verdict.what, verdict.different,
             verdict.compared);
  Program small = program;
  Totals uncounted;
  if (shown_ < c_.shrunk) {
    const auto fails = [&](const std::vector<Program>& candidates) {
      std::vector<bool> answers(candidates.size());
      const auto list = verdicts(candidates, uncounted);
      for (std::size_t i = 0; list && i < list->size(); ++i) answers[i] = (*list)[i].kind == verdict.kind;
      return answers;
    };
    small = shrink(program, fails);
    if (const auto list = verdicts({small}, uncounted)) fmt::print(c_.log, "made small: {}\n", list->front().what);
  }
  fmt::print(c_.log, "launched with {} blocks of {} threads, p32 = 0x{:x}, p64 = 0x{:x}\n{}\n", small.grid, small.block, small.parameter32,
             small.parameter64, print(small));
  std::fflush(c_.log);
  ++shown_;
}

bool Runner::batch(const std::vector<Program>& programs) {
  const auto list = verdicts(programs, totals_);
  if (!list) return false;
  for (std::size_t i = 0; i < list->size(); ++i) {
    const Verdict& verdict = (*list)[i];
    ++totals_.kernels;
    totals_.threads += programs[i].threads();
    totals_.values += verdict.compared;
    totals_.different_values += verdict.different;
    totals_.differ += verdict.kind == Verdict::Kind::Differs;
    totals_.fault += verdict.kind == Verdict::Kind::Fault;
    totals_.refused += verdict.kind == Verdict::Kind::Refused;
    if (verdict.kind != Verdict::Kind::Same) failed(programs[i], verdict);
    if (shown_ >= c_.shown) return false;
  }
  if (list->size() < programs.size()) return stop("the device can no longer be used"), false;
  return true;
}

Totals Runner::run() {
  for (std::uint64_t seed = c_.first; seed <= c_.last;) {
    std::vector<Program> programs;
    for (; seed <= c_.last && programs.size() < kBatch; ++seed) programs.push_back(generate(seed, c_.limits));
    if (!batch(programs)) break;
    std::fflush(c_.log);
  }
  return totals_;
}

}  // namespace

Totals run(const Campaign& campaign) {
  // What is compiled once and never again stays out of the cache: in /dev/null there can be none.
  if (campaign.last - campaign.first >= kCached) setenv("GEXP_CACHE", "/dev/null", 1);
  auto compiler = jit::Compiler::open();
  if (!compiler) {
    fmt::print(campaign.log, "{}\n", compiler.error().message);
    Totals totals;
    totals.broken = true;
    return totals;
  }
  fmt::print(campaign.log, "NVRTC {}; seeds {} to {}, blocks of up to {} threads, grids of up to {} blocks\n", compiler->build(), campaign.first,
             campaign.last, campaign.limits.block, campaign.limits.grid);
  return Runner(campaign, std::move(*compiler)).run();
}

bool parse_seeds(const char* text, Campaign& campaign) {
  const char* const end = text + std::strlen(text);
  const auto first = std::from_chars(text, end, campaign.first);
  if (first.ec != std::errc()) return false;
  campaign.last = campaign.first;
  if (first.ptr == end) return true;
  if (!std::string_view(first.ptr).starts_with("..")) return false;
  const auto last = std::from_chars(first.ptr + 2, end, campaign.last);
  return last.ec == std::errc() && last.ptr == end && campaign.first <= campaign.last;
}

int parse_option(const char* option, const char* value, Campaign& campaign) {
  const std::string_view name = option;
  if (name == "--walks") return campaign.limits.walks = true, 1;
  if (name == "--soft-l1") return campaign.soft_l1 = true, 1;
  if (!value) return 0;
  if (name == "--seeds") return parse_seeds(value, campaign) ? 2 : 0;
  std::uint32_t* const limit = name == "--block" ? &campaign.limits.block : name == "--grid" ? &campaign.limits.grid : nullptr;
  if (!limit) return 0;
  const auto parsed = std::from_chars(value, value + std::strlen(value), *limit);
  return parsed.ec == std::errc() && *limit <= 512 && std::has_single_bit(*limit) ? 2 : 0;
}

void report(const Totals& totals, std::FILE* log) {
  fmt::print(log, "{} kernels, {} threads, {} values compared: {} kernels differ ({} values), {} fault, {} are refused{}\n", totals.kernels, totals.threads,
             totals.values, totals.differ, totals.different_values, totals.fault, totals.refused, totals.broken ? "; not all ran" : "");
  if (totals.cached > 0) fmt::print(log, "{} kernels with a software cache, in {} loops; {} go wrong in the same way without it\n", totals.cached, totals.slices, totals.without_too);
  if (totals.corrected > 0) {
    fmt::print(log, "{} instructions put right: this NVRTC reads past the sign of a shifted 64-bit number (tests/differential/compiler_faults.h)\n", totals.corrected);
  }
}

}  // namespace gexp::differential
