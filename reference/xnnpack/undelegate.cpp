#include "reference/xnnpack/undelegate.h"

#include <algorithm>
#include <deque>
#include <numeric>
#include <set>

#include "reference/xnnpack/translate.h"

namespace assay::xnnpack {

struct Undelegated::Parts {
  explicit Parts(const Budget& budget) : reserved(budget) {}

  Reserved reserved;
  std::deque<Constant> kept;                                                  // what is no constant of a payload
  std::map<Constant, std::uint32_t> constants;                                // with their indices
  std::vector<std::map<std::uint32_t, std::unique_ptr<const Graph>>> graphs;  // of each method, by delegate
  std::vector<Segment> segments;
  EncodedHead head;
};

namespace {

using enum pte::TensorShapeDynamism;
using format::items;

bool is_ours(std::string_view backend) { return backend == format::xnnpack::backend; }

// Adds constants to the new program. Equal ones are stored once.
class Constants {
 public:
  // Moves the constants of a program without a segment for them to such a segment. Their indices stay.
  Constants(pte::ProgramT& tables, Undelegated::Parts& parts) : tables_(tables), parts_(parts) {
    for (std::size_t i = 1; i < tables.constant_buffer.size(); ++i)
      append(parts.kept.emplace_back(Constant::copy_of(std::as_bytes(std::span(tables.constant_buffer[i]->storage)))));
    tables.constant_buffer.clear();
  }

  std::uint32_t operator()(const Constant& constant) {
    const auto [found, is_new] = parts_.constants.try_emplace(constant);
    if (is_new) found->second = append(found->first);
    return found->second;
  }

 private:
  // Index 0 is unused.
  std::uint32_t append(const Constant& constant) {
    auto& part = tables_.constant_segment;
    if (!part) {
      part = std::make_unique<pte::SubsegmentOffsetsT>();
      part->segment_index = static_cast<std::uint32_t>(parts_.segments.size()), part->offsets = {0};
      parts_.segments.emplace_back();
    }
    parts_.reserved.add(constant.size(), "a constant");
    part->offsets.push_back(parts_.segments[part->segment_index].add(constant));
    return static_cast<std::uint32_t>(part->offsets.size()) - 1;
  }

  pte::ProgramT& tables_;
  Undelegated::Parts& parts_;
};

// -- one call of a delegate -------------------------------------------------------------------------------------------

std::vector<std::size_t> dim_order_of(const pte::TensorT& t) { return {t.dim_order.begin(), t.dim_order.end()}; }
// An argument that is a tensor, or null. An external id without a value may have an argument of any kind.
const pte::TensorT* tensor_at(PlanBuilder& plan, Index i) {
  return plan.plan().values[static_cast<std::size_t>(i)]->val.AsTensor();
}
bool is_contiguous(const pte::TensorT& t) { return std::ranges::is_sorted(t.dim_order); }

struct Bytes2 {
  std::uint32_t memory;
  std::uint64_t begin, end;
};
// The planned memory of a tensor. A tensor without planned memory has memory of its own.
std::optional<Bytes2> memory_of(const pte::TensorT& t) {
  if (!t.allocation_info) return {};
  const auto& a = *t.allocation_info;
  const std::uint64_t begin = (std::uint64_t{a.memory_offset_high} << 32) + a.memory_offset_low;
  std::uint64_t bytes = static_cast<std::uint64_t>(info(static_cast<DType>(t.scalar_type)).bytes);
  for (const std::int32_t n : t.sizes) bytes *= static_cast<std::uint64_t>(n);
  return Bytes2{a.memory_id, begin, begin + bytes};
}

// The arguments of one call of a delegate as values of its graph. The elements of an argument, in the order of its dim
// order, are those of the value.
class Arguments {
 public:
  Arguments(Body& body, std::vector<Index> arguments) : body_(body), arguments_(std::move(arguments)) {}

  void read_inputs() {
    for (const Id id : body_.graph().ids())
      if (is_external(id) && !body_.graph().is_output(id)) body_.define(id, as_value(id, argument(id)));
  }
  void write_outputs() {
    for (const Id id : body_.graph().ids())
      if (is_external(id) && body_.graph().is_output(id)) write(id, argument(id));
  }

