// SPDX-License-Identifier: Apache-2.0
#include "lang/statements.h"

namespace gexp::lang {
namespace {

constexpr std::uint8_t set_of(std::initializer_list<Level> levels) {
  std::uint8_t set = 0;
  for (const auto level : levels) set = static_cast<std::uint8_t>(set | static_cast<std::uint8_t>(level));
  return set;
}

constexpr auto kHead = set_of({Level::Head});
constexpr auto kFile = set_of({Level::File});
constexpr auto kStage = set_of({Level::Stage});
constexpr auto kBoth = set_of({Level::File, Level::Stage});
constexpr auto kBody = set_of({Level::Body});

constexpr auto kStatements = std::to_array<StatementForm>({
    {"gexp", kHead, "gexp 1 experiment NAME",
     "Says in which version of the language the file is written; it comes first"},
    {"experiment", kHead, "experiment NAME", "Names the experiment", {"doc"}},

    {"use", kFile, "use \"papers.gexp\" as p", "Takes params, lets and patterns from another file", {"as", "sha256"}},
    {"meta", kFile, "meta cite \"Mei17\"", "Keeps a fact about the file: its source, its author"},
    {"param",
     kFile,
     "param limit: B = 512KiB in 16KiB..4MiB",
     "Names a value that `--set` replaces; `in` limits it",
     {"in", "step", "times", "doc"}},
    {"budget", kFile, "budget time 60s memory 16MiB", "Limits the time and the memory of a run", {"time", "memory"}},
    {"seed", kFile, "seed 7", "Fixes the random parts of a simulated device"},
    {"memory",
     kFile,
     "memory A: u32[1MiB] in global",
     "Declares an array that the operations access",
     {"in", "page", "align"}},
    {"stage",
     kFile,
     "stage NAME { … }",
     "Holds one sweep, the kernel of its points, and what is asked of the records",
     {"doc"}},

    {"let", kBoth, "let half = limit / 2", "Gives the value of an expression a name"},
    {"pattern", kBoth, "pattern ring = uniform(stride: 32B, span: 4KiB)",
     "Names a sequence of byte offsets that a `chase` visits"},
    {"require",
     kBoth,
     "require half > 4KiB else \"too small\"",
     "States a precondition, and the message for when it does not hold",
     {"else"}},
    {"expect",
     kBoth,
     "expect capacity.C == 12KiB on gtx780 from \"Mei17\"",
     "Makes a claim about the findings, which is judged after the measurements",
     {"within", "where", "on", "from", "xfail"}},

    {"sweep",
     kStage,
     "sweep n in 1KiB..64KiB step 1KiB",
     "Makes an axis of points: the values that a name takes",
     {"in", "step", "times", "points", "log", "refine", "until"}},
    {"skip", kStage, "skip n > 1MiB why \"too large\"", "Leaves points out and counts them", {"why"}},
    {"launch",
     kStage,
     "launch grid 1 block 32",
     "Sets the shape in which the kernel is started, and where it runs",
     {"grid", "block", "cluster", "smem", "persm", "carveout", "bank", "place", "sm", "sms"}},
    {"flush", kStage, "flush l2", "Empties a cache before each launch"},
    {"warm",
     kStage,
     "warm { chase A by ring laps 2 }",
     "Runs before the timed region, to bring lines into caches",
     {"grid", "block"}},
    {"timed", kStage, "timed lat each { chase A by ring laps 2 }",
     "Times its operations; the times are the stage's record"},
    {"repeat",
     kStage,
     "repeat 3..20 until stable(misses(lat))",
     "Says how often each point is run, and when that is enough",
     {"until"}},
    {"record", kStage, "record lat raw", "Says how much of a record is kept"},
    {"derive", kStage, "derive per: cycles = median(lat) / 256", "Computes a value of each point from the record"},
    {"find",
     kStage,
     "find C: B = last_flat(misses(lat) over n)",
     "Asks the stage's records for an answer; below the confidence of `need` it is undetermined",
     {"need"}},
    {"plot", kStage, "plot median(lat) vs n log n", "Names a figure: what is drawn over what", {"vs", "by", "log"}},

    {"chase",
     kBody,
     "chase A by ring laps 2 via ca",
     "Loads along a pattern, each load after the one before: it measures latency",
     {"by", "laps", "steps", "as", "via"}},
    {"load",
     kBody,
     "load A at tid * 4B",
     "Loads once a thread, at an offset that the thread computes",
     {"at", "as", "via"}},
    {"store",
     kBody,
     "store A at tid * 4B",
     "Stores once a thread, at an offset that the thread computes",
     {"at", "as", "via"}},
    {"alu",
     kBody,
     "alu fma.f32 chain 64 ilp 2",
     "Runs chains of dependent instructions, `ilp` of them beside each other",
     {"chain", "ilp"}},
    {"barrier", kBody, "barrier", "Lets the threads of a block wait for each other"},
    {"branch", kBody, "branch tid < 16 { load A at tid * 4B }",
     "Runs its body in the threads for which a condition holds"},
    {"unroll", kBody, "unroll j in 0..3 { load A at j * 4B }", "Writes its body out, once for each value", {"in"}},
    {"loop",
     kBody,
     "loop j in 0..9 { load A at j * 4B }",
     "Runs its body again and again, in a loop that stays one in the kernel",
     {"in"}},
});

}  // namespace

std::span<const StatementForm> statement_forms() { return kStatements; }

const StatementForm* find_statement(std::string_view word) {
  const auto found = std::find_if(kStatements.begin(), kStatements.end(),
                                  [&](const StatementForm& each) { return each.word == word; });
  return found == kStatements.end() ? nullptr : &*found;
}

}  // namespace gexp::lang
