#include "conformance/contract/contract.h"

#include <gmock/gmock-more-matchers.h>

#include <fstream>
#include <set>

#include "conformance/cases/generated.h"
#include "conformance/contract/draft.h"
#include "conformance/contract/read_contract.h"
#include "conformance/contract/untried_promises.h"
#include "conformance/runner/plan.h"
#include "conformance/testee/data_folder.h"
#include "reference/fault.h"
#include "tests/support/corpus.h"
#include "tests/support/records.h"
#include "tests/support/tensors.h"

// The promises of contracts, violations of the rules of contract files, and the slices of calls.
namespace assay {
namespace contract_test {

using enum DType;
using testing::Contains;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::Not;

const contract::Contract& executorch() {
  static const contract::Contract contract = contract::read_contract("executorch");
  return contract;
}

const Operator& op(std::string_view name) { return *find_operator(name); }

// A call of an operator. Its outs are left to the entry, or are the given ones.
cases::HostCall call(std::string_view name, std::vector<Value> arguments) {
  arguments.resize(op(name).arguments.size());
  judge::Expectation expected = judge::expect(op(name), arguments);
  std::vector<Value> given = expected.answer.outcome == Outcome::ok ? expected.arguments : arguments;
  return {std::move(given), std::move(expected)};
}

contract::Promise promise(const contract::Contract& contract, std::string_view name, std::vector<Value> arguments) {
  return contract.promise(op(name), call(name, std::move(arguments)));
}

bool promised(std::string_view name, std::vector<Value> arguments) {
  return promise(executorch(), name, std::move(arguments)).promised;
}

std::vector<std::string> slices(std::string_view name, std::vector<Value> arguments) {
  return promise(executorch(), name, std::move(arguments)).slices;
}

Tensor of(DType dtype) { return tensor(dtype, {2}, {1, 2}); }

// A separate file for a test.
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

contract::Contract contract(const std::string& text) {
  const File file("contract: tried\nabout: For a test.\n" + text);
  return contract::read_contract(file.path());
}

// -- the rules of a contract's file -----------------------------------------------------------------------------------

struct Wrong {
  std::string rule, line, text;
};

// The third line is the first line of each text.
const std::vector<Wrong> wrong_contracts{
    {"contract.yaml", ":4", "a: [1, 2\n"},
    {"contract.yaml", ":4", "slices: &anchor []\nexcluded: *anchor\n"},
    {"contract.yaml", ":3", "---\ncontract: another\n"},
    {"contract.yaml", "", "slices: " + std::string(40, '[') + std::string(40, ']') + "\n"},
    {"contract.key", ":3", "slice: []\n"},
    {"contract.key", ":3", "ranks: [{most: 3, least: 1, source: here}]\n"},
    {"contract.key", ":3", "ranks: [{most: 3}]\n"},
    {"contract.key", ":3", "ranks: [{most: 3, source: ''}]\n"},
    {"contract.key", ":4", "ranks: []\nranks: []\n"},
    {"contract.kind", ":3", "ranks: [{most: many, source: here}]\n"},
    {"contract.kind", ":3", "ranks: [{most: -1, source: here}]\n"},
    {"contract.kind", ":3", "ranks: 3\n"},
    {"contract.kind", ":3", "layouts: [{allowed: [contiguous], stated_outs: perhaps, source: here}]\n"},
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

TEST(ContractFile, AnErrorNamesItsPlace) {
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

TEST(ContractFile, AMissingPartIsNamed) {
  for (const char* name : {"no_such_contract", "no/such/file.yaml"}) try {
      contract::read_contract(name);
      ADD_FAILURE() << name;
    } catch (const Fault& fault) {
      EXPECT_EQ(fault.rule, "contract.file");
      EXPECT_THAT(fault.message, HasSubstr(name));
    }
}

TEST(ContractFile, EveryKeyAtItsBoundary) {
  const contract::Contract c = contract(
      "arithmetic: {mode: half-accumulation, source: here}\n"
      "slices:\n  - {allowed: exported, source: here}\n  - {allowed: [half], source: there}\n"
      "dtypes: {allowed: [float32, float16], source: here}\n"
      "layouts:\n  - {operators: [add], allowed: [contiguous, '(0, 2, 1)'], shared_inputs: true, source: here}\n"
      "ranks: [{most: 0, source: here}]\n"
      "operators: {allowed: ['aten::*'], source: here}\n"
      "excluded: []\n"
      "declarations: {source: here, operators: {'aten::abs.out': {arguments: [x], sets: [[bool]], rows: [0]}}}\n");
  EXPECT_EQ(c.arithmetic, judge::ArithmeticMode::half_accumulation);
  EXPECT_THAT(*c.promised_slices, testing::ElementsAre("exported", "half"));
  EXPECT_EQ(c.dtypes->count(), 2u);
  EXPECT_EQ(c.layouts[0].allowed.size(), 2u);
  EXPECT_TRUE(c.layouts[0].operators.has(op("aten::add.Scalar_out")));
  EXPECT_EQ(c.ranks[0].most, 0);
  EXPECT_TRUE(c.ranks[0].operators.has(op("aten::abs.out")));
  EXPECT_TRUE(c.operators.has(op("aten::abs.out")));
}

TEST(ContractFile, BuiltInContractsAreValid) {
  for (const auto& entry : std::filesystem::directory_iterator(testee::find_folder("conformance/data/contracts")))
    if (entry.path().extension() == ".yaml") {
      EXPECT_EQ(contract::read_contract(entry.path().stem()).name, entry.path().stem().string());
    }
  EXPECT_EQ(contract::contract_of("executorch").name, "executorch");
  EXPECT_EQ(contract::contract_of("reference").name, "everything");
}

TEST(ContractFile, KernelLibrariesMayRefuseAsUnsupported) {
  EXPECT_FALSE(contract::contract_of("executorch").allows_unsupported);
  EXPECT_EQ(contract::contract_of("executorch:./libmine.so").name, "executorch");
  EXPECT_TRUE(contract::contract_of("executorch:./libmine.so").allows_unsupported);
}

// -- what is promised -------------------------------------------------------------------------------------------------

TEST(Contract, AnEmptyContractPromisesEachCall) {
  EXPECT_TRUE(contract::Contract().promise(op("aten::abs.out"), call("aten::abs.out", {of(float64)})).promised);
  EXPECT_TRUE(promise(contract(""), "aten::abs.out", {tensor(boolean, {0}, {})}).promised);
}

TEST(Contract, APromisedCallMustNotBeUnsupported) {
  EXPECT_EQ(executorch().allowed_refusals(true), judge::Refusals::none);
  EXPECT_EQ(executorch().allowed_refusals(false), judge::Refusals::all);
  EXPECT_EQ(contract("").allowed_refusals(true), judge::Refusals::none);
  EXPECT_EQ(contract("unsupported:\n  allowed: true\n  source: here\n").allowed_refusals(true),
            judge::Refusals::unsupported);
  EXPECT_EQ(contract::read_contract("everything").allowed_refusals(true), judge::Refusals::unsupported);
  EXPECT_EQ(contract::Contract().allowed_refusals(true), judge::Refusals::unsupported);
}

TEST(Contract, EveryKeyExcludesCalls) {
  const auto abs = [](const std::string& text) { return promise(contract(text), "aten::abs.out", {of(float32)}); };
  const auto promised = [&](const std::string& text) { return abs(text).promised; };
  EXPECT_TRUE(promised("ranks: [{most: 1, source: s}]"));
  EXPECT_FALSE(promised("ranks: [{most: 0, source: s}]"));
  EXPECT_TRUE(promised("dtypes: {allowed: float32, source: s}"));
  EXPECT_FALSE(promised("dtypes: {allowed: float16, source: s}"));
  EXPECT_TRUE(promised("ranks: [{operators: neg, most: 0, source: s}, {most: 1, source: s}]"));
  EXPECT_TRUE(promised("ranks: [{operators: abs, most: 1, source: s}, {most: 0, source: s}]"));
  EXPECT_TRUE(promised("operators: {allowed: [neg, abs], source: s}"));
  EXPECT_FALSE(promised("operators: {allowed: [neg], source: s}"));
  EXPECT_FALSE(promised("operators: {allowed: [], source: s}"));
  EXPECT_TRUE(promised("layouts: [{allowed: contiguous, source: s}]"));
  EXPECT_FALSE(promised("layouts: [{allowed: channels_last, source: s}]"));
  EXPECT_TRUE(promised("slices: [{allowed: exported, source: s}]"));
  EXPECT_FALSE(promised("slices: []"));
  EXPECT_FALSE(promised("excluded: [{operators: 'a*', when: [a tensor is float32], source: s}]"));
  EXPECT_TRUE(promised("excluded: [{operators: 'a*', when: [a tensor is float32, a tensor is int8], source: s}]"));
  EXPECT_TRUE(promised("excluded: [{operators: 'a*', unless: [a tensor is float32], source: s}]"));
  EXPECT_TRUE(promised("excluded: [{operators: neg, when: [a tensor is float32], source: s}]"));
}

TEST(Contract, ACaseIsPromisedIfAllItsSlicesArePromised) {
  const std::string one = "slices: [{allowed: exported, source: s}]";
  const std::string both = "slices: [{allowed: [exported, half], source: s}]";
  EXPECT_FALSE(promise(contract(one), "aten::abs.out", {of(float16)}).promised);
  EXPECT_TRUE(promise(contract(both), "aten::abs.out", {of(float16)}).promised);
}

// -- promises that a run has not tried
// ---------------------------------------------------------------------------------

// A record of a call of abs whose tensors have this dtype.
verdict::Record judged(const std::string& dtype, verdict::Verdict verdict, bool promised = true) {
  verdict::Record record = verdict == verdict::Verdict::fail ? failing("aten::abs.out", verdict::Class::value)
                                                             : ending("aten::abs.out", verdict);
  record.dtypes = {dtype, dtype}, record.promised = promised;
  return record;
}

TEST(UntriedPromises, AreNamedWithTheirDtypes) {
  const auto untried = [](const contract::Contract& contract, const std::vector<verdict::Record>& records) {
    contract::UntriedPromises promises(contract);
    for (const verdict::Record& r : records) promises.add(r);
    return promises.found();
  };
  const auto of_abs = [](const char* dtypes) { return ElementsAre(verdict::NamedText{"aten::abs.out", dtypes}); };
  using enum verdict::Verdict;
  const contract::Contract none = contract("");
  EXPECT_THAT(untried(none, {judged("float32", pass), judged("float16", fail), judged("int8", quality)}), IsEmpty());
  verdict::Record refused = judged("int16", fail), invalid = judged("bool", pass);
  refused.failure = verdict::Class::refused_though_valid, invalid.valid = false;
  EXPECT_THAT(untried(none, {judged("float32", pass), judged("float16", unsupported), judged("int8", crash),
                             judged("int32", timeout), judged("int64", unsupported, false), refused, invalid}),
              of_abs("float16, int16, int32, int8"));
  EXPECT_THAT(untried(none, {judged("float32", pass), judged("float32", crash)}), IsEmpty());

  // The planted line promises uint8, which no call of the run has, and float16, whose calls another key excludes.
  const contract::Contract planted = contract(
      "declarations: {source: here, operators: {'aten::abs.out': {arguments: [self, out], "
      "sets: [[float32, uint8], [float16, int64]], rows: [0 0, 1 0]}}}\n");
  const std::vector<verdict::Record> some{judged("float32", pass), judged("float16", unsupported, false)};
  EXPECT_THAT(untried(planted, some), of_abs("int64, uint8"));
  contract::Contract narrow = planted;
  narrow.dtypes = contract::DTypes().set(static_cast<std::size_t>(float32)).set(static_cast<std::size_t>(int64));
  EXPECT_THAT(untried(narrow, some), of_abs("int64"));
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
  EXPECT_FALSE(states("aten::abs.out", last, first)) << "the entry states the dim order of self";
  EXPECT_FALSE(states("aten::abs.out", last, other));
  EXPECT_FALSE(states("aten::abs.out", other, other));
  EXPECT_TRUE(states("dim_order_ops::_clone_dim_order.out", last, first));
  EXPECT_FALSE(states("dim_order_ops::_clone_dim_order.out", other, first));
}

TEST(Executorch, OperatorsThatTheExporterGivesMixedDimOrdersAcceptThem) {
  const Tensor first = make(float32, {1, 2, 3, 4}), last = make(float32, {1, 2, 3, 4}, {0, 2, 3, 1});
  const Tensor row = make(float32, {4});
  const auto states = [](std::string_view name, std::vector<Value> inputs, const Tensor& result) {
    inputs.resize(op(name).arguments.size());
    inputs.back() = result;
    return executorch().promises_types(op(name), inputs);
  };
  EXPECT_TRUE(states("aten::mul.out", {last, last}, last));
  EXPECT_TRUE(states("aten::mul.out", {last, row}, last)) << "of two ranks";
  EXPECT_TRUE(states("aten::mul.out", {last, first}, last));
  EXPECT_TRUE(states("aten::mul.out", {first, last}, first));
  EXPECT_FALSE(states("aten::mul.out", {first, last}, last)) << "the entry states the dim order of the first input";
  EXPECT_FALSE(states("aten::mul.out", {last, make(float32, {1, 2, 3, 4}, {3, 2, 1, 0})}, last));
  EXPECT_TRUE(states("aten::where.self_out", {make(boolean, {1, 2, 3, 4}), last, first}, first));
  EXPECT_TRUE(states("aten::cat.out", {Tensors{last, first}, Int{1}}, make(float32, {1, 4, 3, 4})));
  EXPECT_FALSE(states("aten::cat.out", {Tensors{last, last}, Int{1}}, make(float32, {1, 4, 3, 4})));
  EXPECT_TRUE(states("aten::convolution.out",
                     {last, first, {}, Ints{1, 1}, Ints{1, 2}, Ints{1, 1}, false, Ints{0, 0}, Int{1}},
                     make(float32, {1, 1, 3, 5}, {0, 2, 3, 1})));
}

TEST(Executorch, InputsOfOneRankShareTheirDimOrderElsewhere) {
  const Tensor first = make(float32, {1, 2, 3, 4}), last = make(float32, {1, 2, 3, 4}, {0, 2, 3, 1});
  const auto states = [](const Tensor& self, const Tensor& other) {
    const std::vector<Value> arguments{self, other, self};
    return executorch().promises_types(op("aten::floor_divide.out"), arguments);
  };
  EXPECT_TRUE(states(last, last));
  EXPECT_FALSE(states(last, first)) << "the exporter emits aten::div.out_mode in its place";
}

TEST(Executorch, OutsHaveTheDimOrderOfTheEntry) {
  const Tensor first = make(float32, {1, 2, 3, 4}), last = make(float32, {1, 2, 3, 4}, {0, 2, 3, 1});
  const auto states = [](const Tensor& self, const Tensor& result) {
    const std::vector<Value> arguments{self, Ints{1}, false, result};
    return executorch().promises_types(op("aten::amax.out"), arguments);
  };
  EXPECT_TRUE(states(last, make(float32, {1, 3, 4})));
  EXPECT_FALSE(states(first, make(float32, {1, 3, 4}, {0, 2, 1})));
}

TEST(Executorch, SaysWhatItDoesNotPromise) {
  const auto excluded = [](const Tensor& self, const Tensor& out) {
    return executorch().excluded_type(op("aten::relu.out"), std::vector<Value>{self, out});
  };
  const Tensor image = make(float32, {1, 2, 3, 4}), last = make(float32, {1, 2, 3, 4}, {0, 2, 3, 1});
  EXPECT_EQ(excluded(image, image), "");
  EXPECT_EQ(excluded(image, last), "tensors of different dim orders");
  const Tensor turned = make(float32, {2, 3}, {1, 0});
  EXPECT_EQ(excluded(turned, turned), "the layout (1, 0)");
  EXPECT_EQ(excluded(image, make(DType::int64, {1, 2, 3, 4})), "this combination of dtypes");

  contract::Contract small;
  small.dtypes = contract::DTypes().set(static_cast<std::size_t>(float32)), small.ranks = {{{}, 2}};
  const std::vector<Value> images{image, image}, numbers{make(DType::int64, {2}), make(DType::int64, {2})};
  EXPECT_EQ(small.excluded_type(op("aten::relu.out"), images), "the rank 4");
  EXPECT_EQ(small.excluded_type(op("aten::relu.out"), numbers), "the dtype int64");
}

TEST(Executorch, NumbersThatNoExporterEmits) {
  EXPECT_TRUE(promised("executorch_prim::add.Scalar", {Int{1}, 0.5}));
  EXPECT_FALSE(promised("executorch_prim::add.Scalar", {Int{1}, true}));
  EXPECT_TRUE(promised("executorch_prim::sym_not.Scalar", {true}));
}

// -- slices -----------------------------------------------------------------------------------------------------------

TEST(Slices, ACallIsInTheSlicesThatItsFlagsSelect) {
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

TEST(Features, DescribeHowOperandsBroadcast) {
  const auto has = [](std::string_view name, std::vector<Value> arguments, const char* flag) {
    return features::features_of(op(name), call(name, std::move(arguments))).has(flag);
  };
  const Tensor least = tensor(int32, {2}, {1, -0x1p31}), row = tensor(int32, {2}, {-7, 3});
  EXPECT_TRUE(
      has("aten::div.out", {least, tensor(int32, {2}, {1, -1})}, "the least integer is divided by -1 somewhere"));
  EXPECT_FALSE(
      has("aten::div.out", {least, tensor(int32, {2}, {-1, 1})}, "the least integer is divided by -1 somewhere"));
  EXPECT_FALSE(
      has("aten::div.Scalar_out", {cast(least, int64), Int{-1}}, "the least integer is divided by -1 somewhere"));
  for (const Int divisor : {2, 7})
    EXPECT_EQ(has("aten::remainder.Scalar_out", {row, divisor},
                  "a remainder of operands of opposite signs is not 0 somewhere"),
              divisor == 2);
  for (const Int divisor : {1 << 8, 1 << 16})
    EXPECT_EQ(has("aten::div.Scalar_mode_out", {tensor(int16, {2}, {1, 7}), divisor, std::string("floor")},
                  "the second operand is not 0 and their dtype holds it as 0 somewhere"),
              divisor == 1 << 16);
  for (const Int exponent : {15, 16}) {
    const std::vector<Value> power{tensor(int32, {1}, {4}), exponent};
    EXPECT_EQ(has("aten::pow.Tensor_Scalar_out", power, "a power is 2^31 or more somewhere"), exponent == 16);
    EXPECT_FALSE(has("aten::mul.Scalar_out", power, "a power is 2^31 or more somewhere"));
  }
  for (const Int places : {31, 32})
    EXPECT_EQ(has("aten::bitwise_left_shift.Tensor_Scalar_out", {row, places},
                  "the second operand is no less than the bits of the first somewhere"),
              places == 32);
}

// Every valid call is in a slice by construction: the features that `exported` excludes define the other slices. Its
// two layout features hold if every dim order is contiguous; otherwise the call is in `layouts`.
TEST(Slices, ACallThatIsNotExportedIsInAnotherSlice) {
  const std::vector<contract::CaseSlice>& all = executorch().slices;
  const auto named = [&](std::string_view name) { return *std::ranges::find(all, name, &contract::CaseSlice::name); };
  const contract::CaseSlice exported = named("exported");
  std::vector<features::Phrase> covered;
  for (const contract::CaseSlice& s : all)
    if (s.all == std::vector<features::Phrase>{"the call is valid"} && s.none.empty())
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

TEST(Slices, EveryCaseIsInASliceAndEverySliceHasCases) {
  std::set<std::string> seen;
  for (const cases::RecordedCalls* calls : corpus().matching("")) {
    std::vector<cases::CaseId> cases = cases::generated_cases(*calls, 1, 3);
    for (std::size_t i = 0; i < calls->size(); i += 1 + calls->size() / 4)
      cases.push_back({std::string(calls->op().name), calls->digest(i), {}});
    for (const cases::CaseId& id : cases) {
      const cases::Case c = corpus().make(id);
      const contract::Promise s = executorch().promise(*c.op, cases::host_call(c));
      EXPECT_FALSE(s.slices.empty()) << cases::to_text(id);
      seen.insert(s.slices.begin(), s.slices.end());
    }
  }
  EXPECT_EQ(seen.size(), executorch().slices.size());
}

TEST(Slices, SlicesThatDecideATierExist) {
  std::vector<std::string> names;
  for (const contract::CaseSlice& s : executorch().slices) names.push_back(s.name);
  EXPECT_THAT(names,
              IsSupersetOf(std::vector<std::string>(verdict::special_slices.begin(), verdict::special_slices.end())));
  EXPECT_THAT(names, Contains(std::string(verdict::exported_slice)));
}

TEST(SliceFile, AnErrorNamesItsPlace) {
  const auto rule = [](const std::string& text) -> std::string {
    const File file(text, "tried.yaml");
    try {
      contract::read_slices(file.folder());
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

struct Tried {
  const Operator* op;
  cases::HostCall call;
};

std::vector<Tried> tried(const std::string& operators) {
  runner::SuiteOptions options;
  options.operators = operators, options.mutations = 30;
  std::vector<Tried> all;
  for (const runner::Block& block : runner::plan_blocks(corpus(), options, false))
    for (const cases::CaseId& id : block) {
      const cases::Case c = corpus().make(id);
      all.push_back({c.op, cases::host_call(c)});
    }
  return all;
}

// The record of a library that answers wrongly every call that it does not refuse.
verdict::Record record(const Tried& t, bool refused) {
  verdict::Record r;
  r.valid = t.call.valid();
  r.slices = executorch().promise(*t.op, t.call).slices;
  cases::each_tensor(t.call.arguments,
                     [&](const Tensor& x, std::size_t) { r.layouts.push_back(cases::layout_name(x)); });
  r.verdict = refused && !r.valid ? verdict::Verdict::pass : verdict::Verdict::fail;
  r.failure = refused ? verdict::Class::refused_though_valid : verdict::Class::value;
  return r;
}

contract::Contract read(const contract::Draft& draft) {
  std::ostringstream text;
  draft.write(text);
  return contract::read_contract(File(text.str()).path());
}

bool has_doubles(const cases::HostCall& call) {
  bool any = false;
  cases::each_tensor(call.arguments, [&](const Tensor& t, std::size_t) { any = any || t.dtype == float64; });
  return any;
}

TEST(Draft, PromisesAnsweredCallsAndNotRefusedCalls) {
  const std::vector<Tried> all = tried("abs.out,cat.out,split_copy.Tensor_out,max.dim_max,executorch_prim::add");
  contract::Draft draft("picky");
  for (const Tried& t : all) draft.add(*t.op, t.call, record(t, has_doubles(t.call)));
  const contract::Contract picky = read(draft);
  EXPECT_EQ(picky.name, "picky");
  int answered = 0, refused = 0;
  for (const Tried& t : all) {
    if (!t.call.valid()) continue;
    const bool promised = picky.promise(*t.op, t.call).promised;
    EXPECT_TRUE(promised || has_doubles(t.call)) << t.op->name;
    EXPECT_FALSE(promised && has_doubles(t.call) && t.op->name != "aten::cat.out") << "only lists are drafted loosely";
    ++(has_doubles(t.call) ? refused : answered);
  }
  EXPECT_GT(answered, 500);
  EXPECT_GT(refused, 100);
  EXPECT_FALSE(promise(picky, "aten::neg.out", {of(float32)}).promised) << "was not tried";
}

TEST(Draft, ACrashIsNotAnAnswer) {
  contract::Draft draft("mortal");
  const Tried empty{&op("aten::abs.out"), call("aten::abs.out", {tensor(float32, {0}, {})})};
  const Tried two{&op("aten::abs.out"), call("aten::abs.out", {of(float32)})};
  for (const auto& [asked, verdict] :
       {std::pair(empty, verdict::Verdict::crash), {empty, verdict::Verdict::timeout}, {two, verdict::Verdict::pass}}) {
    verdict::Record r = record(asked, false);
    r.verdict = verdict, r.failure = verdict::Class::none;
    draft.add(*asked.op, asked.call, r);
  }
  EXPECT_THAT(*read(draft).promised_slices, testing::ElementsAre("exported"));
}

TEST(Draft, RefusingOneInvalidCallIsAPromise) {
  contract::Draft draft("careful");
  const Tried invalid{&op("aten::neg.out"), call("aten::neg.out", {of(boolean)})};
  draft.add(*invalid.op, invalid.call, record(invalid, false));
  EXPECT_THAT(*read(draft).promised_slices, testing::IsEmpty());
  draft.add(*invalid.op, invalid.call, record(invalid, true));
  EXPECT_THAT(*read(draft).promised_slices, testing::ElementsAre("invalid"));
}

}  // namespace contract_test
}  // namespace assay
