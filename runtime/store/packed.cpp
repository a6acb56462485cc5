// SPDX-License-Identifier: Apache-2.0
#include "runtime/store/packed.h"

#include <fmt/format.h>
#include <zstd.h>

#include <bit>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>

#include "runtime/result/checked_json.h"
#include "runtime/result/result_json.h"

namespace gexp::store {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr int kLevel = 1;                               // ticks repeat: higher levels gain little
// A block of 4 bytes at least unfolds to 128 KiB at most (RFC 8878, section 3.1.1.2): what claims more is no frame of ours.
constexpr std::uint64_t kMostOfBlock = std::uint64_t{128} << 10, kLeastBlock = 4;

Diagnostic damaged(const std::string& where, const std::string& what) { return failure("E0912", fmt::format("{} is damaged: {}", where, what), "the other results of the store are not touched by it"); }

}  // namespace

std::string packed(std::string_view bytes) {
  const std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context(ZSTD_createCCtx(), ZSTD_freeCCtx);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, kLevel);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1);
  std::string out(ZSTD_compressBound(bytes.size()), '\0');
  const auto size = ZSTD_compress2(context.get(), out.data(), out.size(), bytes.data(), bytes.size());
  GEXP_CHECK(!ZSTD_isError(size));
  out.resize(size);
  return out;
}

Result<std::string> unpacked(std::string_view bytes, const std::string& where, result::ReadBudget& budget) {
  const auto size = ZSTD_getFrameContentSize(bytes.data(), bytes.size());
  if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN || size > bytes.size() / kLeastBlock * kMostOfBlock) return damaged(where, "no compressed data");
  if (!budget.take(size)) return result::too_large(where, budget);
  std::string out(size, '\0');
  const auto got = ZSTD_decompress(out.data(), out.size(), bytes.data(), bytes.size());
  if (ZSTD_isError(got)) return damaged(where, ZSTD_getErrorName(got));
  if (got != size) return damaged(where, "it is cut short");
  return out;
}

std::string pack_round(const measure::Round& round) {
  auto kernels = nlohmann::json::array();
  for (const auto& kernel : round.kernels) kernels.push_back({kernel.file, kernel.key});
  auto runs = nlohmann::json::array();
  std::size_t ticks = 0;
  for (const auto& run : round.point.runs) {
    nlohmann::json coded = {{"ticks", run.ticks.size()}, {"windows", run.windows}, {"elapsed", run.elapsed}};
    if (!run.sms.empty()) coded["sms"] = run.sms, coded["begins"] = run.begins, coded["ends"] = run.ends;
    runs.push_back(std::move(coded));
    ticks += run.ticks.size();
  }
  std::vector<std::string> columns;
  for (const auto& coordinate : round.at) columns.push_back(coordinate.first);
  const auto head = nlohmann::json{{"point", result::point_to_json(round.point, columns)}, {"kernels", kernels}, {"runs", runs}}.dump();
  const auto head_size = static_cast<std::uint32_t>(head.size());
  std::string bytes(sizeof head_size + head.size() + 4 * ticks, '\0');
  char* to = bytes.data();
  const auto put = [&](const void* from, std::size_t size) {
    if (size) std::memcpy(to, from, size);
    to += size;
  };
  put(&head_size, sizeof head_size);
  put(head.data(), head.size());
  for (const auto& run : round.point.runs) put(run.ticks.data(), 4 * run.ticks.size());
  return packed(bytes);
}

Result<measure::Round> unpack_round(std::string_view packed_bytes, const std::string& where, result::ReadBudget& budget) {
  auto bytes = unpacked(packed_bytes, where, budget);
  if (!bytes) return bytes.error();
  std::uint32_t head_size = 0;
  if (bytes->size() < sizeof head_size) return damaged(where, "it is cut short");
  std::memcpy(&head_size, bytes->data(), sizeof head_size);
  if (head_size > bytes->size() - sizeof head_size) return damaged(where, "it is cut short");
  const auto tree = result::parse_json(bytes->substr(sizeof head_size, head_size), where);
  if (!tree) return damaged(where, tree.error().message);
  try {
    const result::CheckedJson head(*tree);
    measure::Round round;
    auto point = result::point_from_json(head.at("point").text(head_size), where, budget);
    if (!point) return point.error();
    round.point = std::move(*point);
    round.point.runs.clear();
    const char* from = bytes->data() + sizeof head_size + head_size;
    const char* const end = bytes->data() + bytes->size();
    const auto runs = head.at("runs");
    for (std::size_t i = 0; i < runs.list().size(); ++i) {
      const auto run = runs.item(i);
      const auto ticks = run.at("ticks").natural(static_cast<std::uint64_t>(end - from) / 4);
      if (!budget.take(ticks * result::kBytesATick)) return result::too_large(where, budget);
      records::Run read;
      read.ticks.resize(ticks);
      if (ticks) std::memcpy(read.ticks.data(), from, 4 * ticks);
      from += 4 * ticks;
      result::read_run_head(run, read);
      round.point.runs.push_back(std::move(read));
    }
    const auto kernels = head.at("kernels");
    for (std::size_t i = 0; i < kernels.list().size(); ++i) round.kernels.push_back({kernels.item(i).list(2).item(0).line(), kernels.item(i).item(1).line(), false, 0, nullptr});
    return round;
  } catch (const result::BadShape& problem) {
    return damaged(where, problem.what);
  }
}

}  // namespace gexp::store
