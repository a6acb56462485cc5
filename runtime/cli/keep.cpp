// SPDX-License-Identifier: Apache-2.0
#include "runtime/cli/keep.h"

#include <fmt/format.h>

#include "runtime/cli/saved.h"
#include "runtime/cli/toolchain.h"

namespace gexp::cli {
namespace {

using Keeping = std::unique_ptr<store::Recording>;

Result<Keeping> begin(const Common& common, const result::RunResult& head, measure::Progress& progress) {
  auto opened_store = store::Store::open(store_path(common.store), store::Store::Mode::Create);
  if (!opened_store) return opened_store.error();
  if (common.resume) {
    auto before = opened_store->take_over(store::fingerprint(head));
    if (!before) return before.error();
    if (*before) {
      progress.notice(fmt::format("going on with run {} of {}", (*before)->id, (*before)->date));
      return opened_store->go_on(**before);
    }
    progress.notice(fmt::format("no run of `{}` with this spec, settings, seed, device and toolchain was broken off: it begins anew", head.experiment));
  }
  return opened_store->begin(head, model_here(head.device));
}

}  // namespace

Result<Keeping> keep_run(const Common& common, const result::RunResult& head, measure::Progress& progress) {
  if (common.store == kNoStore) {
    if (common.resume) return failure("E0914", "--resume needs a store", "leave out --store none");
    return Keeping();
  }
  auto kept = begin(common, head, progress);
  if (kept || !common.store.empty() || common.resume) return kept;
  progress.notice(fmt::format("the result will not be kept: {}", kept.error().message));
  return Keeping();
}

std::unique_ptr<measure::KeptStages> kept_stages(const Common& common, std::int64_t own) {
  if (common.fresh || common.store == kNoStore) return nullptr;
  const auto path = store_path(common.store);
  if (!store::is_database(path)) return nullptr;
  auto opened_store = store::Store::open(path, store::Store::Mode::Read);
  if (!opened_store) return nullptr;  // keeping the run says why; measuring is always right
  auto kept = opened_store->kept_stages(own);
  return kept ? std::move(*kept) : nullptr;
}

std::optional<measure::Foreseen> foresee(const Common& common, const compiler::Program& program, const result::RunResult& head) {
  const auto kept = kept_stages(common);
  if (!kept) return std::nullopt;
  auto foreseen = measure::foresee(program, *kept, head, toolchain(common.templates));
  return foreseen ? std::optional(std::move(*foreseen)) : std::nullopt;  // a mistake in the file is told elsewhere
}

int end_keeping(store::Recording& recording, const Common& common, const result::RunResult& result, bool failed, measure::Progress& progress) {
  const auto path = store_path(common.store);
  if (auto done = recording.finish(result, failed); !done) {
    print(done.error(), nullptr);
    if (common.out.empty()) rescue(result);
    return kEnvironment;
  }
  progress.notice(fmt::format("kept as result {} in {}", recording.id(), path));
  return kDone;
}

}  // namespace gexp::cli
