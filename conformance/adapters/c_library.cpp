#include "conformance/adapters/c_library.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <utility>

#include "conformance/sandbox/heap.h"
#include "reference/fault.h"

namespace assay::adapters {
namespace {

constexpr std::size_t temporary_memory = 16 << 20;  // bytes that one call may allocate
constexpr std::size_t most_kernels = 1 << 16;

// The sizes, strides and dim order of a tensor, which the structs of the C interface point to.
struct Shape {
  std::vector<std::int64_t> sizes, strides;
  std::vector<std::uint8_t> dim_order;

  explicit Shape(const testee::TensorView& view)
      : sizes(view.sizes.begin(), view.sizes.end()),
        strides(sizes.size()),
        dim_order(view.dim_order.begin(), view.dim_order.end()) {
    std::int64_t stride = 1;
    for (auto d = dim_order.rbegin(); d != dim_order.rend(); stride *= std::max<std::int64_t>(sizes[*d++], 1))
      strides[*d] = stride;
  }
};

// The values of one call, and the host functions for its kernel. Memory for the kernel comes from the watched heap.
class Call {
 public:
  Call(const Operator& op, std::span<testee::HostValue> arguments, std::byte fill)
      : schema_(op.schema), fill_(static_cast<int>(fill)), values_(arguments.size()) {
    for (std::size_t i = 0; i < arguments.size(); ++i) place(values_[i], arguments[i], op.arguments[i]);
  }
  ~Call() { std::ranges::for_each(blocks_, std::free); }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  std::span<assay_kernel_value> values() { return values_; }

  assay_kernel_host host() {
    using Clock = std::chrono::steady_clock;
    return {this,
            [](void* call, assay_kernel_tensor* out, std::uint32_t rank, const std::int64_t* sizes) noexcept -> int {
              return static_cast<Call*>(call)->resize(out, rank, sizes);
            },
            [](void* call, std::size_t bytes, std::size_t alignment) noexcept {
              return static_cast<Call*>(call)->allocate(bytes, alignment);
            },
            [](void*, const char* line) noexcept { static_cast<void>(std::fprintf(stderr, "%s\n", line)); },
            [](void*) noexcept { return static_cast<std::uint64_t>(Clock::now().time_since_epoch().count()); },
            Clock::period::den / Clock::period::num,
            schema_.c_str()};
  }

  // Takes over the dtypes that the kernel set for its results.
  void read_back(const Operator& op) const {
    for (const Out& out : outs_) {
      const auto dtype = dtype_numbered(out.given->dtype);
      if (!dtype)
        throw Fault(Outcome::invalid, "library.reply",
                    concat("after a call of ", op.name, " an out has dtype ", out.given->dtype, ", which is none"));
      out.view->dtype = *dtype;
    }
  }

 private:
  struct Out {
    assay_kernel_tensor* given;
    testee::TensorView* view;
  };

  bool resize(const assay_kernel_tensor* given, std::uint32_t rank, const std::int64_t* sizes) {
    const sandbox::heap::Owner owner(sandbox::heap::Owner::host);
    const auto out = std::ranges::find(outs_, given, &Out::given);
    if (out == outs_.end() || rank > max_rank) return false;
    testee::TensorView resized = *out->view;
    std::int64_t elements = 1;
    for (std::uint32_t d = 0; d < rank; ++d)
      if (sizes[d] < 0 || __builtin_mul_overflow(elements, sizes[d], &elements)) return false;
    if (static_cast<std::uint64_t>(elements) > resized.capacity / static_cast<std::size_t>(info(resized.dtype).bytes))
      return false;
    resized.sizes = Dims(std::span(sizes, rank));
    if (resized.dim_order.size() != resized.sizes.size()) resized.dim_order = Dims::counting(resized.sizes.size());
    *out->view = resized;
    lay_out(*out->given, resized);
    return true;
  }

  void* allocate(std::size_t bytes, std::size_t alignment) {
    if (!std::has_single_bit(alignment) || bytes > temporary_memory - allocated_) return nullptr;
    void* block = nullptr;
    if (posix_memalign(&block, std::max(alignment, sizeof block), bytes) != 0) return nullptr;
    const sandbox::heap::Owner owner(sandbox::heap::Owner::host);
    allocated_ += bytes;
    return blocks_.emplace_back(std::memset(block, fill_, bytes));
  }

