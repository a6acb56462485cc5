// SPDX-License-Identifier: Apache-2.0
// Every key of every model that ships: taken away, zero, negative, huge, of another type. What is refused is refused at its line.
#include <map>
#include <set>
#include <sstream>

#include "runtime/sim/toml_tree.h"
#include "tests/fuzz/try_device.h"
#include "tests/sim/support.h"

namespace {

using gexp::Span;
using gexp::sim::TomlValue;

struct Key {
  std::string name;
  Span key, value, table;  ///< table: that of the header, or key, above it
};

void gather(const TomlValue& table, Span of_table, std::vector<Key>& keys) {
  for (const auto& entry : table.entries) {
    if (entry.key == "source" || entry.key == "assumed") continue;
    keys.push_back({entry.key, entry.key_span, entry.value.span, of_table});
    if (entry.value.kind == TomlValue::Kind::Table) gather(entry.value, entry.key_span, keys);
  }
}

/// The model with a key's value replaced, or with neither; nothing where that is no piece of text (a table under a header).
std::optional<gexp::Source> with(const gexp::Source& model, const Key& key, const char* value) {
  auto text = model.text();
  const auto line = model.position(key.key.begin).line;
  if (line != model.position(key.value.begin).line) return std::nullopt;
  const auto whole = model.line(line);
  if (whole.find('=') == std::string_view::npos || whole.find('{') != std::string_view::npos) return std::nullopt;  // an inline table's lie on one line
  const auto begin = model.offset({line, 1});
  if (!value) return gexp::Source("hostile.toml", text.erase(begin, whole.size()));
  return gexp::Source("hostile.toml", text.replace(begin + whole.find('=') + 1, whole.size() - whole.find('=') - 1, std::string(" ") + value));
}

}  // namespace

TEST_CASE("every key of every model, deleted, zero, negative, huge or of another type, is an error at its line or a device that runs") {
  std::size_t refused = 0, taken = 0, elsewhere = 0;
  for (const auto& name : gexp::sim::names()) {
    const auto model = *gexp::sim::read_model(name);
    gexp::Diagnostics none;
    const auto toml = gexp::sim::parse_toml(model, none);
    REQUIRE(toml);
    std::vector<Key> keys;
    gather(*toml, {}, keys);
    for (const auto& key : keys) {
      for (const char* value : {static_cast<const char*>(nullptr), "0", "-1", "9223372036854775807", "1e308", "\"\"", "[]", "\"9e30 GiB\"", "nan"}) {
        const auto changed = with(model, key, value);
        if (!changed) continue;
        CAPTURE(name);
        CAPTURE(key.name);
        CAPTURE(std::string(value ? value : "deleted"));
        gexp::Diagnostics diagnostics;
        if (gexp::sim::check_model(*changed, diagnostics)) {
          ++taken;
          gexp::try_model(*changed);
          continue;
        }
        ++refused;
        const auto line = changed->position(changed->offset({model.position(key.key.begin).line, 1})).line;
        bool here = false;
        for (const auto& diagnostic : diagnostics.sorted()) {
          CHECK_FALSE(diagnostic.span.empty());
          here = here || changed->position(diagnostic.span.begin).line == line;
        }
        // What is taken away is missed by its table; what contradicts another value may be told there.
        if (value && !here) ++elsewhere;
      }
    }
  }
  MESSAGE(refused << " refused, " << elsewhere << " of them at the other of two values that contradict each other; " << taken << " taken");
  CHECK(refused > 1000);
  CHECK(elsewhere * 20 < refused);
}

TEST_CASE("a cache that stores in one without a line, and lines of all multiprocessors together") {
  // The index of the second needs the line of the first, which is an error of its own.
  const auto source = sim_test::edited("gtx980", "line = 32\n", "");
  gexp::Diagnostics diagnostics;
  CHECK_FALSE(gexp::sim::check_model(source, diagnostics));
  auto shared = std::string(R"([caches.other]
storage_of = "readonly"
index = "scattered"
block = 32
assumed = "made"
)");
  auto text = gexp::sim::read_model("gtx780")->text();
  text.replace(text.find("line = 32\nsets = 4"), 10, "");
  const gexp::Source without("x.toml", text.insert(text.find("[caches.l1]"), shared));
  gexp::Diagnostics again;
  CHECK_FALSE(gexp::sim::check_model(without, again));
  CHECK(again.sorted().front().code == "E0603");
}

TEST_CASE("a table header whose name does not begin like one is an error at its place, and ends nothing") {
  for (const char* header : {"[=]", "[[=]]", "[ # ]", "[", "[[", "[a.=]", "[a.", "[!]"}) {
    CAPTURE(std::string(header));
    const gexp::Source model("hostile.toml", std::string(header) + "\n");
    gexp::Diagnostics diagnostics;
    CHECK_FALSE(gexp::sim::parse_toml(model, diagnostics));
    REQUIRE(diagnostics.sorted().size() == 1);
    CHECK(diagnostics.sorted()[0].code == "E0601");
    CHECK(model.position(diagnostics.sorted()[0].span.begin).line <= 2);
  }
}
