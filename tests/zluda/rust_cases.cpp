// SPDX-License-Identifier: Apache-2.0
#include "tests/zluda/rust_cases.h"

#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <numbers>

// The few forms of Rust that the cases are written in: literals with suffixes, constants of types, f16 made from others, a quotient.
namespace zluda {
namespace {

/// A number on its way to the array's type.
struct Number {
  std::string type;  ///< "u32", "f16", …; empty: the array's other elements tell
  bool real = false;
  std::uint64_t integer = 0;
  double value = 0;
};

std::uint16_t half_bits(double v) {
  const std::uint16_t sign = std::signbit(v) ? 0x8000 : 0;
  if (std::isnan(v)) return 0x7e00;
  v = std::fabs(v);
  if (std::isinf(v)) return sign | 0x7c00;
  const int exponent = v == 0 ? -14 : std::max(std::ilogb(v), -14);
  const auto bits = static_cast<std::uint32_t>((exponent + 14) * 1024 + static_cast<int>(std::nearbyint(std::ldexp(v, 10 - exponent))));
  return static_cast<std::uint16_t>(sign | std::min<std::uint32_t>(bits, 0x7c00));
}

int width_of(const std::string& type) { return type == "f16" ? 16 : std::atoi(type.c_str() + 1); }

/// The bits of a number in a type. A half is kept as its bits.
std::uint64_t bits_of(const Number& n, const std::string& type) {
  if (type == "f64") return n.real ? std::bit_cast<std::uint64_t>(n.value) : std::bit_cast<std::uint64_t>(static_cast<double>(n.integer));
  if (type == "f32") return std::bit_cast<std::uint32_t>(n.real ? static_cast<float>(n.value) : static_cast<float>(n.integer));
  return n.integer;
}

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  std::optional<std::vector<Case>> run(std::string& why) {
    std::vector<Case> cases;
    while (find_case()) {
      Case c;
      const bool warp = word() == "test_ptx_warp";
      at_ += 2;  // "!("
      c.name = word();
      c.threads = warp ? 64 : 1;
      std::vector<std::vector<std::byte>> arrays;
      while (failed_.empty() && accept(',')) {
        if (peek() == '[') arrays.push_back(array());
      }
      if (failed_.empty() && !accept(')')) failed_ = "no ')'";
      if (!failed_.empty()) return why = c.name + ": " + failed_, std::nullopt;
      if (arrays.empty()) continue;  // compiled only
      c.output = arrays.back();
      if (arrays.size() == 2) c.input = arrays.front();
      cases.push_back(std::move(c));
    }
    return cases;
  }

