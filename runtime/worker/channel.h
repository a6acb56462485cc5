// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace gexp::worker {

/// A file descriptor with an owner.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor() { close(); }

  [[nodiscard]] int get() const { return number_; }
  int release();
  void close();

 private:
  int number_ = -1;
};

/// Seconds for which either end looks for a message before it sleeps: a short launch is over by then; who waits longer is woken late
/// by little.
inline constexpr double kSpin = 100e-6;

/// One end of the link between gexp and its worker: messages over a socket pair, bulk data in memory that both map. A message
/// is received whole, or not.
class Channel {
 public:
  static constexpr std::size_t kMostMessage = std::size_t{1} << 17;

  Channel() = default;
  Channel(Descriptor socket, Descriptor memory) : socket_(std::move(socket)), memory_(std::move(memory)) {}
  Channel(Channel&&) = delete;
  ~Channel();

  void assign(Descriptor socket, Descriptor memory);
  void close();
  [[nodiscard]] int socket() const { return socket_.get(); }

  /// False: the other end is gone.
  bool send(const std::string& message);

  enum class Got { Message, Nothing, Closed };
  /// Waits up to `seconds` (negative: for ever). The first `spin` seconds it asks again and again: who sleeps is woken late.
  Got receive(std::string& message, double seconds, double spin);

  /// The first `bytes` bytes of the memory that both ends see, which grows when it must. Empty: the system gives no more.
  /// Earlier spans are no longer valid.
  std::span<std::byte> bulk(std::size_t bytes);

 private:
  Descriptor socket_, memory_;
  std::byte* mapped_ = nullptr;
  std::size_t mapped_bytes_ = 0;
  int blocked_ = 0;  ///< waits that will not spin
  std::unique_ptr<char[]> buffer_ = std::make_unique<char[]>(kMostMessage);
};

}  // namespace gexp::worker
