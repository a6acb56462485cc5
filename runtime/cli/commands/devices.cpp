// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <algorithm>

#include "runtime/cli/app.h"
#include "runtime/cli/command.h"
#include "runtime/cli/json.h"
#include "runtime/cli/output.h"
#include "runtime/cuda/cuda.h"
#include "runtime/sim/sim.h"

namespace gexp::cli {
namespace {

/// Columns of the terminal on stdout, 100 at most; 100 where there is none.
std::size_t drawing_width() {
  winsize size{};
  const bool told = isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return told ? std::min<std::size_t>(size.ws_col, 100) : 100;
}

int show_device(const std::string& device, bool json) {
  const auto backend = open_device(device, std::nullopt);
  if (!backend) {
    print(backend.error(), nullptr);
    return kEnvironment;
  }
  const auto& info = (*backend)->device();
  if (json) {
    print_out("{}\n", Json{{"id", info.id}, {"name", info.name}, {"kind", info.kind}}.text());
  } else if (info.kind != "simulated") {
    print_out("{}: {}\n", info.id, info.name);
  } else if (const auto model = sim::read_model(info.id.substr(std::string_view("sim:").size())); model) {
    const auto drawing = sim::draw_model(*model, drawing_width());
    print_out("{}", drawing ? *drawing : std::string());
  }
  return kDone;
}

int list_devices(bool json) {
  auto gpus = cuda::devices();
  auto list = Json::array();
  if (gpus) {
    for (const auto& gpu : *gpus) {
      list.push_back({{"id", gpu.id}, {"name", gpu.name}, {"kind", gpu.kind}});
      if (!json) {
        print_out("{:<16} {} (compute {}.{}, {} SMs, driver {})\n", gpu.id, gpu.name, gpu.compute_major, gpu.compute_minor, gpu.sms, gpu.driver);
      }
    }
  } else if (!json) {
    print_out("no GPU: {}\n", gpus.error().message);
  }
  for (const auto& name : sim::names()) {
    auto backend = sim::open(name);
    const auto title = backend ? (*backend)->device().name : std::string("(model does not load)");
    list.push_back({{"id", "sim:" + name}, {"name", title}, {"kind", "simulated"}});
    if (!json) print_out("{:<16} {}, SIMULATED\n", "sim:" + name, title);
  }
  if (json) print_out("{}\n", list.text());
  return kDone;
}


class Devices final : public Command {
 public:
  void declare(Options& options) override { options.add("--json", &json_, "as JSON"); }
  [[nodiscard]] std::optional<std::vector<std::string>> writes() const override { return std::nullopt; }
  int run() override { return list_devices(json_); }

 private:
  bool json_ = false;
};

class DevicesShow final : public Command {
 public:
  void declare(Options& options) override {
    options.add("device", &device_, "sim:NAME, sim:FILE.toml, cuda:N or auto").must_be_given().offers(Offers::Devices);
    options.add("--json", &json_, "as JSON");
  }
  [[nodiscard]] std::optional<std::vector<std::string>> writes() const override { return device_.starts_with("sim:") ? std::optional(std::vector<std::string>{}) : std::nullopt; }
  int run() override { return show_device(device_, json_); }

 private:
  std::string device_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> new_devices() { return std::make_unique<Devices>(); }
std::unique_ptr<Command> new_devices_show() { return std::make_unique<DevicesShow>(); }

}  // namespace gexp::cli