  void lay_out(assay_kernel_tensor& given, const testee::TensorView& view) {
    const Shape& shape = shapes_.emplace_back(view);
    given.rank = static_cast<std::uint32_t>(shape.sizes.size());
    given.sizes = shape.sizes.data(), given.strides = shape.strides.data(), given.dim_order = shape.dim_order.data();
  }

  void place(assay_kernel_value& at, testee::TensorView& view, bool out) {
    at.kind = ASSAY_KERNEL_TENSOR;
    at.as.tensor.dtype = static_cast<std::int32_t>(view.dtype);
    at.as.tensor.data = view.data, at.as.tensor.capacity = view.capacity;
    lay_out(at.as.tensor, view);
    if (out) outs_.push_back({&at.as.tensor, &view});
  }

  void place(assay_kernel_value& at, testee::TensorViews& views, bool out) {
    std::vector<assay_kernel_value>& items = lists_.emplace_back(views.size());
    for (std::size_t k = 0; k < views.size(); ++k)
      if (views[k]) place(items[k], *views[k], out);
    at.kind = ASSAY_KERNEL_TENSORS, at.as.tensors = {items.data(), items.size()};
  }

  void place(assay_kernel_value& at, testee::HostValue& value, const SchemaArgument& argument) {
    std::visit(
        [&]<class T>(T& v) {
          if constexpr (std::is_same_v<T, std::monostate>) at.kind = ASSAY_KERNEL_NONE;
          if constexpr (std::is_same_v<T, testee::TensorView> || std::is_same_v<T, testee::TensorViews>)
            place(at, v, argument.out);
          if constexpr (std::is_same_v<T, Int>) {
            if (argument.type.starts_with("float"))
              at.kind = ASSAY_KERNEL_DOUBLE, at.as.real = static_cast<double>(v);
            else
              at.kind = ASSAY_KERNEL_INT, at.as.integer = v;
          }
          if constexpr (std::is_same_v<T, double>) at.kind = ASSAY_KERNEL_DOUBLE, at.as.real = v;
          if constexpr (std::is_same_v<T, bool>) at.kind = ASSAY_KERNEL_BOOL, at.as.boolean = v;
          if constexpr (std::is_same_v<T, std::string>)
            at.kind = ASSAY_KERNEL_STRING, at.as.string = {v.c_str(), v.size()};
          if constexpr (std::is_same_v<T, Ints>) at.kind = ASSAY_KERNEL_INTS, at.as.integers = {v.data(), v.size()};
          if constexpr (std::is_same_v<T, Doubles>) at.kind = ASSAY_KERNEL_DOUBLES, at.as.reals = {v.data(), v.size()};
          if constexpr (std::is_same_v<T, Bools>) {
            const auto& items = bools_.emplace_back(v.begin(), v.end());
            at.kind = ASSAY_KERNEL_BOOLS, at.as.booleans = {items.data(), items.size()};
          }
        },
        value);
  }

  const std::string schema_;
  const int fill_;
  std::deque<Shape> shapes_;
  std::deque<std::vector<assay_kernel_value>> lists_;
  std::deque<std::vector<std::uint8_t>> bools_;
  std::vector<assay_kernel_value> values_;
  std::vector<Out> outs_;
  std::vector<void*> blocks_;
  std::size_t allocated_ = 0;  // bytes of temporary memory
};

testee::Reply reply_of(const Operator& op, const assay_kernel_reply& reply) {
  const std::string message = reply.message ? reply.message : "";
  switch (reply.outcome) {
    case ASSAY_KERNEL_OK:
    case ASSAY_KERNEL_INVALID:
    case ASSAY_KERNEL_UNSUPPORTED:
    case ASSAY_KERNEL_FAULT:
    case ASSAY_KERNEL_EXHAUSTED:
      return {static_cast<Outcome>(reply.outcome), message};
    case ASSAY_KERNEL_INTERNAL:  // counts as a refusal that names no rule
      return {Outcome::invalid, "internal: " + message};
    default:
      throw Fault(
          Outcome::invalid, "library.reply",
          concat("the library replies to a call of ", op.name, " with outcome ", reply.outcome, ", which is none"));
  }
}

static_assert(ASSAY_KERNEL_OK == static_cast<int>(Outcome::ok) &&
              ASSAY_KERNEL_INVALID == static_cast<int>(Outcome::invalid) &&
              ASSAY_KERNEL_UNSUPPORTED == static_cast<int>(Outcome::unsupported) &&
              ASSAY_KERNEL_FAULT == static_cast<int>(Outcome::fault) &&
              ASSAY_KERNEL_EXHAUSTED == static_cast<int>(Outcome::exhausted));

class CLibrary final : public testee::KernelLibrary {
 public:
  CLibrary(std::string name, const assay_kernel_library& table, std::vector<std::string> kernels,
           std::vector<std::string> binaries)
      : name_(std::move(name)), table_(table), kernels_(std::move(kernels)), binaries_(std::move(binaries)) {}

