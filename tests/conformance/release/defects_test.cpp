// Thirty bugs and fourteen more, each in an operator of its own, and the defects that are reported for them.

#include "conformance/defects/defects.h"

#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <set>

#include "conformance/adapters/reference_library.h"
#include "conformance/cases/fingerprint.h"
#include "conformance/defects/draw.h"
#include "conformance/runner/suite.h"
#include "tests/support/corpus.h"

namespace assay {
namespace defects_test {

using namespace std::chrono_literals;

// A call in the form that the bugs read.
struct Given {
  const Operator& op;
  std::span<testee::HostValue> arguments;

  const testee::HostValue& operator[](std::string_view name) const {
    const auto at = std::ranges::find(op.arguments, name, &SchemaArgument::name);
    return arguments[static_cast<std::size_t>(at - op.arguments.begin())];
  }
  const testee::TensorView& tensor(std::string_view name) const { return std::get<testee::TensorView>((*this)[name]); }
  bool is(std::string_view name, DType dtype) const { return tensor(name).dtype == dtype; }
  Int integer(std::string_view name) const { return std::get<Int>((*this)[name]); }
  bool flag(std::string_view name) const { return std::get<bool>((*this)[name]); }
  bool contiguous(std::string_view name) const {
    const testee::TensorView& t = tensor(name);
    return t.dim_order == Dims::counting(t.sizes.size());
  }
  bool any(std::string_view name, bool (*holds)(Real)) const {
    const testee::TensorView& t = tensor(name);
    Tensor copy{t.dtype, t.sizes, t.dim_order, {t.data, t.data + t.bytes()}};
    return info(t.dtype).kind != Kind::opaque && std::ranges::any_of(read<Real>(copy).data, holds);
  }
  Array<Real> numbers(std::string_view name) const {
    const testee::TensorView& t = tensor(name);
    return read<Real>(Tensor{t.dtype, t.sizes, t.dim_order, {t.data, t.data + t.bytes()}});
  }
  double number(std::string_view name) const {
    const testee::HostValue& v = (*this)[name];
    if (const bool* b = std::get_if<bool>(&v)) return *b;
    if (const Int* n = std::get_if<Int>(&v)) return static_cast<double>(*n);
    return std::get<double>(v);
  }
  // For the first two arguments, if they have the same sizes.
  bool any_pair(bool (*holds)(Real, Real)) const {
    const Array<Real> a = numbers("self"), b = numbers("other");
    bool any = false;
    for (std::size_t i = 0; a.sizes == b.sizes && i < a.data.size(); ++i) any = any || holds(a.data[i], b.data[i]);
    return any;
  }
  testee::TensorView& out() const { return std::get<testee::TensorView>(arguments.back()); }
};

using When = bool (*)(const Given&);
using Effect = void (*)(const Given&);

void spoil(const Given& g) {
  if (g.out().bytes() > 0) g.out().data[g.out().bytes() - 1] ^= std::byte{0x44};
}
void abort_deliberately(const Given&) { std::abort(); }
void fault(const Given&) { std::raise(SIGSEGV); }
void trap(const Given&) { std::raise(SIGFPE); }
void change_input(const Given& g) {
  const testee::TensorView& t = std::get<testee::TensorView>(g.arguments.front());
  if (t.bytes() > 0) t.data[0] ^= std::byte{1};
}
void write_behind(const Given& g) { g.out().data[g.out().bytes()] ^= std::byte{0xFF}; }
void refuse(const Given&) { throw Fault(Outcome::invalid, "planted", "no such thing"); }

void give_wrong_sizes(const Given& g) {
  if (g.out().sizes.size() > 0 && g.out().sizes[0] > 0) --g.out().sizes[0];
}
void count(const Given& g) {
  static unsigned calls = 0;
  if (g.out().bytes() > 0) g.out().data[0] = static_cast<std::byte>(++calls);
}
void leave(const Given&) { std::_Exit(3); }
void assert_falsely(const Given&) {
  std::fputs("planted: Assertion `false' failed.\n", stderr);
  std::abort();
}
void accept(const Given&) {}

struct Bug {
  const char* op;
  When when;
  Effect deed;
  verdict::Class failure;
  const char* says;  // a part of the defect's sentence
};

void go_by_way_of_double(const Given& g) {
  testee::TensorView& out = g.out();
  if (out.dtype != DType::int64) return;
  for (std::size_t at = 0; at < out.bytes(); at += sizeof(Int)) {
    Int x = 0;
    std::memcpy(&x, &out.data[at], sizeof x);
    x = truncated_to(DType::int64, static_cast<double>(x));
    std::memcpy(&out.data[at], &x, sizeof x);
  }
}

bool is_nan(Real x) { return std::isnan(x); }
bool is_inf(Real x) { return std::isinf(x); }
bool is_negative(Real x) { return x < 0; }
bool is_halfway(Real x) { return std::fabs(x - std::trunc(x)) == 0.5; }
bool has_rest(const Dims& sizes) { return sizes.size() > 0 && sizes[sizes.size() - 1] % 8 != 0; }
bool is_negative_zero(Real x) { return x == 0 && std::signbit(x); }

const std::vector<Bug>& bugs() {
  using G = const Given&;
  static const std::vector<Bug> all{
      {"aten::abs.out", [](G g) { return g.is("self", DType::int8); }, spoil, verdict::Class::value, "is int8"},
      {"aten::neg.out", [](G g) { return g.any("self", is_nan); }, spoil, verdict::Class::value, "has NaN"},
      {"aten::sigmoid.out", [](G g) { return g.any("self", is_inf); }, spoil, verdict::Class::value, "has infinity"},
      {"aten::ceil.out", [](G g) { return g.any("self", is_negative_zero); }, spoil, verdict::Class::value,
       "has a negative zero"},
      {"aten::relu.out", [](G g) { return g.any("self", is_negative); }, spoil, verdict::Class::value,
       "has negative numbers"},
      {"aten::add.out", [](G g) { return g.tensor("self").sizes != g.tensor("other").sizes; }, spoil,
       verdict::Class::value, "have different sizes"},
      {"aten::mul.out", [](G g) { return g.tensor("self").dtype != g.tensor("other").dtype; }, spoil,
       verdict::Class::value, "have different dtypes"},
      {"aten::sub.out", [](G g) { return g.tensor("self").sizes.size() == 0; }, spoil, verdict::Class::value,
       "has no dimensions"},
      {"aten::exp.out", [](G g) { return !g.contiguous("self"); }, spoil, verdict::Class::value, "contiguous"},
      {"aten::sum.IntList_out", [](G g) { return g.flag("keepdim"); }, spoil, verdict::Class::value, "keepdim is true"},
      {"aten::cumsum.out", [](G g) { return g.integer("dim") < 0; }, spoil, verdict::Class::value, "negative"},
      {"aten::tril.out", [](G g) { return g.integer("diagonal") > 0 && !g.is("self", DType::boolean); }, spoil,
       verdict::Class::value, "diagonal is at least 1"},
      {"aten::flip.out", [](G g) { return std::get<Ints>(g["dims"]).size() > 1; }, spoil, verdict::Class::value,
       "the length of dims is at least 2"},
      {"aten::argmax.out", [](G g) { return std::holds_alternative<std::monostate>(g["dim"]); }, spoil,
       verdict::Class::value, "None"},
      {"aten::tan.out", [](G g) { return g.is("self", DType::float16); }, abort_deliberately, verdict::Class::abort,
       "is float16"},
      {"aten::cos.out", [](G g) { return g.is("self", DType::bfloat16); }, abort_deliberately, verdict::Class::abort,
       "is bfloat16"},
      {"aten::sin.out", [](G g) { return g.is("self", DType::uint8); }, fault, verdict::Class::segmentation_fault,
       "is uint8"},
      {"aten::sqrt.out", [](G g) { return g.tensor("self").sizes.size() == 3; }, trap, verdict::Class::arithmetic_trap,
       "rank of"},
      {"aten::erf.out", [](G g) { return g.is("self", DType::int64); }, change_input, verdict::Class::changes_input,
       "is int64"},
      {"aten::floor.out", [](G g) { return g.is("self", DType::float64); }, write_behind,
       verdict::Class::writes_out_of_bounds, "is float64"},
      {"aten::sign.out", [](G g) { return g.is("self", DType::boolean); }, refuse, verdict::Class::refused_though_valid,
       "is bool"},
      {"aten::where.self_out", [](G g) { return g.is("condition", DType::uint8); }, refuse,
       verdict::Class::refused_though_valid, "condition is of integers"},
      {"aten::clamp.out", [](G g) { return std::holds_alternative<std::monostate>(g["min"]); }, spoil,
       verdict::Class::value, "min is None"},
      {"aten::gelu.out", [](G g) { return std::get<std::string>(g["approximate"]) == "tanh"; }, spoil,
       verdict::Class::value, "tanh"},
      {"aten::minimum.out", [](G g) { return g.is("out", DType::float64) && !g.is("self", DType::float64); }, spoil,
       verdict::Class::value, "float64"},
      {"aten::permute_copy.out", [](G g) { return g.tensor("self").sizes.size() == 2; }, give_wrong_sizes,
       verdict::Class::shape, "is 2"},
      {"aten::log.out", [](G g) { return g.is("self", DType::float16); }, count, verdict::Class::not_repeatable,
       "is float16"},
      {"aten::tanh.out", [](G g) { return g.is("self", DType::int16); }, leave, verdict::Class::exit, "is int16"},
      {"aten::cosh.out", [](G g) { return g.is("self", DType::int32); }, assert_falsely, verdict::Class::assertion,
       "is int32"},
      {"aten::bitwise_not.out", [](G) { return true; }, accept, verdict::Class::accepted_though_invalid,
       "accepts forbidden dtypes of self such as: self is "},
  };
  return all;
}

// Bugs of kinds that the thirty do not cover.
const std::vector<Bug>& others() {
  using G = const Given&;
  static const std::vector<Bug> all{
      {"aten::hardtanh.out", [](G g) { return g.tensor("self").sizes.size() == 4 && !g.contiguous("self"); }, spoil,
       verdict::Class::value, "self is not contiguous and the rank of out is 4"},
      {"aten::maximum.out", [](G g) { return g.any_pair([](Real a, Real b) { return a == b; }); }, spoil,
       verdict::Class::value, "both operands are equal for some element"},
      {"aten::rsqrt.out", [](G g) { return is_half(g.out().dtype); }, spoil, verdict::Class::value,
       "is float16 or bfloat16"},
      {"aten::logical_not.out", [](G g) { return has_rest(g.tensor("self").sizes); }, spoil, verdict::Class::value,
       "rows whose length is a multiple of 8"},
      {"aten::add.Scalar_out", [](G g) { return g.number("alpha") != 1; }, spoil, verdict::Class::value,
       "alpha is not 1"},
      {"aten::bitwise_xor.Tensor_out", [](G) { return true; }, go_by_way_of_double, verdict::Class::value,
       "for integers of 2^53 and more"},
      {"aten::_softmax.out", [](G g) { return g.integer("dim") == -1; }, spoil, verdict::Class::value, "dim is -1"},
      {"aten::round.out", [](G g) { return g.any("self", is_halfway); }, spoil, verdict::Class::value,
       "halfway between integers"},
      {"aten::max_pool2d_with_indices.out", [](G g) { return g.flag("ceil_mode"); }, spoil, verdict::Class::value,
       "ceil_mode is true"},
      {"aten::convolution.out", [](G g) { return g.integer("groups") > 1; }, spoil, verdict::Class::value,
       "groups is not 1"},
      {"aten::index_select.out", [](G g) { return g.integer("dim") != 0; }, spoil, verdict::Class::value,
       "dim is not 0"},
      {"aten::bmm.out", [](G g) { return g.tensor("self").sizes[2] % 4 != 0; }, spoil, verdict::Class::value,
       "self has rows whose length is no multiple of 4"},
      {"aten::addmm.out", [](G g) { return g.tensor("mat1").sizes != g.tensor("mat2").sizes; }, spoil,
       verdict::Class::value, "mat1 and mat2 have different sizes"},
      {"aten::index.Tensor_out",
       [](G g) {
         const auto& indices = std::get<testee::TensorViews>(g["indices"]);
         return indices.size() > 1 && !indices[0];
       },
       spoil, verdict::Class::value, "indices begins with None"},
  };
  return all;
}

const Bug* bug_in(const Operator& op) {
  for (const auto* list : {&bugs(), &others()})
    if (const auto bug = std::ranges::find(*list, op.name, &Bug::op); bug != list->end()) return &*bug;
  return nullptr;
}

// A library with mistakes in some calls. The reference computes the others.
class OverReference : public testee::KernelLibrary {
 public:
  bool has(const Operator&) const override { return true; }

