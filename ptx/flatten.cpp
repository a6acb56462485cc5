// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "ptx/flow.h"

namespace gexp::ptx {
namespace {

class Flattener {
 public:
  Flattener(Module& module, Function& function) : module_(module), f_(function) {
    while (std::any_of(f_.body.begin(), f_.body.end(), [this](const Item& item) { return names(item, mark_); })) mark_ += '_';
  }

  void run() {
    std::vector<Item> kept;
    for (std::size_t i = 0; i < f_.body.size(); ++i) {
      Item& item = f_.body[i];
      if (const auto* brace = std::get_if<Brace>(&item.what)) {
        if (brace->open) open(i);
        else scopes_.pop_back();
        continue;
      }
      std::visit([this](auto& what) { rename(what); }, item.what);
      kept.push_back(std::move(item));
    }
    f_.body = std::move(kept);
  }

 private:
  struct Scope {
    std::map<std::string_view, std::string_view> names;
    struct Family {
      std::string_view before, after;
      std::uint32_t count;
    };
    std::vector<Family> families;
  };

  static bool names(const Item& item, std::string_view mark) {
    bool found = false;
    if (const auto* r = std::get_if<Registers>(&item.what)) {
      for (const auto& name : r->names) found |= name.name.find(mark) != std::string_view::npos;
    }
    if (const auto* d = std::get_if<Declaration>(&item.what)) found = d->name.find(mark) != std::string_view::npos;
    if (const auto* l = std::get_if<Label>(&item.what)) found = l->name.find(mark) != std::string_view::npos;
    if (const auto* t = std::get_if<BranchTargets>(&item.what)) found = t->name.find(mark) != std::string_view::npos;
    return found;
  }

  std::string_view own(std::string_view name) { return module_.keep(fmt::format("{}{}{}", name, mark_, count_)); }

  /// Labels and tables are used before they stand there.
  void open(std::size_t at) {
    scopes_.emplace_back();
    ++count_;
    int depth = 0;
    for (std::size_t i = at; i < f_.body.size(); ++i) {
      if (const auto* brace = std::get_if<Brace>(&f_.body[i].what)) depth += brace->open ? 1 : -1;
      if (depth == 0) break;
      if (depth > 1) continue;
      if (const auto* label = std::get_if<Label>(&f_.body[i].what)) scopes_.back().names[label->name] = own(label->name);
      if (const auto* table = std::get_if<BranchTargets>(&f_.body[i].what)) scopes_.back().names[table->name] = own(table->name);
    }
  }

  std::string_view meaning(std::string_view name) {
    const std::size_t dot = name.find('.', 1);  // "v.x" of a vector register
    const std::string_view base = name.substr(0, dot);
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
      const auto found = scope->names.find(base);
      if (found != scope->names.end())
        return dot == std::string_view::npos ? found->second : module_.keep(fmt::format("{}{}", found->second, name.substr(dot)));
      for (const auto& [before, after, count] : scope->families) {
        if (!base.starts_with(before)) continue;
        std::uint32_t number = count;
        const auto parsed = std::from_chars(base.data() + before.size(), base.data() + base.size(), number);
        if (parsed.ec == std::errc() && parsed.ptr == base.data() + base.size() && number < count)
          return module_.keep(fmt::format("{}{}", after, name.substr(before.size())));
      }
    }
    return name;
  }

  void rename(Token& token) {
    if (token.kind == Token::Kind::Word && !scopes_.empty()) token.text = meaning(token.text);
  }
  void rename(Operand& o) {
    rename(o.token);
    for (Operand& item : o.items) rename(item);
  }
  void rename(Statement& s) {
    if (s.guard) rename(*s.guard);
    for (Operand& o : s.operands) rename(o);
  }
  void rename(Registers& r) {
    if (scopes_.empty()) return;
    for (auto& name : r.names) {
      // Behind a family's prefix stand its numbers, so its mark ends in a letter.
      const auto fresh = name.family ? module_.keep(fmt::format("{}{}{}_", name.name, mark_, count_)) : own(name.name);
      if (name.family) scopes_.back().families.push_back({name.name, fresh, name.count});
      else scopes_.back().names[name.name] = fresh;
      name.name = fresh;
    }
  }
  void rename(Declaration& d) {
    for (auto& value : d.initial) rename(value.token);
    if (scopes_.empty()) return;
    d.name = scopes_.back().names[d.name] = own(d.name);
  }
  void rename(Label& l) { l.name = meaning(l.name); }
  void rename(BranchTargets& t) {
    t.name = meaning(t.name);
    for (Token& label : t.labels) rename(label);
  }
  void rename(Directive& d) {  // a prototype's name is the only one that something refers to, and is left as it is
    (void)d;
  }
  void rename(Brace&) {}

  Module& module_;
  Function& f_;
  std::string mark_ = "$s";
  int count_ = 0;
  std::vector<Scope> scopes_;
};

}  // namespace

void flatten(Module& module, Function& function) { Flattener(module, function).run(); }

}  // namespace gexp::ptx
