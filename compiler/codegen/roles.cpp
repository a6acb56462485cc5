// SPDX-License-Identifier: Apache-2.0
#include "compiler/codegen/roles.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "compiler/codegen/append.h"
#include "compiler/plan/calibrate.h"

// Every role has names of its own for what body.cu's parts read: they are declared where its text begins, so those parts are the same.
namespace gexp::compiler {
namespace {

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) text.replace(at, from.size(), to);
  return text;
}

/// ", u64 m_A, const u32* table0": a type and a name each.
std::vector<std::pair<std::string, std::string>> declared(const std::string& parameters) {
  std::vector<std::pair<std::string, std::string>> list;
  for (std::size_t at = parameters.find(", "); at != std::string::npos;) {
    const auto next = parameters.find(", ", at + 2);
    const auto one = parameters.substr(at + 2, next == std::string::npos ? std::string::npos : next - at - 2);
    const auto space = one.rfind(' ');
    list.emplace_back(one.substr(0, space), one.substr(space + 1));
    at = next;
  }
  return list;
}

/// `in_gpc`: some role is where the leader's cluster is.
std::string claim(std::size_t number, const RoleText& role, bool in_gpc) {
  const std::string leads = in_gpc ? "{ control[18] = cluster; __threadfence(); atomicExch(control + 4, sm + 1); }" : "atomicExch(control + 4, sm + 1);";
  const auto taken = number == 0 ? "mine = 1; if (number == 0) " + leads : fmt::format("mine = {};", number + 1);
  return fmt::format("    if (mine == 0 && ({1})) {{\n      number = atomicAdd(control + {2}, 1u);\n      if (number < (u32)r{0}_blocks) {{ {3} }}\n    }}\n", number,
                     replaced(role.where, "my_sm", fmt::format("(u32)r{}_sm", number)), 8 + number, taken);
}

std::string names_of(std::size_t number, const RoleText& role, std::size_t flags) {
  auto text = fmt::format(
      "    const u32 gexp_threads = (u32)r{0}_threads, gexp_lanes = gexp_threads < 32 ? (1u << gexp_threads) - 1 : ~0u;\n"
      "    u32* const dynamic = gexp_shared + (u32)r{0}_shared / 4;\n"
      "    const u64 shared = (u64)__cvta_generic_to_shared(dynamic);\n"
      "    const long long tid = threadIdx.x - (u32)r{0}_first, cta = gexp_number, gtid = cta * gexp_threads + tid;\n"
      "    const long long lane = tid % 32, warp = tid / 32;\n"
      "    u32* const records = gexp_records + r{0}_record;\n"
      "    u32* const overhead = gexp_overhead + {1};\n"
      "    const u32 skip = 0, window = (u32)r{0}_window, trace_at = (u32)r{0}_trace;\n",
      number, number * static_cast<std::size_t>(kCalibrationWords));
  for (const auto& [type, name] : declared(role.body.parameters)) append(text, "    {} const {} = r{}_{};\n", type, name, number, name);
  text += "    u64 sum = cell;\n    const u64 zero = window >> 31;\n    u64 begin = 0, end = 0, t0 = 0, t1 = 0, began = 0, ended = 0;\n"
          "    u32 taken = 0, taken_at = 0, calibrated = 0, hung = 0, gexp_sm;\n";
  for (std::size_t flag = 0; flag < flags; ++flag) append(text, "    u32 waited{} = 0;\n", flag);
  return text;
}

std::string record_of(const RoleText& role) {
  auto text = fmt::format(
      "    asm volatile(\"mov.u32 %0, %%smid;\" : \"=r\"(gexp_sm));\n"
      "    if (lane == 0) {{\n"
      "      u32* const mine = records + {} * (cta * ((gexp_threads + 31) / 32) + warp);\n"
      "      mine[0] = (u32)began; mine[1] = (u32)(began >> 32); mine[2] = (u32)ended; mine[3] = (u32)(ended >> 32); mine[4] = gexp_sm;\n    }}\n",
      kWarpWords);
  if (role.timing == Timing::Each) {
    append(text,
        "    GEXP_MEET();\n"
        "    if (lane == 0) for (u32 i = 0; i < window; ++i) records[{} * ((gexp_threads + 31) / 32) + warp * window + i] = "
        "i + skip < taken ? ((unsigned short*)dynamic)[trace_at + (u32)warp * window + i] : 0xffffffffu;\n",
        kWarpWords);
  }
  return text;
}

