// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>
#include <vector>

#include "runtime/device/qlru.h"
#include "runtime/sim/random.h"
#include "runtime/sim/sim.h"

// Devices that nobody built: what `gexp verify` asks an experiment to recover. Everything that an experiment could be fooled by
// is drawn: sizes that are no power of two, unequal sets, set functions and policies of every kind, an L1 before or behind
// translation, latencies near one another or far apart, prefetchers, page windows. The ranges are wider than any GPU's and
// end where an experiment would take minutes: a first cache has at most 64 KiB and 1024 lines, TLBs reach at most
// 256 MiB. A line of a large random set misses too rarely to show its set soon, and a page that an earlier kernel left in a random
// TLB takes long to go: random sets have at most 64 ways, in TLBs 16.
namespace gexp::sim {
namespace {

enum class Noise { None, Real, Harsh };

class Drawing {
 public:
  Drawing(std::string name, std::uint64_t number, Noise noise, bool wide)
      : random_(mix(number) ^ 0xd1ce ^ (wide ? 0x31de : 0)), ages_(mix(number) ^ 0xa9e5), more_(mix(number) ^ 0x0dd5), constants_(mix(number) ^ 0xc057), name_(std::move(name)), noise_(noise), wide_(wide) {}

  std::string text() {
    device();
    caches();
    tlbs();
    paths();
    rest();
    constants();
    return std::move(out_);
  }

 private:
  struct Sets {
    std::string text;           ///< the keys `sets`, `ways`, and how an address chooses one
    std::uint32_t lines = 0;
    std::uint32_t ways = 0;     ///< of each set; 0 when they differ
  };

  /// What the second family alone has: the first draws nothing for it, so that its devices stay what they are.
  bool odd(double share) { return wide_ && chance(share); }
  /// The same from a stream of its own, for what came later.
  bool strange(double share) { return wide_ && more_.unit() < share; }
  template <class T> T strange_one(std::initializer_list<T> all) { return all.begin()[more_.below(static_cast<std::uint32_t>(all.size()))]; }
  bool chance(double share) { return random_.unit() < share; }
  std::uint32_t between(std::uint32_t low, std::uint32_t high) { return low + random_.below(high - low + 1); }
  template <class T> T one_of(std::initializer_list<T> all) { return all.begin()[random_.below(static_cast<std::uint32_t>(all.size()))]; }
  /// Whole, evenly on a logarithmic scale.
  std::uint32_t spread(double low, double high) { return static_cast<std::uint32_t>(std::lround(low * std::pow(high / low, random_.unit()))); }
  template <class... T> void line(fmt::format_string<T...> format, T&&... values) { out_ += fmt::format(format, std::forward<T>(values)...) + "\n"; }
  void table(const std::string& name) { line("\n[{}]\nassumed = \"drawn\"", name); }

