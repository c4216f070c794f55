#include "conformance/text/base64.h"

#include <gtest/gtest.h>

namespace assay {
namespace base64_test {

Buffer<std::byte> bytes_of(std::string_view text) {
  Buffer<std::byte> bytes;
  for (char c : text) bytes.push_back(static_cast<std::byte>(c));
  return bytes;
}

TEST(Base64, ReadsAndWritesTheVectorsOfRfc4648) {
  const std::pair<std::string_view, std::string_view> vectors[] = {{"", ""},
                                                                   {"f", "Zg=="},
                                                                   {"fo", "Zm8="},
                                                                   {"foo", "Zm9v"},
                                                                   {"foob", "Zm9vYg=="},
                                                                   {"fooba", "Zm9vYmE="},
                                                                   {"foobar", "Zm9vYmFy"},
                                                                   {"\xff\xfe", "//4="}};
  for (const auto& [plain, encoded] : vectors) {
    EXPECT_EQ(text::base64(bytes_of(plain)), encoded);
    EXPECT_EQ(text::bytes_of_base64(encoded), bytes_of(plain));
  }
}

TEST(Base64, RefusesNonCanonicalText) {
  for (std::string_view text : {"Z", "Zg", "Zg=", "Zh==", "Zm9=", "Zm 9v", "Zm9v\n",
                                "Z===", "====", "==", "Zg==Zg==", "Zm-_", "\xff\xff\xff\xff"})
    EXPECT_FALSE(text::bytes_of_base64(text)) << text;
}

}  // namespace base64_test
}  // namespace assay
