// SPDX-License-Identifier: Apache-2.0
#include "runtime/store/packed.h"

#include <fmt/format.h>
#include <zstd.h>

#include <bit>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>

#include "runtime/result/result_json.h"

namespace gexp::store {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr int kLevel = 1;                               // ticks repeat: higher levels gain little
constexpr std::uint64_t kMostBytes = std::uint64_t{16} << 30;

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

Result<std::string> unpacked(std::string_view bytes, const std::string& where) {
  const auto size = ZSTD_getFrameContentSize(bytes.data(), bytes.size());
  if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN || size > kMostBytes) return damaged(where, "no compressed data");
  std::string out(size, '\0');
  const auto got = ZSTD_decompress(out.data(), out.size(), bytes.data(), bytes.size());
  if (ZSTD_isError(got)) return damaged(where, ZSTD_getErrorName(got));
  return out;
}

std::string pack_round(const measure::Round& round) {
  auto kernels = nlohmann::json::array();
  for (const auto& kernel : round.kernels) kernels.push_back({kernel.file, kernel.key});
  auto runs = nlohmann::json::array();
  std::size_t ticks = 0;
  for (const auto& run : round.point.runs) {
    runs.push_back({{"ticks", run.ticks.size()}, {"windows", run.windows}, {"elapsed", run.elapsed}});
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

Result<measure::Round> unpack_round(std::string_view packed_bytes, const std::string& where) {
  auto bytes = unpacked(packed_bytes, where);
  if (!bytes) return bytes.error();
  std::uint32_t head_size = 0;
  if (bytes->size() < sizeof head_size) return damaged(where, "it is cut short");
  std::memcpy(&head_size, bytes->data(), sizeof head_size);
  if (head_size > bytes->size() - sizeof head_size) return damaged(where, "it is cut short");
  try {
    const auto head = nlohmann::json::parse(bytes->substr(sizeof head_size, head_size));
    measure::Round round;
    auto point = result::point_from_json(head.at("point").get<std::string>(), where);
    if (!point) return point.error();
    round.point = std::move(*point);
    round.point.runs.clear();
    const char* from = bytes->data() + sizeof head_size + head_size;
    const char* const end = bytes->data() + bytes->size();
    for (const auto& run : head.at("runs")) {
      const auto ticks = run.at("ticks").get<std::size_t>();
      if (ticks > static_cast<std::size_t>(end - from) / 4) return damaged(where, "it is cut short");
      records::Run read{std::vector<std::uint32_t>(ticks), run.at("windows").get<std::vector<std::uint32_t>>(), run.at("elapsed").get<double>()};
      if (ticks) std::memcpy(read.ticks.data(), from, 4 * ticks);
      from += 4 * ticks;
      round.point.runs.push_back(std::move(read));
    }
    for (const auto& kernel : head.at("kernels")) round.kernels.push_back({kernel.at(0).get<std::string>(), kernel.at(1).get<std::string>(), false, 0, nullptr});
    return round;
  } catch (const nlohmann::json::exception& problem) {
    return damaged(where, problem.what());
  }
}

}  // namespace gexp::store
