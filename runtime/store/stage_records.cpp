// SPDX-License-Identifier: Apache-2.0
#include "runtime/store/stage_records.h"

#include <fmt/format.h>

#include <iterator>
#include <map>

#include "runtime/measure/point_log.h"
#include "runtime/result/point_table.h"
#include "runtime/result/result_json.h"
#include "runtime/store/packed.h"

namespace gexp::store {
namespace {

/// The rounds of a stage by place, in their order.
using Rounds = std::map<std::string, std::vector<measure::Round>>;

/// A stage that has ended says which points it has; of one that was broken off, all that was measured.
Result<> attach(result::StageResult& stage, Rounds rounds, const std::vector<std::string>& order,
                const std::string& place) {
  auto& points = stage.table.points;
  if (points.empty()) {
    for (const auto& each : order) {
      auto& point = points.emplace_back(rounds.at(each).back().point);
      for (const auto& column : stage.table.columns) {
        if (!point.at.contains(column))
          return failure("E0912", fmt::format("{} is damaged: a point lacks its column {}", place, column));
      }
      point.runs.clear();
      for (auto& round : rounds.at(each))
        std::move(round.point.runs.begin(), round.point.runs.end(), std::back_inserter(point.runs));
    }
    result::sort_points(stage.table);
    return Ok{};
  }
  for (auto& point : points) {
    std::vector<records::Run> runs;
    if (const auto found = rounds.find(result::place_to_json(result::coordinates(stage.table, point)));
        found != rounds.end()) {
      for (auto& round : found->second)
        std::move(round.point.runs.begin(), round.point.runs.end(), std::back_inserter(runs));
    }
    if (runs.size() != point.runs.size())
      return failure("E0912", fmt::format("{} is damaged: stage `{}` lacks records", place, stage.name));
    point.runs = std::move(runs);
  }
  return Ok{};
}

}  // namespace

std::string where(const Database& database, std::int64_t id) {
  return fmt::format("result {} of {}", id, database.path());
}

Result<> each(Result<Statement>& query, const std::function<Result<>(Statement&)>& take) {
  if (!query) return query.error();
  for (;;) {
    auto row = query->step();
    if (!row) return row.error();
    if (!*row) return Ok{};
    if (auto done = take(*query); !done) return done;
  }
}

Result<> read_records(Database& database, std::int64_t run, result::StageResult& stage, result::ReadBudget& budget,
                      std::vector<result::KernelRecord>* kernels) {
  const auto place = where(database, run);
  Rounds rounds;
  std::vector<std::string> order;
  auto query = database.prepare("SELECT place, data FROM rounds WHERE run = ? AND stage = ? ORDER BY first, id");
  if (!query) return query.error();
  query->bind(0, run).bind(1, stage.name);
  auto done = each(query, [&](Statement& one) -> Result<> {
    auto round = unpack_round(one.blob(1), place, budget);
    if (!round) return round.error();
    if (kernels) result::add_kernels(*kernels, round->kernels);
    auto& of_place = rounds[one.text(0)];
    if (of_place.empty()) order.push_back(one.text(0));
    of_place.push_back(std::move(*round));
    return Ok{};
  });
  return done ? attach(stage, std::move(rounds), order, place) : done;
}

}  // namespace gexp::store