  /// Between `least` and `most` lines of `unit` bytes in sets of some kind. What fits must fill the sets evenly, as it does on any
  /// device of which papers speak of a capacity.
  Sets sets(std::uint32_t unit, std::uint32_t least, std::uint32_t most, std::uint32_t most_sets) {
    const int low = std::countr_zero(unit);
    for (;;) {
      const double kind = random_.unit();
      Sets made;
      std::uint32_t number = 1;
      std::vector<std::uint32_t> ways;
      if (kind < 0.2) {
        ways = {spread(least, std::min(most, 256u))};
        made.text = fmt::format("sets = 1\nways = {}", ways[0]);
      } else if (kind < 0.45) {  // bits, the lowest or higher ones
        const auto bits = between(1, static_cast<std::uint32_t>(std::bit_width(most_sets) - 1));
        const auto shift = chance(0.5) ? 0u : between(1, 2);
        number = 1u << bits;
        ways.assign(number, (1u << shift) * spread(1, std::max(1.0, static_cast<double>(most) / (number << shift))));
        std::vector<int> chosen;
        for (std::uint32_t i = 0; i < bits; ++i) chosen.push_back(low + static_cast<int>(shift + i));
        made.text = fmt::format("sets = {}\nways = {}\nbits = [{}]", number, ways[0], fmt::join(chosen, ", "));
      } else if (kind < 0.6) {  // exclusive ors of a low and a high bit of what fits
        const auto bits = between(1, static_cast<std::uint32_t>(std::bit_width(most_sets) - 1));
        number = 1u << bits;
        const auto more = between(1, 5);  // ways are a power of two, so that the high bits are within what fits
        ways.assign(number, 1u << more);
        std::vector<std::string> groups;
        for (std::uint32_t i = 0; i < bits; ++i) {
          const auto own = low + static_cast<int>(i), other = low + static_cast<int>(bits + random_.below(more));
          // A bit beyond what would fit: lines in a row reach half of the sets, and fill those unevenly.
          if (i == 0 && odd(0.2)) groups.push_back(fmt::format("[{}]", low + static_cast<int>(bits + more)));
          else groups.push_back(chance(0.8) ? fmt::format("[{}, {}]", own, other) : fmt::format("[{}]", own));
        }
        made.text = fmt::format("sets = {}\nways = {}\nxor = [{}]", number, ways[0], fmt::join(groups, ", "));
      } else if (kind < 0.8) {
        number = between(2, most_sets);
        ways.assign(number, spread(1, std::max(1.0, static_cast<double>(most) / number)));
        made.text = fmt::format("sets = {}\nways = {}\nindex = \"modulo\"", number, ways[0]);
        if (const auto block = strange_one({2u, 4u}); ways[0] % block == 0 && strange(0.3)) made.text += fmt::format("\nblock = {}", block * unit);
      } else if (kind < 0.9) {  // unequal
        number = between(2, std::min(8u, most_sets));
        const auto usual = between(2, 16);
        ways.assign(number, usual);
        for (auto& each : ways) {
          if (chance(0.3)) each = between(1, 2 * usual + 1);
        }
        std::sort(ways.rbegin(), ways.rend());
        made.text = fmt::format("sets = [{}]\nindex = \"dealt\"", fmt::join(ways, ", "));
      } else {
        number = 1u << between(1, std::min(4u, static_cast<std::uint32_t>(std::bit_width(most_sets) - 1)));  // so that an array begins with a whole group of blocks
        const auto block = one_of({1u, 2u, 4u});
        ways.assign(number, block * spread(1, std::max(1.0, static_cast<double>(most) / (number * block))));
        made.text = fmt::format("sets = {}\nways = {}\nindex = \"{}\"\nblock = {}", number, ways[0], strange(0.3) ? "hashed" : "scattered", block * unit);
      }
      for (const auto each : ways) made.lines += each;
      made.ways = std::all_of(ways.begin(), ways.end(), [&](auto each) { return each == ways[0]; }) ? ways[0] : 0;
      if (made.lines >= least && made.lines <= most) return made;
    }
  }

  std::string policy(std::uint32_t ways, std::uint32_t most_random) {
    for (;;) {
      const double kind = random_.unit();
      if (kind < 0.35) return "lru";
      if (kind < 0.5) return "fifo";
      if (kind < 0.65) return "nru";
      if (kind < 0.8) {
        if (ways > 0 && ways <= 64 && std::has_single_bit(ways)) return "plru";
      } else if (kind < 0.92) {
        if (ways > 0 && ways <= most_random) return "random";
      } else if (ways >= 2 && ways <= 16) {
        return "weighted";
      }
    }
  }

  void replacement(std::uint32_t ways, std::uint32_t most_random) {
    const auto chosen = policy(ways, most_random);
    std::vector<std::uint32_t> weights;
    for (std::uint32_t i = 0; chosen == "weighted" && i < ways; ++i) weights.push_back(between(1, 4));
    if (const auto other = no_candidate(ways); !other.empty()) return line("replacement = {}", other);
    if (const auto aged = quad_age(ways); !aged.empty()) return line("replacement = \"{}\"", aged);
    line("replacement = \"{}\"", chosen);
    if (weights.empty()) return;
    weights[0] = 2 * *std::max_element(weights.begin(), weights.end());
    line("weights = [{}]", fmt::join(weights, ", "));
  }

  /// On wide devices: a policy that no analysis knows.
  std::string no_candidate(std::uint32_t ways) {
    if (ways < 2 || !strange(0.2)) return "";
    const auto ages = strange_one({3u, 6u, 8u, 16u});
    return strange_one({std::string("\"lip\""), std::string("\"nrf\""), fmt::format("\"bip\"\npromoted = \"1/{}\"", strange_one({8u, 16u, 32u})),
                        fmt::format("\"rrip\"\nages = {}\ninsert = {}", ages, ages - strange_one({1u, 2u}))});
  }

  /// One in ten follows a QLRU variant, drawn from a stream of its own so that the other nine are what they were before there were any.
  /// Not m3, nor what keeps lines for good: what comes in is then the next to go, and one way is replaced over and over.
  std::string quad_age(std::uint32_t ways) {
    const bool drawn = ages_.unit() < 0.1;
    const auto& all = qlru_variants();
    const auto variant = all[ages_.below(static_cast<std::uint32_t>(all.size()))];
    return drawn && ways > 1 && variant.insert < 3 ? variant.name() : "";
  }

