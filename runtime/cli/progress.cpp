// SPDX-License-Identifier: Apache-2.0
#include "runtime/cli/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>

#include "lang/base/stopwatch.h"
#include "runtime/cli/json.h"
#include "runtime/cli/output.h"
#include "runtime/report/progress.h"

namespace gexp::cli {
namespace {

constexpr double kRedraw = 0.06, kLogged = 30, kTold = 0.1;  // seconds between two lines

/// A terminal that can be written over.
bool rewritable() {
  const char* terminal = std::getenv("TERM");
  return isatty(STDERR_FILENO) && terminal && *terminal && std::string_view(terminal) != "dumb";
}

/// One less than there are: a character in the last column wraps on some terminals.
std::size_t columns() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1) return size.ws_col - 1;
  return 79;
}

class Lines final : public measure::Progress {
 public:
  Lines(const std::string& device, std::string things) : prefix_(device.empty() ? device : device + " "), terminal_(device.empty() && rewritable()), colour_(colour_on(STDERR_FILENO)) {
    going_.things = std::move(things);
  }
  Lines(const Lines&) = delete;
  Lines& operator=(const Lines&) = delete;
  ~Lines() override { clear(); }

  void experiment(const std::string& name) override { experiment_ = name + " "; }

  void stage(const std::string& name, std::size_t number, std::size_t of, std::optional<std::size_t> points) override {
    going_.what = fmt::format("{}{}[{}/{}] {}", prefix_, experiment_, number, of, name);
    going_.done = 0;
    going_.of = points;
    going_.at.clear();
    speed_ = {};
    last_ = watch_.seconds();
    if (terminal_) draw(cut_to_width());
    else draw(going_.what + "\n");
  }

  void point(const std::string& where, std::size_t done) override {
    const auto now = watch_.seconds();
    speed_.begin(now);
    if (now - last_ < (terminal_ ? kRedraw : kLogged)) return;
    last_ = now;
    going_.done = done;
    if (going_.of && done > *going_.of) going_.of.reset();  // some are measured again
    going_.at = where;
    going_.rate = speed_.rate();
    going_.left = going_.of ? speed_.left(*going_.of) : std::nullopt;
    draw(terminal_ ? report::progress_line(going_, columns(), colour_) : report::progress_text(going_) + "\n");
  }

  void kept(const std::string& name, std::size_t number, std::size_t of, const std::string& from) override {
    clear();
    print_err("{}{}[{}/{}] {}: {}\n", prefix_, experiment_, number, of, name, from);
  }

  void notice(const std::string& text) override {
    clear();
    print_err("{}note: {}\n", prefix_, text);
  }

  void finished() override { clear(); }

 private:
  [[nodiscard]] std::string cut_to_width() const { return going_.what.substr(0, columns()); }
  void draw(const std::string& text) {
    print_err("{}{}", terminal_ ? "\r\033[K" : "", text);
    std::fflush(stderr);
    drawn_ = terminal_;
  }
  void clear() {
    if (drawn_) print_err("\r\033[K");
    std::fflush(stderr);
    drawn_ = false;
  }

  const std::string prefix_;
  const bool terminal_, colour_;
  const Stopwatch watch_;
  std::string experiment_;
  report::Going going_;
  report::Speed speed_;
  double last_ = 0;
  bool drawn_ = false;
};

class JsonLines final : public measure::Progress {
 public:
  explicit JsonLines(std::string device) : device_(std::move(device)) {}

  void experiment(const std::string& name) override { experiment_ = name; }

  void stage(const std::string& name, std::size_t number, std::size_t of, std::optional<std::size_t> points) override {
    stage_ = name;
    points_ = points;
    last_ = -kTold;
    tell("stage", {{"stage", name}, {"number", number}, {"stages", of}, {"done", 0}, {"of", counted()}});
  }

  void point(const std::string& where, std::size_t done) override {
    if (watch_.seconds() - last_ < kTold) return;
    last_ = watch_.seconds();
    if (points_ && done > *points_) points_.reset();  // some are measured again
    tell("point", {{"stage", stage_}, {"at", where}, {"done", done}, {"of", counted()}});
  }

  void kept(const std::string& name, std::size_t number, std::size_t of, const std::string& from) override {
    tell("kept", {{"stage", name}, {"number", number}, {"stages", of}, {"text", from}});
  }
  void notice(const std::string& text) override { tell("notice", {{"text", text}}); }
  void finished() override { tell("finished", Json::object()); }

 private:
  [[nodiscard]] Json counted() const { return points_ ? Json(*points_) : Json(); }

  void tell(const char* event, const Json& members) const {
    Json line = {{"event", event}};
    if (!device_.empty()) line["device"] = device_;
    if (!experiment_.empty()) line["experiment"] = experiment_;
    line.update(members);
    line["seconds"] = watch_.seconds();
    print_err("{}\n", line.line());
    std::fflush(stderr);
  }

  const std::string device_;
  const Stopwatch watch_;
  std::string experiment_, stage_;
  std::optional<std::size_t> points_;
  double last_ = 0;
};

}  // namespace

std::unique_ptr<measure::Progress> open_progress(const Common& common, const std::string& device, const std::string& things) {
  if (common.json_progress) return std::make_unique<JsonLines>(device);
  if (common.quiet) return std::make_unique<measure::Progress>();
  return std::make_unique<Lines>(device, things);
}

}  // namespace gexp::cli
