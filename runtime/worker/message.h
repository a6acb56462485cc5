// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

#include "lang/base/diagnostic.h"
#include "runtime/device/backend.h"

/// What gexp and its worker say to each other: one message a call, one a reply. Both are the same program, so a message is the
/// plain bytes of its values in order.
namespace gexp::worker {

enum class Call : std::uint32_t { Open, Accepts, Allocate, Release, Write, Read, Scatter, Flush, Texture, Tiles, Constant, Load, MostThreads, Launch, Condition };

class Writer {
 public:
  template <class T>
    requires std::is_trivially_copyable_v<T>
  Writer& put(const T& value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }
  Writer& text(std::string_view text) {
    put(static_cast<std::uint32_t>(text.size()));
    bytes_.append(text);
    return *this;
  }
  [[nodiscard]] const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

/// A message that is too short is a bug of gexp or of its worker's memory: `ok()` is false then, and what was read is zero.
class Reader {
 public:
  explicit Reader(std::string bytes) : bytes_(std::move(bytes)) {}
  template <class T>
    requires std::is_trivially_copyable_v<T>
  T get() {
    T value{};
    if (const auto* at = take(sizeof value)) std::memcpy(&value, at, sizeof value);
    return value;
  }
  std::string text() {
    const auto size = get<std::uint32_t>();
    const auto* at = take(size);
    return at ? std::string(at, size) : std::string();
  }
  [[nodiscard]] bool ok() const { return ok_; }

 private:
  const char* take(std::size_t size) {
    ok_ = ok_ && size <= bytes_.size() - at_;
    if (!ok_) return nullptr;
    at_ += size;
    return bytes_.data() + at_ - size;
  }
  std::string bytes_;
  std::size_t at_ = 0;
  bool ok_ = true;
};

/// Diagnostics of a backend are about no text of their own: what they point into is the caller's.
void put(Writer& to, const Diagnostic& problem);
Diagnostic get_diagnostic(Reader& from);
void put(Writer& to, const device::DeviceInfo& device);
device::DeviceInfo get_device(Reader& from);
void put(Writer& to, const device::Outcome& outcome);
device::Outcome get_outcome(Reader& from);
void put(Writer& to, const device::Condition& now);
device::Condition get_condition(Reader& from);

}  // namespace gexp::worker
