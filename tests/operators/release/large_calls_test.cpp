// The reference agrees with eager PyTorch on the large calls of golden/large_calls.json. record/large.py recorded them,
// and generates the same inputs.

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <iterator>

#include "conformance/judge/judge.h"
#include "conformance/sandbox/frames.h"
#include "conformance/text/json.h"
#include "tests/support/golden.h"

namespace assay {
namespace large_calls_test {

using text::Json;

// The finalizer of MurmurHash3.
std::uint32_t mixed(std::uint32_t word) {
  word = (word ^ word >> 16) * 0x85EBCA6B;
  word = (word ^ word >> 13) * 0xC2B2AE35;
  return word ^ word >> 16;
}

// The elements are in [-1, 1), or integers from 0 to below the number `below`.
Tensor generated(const Json& stated, std::uint32_t seed) {
  const std::vector<Int> sizes = stated.at("sizes").get<std::vector<Int>>();
  Tensor tensor = make(*dtype_named(stated.at("dtype").get<std::string>()), Dims(std::span(sizes)));
  Array<Real> values(tensor.sizes);
  for (Int k = 0; k < values.count(); ++k) {
    const std::uint32_t word = mixed(static_cast<std::uint32_t>(k) + (seed << 20));
    values[k] = stated.contains("below") ? static_cast<Real>(word % stated.at("below").get<std::uint32_t>())
                                         : static_cast<Real>(word >> 8) / (1 << 23) - 1;
  }
  write(values, tensor);
  return tensor;
}

std::vector<Value> arguments_of(const Operator& op, const Json& stated) {
  std::vector<Value> arguments;
  std::uint32_t seed = 0;
  for (std::size_t i = 0; i < stated.size(); ++i) {
    const Json& value = stated[i];
    if (value.is_object()) {
      arguments.emplace_back(generated(value, seed++));
    } else if (value.is_array() && !value.empty() && value[0].is_object()) {
      Tensors list;
      for (const Json& tensor : value) list.emplace_back(generated(tensor, seed++));
      arguments.emplace_back(std::move(list));
    } else {
      arguments.push_back(text::value_of(value, op.arguments[i].type));
    }
  }
  arguments.resize(op.arguments.size());
  return arguments;
}

// The result with the elements that eager PyTorch gave, of the few that are recorded.
Tensor with_recorded(Tensor result, const Json& elements) {
  Array<Real> values = read<Real>(result);
  for (const Json& element : elements) values[element[0].get<Int>()] = element[1].get<Real>();
  write(values, result);
  return result;
}

// Sums of n rounded elements differ by at most n roundings; a few hundred of them add up in one direction.
void expect_sums(const Tensor& result, const Json& recorded) {
  Real sum = 0, of_absolutes = 0, largest = 0;
  for (const Real x : read<Real>(result).data)
    sum += x, of_absolutes += std::fabs(x), largest = std::max(largest, std::fabs(x));
  EXPECT_NEAR(static_cast<double>(sum), recorded.at("sum").get<double>(), static_cast<double>(of_absolutes) * 1e-5);
  EXPECT_NEAR(static_cast<double>(largest), recorded.at("largest").get<double>(), static_cast<double>(largest) * 1e-5);
}

void expect_as_recorded(const Operator& op, const Json& call) {
  const std::vector<Value> arguments = arguments_of(op, call.at("arguments"));
  const judge::Expectation expected = judge::expect(op, arguments);
  ASSERT_EQ(expected.answer.outcome, Outcome::ok) << expected.answer.message;
  ASSERT_EQ(expected.outs.size(), call.at("results").size());
  judge::Reaction eager{Outcome::ok, {}, judge::Refusals::none, expected.outs, true};
  for (std::size_t k = 0; k < expected.outs.size(); ++k) {
    const Json& recorded = call.at("results")[k];
    const Tensor& result = expected.outs[k];
    EXPECT_EQ(info(result.dtype).name, recorded.at("dtype").get<std::string>());
    EXPECT_EQ(std::vector<Int>(result.sizes.begin(), result.sizes.end()), recorded.at("sizes").get<std::vector<Int>>());
    if (recorded.contains("crc32")) {
      EXPECT_EQ(sandbox::crc({reinterpret_cast<const char*>(result.bytes.data()), result.bytes.size()}, 0),
                recorded.at("crc32").get<std::uint32_t>());
    } else {
      eager.outs[k] = with_recorded(result, recorded.at("elements"));
      expect_sums(result, recorded);
    }
  }
  const judge::Judgement j = judge::judge(op, arguments, expected, eager);
  EXPECT_EQ(j.verdict, verdict::Verdict::pass) << j.message;
}

TEST(LargeCalls, AreAnsweredAsRecorded) {
  std::ifstream file(golden_folder() / "large_calls.json");
  const Json recorded = text::parse_json(std::string{std::istreambuf_iterator<char>(file), {}});
  ASSERT_EQ(recorded.at("calls").size(), 24u);
  for (const Json& call : recorded.at("calls")) {
    const std::string name = call.at("operator").get<std::string>();
    SCOPED_TRACE(name);
    expect_as_recorded(*find_operator(name), call);
  }
}

}  // namespace large_calls_test
}  // namespace assay
