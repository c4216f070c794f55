#include "conformance/contract/contract.h"

#include <gmock/gmock.h>

#include <fstream>
#include <set>

#include "conformance/cases/generated.h"
#include "conformance/contract/draft.h"
#include "conformance/contract/read_contract.h"
#include "conformance/runner/suite.h"
#include "conformance/testees/reference_library.h"
#include "reference/fault.h"
#include "tests/tensors.h"

// What contracts promise, what breaks the rules of their files, and which slices calls lie in.
namespace assay {
namespace {

using enum DType;
using testing::Contains;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsSupersetOf;
using testing::Not;

const Corpus& corpus() {
  static const Corpus recorded(ASSAY_GOLDEN);
  return recorded;
}

const Contract& executorch() {
  static const Contract contract = read_contract("executorch");
  return contract;
}

const Operator& op(std::string_view name) { return *find_operator(name); }

// A call of an operator whose outs are as the entry gives them, or as they are given.
HostCall call(std::string_view name, std::vector<Value> arguments) {
  arguments.resize(op(name).arguments.size());
  Expectation expected = expect(op(name), arguments);
  std::vector<Value> given = expected.answer.outcome == Outcome::ok ? expected.arguments : arguments;
  return {std::move(given), std::move(expected)};
}

Standing standing(const Contract& contract, std::string_view name, std::vector<Value> arguments) {
  return contract.standing(op(name), call(name, std::move(arguments)));
}

bool promised(std::string_view name, std::vector<Value> arguments) {
  return standing(executorch(), name, std::move(arguments)).promised;
}

std::vector<std::string> slices(std::string_view name, std::vector<Value> arguments) {
  return standing(executorch(), name, std::move(arguments)).slices;
}

Tensor of(DType dtype) { return tensor(dtype, {2}, {1, 2}); }

// A file of its own for a test.
class File {
 public:
  explicit File(const std::string& text, const std::string& name = "contract.yaml")
      : folder_(std::filesystem::temp_directory_path() / ("contract_test." + std::to_string(getpid()))),
        path_(folder_ / name) {
    std::filesystem::create_directories(folder_);
    std::ofstream(path_) << text;
  }
  ~File() { std::filesystem::remove_all(folder_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  std::string path() const { return path_; }
  std::filesystem::path folder() const { return folder_; }

 private:
  std::filesystem::path folder_, path_;
};

Contract contract(const std::string& text) {
  const File file("contract: tried\nabout: For a test.\n" + text);
  return read_contract(file.path());
}

// -- the rules of a contract's file -----------------------------------------------------------------------------------

struct Wrong {
  std::string rule, line, text;
};

// The third line is the first of each text.
const std::vector<Wrong> wrong_contracts{
    {"contract.yaml", ":4", "a: [1, 2\n"},
    {"contract.yaml", ":4", "slices: &anchor []\nexcluded: *anchor\n"},
    {"contract.yaml", ":3", "---\ncontract: another\n"},
    {"contract.yaml", "", "slices: " + std::string(40, '[') + std::string(40, ']') + "\n"},
    {"contract.key", ":3", "slice: []\n"},
    {"contract.key", ":3", "ranks: [{most: 3, least: 1, source: here}]\n"},
    {"contract.key", ":3", "ranks: [{most: 3}]\n"},
    {"contract.key", ":4", "ranks: []\nranks: []\n"},
    {"contract.kind", ":3", "ranks: [{most: many, source: here}]\n"},
    {"contract.kind", ":3", "ranks: [{most: -1, source: here}]\n"},
    {"contract.kind", ":3", "ranks: 3\n"},
    {"contract.kind", ":3", "layouts: [{allowed: [contiguous], shared: perhaps, source: here}]\n"},
    {"contract.kind", ":3", "slices: {allowed: [exported], source: here}\n"},
    {"contract.kind", ":4", "dtypes:\n  - {allowed: [bool], source: here}\n"},
    {"contract.slice", ":4", "slices:\n  - {allowed: [everyday], source: here}\n"},
    {"contract.dtype", ":5", "dtypes:\n  allowed:\n    - float31\n  source: here\n"},
    {"contract.layout", ":3", "layouts: [{allowed: [channels_first], source: here}]\n"},
    {"contract.operator", ":3", "operators: {allowed: ['aten::ad'], source: here}\n"},
    {"contract.operator", ":4", "excluded:\n  - {operators: zzz, source: here}\n"},
    {"contract.flag", ":4", "excluded:\n  - {operators: add, when: [a tensor is nice], source: here}\n"},
    {"contract.arithmetic", ":3", "arithmetic: {mode: relaxed, source: here}\n"},
    {"contract.operator", ":3",
     "declarations: {source: here, operators: {'aten::ad': {arguments: [], sets: [], rows: []}}}\n"},
    {"contract.argument", ":3",
     "declarations: {source: here, operators: {'aten::abs.out': {arguments: [slef, out], sets: [], rows: []}}}\n"},
    {"contract.argument", ":3",
     "declarations: {source: here, operators: {'aten::abs.out': {arguments: [], sets: [], rows: []}}}\n"},
    {"contract.row", ":3",
     "declarations: {source: here, operators: {'aten::abs.out': {arguments: [self, out], sets: [[bool]], rows: "
     "[0]}}}\n"},
    {"contract.row", ":3",
     "declarations: {source: here, operators: {'aten::abs.out': {arguments: [self, out], sets: [[bool]], rows: [0 "
     "1]}}}\n"},
};

TEST(ContractFile, WhatIsWrongIsSaidWithItsPlace) {
  std::set<std::string> broken;
  for (const Wrong& wrong : wrong_contracts) {
    try {
      contract(wrong.text);
      ADD_FAILURE() << "taken: " << wrong.text;
    } catch (const Fault& fault) {
      EXPECT_EQ(fault.outcome, Outcome::malformed);
      EXPECT_EQ(fault.rule, wrong.rule) << wrong.text << fault.message;
      EXPECT_THAT(fault.place, HasSubstr("contract.yaml" + wrong.line)) << wrong.text;
      broken.insert(fault.rule);
    }
  }
  EXPECT_EQ(broken.size(), 11u) << "a rule is broken by no case";
}

TEST(ContractFile, WhatIsMissingIsNamed) {
  for (const char* name : {"no_such_contract", "no/such/file.yaml"}) try {
      read_contract(name);
      ADD_FAILURE() << name;
    } catch (const Fault& fault) {
      EXPECT_EQ(fault.rule, "contract.file");
      EXPECT_THAT(fault.message, HasSubstr(name));
    }
}

TEST(ContractFile, EveryKeyAtItsBoundary) {
  const Contract c = contract(
      "arithmetic: {mode: half-accumulation, source: here}\n"
      "slices:\n  - {allowed: exported, source: here}\n  - {allowed: [half], source: there}\n"
      "dtypes: {allowed: [float32, float16], source: here}\n"
      "layouts:\n  - {operators: [add], allowed: [contiguous, '(0, 2, 1)'], shared: true, source: here}\n"
      "ranks: [{most: 0, source: here}]\n"
      "operators: {allowed: ['aten::*'], source: here}\n"
      "excluded: []\n"
      "declarations: {source: here, operators: {'aten::abs.out': {arguments: [x], sets: [[bool]], rows: [0]}}}\n");
  EXPECT_EQ(c.arithmetic, ArithmeticMode::half_accumulation);
  EXPECT_THAT(*c.promised_slices, testing::ElementsAre("exported", "half"));
  EXPECT_EQ(c.dtypes->count(), 2u);
  EXPECT_EQ(c.layouts[0].allowed.size(), 2u);
  EXPECT_TRUE(c.layouts[0].operators.has(op("aten::add.Scalar_out")));
  EXPECT_EQ(c.ranks[0].most, 0);
  EXPECT_TRUE(c.ranks[0].operators.has(op("aten::abs.out")));
  EXPECT_TRUE(c.operators->has(op("aten::abs.out")));
}

TEST(ContractFile, BuiltInOnesAreWhole) {
  for (const auto& entry : std::filesystem::directory_iterator(folder_above("conformance/contracts")))
    if (entry.path().extension() == ".yaml") {
      EXPECT_EQ(read_contract(entry.path().stem()).name, entry.path().stem().string());
    }
  EXPECT_EQ(contract_of("executorch").name, "executorch");
  EXPECT_EQ(contract_of("reference").name, "everything");
}

// -- what is promised -------------------------------------------------------------------------------------------------

TEST(Contract, WhatItDoesNotSpeakOfItPromises) {
  EXPECT_TRUE(Contract().standing(op("aten::abs.out"), call("aten::abs.out", {of(float64)})).promised);
  EXPECT_TRUE(standing(contract(""), "aten::abs.out", {tensor(boolean, {0}, {})}).promised);
}

TEST(Contract, EveryPartOfItNarrows) {
  const auto abs = [](const std::string& text) { return standing(contract(text), "aten::abs.out", {of(float32)}); };
  const auto promised = [&](const std::string& text) { return abs(text).promised; };
  EXPECT_TRUE(promised("ranks: [{most: 1, source: s}]"));
  EXPECT_FALSE(promised("ranks: [{most: 0, source: s}]"));
  EXPECT_TRUE(promised("dtypes: {allowed: float32, source: s}"));
  EXPECT_FALSE(promised("dtypes: {allowed: float16, source: s}"));
  EXPECT_TRUE(promised("ranks: [{operators: neg, most: 0, source: s}, {most: 1, source: s}]"));
  EXPECT_TRUE(promised("ranks: [{operators: abs, most: 1, source: s}, {most: 0, source: s}]"));
  EXPECT_TRUE(promised("operators: {allowed: [neg, abs], source: s}"));
  EXPECT_FALSE(promised("operators: {allowed: [neg], source: s}"));
  EXPECT_TRUE(promised("layouts: [{allowed: contiguous, source: s}]"));
  EXPECT_FALSE(promised("layouts: [{allowed: channels_last, source: s}]"));
  EXPECT_TRUE(promised("slices: [{allowed: exported, source: s}]"));
  EXPECT_FALSE(promised("slices: []"));
  EXPECT_FALSE(promised("excluded: [{operators: 'a*', when: [a tensor is float32], source: s}]"));
  EXPECT_TRUE(promised("excluded: [{operators: 'a*', when: [a tensor is float32, a tensor is int8], source: s}]"));
  EXPECT_TRUE(promised("excluded: [{operators: 'a*', unless: [a tensor is float32], source: s}]"));
  EXPECT_TRUE(promised("excluded: [{operators: neg, when: [a tensor is float32], source: s}]"));
}

TEST(Contract, ACaseIsPromisedWhereAllItsSlicesAre) {
  const std::string one = "slices: [{allowed: exported, source: s}]";
  const std::string both = "slices: [{allowed: [exported, half], source: s}]";
  EXPECT_FALSE(standing(contract(one), "aten::abs.out", {of(float16)}).promised);
  EXPECT_TRUE(standing(contract(both), "aten::abs.out", {of(float16)}).promised);
}

// -- ExecuTorch's -----------------------------------------------------------------------------------------------------

TEST(Executorch, DeclaredDtypes) {
  const auto add = [](DType self, DType other, DType result) {
    const std::vector<Value> arguments{of(self), of(other), Int{1}, of(result)};
    return executorch().promises_types(op("aten::add.out"), arguments);
  };
  EXPECT_TRUE(add(float32, float32, float32));
  EXPECT_TRUE(add(int32, float16, float16));
  EXPECT_TRUE(add(boolean, boolean, boolean));
  EXPECT_FALSE(add(float32, float32, float64));
  EXPECT_FALSE(add(float32, float64, float32));
  EXPECT_FALSE(add(uint32, uint32, uint32));
}

TEST(Executorch, NamedResultsAndLists) {
  const auto max = [](DType values, DType indices) {
    const std::vector<Value> arguments{make(int8, {1}), Int{0}, false, make(values, {}), make(indices, {})};
    return executorch().promises_types(op("aten::max.dim_max"), arguments);
  };
  EXPECT_TRUE(max(int8, int64));
  EXPECT_FALSE(max(int64, int8));
  const auto cat = [](DType first, DType second, DType result) {
    const std::vector<Value> arguments{Tensors{make(first, {1}), make(second, {1})}, Int{0}, make(result, {2})};
    return executorch().promises_types(op("aten::cat.out"), arguments);
  };
  EXPECT_TRUE(cat(uint16, uint16, uint16));
  EXPECT_FALSE(cat(int32, int64, int64));
}

TEST(Executorch, UndeclaredOperatorsTakeEveryLegalDtype) {
  const auto gather = [](DType d) {
    const std::vector<Value> arguments{make(d, {1}), Int{0}, make(int64, {1}), false, make(d, {1})};
    return executorch().promises_types(op("aten::gather.out"), arguments);
  };
  EXPECT_TRUE(gather(uint16));
  EXPECT_FALSE(gather(uint64));
}

TEST(Executorch, DimOrders) {
  const Dims first{0, 1, 2, 3}, last{0, 2, 3, 1}, other{3, 2, 1, 0};
  const auto states = [](std::string_view name, const Dims& self, const Dims& result) {
    std::vector<Value> arguments(op(name).arguments.size());
    arguments.front() = make(float32, {1, 2, 3, 4}, self), arguments.back() = make(float32, {1, 2, 3, 4}, result);
    return executorch().promises_types(op(name), arguments);
  };
  EXPECT_TRUE(states("aten::abs.out", first, first));
  EXPECT_TRUE(states("aten::abs.out", last, last));
  EXPECT_FALSE(states("aten::abs.out", last, first));
  EXPECT_FALSE(states("aten::abs.out", other, other));
  EXPECT_TRUE(states("dim_order_ops::_clone_dim_order.out", last, first));
  EXPECT_FALSE(states("dim_order_ops::_clone_dim_order.out", other, first));
}

TEST(Executorch, NumbersThatNoExporterEmits) {
  EXPECT_TRUE(promised("executorch_prim::add.Scalar", {Int{1}, 0.5}));
  EXPECT_FALSE(promised("executorch_prim::add.Scalar", {Int{1}, true}));
  EXPECT_TRUE(promised("executorch_prim::sym_not.Scalar", {true}));
}

// -- slices -----------------------------------------------------------------------------------------------------------

TEST(Slices, CallsLieInThoseOfTheirFlags) {
  const Real nan = std::numeric_limits<Real>::quiet_NaN();
  EXPECT_THAT(slices("aten::abs.out", {of(float32)}), testing::ElementsAre("exported"));
  EXPECT_THAT(slices("aten::abs.out", {of(float16)}), testing::ElementsAre("exported", "half"));
  EXPECT_THAT(slices("aten::abs.out", {tensor(float32, {1}, {nan})}), testing::ElementsAre("special-values"));
  EXPECT_THAT(slices("aten::abs.out", {tensor(float32, {0}, {})}), testing::ElementsAre("zero-sizes"));
  EXPECT_THAT(slices("aten::add.out", {of(float32), of(int32), Int{1}}), Contains("mixed-dtypes"));
  EXPECT_THAT(slices("aten::full.out", {Ints{2}, true}), Contains("scalars-as-bools"));
  EXPECT_THAT(slices("aten::add.out", {of(float32), of(float32), Int{1}, of(float64)}), Contains("casts"));
  EXPECT_THAT(slices("aten::clone.out", {of(uint16)}), Contains("wide-integers"));
  EXPECT_THAT(slices("aten::neg.out", {of(boolean)}), testing::ElementsAre("invalid"));
}

// By construction: what `exported` excludes is what other slices are made of, so no valid call is in none. Its two
// flags of layouts hold where every dim order is contiguous, and where not the call is in `layouts`.
TEST(Slices, WhatIsNotExportedIsInAnother) {
  const std::vector<Slice>& all = executorch().slices;
  const auto named = [&](std::string_view name) { return *std::ranges::find(all, name, &Slice::name); };
  const Slice exported = named("exported");
  std::vector<std::string> covered;
  for (const Slice& s : all)
    if (s.all == std::vector<std::string>{"the call is valid"} && s.none.empty())
      covered.insert(covered.end(), s.any.begin(), s.any.end());
  EXPECT_THAT(covered, IsSupersetOf(exported.none));
  EXPECT_THAT(exported.any, testing::IsEmpty());
  EXPECT_THAT(exported.all, testing::ElementsAre("the call is valid", "every dim order is contiguous or channels last",
                                                 "the dim orders are one for all"));
  EXPECT_THAT(named("layouts").none, testing::ElementsAre("every dim order is contiguous"));
  EXPECT_THAT(named("layouts").any, testing::IsEmpty());
  EXPECT_THAT(named("invalid").none, testing::ElementsAre("the call is valid"));
  EXPECT_THAT(named("invalid").all, testing::IsEmpty());
}

TEST(Slices, EveryCaseIsInOneAndEachHasCases) {
  std::set<std::string> seen;
  for (const RecordedCalls* calls : corpus().matching("")) {
    std::vector<CaseId> cases = generated_cases(*calls, 1, 8);
    for (std::size_t i = 0; i < calls->size(); i += 1 + calls->size() / 12)
      cases.push_back({std::string(calls->op().name), calls->digest(i), {}});
    for (const CaseId& id : cases) {
      const Case c = corpus().make(id);
      const Standing s = executorch().standing(*c.op, host_call(c));
      EXPECT_FALSE(s.slices.empty()) << to_text(id);
      seen.insert(s.slices.begin(), s.slices.end());
    }
  }
  EXPECT_EQ(seen.size(), executorch().slices.size());
}

TEST(Slices, ThoseThatDecideATierExist) {
  std::vector<std::string> names;
  for (const Slice& s : executorch().slices) names.push_back(s.name);
  EXPECT_THAT(names, IsSupersetOf(std::vector<std::string>(special_slices.begin(), special_slices.end())));
  EXPECT_THAT(names, Contains(std::string(exported_slice)));
}

TEST(SliceFile, WhatIsWrongIsSaidWithItsPlace) {
  const auto rule = [](const std::string& text) -> std::string {
    const File file(text, "tried.yaml");
    try {
      read_slices(file.folder());
    } catch (const Fault& fault) {
      EXPECT_THAT(fault.place, HasSubstr("tried.yaml"));
      return fault.rule + fault.place.substr(fault.place.find_last_of(':'));
    }
    return "";
  };
  EXPECT_EQ(rule("slice: tried\nabout: a\nany: [a tensor is uint16]\n"), "");
  EXPECT_EQ(rule("slice: tried\nabout: a\nany: [a tensor is uint17]\n"), "contract.flag:3");
  EXPECT_EQ(rule("slice: tried\nabout: a\nsome: [a tensor is uint16]\n"), "contract.key:3");
  EXPECT_EQ(rule("slice: tired\nabout: a\n"), "contract.slice:1");
}

// -- drafts -----------------------------------------------------------------------------------------------------------

// Answers as the reference does, but refuses float64 and dies of tensors without elements; half of its answers are
// wrong, which is no matter.
class Picky : public KernelLibrary {
 public:
  std::string_view name() const override { return "picky"; }
  bool has(const Operator& op) const override { return op.name != "aten::exp.out"; }
  Reply call(const Operator& op, std::span<HostValue> arguments) override {
    const TensorView& self = std::get<TensorView>(arguments.front());
    if (self.dtype == float64) return {Outcome::invalid, "no doubles"};
    if (self.bytes() == 0) std::abort();
    Reply reply = reference_.call(op, arguments);
    const TensorView& out = std::get<TensorView>(arguments.back());
    if (reply.outcome == Outcome::ok && out.bytes() > 0) *out.data ^= std::byte{0x10};
    return reply;
  }

 private:
  ReferenceLibrary reference_;
};

constexpr const char* drafted_operators = "abs.out,exp.out,neg.out";

std::vector<Record> judged(KernelLibrary& library, const Contract& by, const std::string& operators) {
  Laboratory laboratory(corpus(), library, by, {std::chrono::seconds(20), std::chrono::seconds(200)});
  SuiteOptions options;
  options.operators = operators, options.mutations = 60;
  std::vector<Record> all;
  judge_blocks(laboratory, plan_blocks(corpus(), options, false), 2, [&](Record r) { all.push_back(std::move(r)); });
  return all;
}

Contract drafted(KernelLibrary& library, const std::string& operators) {
  Draft draft{std::string(library.name())};
  for (const Record& r : judged(library, read_contract("everything"), operators)) {
    const Case c = corpus().make(case_id_from(r.case_id));
    draft.add(*c.op, host_call(c), r);
  }
  std::ostringstream text;
  draft.write(text);
  return read_contract(File(text.str()).path());
}

bool is_answered(const Record& r) {
  return r.verdict == Verdict::pass || r.verdict == Verdict::quality || r.failure == Class::value ||
         r.failure == Class::nan || r.failure == Class::changes_input;
}

TEST(Draft, PromisesWhatTheLibraryAnswersAndNotWhatItRefuses) {
  Picky library;
  const Contract draft = drafted(library, drafted_operators);
  EXPECT_EQ(draft.name, "picky");
  int wrong = 0, refused = 0;
  for (const Record& r : judged(library, draft, drafted_operators)) {
    if (!r.valid) continue;
    EXPECT_EQ(r.promised, is_answered(r)) << r.case_id << ' ' << r.message;
    wrong += r.failure == Class::value;
    refused += !r.promised;
  }
  EXPECT_GT(wrong, 100);
  EXPECT_GT(refused, 50);
  EXPECT_THAT(*draft.promised_slices, Not(Contains("zero-sizes")));
  EXPECT_THAT(draft.operators->patterns, Not(Contains("aten::exp.out")));
}

TEST(Draft, OfTheReferencePromisesAllThatWasAsked) {
  ReferenceLibrary library;
  const std::string operators =
      "cat.out,split_copy.Tensor_out,index.Tensor_out,max.dim_max,convolution.out,executorch_prim::add";
  const Contract draft = drafted(library, operators);
  for (const Record& r : judged(library, draft, operators)) EXPECT_TRUE(r.promised || !r.valid) << r.case_id;
}

}  // namespace
}  // namespace assay
