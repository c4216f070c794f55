#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "format/rule.h"

// Messages in fixed memory. Quoted texts of files cannot imitate the text around them.
namespace assay::format {
namespace format_text_test {

std::string written(const auto& part) { return std::string(Text().add(part).view()); }
std::string quoted(std::string_view text, std::size_t most = 64) { return written(Quoted{text, most}); }

TEST(Text, WritesNumbersAndWords) {
  EXPECT_EQ(written(std::numeric_limits<std::int64_t>::min()), "-9223372036854775808");
  EXPECT_EQ(written(std::numeric_limits<std::uint64_t>::max()), "18446744073709551615");
  EXPECT_EQ(Text().add("has ").add(3u).add(' ').add(std::int8_t{-1}).view(), "has 3 -1");
}

TEST(Text, IsCutWhenItIsFull) {
  EXPECT_EQ(written(std::string(512, 'a')), std::string(512, 'a'));
  EXPECT_EQ(written(std::string(513, 'a')), std::string(509, 'a') + "...");
  EXPECT_EQ(Text().add(std::string(512, 'a')).add('b').view(), std::string(509, 'a') + "...");
  EXPECT_EQ(Text().add(std::string(600, 'a')).add("b").view(), std::string(509, 'a') + "...");
  EXPECT_EQ(written(std::string(508, 'a') + "\xc3\xa4" + "bcd"), std::string(508, 'a') + "...");
}

TEST(Text, QuotesLeavePrintableTextUnchanged) {
  EXPECT_EQ(quoted(""), "\"\"");
  EXPECT_EQ(quoted("aten::add.out"), "\"aten::add.out\"");
  EXPECT_EQ(quoted("gr\xc3\xbc\xc3\x9f \xe6\xbc\xa2 \xf0\x9f\x99\x82"),
            "\"gr\xc3\xbc\xc3\x9f \xe6\xbc\xa2 \xf0\x9f\x99\x82\"");
}

TEST(Text, QuotesEscapeControlCharacters) {
  EXPECT_EQ(quoted("a\"b\\c"), R"("a\"b\\c")");
  EXPECT_EQ(quoted("valid\n\x1b[2K\x7f"), R"("valid\x0a\x1b[2K\x7f")");
  EXPECT_EQ(quoted(std::string_view("\0", 1)), R"("\x00")");
  EXPECT_EQ(quoted("\xc2\x9b"), R"("\xc2\x9b")");  // a terminal's control sequence in one character
  EXPECT_EQ(quoted("\xe2\x80\xa8\xe2\x80\xae"), R"("\xe2\x80\xa8\xe2\x80\xae")");  // a line, right to left
}

TEST(Text, QuotesEscapeInvalidUtf8) {
  EXPECT_EQ(quoted("\xff\x80"), R"("\xff\x80")");
  EXPECT_EQ(quoted("\xc3"), R"("\xc3")");                          // truncated
  EXPECT_EQ(quoted("\xc0\xaf"), R"("\xc0\xaf")");                  // not the shortest form
  EXPECT_EQ(quoted("\xe0\x80\xaf"), R"("\xe0\x80\xaf")");          // not the shortest form
  EXPECT_EQ(quoted("\xed\xa0\x80"), R"("\xed\xa0\x80")");          // half of a surrogate pair
  EXPECT_EQ(quoted("\xf4\x90\x80\x80"), R"("\xf4\x90\x80\x80")");  // beyond Unicode
}

TEST(Text, QuotesAreCut) {
  EXPECT_EQ(quoted("abcd", 4), "\"abcd\"");
  EXPECT_EQ(quoted("abcde", 4), "\"abcd...\"");
  EXPECT_EQ(quoted("abc\xc3\xa4"
                   "d",
                   4),
            "\"abc\xc3\xa4...\"");
}

TEST(Place, IsWrittenOutermostFirst) {  // without the tables of a program
  const Place plan{nullptr, "plan", 0}, method{nullptr, "a\nb", -1, true};
  Text text, named, nowhere;
  plan.in("chain", 1).in("inputs").write(text);
  method.in("value", 3).write(named);
  Place{}.write(nowhere);
  EXPECT_EQ(text.view(), "plan 0, chain 1, inputs");
  EXPECT_EQ(named.view(), R"("a\x0ab", value 3)");
  EXPECT_EQ(nowhere.view(), "");
}

}  // namespace format_text_test
}  // namespace assay::format
