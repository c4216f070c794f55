#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <sstream>

#include "conformance/text/arguments.h"
#include "conformance/text/call_json.h"
#include "conformance/text/literal.h"
#include "tests/support/tensors.h"

namespace assay {
namespace call_json_test {

Json answer(std::string_view request) { return Json::parse(answer_line(request)); }

// "invalid add.R2: alpha is ...", or the outputs as literals.
std::string summary(const Json& answer) {
  if (answer["outcome"] != "ok")
    return answer["outcome"].get<std::string>() + " " + answer["rule"].get<std::string>() + ": " +
           answer["message"].get<std::string>();
  std::string all;
  for (const Json& tensor : answer["outputs"])
    all += (all.empty() ? "" : " ") + literal(value_of(tensor, "Tensor"), "Tensor");
  return all;
}

std::string ask(std::string_view request) { return summary(answer(request)); }

// The answer of abs to a tensor. `tensor` has the members without braces.
std::string ask_abs(std::string_view tensor) {
  return ask(R"({"operator":"aten::abs.out","args":[{)" + std::string(tensor) + "}]}");
}

// The answer of add to this alpha.
std::string ask_alpha(std::string_view alpha) {
  return ask(
      R"({"operator":"aten::add.out","args":[{"dtype":"float64","values":[0]},{"dtype":"float64","values":[1]},)" +
      std::string(alpha) + "]}");
}

TEST(CallJson, AnswersWithTheIdAndTheOutputs) {
  EXPECT_EQ(
      answer_line(
          R"({"id":7,"operator":"aten::add.out","args":[{"dtype":"float32","sizes":[2],"dim_order":[0],"data":"AAAAAAAAgD8="},{"dtype":"float32","sizes":[],"data":"AACAPw=="}]})"),
      R"({"id":7,"outcome":"ok","outputs":[{"dtype":"float32","sizes":[2],"dim_order":[0],"data":"AACAPwAAAEA="}]})");
  EXPECT_EQ(answer(R"({"id":"a","operator":"aten::abs.out","args":[{"dtype":"int8","values":[-1]}]})")["id"], "a");
  EXPECT_EQ(answer(R"({"id":18446744073709551615,"operator":"x","args":[]})")["id"], 18446744073709551615u);
}

TEST(CallJson, AnswerNamesTheBrokenRule) {
  EXPECT_EQ(
      ask(R"({"operator":"aten::add.out","args":[{"dtype":"int32","values":[1]},{"dtype":"int32","values":[1]},1.5]})"),
      "invalid add.R2: alpha is 1.5, but the result is int32 and needs an integer");
  EXPECT_EQ(ask(R"({"operator":"aten::abs.out","args":["no tensor"]})"),
            "invalid abs.arguments: self must be of type Tensor, but is a string");
}

TEST(CallJson, AListOfOutsHasEachTensorInTheAnswer) {
  EXPECT_EQ(ask(R"({"operator":"aten::split_copy.Tensor_out","args":[{"dtype":"uint8","values":[1,2,3]},2]})"),
            "[1,2]:u8 [3]:u8");
  EXPECT_EQ(ask(R"({"operator":"aten::max.dim_max","args":[{"dtype":"uint8","values":[1,3,2]},0]})"), "3:u8 1:i64");
}

TEST(CallJson, ValuesAreFlatOrNested) {
  EXPECT_EQ(ask_abs(R"("dtype":"float32","sizes":[2,2],"values":[1,-2.5,"-inf",{"double":"nan"}])"),
            "[[1,2.5],[inf,nan]]:f32");
  EXPECT_EQ(ask_abs(R"("dtype":"int8","values":[[1],[-2]])"), "[[1],[2]]:i8");
  EXPECT_EQ(ask_abs(R"("dtype":"int8","sizes":[2,1],"dim_order":[1,0],"values":[[1],[-2]])"), "[[1],[2]]:i8:(1,0)");
  EXPECT_EQ(ask_abs(R"("dtype":"int8","values":-3)"), "3:i8");
  EXPECT_EQ(ask_abs(R"("dtype":"int8","sizes":[2,0,3],"values":[])"), "zeros(2,0,3):i8");
}

TEST(CallJson, ComplexValuesArePairs) {
  const auto conjugate = [](std::string_view values) {
    return ask(R"({"operator":"aten::_conj_physical.out","args":[{"dtype":"complex64",)" + std::string(values) + "}]}");
  };
  EXPECT_EQ(conjugate(R"("values":[[1,2],[0,"inf"]])"), "[1-2j,0-infj]:c64");
  EXPECT_EQ(conjugate(R"("sizes":[1,2],"values":[[[1,2],[3,-4]]])"), "[[1-2j,3+4j]]:c64");
  EXPECT_EQ(conjugate(R"("values":[1,2])"), "1-2j:c64");
  EXPECT_EQ(conjugate(R"("values":[[1,2,3]])"),
            "malformed call.tensor: self: 1 is no list of a real and an imaginary part");
}

TEST(CallJson, Int64LimitsKeepTheirValue) {
  EXPECT_EQ(
      ask(R"({"operator":"aten::permute_copy.out","args":[{"dtype":"uint64","values":[18446744073709551615,0]},[0]]})"),
      "[18446744073709551615,0]:u64");
  EXPECT_EQ(
      ask(R"({"operator":"aten::flip.out","args":[{"dtype":"int64","values":[-9223372036854775808,9223372036854775807]},{"ints":[0]}]})"),
      "[9223372036854775807,-9223372036854775808]:i64");
  EXPECT_EQ(ask(R"({"operator":"aten::full.out","args":[[],-9223372036854775808]})"), "-9223372036854775808:i64");
  EXPECT_EQ(ask(R"({"operator":"aten::full.out","args":[[],9223372036854775808]})"),
            "malformed call.argument: fill_value: 9223372036854775808 is not an integer of 64 bits");
}

TEST(CallJson, AnIntegerIsNotReadAsAFloat) {
  EXPECT_EQ(ask(R"({"operator":"aten::full.out","args":[{"ints":[1]},7]})"), "[7]:i64");
  EXPECT_EQ(ask(R"({"operator":"aten::full.out","args":[{"ints":[1]},7.0]})"), "[7]:f32");
  EXPECT_EQ(ask(R"({"operator":"aten::full.out","args":[{"ints":[]},true]})"), "true:b1");
  EXPECT_EQ(ask_alpha("2"), "[2]:f64");
  EXPECT_EQ(ask_alpha(R"({"double":2})"), "[2]:f64");
  EXPECT_EQ(ask_alpha(R"({"double":"-inf"})"), "[-inf]:f64");
  EXPECT_EQ(ask_alpha("1e3"), "[1000]:f64");
}

TEST(CallJson, DtypesAreNamedOrNumbered) {
  for (std::string_view dtype : {R"("float64")", R"({"string":"float64"})", "7"})
    EXPECT_EQ(ask(R"({"operator":"aten::sum.IntList_out","args":[{"dtype":"uint8","values":[1,2]},null,false,)" +
                  std::string(dtype) + "]}"),
              "3:f64");
  EXPECT_EQ(
      ask(R"({"operator":"aten::sum.IntList_out","args":[{"dtype":"uint8","values":[1,2]},null,false,"float65"]})"),
      "malformed call.argument: dtype: \"float65\" is no dtype");
}

TEST(CallJson, ARequestMayStateItsOuts) {
  const std::string add =
      R"({"operator":"aten::add.out","args":[{"dtype":"uint8","values":[[1],[2]]},{"dtype":"uint8","values":[1]}],"out":)";
  EXPECT_EQ(ask(add + R"([{"dtype":"float16"}]})"), "[[2],[3]]:f16");
  EXPECT_EQ(ask(add + R"([{"dtype":"float16","sizes":[7,7],"dim_order":[1,0]}]})"), "[[2],[3]]:f16:(1,0)");
  EXPECT_EQ(ask(add + R"([null]})"), "[[2],[3]]:u8");
  EXPECT_EQ(ask(add + R"([{"dtype":"bool"}]})"), "invalid add.out: out is bool, but the result is uint8");
  EXPECT_EQ(ask(add + R"([]})"), "malformed call.out: out must be a list of 1 entries, one for each out argument");
  EXPECT_EQ(ask(add + R"(7})"), "malformed call.out: out must be a list of 1 entries, one for each out argument");
  EXPECT_EQ(ask(add + R"([{"dtype":"float16","data":""}]})"),
            "malformed call.tensor: out: key \"data\" is none of dtype, sizes, dim_order");
  EXPECT_EQ(
      ask(R"({"operator":"aten::split_copy.Tensor_out","args":[{"dtype":"uint8","values":[1,2,3]},2],"out":[{"tensors":[{"dtype":"uint8"},null]}]})"),
      "[1,2]:u8 [3]:u8");
  EXPECT_EQ(
      ask(R"({"operator":"aten::split_copy.Tensor_out","args":[{"dtype":"uint8","values":[1,2,3]},2],"out":[{"tensors":[{"dtype":"uint8"}]}]})"),
      "invalid split_copy.Tensor.out: out has 1 tensors, but there are 2 results");
}

TEST(CallJson, ARequestMayStateLimits) {
  const std::string full = R"({"operator":"aten::full.out","args":[[1000],1],"limits":)";
  EXPECT_EQ(
      ask(full + R"({"bytes":1000}})"),
      "exhausted limits.memory: aten::full.out needs 8000 bytes of memory, but 1000 are left of the limit of 1000, "
      "which --max-bytes raises");
  EXPECT_EQ(answer(full + R"({"bytes":1000000,"work":1000000}})")["outcome"], "ok");
  EXPECT_EQ(ask(full + R"({"bytes":-1}})"), "malformed call.limits: bytes must be an integer from 0 to 2^63 - 1");
  EXPECT_EQ(ask(full + R"({"bytes":18446744073709551615}})"),
            "malformed call.limits: bytes must be an integer from 0 to 2^63 - 1");
  EXPECT_EQ(ask(full + R"({"time":1}})"), "malformed call.limits: key \"time\" is none of bytes, work");
  EXPECT_EQ(ask(full + "[]}"),
            "malformed call.limits: a list came where an object was wanted, with the keys bytes, work");
}

TEST(CallJson, ARequestLowersItsLimitsAndNeverRaisesThem) {
  const Budget::Limits most{10000, 10000, 1000};
  const auto rule = [&](std::string_view args, std::string_view limits) {
    const std::string request =
        R"({"operator":"aten::full.out","args":)" + std::string(args) + R"(,"limits":)" + std::string(limits) + "}";
    return Json::parse(answer_line(request, most)).value("rule", "");
  };
  EXPECT_EQ(rule("[[10],1]", "{}"), "");
  EXPECT_EQ(rule("[[10],1]", R"({"bytes":1000000000,"work":1000000000})"), "");
  EXPECT_EQ(rule("[[10],1]", R"({"bytes":10})"), "limits.memory");
  EXPECT_EQ(rule("[[10],1]", R"({"work":0})"), "limits.work");
  EXPECT_EQ(rule("[[10000],1]", R"({"bytes":1000000000})"), "limits.memory");
  EXPECT_EQ(rule("[[100],1]", R"({"bytes":1000000000})"), "limits.output");
}

TEST(CallJson, ALineThatIsTooLongIsAnsweredAndTheNextOneToo) {
  std::istringstream requests(std::string(5000, ' ') + "\n" + R"({"operator":"aten::ones.out","args":[[1]]})");
  std::ostringstream answers;
  answer_lines(requests, answers, {16000, 100000, 1000});
  EXPECT_EQ(
      answers.str(),
      R"({"id":null,"outcome":"exhausted","rule":"limits.memory","message":"a line has more than 4000 bytes"})"
      "\n"
      R"({"id":null,"outcome":"ok","outputs":[{"dtype":"float32","sizes":[1],"dim_order":[0],"data":"AACAPw=="}]})"
      "\n");
  std::istringstream endless(std::string(200000, ' '));
  EXPECT_THROW(answer_lines(endless, answers, {16000, 100000, 1000}), Fault);
}

TEST(CallJson, TooManyKeysAreRefusedWithAShortMessage) {
  const auto object = [](int keys) {
    std::string all;
    for (int i = 0; i < keys; ++i) all += (i > 0 ? ",\"" : "{\"") + std::to_string(i) + "\":0";
    return all + "}";
  };
  EXPECT_EQ(ask(object(64)), "malformed call.json: key \"0\" is none of id, operator, args, out, limits");
  EXPECT_EQ(ask(object(65)), "malformed call.json: an object has more than 64 keys");
  EXPECT_EQ(ask(R"({"\u001b[2J\n":1})"),
            R"(malformed call.json: key "\x1b[2J\x0a" is none of id, operator, args, out, limits)");
  EXPECT_LT(ask("{\"" + std::string(100000, 'k') + "\":1}").size(), 400u);
}

TEST(CallJson, LinesThatAreNotRequestsGetAFaultAsAnswer) {
  EXPECT_EQ(answer_line("nonsense").substr(0, 52), R"({"id":null,"outcome":"malformed","rule":"call.json",)");
  for (std::string_view line :
       {"", "{", "{}", "[]", "7", "null", R"("x")", "{\"id\":1,\"operator\":\"\xff\xfe\",\"args\":[]}",
        "{\"id\":1e999}", "\0\0", R"({"operator":"aten::abs.out"})", R"({"operator":"aten::abs.out","args":7})",
        R"({"operator":7,"args":[]})", R"({"args":[]})", R"({"operator":"aten::abs.out","args":[]} {})"})
    EXPECT_EQ(answer(line)["rule"], "call.json") << line;
  EXPECT_EQ(ask(R"({"id":[1],"operator":"aten::abs.out","args":[]})"),
            "malformed call.json: id must be an integer or a string");
  EXPECT_EQ(ask(R"({"id":1,"operator":"aten::abs.out","args":[],"argument":[]})"),
            "malformed call.json: key \"argument\" is none of id, operator, args, out, limits");
  EXPECT_EQ(ask(R"({"id":1,"id":2,"operator":"aten::abs.out","args":[]})"),
            "malformed call.json: key \"id\" comes twice");
  EXPECT_EQ(answer(R"({"id":3,"operator":"aten::abs.out","args":[],"argument":[]})")["id"], 3);
}

TEST(CallJson, DeepNestingIsRefused) {
  const std::string deep = "lists and objects nest deeper than 64";
  EXPECT_EQ(ask(std::string(1000000, '[')), "malformed call.json: " + deep);
  EXPECT_EQ(ask(R"({"id":)" + std::string(100, '[') + std::string(100, ']') + "}"), "malformed call.json: " + deep);
  std::string objects;
  for (int i = 0; i < 1000; ++i) objects += R"({"a":)";
  EXPECT_EQ(ask(objects), "malformed call.json: " + deep);
  EXPECT_EQ(ask_abs(R"("dtype":"int8","values":)" + std::string(17, '[') + std::string(17, ']')),
            "exhausted limits.rank: self: a tensor has at most 16 dimensions");
}

TEST(CallJson, UnknownOperatorsAreUnsupported) {
  EXPECT_EQ(ask(R"({"operator":"aten::frobnicate","args":[]})"),
            "unsupported call.operator: there is no operator \"aten::frobnicate\"");
  EXPECT_NE(ask(R"({"operator":"aten::sofmax","args":[]})").find("similar: aten::_softmax.out"), std::string::npos);
  EXPECT_NE(ask(R"({"operator":"split_copy","args":[]})").find("similar: aten::split_copy.Tensor_out"),
            std::string::npos);
}

TEST(CallJson, AWrongNumberOfArgumentsIsRefused) {
  EXPECT_EQ(ask(R"({"operator":"aten::abs.out","args":[]})"),
            "malformed call.argument: self is missing, and the schema gives it no default");
  EXPECT_EQ(ask(R"({"operator":"aten::abs.out","args":[null,null]})"),
            "malformed call.argument: aten::abs.out takes 1 arguments, but 2 came");
  EXPECT_EQ(ask(R"({"operator":"aten::abs.out","args":[[1,2]]})"),
            "malformed call.argument: self: a list came where a Tensor was wanted");
  EXPECT_EQ(ask(R"({"operator":"aten::flip.out","args":[{"dtype":"int8","values":[1]},[1.5]]})"),
            "malformed call.argument: dims: 1.5 is not an integer of 64 bits");
  EXPECT_EQ(ask(R"({"operator":"aten::flip.out","args":[{"dtype":"int8","values":[1]},{"ints":7}]})"),
            "malformed call.argument: dims: ints must be a list");
  EXPECT_EQ(ask(R"({"operator":"aten::flip.out","args":[{"dtype":"int8","values":[1]},{"doubles":[0.0]}]})"),
            "invalid flip.arguments: dims must be of type int[], but is a list of floats");
  EXPECT_EQ(ask_alpha(R"({"double":"one"})"),
            "malformed call.argument: alpha: \"one\" is no number, \"inf\", \"-inf\" or \"nan\"");
  EXPECT_EQ(ask_alpha(R"({"frob":1})"),
            "malformed call.tensor: alpha: key \"frob\" is none of dtype, sizes, dim_order, data, values");
}

TEST(CallJson, BadTensorsAreRefused) {
  const auto refusal = [](std::string_view tensor) {
    const std::string all = ask_abs(tensor), begin = "malformed call.tensor: self: ";
    return all.starts_with(begin) ? all.substr(begin.size()) : "not refused as a tensor: " + all;
  };
  EXPECT_EQ(refusal(R"("dtype":"float32","sizes":[2147483647,2147483647],"data":"")"),
            "sizes (2147483647, 2147483647) are more than any tensor can have");
  EXPECT_EQ(refusal(R"("dtype":"float32","sizes":[1048576,1048576],"data":"")"),
            "data has 0 bytes, but float32 (1048576, 1048576) takes 4398046511104");
  EXPECT_EQ(refusal(R"("dtype":"float32","sizes":[0,4611686018427387904,4611686018427387904],"data":"")"),
            "sizes (0, 4611686018427387904, 4611686018427387904) are more than any tensor can have");
  EXPECT_EQ(refusal(R"("dtype":"float32","sizes":[1000000000],"values":[1])"),
            "values have sizes (1), but sizes are (1000000000)");
  EXPECT_EQ(refusal(R"("dtype":"float32","sizes":[-1],"data":"")"), "sizes (-1) hold -1, but a size is at least 0");
  EXPECT_EQ(refusal(R"("dtype":"float32","sizes":[1.0],"data":"")"), "sizes: 1.0 is not an integer of 64 bits");
  EXPECT_EQ(refusal(R"("dtype":"float32","sizes":[18446744073709551615],"data":"")"),
            "sizes: 18446744073709551615 is not an integer of 64 bits");
  EXPECT_EQ(refusal(R"("dtype":"float32","sizes":7,"data":"")"), "sizes must be a list of integers");
  EXPECT_EQ(refusal(R"("dtype":"float32","data":"")"), "key \"sizes\" is missing");
  EXPECT_EQ(refusal(R"("dtype":"float32","sizes":[1])"), "key \"data\" is missing");
  EXPECT_EQ(refusal(R"("sizes":[1],"data":"AAAAAA==")"), "key \"dtype\" is missing");
  EXPECT_EQ(refusal(R"("dtype":"float","sizes":[1],"data":"AAAAAA==")"),
            "dtype \"float\" is not the name of one, such as \"float32\"");
  EXPECT_EQ(refusal(R"("dtype":6,"sizes":[1],"data":"AAAAAA==")"),
            "dtype 6 is not the name of one, such as \"float32\"");
  EXPECT_EQ(refusal(R"("dtype":"float32","sizes":[1],"data":"AAAAAA")"), "data is not base64");
  EXPECT_EQ(refusal(R"("dtype":"float32","sizes":[1],"data":"AAAA AA=")"), "data is not base64");
  EXPECT_EQ(refusal(R"("dtype":"float32","sizes":[1],"data":null)"), "data is not base64");
  EXPECT_EQ(refusal(R"("dtype":"float32","sizes":[1],"data":"AAAA")"), "data has 3 bytes, but float32 (1) takes 4");
  EXPECT_EQ(refusal(R"("dtype":"float32","sizes":[1],"data":"AAAAAA==","values":[1])"),
            "data and values exclude each other");
  EXPECT_EQ(refusal(R"("dtype":"float32","sizes":[1],"data":"AAAAAA==","device":"cpu")"),
            "key \"device\" is none of dtype, sizes, dim_order, data, values");
  EXPECT_EQ(refusal(R"("dtype":"float32","sizes":[1,1],"dim_order":[0,0],"data":"AAAAAA==")"),
            "dim_order (0, 0) is no permutation of the 2 dimensions");
  EXPECT_EQ(refusal(R"("dtype":"float32","sizes":[1],"dim_order":[0,1],"data":"AAAAAA==")"),
            "dim_order (0, 1) is no permutation of the 1 dimensions");
  EXPECT_EQ(refusal(R"("dtype":"int8","sizes":[2,2],"values":[[1,2,3,4]])"),
            "values have sizes (1, 4), but sizes are (2, 2)");
  EXPECT_EQ(refusal(R"("dtype":"int8","values":[[1],[2,3]])"), "lists beside each other have 1 and 2 entries");
  EXPECT_EQ(refusal(R"("dtype":"int8","values":[128])"), "128 is no int8");
  EXPECT_EQ(refusal(R"("dtype":"int8","values":["nan"])"), "nan is no int8");
  EXPECT_EQ(refusal(R"("dtype":"float32","values":["1"])"), "\"1\" is no number");
  EXPECT_EQ(refusal(R"("dtype":"float32","values":[null])"), "null is no number");
  EXPECT_EQ(refusal(R"("dtype":"quint8","values":[1])"), "1 is no quint8");
  EXPECT_EQ(ask_abs(R"("dtype":"float32","sizes":[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1],"data":"AAAAAA==")"),
            "exhausted limits.rank: self: a tensor has at most 16 dimensions, but came with 17");
}

TEST(CallJson, AnEmptyResultOfHugeSizesDoesNotOverflow) {
  EXPECT_EQ(
      ask(R"({"operator":"aten::add.out","args":[{"dtype":"uint8","sizes":[3037000499,1,0],"data":""},{"dtype":"uint8","sizes":[1,9037000499,0],"data":""}]})")
          .substr(0, 23),
      "exhausted limits.memory");
  EXPECT_EQ(
      ask(R"({"operator":"aten::full.out","args":[[4611686018427387904,0,4611686018427387904],1]})").substr(0, 23),
      "exhausted limits.memory");
  EXPECT_EQ(ask(R"({"operator":"aten::full.out","args":[[4611686018427387904,4611686018427387904],1]})").substr(0, 23),
            "exhausted limits.memory");
  EXPECT_EQ(ask(R"({"operator":"aten::full.out","args":[[1000000,0,1000000],1]})"), "zeros(1000000,0,1000000):i64");
}

TEST(CallJson, OpaqueElementsAreCopiedAndBoolsAreBytes) {
  EXPECT_EQ(
      ask(R"({"operator":"aten::permute_copy.out","args":[{"dtype":"float8_e5m2","sizes":[3],"data":"AQL/"},[0]]})"),
      "[0x01,0x02,0xff]:f8e5m2");
  EXPECT_EQ(ask_abs(R"("dtype":"float8_e5m2","sizes":[3],"data":"AQL/")").substr(0, 15), "invalid abs.R1:");
  EXPECT_EQ(
      ask(R"({"operator":"aten::add.out","args":[{"dtype":"bool","sizes":[3],"data":"AAL/"},{"dtype":"int32","values":[0]}]})"),
      "[0,1,1]:i32");
}

TEST(CallJson, ValuesReadBackAsTheyAreWritten) {
  const std::vector<std::pair<std::string_view, Value>> values{
      {"Tensor?", std::monostate()},
      {"Tensor", tensor<Int>(DType::int64, {2, 1}, {1, 0}, {std::numeric_limits<Int>::min(), -1})},
      {"int", std::numeric_limits<Int>::max()},
      {"ScalarType?", Int{15}},
      {"ScalarType", Int{99}},
      {"float", 1.0},
      {"float", 0.1},
      {"Scalar", -INFINITY},
      {"bool", true},
      {"str", "\"\n\\é"},
      {"str", ""},
      {"int[]", Ints{}},
      {"int[]", Ints{1, -2}},
      {"float[]", Doubles{}},
      {"float[]", Doubles{-0.0, INFINITY, 1e300}},
      {"bool[]", Bools{true, false}},
      {"Tensor[]", Tensors{}},
      {"Tensor?[]", Tensors{std::nullopt, tensor(DType::bfloat16, {}, {1.5})}}};
  for (const auto& [type, value] : values) {
    const Value back = value_of(parse_json(line_of(to_json(value, type))), type);
    EXPECT_EQ(back.index(), value.index());
    EXPECT_EQ(literal(back, type), literal(value, type));
  }
}

TEST(CallJson, TheStreamContinuesAfterABadLine) {
  std::istringstream requests(
      "nonsense\n\n{\"id\":2,\"operator\":\"aten::abs.out\",\"args\":[{\"dtype\":\"int8\",\"values\":[-1]}]}");
  std::ostringstream answers;
  answer_lines(requests, answers);
  std::istringstream lines(answers.str());
  std::vector<std::string> outcomes;
  for (std::string line; std::getline(lines, line);) outcomes.push_back(Json::parse(line)["outcome"]);
  EXPECT_EQ(outcomes, (std::vector<std::string>{"malformed", "malformed", "ok"}));
}

}  // namespace call_json_test
}  // namespace assay