 protected:
  adapters::ReferenceLibrary reference_;
};

class Planted final : public OverReference {
 public:
  std::string_view name() const override { return "planted"; }
  testee::Reply call(const Operator& op, std::span<testee::HostValue> a) override {
    const Bug* bug = bug_in(op);
    const testee::Reply reply = reference_.call(op, a);
    if (!bug) return reply;
    if (bug->deed == accept) return {};
    if (reply.outcome != Outcome::ok || !bug->when({op, a})) return reply;
    try {
      bug->deed({op, a});
    } catch (const Fault& f) {
      return {f.outcome, f.message};
    }
    return reply;
  }
};

bool names(const verdict::Defect& d, const Bug& bug) {
  return d.failure == bug.failure && std::ranges::find(d.operators, bug.op) != d.operators.end() &&
         d.sentence.find(bug.says) != std::string::npos;
}

runner::CaseRunner& case_runner() {
  static Planted library;
  static const contract::Contract everything;
  static runner::CaseRunner children(corpus(), library, everything, {2s, 60s});
  return children;
}

std::vector<verdict::Defect> defects(const runner::SuiteOptions& options) {
  std::vector<defects::JudgedCase> cases;
  runner::judge_blocks(case_runner(), runner::plan_blocks(corpus(), options, false), options.workers,
                       [&](const verdict::Record& r) { cases.push_back(defects::seen(r)); });
  return defects::defects_of(&case_runner(), corpus(), cases, options.workers, [](std::string_view) {});
}

std::string listed(const std::vector<verdict::Defect>& defects) {
  std::string list;
  for (const verdict::Defect& d : defects) {
    list += concat(d.id, ' ', verdict::name(d.tier), ": ", d.sentence, " (", d.cases, ") ", d.smallest.case_id, '\n');
    for (const std::string& neighbour : d.neighbours) list += concat("  ", neighbour, '\n');
  }
  return list;
}

void expect_named_once(const std::vector<Bug>& planted) {
  runner::SuiteOptions options;
  for (const Bug& bug : planted) options.operators += (options.operators.empty() ? "" : ",") + std::string(bug.op);
  const std::vector<verdict::Defect> found = defects(options);
  for (const Bug& bug : planted)
    EXPECT_EQ(std::ranges::count_if(found, [&](const verdict::Defect& d) { return names(d, bug); }), 1)
        << bug.op << ": " << bug.says << '\n'
        << listed(found);
  // An element that is spoiled may stay within its error bound, where large numbers cancel each other: at most one line
  // is about accuracy.
  const auto is_failure = [](const verdict::Defect& d) { return verdict::is_failure(d.verdict); };
  const std::ptrdiff_t failures = std::ranges::count_if(found, is_failure);
  EXPECT_LE(failures, std::ssize(planted) + 1) << listed(found);
  EXPECT_LE(std::ssize(found) - failures, 1) << listed(found);
}

TEST(Defects, NameEveryPlantedBugOnce) {
  EXPECT_EQ(bugs().size(), 30u);
  expect_named_once(bugs());
}

TEST(Defects, NameBugsOfOtherKinds) {
  EXPECT_EQ(others().size(), 14u);
  expect_named_once(others());
}

TEST(Defects, AreTheSameWhateverDoesTheWork) {
  runner::SuiteOptions options;
  options.operators = "aten::abs.out,aten::sin.out,aten::cumsum.out,aten::log.out,aten::tan.out";
  options.workers = 1;
  const std::string one = listed(defects(options));
  EXPECT_NE(one, "");
  options.workers = 3, options.shuffle = 4;
  EXPECT_EQ(listed(defects(options)), one);
}

TEST(Defects, TellWhatSimilarCallsGet) {
  runner::SuiteOptions options;
  options.operators = "aten::sin.out,aten::bitwise_not.out";
  const std::string found = listed(defects(options));
  EXPECT_THAT(found, testing::ContainsRegex("  The call passes if self is .* instead of .*:u8\n"));
  EXPECT_THAT(found, testing::ContainsRegex(
                         "  The testee refuses none of [0-9]+ other values of self that break the rule, such as .*\n"));
}

TEST(Defects, TellWhichNumbersMatter) {
  runner::SuiteOptions options;
  options.operators = "aten::ceil.out";
  EXPECT_THAT(listed(defects(options)), testing::HasSubstr("  The call passes with 0 in place of -0 in self\n"));
}

TEST(Defects, NeedNoLaboratory) {
  runner::SuiteOptions options;
  options.operators = "aten::sin.out";
  std::vector<defects::JudgedCase> cases;
  runner::judge_blocks(case_runner(), runner::plan_blocks(corpus(), options, false), 2,
                       [&](const verdict::Record& r) { cases.push_back(defects::seen(r)); });
  const std::vector<verdict::Defect> found = defects::defects_of(nullptr, corpus(), cases, 2, [](std::string_view) {});
  ASSERT_EQ(found.size(), 1u) << listed(found);
  EXPECT_EQ(found[0].when, "whenever self is uint8");
  EXPECT_FALSE(found[0].explained);
  EXPECT_EQ(found[0].cases, found[0].case_ids.size());
}

// A kernel that crashes where an out has more memory than its result needs.
class Roomy final : public OverReference {
 public:
  std::string_view name() const override { return "roomy"; }
  bool takes_outs_of_other_sizes() const override { return false; }  // so that only --thorough plans larger outs
  testee::Reply call(const Operator& op, std::span<testee::HostValue> a) override {
    const testee::Reply reply = reference_.call(op, a);
    const testee::TensorView& out = Given{op, a}.out();
    if (out.capacity > out.bytes()) std::raise(SIGSEGV);
    return reply;
  }
};

TEST(Defects, NameTheCircumstance) {
  Roomy library;
  const contract::Contract everything;
  runner::CaseRunner thorough(corpus(), library, everything, {2s, 60s}, 1, true);
  const cases::RecordedCalls& calls = *corpus().calls("aten::sin.out");
  std::vector<defects::JudgedCase> cases;
  for (std::size_t i = 0; i < 4; ++i)
    cases.push_back(defects::seen(thorough.run_alone({"aten::sin.out", calls.digest(i), {}}).record));
  const std::vector<verdict::Defect> found =
      defects::defects_of(&thorough, corpus(), cases, 1, [](std::string_view) {});
  ASSERT_EQ(found.size(), 1u) << listed(found);
  EXPECT_TRUE(found[0].sentence.starts_with("aten::sin.out ends in a segmentation fault with outs planned larger"))
      << found[0].sentence;
  EXPECT_TRUE(found[0].smallest.message.starts_with("with outs planned larger: crashed with signal 11"))
      << found[0].smallest.message;
}

std::vector<verdict::Defect> defects_of_library(testee::KernelLibrary& library, std::string operators) {
  const contract::Contract everything;
  runner::CaseRunner children(corpus(), library, everything, {2s, 60s});
  runner::SuiteOptions options;
  options.operators = std::move(operators);
  std::vector<defects::JudgedCase> cases;
  runner::judge_blocks(children, runner::plan_blocks(corpus(), options, false), 2,
                       [&](const verdict::Record& r) { cases.push_back(defects::seen(r)); });
  return defects::defects_of(&children, corpus(), cases, 2, [](std::string_view) {});
}

// A kernel that leaves its outs at the sizes with which they come.
class Unresizing final : public OverReference {
 public:
  std::string_view name() const override { return "unresizing"; }
  testee::Reply call(const Operator& op, std::span<testee::HostValue> a) override {
    const Dims given = Given{op, a}.out().sizes;
    const testee::Reply reply = reference_.call(op, a);
    if (reply.outcome == Outcome::ok) Given{op, a}.out().sizes = given;
    return reply;
  }
};

TEST(Defects, AreNamedOnceForOutsThatComeLargerAndSmaller) {
  Unresizing library;
  const std::vector<verdict::Defect> found = defects_of_library(library, "aten::sin.out");
  ASSERT_EQ(found.size(), 1u) << listed(found);
  EXPECT_EQ(found[0].sentence, "aten::sin.out gives results of wrong sizes with outs that come larger or smaller");
  // A similar call counts only if its outs come with other sizes, too; no such call passes.
  EXPECT_TRUE(found[0].neighbours.empty()) << listed(found);
}

// A kernel that accepts invalid calls of two dtypes, and refuses the others as the reference does.
class Accepting final : public OverReference {
 public:
  std::string_view name() const override { return "accepting"; }
  testee::Reply call(const Operator& op, std::span<testee::HostValue> a) override {
    const testee::Reply reply = reference_.call(op, a);
    const Given g{op, a};
    return g.is("self", DType::float32) || g.is("self", DType::uint16) ? testee::Reply{} : reply;
  }
};

TEST(Defects, QuoteHowOtherValuesAreRefused) {
  Accepting library;
  EXPECT_THAT(listed(defects_of_library(library, "aten::bitwise_not.out")),
              testing::ContainsRegex("that break the rule, such as .*, saying \"self is [^\"]*\"\n"));
}

TEST(Defects, TellWhereABrokenRuleIsSkipped) {
  Accepting library;
  EXPECT_THAT(listed(defects_of_library(library, "aten::mm.out")),
              testing::HasSubstr(", unless no_products(self, mat2) ("));
}

// Kernels that refuse float16 in one line of their source, each in its own words.
class Wordy final : public OverReference {
 public:
  std::string_view name() const override { return "wordy"; }
  testee::Reply call(const Operator& op, std::span<testee::HostValue> a) override {
    if (Given{op, a}.is("self", DType::float16))
      return {Outcome::invalid, op.name == "aten::sin.out" ? "check.h:7: no angle" : "check.h:7: no hyperbola"};
    return reference_.call(op, a);
  }
};

TEST(Defects, TellTheWordsOfEachOperator) {
  Wordy library;
  const std::vector<verdict::Defect> found = defects_of_library(library, "aten::sin.out,aten::sinh.out");
  ASSERT_EQ(found.size(), 1u) << listed(found);
  const bool of_sin = found[0].smallest.operator_name == "aten::sin.out";
  EXPECT_EQ(found[0].neighbours.at(0), of_sin ? "In aten::sinh.out, the message is 'no hyperbola'"
                                              : "In aten::sin.out, the message is 'no angle'");
}

// The number of known calls of a drawer, and how many of `count` drawn calls were new.
struct Draws {
  std::size_t known = 0, fresh = 0;
};
Draws draws(std::string_view op, const contract::Contract& contract, std::size_t count, const char* flag) {
  const cases::RecordedCalls& calls = *corpus().calls(op);
  defects::Drawer drawer(corpus(), contract, calls);
  std::set<std::string> made;
  const auto is_new = [&](const cases::CaseId& id) {
    const cases::Case c = corpus().make(id);
    const cases::HostCall call = cases::host_call(c);
    return made.insert(cases::fingerprint(*c.op, call.arguments)).second && contract.promise(*c.op, call).promised;
  };
  std::vector<cases::CaseId> known;
  for (std::size_t i = 0; i < calls.size(); ++i) known.push_back({std::string(op), calls.digest(i), {}});
  for (const cases::CaseId& id : known) {
    const cases::Case c = corpus().make(id);
    drawer.know(c, cases::host_call(c)), is_new(id);
  }
  Draws d{made.size(), 0};
  for (const defects::DescribedCase& c :
       drawer.draw(count, known, [&](const defects::DescribedCase& drawn) { return drawn.features.has(flag); }))
    d.fresh += is_new(c.id) && c.features.has(flag);
  return d;
}

TEST(Draws, AreNewCallsThatAreWantedAndPromised) {
  contract::Contract halves;
  halves.dtypes =
      contract::DTypes().set(static_cast<std::size_t>(DType::float16)).set(static_cast<std::size_t>(DType::bfloat16));
  const Draws d = draws("aten::mul.out", halves, 40, "both operands are negative somewhere");
  EXPECT_GT(d.known, 0u);
  EXPECT_EQ(d.fresh, 40u);
}

TEST(Draws, AreFoundWhereThereAreOnlyNumbers) {
  const Draws d = draws("executorch_prim::mod.int", {}, 40, "both operands have opposite signs somewhere");
  EXPECT_GT(d.known, 0u);
  EXPECT_EQ(d.fresh, 40u);
}

}  // namespace defects_test
}  // namespace assay
