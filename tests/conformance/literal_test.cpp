#include "conformance/text/literal.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "conformance/text/arguments.h"
#include "conformance/text/element.h"
#include "reference/fault.h"
#include "tests/support/tensors.h"

namespace assay {
namespace literal_test {

Tensor read_tensor(std::string_view text) { return std::get<Tensor>(read_literal(text, "Tensor")); }

// The rule that refuses the text, and its message.
std::string refusal(std::string_view text, std::string_view type = "Tensor", Int length = 0) {
  try {
    return "accepted: " + literal(read_literal(text, type, length), type);
  } catch (const Fault& fault) {
    return fault.rule + ": " + fault.message;
  }
}

// The bits that the dtype stores; for a NaN, the sign alone.
Bits without_payload(Bits b, DType dtype) {
  const int width = 8 * info(dtype).bytes;
  b &= ~Bits{0} >> (64 - width);
  const bool is_nan = is_floating(dtype) && std::isnan(info(dtype).real_of(b));
  return is_nan ? ~Bits{0} ^ b >> (width - 1) : b;
}

TEST(Literal, TensorsAreNestedListsWithADtype) {
  const Tensor t = read_tensor("[[1,2],[nan,-inf]]:f32");
  EXPECT_EQ(t.dtype, DType::float32);
  EXPECT_EQ(t.sizes, (Dims{2, 2}));
  const std::vector<Real> values = values_of(t);
  EXPECT_EQ(values[1], 2);
  EXPECT_TRUE(std::isnan(values[2]));
  EXPECT_EQ(values[3], -INFINITY);
  EXPECT_EQ(read_tensor(" 5 : float64 ").sizes, Dims{});
  EXPECT_EQ(read_tensor("[true,False,1]:bool").bytes, (Buffer<std::byte>{std::byte{1}, std::byte{0}, std::byte{1}}));
}

TEST(Literal, ComplexElementsHaveTwoParts) {
  const Tensor t = read_tensor("[1+2j,-0.5j,3,nan-infj]:c64");
  EXPECT_EQ(t.sizes, Dims{4});
  EXPECT_EQ(literal(t), "[1+2j,0-0.5j,3+0j,nan-infj]:c64");
  EXPECT_EQ(literal(read_tensor("[1e-3-2e+5j,-0-0j]:c128")), "[0.001-200000j,-0-0j]:c128");
  EXPECT_EQ(literal(read_tensor("70000-1e5j:c32")), "inf-infj:c32");
  for (std::string_view number : {"1+j", "j", "1++2j", "2j+1", "1+2jj"})
    EXPECT_TRUE(refusal("[" + std::string(number) + "]:c64").ends_with("is no number")) << number;
  EXPECT_EQ(refusal("[1+2j]:f32"), "call.tensor: \"1+2j\" is no number");
}

TEST(Literal, DimOrderArrangesTheBytes) {
  const Tensor t = read_tensor("[[1,2],[3,4]]:u8:(1,0)");
  EXPECT_EQ(t.dim_order, (Dims{1, 0}));
  EXPECT_EQ(t.bytes, (Buffer<std::byte>{std::byte{1}, std::byte{3}, std::byte{2}, std::byte{4}}));
  EXPECT_EQ(literal(t), "[[1,2],[3,4]]:u8:(1,0)");
}

TEST(Literal, PatternsStateTheirSizes) {
  EXPECT_EQ(read_tensor("zeros(2,0,3):f32").sizes, (Dims{2, 0, 3}));
  EXPECT_EQ(values_of(read_tensor("ones(2):f16")), (std::vector<Real>{1, 1}));
  EXPECT_EQ(values_of(read_tensor("arange(2,2):i8")), (std::vector<Real>{0, 1, 2, 3}));
}

TEST(Literal, APrintedValueReadsBack) {
  for (std::string_view text :
       {"[]:f32", "zeros(1073741823,1048576,0):i64", "zeros(0,3):f32", "zeros(2,0,3):b1", "5:i8",
        "[[0.1,-0],[1e-45,3.4028235e+38]]:f32", "[5e-324,1e+300]:f64", "[18446744073709551615]:u64",
        "[-9223372036854775808]:i64", "[0x3f,0xff]:f8e5m2", "[0x0000003f]:qi32", "[true,false]:b1",
        "[nan,-nan,inf,-inf]:bf16", "[[[[1],[2]]]]:f32:(0,2,3,1)", "[6e-08,65504]:f16"})
    EXPECT_EQ(literal(read_tensor(text)), text);
  const std::pair<std::string_view, std::string_view> others[] = {{"Scalar", "1"},
                                                                  {"Scalar", "1.0"},
                                                                  {"Scalar", "true"},
                                                                  {"Scalar", "-inf"},
                                                                  {"Scalar", "1e+20"},
                                                                  {"int", "-9223372036854775808"},
                                                                  {"float", "2"},
                                                                  {"float?", "none"},
                                                                  {"str", "\"tanh\""},
                                                                  {"str?", "\"none\""},
                                                                  {"str?", "none"},
                                                                  {"ScalarType?", "float32"},
                                                                  {"ScalarType", "99"},
                                                                  {"int[]", "[1,-2]"},
                                                                  {"int[]?", "none"},
                                                                  {"int[]", "[]"},
                                                                  {"float[]", "[1.0,nan]"},
                                                                  {"bool[]", "[true,false]"},
                                                                  {"Tensor[]", "{[1]:f32,2:i8}"},
                                                                  {"Tensor?[]", "{none,[1]:f32}"},
                                                                  {"Tensor[]", "{}"},
                                                                  {"Tensor?", "none"}};
  for (const auto& [type, text] : others) EXPECT_EQ(literal(read_literal(text, type), type), text);
}

TEST(Literal, EveryElementOfSixteenBitsReadsBack) {
  for (DType dtype : {DType::float16, DType::bfloat16, DType::int16, DType::uint16, DType::bits16})
    for (Bits b = 0; b < 65536; ++b) {
      const std::string text = element_text({b}, dtype);
      ASSERT_EQ(without_payload(element_of(text, dtype).low, dtype), without_payload(b, dtype)) << text;
    }
}

TEST(Literal, ElementsOfThirtyTwoAndSixtyFourBitsReadBack) {
  std::mt19937_64 random(1);
  for (DType dtype : {DType::float32, DType::float64, DType::int32, DType::uint32, DType::int64, DType::uint64})
    for (int i = 0; i < 20000; ++i) {
      const Bits b = random() >> (64 - 8 * info(dtype).bytes);
      const std::string text = element_text({b}, dtype);
      ASSERT_EQ(without_payload(element_of(text, dtype).low, dtype), without_payload(b, dtype)) << text;
    }
}

TEST(Literal, TheSchemaTypeDecidesHowATextIsRead) {
  EXPECT_TRUE(std::holds_alternative<Int>(read_literal("1", "Scalar")));
  EXPECT_TRUE(std::holds_alternative<double>(read_literal("1.", "Scalar")));
  EXPECT_TRUE(std::holds_alternative<bool>(read_literal("True", "Scalar")));
  EXPECT_EQ(std::get<std::string>(read_literal("none", "str")), "none");
  EXPECT_EQ(std::get<std::string>(read_literal("'none'", "str?")), "none");
  EXPECT_EQ(std::get<Ints>(read_literal("3", "int[]", 2)), (Ints{3, 3}));
  EXPECT_EQ(std::get<Ints>(read_literal("[3]", "int[]", 2)), Ints{3});
  EXPECT_EQ(std::get<Int>(read_literal("f16", "ScalarType")), static_cast<Int>(DType::float16));
  EXPECT_EQ(std::get<Doubles>(read_literal("[1,2.5]", "float[]")), (Doubles{1, 2.5}));
}

TEST(Literal, BadTextIsRefusedInOneSentence) {
  EXPECT_EQ(refusal("[[1,2:f32"), "call.tensor: ']' is missing before \":f32\"");
  EXPECT_EQ(refusal("[1,2]"), "call.tensor: ':' is missing at the end");
  EXPECT_EQ(refusal("[1,]:f32"), "call.tensor: a number or a name is missing before \"]:f32\"");
  EXPECT_EQ(refusal("[1,2]:f33"), "call.tensor: \"f33\" is no dtype");
  EXPECT_EQ(refusal("[1,2]:f32 x"), "call.tensor: nothing more should come before \"x\"");
  EXPECT_EQ(refusal("[[1],[2,3]]:f32"), "call.tensor: lists beside each other have 1 and 2 entries");
  EXPECT_EQ(refusal("[1,[2]]:f32"), "call.tensor: an element stands inside of 2 lists, another inside of 1");
  EXPECT_EQ(refusal("[[],1]:f32"), "call.tensor: an element stands beside a list");
  EXPECT_EQ(refusal("[300]:u8"), "call.tensor: 300 is no uint8");
  EXPECT_EQ(refusal("[1.5]:i32"), "call.tensor: 1.5 is no int32");
  EXPECT_EQ(refusal("[-1]:u64"), "call.tensor: -1 is no uint64");
  EXPECT_EQ(refusal("[2]:bool"), "call.tensor: 2 is no bool");
  EXPECT_EQ(refusal("[one]:f32"), "call.tensor: \"one\" is no number");
  EXPECT_EQ(refusal("[1]:quint8"),
            "call.tensor: an element of quint8 is 1 bytes in hexadecimal such as 0x3f, but came as \"1\"");
  EXPECT_EQ(refusal("[0x100]:quint8"),
            "call.tensor: an element of quint8 is 1 bytes in hexadecimal such as 0x3f, but came as \"0x100\"");
  EXPECT_EQ(refusal("[1,2]:f32:(0,1)"), "call.tensor: dim_order (0, 1) is no permutation of the 1 dimensions");
  EXPECT_EQ(refusal("nines(2):f32"), "call.tensor: \"nines\" is none of zeros, ones, arange");
  EXPECT_EQ(refusal("zeros(-1):f32"), "call.tensor: sizes (-1) hold -1, but a size is at least 0");
  EXPECT_EQ(refusal("zeros(4611686018427387904,4611686018427387904,0):f32"),
            "call.tensor: sizes (4611686018427387904, 4611686018427387904, 0) are more than any tensor can have");
  const Budget budget({1000, 1000, 1000});
  const Budget::Scope scope(budget, "a literal");
  EXPECT_EQ(
      refusal("zeros(1000000,1000000):f32"),
      "limits.memory: a literal needs 16000000000000 bytes of memory, but 1000 are left of the limit of 1000, which "
      "--max-bytes raises");
  EXPECT_EQ(
      refusal("zeros(9223372036854775807):u8"),
      "limits.memory: a literal needs 1152921504606846976 bytes of memory, but 1000 are left of the limit of 1000, "
      "which --max-bytes raises");
  EXPECT_EQ(refusal("zeros(1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1):f32"),
            "limits.rank: a tensor has at most 16 dimensions, but came with 17");
  EXPECT_EQ(refusal(std::string(100000, '[')), "limits.rank: a tensor has at most 16 dimensions");
  EXPECT_EQ(refusal("x", "int"), "call.argument: \"x\" is not an integer of 64 bits");
  EXPECT_EQ(refusal("1.5", "int"), "call.argument: \"1.5\" is not an integer of 64 bits");
  EXPECT_EQ(refusal("9223372036854775808", "int"),
            "call.argument: \"9223372036854775808\" is not an integer of 64 bits");
  EXPECT_EQ(refusal("1", "bool"), "call.argument: \"1\" is not true or false");
  EXPECT_EQ(refusal("true", "float"), "call.argument: a bool is no float");
  EXPECT_EQ(refusal("1", "int[]"), "call.argument: '[' is missing before \"1\"");
  EXPECT_EQ(refusal("\"a", "str"), R"(call.argument: "\"a" is no quoted string)");
  EXPECT_EQ(refusal("{[1]:f32", "Tensor[]"), "call.tensor: '}' is missing at the end");
  EXPECT_EQ(refusal("", "Tensor?"), "call.tensor: a number or a name is missing at the end");
}

TEST(Literal, LargeTensorsAreCut) {
  EXPECT_EQ(literal(read_tensor("arange(2,3):i32"), 6), "[[0,1,2],[3,4,5]]:i32");
  EXPECT_EQ(literal(read_tensor("arange(2,3):i32"), 5), "[[0,1,2],[3,4,…]](2,3):i32");
  EXPECT_EQ(literal(read_tensor("arange(2,3):i32"), 3), "[[0,1,2],…](2,3):i32");
  EXPECT_EQ(refusal("[[0,1,2],…](2,3):i32"), "call.tensor: an element stands inside of 1 lists, another inside of 2");
}

TEST(Literal, EveryDefaultOfASchemaReads) {
  int defaults = 0;
  for (const Operator& op : operator_table())
    for (const SchemaArgument& a : op.arguments) {
      if (a.out || a.default_text.empty()) continue;
      EXPECT_NO_THROW(read_literal(a.default_text, a.type, a.length)) << op.schema << ", " << a.name;
      ++defaults;
    }
  EXPECT_GT(defaults, 0);
}

}  // namespace literal_test
}  // namespace assay
