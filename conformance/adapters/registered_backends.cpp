#include "conformance/adapters/registered_backends.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <new>
#include <set>

#include "conformance/adapters/compiled_adapter.h"
#include "conformance/adapters/executorch/backends/backends.h"
#include "conformance/sandbox/fault_handler.h"
#include "conformance/sandbox/guarded_memory.h"
#include "conformance/sandbox/heap.h"
#include "conformance/sandbox/misconduct.h"
#include "conformance/sandbox/pages.h"
#include "conformance/testee/no_testee.h"
#include "format/names.h"
#include "reference/fault.h"

namespace assay::adapters {
namespace {

namespace heap = sandbox::heap;
using executorch_backends::Argument;
using executorch_backends::Table;
using sandbox::GuardedMemory;
using verdict::Class;

BackendConditions conditions;  // of this process

void require_ok(std::int32_t outcome, const Table& table) {
  if (outcome != 0) throw Fault(static_cast<Outcome>(outcome), "backend", table.message());
}

// The arguments of calls of a delegate. The file does not state how many of them are inputs.
struct Arguments {
  std::size_t inputs = 0, outputs = 0;
};

// Before its first call, an input has a value: it is an input of the method, a constant, or an argument of an earlier
// instruction. The outputs begin with the first argument that has none.
Arguments arguments_of(const pte::ExecutionPlan& plan, std::uint32_t delegate) {
  std::set<std::int32_t> known(plan.inputs()->begin(), plan.inputs()->end());
  const auto is_known = [&](std::int32_t value) {
    const pte::Tensor* t = plan.values()->Get(static_cast<std::uint32_t>(value))->val_as_Tensor();
    const pte::ExtraTensorInfo* extra = t ? t->extra_tensor_info() : nullptr;
    const bool is_external = extra && extra->location() == pte::TensorDataLocation::EXTERNAL;
    return !t || known.contains(value) || t->data_buffer_idx() > 0 || is_external;
  };
  for (const pte::Chain* chain : *plan.chains())
    for (const pte::Instruction* instruction : *chain->instructions()) {
      const auto* call = instruction->instr_args_as_DelegateCall();
      if (call && call->delegate_index() == static_cast<std::int32_t>(delegate)) {
        const auto inputs = std::ranges::find_if_not(*call->args(), is_known) - call->args()->begin();
        return {static_cast<std::size_t>(inputs), call->args()->size() - static_cast<std::size_t>(inputs)};
      }
      const auto* kernel = instruction->instr_args_as_KernelCall();
      const auto* moved = instruction->instr_args_as_MoveCall();
      if (const auto* args = call ? call->args() : kernel ? kernel->args() : nullptr)
        known.insert(args->begin(), args->end());
      if (moved) known.insert(moved->move_to());
    }
  return {};
}

// Blocks of memory for a backend.
class Blocks {
 public:
  Blocks() = default;
  Blocks(const Blocks&) = delete;
  Blocks& operator=(const Blocks&) = delete;
  ~Blocks() { release(); }

  void* add(std::size_t bytes, std::size_t alignment) {
    const std::size_t rounded = (std::max<std::size_t>(bytes, 1) + alignment - 1) / alignment * alignment;
    void* const block = std::aligned_alloc(std::max(alignment, sizeof(void*)), rounded);
    const heap::Owner books(heap::Owner::host);
    if (block) blocks_.push_back(block);
    return block;
  }
  void release() {
    for (void* block : blocks_) std::free(block);
    blocks_.clear();
  }

 private:
  std::vector<void*> blocks_;
};

// A payload in pages of its own, which are protected as soon as it is freed. It ends before a protected page.
class PayloadPages {
 public:
  explicit PayloadPages(std::span<const std::byte> payload)
      : size_(payload.size()),
        used_((size_ + sandbox::page_size - 1) / sandbox::page_size * sandbox::page_size),
        begin_(sandbox::reserve(used_ + sandbox::page_size)) {
    if (!sandbox::make_usable(pages())) throw std::bad_alloc();
    constexpr std::size_t aligned = sandbox::promised_alignment;
    data_ = begin_ + used_ - (size_ + aligned - 1) / aligned * aligned;
    std::ranges::copy(payload, data_);
  }
  ~PayloadPages() { munmap(begin_, used_ + sandbox::page_size); }
  PayloadPages(const PayloadPages&) = delete;
  PayloadPages& operator=(const PayloadPages&) = delete;

  executorch_backends::Bytes bytes() const { return {data_, size_}; }
  void free() { sandbox::retire(pages()); }

 private:
  std::span<std::byte> pages() const { return {begin_, used_}; }

  std::size_t size_, used_;
  std::byte *begin_, *data_ = nullptr;
};

// What a delegate is made from. It stays as long as the delegate.
struct Source {
  explicit Source(const DelegateSource& from) : payload(from.payload), named(from.named_data) {
    for (const CompileSpec& spec : from.compile_specs) keys.emplace_back(spec.key);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const auto value = from.compile_specs[i].value;
      specs.push_back({keys[i].c_str(), {value.data(), value.size()}});
    }
  }
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;

