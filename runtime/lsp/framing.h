// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstddef>
#include <optional>
#include <string>

#include "runtime/lsp/lsp.h"

/// Messages between `Content-Length` headers.
namespace gexp::lsp {

inline constexpr std::size_t kMaxMessage = std::size_t{64}
                                           << 20;  ///< of a text of 4 MiB, escaped as JSON can, and more

struct Frame {
  enum class Kind { Message, NoLength, TooLong, End };
  Kind kind = Kind::End;
  std::string body;  ///< of a message
};

class FrameReader {
 public:
  explicit FrameReader(const Stream& stream) : stream_(stream) {}

  /// The next message. What is no header is passed over, a message that is too long is read and dropped.
  Frame next();
  /// Whether more has come already.
  [[nodiscard]] bool ready() const { return begin_ < end_ || (!ended_ && stream_.ready && stream_.ready()); }

 private:
  bool fill();
  [[nodiscard]] std::optional<char> take();
  /// A header line without its end; of a long one its beginning. Nothing at the end of the input.
  std::optional<std::string> line();
  bool body(std::size_t length, std::string* into);

  const Stream& stream_;
  std::array<char, 65536> buffer_{};
  std::size_t begin_ = 0, end_ = 0;
  bool ended_ = false;
};

/// A message as it is sent.
std::string framed(const std::string& body);

}  // namespace gexp::lsp
