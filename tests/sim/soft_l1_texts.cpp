// SPDX-License-Identifier: Apache-2.0
// The applications of experiments/soft_l1 that go through texts, as they stand and with the cache, against what the host computes.
#include <regex>

#include "tests/sim/soft_l1_application.h"

using namespace sim_test;

namespace {

using Bytes = std::vector<std::uint8_t>;
using Words = std::vector<std::uint32_t>;

std::string line_of(const Bytes& text, std::size_t from, std::size_t bytes) {
  return {text.begin() + static_cast<std::ptrdiff_t>(from), text.begin() + static_cast<std::ptrdiff_t>(from + bytes)};
}

std::uint32_t hash_of(const std::string& word) {
  std::uint32_t hash = 0;
  for (const char c : word) hash = hash * 31 + static_cast<std::uint8_t>(c);
  return hash;
}

}  // namespace

TEST_CASE("needs NVRTC: assemble finds the fragment that follows" * doctest::skip(no_nvrtc())) {
  Application app(text_of_application("dna_assembly.cu"));
  const std::uint32_t length = 32, chunk = 3, bits = 11, count = kThreads * chunk;
  const auto fragments = app.memory(count * length), starts = app.memory(4u << bits), next = app.memory(count * 4);
  app.run("write", {{fragments, 8}, {count * length, 4}, {length, 4}});
  app.device().write(starts, Words(1u << bits));
  app.run("index", {{fragments, 8}, {starts, 8}, {count, 4}, {length, 4}, {bits, 4}});
  const auto letters = app.device().read<std::uint8_t>(fragments, count * length);
  const auto table = app.device().read<std::uint32_t>(starts, 1u << bits);
  // A fragment is followed by the first one of the table that begins with 16 letters of it.
  Words follows(count);
  for (std::uint32_t f = 0; f < count; ++f) {
    const std::string own = line_of(letters, f * length, length);
    for (std::uint32_t i = 1; i + 16 <= length && follows[f] == 0; ++i) {
      for (const std::uint32_t other : table) {
        if (other != 0 && line_of(letters, (other - 1) * length, 16) == own.substr(i, 16)) follows[f] = other;
      }
    }
  }
  CHECK(std::count(follows.begin(), follows.end(), 0u) < count / 2);
  for (const auto line : kForms) {
    app.device().write(next, Words(count, 99));
    app.run("assemble", {{fragments, 8}, {starts, 8}, {next, 8}, {length, 4}, {chunk, 4}, {bits, 4}}, line);
    CHECK(app.device().read<std::uint32_t>(next, count) == follows);
  }
}

TEST_CASE("needs NVRTC: opinions sums up the words of tweets about a subject" * doctest::skip(no_nvrtc())) {
  Application app(text_of_application("opinion_finder.cu"));
  const std::uint32_t length = 48, chunk = 3, count = kThreads * chunk;
  const auto tweets = app.memory(count * length), keywords = app.memory(256), lexicon = app.memory(4096), scores = app.memory(count * 4);
  app.run("write", {{tweets, 8}, {count * length, 4}});
  app.run("look_up", {{keywords, 8}, {lexicon, 8}});
  const auto text = app.device().read<std::uint8_t>(tweets, count * length), keys = app.device().read<std::uint8_t>(keywords, 256);
  const auto says = app.device().read<std::int8_t>(lexicon, 4096);
  std::vector<std::int32_t> expected(count);
  for (std::uint32_t t = 0; t < count; ++t) {
    std::istringstream words(line_of(text, t * length, length));
    bool meant = false;
    for (std::string word; words >> word;) {
      meant = meant || keys[hash_of(word) % 256] != 0;
      expected[t] += says[hash_of(word) % 4096];
    }
    if (!meant) expected[t] = 0;
  }
  CHECK(std::count(expected.begin(), expected.end(), 0) < count);
  for (const auto line : kForms) {
    app.device().write(scores, Words(count, 99));
    app.run("opinions", {{tweets, 8}, {keywords, 8}, {lexicon, 8}, {scores, 8}, {length, 4}, {chunk, 4}}, line);
    CHECK(app.device().read<std::int32_t>(scores, count) == expected);
  }
}

TEST_CASE("needs NVRTC: invert writes the words of pages and where they are" * doctest::skip(no_nvrtc())) {
  Application app(text_of_application("inverted_index.cu"));
  const std::uint32_t length = 96, room = kThreads * length / 8;
  const auto pages = app.memory(kThreads * length), words = app.memory(room * 4), places = app.memory(room * 4);
  app.run("write", {{pages, 8}, {kThreads * length, 4}});
  const auto html = app.device().read<std::uint8_t>(pages, kThreads * length);
  Words hashes(room, 99), begins(room, 99);
  const std::regex word("<[^>]*>|[^< ]+(?=[ ])");
  for (std::uint32_t t = 0; t < kThreads; ++t) {
    const std::string page = line_of(html, t * length, length);
    std::uint32_t at = t * length / 8;
    for (std::sregex_iterator found(page.begin(), page.end(), word), end; found != end; ++found) {
      if (found->str().starts_with('<')) continue;
      hashes[at] = hash_of(found->str());
      begins[at++] = t * length + static_cast<std::uint32_t>(found->position());
    }
  }
  for (const auto line : kForms) {
    app.device().write(words, Words(room, 99));
    app.device().write(places, Words(room, 99));
    app.run("invert", {{pages, 8}, {words, 8}, {places, 8}, {length, 4}}, line);
    CHECK(app.device().read<std::uint32_t>(words, room) == hashes);
    CHECK(app.device().read<std::uint32_t>(places, room) == begins);
  }
}