std::string scope_of(std::size_t number, const RoleText& role, std::size_t flags) {
  const auto owner = role.where.empty() ? std::size_t{1} : number + 1;
  const auto meet = role.warps ? fmt::format("asm volatile(\"bar.sync %0, %1;\" :: \"r\"({}), \"r\"(gexp_threads) : \"memory\")", number + 1) : "__syncwarp(gexp_lanes)";
  const auto& body = role.body;
  const auto together = [](int word) {
    return fmt::format("GEXP_MEET(); if (tid == 0) gexp_together(control + {}, gexp_all); GEXP_MEET();", word);
  };
  auto text = fmt::format("#define GEXP_MEET() {}\n  if (gexp_role == {} && threadIdx.x - (u32)r{}_first < (u32)r{}_threads) {{\n", meet, owner, number, number);
  text += names_of(number, role, flags) + replaced(body.setup, "blockDim.x", "gexp_threads");
  append(text, "    GEXP_MEET();\n    #pragma unroll 1\n    for (u32 pass = 0; pass < {}; ++pass) {{\n    if (pass == 1) {{\n{}\n    }}\n{}\n", body.passes, body.warm, body.addresses);
  append(text, "    GEXP_MEET();\n    if (pass == 1) {{ {} }}\n", together(16));
  if (body.calibrates && !body.barriers) text += "    if (pass > 1 && gtid >= 32) continue;\n";
  append(text, "    begin = gexp_clock();\n{}\n    {}\n    end = gexp_clock();\n    if (pass == 1) {{ began = begin; ended = end; {} }}\n    }}\n", body.timed, body.settle, together(17));
  text += record_of(role) + "    GEXP_MEET();\n    if (gtid == 0) {\n" + body.calibrate + "\n    }\n";
  text += "    if (sum == 0x9e3779b97f4a7c16ull) records[0] = (u32)((sum + zero + t0 + t1 + begin + end) >> 9) + taken + taken_at + calibrated + hung + skip + window + trace_at;\n";
  return text + "  }\n#undef GEXP_MEET\n";
}

}  // namespace

Shape roles_shape(const std::vector<const RoleText*>& roles, std::size_t flags, Span span) {
  std::string constants, parameters, claims, scopes;
  std::set<std::string> seen;
  bool waits = false;
  const bool in_gpc = std::any_of(roles.begin(), roles.end(), [](const RoleText* role) { return role->in_gpc; });
  if (in_gpc) append(claims, "    const u32 cluster = blockIdx.x / {};\n    u32 home = 0;\n", kGpcCluster);
  for (std::size_t number = 0; number < roles.size(); ++number) {
    const auto& role = *roles[number];
    if (seen.insert(role.body.constants).second) constants += role.body.constants;
    const auto own = "r" + std::to_string(number) + "_";
    for (const auto* name : kRoleParameters) parameters += ", long long " + own + name;
    for (const auto& [type, name] : declared(role.body.parameters)) parameters += ", " + type + " " + own + name;
    if (role.relative && !waits) {
      waits = true;
      claims += "    if (mine == 0) {\n      const u64 from = gexp_clock();\n"
                "      while ((leader = gexp_look(control + 4)) == 0 && gexp_clock() - from < gexp_patience) {}\n      leader -= 1;\n";
      claims += in_gpc ? "      __threadfence();\n      home = gexp_look(control + 18);\n    }\n" : "    }\n";
    }
    if (!role.where.empty()) claims += claim(number, role, in_gpc);
    scopes += scope_of(number, role, flags);
  }
  Shape shape{&kRolesTemplate, {}, span};
  shape.take({{"constants", &constants}, {"parameters", &parameters}, {"claims", &claims}, {"roles", &scopes}});
  return shape;
}

}  // namespace gexp::compiler