  void device() {
    sms_ = between(1, 4);
    hit_ = spread(20, 150), level2_ = hit_ + spread(20, 250);
    l2_bytes_ = one_of({512u, 768u, 1024u, 1536u, 2048u, 3072u}) << 10;
    if (odd(0.25)) level2_ = hit_ + between(3, 8);
    if (odd(0.25)) l2_bytes_ = one_of({8u, 32u, 128u, 256u}) << 10;
    line("format = 1\nname = \"{}\"\ntitle = \"A device that chance made\"\nseed = {}", name_, random_.below(1u << 30));
    table("device");
    if (strange(0.15)) line("frames = \"{} KiB\"", strange_one({4, 64, 64}));
    line("compute = [7, 0]\nsms = {}\nsm_clock = \"{} MHz\"\nmemory_clock = \"{} MHz\"\nmemory = \"16 GiB\"\nl2 = {}\ndefault_path = \"ca\"", sms_, between(600, 2000),
         between(800, 3000), l2_bytes_);
    table("pipeline");
    const auto clock = between(4, 20), usual = between(4, clock), alu = odd(0.25) ? between(21, 60) : usual;
    line("schedulers = {}\nclock = {}\nissue = {}\nalu = {}\nmultiply = {}\ndivide = {}\nconstant = {}\ntransaction = {}\nload_units = {}\nbarrier = {}\nlocal = {}", between(1, 4), clock, between(1, 2), alu,
         alu, between(40, 200), between(6, 30), between(1, 2), between(1, 4), between(10, 40), between(30, 100));
    table("limits");
    line("threads_per_block = 1024\nthreads_per_sm = 2048\nblocks_per_sm = 16\nregisters_per_sm = 65536");
    table("outstanding");
    const auto kind = one_of({"mshr", "prt", "unlimited"});
    line("kind = \"{}\"", kind);
    if (*kind == 'm') line("entries = {}\nmerges = {}", spread(24, 256), between(1, 16));
    if (*kind == 'm' && strange(0.3)) line("lines = {}", strange_one({2, 4}));
    if (*kind == 'p') line("entries = {}", between(24, 64));
    line("loads_per_warp = {}", between(2, 8));
  }

  /// A cache of an SM. Its line may have sectors.
  void first_cache(const std::string& name) {
    table("caches." + name);
    const auto unit = one_of({32u, 64u, 128u, 128u});
    const auto made = sets(unit, std::max(16u, 2048 / unit), std::min(1024u, 65536 / unit), 64);
    line("capacity = {}\nline = {}", made.lines * unit, unit);
    bool sectors = odd(0.25);
    if (sectors) line("sector = 16");
    else if (unit > 32 && chance(0.6)) line("sector = 32"), sectors = true;
    line("{}\nscope = \"sm\"", made.text);
    replacement(made.ways, 64);
    if (name == "l1" && !sectors && strange(0.5)) victims(unit, made.lines);
  }

  /// A small cache of what the first one evicts, or a second level that has nothing that the first one has.
  void victims(std::uint32_t unit, std::uint32_t lines) {
    victims_ = true;
    table("caches.v");
    const auto own = strange_one({4u, 8u, 16u, lines, 2 * lines});
    line("capacity = {}\nline = {}\nsets = 1\nways = {}\nreplacement = \"{}\"\nholds = \"victims\"\nscope = \"sm\"", own * unit, unit, own, strange_one({"lru", "fifo", "random"}));
  }

  void caches() {
    first_cache("l1");
    first_cache("readonly");
    table("caches.l2");
    const auto unit = one_of({32u, 64u, 128u}), usual = one_of({8u, 16u, 16u, 24u}), ways = odd(0.2) ? 1 : usual;
    const auto lines = l2_bytes_ / unit / ways * ways;
    line("capacity = {}\nline = {}\nsector = 32\nsets = {}\nways = {}\nscope = \"device\"", lines * unit, unit, lines / ways, ways);
    if (chance(0.5)) line("index = \"scattered\"\nblock = {}", unit);
    else line("index = \"modulo\"");
    const auto* const policy_of_l2 = one_of({"lru", "random", "nru"});
    line("replacement = \"{}\"", odd(0.3) ? "fifo" : policy_of_l2);
    const auto slices = one_of({8u, 16u, 32u}), partitions = one_of({1u, 1u, 2u}), far = static_cast<std::uint32_t>((0.05 + 0.08 * random_.unit()) * level2_), near = static_cast<std::uint32_t>(0.1 * random_.unit() * level2_);
    if (noise_ != Noise::None) {  // near and far slices are no noise, but none of what an experiment with one answer is about
      line("slices = {}\npartitions = {}\nspread = {}", slices, sms_ % partitions == 0 ? partitions : 1, near);
      if (partitions > 1 && sms_ % partitions == 0) line("far = {}", far);
    }
    if (chance(0.4)) line("prefetch = {}", static_cast<std::uint32_t>(l2_bytes_ * (0.1 + 0.6 * random_.unit())) / unit * unit);
  }