TEST_CASE("needs NVRTC: views counts what a log asks for" * doctest::skip(no_nvrtc())) {
  Application app(text_of_application("page_view_count.cu"));
  const std::uint32_t chunk = 96, slots = 4096;
  const auto log = app.memory(kThreads * chunk), pages = app.memory(slots * 4), counts = app.memory(slots * 4);
  app.run("write", {{log, 8}, {kThreads * chunk, 4}});
  app.device().write(pages, Words(slots));
  app.run("index", {{pages, 8}});
  const auto table = app.device().read<std::uint32_t>(pages, slots);
  std::istringstream text(line_of(app.device().read<std::uint8_t>(log, kThreads * chunk), 0, kThreads * chunk));
  Words hits(slots);
  for (std::string line, get, page; std::getline(text, line);) {
    std::istringstream(line) >> get >> page;
    if (table[hash_of(page) % slots] == hash_of(page)) ++hits[hash_of(page) % slots];
  }
  CHECK(*std::max_element(hits.begin(), hits.end()) > 3);
  for (const auto line : kForms) {
    app.device().write(counts, Words(slots));
    app.run("views", {{log, 8}, {pages, 8}, {counts, 8}, {chunk, 4}}, line);
    CHECK(app.device().read<std::uint32_t>(counts, slots) == hits);
  }
}

TEST_CASE("needs NVRTC: affinity counts where customers of a merchant go" * doctest::skip(no_nvrtc())) {
  Application app(text_of_application("affinity.cu"));
  const std::uint32_t chunk = 96, customers = 8192, merchants = 1000, wanted = 0;
  const auto payments = app.memory(kThreads * chunk), known = app.memory(customers), visits = app.memory(merchants * 4);
  app.run("write", {{payments, 8}, {kThreads * chunk, 4}});
  app.device().write(known, Bytes(customers));
  app.run("mark", {{payments, 8}, {known, 8}, {kThreads * chunk / 16, 4}, {wanted, 4}});
  const auto text = app.device().read<std::uint8_t>(payments, kThreads * chunk);
  Words went(merchants);
  std::vector<bool> theirs(customers);
  for (int round = 0; round < 2; ++round) {
    for (std::uint32_t at = 0; at < text.size(); at += 16) {
      const auto customer = std::stoul(line_of(text, at, 6)), merchant = std::stoul(line_of(text, at + 7, 4));
      if (round == 0 && merchant == wanted) theirs[customer] = true;
      if (round == 1 && theirs[customer]) ++went[merchant];
    }
  }
  CHECK(went[wanted] > 10);
  for (const auto line : kForms) {
    app.device().write(visits, Words(merchants));
    app.run("affinity", {{payments, 8}, {known, 8}, {visits, 8}, {chunk, 4}}, line);
    CHECK(app.device().read<std::uint32_t>(visits, merchants) == went);
  }
}

TEST_CASE("needs NVRTC: grep finds lines with a pattern" * doctest::skip(no_nvrtc())) {
  Application app(text_of_application("grep.cu"));
  const std::uint32_t chunk = 128;
  const auto text = app.memory(kThreads * chunk), lines = app.memory(kThreads * 4), places = app.memory(kThreads * 4);
  app.run("write", {{text, 8}, {kThreads * chunk, 4}});
  const auto all = app.device().read<std::uint8_t>(text, kThreads * chunk);
  const std::regex pattern("e.a*b");
  Words found(kThreads), first(kThreads);
  for (std::uint32_t at = 0; at < all.size(); at += 32) {
    std::smatch match;
    const std::string line = line_of(all, at, 31);
    if (std::regex_search(line, match, pattern) && found[at / chunk]++ == 0)
      first[at / chunk] = at + static_cast<std::uint32_t>(match.position()) + 1;
  }
  CHECK(*std::max_element(found.begin(), found.end()) > 1);
  for (const auto line : kForms) {
    app.device().write(lines, Words(kThreads, 99));
    app.run("grep", {{text, 8}, {lines, 8}, {places, 8}, {chunk, 4}}, line);
    CHECK(app.device().read<std::uint32_t>(lines, kThreads) == found);
    CHECK(app.device().read<std::uint32_t>(places, kThreads) == first);
  }
}
