#include "conformance/inspect/testee_needs.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

#include "conformance/cases/tensors.h"
#include "conformance/inspect/listing.h"
#include "conformance/text/literal.h"
#include "conformance/text/printable.h"
#include "reference/program/memory.h"
#include "reference/runtime/call_rules.h"
#include "reference/runtime/known_values.h"

namespace assay::inspect {
namespace {

// Of the tensors of a call that is tried. A worker gets them as text.
constexpr Int most_tried_bytes = Int{1} << 26;

std::string described(std::span<const Value> arguments) {
  std::string all;
  cases::each_tensor(
      arguments, [&](const Tensor& t, std::size_t) { all += concat(", ", describe(t), " ", cases::layout_name(t)); });
  return all;
}

Int bytes_of(std::span<const Value> arguments) {
  Int all = 0;
  cases::each_tensor(arguments, [&](const Tensor& t, std::size_t) {
    const Int elements = std::min(t.count(), most_tried_bytes);
    all = std::min(all + elements * info(t.dtype).bytes, most_tried_bytes + 1);
  });
  return all;
}

// The tensor with elements that are all equal to the number. An opaque dtype has no numbers: its elements are zero.
Tensor filled(const Tensor& t, Int number) {
  Tensor all = make(t.dtype, t.sizes, t.dim_order);
  if (number == 0 || info(t.dtype).is_opaque()) return all;
  const Tensor one = cast(tensor_of(Scalar(number)), t.dtype);
  for (std::size_t at = 0; at < all.bytes.size(); at += one.bytes.size())
    std::ranges::copy(one.bytes, all.bytes.begin() + static_cast<std::ptrdiff_t>(at));
  return all;
}

Value filled(Value value, Int number) {
  if (Tensor* t = std::get_if<Tensor>(&value)) *t = filled(*t, number);
  if (Tensors* list = std::get_if<Tensors>(&value))
    for (auto& t : *list)
      if (t) *t = filled(*t, number);
  return value;
}

// Whether the reference answers the call. Resizes the outs.
bool is_answered(const Operator& op, std::span<Value> arguments) {
  const Answer answer = call(op, arguments, {}, Mode::rules);
  return answer.outcome == Outcome::ok && answer.unknown.empty();
}

class Kernels {
 public:
  explicit Kernels(const Testee& testee) : testee_(testee) {}

  const Tries& tries() const { return tries_; }

  // Why the testee has no kernel for the call; empty if it has one.
  std::string lack(const format::Method& method, const KnownValues& values, const pte::KernelCall& call) {
    const pte::Operator& called = method.op(call);
    if (works_on_handles(called)) return "";
    const std::string name = operator_name(called);
    const Operator* op = find_operator(name);
    if (!op) return fmt::format("{}, which the specification lacks", text::shown(name));
    if (!testee_.library.has(*op)) return name;
    std::vector<Value> arguments;
    bool known = true;
    for (const std::size_t index : operands(*op, format::items(call.args()))) {
      const bool is_number = op->arguments[arguments.size()].is_out_number();
      known = known && (is_number || values[index_of(index)]);
      arguments.push_back(is_number ? Value() : values.stated(index_of(index)));
    }
    Budget::Scope::work(static_cast<Int>(arguments.size()));
    const std::string why = refusal(*op, arguments, known);
    return why.empty() ? "" : fmt::format("{}{}: {}", name, described(arguments), why);
  }

 private:
  static std::uint32_t index_of(std::size_t i) { return static_cast<std::uint32_t>(i); }

  // A refusal counts only if the arguments are `known`: a number of the file may have another type when it runs.
  std::string refusal(const Operator& op, std::span<const Value> arguments, bool known) {
    std::optional<std::string> words = testee_.refusal ? asked(op, arguments) : std::nullopt;
    if (words && !words->empty() && !known) words.reset();
    if (testee_.refusal || !testee_.library.runs_here()) ++(words ? tries_.tried : tries_.not_tried);
    if (words) return std::ranges::replace(*words, '\n', ' '), text::printable(*words);
    const std::string excluded = testee_.contract.excluded_type(op, arguments);
    return excluded.empty() ? "" : concat("its contract does not promise ", excluded);
  }

  // As tried(), but makes equal calls once.
  std::optional<std::string> asked(const Operator& op, std::span<const Value> arguments) {
    std::string key = concat(op.name, described(arguments));
    for (const Value& v : arguments)
      if (!std::holds_alternative<Tensor>(v) && !std::holds_alternative<Tensors>(v))
        key += ", " + text::literal(v, std::numeric_limits<Int>::max());
    const auto [at, is_new] = answers_.try_emplace(std::move(key));
    if (is_new) at->second = tried(op, arguments);
    return at->second;
  }

  // Returns nothing if there are no arguments to try.
  std::optional<std::string> tried(const Operator& op, std::span<const Value> arguments) const {
    std::optional<std::string> words;
    if (bytes_of(arguments) > most_tried_bytes) return words;
    for (const Int number : {0, 1}) {
      std::vector<Value> made;
      for (const Value& v : arguments) made.push_back(filled(v, number));
      if (!is_answered(op, made)) continue;
      std::string said = testee_.refusal(op, made);
      if (said.empty()) return said;
      if (!words) words = std::move(said);
    }
    return words;
  }

  const Testee& testee_;
  std::map<std::string, std::optional<std::string>, std::less<>> answers_;  // by the facts of a call
  Tries tries_;
};

void each_lacking_backend(const pte::ExecutionPlan& plan, const Testee& testee,
                          const std::function<void(std::string)>& tell) {
  std::uint32_t i = 0;
  for (const pte::BackendDelegate& d : tables(plan.delegates())) {
    const std::string_view id = format::text_of(d.id());
    if (!testee.backends.contains(id))
      tell(fmt::format("delegate {} of {}: the backend {}", i, text::shown(format::text_of(plan.name())),
                       text::shown(id)));
    ++i;
  }
}

}  // namespace

Tries each_lacking(const ValidProgram& program, const Testee& testee, const std::function<void(std::string)>& tell) {
  Kernels kernels(testee);
  for (const pte::ExecutionPlan& plan : tables(program->tables().execution_plan())) {
    each_lacking_backend(plan, testee, tell);
    with_workspace([&](format::Workspace& workspace) {
      const format::Method method(plan, workspace);
      if (workspace.counts_only()) return;
      const KnownValues values(method);
      for (std::uint32_t i = 0; i < method.instructions(); ++i) {
        const pte::KernelCall* call = method.kernel_call(i);
        const std::string what = call ? kernels.lack(method, values, *call) : "";
        if (!what.empty())
          tell(fmt::format("instruction {} of {}: {}", i, text::shown(format::text_of(plan.name())), what));
      }
    });
  }
  return kernels.tries();
}

}  // namespace assay::inspect
