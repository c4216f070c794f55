#include "conformance/testees/optimized_runtime.h"

#include <cstring>
#include <fstream>
#include <map>
#include <optional>

#include "conformance/testees/client_memory.h"
#include "optimized/api/assay.h"
#include "optimized/fallback/fallback.h"
#include "reference/fault.h"

// Programs on the optimized runtime, through its C interface.
namespace assay {
namespace {

namespace fs = std::filesystem;

ClientMemory contents(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  ClientMemory memory(fs::file_size(file));
  in.read(reinterpret_cast<char*>(memory.bytes().data()), static_cast<std::streamsize>(memory.bytes().size()));
  return memory;
}

assay_bytes read_only(const ClientMemory& m) { return {m.bytes().data(), m.bytes().size()}; }
assay_memory memory_of(const ClientMemory& m) { return {m.bytes().data(), m.bytes().size()}; }

Reply reply_of(assay_outcome outcome, const assay_fault& fault) {
  return {static_cast<Outcome>(outcome),
          text(fault.rule, fault.place[0] ? ", " : "", fault.place, ": ", fault.message)};
}

// A value as the interface has it, with the memory that it needs.
struct Given {
  explicit Given(const Value& from) {
    if (const auto* t = std::get_if<Tensor>(&from)) {
      sizes.assign(t->sizes.begin(), t->sizes.end()), order.assign(t->dim_order.begin(), t->dim_order.end());
      value.kind = ASSAY_TENSOR;
      value.as.tensor = {const_cast<std::byte*>(t->bytes.data()), static_cast<int>(t->dtype), sizes.size(),
                         sizes.data(), order.data()};
    } else if (const auto* n = std::get_if<Int>(&from)) {
      value.kind = ASSAY_INTEGER, value.as.integer = *n;
    } else if (const auto* d = std::get_if<double>(&from)) {
      value.kind = ASSAY_REAL, value.as.real = *d;
    } else if (const auto* b = std::get_if<bool>(&from)) {
      value.kind = ASSAY_BOOLEAN, value.as.boolean = *b;
    } else if (const auto* s = std::get_if<std::string>(&from)) {
      value.kind = ASSAY_STRING, value.as.string = {s->data(), s->size()};
    }
  }
  assay_value value{};
  std::vector<std::int32_t> sizes;
  std::vector<std::uint8_t> order;
};

Value copied(const assay_value& v) {
  switch (v.kind) {
    case ASSAY_INTEGER:
      return Int{v.as.integer};
    case ASSAY_REAL:
      return v.as.real;
    case ASSAY_BOOLEAN:
      return v.as.boolean;
    case ASSAY_STRING:
      return std::string(v.as.string.text, v.as.string.length);
    case ASSAY_TENSOR: {
      const assay_tensor& t = v.as.tensor;
      Dims sizes, order;
      for (std::size_t d = 0; d < t.rank; ++d) sizes.push_back(t.sizes[d]), order.push_back(t.dim_order[d]);
      Tensor tensor{*dtype_numbered(t.dtype), sizes, order, {}};
      const auto* bytes = static_cast<const std::byte*>(t.data);
      if (bytes) tensor.bytes.assign(bytes, bytes + count(sizes) * info(tensor.dtype).bytes);
      return tensor;
    }
    case ASSAY_NONE:
      break;
  }
  return {};
}

struct Made {
  ClientMemory prepared, arena, scratch;
  assay_method* method;
};

class LoadedOptimized final : public TesteeProgram {
 public:
  LoadedOptimized(const fs::path& program, const std::vector<fs::path>& data, bool deployable)
      : file_(contents(program)) {
    for (const fs::path& file : data) data_.push_back(contents(file));
    if (deployable) return;
    options_.fallback = optimized::reference_fallback();
    options_.backends = optimized::reference_backends(options_.backend_count);
  }
  ~LoadedOptimized() override {
    for (const auto& [name, made] : methods_) assay_method_end(made.method);
  }

  Reply open() {
    std::vector<assay_bytes> data;
    for (const ClientMemory& m : data_) data.push_back(read_only(m));
    assay_program_sizes sizes;
    assay_fault fault;
    assay_outcome outcome = assay_program_size(read_only(file_), data.data(), data.size(), &sizes, &fault);
    if (outcome != ASSAY_OK) return reply_of(outcome, fault);
    const ClientMemory workspace(sizes.workspace);
    memory_.emplace(sizes.program);
    outcome = assay_program_open(read_only(file_), data.data(), data.size(), memory_of(*memory_), memory_of(workspace),
                                 &program_, &fault);
    return outcome == ASSAY_OK ? Reply() : reply_of(outcome, fault);
  }

  Reply call(const std::string& name, std::span<const Value> inputs, std::vector<Value>& outputs) override {
    Reply reply;
    assay_method* method = ready(name, reply);
    if (!method) return reply;
    assay_fault fault;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const Given given(inputs[i]);
      if (const auto refused = assay_set_input(method, i, &given.value, &fault)) return reply_of(refused, fault);
    }
    if (const auto refused = assay_execute(method, &fault)) return reply_of(refused, fault);
    outputs.clear();
    for (std::size_t i = 0; i < assay_output_count(method); ++i) {
      assay_value value;
      assay_output(method, i, &value);
      outputs.push_back(copied(value));
    }
    return {};
  }

 private:
  assay_method* ready(const std::string& name, Reply& reply) {
    if (const auto found = methods_.find(name); found != methods_.end()) return found->second.method;
    assay_fault fault;
    std::size_t bytes;
    const auto failed = [&](assay_outcome outcome) { return reply = reply_of(outcome, fault), nullptr; };
    if (const auto refused = assay_method_workspace_size(program_, name.c_str(), &bytes, &fault))
      return failed(refused);
    const ClientMemory workspace(bytes);
    assay_method_sizes sizes;
    if (const auto refused = assay_method_size(program_, name.c_str(), &options_, memory_of(workspace), &sizes, &fault))
      return failed(refused);
    if (!shared_) {
      shared_.emplace(sizes.shared);
      std::memset(shared_->bytes().data(), 0, sizes.shared);
    }
    Made made{ClientMemory(sizes.prepared), ClientMemory(sizes.arena), ClientMemory(sizes.scratch), nullptr};
    const assay_method_memories memories{memory_of(workspace), memory_of(made.prepared), memory_of(made.arena),
                                         memory_of(*shared_), memory_of(made.scratch)};
    if (const auto refused = assay_method_make(program_, name.c_str(), &options_, &memories, &made.method, &fault))
      return failed(refused);
    return methods_.emplace(name, std::move(made)).first->second.method;
  }

  ClientMemory file_;
  std::vector<ClientMemory> data_;
  assay_options options_{};
  std::optional<ClientMemory> memory_, shared_;
  assay_program* program_ = nullptr;
  std::map<std::string, Made> methods_;
};

class OptimizedRuntime final : public Runtime {
 public:
  explicit OptimizedRuntime(bool deployable) : deployable_(deployable) {}
  std::string_view name() const override { return "optimized"; }
  std::unique_ptr<TesteeProgram> load(const fs::path& program, const std::vector<fs::path>& data,
                                      Reply& reply) override {
    auto loaded = std::make_unique<LoadedOptimized>(program, data, deployable_);
    reply = loaded->open();
    return reply.outcome == Outcome::ok ? std::move(loaded) : nullptr;
  }

 private:
  bool deployable_;
};

}  // namespace

std::unique_ptr<Runtime> make_optimized_runtime(bool deployable) {
  return std::make_unique<OptimizedRuntime>(deployable);
}

}  // namespace assay
