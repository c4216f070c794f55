// Thirty bugs, each in an operator of its own, and what is said of them.

#include "conformance/defects/defects.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <limits>

#include "conformance/runner/suite.h"
#include "conformance/testees/reference_library.h"

namespace assay {
namespace {

using namespace std::chrono_literals;

// A call as the bugs see it.
struct Given {
  const Operator& op;
  std::span<HostValue> arguments;

  const HostValue& operator[](std::string_view name) const {
    const auto at = std::ranges::find(op.arguments, name, &SchemaArgument::name);
    return arguments[static_cast<std::size_t>(at - op.arguments.begin())];
  }
  const TensorView& tensor(std::string_view name) const { return std::get<TensorView>((*this)[name]); }
  bool is(std::string_view name, DType dtype) const { return tensor(name).dtype == dtype; }
  Int integer(std::string_view name) const { return std::get<Int>((*this)[name]); }
  bool flag(std::string_view name) const { return std::get<bool>((*this)[name]); }
  bool contiguous(std::string_view name) const {
    const TensorView& t = tensor(name);
    return t.dim_order == Dims::counting(t.sizes.size());
  }
  bool any(std::string_view name, bool (*holds)(Real)) const {
    const TensorView& t = tensor(name);
    Tensor copy{t.dtype, t.sizes, t.dim_order, {t.data, t.data + t.bytes()}};
    return info(t.dtype).kind != Kind::opaque && std::ranges::any_of(read<Real>(copy).data, holds);
  }
  TensorView& out() const { return std::get<TensorView>(arguments.back()); }
};

using When = bool (*)(const Given&);
using Deed = void (*)(const Given&);

void spoil(const Given& g) {
  if (g.out().bytes() > 0) g.out().data[g.out().bytes() - 1] ^= std::byte{0x44};
}
void abort_deliberately(const Given&) { std::abort(); }
void fault(const Given&) { std::raise(SIGSEGV); }
void trap(const Given&) { std::raise(SIGFPE); }
void change_input(const Given& g) {
  const TensorView& t = std::get<TensorView>(g.arguments.front());
  if (t.bytes() > 0) t.data[0] ^= std::byte{1};
}
void write_behind(const Given& g) { g.out().data[g.out().bytes()] ^= std::byte{0xFF}; }
void refuse(const Given&) { throw Fault(Outcome::invalid, "planted", "no such thing"); }

struct Bug {
  const char* op;
  When when;
  Deed deed;
  Class failure;
  const char* says;  // a part of the sentence
};

bool is_nan(Real x) { return std::isnan(x); }
bool is_inf(Real x) { return std::isinf(x); }
bool is_negative(Real x) { return x < 0; }
bool is_negative_zero(Real x) { return x == 0 && std::signbit(x); }

const std::vector<Bug>& bugs() {
  using G = const Given&;
  static const std::vector<Bug> all{
      {"aten::abs.out", [](G g) { return g.is("self", DType::int8); }, spoil, Class::value, "is int8"},
      {"aten::neg.out", [](G g) { return g.any("self", is_nan); }, spoil, Class::value, "has NaN"},
      {"aten::sigmoid.out", [](G g) { return g.any("self", is_inf); }, spoil, Class::value, "has infinity"},
      {"aten::ceil.out", [](G g) { return g.any("self", is_negative_zero); }, spoil, Class::value, "has a negative zero"},
      {"aten::relu.out", [](G g) { return g.any("self", is_negative); }, spoil, Class::value, "has negative numbers"},
      {"aten::add.out", [](G g) { return g.tensor("self").sizes != g.tensor("other").sizes; }, spoil, Class::value, "have different sizes"},
      {"aten::mul.out", [](G g) { return g.tensor("self").dtype != g.tensor("other").dtype; }, spoil, Class::value, "have different dtypes"},
      {"aten::sub.out", [](G g) { return g.tensor("self").sizes.size() == 0; }, spoil, Class::value, "has no dimensions"},
      {"aten::exp.out", [](G g) { return !g.contiguous("self"); }, spoil, Class::value, "contiguous"},
      {"aten::mean.dim", nullptr, nullptr, Class::none, ""},
      {"aten::sum.IntList_out", [](G g) { return g.flag("keepdim"); }, spoil, Class::value, "keepdim is true"},
      {"aten::cumsum.out", [](G g) { return g.integer("dim") < 0; }, spoil, Class::value, "negative"},
      {"aten::softmax.int_out", nullptr, nullptr, Class::none, ""},
      {"aten::tril.out", [](G g) { return g.integer("diagonal") > 0; }, spoil, Class::value, "diagonal is at least 1"},
      {"aten::flip.out", [](G g) { return std::get<Ints>(g["dims"]).size() > 1; }, spoil, Class::value, "length of dims is at least 2"},
      {"aten::argmax.out", [](G g) { return std::holds_alternative<std::monostate>(g["dim"]); }, spoil, Class::value, "None"},
      {"aten::tan.out", [](G g) { return g.is("self", DType::float16); }, abort_deliberately, Class::abort, "is float16"},
      {"aten::cos.out", [](G g) { return g.is("self", DType::bfloat16); }, abort_deliberately, Class::abort, "is bfloat16"},
      {"aten::sin.out", [](G g) { return g.is("self", DType::uint8); }, fault, Class::segmentation_fault, "is uint8"},
      {"aten::sqrt.out", [](G g) { return g.tensor("self").sizes.size() == 3; }, trap, Class::arithmetic_trap, "rank of"},
      {"aten::erf.out", [](G g) { return g.is("self", DType::int64); }, change_input, Class::changes_input, "is int64"},
      {"aten::floor.out", [](G g) { return g.is("self", DType::float64); }, write_behind, Class::writes_out_of_bounds, "is float64"},
      {"aten::sign.out", [](G g) { return g.is("self", DType::boolean); }, refuse, Class::refused_though_valid, "is bool"},
      {"aten::where.self_out", [](G g) { return g.is("condition", DType::uint8); }, refuse, Class::refused_though_valid, "uint8"},
      {"aten::clamp.out", [](G g) { return std::holds_alternative<std::monostate>(g["min"]); }, spoil, Class::value, "min is None"},
      {"aten::gelu.out", [](G g) { return std::get<std::string>(g["approximate"]) == "tanh"; }, spoil, Class::value, "tanh"},
      {"aten::transpose_copy.int_out", [](G g) { return g.integer("dim0") == g.integer("dim1"); }, nullptr, Class::none, ""},
      {"aten::minimum.out", [](G g) { return g.is("out", DType::float64) && !g.is("self", DType::float64); }, spoil, Class::value, "float64"},
  };
  return all;
}

class Planted final : public KernelLibrary {
 public:
  std::string_view name() const override { return "planted"; }
  bool has(const Operator&) const override { return true; }
  Reply call(const Operator& op, std::span<HostValue> a) override {
    const auto bug = std::ranges::find(bugs(), op.name, &Bug::op);
    const Reply reply = reference_.call(op, a);
    if (reply.outcome != Outcome::ok || bug == bugs().end() || !bug->deed || !bug->when({op, a})) return reply;
    try {
      bug->deed({op, a});
    } catch (const Fault& f) {
      return {f.outcome, f.message};
    }
    return reply;
  }

