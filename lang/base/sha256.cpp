// SPDX-License-Identifier: Apache-2.0
#include "lang/base/sha256.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace gexp {
namespace {

constexpr std::uint32_t kRounds[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01,
    0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc,
    0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
    0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08,
    0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
    0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

/// One round; `input` is its constant and its word.
inline void round_of(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t& d, std::uint32_t e, std::uint32_t f, std::uint32_t g, std::uint32_t& h,
                     std::uint32_t input) {
  const auto s1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25), s0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
  const auto t1 = h + s1 + ((e & f) ^ (~e & g)) + input;
  d += t1;
  h = t1 + s0 + ((a & b) ^ (a & c) ^ (b & c));
}

}  // namespace

void Sha256::block(const unsigned char* bytes) {
  std::uint32_t w[64];
  for (int i = 0; i < 16; ++i) {
    w[i] = std::uint32_t{bytes[4 * i]} << 24 | std::uint32_t{bytes[4 * i + 1]} << 16 | std::uint32_t{bytes[4 * i + 2]} << 8 |
           std::uint32_t{bytes[4 * i + 3]};
  }
  for (int i = 16; i < 64; ++i) {
    const auto s0 = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ (w[i - 15] >> 3);
    const auto s1 = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ (w[i - 2] >> 10);
    w[i] = w[i - 16] + s0 + w[i - 7] + s1;
  }
  auto [a, b, c, d, e, f, g, h] = state_;
  // Names move on by one each round, so that no value has to.
  const auto k = [&](int i) { return kRounds[i] + w[i]; };
  for (int i = 0; i < 64; i += 8) {
    round_of(a, b, c, d, e, f, g, h, k(i)), round_of(h, a, b, c, d, e, f, g, k(i + 1)), round_of(g, h, a, b, c, d, e, f, k(i + 2)), round_of(f, g, h, a, b, c, d, e, k(i + 3));
    round_of(e, f, g, h, a, b, c, d, k(i + 4)), round_of(d, e, f, g, h, a, b, c, k(i + 5)), round_of(c, d, e, f, g, h, a, b, k(i + 6)), round_of(b, c, d, e, f, g, h, a, k(i + 7));
  }
  const std::uint32_t add[8] = {a, b, c, d, e, f, g, h};
  for (std::size_t i = 0; i < 8; ++i) state_[i] += add[i];
}

Sha256& Sha256::add(std::string_view bytes) {
  total_ += bytes.size();
  auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
  auto left = bytes.size();
  if (pending_size_ > 0) {
    const auto take = std::min(left, pending_.size() - pending_size_);
    std::memcpy(pending_.data() + pending_size_, data, take);
    pending_size_ += take, data += take, left -= take;
    if (pending_size_ < pending_.size()) return *this;
    block(pending_.data());
    pending_size_ = 0;
  }
  for (; left >= 64; data += 64, left -= 64) block(data);
  if (left > 0) std::memcpy(pending_.data(), data, left);
  pending_size_ = left;
  return *this;
}

Sha256& Sha256::add_field(std::string_view bytes) { return add(std::to_string(bytes.size())).add(":").add(bytes); }

std::string Sha256::hex() {
  const auto bits = total_ * 8;
  static constexpr char kEnd[64] = {'\x80'};
  add(std::string_view(kEnd, pending_size_ < 56 ? 56 - pending_size_ : 120 - pending_size_));
  char length[8];
  for (int i = 0; i < 8; ++i) length[i] = static_cast<char>(bits >> (56 - 8 * i));
  add(std::string_view(length, 8));
  std::string text(64, '0');
  for (std::size_t i = 0; i < text.size(); ++i) text[i] = "0123456789abcdef"[(state_[i / 8] >> (28 - 4 * (i % 8))) & 15];
  return text;
}

std::string sha256_hex(std::string_view bytes) { return Sha256().add(bytes).hex(); }

}  // namespace gexp