  /// A third TLB, behind two: near the second's reach, or far beyond it.
  void third_tlb(std::uint32_t page, std::uint32_t entries) {
    table("tlbs.t3");
    const auto more = entries + between(1, 2 * entries);
    line("reach = {}\npage = {}\nsets = 1\nways = {}\nreplacement = \"lru\"", std::uint64_t{more} * page, page, more);
  }

  void tlbs() {
    const auto usual = one_of({512u, 1024u, 2048u, 2048u, 4096u}) << 10;
    const auto page = odd(0.3) ? one_of({4u, 64u}) << 10 : usual;
    const auto most = std::min(1024u, (256u << 20) / page);  // pages of the second one's reach
    for (const bool second : {false, true}) {
      table(second ? "tlbs.t2" : "tlbs.t1");
      const bool meets = !second && strange(0.2);
      auto made = second ? sets(page, 2 * entries_, std::max(most, 4 * entries_), 8) : sets(page, 8, std::min(48u, most / 3), 8);
      // The first TLB ends where the L2 does.
      if (const auto entries = l2_bytes_ / page; meets && entries >= 8 && entries <= 48) made = {fmt::format("sets = 1\nways = {}", entries), entries, entries};
      if (!second) entries_ = made.lines;
      line("reach = {}\npage = {}\n{}", std::uint64_t{made.lines} * page, page, made.text);
      replacement(made.ways, 16);
      if (second && odd(0.3)) third_ = true, third_tlb(page, made.lines);
    }
    windows_ = chance(0.25);
    if (!windows_) return;
    table("window");
    line("size = \"{} MiB\"", one_of({512, 1024}));
  }

  void path(const std::string& name, const std::string& first, double hit, double level2, double memory) {
    table("paths." + name);
    const bool cached = !first.empty(), before_translation = cached && virtual_;
    const bool victims = victims_ && first == "l1";
    line("caches = [{}{}\"l2\"]\ntlbs = [\"t1\", \"t2\"{}]", cached ? fmt::format("\"{}\", ", first) : "", victims ? "\"v\", " : "", third_ ? ", \"t3\"" : "");
    if (before_translation) line("virtual = [\"{}\"{}]", first, victims ? ", \"v\"" : "");
    const auto third = [&](double base) { return third_ ? fmt::format(", t3 = {}", base + (t2_ + walk_) / 2) : ""; };
    const auto row = [&](const std::string& key, double base) {
      line("latency.{} = {{ t1 = {}, t2 = {}{}, walk = {}{} }}", key, base, base + t2_, third(base), base + walk_, windows_ ? fmt::format(", switch = {}", base + walk_ + switch_) : "");
    };
    const double of_victims = hit + std::max(3.0, std::floor((level2 - hit) / 3));
    if (before_translation) line("latency.{} = {}", first, hit);
    else if (cached) row(first, hit);
    if (victims && before_translation) line("latency.v = {}", of_victims);
    else if (victims) row("v", of_victims);
    row("l2", level2);
    row("memory", memory);
  }

  void paths() {
    virtual_ = chance(0.5);
    const double hit = hit_, level2 = level2_, memory = level2 + spread(60, 400);
    t2_ = spread(std::max(6.0, 0.04 * level2), 100);  // less cannot be told from one slice being nearer than another
    if (odd(0.25)) t2_ = between(3, 8);
    walk_ = t2_ + spread(30, 1200);
    switch_ = spread(100, 400);
    path("ca", "l1", hit, level2, memory);
    const double hit_nc = spread(25, 150), more = spread(15, 200);
    path("nc", "readonly", hit_nc, hit_nc + more, hit_nc + more + memory - level2);
    path("cg", "", 0, level2, memory);
    for (const char* other : {"cv", "texture"}) {
      table(fmt::format("paths.{}", other));
      line("same_as = \"{}\"", *other == 'c' ? "cg" : "nc");
    }
  }

