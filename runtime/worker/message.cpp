// SPDX-License-Identifier: Apache-2.0
#include "runtime/worker/message.h"

namespace gexp::worker {
namespace {

/// Every member once, in one order for both directions.
template <class Device, class Each>
void each_member(Device& d, const Each& each) {
  each(d.kind), each(d.id), each(d.selector), each(d.name), each(d.compute_major), each(d.compute_minor), each(d.sms);
  each(d.sm_clock_hz), each(d.memory_clock_hz), each(d.memory_bytes), each(d.memory_peak), each(d.l2_bytes);
  each(d.shared_per_block), each(d.shared_per_sm), each(d.driver), each(d.uuid), each(d.ecc), each(d.mig), each(d.persistence), each(d.model_sha256);
}

}  // namespace

void put(Writer& to, const Diagnostic& problem) {
  to.text(problem.code).put(problem.span.begin).put(problem.span.end).text(problem.message).text(problem.hint);
  to.put(static_cast<std::uint32_t>(problem.notes.size()));
  for (const auto& note : problem.notes) to.text(note.message);
}

Diagnostic get_diagnostic(Reader& from) {
  Diagnostic problem;
  problem.code = from.text();
  problem.span.begin = from.get<decltype(problem.span.begin)>();
  problem.span.end = from.get<decltype(problem.span.end)>();
  problem.message = from.text();
  problem.hint = from.text();
  const auto notes = from.get<std::uint32_t>();
  for (std::uint32_t i = 0; i < notes && from.ok(); ++i) problem.notes.push_back({{}, from.text()});
  return problem;
}

void put(Writer& to, const runtime::DeviceInfo& device) {
  each_member(device, [&](const auto& member) {
    if constexpr (std::is_same_v<std::decay_t<decltype(member)>, std::string>) to.text(member);
    else to.put(member);
  });
}

runtime::DeviceInfo get_device(Reader& from) {
  runtime::DeviceInfo device;
  each_member(device, [&](auto& member) {
    if constexpr (std::is_same_v<std::decay_t<decltype(member)>, std::string>) member = from.text();
    else member = from.get<std::decay_t<decltype(member)>>();
  });
  return device;
}

void put(Writer& to, const runtime::Outcome& outcome) { to.put(outcome.status).text(outcome.what).put(outcome.elapsed_seconds); }

runtime::Outcome get_outcome(Reader& from) {
  runtime::Outcome outcome;
  outcome.status = from.get<runtime::Outcome::Status>();
  outcome.what = from.text();
  outcome.elapsed_seconds = from.get<double>();
  return outcome;
}

void put(Writer& to, const runtime::Condition& now) {
  to.put(now.sm_clock_hz).put(now.sm_clock_max_hz).put(now.memory_clock_hz).put(now.temperature).put(now.busy);
  to.put(static_cast<std::uint32_t>(now.slowed.size()));
  for (const auto& word : now.slowed) to.text(word);
  to.put(static_cast<std::uint32_t>(now.others.size()));
  for (const auto& process : now.others) to.put(process);
}

runtime::Condition get_condition(Reader& from) {
  runtime::Condition now;
  for (auto* hertz : {&now.sm_clock_hz, &now.sm_clock_max_hz, &now.memory_clock_hz}) *hertz = from.get<double>();
  now.temperature = from.get<int>();
  now.busy = from.get<int>();
  for (auto words = from.get<std::uint32_t>(); words > 0 && from.ok(); --words) now.slowed.push_back(from.text());
  for (auto others = from.get<std::uint32_t>(); others > 0 && from.ok(); --others) now.others.push_back(from.get<runtime::Condition::Process>());
  return now;
}

}  // namespace gexp::worker
