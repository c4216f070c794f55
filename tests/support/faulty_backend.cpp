// A backend for XNNPACK payloads that computes them by the reference and registers itself with ExecuTorch, as a backend
// of another author does. ASSAY_PLANTED names a fault: one of planted_payloads::faults(), one of `conducts`, or that of
// planted_payloads::off_in_value, as in "4 steps everywhere" or "1 steps in one element in value 57".
// A second backend, "OpaqueBackend", has programs of operators as its payloads, and one of `opaque_faults`.

#include <executorch/runtime/backend/interface.h>
#include <executorch/runtime/core/exec_aten/util/tensor_util.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <regex>

#include "reference/program/taken.h"
#include "reference/runtime/delegate.h"
#include "reference/runtime/runtime.h"
#include "tests/support/planted_payloads.h"

namespace assay {
namespace {

namespace et = executorch::runtime;
using executorch::aten::Tensor;
using planted_payloads::Fault;

// A fault in what a backend does beside computing. Only delegates with a node of `kind` have it.
struct Conduct {
  std::string_view name, program, kind;
  std::string_view found_in = "";  // the last part of the id of the only case that finds it; empty for a node
};

constexpr Conduct conducts[] = {
    {"adds what earlier executions gave", "f32_add", "Add"},
    {"gives the first result again", "f32_linear", "FullyConnected", "instances"},
    {"takes weights for those of another delegate", "static_int8_product", "FullyConnected"},
    {"last element not written", "f32_conv", "Conv2d"},
    {"output not written", "f32_moves", "StaticSlice"},
    {"adds what its output held", "f32_binary", "Maximum"},
    {"output of another size", "f32_pools", "MaxPooling2d"},
    {"keeps the sizes of the first execution", "dynamic_sequence", "BatchMatrixMultiply", "all"},
    {"input changed", "f32_unary", "Negate"},
    {"input changed and restored", "f32_glue", "Abs"},
    {"reads 64 bytes behind its input", "f32_linear", "FullyConnected"},
    {"reads 8 bytes behind its input", "f32_linear", "FullyConnected", "reads"},
    {"writes behind its output", "f32_binary", "Multiply"},
    {"writes before its output", "f32_binary", "Minimum"},
    {"uses the inputs of the first execution", "f32_unary", "Floor"},
    {"leaks in an execution", "f32_unary", "Exp", "leaks"},
    {"leaks delegates", "f32_unary", "Log", "leaks"},
    {"frees a block twice", "f32_unary", "Sin"},
    {"writes to a freed block", "f32_unary", "Cos", "leaks"},
    {"writes behind a block", "f32_unary", "Square", "leaks"},
    {"uses the payload after it was freed", "f32_glue", "StaticTranspose"},
    {"uses the delegate that was made last", "f32_glue", "Subtract", "instances"},
    {"inputs shared by threads", "f32_glue", "StaticReshape", "threads"},
    {"aborts in the second execution", "f32_binary", "Div"},
    {"refuses the second execution", "f32_unary", "Ceiling"},
    {"throws an exception", "f32_unary", "Sigmoid"},
    {"never returns", "f32_unary", "LeakyReLU"},
    {"ignores that init has no memory", "f32_linear", "FullyConnected", "allocations"},
    {"ignores that an execution has no memory", "f32_conv", "Conv2d", "allocations"},
    {"refuses missing memory as an invalid call", "f32_conv", "Conv2d", "allocations"},
    {"is wrong after memory was missing", "f32_conv", "Conv2d", "allocations"},
    {"trusts its payload", "", "", "broken"},
};

std::string_view planted() {
  const char* name = std::getenv("ASSAY_PLANTED");
  return name ? name : "";
}

const Fault* planted_payload() {
  const auto found = std::ranges::find(planted_payloads::faults(), planted(), &Fault::name);
  return found == planted_payloads::faults().end() ? nullptr : &*found;
}
struct Steps {
  int steps;
  planted_payloads::Where where;
  std::optional<xnnpack::Id> value;

