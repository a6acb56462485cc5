// SPDX-License-Identifier: Apache-2.0
#include "runtime/worker/channel.h"

#include <poll.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <utility>

#include "lang/base/stopwatch.h"

namespace gexp::worker {
namespace {

// Who asks again and again lets others have the core in between, the other end above all. Where a third process computes too, that costs
// a time slice; then sleeping is better for a while: who is woken comes first.
constexpr double kSlowYield = 50e-6;
constexpr int kBlocked = 1000;  // waits

}  // namespace

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  if (this != &other) close(), number_ = other.release();
  return *this;
}
int Descriptor::release() { return std::exchange(number_, -1); }
void Descriptor::close() {
  if (number_ >= 0) ::close(std::exchange(number_, -1));
}

Channel::~Channel() { close(); }

void Channel::close() {
  if (mapped_) munmap(mapped_, mapped_bytes_);
  mapped_ = nullptr;
  mapped_bytes_ = 0;
  socket_.close();
  memory_.close();
}

void Channel::assign(Descriptor socket, Descriptor memory) {
  close();
  socket_ = std::move(socket);
  memory_ = std::move(memory);
}

bool Channel::send(const std::string& message) {
  for (;;) {
    if (::send(socket_.get(), message.data(), message.size(), MSG_NOSIGNAL) >= 0) return true;
    if (errno != EINTR) return false;
  }
}

Channel::Got Channel::receive(std::string& message, double seconds, double spin) {
  const Stopwatch watch;
  if (blocked_ > 0) --blocked_;
  for (bool spinning = true;;) {
    const auto got = recv(socket_.get(), buffer_.get(), kMostMessage, MSG_DONTWAIT);
    if (got > 0) {
      message.assign(buffer_.get(), static_cast<std::size_t>(got));
      return Got::Message;
    }
    if (got == 0) return Got::Closed;
    if (errno != EAGAIN && errno != EINTR) return Got::Closed;
    const double gone = watch.seconds();
    if (seconds >= 0 && gone >= seconds) return Got::Nothing;
    spinning = spinning && blocked_ == 0 && gone < spin;
    if (spinning) {
      sched_yield();
      if (watch.seconds() - gone > kSlowYield) blocked_ = kBlocked;
      continue;
    }
    pollfd wait{socket_.get(), POLLIN, 0};
    const int most = seconds < 0 ? -1 : static_cast<int>(std::min(std::ceil((seconds - gone) * 1e3), 1e6));
    if (poll(&wait, 1, most) < 0 && errno == EINTR && seconds >= 0) return Got::Nothing;  // a signal: the caller looks what it was
  }
}

std::span<std::byte> Channel::bulk(std::size_t bytes) {
  if (bytes > mapped_bytes_) {
    const auto wanted = std::max(bytes, std::size_t{1} << 20);
    struct stat now {};
    if (fstat(memory_.get(), &now) != 0) return {};
    if (static_cast<std::size_t>(now.st_size) < wanted && ftruncate(memory_.get(), static_cast<off_t>(wanted)) != 0) return {};
    if (mapped_) munmap(mapped_, mapped_bytes_);
    auto* at = mmap(nullptr, wanted, PROT_READ | PROT_WRITE, MAP_SHARED, memory_.get(), 0);
    mapped_ = at == MAP_FAILED ? nullptr : static_cast<std::byte*>(at);
    mapped_bytes_ = mapped_ ? wanted : 0;
  }
  return {mapped_, std::min(bytes, mapped_bytes_)};
}

}  // namespace gexp::worker