 private:
  ReferenceLibrary reference_;
};

TEST(Defects, NameEveryPlantedBugOnce) {
  static const Corpus corpus(ASSAY_GOLDEN);
  static Planted library;
  static const Contract everything;
  Laboratory laboratory(corpus, library, everything, {2s, 60s});
  SuiteOptions options;
  for (const Bug& bug : bugs())
    if (bug.deed) options.operators += (options.operators.empty() ? "" : ",") + std::string(bug.op);
  std::vector<Seen> cases;
  judge_blocks(laboratory, plan_blocks(corpus, options, false), options.workers, [&](const Record& r) { cases.push_back(seen(r)); });
  const std::vector<Defect> defects = defects_of(&laboratory, corpus, cases, options.workers, [](std::string_view) {});
  std::string list;
  for (const Defect& d : defects) {
    list += text(name(d.tier), ": ", d.sentence, " (", d.cases, ") ", d.trial.alike, "/", d.trial.drawn, " ", d.trial.spared, "/", d.trial.differing, " of");
    for (const std::string& op : d.operators) list += " " + op;
    list += "\n";
  }
  std::size_t planted = 0, others = 0;
  for (const Bug& bug : bugs()) {
    if (!bug.deed) continue;
    ++planted;
    std::size_t named = 0;
    for (const Defect& d : defects)
      if (std::ranges::find(d.operators, bug.op) != d.operators.end() && d.failure == bug.failure) named += d.when.find(bug.says) != std::string::npos;
    if (named != 1) ADD_FAILURE() << bug.op << " is named by " << named << " defects that say: " << bug.says;
  }
  others = defects.size() > planted ? defects.size() - planted : 0;
  EXPECT_LE(others, 1u);
  std::cout << list;
}

}  // namespace
}  // namespace assay