 private:
  /// At the next invocation of one of the macros that is no comment.
  bool find_case() {
    for (; at_ < text_.size(); ++at_) {
      if (text_.substr(at_, 2) == "//") at_ = std::min(text_.find('\n', at_), text_.size() - 1);
      if (!text_.substr(at_).starts_with("test_ptx")) continue;
      std::size_t end = at_;
      while (std::isalnum(static_cast<unsigned char>(text_[end])) || text_[end] == '_') ++end;
      const std::string_view name = text_.substr(at_, end - at_);
      if (text_.substr(end, 2) == "!(" && (name == "test_ptx" || name == "test_ptx_warp" || name == "test_ptx_with_32")) return true;
      at_ = end;
    }
    return false;
  }
  char peek() {
    while (at_ < text_.size()) {
      if (std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
      else if (text_.substr(at_, 2) == "//") at_ = std::min(text_.find('\n', at_), text_.size());
      else return text_[at_];
    }
    return '\0';
  }
  bool accept(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  std::string word() {
    peek();
    const std::size_t begin = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_' || text_[at_] == ':')) ++at_;
    return std::string(text_.substr(begin, at_ - begin));
  }

  std::vector<std::byte> array() {
    std::vector<Number> numbers;
    accept('[');
    while (failed_.empty() && !accept(']')) {
      numbers.push_back(quotient());
      if (peek() != ']' && !accept(',')) failed_ = "an array's element ends in what is no ','";
    }
    std::string type;
    bool real = false;
    for (const Number& n : numbers) {
      if (type.empty()) type = n.type;
      real |= n.real;
    }
    if (type.empty()) type = real ? "f64" : "i32";
    std::vector<std::byte> bytes;
    for (const Number& n : numbers) {
      const std::uint64_t bits = bits_of(n, type);
      for (int k = 0; k < width_of(type); k += 8) bytes.push_back(static_cast<std::byte>(bits >> k));
    }
    return bytes;
  }
  Number quotient() {
    Number n = number();
    while (accept('/')) n.value /= number().value;
    if (n.type == "f32") n.value = static_cast<float>(n.value);
    return n;
  }
  Number number() {
    if (accept('-')) {
      Number n = number();
      n.integer = 0 - n.integer;
      n.value = -n.value;
      return n;
    }
    if (std::isdigit(static_cast<unsigned char>(peek()))) return literal();
    return constant(word());
  }
  Number literal() {
    std::string text;
    for (; at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_' || text_[at_] == '.'); ++at_) {
      if (text_[at_] != '_') text += text_[at_];
    }
    const int base = text.starts_with("0x") ? 16 : text.starts_with("0b") ? 2 : 10;
    Number n;
    const std::size_t suffix = base == 16 ? text.find_first_of("ui") : text.find_first_of("uif");
    if (suffix != std::string::npos) n.type = text.substr(suffix), text.resize(suffix);
    n.real = n.type.starts_with('f') || text.find('.') != std::string::npos;
    if (base != 10) text = text.substr(2);
    if (!n.real) {
      const auto parsed = std::from_chars(text.data(), text.data() + text.size(), n.integer, base);
      if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size()) failed_ = "the number '" + text + "'";
      n.value = static_cast<double>(n.integer);
    } else {
      n.value = n.type == "f32" ? std::strtof(text.c_str(), nullptr) : std::strtod(text.c_str(), nullptr);
    }
    return n;
  }
  /// `f32::NAN`, `half::f16::from_f64(1.0)`, `u64::max_value()` and their like.
  Number constant(const std::string& path) {
    if (path == "std::f32::consts::PI") return {"f32", true, 0, std::numbers::pi_v<float>};
    std::string rest = path.starts_with("half::") ? path.substr(6) : path;
    const std::size_t colons = rest.find("::");
    if (colons == std::string::npos) return failed_ = "the name '" + path + "'", Number{};
    Number n;
    n.type = rest.substr(0, colons);
    rest = rest.substr(colons + 2);
    n.real = n.type == "f32" || n.type == "f64";
    const int width = width_of(n.type);
    const std::uint64_t all = width == 64 ? ~0ull : (1ull << width) - 1;
    Number argument;
    if (accept('(')) {
      if (peek() != ')') argument = quotient();
      if (!accept(')')) failed_ = "no ')' after '" + path + "'";
    }
    if (rest == "NAN") n.value = std::numeric_limits<double>::quiet_NaN();
    else if (rest == "INFINITY") n.value = std::numeric_limits<double>::infinity();
    else if (rest == "NEG_INFINITY") n.value = -std::numeric_limits<double>::infinity();
    else if (rest == "from_f32" || rest == "from_f64") n.value = argument.value;
    else if (rest == "from_bits" && n.type == "f32") n.value = std::bit_cast<float>(static_cast<std::uint32_t>(argument.integer));
    else if (rest == "from_bits") n.integer = argument.integer;
    else if (rest == "MAX" || rest == "max_value") n.integer = n.type[0] == 'i' ? all >> 1 : all;
    else if (rest == "MIN") n.integer = n.type[0] == 'i' ? (all >> 1) + 1 : 0;
    else failed_ = "the name '" + path + "'";
    if (n.type == "f16" && rest != "from_bits") n.integer = half_bits(n.value);
    if (accept('.')) {
      if (word() != "to_bits") failed_ = "a method of '" + path + "'";
      accept('('), accept(')');
      n = {"u16", false, n.integer, 0};
    }
    return n;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string failed_;
};

}  // namespace

std::optional<std::vector<Case>> read_cases(std::string_view text, std::string& why) { return Reader(text).run(why); }

}  // namespace zluda