  CallOperator in(const xnnpack::Graph& graph) const {
    return planted_payloads::off_in_value(graph, value, steps, where);
  }
};
std::optional<Steps> planted_steps() {
  static const std::regex form("([0-9]+) steps (everywhere|in one element)(?: in value ([0-9]+))?");
  const std::string text(planted());
  std::smatch parts;
  if (!std::regex_match(text, parts, form)) return {};
  using enum planted_payloads::Where;
  Steps s{std::stoi(parts[1]), parts[2] == "everywhere" ? everywhere : in_one_element, {}};
  if (parts[3].matched) s.value = static_cast<xnnpack::Id>(std::stoul(parts[3]));
  return s;
}
const Conduct* planted_conduct() {
  const auto found = std::ranges::find(conducts, planted(), &Conduct::name);
  return found == std::end(conducts) ? nullptr : found;
}

assay::Tensor copied(const Tensor& t) {
  assay::Tensor copy{*dtype_numbered(static_cast<Int>(t.scalar_type())), {}, {}, {}};
  for (const auto n : t.sizes()) copy.sizes.push_back(n);
  for (const auto d : t.dim_order()) copy.dim_order.push_back(d);
  const auto* bytes = static_cast<const std::byte*>(t.const_data_ptr());
  copy.bytes.assign(bytes, bytes + t.nbytes());
  return copy;
}

// The tensor without bytes that a delegate of the reference replaces.
assay::Tensor declared(const Tensor& t) {
  assay::Tensor empty = copied(t);
  empty.bytes.clear();
  return empty;
}

// A fault of the opaque backend: a wrong result of an operator, if its last size is this one, and if the call before it
// is of another operator.
struct OpaqueFault {
  std::string_view name, op, behind = "";
  Int last_size = 0;
};
constexpr OpaqueFault opaque_faults[] = {{"opaque relu", "aten::relu.out"},
                                         {"opaque last addmm", "aten::addmm.out", "", 4},
                                         {"opaque addmm with relu", "aten::relu.out", "aten::addmm.out"}};

// Computes a call with the planted fault.
Answer opaque_call(const Operator& op, std::span<Value> arguments, const Budget& budget) {
  static std::string_view before;
  const std::string_view behind = std::exchange(before, op.name);
  Answer answer = call(op, arguments, budget);
  for (const OpaqueFault& f : opaque_faults) {
    auto* const out = std::get_if<assay::Tensor>(&arguments.back());
    if (f.name != planted() || f.op != op.name || !out || (!f.behind.empty() && f.behind != behind)) continue;
    if (f.last_size == 0 || f.last_size == out->sizes[out->sizes.size() - 1]) out->bytes.back() ^= std::byte{0x40};
  }
  return answer;
}

// The payload with the data that it names.
class Source {
 public:
  explicit Source(et::FreeableBuffer& opaque) : is_opaque_(true) {
    const auto* bytes = static_cast<const std::byte*>(opaque.data());
    payload_.bytes.assign(bytes, bytes + opaque.size());
    options_.call = opaque_call;
  }
  Source(et::FreeableBuffer& processed, const et::NamedDataMap& named) {
    const auto* bytes = static_cast<const std::byte*>(processed.data());
    payload_.bytes.assign(bytes, bytes + processed.size());
    options_.nested.depth = 1;
    XnnpackPayload decoded = taken(decode_xnnpack(payload_.bytes));
    for (const auto& constant : decoded.graph.constants)
      if (const auto data = named.get_data(constant->name); !constant->name.empty() && data.ok())
        payload_.named.emplace(constant->name, bytes_of(*data));
    if (const Conduct* conduct = planted_conduct())
      for (const auto& node : decoded.graph.nodes)
        is_faulty_ |= conduct->kind == xnn::EnumNameOperation(node->operation.type);
    if (is_planted("takes weights for those of another delegate")) replace_weights();
    if (const auto steps = planted_steps())
      options_.call = steps->in(xnnpack::Graph(payload_.bytes, {}, finder(), xnnpack::Form::folded));
    if (const Fault* fault = planted_payload()) {
      if (fault->payload) fault->payload(decoded, payload_), payload_.bytes = encode(decoded);
      options_.call = fault->call;
    }
  }

  // Whether the fault of this name is planted, and this payload has it.
  bool is_planted(std::string_view name) const { return is_faulty_ && planted() == name; }

  std::unique_ptr<Delegate> delegate() const {
    return (is_opaque_ ? make_program_delegate : make_xnnpack_delegate)({payload_.bytes, {}, options_, finder()});
  }

 private:
  xnnpack::Graph::FindNamed finder() const {
    return [this](std::string_view key) -> std::optional<std::span<const std::byte>> {
      const auto found = payload_.named.find(key);
      return found == payload_.named.end() ? std::nullopt : std::optional<std::span<const std::byte>>(found->second);
    };
  }
  // Keeps weights by their size alone.
  void replace_weights() {
    static std::map<std::size_t, Bytes> kept;
    for (auto& [key, bytes] : payload_.named) bytes = kept.try_emplace(bytes.size(), bytes).first->second;
  }
  static Bytes bytes_of(const et::FreeableBuffer& data) {
    const auto* bytes = static_cast<const std::byte*>(data.data());
    return {bytes, bytes + data.size()};
  }