 private:
  bool is_external(Id id) const { return format::xnnpack::is_external(body_.graph().tensor(id)); }
  Index argument(Id id) const { return arguments_[body_.graph().tensor(id).external()]; }
  pte::TensorT& at(Index tensor) { return body_.plan().at(tensor); }
  Index integers(const std::vector<std::size_t>& numbers) {
    return body_.plan().integers({numbers.begin(), numbers.end()});
  }

  // The sizes of the argument in the order of its dim order.
  Sizes physical(Index argument) {
    Sizes sizes;
    for (const std::size_t d : dim_order_of(at(argument))) sizes.push_back(at(argument).sizes[d]);
    return sizes;
  }
  // The dims differ by dims of 1. Sizes that may vary have the same rank and need no view.
  bool needs_view(Id id, Index argument) {
    const Sizes dims = body_.sizes(id), sizes = physical(argument);
    return dims.size() != sizes.size() || (!body_.is_dynamic() && dims != sizes);
  }

  Index as_value(Id id, Index argument) {
    Index value = argument;
    if (body_.dtype_of(value) != body_.dtype(id)) value = of_dtype(value, body_.dtype(id));
    if (!is_contiguous(at(argument))) {
      const Sizes sizes = body_.sizes_of(value);
      std::vector<std::size_t> order(sizes.size());
      std::iota(order.begin(), order.end(), std::size_t{0});
      value = body_.call("dim_order_ops::_to_dim_order_copy.out", {{"self", value}, {"dim_order", integers(order)}},
                         body_.dtype_of(value), sizes);
      value = body_.permute(value, dim_order_of(at(argument)));
    }
    return needs_view(id, argument) ? body_.view(value, body_.sizes(id)) : value;
  }
  // Exporters declare unsigned bytes as signed ones: the bits of an element stay.
  Index of_dtype(Index from, DType dtype) {
    return body_.call("aten::view_copy.dtype_out", {{"self", from}, {"dtype", body_.number(static_cast<Int>(dtype))}},
                      dtype, body_.sizes_of(from));
  }

  void write(Id id, Index argument) {
    const DType dtype = body_.dtype_of(argument);
    const bool positions = body_.dtype_of(body_.read(id)) == DType::int64;
    if (positions) body_.define(id, body_.cast(body_.read(id), dtype));
    if (body_.dtype_of(body_.read(id)) == dtype && is_contiguous(at(argument)) && !needs_view(id, argument))
      return body_.write_output(id, argument, shares_memory(argument));
    Index value = body_.read(id);
    if (body_.dtype_of(value) != dtype) value = of_dtype(value, dtype);
    if (needs_view(id, argument)) value = body_.view(value, physical(argument));
    if (is_contiguous(at(argument))) return body_.call("aten::clone.out", {{"self", value}, {"out", argument}});
    const auto order = dim_order_of(at(argument));
    std::vector<std::size_t> perm(order.size());
    for (std::size_t d = 0; d < order.size(); ++d) perm[order[d]] = d;
    body_.call("dim_order_ops::_to_dim_order_copy.out",
               {{"self", body_.permute(value, perm)}, {"dim_order", integers(order)}, {"out", argument}});
  }

  bool shares_memory(Index argument) {
    if (std::ranges::count(arguments_, argument) > 1) return true;
    const auto own = memory_of(at(argument));
    return own && std::ranges::any_of(arguments_, [&](Index other) {
             const pte::TensorT* t = other == argument ? nullptr : tensor_at(body_.plan(), other);
             const auto memory = t ? memory_of(*t) : std::nullopt;
             return memory && memory->memory == own->memory && memory->begin < own->end && own->begin < memory->end;
           });
  }

  Body& body_;
  std::vector<Index> arguments_;
};

// -- one method -------------------------------------------------------------------------------------------------------

using Graphs = std::map<std::uint32_t, std::unique_ptr<const Graph>>;  // of a method, by delegate

class Method {
 public:
  Method(const ValidProgram& program, const pte::ExecutionPlan& plan, pte::ExecutionPlanT& tables, Form form,
         Constants& constants, Graphs& graphs, Reserved& reserved)
      : program_(program),
        plan_(plan),
        tables_(tables),
        form_(form),
        constants_(constants),
        graphs_(graphs),
        reserved_(reserved) {}

  void run() {
    for (std::uint32_t i = 0; i < tables_.delegates.size(); ++i)
      if (is_ours(tables_.delegates[i]->id)) graphs_.emplace(i, graph(i));
    if (graphs_.empty()) return;
    memory_ = static_cast<std::uint32_t>(tables_.non_const_buffer_sizes.size());
    auto chains = std::exchange(tables_.chains, {});
    for (auto& chain : chains) rewrite(*chain);
    drop_delegates();
  }

