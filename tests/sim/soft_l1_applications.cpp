// SPDX-License-Identifier: Apache-2.0
// The applications of experiments/soft_l1, as they stand and with the cache, against what the host computes.
#include "tests/sim/soft_l1_application.h"

using namespace sim_test;

TEST_CASE("needs NVRTC: wc counts words and lines" * doctest::skip(no_nvrtc())) {
  Application app(text_of_application("wc.cu"));
  const std::uint32_t chunk = 70;
  const auto text = app.memory(kThreads * chunk), words = app.memory(kThreads * 4), lines = app.memory(kThreads * 4);
  app.run("write", {{text, 8}, {kThreads * chunk, 4}});
  const auto document = app.device().read<std::uint8_t>(text, kThreads * chunk);
  std::vector<std::uint32_t> w(kThreads), l(kThreads);
  for (std::uint32_t t = 0; t < kThreads; ++t) {
    for (std::uint32_t i = 0; i < chunk; ++i) {
      const auto c = document[t * chunk + i], before = i > 0 ? document[t * chunk + i - 1] : std::uint8_t{' '};
      w[t] += c > ' ' && before <= ' ', l[t] += c == '\n';
    }
  }
  for (const auto line : kForms) {
    app.run("wc", {{text, 8}, {chunk, 4}, {words, 8}, {lines, 8}}, line);
    CHECK(app.device().read<std::uint32_t>(words, kThreads) == w);
    CHECK(app.device().read<std::uint32_t>(lines, kThreads) == l);
  }
}

TEST_CASE("needs NVRTC: upper writes capitals" * doctest::skip(no_nvrtc())) {
  Application app(text_of_application("upper.cu"));
  const std::uint32_t chunk = 70;
  const auto text = app.memory(kThreads * chunk), capitals = app.memory(kThreads * chunk);
  app.run("write", {{text, 8}, {kThreads * chunk, 4}});
  auto document = app.device().read<std::uint8_t>(text, kThreads * chunk);
  for (auto& c : document) c = c >= 'a' && c <= 'z' ? static_cast<std::uint8_t>(c - 'a' + 'A') : c;
  for (const auto line : kForms) {
    app.device().write(capitals, std::vector<std::uint8_t>(kThreads * chunk, 1));
    app.run("upper", {{text, 8}, {capitals, 8}, {chunk, 4}}, line);
    CHECK(app.device().read<std::uint8_t>(capitals, kThreads * chunk) == document);
  }
}

TEST_CASE("needs NVRTC: multiply gives the product of its matrices" * doctest::skip(no_nvrtc())) {
  Application app(text_of_application("matrix_multiply.cu"));
  const std::uint32_t rows = 30, inner = 40, columns = 20;
  const auto a = app.memory(rows * inner * 4), b = app.memory(inner * columns * 4), c = app.memory(rows * columns * 4);
  app.run("write", {{a, 8}, {rows * inner, 4}});
  app.run("write", {{b, 8}, {inner * columns, 4}});
  const auto left = app.device().read<float>(a, rows * inner), right = app.device().read<float>(b, inner * columns);
  std::vector<float> product(rows * columns);
  for (std::uint32_t i = 0; i < rows * columns; ++i) {
    for (std::uint32_t k = 0; k < inner; ++k) product[i] += left[i / columns * inner + k] * right[k * columns + i % columns];
  }
  for (const auto line : kForms) {
    app.device().write(c, std::vector<float>(rows * columns, 1));
    app.run("multiply", {{a, 8}, {b, 8}, {c, 8}, {rows, 4}, {inner, 4}, {columns, 4}}, line);
    CHECK(app.device().read<float>(c, rows * columns) == product);
  }
}

TEST_CASE("needs NVRTC: kmeans finds the nearest mean" * doctest::skip(no_nvrtc())) {
  Application app(text_of_application("kmeans.cu"));
  const std::uint32_t chunk = 7, clusters = 5, count = kThreads * chunk;
  const auto points = app.memory(count * 16), means = app.memory(clusters * 16), nearest = app.memory(count * 4);
  app.run("write", {{points, 8}, {count * 4, 4}});
  app.device().write(means, std::vector<float>{0, 0, 0, 0, 50, 50, 0, 0, -50, 50, 9, -9, 80, -80, 80, -80, -30, -30, -30, -30});
  const auto p = app.device().read<float>(points, count * 4), m = app.device().read<float>(means, clusters * 4);
  std::vector<std::uint32_t> best(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    float least = 1e30f;
    for (std::uint32_t k = 0; k < clusters; ++k) {
      float distance = 0;
      for (std::uint32_t d = 0; d < 4; ++d) distance += (p[4 * i + d] - m[4 * k + d]) * (p[4 * i + d] - m[4 * k + d]);
      if (distance < least) least = distance, best[i] = k;
    }
  }
  for (const auto line : kForms) {
    app.device().write(nearest, std::vector<std::uint32_t>(count, 99));
    app.run("kmeans", {{points, 8}, {means, 8}, {nearest, 8}, {chunk, 4}, {clusters, 4}}, line, clusters * 16);
    CHECK(app.device().read<std::uint32_t>(nearest, count) == best);
  }
}
