// SPDX-License-Identifier: Apache-2.0
#include "runtime/measure/kernel_names.h"

#include <doctest/doctest.h>

using namespace gexp::measure;

TEST_CASE("the kernels of a text, and which of them was meant") {
  const auto kernels = kernels_of_text(R"cu(// __global__ void not_this(int n)
extern "C" __global__ void __launch_bounds__(128, 2) fill(unsigned* to, unsigned n) { const char* text = "__global__ void nor(this)"; }
template <typename T, int K> __global__ void scale(T* to) { to[0] *= K; }
__global__ /* void gone(int) */ void fill(float* to);
__global__)cu");
  REQUIRE(kernels.size() == 2);
  CHECK(kernels[0].name == "fill");
  CHECK(kernels[0].parameters == "");
  CHECK(kernels[1].name == "scale");
  CHECK(kernels[1].parameters == "typename T, int K");
  CHECK(meant_kernel("fil", kernels, {"fill"}) == "did you mean `fill`? it has fill; scale<typename T, int K>");
  CHECK(meant_kernel("scael<float, 2>", kernels, {}) == "did you mean `scale`? it has scale<typename T, int K>");
  CHECK(meant_kernel("fill<float>", kernels, {"fill"}) == "`fill` is no template: leave `template` out");
  CHECK(meant_kernel("scale", kernels, {}).starts_with("`scale` is a template of <typename T, int K>: write `template`"));
  CHECK(meant_kernel("scale<float>", kernels, {}) == "`scale` is a template of <typename T, int K>: give a value for each of them");
  CHECK(kernels_of_text("__global__ void x(((").size() == 1);
  CHECK(kernels_of_text("template < __global__").empty());
  CHECK(kernels_of_text("template <__global__ void x(int)")[0].name == "x");
}
