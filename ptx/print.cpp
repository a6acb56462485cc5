// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "ptx/tree.h"

// A text that parse() reads as the tree that it was made of.
namespace gexp::ptx {
namespace {

class Printer {
 public:
  std::string take() { return std::move(out_); }

  void module(const Module& m) {
    for (const auto& item : m.items) {
      std::visit([this](const auto& what) { top(what); }, item);
      out_ += '\n';
    }
  }

  void operator()(const Statement& s) {
    if (s.guard) put("@{}{} ", s.guard_not ? "!" : "", s.guard->text);
    if (!s.opcode.note.empty()) put("/*{}*/", s.opcode.note);
    out_ += s.opcode.text;
    list(s.operands, " ");
    out_ += ';';
  }
  void operator()(const Label& l) { put("{}:", l.name); }
  void operator()(const Registers& r) {
    out_ += ".reg ";
    if (r.vector > 1) put(".v{} ", r.vector);
    put(".{}", name_of(r.type));
    const char* before = " ";
    for (const auto& name : r.names) {
      put("{}{}", before, name.name);
      if (name.family) put("<{}>", name.count);
      before = ", ";
    }
    out_ += ';';
  }
  void operator()(const Declaration& d) {
    formal(d);
    if (!d.initial.empty() || d.list) out_ += d.list ? " = {" : " = ";
    const char* before = "";
    for (const auto& value : d.initial) {
      out_ += before;
      before = ", ";
      if (value.minus) out_ += '-';
      if (value.generic) put("generic({})", value.token.text);
      else out_ += value.token.text;
      offset(value.offset);
    }
    out_ += d.list ? "};" : ";";
  }
  void operator()(const BranchTargets& t) {
    put("{}: .branchtargets", t.name);
    const char* before = " ";
    for (const Token& label : t.labels) put("{}{}", std::exchange(before, ", "), label.text);
    out_ += ';';
  }
  void operator()(const Directive& d) { tokens(d.tokens); }
  void operator()(const Brace& b) { out_ += b.open ? '{' : '}'; }

 private:
  template <class... T> void put(fmt::format_string<T...> format, T&&... values) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<T>(values)...);
  }
  void tokens(const std::vector<Token>& list) {
    for (const Token& token : list) put("{}{}", &token == list.data() ? "" : " ", token.text);
  }
  void offset(std::int64_t value) {
    if (value != 0) put("+{}", value);
  }
  void list(const std::vector<Operand>& operands, const char* before) {
    for (const Operand& o : operands) {
      out_ += std::exchange(before, ", ");
      operand(o);
    }
  }
  void operand(const Operand& o) {
    switch (o.kind) {
      case Operand::Kind::Vector: out_ += '{', list(o.items, ""), out_ += '}'; return;
      case Operand::Kind::List: out_ += '(', list(o.items, ""), out_ += ')'; return;
      case Operand::Kind::Address:
        put("[{}", o.token.text);
        offset(o.offset);
        list(o.items, ", ");
        out_ += ']';
        return;
      case Operand::Kind::Name: case Operand::Kind::Number: break;
    }
    put("{}{}{}", o.inverted ? "!" : "", o.minus ? "-" : "", o.token.text);
    offset(o.offset);
    list(o.items, "|");
  }
  void formal(const Declaration& d) {
    tokens(d.words);
    put(" {}", d.name);
    for (const auto& extent : d.extents) extent ? put("[{}]", *extent) : put("[]");
  }
  void formals(const std::vector<Declaration>& list) {
    out_ += '(';
    for (const Declaration& d : list) {
      if (&d != list.data()) out_ += ", ";
      formal(d);
    }
    out_ += ')';
  }
  void top(const Directive& d) { (*this)(d); }
  void top(const Registers& r) { (*this)(r); }
  void top(const Declaration& d) { (*this)(d); }
  void top(const Function& f) {
    tokens(f.linkage);
    put("{}{} ", f.linkage.empty() ? "" : " ", f.entry ? ".entry" : ".func");
    if (f.lists_results) formals(f.results), out_ += ' ';
    out_ += f.name;
    if (f.lists_parameters) formals(f.parameters);
    if (!f.bounds.empty()) out_ += ' ';
    tokens(f.bounds);
    if (f.declared_only) {
      out_ += ';';
      return;
    }
    out_ += "\n{\n";
    for (const Item& item : f.body) {
      if (!std::holds_alternative<Label>(item.what)) out_ += "  ";
      std::visit(*this, item.what);
      out_ += '\n';
    }
    out_ += '}';
  }

  std::string out_;
};

}  // namespace

std::string print(const Module& module) {
  Printer printer;
  printer.module(module);
  return printer.take();
}

std::string print(const Item& item) {
  Printer printer;
  std::visit(printer, item.what);
  return printer.take();
}

std::string print(const Statement& statement) {
  Printer printer;
  printer(statement);
  return printer.take();
}

}  // namespace gexp::ptx