  PayloadPages payload;
  std::vector<std::string> keys;
  std::vector<executorch_backends::Spec> specs;
  std::function<std::optional<std::span<const std::byte>>(std::string_view key)> named;
  Blocks of_method, temporary;
  std::optional<heap::Owner> backend;  // while the backend itself runs
};

Source& source_in(void* context) { return *static_cast<Source*>(context); }

executorch_backends::Services services_for(Source& source) {
  return {&source,
          [](void* context, std::size_t bytes, std::size_t alignment, bool is_temporary) {
            Source& s = source_in(context);
            return (is_temporary ? s.temporary : s.of_method).add(bytes, alignment);
          },
          [](void* context) { source_in(context).temporary.release(); },
          [](void* context, const char* key, std::size_t length, executorch_backends::Bytes* found) {
            const heap::Owner host(heap::Owner::host);
            const auto bytes = source_in(context).named({key, length});
            if (bytes) *found = {bytes->data(), bytes->size()};
            return bytes.has_value();
          },
          [](void* context) { source_in(context).payload.free(); },
          [](void* context, bool enters) {
            auto& backend = source_in(context).backend;
            if (enters)
              backend.emplace(heap::Owner::library);
            else
              backend.reset();
          }};
}

// -- arguments --------------------------------------------------------------------------------------------------------

sandbox::GuardedRegions& regions() {
  static sandbox::GuardedRegions all;
  static const sandbox::FaultHandler handler(all);
  return all;
}

// The memory of the tensors of one execution: guarded, or the tensors' own.
class Memory {
 public:
  // Each execution finds other contents in memory that it must not read.
  explicit Memory(std::uint64_t execution)
      : seed_(execution), pattern_(execution % 2 == 0 ? sandbox::FillPattern::first : sandbox::FillPattern::second) {
    if (!conditions.guards_arguments) return;
    regions().retire_earlier();
    guarded_.emplace(regions(), pattern_, GuardedMemory::Adjoins::behind);
  }

  std::byte* input(std::size_t i, Tensor& t) {
    if (!guarded_) return t.bytes.data();
    const std::size_t bytes = t.bytes.size(), all = bytes + conditions.readable_behind;
    const std::string behind =
        conditions.readable_behind ? concat(", with the ", conditions.readable_behind, " bytes behind it") : "";
    std::byte* const data = guarded_->add(concat("input ", i, behind), all, GuardedMemory::Role::input);
    std::ranges::copy(t.bytes, data);
    sandbox::fill({data + bytes, data + all}, pattern_, DType::uint8, seed_ + i);
    return data;
  }
  std::byte* output(std::size_t i, Tensor& t, std::size_t bytes) {
    t.bytes.resize(bytes);
    std::byte* const data = guarded_ ? guarded_->add(concat("output ", i), bytes) : t.bytes.data();
    sandbox::fill({data, bytes}, pattern_, t.dtype, seed_ + i);
    return data;
  }
  void close() {
    if (guarded_) guarded_->make_inputs_read_only();
  }

  void require_kept() const {
    using Kind = GuardedMemory::Trespass::Kind;
    if (!guarded_) return;
    if (const auto damage = guarded_->damage()) throw sandbox::Misconduct{Class::writes_out_of_bounds, *damage};
    if (guarded_->trespass() == Kind::none) return;
    throw sandbox::Misconduct{guarded_->trespass() == Kind::write            ? Class::writes_out_of_bounds
                              : guarded_->trespass() == Kind::write_to_input ? Class::changes_input
                                                                             : Class::reads_out_of_bounds,
                              guarded_->describe_trespass()};
  }

 private:
  std::uint64_t seed_;
  sandbox::FillPattern pattern_;
  std::optional<GuardedMemory> guarded_;
};

// A value as an argument.
class Given {
 public:
  Given(Memory& memory, std::size_t i, Value& value, bool is_output) : value_(value) {
    argument_.may_be_resized = is_output;
    if (auto* t = std::get_if<Tensor>(&value_))
      give(memory, i, *t, is_output);
    else if (const auto* n = std::get_if<Int>(&value_))
      argument_.kind = Argument::Kind::integer, argument_.integer = *n;
    else if (const auto* d = std::get_if<double>(&value_))
      argument_.kind = Argument::Kind::floating, argument_.floating = *d;
    else if (const auto* b = std::get_if<bool>(&value_))
      argument_.kind = Argument::Kind::boolean, argument_.integer = *b;
    else if (std::holds_alternative<std::monostate>(value_))
      argument_.kind = Argument::Kind::none;
    else
      throw Fault(Outcome::unsupported, "backend", "the backend cannot be given a list or a string");
  }

  Argument argument() {
    argument_.sizes = sizes_.data(), argument_.dim_order = order_.data();
    return argument_;
  }

