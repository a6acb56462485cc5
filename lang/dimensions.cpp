// SPDX-License-Identifier: Apache-2.0
#include "lang/dimensions.h"

#include <algorithm>

namespace gexp::lang {

const Type* Type::field(std::string_view name) const {
  if (!fields) return nullptr;
  if (index) {
    const auto indexed = index->find(name);
    return indexed == index->end() ? nullptr : indexed->second;
  }
  const auto found = std::find_if(fields->begin(), fields->end(), [&](const Field& f) { return f.first == name; });
  return found == fields->end() ? nullptr : &found->second;
}

std::vector<std::string_view> Type::field_names() const {
  std::vector<std::string_view> names;
  if (fields) {
    for (const auto& [name, type] : *fields) names.push_back(name);
  }
  return names;
}

namespace {

Type of_kind(Type::Kind kind, Dimension dimension = {}) {
  Type type;
  type.kind = kind;
  type.dimension = dimension;
  return type;
}

}  // namespace

Type any_type() { return {}; }
Type number_of(Dimension dimension) { return of_kind(Type::Kind::Number, dimension); }
Type bool_type() { return of_kind(Type::Kind::Bool); }
Type text_type() { return of_kind(Type::Kind::Text); }
Type pattern_type() { return of_kind(Type::Kind::Pattern); }
Type record_of(Dimension dimension) { return of_kind(Type::Kind::Record, dimension); }

Type list_of(Type item) {
  auto type = of_kind(Type::Kind::List);
  type.item = std::make_shared<const Type>(std::move(item));
  return type;
}

Type structure_of(std::vector<Type::Field> fields, bool line) {
  auto type = of_kind(Type::Kind::Structure);
  type.fields = std::make_shared<const std::vector<Type::Field>>(std::move(fields));
  type.line = line;
  constexpr std::size_t kMany = 16;
  if (type.fields->size() > kMany) {
    std::map<std::string_view, const Type*> index;
    for (const auto& [name, field] : *type.fields) index.emplace(name, &field);
    type.index = std::make_shared<const std::map<std::string_view, const Type*>>(std::move(index));
  }
  return type;
}

std::string describe(Dimension dimension) {
  if (dimension.none()) return "a plain number";
  if (dimension == kBytes) return "bytes";
  if (dimension == kSeconds) return "seconds";
  return name(dimension);
}

std::string describe(const Type& type) {
  switch (type.kind) {
    case Type::Kind::Any: return "something unknown";
    case Type::Kind::Number: return describe(type.dimension);
    case Type::Kind::Bool: return "a condition";
    case Type::Kind::Text: return "a text";
    case Type::Kind::List:
      if (!type.item || type.item->any()) return "a list";
      if (type.item->plain()) return "a list of plain numbers";
      return "a list of " + describe(*type.item);
    case Type::Kind::Pattern: return "a pattern";
    case Type::Kind::Structure: return type.line ? "a line" : "a structure";
    case Type::Kind::Record: return "a record";
  }
  return "";
}

bool fits(const Type& value, const Type& wanted) {
  if (value.any() || wanted.any()) return true;
  if (wanted.kind == Type::Kind::Pattern && value.kind == Type::Kind::List) {
    return !value.item || fits(*value.item, number_of(kBytes));
  }
  if (value.kind != wanted.kind) return false;
  switch (value.kind) {
    case Type::Kind::Number:
    case Type::Kind::Record: return value.dimension == wanted.dimension || value.zero || wanted.zero;
    case Type::Kind::List: return !value.item || !wanted.item || fits(*value.item, *wanted.item);
    default: return true;
  }
}

const Type& device_type() {
  static const Type type = [] {
    const auto bytes = number_of(kBytes);
    return structure_of({{"clock", number_of(find_unit("GHz")->dimension)},
                         {"compute", number_of({})},
                         {"dram", structure_of({{"peak", number_of(kBytes / kSeconds)}})},
                         {"l2", structure_of({{"bytes", bytes}})},
                         {"memory", structure_of({{"bytes", bytes}})},
                         {"name", text_type()},
                         {"shared", structure_of({{"per_block", bytes}, {"per_sm", bytes}})},
                         {"simulated", number_of({})},
                         {"sms", number_of({})}});
  }();
  return type;
}

const Type& model_type() {
  static const Type type = [] {
    const auto bytes = number_of(kBytes), plain = number_of({}), cycles = number_of(kCycles), rate = number_of(kBytes / kCycles);
    const auto cache = structure_of({{"across", cycles},
                                     {"bits", list_of(any_type())},
                                     {"capacity", bytes},
                                     {"copies", bool_type()},
                                     {"evicts", text_type()},
                                     {"fetch", bytes},
                                     {"groups", list_of(list_of(plain))},
                                     {"hit", cycles},
                                     {"in_frame", structure_of({{"bits", list_of(any_type())}, {"mapping", text_type()}})},
                                     {"line", bytes},
                                     {"lines", plain},
                                     {"mapping", text_type()},
                                     {"mean", cycles},
                                     {"memory", cycles},
                                     {"miss", cycles},
                                     {"prefetch", bytes},
                                     {"slices", plain},
                                     {"probabilities", list_of(plain)},
                                     {"replacement", text_type()},
                                     {"sets", plain},
                                     {"sizes", list_of(plain)},
                                     {"together", bytes},
                                     {"ways", any_type()}});
    const auto tlb = structure_of({{"entries", plain},
                                   {"evicts", text_type()},
                                   {"groups", list_of(list_of(plain))},
                                   {"mapping", text_type()},
                                   {"page", bytes},
                                   {"probabilities", list_of(plain)},
                                   {"reach", bytes},
                                   {"replacement", text_type()},
                                   {"sets", plain},
                                   {"sizes", list_of(plain)},
                                   {"ways", any_type()}});
    return structure_of({{"bandwidth", structure_of({{"dram", rate}, {"l1", rate}, {"l2", rate}, {"shared", rate}, {"sm", rate}, {"stores", rate}, {"tpc", rate}})},
                         {"ca", cache},
                         {"cg", cache},
                         {"chip", structure_of({{"alike", list_of(plain)}, {"clock", list_of(plain)}, {"side", list_of(plain)}})},
                         {"constant", cache},
                         {"cv", cache},
                         {"nc", cache},
                         {"registers", structure_of({{"per_sm", plain}, {"per_thread", plain}, {"step", plain}, {"threads", plain}})},
                         {"outstanding", structure_of({{"entries", plain}, {"kind", text_type()}, {"loads_per_warp", plain}, {"merges", plain}, {"requests", plain}})},
                         {"shared", structure_of({{"banks", plain}, {"cost", list_of(cycles)}, {"width", bytes}})},
                         {"tex", cache},
                         {"tlb1", tlb},
                         {"tlb2", tlb},
                         {"tlb3", tlb},
                         {"window", bytes}});
  }();
  return type;
}

std::optional<Type> declared_type(std::string_view word) {
  if (word == "B") return number_of(kBytes);
  if (word == "count") return number_of({});
  if (word == "cycles") return number_of(kCycles);
  if (word == "s") return number_of(kSeconds);
  if (word == "ops") return number_of(kOps);
  if (word == "B/s") return number_of(kBytes / kSeconds);
  if (word == "B/cycle") return number_of(kBytes / kCycles);
  if (word == "ops/cycle") return number_of(kOps / kCycles);
  if (word == "ops/s") return number_of(kOps / kSeconds);
  if (word == "name") return text_type();
  if (word == "list") return list_of(any_type());
  if (word == "structure") return structure_of({});
  if (word == "line") return structure_of({}, true);
  return std::nullopt;
}

std::optional<Type> argument_type(std::string_view word) {
  if (word == "record") return record_of(kCycles);
  if (word == "pattern") return pattern_type();
  return declared_type(word);
}

const std::vector<std::string_view>& param_type_words() {
  static const std::vector<std::string_view> words{"B", "count", "cycles", "s", "ops", "B/s", "B/cycle", "ops/cycle", "ops/s", "name"};
  return words;
}

const std::vector<std::string_view>& type_words() {
  static const auto words = [] {
    auto all = param_type_words();
    all.insert(all.end(), {"list", "structure", "line"});
    return all;
  }();
  return words;
}

const std::vector<std::string_view>& argument_type_words() {
  static const auto words = [] {
    auto all = type_words();
    all.insert(all.end(), {"record", "pattern"});
    return all;
  }();
  return words;
}

}  // namespace gexp::lang
