#include "conformance/programs/describe.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "conformance/programs/check.h"
#include "conformance/programs/host.h"
#include "conformance/text/element.h"
#include "conformance/text/literal.h"

namespace assay {
namespace {

Ints integers(const auto& items) { return Ints(items.begin(), items.end()); }
bool is_contiguous(const Ints& dim_order) { return std::ranges::is_sorted(dim_order); }

std::string short_text(const TensorFacts& t) {
  const std::string_view bound = t.dynamism == "bounded" ? "<=" : t.dynamism == "unbounded" ? "?" : "";
  return fmt::format("{}[{}{}]{}", t.alias, bound, fmt::join(t.sizes, ","),
                     is_contiguous(t.dim_order) ? "" : fmt::format("({})", fmt::join(t.dim_order, ",")));
}

// dtype, sizes, dim order and bytes; the rest is as of a tensor in a data file.
TensorFacts layout_facts(int scalar_type, const auto& sizes, const auto& dim_order) {
  TensorFacts facts;
  const auto dtype = dtype_numbered(scalar_type);
  facts.dtype = dtype ? std::string(info(*dtype).name) : fmt::format("dtype {}", scalar_type);
  facts.alias = dtype ? std::string(info(*dtype).alias) : facts.dtype;
  facts.sizes = integers(sizes), facts.dim_order = integers(dim_order), facts.dynamism = "static";
  facts.bytes = dtype ? info(*dtype).bytes : 0;
  for (const Int n : facts.sizes) facts.bytes *= static_cast<double>(std::max<Int>(n, 0));
  return facts;
}

TensorFacts tensor_facts(const pte::TensorT& t) {
  constexpr std::string_view dynamisms[] = {"static", "bounded", "unbounded"};
  TensorFacts facts = layout_facts(t.scalar_type, t.sizes, t.dim_order);
  const bool external = t.extra_tensor_info && t.extra_tensor_info->location == pte::TensorDataLocation::EXTERNAL;
  facts.dynamism = dynamisms[static_cast<std::size_t>(t.shape_dynamism)];
  facts.where = t.allocation_info ? "planned" : external ? "external" : t.data_buffer_idx > 0 ? "constant" : "supplied";
  if (t.extra_tensor_info) facts.name = t.extra_tensor_info->fully_qualified_name;
  facts.state = is_state(t), facts.initial = t.allocation_info && (external || t.data_buffer_idx > 0);
  if (t.allocation_info) {
    facts.memory = t.allocation_info->memory_id;
    facts.offset = std::uint64_t{t.allocation_info->memory_offset_high} << 32 | t.allocation_info->memory_offset_low;
  }
  return facts;
}

// -- values -------------------------------------------------------------------------------------------------------

// Lists of values are shown by what these say; a value that an instruction writes is shown as its index.
class ValueTexts {
 public:
  ValueTexts(const pte::ExecutionPlanT& plan, const std::set<Int>& written) : plan_(plan), written_(written) {}

  std::string of(Int index) const {
    const pte::KernelTypesUnion& v = plan_.values[static_cast<std::size_t>(index)]->val;
    if (const auto* n = v.AsInt()) return fmt::format("{}", n->int_val);
    if (const auto* d = v.AsDouble()) return double_text(d->double_val);
    if (const auto* b = v.AsBool()) return b->bool_val ? "true" : "false";
    if (const auto* s = v.AsString()) return literal(Value(s->string_val), 0);
    if (const auto* t = v.AsTensor()) return short_text(tensor_facts(*t));
    if (const auto* l = v.AsDoubleList()) return literal(Value(Doubles(l->items)), 0);
    if (const auto* l = v.AsBoolList()) return literal(Value(Bools(l->items.begin(), l->items.end())), 0);
    if (const auto* l = v.AsIntList()) return list(l->items);
    if (const auto* l = v.AsTensorList()) return list(l->items);
    if (const auto* l = v.AsOptionalTensorList()) return list(l->items);
    return "none";
  }

