#include "conformance/inspect/describe.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <stdexcept>

#include "conformance/inspect/value_or_throw.h"
#include "conformance/text/element.h"
#include "conformance/text/printable.h"
#include "reference/dtype.h"

namespace assay::inspect {
namespace {

// The dtype, sizes, dim order and bytes.
template <class Table>
TensorFacts layout_facts(const Table& t) {
  TensorFacts facts{};
  const auto dtype = dtype_numbered(t.scalar_type());
  facts.dtype = dtype ? std::string(info(*dtype).name) : fmt::format("dtype {}", static_cast<int>(t.scalar_type()));
  facts.alias = dtype ? std::string(info(*dtype).alias) : facts.dtype;
  facts.sizes = format::items(t.sizes()), facts.dim_order = format::items(t.dim_order());
  facts.dynamism = "static";
  facts.bytes = byte_count(t);
  return facts;
}

constexpr std::string_view kind_names[] = {"DelegateCall", "MoveCall", "JumpFalseCall", "FreeCall", "no operator"};

// The index in the plan's operators, followed by kind_names.
std::uint32_t operator_index(const pte::ExecutionPlan& plan, const pte::Instruction& instruction) {
  const std::uint32_t operators = format::size_of(plan.operators());
  switch (instruction.instr_args_type()) {
    case pte::InstructionArguments::DelegateCall:
      return operators;
    case pte::InstructionArguments::MoveCall:
      return operators + 1;
    case pte::InstructionArguments::JumpFalseCall:
      return operators + 2;
    case pte::InstructionArguments::FreeCall:
      return operators + 3;
    default:
      break;
  }
  const auto* call = instruction.instr_args_as_KernelCall();
  const std::int32_t index = call ? call->op_index() : -1;
  return index >= 0 && index < static_cast<Int>(operators) ? static_cast<std::uint32_t>(index) : operators + 4;
}

}  // namespace

const ContentWriters& content_writers(const format::FileKind& kind) {
  static constexpr format::OfKind<ContentWriters> writers[] = {
      {&format::program_kind, {write_program, write_program}},
      {&format::data_kind, {write_data, write_data}},
      {&format::bundle_kind, {write_bundle, write_bundle}},
  };
  const auto* found = format::find_of_kind(writers, kind);
  if (!found) throw std::logic_error(fmt::format("a {} has no ContentWriters", kind.noun));
  return *found;
}

Opened::Opened(const File& file, std::span<const File> data, const Budget& budget)
    : report_(check(file, data, budget)) {
  const format::FileKind& kind = *report_.kind;
  if (&kind == &format::program_kind)
    program_ = value_or_throw(open_program(file));
  else
    file_ = value_or_throw(open_as(file, kind));
  if (file_)
    kind.parts(file_->view(), nullptr,
               [&](const format::Nested& part) { program_ = value_or_throw(open_program(file_->within(part.bytes))); });
}

Described Opened::described() const {
  return {*report_.kind,
          report_.bytes,
          report_.faults.first,
          report_.faults.more,
          file_ ? file_->view() : format::AnyView(program_->view()),
          program_ ? &program_->view() : nullptr,
          {}};
}

// -- tensors ------------------------------------------------------------------------------------------------------

TensorFacts facts_of(const ptd::TensorLayout& tensor) { return layout_facts(tensor); }

TensorFacts facts_of(const pte::Tensor& t) {
  constexpr std::string_view dynamisms[] = {"static", "bounded", "unbounded"};
  TensorFacts facts = layout_facts(t);
  const bool external = format::is_external(t), constant = t.data_buffer_idx() > 0;
  facts.dynamism = dynamisms[static_cast<std::size_t>(t.shape_dynamism())];
  facts.where = t.allocation_info() ? "planned" : external ? "external" : constant ? "constant" : "supplied";
  facts.name = format::name_of(t);
  facts.memory = t.allocation_info();
  facts.state = is_state(t), facts.initial = t.allocation_info() && (external || constant);
  return facts;
}

std::string short_text(const TensorFacts& t) {
  const std::size_t most = max_rank;
  const std::string_view bound = t.dynamism == "bounded" ? "<=" : t.dynamism == "unbounded" ? "?" : "";
  const auto joined = [&](const auto& items) {
    return fmt::format("{}{}", fmt::join(items.first(std::min(most, items.size())), ","),
                       items.size() > most ? ",..." : "");
  };
  return fmt::format("{}[{}{}]{}", t.alias, bound, joined(t.sizes),
                     std::ranges::is_sorted(t.dim_order) ? "" : fmt::format("({})", joined(t.dim_order)));
}

// -- methods ------------------------------------------------------------------------------------------------------

MethodFacts::MethodFacts(const pte::ExecutionPlan& p)
    : plan(p),
      operators(format::size_of(p.operators()) + std::size(kind_names)),
      delegate_calls(format::size_of(p.delegates())),
      written_(format::size_of(p.values())) {
  const auto write = [&](Int value) {
    if (value_at(plan, value)) written_[static_cast<std::size_t>(value)] = true;
  };
  for (std::uint32_t i = 0; i < operators.size(); ++i) operators[i].index = i;
  for (const std::int32_t input : format::items(plan.inputs())) write(input);
  for (const pte::Chain& chain : tables(plan.chains()))
    for (const pte::Instruction& instruction : tables(chain.instructions())) {
      const Listed l = listed(plan, instruction);
      ++instructions;
      ++operators[operator_index(plan, instruction)].calls;
      if (l.delegate && *l.delegate >= 0 && *l.delegate < static_cast<Int>(delegate_calls.size()))
        ++delegate_calls[static_cast<std::size_t>(*l.delegate)];
      for (const Operand& o : l.operands)
        if (o.role != Operand::Role::input) write(o.value);
    }
  std::erase_if(operators, [](const Calls& c) { return c.calls == 0; });
  std::ranges::sort(operators, [](const Calls& a, const Calls& b) {
    return a.calls != b.calls ? a.calls > b.calls : a.index < b.index;
  });
}

std::string MethodFacts::name(const Calls& calls) const {
  const std::uint32_t kinds = format::size_of(plan.operators());
  return calls.index < kinds ? cut_name(*plan.operators()->Get(calls.index))
                             : std::string(kind_names[calls.index - kinds]);
}

MethodFacts::Marks MethodFacts::targets_of(const pte::Chain& chain) {
  const std::uint32_t count = format::size_of(chain.instructions());
  Marks targets(count);
  for (const pte::Instruction& instruction : tables(chain.instructions()))
    if (const auto* jump = instruction.instr_args_as_JumpFalseCall())
      if (const std::int32_t to = jump->destination_instruction(); to >= 0 && to < static_cast<Int>(count))
        targets[static_cast<std::size_t>(to)] = true;
  return targets;
}

// A list of values shows their contents; a value that an instruction or the caller writes is shown as its index.
std::string MethodFacts::element_text(Int i) const {
  if (i == -1) return "none";
  const auto* v = value_at(plan, i);
  const auto* n = v ? v->val_as_Int() : nullptr;
  return n && !written_[static_cast<std::size_t>(i)] ? fmt::format("{}", n->int_val()) : fmt::format("%{}", i);
}

std::string MethodFacts::list_text(const auto& items) const {
  constexpr std::size_t most = 100;
  std::string all;
  for (const auto i : items.first(std::min(most, items.size()))) {
    if (!all.empty()) all += ',';
    if constexpr (std::is_same_v<decltype(i), const double>)
      all += text::double_text(i);
    else if constexpr (std::is_same_v<decltype(i), const std::uint8_t>)
      all += i ? "true" : "false";
    else
      all += element_text(static_cast<Int>(i));
  }
  return fmt::format("[{}{}]", all, items.size() > most ? fmt::format(",... {} in all", items.size()) : "");
}

std::string MethodFacts::value_text(Int value) const {
  const pte::EValue& v = *value_at(plan, value);
  const bool number = v.val_type() >= pte::KernelTypes::Null && v.val_type() <= pte::KernelTypes::Double;
  if (number && written_[static_cast<std::size_t>(value)]) return "";
  if (const auto* n = v.val_as_Int()) return fmt::format("{}", n->int_val());
  if (const auto* d = v.val_as_Double()) return text::double_text(d->double_val());
  if (const auto* b = v.val_as_Bool()) return b->bool_val() ? "true" : "false";
  if (const auto* s = v.val_as_String()) return text::in_quotes(format::text_of(s->string_val()));
  if (const auto* t = v.val_as_Tensor()) return short_text(facts_of(*t));
  if (const auto* l = v.val_as_DoubleList()) return list_text(format::items(l->items()));
  if (const auto* l = v.val_as_BoolList()) return list_text(format::items(l->items()));
  if (const auto* l = v.val_as_IntList()) return list_text(format::items(l->items()));
  if (const auto* l = v.val_as_TensorList()) return list_text(format::items(l->items()));
  if (const auto* l = v.val_as_OptionalTensorList()) return list_text(format::items(l->items()));
  return "none";
}

Buffer<const pte::ExecutionPlan*> methods_of(const Described& file) {
  Buffer<const pte::ExecutionPlan*> plans;
  if (!file.program) return plans;
  for (const pte::ExecutionPlan& plan : tables(file.program->tables->execution_plan()))
    if (!file.method || *file.method == format::text_of(plan.name())) plans.push_back(&plan);
  if (file.method && plans.empty()) throw no_method(*file.method, *file.program->tables);
  return plans;
}

// -- segments ---------------------------------------------------------------------------------------------------

std::optional<std::uint64_t> payload_bytes(const format::ProgramView& program, const pte::BackendDelegate& delegate) {
  const pte::BackendDelegateDataReference& at = *delegate.processed();
  const auto* inlined = program.tables->backend_delegate_data();
  if (at.location() == pte::DataLocation::INLINE)
    return at.index() < format::size_of(inlined) ? std::optional(format::size_of(inlined->Get(at.index())->data()))
                                                 : std::nullopt;
  return at.index() < program.segment_count() ? std::optional(program.segment(at.index()).size()) : std::nullopt;
}

std::string location_text(const pte::BackendDelegate& delegate) {
  const pte::BackendDelegateDataReference& at = *delegate.processed();
  return at.location() == pte::DataLocation::INLINE ? "inline" : fmt::format("segment {}", at.index());
}

namespace {

Buffer<SegmentUse> sorted(Buffer<SegmentUse> uses) {
  std::ranges::sort(uses);
  uses.erase(std::unique(uses.begin(), uses.end()), uses.end());
  return uses;
}

}  // namespace

Buffer<SegmentUse> segment_uses(const ptd::FlatTensor& file) {
  Buffer<SegmentUse> uses;
  for (const ptd::NamedData& n : tables(file.named_data()))
    uses.push_back({n.segment_index(), SegmentUse::Kind::named_data});
  return sorted(std::move(uses));
}

Buffer<SegmentUse> segment_uses(const pte::Program& program) {
  using enum SegmentUse::Kind;
  Buffer<SegmentUse> uses;
  if (const auto* c = program.constant_segment(); c && format::size_of(c->offsets()) > 0)
    uses.push_back({c->segment_index(), constants});
  for (const auto& s : tables(program.mutable_data_segments())) uses.push_back({s.segment_index(), initial_values});
  for (const auto& n : tables(program.named_data())) uses.push_back({n.segment_index(), named_data});
  std::uint32_t method = 0;
  for (const pte::ExecutionPlan& plan : tables(program.execution_plan())) {
    for (std::uint32_t i = 0; i < format::size_of(plan.delegates()); ++i)
      if (const auto& at = *plan.delegates()->Get(i)->processed(); at.location() == pte::DataLocation::SEGMENT)
        uses.push_back({at.index(), delegate, method, i});
    ++method;
  }
  return sorted(std::move(uses));
}

std::string holds_text(const pte::Program* program, const Buffer<SegmentUse>& uses, std::uint32_t segment,
                       std::size_t& at) {
  constexpr std::size_t most = 20;
  constexpr std::string_view names[] = {"constants", "initial values", "named data"};
  std::string all;
  std::size_t said = 0;
  for (; at < uses.size() && uses[at].segment <= segment; ++at) {
    const SegmentUse& use = uses[at];
    if (use.segment < segment || ++said > most) continue;
    all += all.empty() ? "" : ", ";
    if (use.kind != SegmentUse::Kind::delegate) {
      all += names[static_cast<std::size_t>(use.kind)];
      continue;
    }
    const auto& plan = *program->execution_plan()->Get(use.method);
    all += fmt::format("delegate {} of {}", use.delegate, text::shown(format::text_of(plan.name())));
  }
  return said > most ? fmt::format("{} and {} more", all, said - most) : all;
}

}  // namespace assay::inspect
