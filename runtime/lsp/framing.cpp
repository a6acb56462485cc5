// SPDX-License-Identifier: Apache-2.0
#include "runtime/lsp/framing.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace gexp::lsp {
namespace {

constexpr std::size_t kMaxLine = 4096, kMaxDropped = std::size_t{1} << 30;  // bytes

/// The length that a header gives; nothing for other headers and for what is no length.
std::optional<std::size_t> length_of(std::string_view header) {
  constexpr std::string_view kName = "content-length";
  const auto colon = header.find(':');
  if (colon != kName.size()) return std::nullopt;
  const auto same = [](char a, char b) { return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b; };
  if (!std::equal(kName.begin(), kName.end(), header.begin(),
                  [&](char ours, char theirs) { return same(theirs, ours); }))
    return std::nullopt;
  auto digits = header.substr(colon + 1);
  while (!digits.empty() && (digits.front() == ' ' || digits.front() == '\t')) digits.remove_prefix(1);
  while (!digits.empty() && (digits.back() == ' ' || digits.back() == '\t')) digits.remove_suffix(1);
  std::size_t length = 0;
  const auto* end = digits.data() + digits.size();
  const auto parsed = std::from_chars(digits.data(), end, length);
  if (digits.empty() || parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
  return length;
}

}  // namespace

bool FrameReader::fill() {
  if (ended_) return false;
  begin_ = 0;
  end_ = stream_.read(buffer_.data(), buffer_.size());
  ended_ = end_ == 0;
  return !ended_;
}

std::optional<char> FrameReader::take() {
  if (begin_ == end_ && !fill()) return std::nullopt;
  return buffer_[begin_++];
}

std::optional<std::string> FrameReader::line() {
  std::string text;
  while (const auto c = take()) {
    if (*c == '\n') {
      if (text.ends_with('\r')) text.pop_back();
      return text;
    }
    if (text.size() < kMaxLine) text += *c;
  }
  return std::nullopt;
}

bool FrameReader::body(std::size_t length, std::string* into) {
  while (length > 0) {
    if (begin_ == end_ && !fill()) return false;
    const auto some = std::min(length, end_ - begin_);
    if (into) into->append(buffer_.data() + begin_, some);
    begin_ += some;
    length -= some;
  }
  return true;
}

Frame FrameReader::next() {
  std::optional<std::size_t> length;
  bool any = false;
  while (true) {
    const auto header = line();
    if (!header) return {Frame::Kind::End, {}};
    if (!header->empty()) {
      any = true;
      if (const auto given = length_of(*header)) length = given;
      continue;
    }
    if (!any) continue;  // empty lines between messages
    if (!length || *length > kMaxDropped)
      return {Frame::Kind::NoLength, {}};  // whatever follows, the next header is found
    if (*length > kMaxMessage) return {body(*length, nullptr) ? Frame::Kind::TooLong : Frame::Kind::End, {}};
    Frame frame{Frame::Kind::Message, {}};
    if (!body(*length, &frame.body)) frame.kind = Frame::Kind::End;
    return frame;
  }
}

std::string framed(const std::string& body) { return fmt::format("Content-Length: {}\r\n\r\n{}", body.size(), body); }

}  // namespace gexp::lsp