 private:
  std::string list(const auto& items) const {
    std::vector<std::string> texts;
    for (const auto i : items) texts.push_back(element(static_cast<Int>(i)));
    return fmt::format("[{}]", fmt::join(texts, ","));
  }
  std::string element(Int i) const {
    const auto* v = value_at(plan_, i);
    if (i == -1) return "none";
    return v && v->type == pte::KernelTypes::Int && !written_.contains(i) ? of(i) : fmt::format("%{}", i);
  }

  const pte::ExecutionPlanT& plan_;
  const std::set<Int>& written_;
};

std::vector<InstructionFacts> instructions_of(const pte::ExecutionPlanT& plan) {
  std::vector<InstructionFacts> all;
  for (std::size_t c = 0; c < plan.chains.size(); ++c) {
    const auto& instructions = plan.chains[c]->instructions;
    const std::size_t begin = all.size();
    for (std::size_t i = 0; i < instructions.size(); ++i) all.push_back({c, i, listed(plan, *instructions[i]), false});
    for (std::size_t i = begin; i < all.size(); ++i)
      if (const auto target = all[i].listed.target;
          target && *target >= 0 && static_cast<std::size_t>(*target) < instructions.size())
        all[begin + static_cast<std::size_t>(*target)].is_target = true;
  }
  return all;
}

bool is_number(pte::KernelTypes kind) {
  using enum pte::KernelTypes;
  return kind == Null || kind == Int || kind == Bool || kind == Double;
}

std::vector<ValueFacts> values_of(const pte::ExecutionPlanT& plan, const std::vector<InstructionFacts>& instructions) {
  std::set<Int> written(plan.inputs.begin(), plan.inputs.end());
  for (const InstructionFacts& i : instructions)
    for (const Operand& o : i.listed.operands)
      if (o.role != Operand::Role::input) written.insert(o.value);
  const ValueTexts texts(plan, written);
  std::vector<ValueFacts> values;
  for (const auto& v : plan.values) {
    const auto index = static_cast<Int>(values.size());
    const auto* tensor = v->val.AsTensor();
    const bool changes = is_number(v->val.type) && written.contains(index);
    values.push_back({index, pte::EnumNameKernelTypes(v->val.type), changes ? "" : texts.of(index),
                      tensor ? std::optional(tensor_facts(*tensor)) : std::nullopt});
  }
  return values;
}

// -- methods ------------------------------------------------------------------------------------------------------

std::vector<std::pair<std::string, std::size_t>> operators_of(const std::vector<InstructionFacts>& instructions) {
  std::map<std::string, std::size_t> counts;
  for (const InstructionFacts& i : instructions) ++counts[i.listed.name];
  std::vector<std::pair<std::string, std::size_t>> sorted(counts.begin(), counts.end());
  std::ranges::stable_sort(sorted, std::greater(), &std::pair<std::string, std::size_t>::second);
  return sorted;
}

std::optional<std::size_t> payload_bytes(const Program& program, const pte::BackendDelegateDataReferenceT& place) {
  const auto& inlined = program.tables.backend_delegate_data;
  const bool in_tables = place.location == pte::DataLocation::INLINE;
  if (place.index >= (in_tables ? inlined.size() : program.segments.size())) return {};
  return in_tables ? inlined[place.index]->data.size() : program.segments[place.index].size();
}

std::vector<DelegateFacts> delegates_of(const Program& program, const pte::ExecutionPlanT& plan,
                                        const std::vector<InstructionFacts>& instructions) {
  std::vector<DelegateFacts> all;
  for (const auto& d : plan.delegates) {
    const bool in_tables = d->processed->location == pte::DataLocation::INLINE;
    DelegateFacts facts{d->id,
                        in_tables ? "inline" : fmt::format("segment {}", d->processed->index),
                        payload_bytes(program, *d->processed),
                        {}};
    for (const auto& spec : d->compile_specs) facts.compile_specs.emplace_back(spec->key, spec->value.size());
    all.push_back(std::move(facts));
  }
  for (const InstructionFacts& i : instructions)
    if (const auto d = i.listed.delegate; d && *d >= 0 && static_cast<std::size_t>(*d) < all.size())
      ++all[static_cast<std::size_t>(*d)].calls;
  return all;
}

MethodFacts method_facts(const Program& program, const pte::ExecutionPlanT& plan) {
  MethodFacts m;
  m.name = plan.name;
  m.instructions = instructions_of(plan);
  m.values = values_of(plan, m.instructions);
  m.inputs = integers(plan.inputs), m.outputs = integers(plan.outputs);
  m.operators = operators_of(m.instructions);
  m.delegates = delegates_of(program, plan, m.instructions);
  m.memory = memory_use(plan);
  return m;
}

// -- what stands behind the tables --------------------------------------------------------------------------------

std::vector<SegmentFacts> segments_of(const Program& program) {
  std::vector<std::set<std::string>> holds(program.segments.size());
  const auto note = [&](std::size_t segment, const std::string& what) {
    if (segment < holds.size()) holds[segment].insert(what);
  };
  if (program.tables.constant_segment && !program.tables.constant_segment->offsets.empty())
    note(program.tables.constant_segment->segment_index, "constants");
  for (const auto& s : program.tables.mutable_data_segments) note(s->segment_index, "initial values");
  for (const auto& n : program.tables.named_data) note(n->segment_index, "named data");
  for (const auto& plan : program.tables.execution_plan)
    for (std::size_t i = 0; i < plan->delegates.size(); ++i)
      if (const auto& at = *plan->delegates[i]->processed; at.location == pte::DataLocation::SEGMENT)
        note(at.index, fmt::format("delegate {} of {}", i, plan->name));
  std::vector<SegmentFacts> all;
  for (std::size_t i = 0; i < holds.size(); ++i)
    all.push_back({program.segments[i].size(), fmt::format("{}", fmt::join(holds[i], ", "))});
  return all;
}

// Of a program or a data file.
void describe_named(const auto& file, FileFacts& facts) {
  for (const auto& n : file.tables.named_data) {
    NamedFacts named{n->key,
                     {},
                     n->segment_index < file.segments.size() ? file.segments[n->segment_index].size() : 0,
                     n->segment_index};
    if constexpr (requires { n->tensor_layout; })
      if (n->tensor_layout)
        named.tensor =
            layout_facts(n->tensor_layout->scalar_type, n->tensor_layout->sizes, n->tensor_layout->dim_order);
    facts.named.push_back(std::move(named));
  }
}

void describe_program(std::span<const std::byte> file, FileFacts& facts) {
  const Program program = taken(decode_program(file));
  for (const auto& plan : program.tables.execution_plan) facts.methods.push_back(method_facts(program, *plan));
  describe_named(program, facts);
  facts.segments = segments_of(program);
}

void describe_data(std::span<const std::byte> file, FileFacts& facts) {
  const DataFile data = taken(decode_data_file(file));
  describe_named(data, facts);
  for (const Bytes& segment : data.segments) facts.segments.push_back({segment.size(), "named data"});
}

void describe_bundle(std::span<const std::byte> file, FileFacts& facts) {
  const BundledProgram bundle = taken(decode_bundle(file));
  for (const auto& suite : bundle.method_test_suites) {
    SuiteFacts s{suite->method_name, {}};
    for (const auto& c : suite->test_cases) s.cases.emplace_back(c->inputs.size(), c->expected_outputs.size());
    facts.suites.push_back(std::move(s));
  }
  describe_program(std::as_bytes(std::span(bundle.program)), facts);
}

}  // namespace

const ValueFacts* MethodFacts::value(Int index) const {
  return index >= 0 && static_cast<std::size_t>(index) < values.size() ? &values[static_cast<std::size_t>(index)]
                                                                       : nullptr;
}

FileFacts describe(std::span<const std::byte> file, std::span<const std::vector<std::byte>> data) {
  FileFacts facts{file_kind(file), file.size(), {}, {}, {}, {}, {}};
  if (facts.kind == FileKind::data)
    describe_data(file, facts);
  else if (facts.kind == FileKind::bundle)
    describe_bundle(file, facts);
  else
    describe_program(file, facts);
  facts.faults = check(file, data).faults;
  return facts;
}

}  // namespace assay
