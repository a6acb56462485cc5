// SPDX-License-Identifier: Apache-2.0
#include "runtime/cli/saved.h"

#include <fmt/format.h>

#include "runtime/cli/app.h"
#include "runtime/cli/use.h"
#include "runtime/device_facts.h"
#include "runtime/session.h"

namespace gexp::cli {

Result<Saved> read_saved(const std::string& reference) {
  auto text = read_file(reference);
  if (!text) return text.error();
  auto result = runtime::from_json(*text, reference);
  if (!result) return result.error();
  int exit = kDone;
  auto loaded = compile_text(Source(result->spec_path, result->spec_text), result->settings, stored(result->used), exit);
  if (!loaded) return failure("E0904", fmt::format("the spec in {} does not compile", reference));
  loaded->program.device = runtime::device_facts(result->device);
  if (auto done = runtime::infer_again(loaded->program, *result); !done) return done.error();
  return Saved{std::move(loaded->program), std::move(*result)};
}

}  // namespace gexp::cli
