// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "lang/check_stage.h"
#include "lang/kernel_file.h"

/// `kernel "FILE" entry NAME(…)`: what stands for its parameters, and where it may stand.
namespace gexp::lang {

const Symbol* StageChecker::named_by(const KernelArgument& argument) const {
  if (argument.name) return names_.find(argument.name->text);
  const auto* name = argument.value ? std::get_if<Name>(&argument.value->node) : nullptr;
  return name ? names_.find(name->text) : nullptr;
}

void StageChecker::kernel(const Op& op, const Place& place) {
  const auto& call = op.kernel;
  for (const auto& argument : call.arguments) kernel_argument(argument, place);
  for (const auto& value : call.templates) kernel_text(value, place, "a value of `template`");
  for (const auto& define : call.defines) kernel_text(define.value, place, "the value of a macro");
  if (!is_ptx(call.path.text) || (call.templates.empty() && call.defines.empty())) return;
  const auto& first = call.templates.empty() ? call.defines.front().value : call.templates.front();
  diagnostics_.error("E0226", first ? first->span : op.span, "PTX is not compiled: it takes no `template` and no `define`",
                     "give the kernel a parameter, or name a .cu file");
}

void StageChecker::kernel_argument(const KernelArgument& argument, const Place& place) {
  const auto* symbol = named_by(argument);
  const bool memory = symbol && symbol->kind == Symbol::Kind::Memory, record = symbol && symbol->kind == Symbol::Kind::Record;
  const auto refuse = [&](Span span, const char* what, const char* hint) { diagnostics_.error("E0226", span, what, hint); };
  if (argument.name && !symbol) {
    expressions_.refer(*argument.name, place, "a record");
  } else if (argument.entries && !record) {
    refuse(argument.span, "only the record has a number of entries here", "a memory has its own length; write its name alone");
  }
  if (argument.entries) expressions_.want(argument.entries, number_of({}), place, "the number of entries");
  if (argument.width && !record)
    refuse(argument.width->span, "only the record has a width here",
           "write `as 8B` behind the record's name, where the kernel writes 8 bytes an entry");
  if (argument.width) expressions_.want(argument.width, number_of(kBytes), place, "the width of an entry");
  if (argument.pattern && !memory)
    refuse(argument.pattern->span, "only a memory holds the links of a pattern", "write `A by ring`, A a memory");
  if (argument.pattern && memory && !expressions_.module_pattern(*argument.pattern, place)) {
    if (const auto* pattern = expressions_.refer(*argument.pattern, place, "a pattern"); pattern && !fits(pattern->type, pattern_type())) {
      diagnostics_.error("E0207", argument.pattern->span,
                         fmt::format("`{}` is {}, and a pattern is wanted here", argument.pattern->text, describe(pattern->type)),
                         "write `pattern NAME = uniform(stride: 32B, span: 4KiB)` and name it here");
    }
  }
  if (memory || record || !argument.value) return;
  const auto type = expressions_.check(argument.value, place).type;
  if (!type.any() && !type.number()) {
    diagnostics_.error("E0215", argument.value->span,
                       fmt::format("an argument of a kernel is a number, a memory or the record, and this is {}", describe(type)),
                       "write a number");
  }
}

void StageChecker::kernel_text(const ExprPtr& value, const Place& place, const char* role) {
  const auto type = expressions_.check(value, place).type;
  if (!value || type.any() || type.number() || type.kind == Type::Kind::Text) return;
  diagnostics_.error("E0215", value->span, fmt::format("{} is a number or a text, and this is {}", role, describe(type)),
                     "write it like `define TILE = 32` or `define TYPE = \"float\"`");
}

void StageChecker::kernels(const std::vector<Op>& body, const Timed* timed) {
  const auto misplaced = [&](const Op& op) {
    diagnostics_.error("E0225", first_word(expressions_.source(), op.span),
                       "a kernel of a file is a launch of its own: nothing stands beside or around it",
                       "give it a `warm` or the `timed` of a stage alone");
  };
  const std::function<void(const std::vector<Op>&, bool)> look = [&](const std::vector<Op>& inner, bool outermost) {
    for (const auto& op : inner) {
      if (op.kind != Op::Kind::Kernel)
        look(op.body, false), look(op.otherwise, false);
      else if (!outermost || inner.size() > 1)
        misplaced(op);
      else
        kernel_record(op, timed);
    }
  };
  look(body, true);
}

void StageChecker::kernel_record(const Op& op, const Timed* timed) {
  bool given = false;
  const bool records = timed && timed->how.text != "wall";
  for (const auto& argument : op.kernel.arguments) {
    const auto* symbol = named_by(argument);
    if (!symbol || symbol->kind != Symbol::Kind::Record) continue;
    if (!timed) {
      diagnostics_.error("E0227", argument.span, "nothing of a warm-up is recorded", "give the kernel a memory to write into");
    } else if (!records) {
      diagnostics_.error("E0227", argument.span, "`wall` records the time of the launch, not what the kernel writes",
                         fmt::format("write `timed {} each {{ … }}`, or leave it out of the arguments", timed->name.text));
    }
    given = true;
  }
  if (given || !records) return;
  diagnostics_.error("E0227", op.kernel.entry.span, fmt::format("nothing writes `{}`: the kernel is not given it", timed->name.text),
                     fmt::format("name it among the arguments: `{}[256]`; or time the launch: `timed {} wall {{ … }}`", timed->name.text,
                                 timed->name.text));
}

void StageChecker::kernel_launch(const Stage& stage) {
  const Launch* launch = nullptr;
  const Statement* transform = nullptr;
  bool kernel = false;
  for (const auto& item : stage.items) {
    if (const auto* found = std::get_if<Launch>(&item.node)) launch = found;
    if (std::holds_alternative<Transform>(item.node)) transform = &item;
    const auto* timed = std::get_if<Timed>(&item.node);
    if (timed) kernel = std::any_of(timed->body.begin(), timed->body.end(), [](const Op& op) { return op.kind == Op::Kind::Kernel; });
  }
  if (transform && !kernel) {
    diagnostics_.error("E0240", first_word(expressions_.source(), transform->span), "a transformation changes the kernel of a file, and this stage has none",
                       "write `timed run wall { kernel \"FILE\" entry NAME(…) }`");
  }
  if (!kernel || !launch) return;
  const auto refuse = [&](const ExprPtr& clause, const char* word, const char* hint) {
    if (clause)
      diagnostics_.error("E0228", clause->span, fmt::format("`{}` is written into a kernel's text, and this kernel's is not gexp's", word),
                         hint);
  };
  refuse(launch->cluster, "cluster", "write `__cluster_dims__(…)` in the kernel's file");
  refuse(launch->sm, "sm", "leave it out; the kernel can read %smid and record on one multiprocessor alone");
  refuse(launch->sms, "sms", "leave it out; the kernel can read %smid");
  refuse(launch->registers, "registers", "leave it out; `__launch_bounds__(threads, blocks)` in the kernel's file bounds them");
}

void StageChecker::transformation(const Transform& transform) {
  const auto* call = transform.call ? std::get_if<Call>(&transform.call->node) : nullptr;
  if (!call) return;
  if (call->callee.text != "soft_l1") {
    diagnostics_.error("E0240", call->callee.span, fmt::format("`{}` is no transformation of a kernel", call->callee.text),
                       "write `transform soft_l1(line: 16B)`");
    return;
  }
  const auto place = at("a transformation", Time::Point);
  std::vector<std::string> seen;
  for (const auto& argument : call->arguments) {
    const auto span = argument.label ? argument.label->span : argument.value ? argument.value->span : transform.call->span;
    const std::string label = argument.label ? argument.label->text : "";
    const bool known = label == "line" || label == "monitor" || label == "hits";
    if (!known || argument.over || argument.by || argument.where) {
      diagnostics_.error("E0222", span, "`soft_l1` takes `line`, `monitor` and `hits`", "write `soft_l1(line: 16B, monitor: 300)`");
      continue;
    }
    if (std::find(seen.begin(), seen.end(), label) != seen.end())
      diagnostics_.error("E0222", span, fmt::format("`{}` is given twice", label), "keep one of them");
    seen.push_back(label);
    expressions_.want(argument.value, label == "line" ? number_of(kBytes) : number_of({}), place, label == "line" ? "the line" : label == "hits" ? "a place among the arguments" : "the number of accesses");
  }
  if (std::find(seen.begin(), seen.end(), "line") == seen.end())
    diagnostics_.error("E0222", call->callee.span, "`soft_l1` has no `line`", "write `soft_l1(line: 16B)`: 8, 16, 24 or 32 bytes, or 0B for none");
}

}  // namespace gexp::lang