 private:
  template <class F>
  auto in_delegate(std::uint32_t delegate, F f) {
    try {
      return f();
    } catch (Fault& fault) {
      const Place method{nullptr, format::text_of(plan_.name()), -1, true};
      fault.place = concat(text_of(method.in("delegate", delegate)), fault.place.empty() ? "" : ", ", fault.place);
      throw;
    }
  }

  std::unique_ptr<Graph> graph(std::uint32_t i) {
    return in_delegate(i, [&] {
      const auto payload = format::payload(program_->view(), *plan_.delegates()->Get(i));
      const format::Related related{{}, &program_->view(), &program_.named_data(), &plan_, i};
      const auto find = [this](std::string_view key) {
        const auto found = program_.named(key);
        return found ? std::optional(found->bytes) : std::nullopt;
      };
      return std::make_unique<Graph>(payload, related, find, form_);
    });
  }

  void rewrite(pte::ChainT& chain) {
    PlanBuilder builder(tables_);
    builder.new_chain();
    tables_.chains.back()->inputs = chain.inputs, tables_.chains.back()->outputs = chain.outputs;
    auto& instructions = tables_.chains.back()->instructions;
    auto& traces = tables_.chains.back()->stacktrace;
    std::vector<std::int32_t> moved_to;  // by instruction of the old chain
    for (std::size_t i = 0; i < chain.instructions.size(); ++i) {
      moved_to.push_back(static_cast<std::int32_t>(instructions.size()));
      const auto* call = chain.instructions[i]->instr_args.AsDelegateCall();
      const auto found = call ? graphs_.find(static_cast<std::uint32_t>(call->delegate_index)) : graphs_.end();
      if (found == graphs_.end())
        instructions.push_back(std::move(chain.instructions[i]));
      else
        in_delegate(found->first, [&] { inline_call(builder, *found->second, *call); });
      if (i < chain.stacktrace.size()) traces.push_back(std::move(chain.stacktrace[i]));
      while (!chain.stacktrace.empty() && traces.size() < instructions.size())
        traces.push_back(std::make_unique<pte::FrameListT>());
    }
    moved_to.push_back(static_cast<std::int32_t>(instructions.size()));
    for (auto& instruction : instructions)
      if (auto* jump = instruction->instr_args.AsJumpFalseCall())
        jump->destination_instruction = moved_to[static_cast<std::size_t>(jump->destination_instruction)];
  }

  void inline_call(PlanBuilder builder, const Graph& graph, const pte::DelegateCallT& call) {
    const bool is_dynamic = std::ranges::any_of(call.args, [&](Index i) {
      const pte::TensorT* t = tensor_at(builder, i);
      return t && t->shape_dynamism != STATIC;
    });
    reserved_.add(graph.tables().nodes()->size() * bytes_of_node, "the calls of a delegate");
    Body body(graph, builder, is_dynamic, std::ref(constants_));
    Arguments arguments(body, call.args);
    arguments.read_inputs();
    translate(body);
    arguments.write_outputs();
    body.finish(memory_);
  }

  // Removes the delegates that no instruction calls any more.
  void drop_delegates() {
    std::vector<std::int32_t> moved_to;
    std::int32_t kept = 0;
    for (const auto& d : tables_.delegates) moved_to.push_back(is_ours(d->id) ? -1 : kept++);
    std::erase_if(tables_.delegates, [](const auto& d) { return is_ours(d->id); });
    for (auto& chain : tables_.chains)
      for (auto& instruction : chain->instructions)
        if (auto* call = instruction->instr_args.AsDelegateCall())
          call->delegate_index = moved_to[static_cast<std::size_t>(call->delegate_index)];
  }

