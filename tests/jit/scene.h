// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdlib.h>

#include <filesystem>
#include <string>

namespace gexp::tests {

/// Sets environment variables for one test and puts the old values back.
class Environment {
 public:
  Environment(const char* name, const std::string& value) : name_(name) {
    const char* old = getenv(name);
    had_ = old != nullptr;
    if (had_) old_ = old;
    setenv(name, value.c_str(), 1);
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;
  ~Environment() {
    if (had_) {
      setenv(name_, old_.c_str(), 1);
    } else {
      unsetenv(name_);
    }
  }

 private:
  const char* name_;
  std::string old_;
  bool had_ = false;
};

/// A folder of its own that goes with the test.
class Folder {
 public:
  Folder() {
    std::string pattern = std::filesystem::temp_directory_path() / "gexp-test-XXXXXX";
    path_ = mkdtemp(pattern.data());
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace gexp::tests
