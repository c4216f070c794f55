#include "conformance/testees/optimized/runtime.h"

#include <cstring>
#include <fstream>
#include <map>
#include <new>

#include "optimized/fallback/fallback.h"
#include "optimized/fallback/values.h"
#include "optimized/runtime/method.h"
#include "reference/fault.h"

// Programs on the optimized runtime: a client that gives it memory from the heap.
namespace assay {
namespace {

namespace fs = std::filesystem;

// Bytes at a multiple of 64.
class Memory {
 public:
  explicit Memory(std::size_t size) : bytes_(new (std::align_val_t{64}) std::byte[size ? size : 1]), size_(size) {}
  std::span<std::byte> bytes() const { return {bytes_.get(), size_}; }

 private:
  struct Free {
    void operator()(std::byte* p) const { ::operator delete[](p, std::align_val_t{64}); }
  };
  std::unique_ptr<std::byte[], Free> bytes_;
  std::size_t size_;
};

Memory contents(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  Memory memory(fs::file_size(file));
  in.read(reinterpret_cast<char*>(memory.bytes().data()), static_cast<std::streamsize>(memory.bytes().size()));
  return memory;
}

Reply reply_of(const optimized::Fault& fault) {
  return {fault.outcome, text(fault.rule, fault.place[0] ? ", " : "", fault.place, ": ", fault.message)};
}

// Memory in which a value of the reference is one of the runtime's.
struct Given {
  optimized::Value value;
  optimized::Tensor tensor;
  std::vector<std::int32_t> sizes;
  std::vector<std::uint8_t> order;
};

void give(const Value& from, Given& to) {
  using optimized::ValueKind;
  if (const auto* t = std::get_if<Tensor>(&from)) {
    to.sizes.assign(t->sizes.begin(), t->sizes.end()), to.order.assign(t->dim_order.begin(), t->dim_order.end());
    to.tensor.dtype = t->dtype, to.tensor.rank = static_cast<std::uint8_t>(t->rank());
    to.tensor.sizes = to.sizes.data(), to.tensor.dim_order = to.order.data();
    to.tensor.data = const_cast<std::byte*>(t->bytes.data());
    to.value.kind = ValueKind::tensor, to.value.tensor = &to.tensor;
  } else if (const auto* n = std::get_if<Int>(&from)) {
    to.value.kind = ValueKind::integer, to.value.integer = *n;
  } else if (const auto* d = std::get_if<double>(&from)) {
    to.value.kind = ValueKind::real, to.value.real = *d;
  } else if (const auto* b = std::get_if<bool>(&from)) {
    to.value.kind = ValueKind::boolean, to.value.boolean = *b;
  } else if (const auto* s = std::get_if<std::string>(&from)) {
    to.value.kind = ValueKind::string, to.value.text = s->data(),
    to.value.count = static_cast<std::uint32_t>(s->size());
  }
}

struct Ready {
  Memory prepared, arena, scratch;
  optimized::Method* method;
};

class LoadedOptimized final : public TesteeProgram {
 public:
  LoadedOptimized(const fs::path& program, const std::vector<fs::path>& data, bool deployable)
      : file_(contents(program)) {
    for (const fs::path& file : data) data_.push_back(contents(file));
    views_.resize(data.size());
    if (deployable) return;
    options_.fallback = &optimized::reference_kernel;
    options_.backends = {&optimized::program_backend, 1};
  }

  bool open(optimized::Fault& fault) {
    std::vector<std::span<const std::byte>> data;
    for (const Memory& m : data_) data.push_back(m.bytes());
    format::Workspace counting;
    if (!optimized::Program::open(file_.bytes(), data, views_, counting, fault)) return false;
    const Memory memory(counting.most());
    format::Workspace workspace(memory.bytes());
    program_ = optimized::Program::open(file_.bytes(), data, views_, workspace, fault);
    return program_.has_value();
  }

  Reply call(const std::string& name, std::span<const Value> inputs, std::vector<Value>& outputs) override {
    optimized::Fault fault;
    optimized::Method* method = ready(name, fault);
    if (!method) return reply_of(fault);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      Given given;
      give(inputs[i], given);
      if (!method->set_input(i, given.value, fault)) return reply_of(fault);
    }
    if (!method->execute(fault)) return reply_of(fault);
    outputs.clear();
    for (std::size_t i = 0; i < method->outputs(); ++i) outputs.push_back(optimized::to_reference(method->output(i)));
    return {};
  }

 private:
  optimized::Method* ready(const std::string& name, optimized::Fault& fault) {
    if (const auto found = methods_.find(name); found != methods_.end()) return found->second.method;
    const pte::ExecutionPlan* plan = program_->method(name);
    if (!plan) return fault.set(Outcome::invalid, "G3", "", "there is no such method"), nullptr;
    const Memory work(optimized::Method::workspace_size(*program_, *plan));
    format::Workspace workspace(work.bytes());
    optimized::Sizes sizes;
    optimized::Method::make(*program_, *plan, options_, workspace, nullptr, sizes, fault);
    if (fault) return nullptr;
    if (!shared_) {
      shared_.emplace(sizes.shared);
      std::memset(shared_->bytes().data(), 0, sizes.shared);
    }
    Ready made{Memory(sizes.prepared), Memory(sizes.arena), Memory(sizes.scratch), nullptr};
    const optimized::Memories memories{made.prepared.bytes(), made.arena.bytes(), shared_->bytes(),
                                       made.scratch.bytes()};
    made.method = optimized::Method::make(*program_, *plan, options_, workspace, &memories, sizes, fault);
    if (!made.method) return nullptr;
    return methods_.emplace(name, std::move(made)).first->second.method;
  }

  Memory file_;
  std::vector<Memory> data_;
  std::vector<format::DataView> views_;
  std::optional<optimized::Program> program_;
  optimized::Options options_;
  std::optional<Memory> shared_;
  std::map<std::string, Ready> methods_;
};

class OptimizedRuntime final : public Runtime {
 public:
  explicit OptimizedRuntime(bool deployable) : deployable_(deployable) {}
  std::string_view name() const override { return "optimized"; }
  std::unique_ptr<TesteeProgram> load(const fs::path& program, const std::vector<fs::path>& data,
                                      Reply& reply) override {
    auto loaded = std::make_unique<LoadedOptimized>(program, data, deployable_);
    optimized::Fault fault;
    if (!loaded->open(fault)) return reply = reply_of(fault), nullptr;
    reply = {};
    return loaded;
  }

 private:
  bool deployable_;
};

}  // namespace

std::unique_ptr<Runtime> make_optimized_runtime(bool deployable) {
  return std::make_unique<OptimizedRuntime>(deployable);
}

}  // namespace assay