  // Takes over the sizes and the bytes of a result.
  void take() {
    auto& t = std::get<Tensor>(value_);
    for (int d = 0; d < t.rank(); ++d) t.sizes[d] = sizes_[static_cast<std::size_t>(d)];
    const auto* data = static_cast<const std::byte*>(argument_.data);
    t.bytes.assign(data, data + bytes_of(t));
  }

 private:
  static std::size_t bytes_of(const Tensor& t) {
    return static_cast<std::size_t>(count(t.sizes)) * static_cast<std::size_t>(info(t.dtype).bytes);
  }
  void give(Memory& memory, std::size_t i, Tensor& t, bool is_output) {
    argument_.kind = Argument::Kind::tensor;
    argument_.dtype = static_cast<std::int8_t>(t.dtype), argument_.rank = t.rank();
    for (const Int n : t.sizes) sizes_.push_back(static_cast<std::int32_t>(n));
    for (const Int d : t.dim_order) order_.push_back(static_cast<std::uint8_t>(d));
    argument_.data = is_output ? memory.output(i, t, bytes_of(t)) : memory.input(i, t);
  }

  Value& value_;
  Argument argument_{};
  std::vector<std::int32_t> sizes_;
  std::vector<std::uint8_t> order_;
};

// -- delegates --------------------------------------------------------------------------------------------------------

void require_sound_heap() {
  const auto found = heap::damage();
  if (!found) return;
  const Class failure = found->kind == sandbox::Damage::Kind::freed         ? Class::uses_freed
                        : found->kind == sandbox::Damage::Kind::freed_twice ? Class::double_free
                                                                            : Class::heap_damage;
  throw sandbox::Misconduct{failure,
                            describe(*found, concat("a block of ", found->size, " bytes that the backend allocated"))};
}

// Calls a function of the table under the conditions.
template <class F>
auto under_conditions(F f) {
  std::optional<heap::Watch> watch;
  if (conditions.watches_heap)
    watch.emplace(sandbox::fill_byte(sandbox::FillPattern::first), conditions.refused_allocation);
  return f();
}

class RegisteredDelegate final : public Delegate {
 public:
  RegisteredDelegate(const Table& table, std::size_t backend, const DelegateSource& from)
      : table_(table),
        source_(from),
        services_(services_for(source_)),
        arguments_(arguments_of(*from.plan, from.index)) {
    const std::string method(format::text_of(from.plan->name()));
    const std::int32_t outcome = under_conditions([&] {
      return table.init(backend, &services_, method.c_str(), source_.payload.bytes(), source_.specs.data(),
                        source_.specs.size(), &delegate_);
    });
    require_ok(outcome, table);
  }
  ~RegisteredDelegate() override {
    under_conditions([&] { table_.destroy(delegate_); });
  }
  RegisteredDelegate(const RegisteredDelegate&) = delete;
  RegisteredDelegate& operator=(const RegisteredDelegate&) = delete;

  std::size_t inputs() const override { return arguments_.inputs; }
  std::size_t outputs() const override { return arguments_.outputs; }

  void execute(std::span<Value> values) override {
    Memory memory(executions_++);
    std::vector<std::unique_ptr<Given>> given;
    std::vector<Argument> arguments;
    for (std::size_t i = 0; i < values.size(); ++i)
      given.push_back(std::make_unique<Given>(memory, i, values[i], i >= inputs()));
    for (const auto& g : given) arguments.push_back(g->argument());
    memory.close();
    const std::int32_t outcome =
        under_conditions([&] { return table_.execute(delegate_, arguments.data(), arguments.size()); });
    memory.require_kept();
    if (conditions.watches_heap) require_sound_heap();
    require_ok(outcome, table_);
    for (std::size_t i = inputs(); i < given.size(); ++i) given[i]->take();
  }

 private:
  const Table& table_;
  Source source_;
  executorch_backends::Services services_;
  Arguments arguments_;
  void* delegate_ = nullptr;
  std::uint64_t executions_ = 0;
};

}  // namespace

WithConditions::WithConditions(const BackendConditions& during) : before_(std::exchange(conditions, during)) {}
WithConditions::~WithConditions() { conditions = before_; }

Backends load_backends(const std::string& name, const std::filesystem::path& file) {
  void* const adapter = open_with_adapter(name, file, {"backends/adapter.cpp", "kernels/log.cpp"});
  const auto get = reinterpret_cast<executorch_backends::GetTable>(dlsym(adapter, executorch_backends::table_symbol));
  const Table& table = *get();
  Backends all;
  for (std::size_t i = 0; i < table.count(); ++i)
    all.emplace(table.name(i), [&table, i](const DelegateSource& source) {
      return std::make_unique<RegisteredDelegate>(table, i, source);
    });
  if (all.empty()) testee::no_testee(file.string(), " registers no backend with ", executorch_runtime().string());
  return all;
}

}  // namespace assay::adapters