  std::string_view name() const override { return name_; }

  std::vector<std::pair<std::string, std::string>> facts() const override {
    std::vector<std::pair<std::string, std::string>> all{{"interface", concat("kernel library ", table_.version)},
                                                         {"temporary memory", concat(temporary_memory >> 20, " MiB")}};
    for (const assay_kernel_fact& fact : std::span(table_.facts, table_.fact_count))
      all.emplace_back(fact.name, fact.text);
    return all;
  }

  std::vector<std::string> binaries() const override { return binaries_; }

  std::vector<std::string> kernels() const override { return kernels_; }

  bool has(const Operator& op) const override { return table_.has(table_.context, std::string(op.name).c_str()) != 0; }

  testee::Reply call(const Operator& op, std::span<testee::HostValue> arguments) override {
    Call call(op, arguments, fill_);
    const testee::Reply reply = reply_of(op, asked(std::string(op.name), call.host(), call.values()));
    if (reply.outcome == Outcome::ok) call.read_back(op);
    return reply;
  }

  void fill_memory(std::byte byte) override {
    fill_ = byte;
    if (table_.fill) table_.fill(table_.context, static_cast<std::uint8_t>(byte));
  }

 private:
  // noexcept: an exception of the library ends the process, which counts as a crash of the library.
  assay_kernel_reply asked(const std::string& op, const assay_kernel_host& host,
                           std::span<assay_kernel_value> values) noexcept {
    const sandbox::heap::Owner owner(sandbox::heap::Owner::library);
    if (table_.reset && !std::exchange(begun_, true)) table_.reset(table_.context);
    return table_.call(table_.context, op.c_str(), &host, values.data(), values.size());
  }

  const std::string name_;
  const assay_kernel_library& table_;
  const std::vector<std::string> kernels_, binaries_;
  std::byte fill_{};
  bool begun_ = false;  // `reset` was called in this process
};

}  // namespace

std::unique_ptr<testee::KernelLibrary> make_c_library(const assay_kernel_library* table,
                                                      std::vector<std::string> binaries, std::string name) {
  const auto fail = [&](Outcome outcome, const char* rule, const auto&... sentence) {
    throw Fault(outcome, rule, concat(binaries.front(), sentence...));
  };
  const auto require_table = [&](bool holds, const char* sentence) {
    if (!holds) fail(Outcome::invalid, "library.table", sentence);
  };
  require_table(table, ": assay_kernel_library_v1 returns no table");
  if (table->version != ASSAY_KERNEL_LIBRARY_VERSION)
    fail(Outcome::unsupported, "library.version", ": its table is of version ", table->version,
         " of the kernel library interface, but here is version ", +ASSAY_KERNEL_LIBRARY_VERSION);
  require_table(table->name && *table->name, ": its table has no name");
  require_table(table->has, ": its table has no function has");
  require_table(table->call, ": its table has no function call");
  require_table(table->facts || table->fact_count == 0, ": its table has no facts, but counts some");
  for (const assay_kernel_fact& fact : std::span(table->facts, table->fact_count))
    require_table(fact.name && fact.text, ": a fact of its table has no name or no text");
  std::vector<std::string> kernels;
  while (const char* kernel = table->kernel ? table->kernel(table->context, kernels.size()) : nullptr) {
    require_table(kernels.size() < most_kernels, ": its table names kernels without end");
    kernels.emplace_back(kernel);
  }
  return std::make_unique<CLibrary>(name.empty() ? table->name : std::move(name), *table, std::move(kernels),
                                    std::move(binaries));
}

}  // namespace assay::adapters