  delegates::Payload payload_;
  RuntimeOptions options_;
  bool is_faulty_ = false, is_opaque_ = false;
};

et::Error error_of(const assay::Fault& fault) {
  return fault.outcome == Outcome::exhausted     ? et::Error::MemoryAllocationFailed
         : fault.outcome == Outcome::unsupported ? et::Error::NotSupported
                                                 : et::Error::InvalidArgument;
}

struct Handle {
  Handle(et::FreeableBuffer& processed, const et::NamedDataMap* named)
      : source(named ? Source(processed, *named) : Source(processed)),
        delegate(source.delegate()),
        freed(static_cast<const char*>(processed.data())) {}

  bool has(std::string_view fault) const { return source.is_planted(fault); }

  Source source;
  std::unique_ptr<Delegate> delegate;
  const char* freed;  // the payload
  const float* first_input = nullptr;
  std::vector<Value> first_results;
  int executions = 0;
  bool is_spoilt = false;
};

Handle* last_made = nullptr;

volatile char sink;
void read_at(const void* memory, std::ptrdiff_t offset) { sink = static_cast<const volatile char*>(memory)[offset]; }
void write_at(void* memory, std::ptrdiff_t offset, char what = 1) {
  static_cast<volatile char*>(memory)[offset] = what;
}
void break_heap(const Handle& handle) {
  auto* const block = static_cast<volatile char*>(std::malloc(64));
  if (handle.has("writes behind a block")) block[65] = 1;
  std::free(const_cast<char*>(block));
  if (handle.has("frees a block twice")) std::free(const_cast<char*>(block));
  if (handle.has("writes to a freed block")) block[8] = 1;
}

class Backend final : public et::BackendInterface {
 public:
  explicit Backend(bool is_opaque) : is_opaque_(is_opaque) {}
  bool is_available() const override { return true; }

  et::Result<et::DelegateHandle*> init(et::BackendInitContext& context, et::FreeableBuffer* processed,
                                       et::ArrayRef<et::CompileSpec>) const override {
    try {
      auto handle = std::make_unique<Handle>(*processed, is_opaque_ ? nullptr : context.get_named_data_map());
      void* const scratch = context.get_runtime_allocator()->allocate(16);
      if (!scratch && !handle->has("ignores that init has no memory")) return et::Error::MemoryAllocationFailed;
      write_at(scratch, 0);
      processed->Free();
      return last_made = handle.release();
    } catch (const assay::Fault& fault) {
      if (planted() == "trusts its payload") read_at(nullptr, 0);
      ET_LOG(Error, "%s", fault.message.c_str());
      return error_of(fault);
    } catch (const std::bad_alloc&) {
      return et::Error::MemoryAllocationFailed;
    }
  }

  et::Error execute(et::BackendExecutionContext& context, et::DelegateHandle* of,
                    et::Span<et::EValue*> arguments) const override {
    Handle& handle = *static_cast<Handle*>(of);
    if (handle.has("throws an exception")) throw 1;
    try {
      return execute(context, handle.has("uses the delegate that was made last") ? *last_made : handle, arguments);
    } catch (const assay::Fault& fault) {
      ET_LOG(Error, "%s", fault.message.c_str());
      return error_of(fault);
    } catch (const std::bad_alloc&) {
      return et::Error::MemoryAllocationFailed;
    }
  }

  void destroy(et::DelegateHandle* of) const override {
    auto* const handle = static_cast<Handle*>(of);
    if (handle == last_made) last_made = nullptr;
    if (!handle->has("leaks delegates")) delete handle;
  }

 private:
  static et::Error execute(et::BackendExecutionContext& context, Handle& handle, et::Span<et::EValue*> arguments) {
    void* const scratch = context.allocate(16);
    if (!scratch && !handle.has("ignores that an execution has no memory")) {
      handle.is_spoilt = handle.has("is wrong after memory was missing");
      return handle.has("refuses missing memory as an invalid call") ? et::Error::InvalidArgument
                                                                     : et::Error::MemoryAllocationFailed;
    }
    write_at(scratch, 0);
    ++handle.executions;
    if (handle.executions > 1 && handle.has("aborts in the second execution")) std::abort();
    if (handle.executions > 1 && handle.has("refuses the second execution")) return et::Error::InvalidState;
    for (volatile bool forever = handle.has("never returns"); forever;) {
    }
    std::vector<Value> values = computed(handle, arguments);
    const std::size_t inputs = handle.delegate->inputs();
    do_wrong(handle, arguments, inputs);
    for (std::size_t i = inputs; i < arguments.size(); ++i)
      if (const et::Error error = give(handle, std::get<assay::Tensor>(values[i]), arguments[i]->toTensor());
          error != et::Error::Ok)
        return error;
    return et::Error::Ok;
  }

