#include "conformance/files/npy.h"

#include <gmock/gmock-matchers.h>

#include "reference/fault.h"
#include "tests/support/tensors.h"

namespace assay {
namespace npy_test {

using enum DType;

std::vector<std::byte> file_of(std::string_view header, std::string_view data, char version = 1) {
  std::string all = "\x93NUMPY";
  all += {version, '\0', static_cast<char>(header.size()), static_cast<char>(header.size() >> 8)};
  if (version > 1) all += std::string(2, '\0');
  all.append(header).append(data);
  const auto bytes = std::as_bytes(std::span(all));
  return {bytes.begin(), bytes.end()};
}

// The rule that a file breaks.
std::string rule(const std::vector<std::byte>& file) {
  try {
    decode_npy(file);
    return "";
  } catch (const Fault& fault) {
    return fault.rule;
  }
}
std::string rule_of_header(std::string_view header, std::string_view data = "") { return rule(file_of(header, data)); }

TEST(Npy, AWrittenFileReadsBack) {
  for (const DType dtype : {boolean, uint8, int8, uint16, int16, uint32, int32, uint64, int64, float16, float32,
                            float64, bfloat16, complex64, complex128})
    for (const Dims& sizes : {Dims{}, Dims{3}, Dims{2, 3}, Dims{2, 0, 3}}) {
      Tensor t = make(dtype, sizes);
      for (std::size_t i = 0; i < t.bytes.size(); ++i)
        t.bytes[i] = static_cast<std::byte>(dtype == boolean ? i % 2 : i);
      const std::vector<std::byte> file = encode_npy(t);
      EXPECT_EQ((file.size() - t.bytes.size()) % 64, 0u);
      const Tensor back = decode_npy(file);
      EXPECT_EQ(back.dtype, dtype);
      EXPECT_EQ(back.sizes, sizes);
      EXPECT_EQ(back.bytes, t.bytes);
    }
}

TEST(Npy, WritesTheHeaderThatNumpyWrites) {
  const std::vector<std::byte> file = encode_npy(tensor(bfloat16, {5}, {1, 2, 3, 4, 5}));
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  EXPECT_THAT(std::string(text.substr(0, 128)),
              testing::HasSubstr("{'descr': '|V2', 'fortran_order': False, 'shape': (5,), }"));
  EXPECT_EQ(text[127], '\n');
}

TEST(Npy, FortranOrderAndOtherDimOrdersBecomeRowMajor) {
  const Tensor columns =
      decode_npy(file_of("{'shape': (2, 3), 'fortran_order': True, 'descr': '|u1'}", "\1\4\2\5\3\6"));
  EXPECT_EQ(values_of(columns), (std::vector<Real>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(columns.dim_order, (Dims{0, 1}));
  EXPECT_EQ(values_of(decode_npy(encode_npy(arranged(columns, {1, 0})))), values_of(columns));
}

TEST(Npy, LaterVersionsAndSpacesAreRead) {
  EXPECT_EQ(decode_npy(file_of("{ \"descr\" : \"|i1\", 'fortran_order':False,'shape':(2,)}  \n", "\1\2", 3)).count(),
            2);
}

TEST(Npy, FaultsNameTheDamage) {
  EXPECT_EQ(rule({}), "npy.magic");
  EXPECT_EQ(rule(file_of("{}", "", 9)), "npy.magic");
  EXPECT_EQ(rule_of_header("{'descr': '|u1', 'fortran_order': False, 'shape': (2,)}", "\1"), "npy.data");
  EXPECT_EQ(rule_of_header("{'descr': '|u1', 'fortran_order': False, 'shape': (2,)}", "\1\2\3"), "npy.data");
  EXPECT_EQ(rule_of_header("{'descr': '>f4', 'fortran_order': False, 'shape': ()}", "\1\2\3\4"), "npy.dtype");
  EXPECT_EQ(rule_of_header("{'descr': '<c32', 'fortran_order': False, 'shape': ()}"), "npy.dtype");
  EXPECT_EQ(rule_of_header("{'descr': '', 'fortran_order': False, 'shape': ()}"), "npy.dtype");
  EXPECT_EQ(rule_of_header("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': ()}"), "npy.dtype");
  for (const char* shape : {"(-1,)", "(99999999999999999999,)", "(9223372036854775807, 9223372036854775807)",
                            "(4294967296, 4294967296, 0)", "(2", "2", "(2,,)", "(2 3)"})
    EXPECT_EQ(rule_of_header(std::string("{'descr': '<f8', 'fortran_order': False, 'shape': ") + shape + "}"),
              "npy.header")
        << shape;
  for (const char* header : {"", "{", "{'descr'", "{'descr': '|u1'}", "{'other': 1}",
                             "{'descr': '|u1', 'fortran_order': Maybe, 'shape': ()}",
                             "{'descr': '|u1', 'fortran_order': False, 'shape': ()} x", "{'descr: 1}"})
    EXPECT_EQ(rule_of_header(header), "npy.header") << header;
  EXPECT_EQ(
      rule_of_header("{'descr': '|u1', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1)}", "\1"),
      "limits.rank");
}

TEST(Npy, EveryPrefixIsRefused) {
  const std::vector<std::byte> file = encode_npy(tensor(float32, {2}, {1, 2}));
  for (std::size_t n = 0; n < file.size(); ++n)
    EXPECT_NE(rule({file.begin(), file.begin() + static_cast<std::ptrdiff_t>(n)}), "") << n;
}

}  // namespace npy_test
}  // namespace assay
