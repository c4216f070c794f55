#include <algorithm>

#include "reference/program/taken.h"
#include "reference/runtime/delegate.h"
#include "reference/runtime/runtime.h"
#include "reference/xnnpack/translate.h"

// The backend "XnnpackBackend": runs the graph of a payload as a program of operators of the specification.
namespace assay {
namespace {

// The result as the argument that the program declares. XNNPACK's positions are integers of either width.
Tensor as_argument(Tensor value, const Tensor& declared) {
  Tensor result{declared.dtype, declared.sizes, declared.dim_order, {}};
  for (int d = 0; d < declared.rank(); ++d) result.sizes[static_cast<int>(declared.dim_order[d])] = value.sizes[d];
  const bool positions = value.dtype == DType::int64;
  result.bytes = positions ? cast(value, declared.dtype).bytes : std::move(value.bytes);
  return result;
}

class XnnpackDelegate final : public Delegate {
 public:
  XnnpackDelegate(const DelegateSource& source) : reserved_(source.options.budget) {
    const format::Related calls{.plan = source.plan, .delegate = source.index};
    const xnnpack::Graph graph(source.payload, calls, source.named_data, source.options.payload_form);
    reserved_.add(graph.tables().nodes()->size() * xnnpack::bytes_of_node, "a payload");
    const auto charge = [this](std::size_t bytes) {
      reserved_.add(2 * bytes, "a payload");
    };  // in the program and in its file
    const xnnpack::PlainProgram plain = xnnpack::plain_program(graph, charge);
    ends_ = plain.ends;
    for (std::uint32_t i = 0; i < ends_.size(); ++i) places_.push_back(xnnpack::place_of_node(graph, i));
    Bytes file = encode(plain.program);
    const auto program = taken(LoadedProgram::load(in_memory(std::move(file)), {}, source.options));
    method_.emplace(taken(program.method("forward")));
  }

  std::size_t inputs() const override { return format::size_of(method_->plan().inputs()); }
  std::size_t outputs() const override { return format::size_of(method_->plan().outputs()); }

  void execute(std::span<Value> arguments) override {
    for (std::size_t i = 0; i < inputs(); ++i)
      require_done(method_->set_input(i, xnnpack::as_value(tensor(arguments[i]))));
    run();
    for (std::size_t i = 0; i < outputs(); ++i) {
      Value& argument = arguments[inputs() + i];
      argument = as_argument(std::get<Tensor>(taken(method_->output(i))), tensor(argument));
    }
  }

  // The node to which the current call belongs. After the nodes come the calls that write outputs.
  std::string place() const override {
    const auto node = std::ranges::upper_bound(ends_, call_) - ends_.begin();
    return node < std::ssize(places_) ? places_[static_cast<std::size_t>(node)] : std::string();
  }

 private:
  static Tensor tensor(const Value& value) {
    if (const auto* t = std::get_if<Tensor>(&value)) return *t;
    throw broken("X27", {}, "an argument is no tensor");
  }

  void run() {
    call_ = 0;
    do {
      if (Refusal refused = method_->step()) {
        require_done(method_->reset());
        refused->place = place();
        throw *refused;
      }
      ++call_;
    } while (method_->running());
  }

  Reserved reserved_;
  std::vector<std::uint32_t> ends_;
  std::vector<std::string> places_;
  std::optional<Method> method_;
  std::uint32_t call_ = 0;  // the index of the current call
};

}  // namespace

std::unique_ptr<Delegate> make_xnnpack_delegate(const DelegateSource& source) {
  return std::make_unique<XnnpackDelegate>(source);
}

}  // namespace assay