  void rest() {
    table("stores");
    line("caches = [\"l2\"]\ntlbs = [\"t1\", \"t2\"]");
    table("shared");
    const auto width = chance(0.7) ? 4 : 8;
    const auto banks = one_of({16u, 32u, 32u});
    line("per_sm = \"64 KiB\"\nper_block = \"48 KiB\"\nbanks = {}\nbank = {}\nmodes = [{}]\ndefault_mode = {}", banks, width, width == 8 && chance(0.5) ? "4, 8" : std::to_string(width), width);
    std::vector<std::uint32_t> ways, cycles;
    double cost = between(20, 50);
    const double step = between(2, 40);
    for (std::uint32_t degree = 1; degree <= 32; degree *= 2) {
      ways.push_back(degree);
      cycles.push_back(static_cast<std::uint32_t>(cost));
      cost += step * degree * (chance(0.3) ? 1.2 : 1);
    }
    line("ways = [{}]\ncycles = [{}]", fmt::join(ways, ", "), fmt::join(cycles, ", "));
    if (noise_ == Noise::None) return;
    table("noise");
    const double jitter = std::min(0.5 + 3.5 * random_.unit(), t2_ / 6);  // what a GPU's noise hides, no experiment finds
    line("jitter = {:.3f}\ninterference = {:.7f}\ntail_probability = {:.4f}\ntail = {}", jitter, 1e-5 * random_.unit(), odd(0.15) ? 0.5 : 0.02 * random_.unit(),
         between(50, 500));
    // On an H200 an SM's own hits take the same number of cycles to the last one, L2 hits at one address scatter by 2.5 cycles
    // (standard deviation), and what memory answers by about 100, with a tail of one in fifty.
    if (noise_ == Noise::Real) line("sm_jitter = 0\nmemory_jitter = {:.0f}\ntail_of = \"memory\"", jitter * between(5, 40));
  }

  /// Two caches of constant memory, drawn last and from a stream of their own: what came before there were any is what it was.
  void constants() {
    std::swap(random_, constants_);
    table("caches.k1");
    const auto unit = one_of({32u, 64u, 64u}), lines = between(16, 128);
    Sets first;
    do first = sets(unit, std::max(16u, lines / 2), lines, 16);
    while (first.text.find("block") != std::string::npos);  // constants begin within a group of blocks
    line("capacity = {}\nline = {}\n{}\nscope = \"sm\"", first.lines * unit, unit, first.text);
    replacement(first.ways, 16);
    table("caches.k2");
    const auto larger = unit * one_of({1u, 2u, 4u}), more = std::max(32u, 4 * first.lines * unit / larger);
    const auto second = sets(larger, more, 2 * more, 16);
    line("capacity = {}\nline = {}\n{}\nscope = \"device\"", second.lines * larger, larger, second.text);
    replacement(second.ways, 16);
    table("paths.constant");
    const auto hit = spread(8, 60), second_hit = hit + spread(15, 150);
    line("caches = [\"k1\", \"k2\"]\ntlbs = []\nlatency.k1 = {}\nlatency.k2 = {}\nlatency.memory = {}", hit, second_hit, second_hit + spread(40, 300));
    std::swap(random_, constants_);
  }

  Random random_, ages_, more_;  // ages_: of QLRU alone; more_: of what wide devices have from `strange` on
  Random constants_;
  std::string name_;
  Noise noise_;
  bool wide_, third_ = false, victims_ = false;
  std::string out_;
  std::uint32_t l2_bytes_ = 0, entries_ = 0, sms_ = 1;
  bool windows_ = false, virtual_ = false;
  double hit_ = 0, level2_ = 0, t2_ = 0, walk_ = 0, switch_ = 0;
};

}  // namespace

std::optional<Source> drawn_device(const std::string& name) {
  std::string_view rest = name;
  if (!rest.starts_with("drawn-")) return std::nullopt;
  rest.remove_prefix(6);
  const bool wide = rest.starts_with("wide-");
  if (wide) rest.remove_prefix(5);
  auto noise = Noise::None;
  for (const auto& [suffix, kind] : {std::pair{std::string_view("-noisy"), Noise::Real}, std::pair{std::string_view("-harsh"), Noise::Harsh}}) {
    if (!rest.ends_with(suffix)) continue;
    rest.remove_suffix(suffix.size());
    noise = kind;
  }
  if (rest.empty() || rest.size() > 12 || !std::all_of(rest.begin(), rest.end(), [](char c) { return c >= '0' && c <= '9'; })) return std::nullopt;
  return Source(name, Drawing(name, std::stoull(std::string(rest)), noise, wide).text());
}

}  // namespace gexp::sim