  const ValidProgram& program_;
  const pte::ExecutionPlan& plan_;
  pte::ExecutionPlanT& tables_;
  Form form_;
  Constants& constants_;
  Graphs& graphs_;
  Reserved& reserved_;
  std::uint32_t memory_ = 0;
};

// -- what no method needs any more ------------------------------------------------------------------------------------

// The keys of the named data that tensors of the program name.
std::set<std::string> keys_of_tensors(const pte::ProgramT& program) {
  std::set<std::string> keys;
  for (const auto& plan : program.execution_plan)
    for (const auto& value : plan->values)
      if (const auto* t = value->val.AsTensor(); t && t->extra_tensor_info)
        keys.insert(t->extra_tensor_info->fully_qualified_name);
  return keys;
}

// Calls f with each payload of a delegate that stays.
template <class F>
void each_payload(pte::ProgramT& program, pte::DataLocation location, F f) {
  for (auto& plan : program.execution_plan)
    for (auto& delegate : plan->delegates)
      if (delegate->processed->location == location) f(delegate->processed->index);
}

// Removes the items that are not used, and corrects the indices. `each` calls a function with each index.
template <class Item, class Each>
void compact(std::vector<Item>& all, Each each) {
  std::vector<bool> used(all.size());
  each([&](std::uint32_t& i) { used[i] = true; });
  std::vector<std::uint32_t> moved_to;
  std::uint32_t kept = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    moved_to.push_back(kept);
    if (!used[i]) continue;
    if (i != kept) all[kept] = std::move(all[i]);
    ++kept;
  }
  all.resize(kept);
  each([&](std::uint32_t& i) { i = moved_to[i]; });
}

void drop_payloads(pte::ProgramT& tables, std::vector<Segment>& segments) {
  const bool all_plain = std::ranges::all_of(tables.execution_plan, [](const auto& p) { return p->delegates.empty(); });
  const auto keys = keys_of_tensors(tables);
  // Another delegate may use any named data.
  if (all_plain) std::erase_if(tables.named_data, [&](const auto& n) { return !keys.contains(n->key); });
  compact(tables.backend_delegate_data, [&](auto f) { each_payload(tables, pte::DataLocation::INLINE, f); });
  compact(segments, [&](auto f) {
    each_payload(tables, pte::DataLocation::SEGMENT, f);
    for (auto& named : tables.named_data) f(named->segment_index);
    for (auto& part : tables.mutable_data_segments) f(part->segment_index);
    if (tables.constant_segment) f(tables.constant_segment->segment_index);
  });
}

}  // namespace

bool has_payloads(const ProgramFile& program) {
  const auto& plans = *program.tables().execution_plan();
  return std::ranges::any_of(plans, [](const pte::ExecutionPlan* plan) {
    for (std::uint32_t i = 0; i < format::size_of(plan->delegates()); ++i)
      if (is_ours(format::text_of(plan->delegates()->Get(i)->id()))) return true;
    return false;
  });
}

Undelegated::Undelegated(const ValidProgram& program, Form form, const Budget& budget) {
  const Budget::Scope scope(budget, "an undelegated program");
  parts_ = std::make_unique<Parts>(budget);
  Parts& parts = *parts_;
  pte::ProgramT tables = decoded_tables(*program);
  for (std::uint32_t i = 0; i < program->view().segment_count(); ++i)
    parts.segments.emplace_back().add(parts.kept.emplace_back(Constant::of(program->segment(i))));
  Constants constants(tables, parts);
  const auto& plans = *program->tables().execution_plan();
  parts.graphs.resize(plans.size());
  for (std::uint32_t i = 0; i < plans.size(); ++i)
    Method(program, *plans.Get(i), *tables.execution_plan[i], form, constants, parts.graphs[i], parts.reserved).run();
  drop_payloads(tables, parts.segments);
  std::vector<std::size_t> sizes;
  for (const Segment& s : parts.segments) sizes.push_back(s.size());
  parts.head = encode_head(tables, sizes);
}

Undelegated::~Undelegated() = default;

std::size_t Undelegated::size() const { return parts_->head.size; }

void Undelegated::write(std::span<std::byte> file) const {
  const EncodedHead& head = parts_->head;
  std::ranges::copy(head.bytes, file.begin());
  std::size_t end = head.bytes.size();
  for (std::size_t i = 0; i < parts_->segments.size(); ++i) {
    const Segment& segment = parts_->segments[i];
    if (segment.size() == 0) continue;
    std::ranges::fill(file.subspan(end, head.segments[i] - end), std::byte{});
    segment.write(file.subspan(head.segments[i], segment.size()));
    end = head.segments[i] + segment.size();
  }
}

Bytes undelegated(const ValidProgram& program, Form form, const Budget& budget) {
  const Undelegated plain(program, form, budget);
  Bytes file(plain.size());
  plain.write(file);
  return file;
}

}  // namespace assay::xnnpack
