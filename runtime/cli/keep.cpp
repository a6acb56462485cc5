// SPDX-License-Identifier: Apache-2.0
#include "runtime/cli/keep.h"

#include <fmt/format.h>
#include <unistd.h>

#include "runtime/cli/saved.h"
#include "runtime/sim/sim.h"

namespace gexp::cli {
namespace {

using Keeping = std::unique_ptr<store::Recording>;

Result<Keeping> begin(const Opened& opened, const Common& common, const runtime::RunResult& head, runtime::Progress& progress) {
  auto opened_store = store::Store::open(store_path(common.store), store::Store::Mode::Create);
  if (!opened_store) return opened_store.error();
  if (common.resume) {
    auto before = opened_store->take_over(store::fingerprint(head));
    if (!before) return before.error();
    if (*before) {
      progress.notice(fmt::format("going on with run {} of {}", (*before)->id, (*before)->date));
      return opened_store->go_on((*before)->id);
    }
    progress.notice(fmt::format("no run of `{}` with this spec, settings, seed, device and toolchain was broken off: it begins anew", head.experiment));
  }
  std::string model;
  if (opened.simulated()) {
    if (const auto text = sim::read_model(head.device.id.substr(std::string_view("sim:").size()))) model = text->text();
  }
  return opened_store->begin(head, model);
}

}  // namespace

Result<Keeping> keep_run(const Opened& opened, const Common& common, const runtime::RunResult& head, runtime::Progress& progress) {
  if (common.store == kNoStore) {
    if (common.resume) return failure("E0914", "--resume needs a store", "leave out --store none");
    return Keeping();
  }
  auto kept = begin(opened, common, head, progress);
  if (kept || !common.store.empty() || common.resume) return kept;
  progress.notice(fmt::format("the result will not be kept: {}", kept.error().message));
  return Keeping();
}

int end_keeping(store::Recording& recording, const Common& common, const runtime::RunResult& result, bool failed, runtime::Progress& progress) {
  const auto path = store_path(common.store);
  if (auto done = recording.finish(result, failed); !done) {
    print(done.error(), nullptr);
    const auto rescue = fmt::format("/tmp/gexp-{}-{}.json", result.experiment, getpid());
    if (common.out.empty() && write_file(rescue, runtime::to_json(result))) fmt::print(stderr, "the result was saved as {} instead\n", rescue);
    return kEnvironment;
  }
  progress.notice(fmt::format("kept as result {} in {}", recording.id(), path));
  return kDone;
}

}  // namespace gexp::cli