  // The arguments after the execution, in memory of their own.
  static std::vector<Value> computed(Handle& handle, et::Span<et::EValue*> arguments) {
    static std::vector<Value> shared;
    const bool shares = handle.has("inputs shared by threads");
    std::vector<Value> own, &values = shares ? shared : own;
    const std::size_t inputs = handle.delegate->inputs();
    if (shares) shared.clear();
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const Tensor& t = arguments[i]->toTensor();
      values.emplace_back(i < inputs ? copied(t) : declared(t));
    }
    if (handle.has("uses the inputs of the first execution")) {
      if (!handle.first_input) handle.first_input = arguments[0]->toTensor().const_data_ptr<float>();
      std::memcpy(std::get<assay::Tensor>(values[0]).bytes.data(), handle.first_input, sizeof(float));
    }
    std::vector<Value> result = values;
    handle.delegate->execute(result);
    if (handle.first_results.empty()) handle.first_results = result;
    if (handle.has("gives the first result again")) return handle.first_results;
    return result;
  }

  static void do_wrong(const Handle& handle, et::Span<et::EValue*> arguments, std::size_t inputs) {
    const Tensor& input = arguments[0]->toTensor();
    Tensor& output = arguments[inputs]->toTensor();
    const auto input_end = static_cast<std::ptrdiff_t>(input.nbytes()),
               output_end = static_cast<std::ptrdiff_t>(output.nbytes());
    auto* const given = const_cast<char*>(static_cast<const char*>(input.const_data_ptr()));
    if (handle.has("input changed")) write_at(given, 0, static_cast<char>(given[0] + 1));
    if (handle.has("input changed and restored")) write_at(given, 0, given[0]);
    if (handle.has("reads 64 bytes behind its input")) read_at(given, input_end + 64);
    if (handle.has("reads 8 bytes behind its input")) read_at(given, input_end + 8);
    if (handle.has("writes behind its output")) write_at(output.mutable_data_ptr(), output_end);
    if (handle.has("writes before its output")) write_at(output.mutable_data_ptr(), -1);
    if (handle.has("leaks in an execution")) write_at(std::malloc(64), 0);
    if (handle.has("uses the payload after it was freed")) read_at(handle.freed, 40);
    break_heap(handle);
  }

  static et::Error give(const Handle& handle, const assay::Tensor& result, Tensor& to) {
    std::vector<executorch::aten::SizesType> sizes;
    for (const Int n : result.sizes) sizes.push_back(static_cast<executorch::aten::SizesType>(n));
    if (handle.has("output of another size")) --sizes.front();
    if (handle.has("output not written")) return et::Error::Ok;
    const bool keeps = handle.has("keeps the sizes of the first execution") && handle.executions > 1;
    const et::Error error = keeps ? et::Error::Ok : et::resize_tensor(to, {sizes.data(), sizes.size()});
    if (error != et::Error::Ok) return error;
    auto* const bytes = static_cast<char*>(to.mutable_data_ptr());
    float held = 0;
    std::memcpy(&held, bytes, std::min(sizeof held, to.nbytes()));
    const std::size_t written = to.nbytes() - (handle.has("last element not written") ? sizeof(float) : 0);
    std::memcpy(bytes, result.bytes.data(), std::min(written, result.bytes.size()));
    if (handle.has("adds what its output held")) add(bytes, held);
    if (handle.has("adds what earlier executions gave") && handle.executions > 1) add(bytes, 1);
    if (handle.is_spoilt) add(bytes, 1);
    return et::Error::Ok;
  }
  static void add(char* bytes, float what) {
    float first = 0;
    std::memcpy(&first, bytes, sizeof first);
    first += what;
    std::memcpy(bytes, &first, sizeof first);
  }

  bool is_opaque_;
};

Backend backend(false), opaque(true);
[[maybe_unused]] const auto registered = et::register_backend({"PlantedBackend", &backend}),
                            opaque_registered = et::register_backend({"OpaqueBackend", &opaque});

}  // namespace
}  // namespace assay

// The faults, one a line: name, program, kind of the node that has it, and the case that finds it if that is no node.
extern "C" __attribute__((visibility("default"))) const char* planted_faults() {
  static const std::string all = [] {
    std::string lines;
    for (const auto& f : assay::planted_payloads::faults()) lines += f.name + '\t' + f.program + '\t' + f.kind + "\t\n";
    for (const auto& c : assay::conducts)
      lines += assay::concat(c.name, '\t', c.program, '\t', c.kind, '\t', c.found_in, '\n');
    return lines;
  }();
  return all.c_str();
}
