// SPDX-License-Identifier: Apache-2.0
// Nothing here is tidied up at the end: the driver takes back what a process held, a kernel that still runs included, and waiting
// for it in an orderly end could take for ever.
#include <poll.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "runtime/worker/channel.h"
#include "runtime/worker/confine.h"
#include "runtime/worker/message.h"
#include "runtime/worker/process.h"
#include "runtime/worker/worker.h"

namespace gexp::worker {
namespace {

using device::Backend;

/// Between the calls of one point there are microseconds; between points milliseconds, then sleeping costs nothing.

/// Where NVIDIA's driver writes: devices, its cache of compiled kernels, files that processes share.
std::vector<std::string> driver_folders() {
  std::vector<std::string> folders = {"/dev", "/proc", "/run", "/tmp", "/var/tmp"};
  for (const char* name : {"TMPDIR", "CUDA_CACHE_PATH", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR"}) {
    if (const char* set = std::getenv(name); set && *set) folders.emplace_back(set);
  }
  if (const char* home = std::getenv("HOME"); home && *home) {
    for (const char* below : {"/.nv", "/.cache"}) folders.push_back(std::string(home) + below);
  }
  return folders;
}

/// gexp can end while a call here takes its time.
void end_with(int socket) {
  std::thread([socket] {
    pollfd other_end{socket, POLLRDHUP, 0};
    while (poll(&other_end, 1, -1) <= 0) continue;
    _exit(0);
  }).detach();
}

class Server {
 public:
  explicit Server(std::unique_ptr<Backend> backend) : backend_(std::move(backend)) {}

  Writer answer(Reader& call, Channel& channel) {
    switch (call.get<Call>()) {
      case Call::Open: return done(Result<>(Ok{}), [&](Writer& to, Ok) {
        put(to, backend_->device());
        const auto target = backend_->target();
        to.put(target.form).put(target.major).put(target.minor);
      });
      case Call::Accepts: {
        device::Requirement requirement{call.get<device::Requirement::Kind>(), call.text(), 0, {}};
        requirement.amount = call.get<std::uint64_t>();
        requirement.span = call.get<Span>();
        return done(backend_->accepts(requirement));
      }
      case Call::Allocate: {
        const auto bytes = call.get<std::uint64_t>(), align = call.get<std::uint64_t>();
        return number(backend_->allocate(bytes, align, call.get<device::Where>()));
      }
      case Call::Release: backend_->release(call.get<std::uint64_t>()); return done(Result<>(Ok{}));
      case Call::Write: {
        const auto address = call.get<std::uint64_t>();
        const auto bytes = call.get<std::uint64_t>();
        return done(backend_->write(address, shared(channel, bytes)));
      }
      case Call::Read: {
        const auto address = call.get<std::uint64_t>();
        const auto bytes = call.get<std::uint64_t>();
        return done(backend_->read(address, shared(channel, bytes)));
      }
      case Call::Scatter: {
        const auto address = call.get<std::uint64_t>(), count = call.get<std::uint64_t>();
        const auto width = call.get<int>();
        const auto* words = reinterpret_cast<const std::uint64_t*>(shared(channel, 16 * count).data());
        return done(backend_->scatter(address, {reinterpret_cast<const std::int64_t*>(words), count}, {words + count, count}, width));
      }
      case Call::Flush: return done(backend_->flush(call.text()));
      case Call::Texture: {
        const auto address = call.get<std::uint64_t>(), bytes = call.get<std::uint64_t>(), pitch = call.get<std::uint64_t>();
        return number(backend_->texture(address, bytes, pitch));
      }
      case Call::Tiles: return number(backend_->tiles(call.get<device::Tiles>()));
      case Call::Constant: {
        const auto kernel = call.get<device::KernelId>();
        return number(backend_->constant(kernel, call.text()));
      }
      case Call::Load: {
        device::KernelImage image;
        image.form = call.get<device::Target::Form>();
        image.entry = call.text();
        const auto bytes = shared(channel, call.get<std::uint64_t>());
        image.bytes.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        return number(backend_->load(image));
      }
      case Call::MostThreads: return number(Result<std::uint64_t>(backend_->most_threads(call.get<device::KernelId>()).value_or(0)));
      case Call::Launch: {
        const auto kernel = call.get<device::KernelId>();
        const auto shape = call.get<device::LaunchShape>();
        const auto limit = call.get<double>();
        std::vector<device::Argument> arguments(call.get<std::uint32_t>());
        for (auto& argument : arguments) argument = call.get<device::Argument>();
        return done(Result<device::Outcome>(backend_->launch(kernel, shape, arguments, limit)), [](Writer& to, const device::Outcome& outcome) { put(to, outcome); });
      }
      case Call::Condition: {
        const auto now = backend_->condition(call.get<bool>());
        return done(Result<bool>(now.has_value()), [&](Writer& to, bool told) {
          to.put(told);
          if (told) put(to, *now);
        });
      }
    }
    GEXP_CHECK(false);
    return {};
  }

 private:
  /// gexp has made room for it.
  static std::span<std::byte> shared(Channel& channel, std::uint64_t bytes) {
    const auto memory = channel.bulk(bytes);
    GEXP_CHECK(memory.size() == bytes);
    return memory;
  }
  template <class T = Ok, class Put = void (*)(Writer&, const T&)>
  Writer done(const Result<T>& result, const Put& put_value = [](Writer&, const T&) {}) {
    Writer reply;
    reply.put(backend_->usable()).put(backend_->losses()).put(result.ok());
    if (result) put_value(reply, *result);
    else put(reply, result.error());
    return reply;
  }
  template <class T>
  Writer number(const Result<T>& result) {
    return done(result, [](Writer& to, const T& value) { to.put(value); });
  }

  std::unique_ptr<Backend> backend_;
};

}  // namespace

void serve(const std::function<Result<std::unique_ptr<Backend>>()>& open_device, int parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  prctl(PR_SET_NAME, "gexp-worker");
  if (getppid() != parent) _exit(0);  // it ended before the line above
  for (const int signal : {SIGINT, SIGHUP, SIGPIPE}) std::signal(signal, SIG_IGN);
  end_with(kSocket);
  Channel channel{Descriptor(kSocket), Descriptor(kMemory)};
  auto opened = open_device();
  // Only now: the driver may have had to start NVIDIA's helpers, which make the devices' files.
  confine({driver_folders(), true});
  std::optional<Server> server;
  if (opened) server.emplace(std::move(*opened));
  for (std::string message;;) {
    if (channel.receive(message, -1, kSpin) != Channel::Got::Message) _exit(0);
    Reader call(std::move(message));
    Writer reply;
    if (server) {
      reply = server->answer(call, channel);
    } else {
      reply.put(true).put(std::uint64_t{0}).put(false);
      put(reply, opened.error());
    }
    GEXP_CHECK(call.ok());
    if (!channel.send(reply.bytes())) _exit(0);
  }
}

}  // namespace gexp::worker
