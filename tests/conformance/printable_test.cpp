#include "conformance/text/printable.h"

#include <gtest/gtest.h>

namespace assay {
namespace printable_test {

TEST(Printable, AWordIsShownAsItIsAndAllElseInQuotes) {
  EXPECT_EQ(shown("aten::add.Tensor_out"), "aten::add.Tensor_out");
  EXPECT_EQ(shown("layers/0.weight-1"), "layers/0.weight-1");
  EXPECT_EQ(shown(""), "\"\"");
  EXPECT_EQ(shown("two words"), "\"two words\"");
  EXPECT_EQ(shown("größe"), "\"größe\"");
  EXPECT_EQ(shown("say \"\\\""), R"("say \"\\\"")");
}

TEST(Printable, NoOutputControlsATerminal) {
  EXPECT_EQ(in_quotes("a\nb\r\t\x1b[2J\x7f"), R"("a\x0ab\x0d\x09\x1b[2J\x7f")");
  EXPECT_EQ(in_quotes("\xc2\x9b"), R"("\xc2\x9b")");  // C1: the introducer of a control sequence
  EXPECT_EQ(in_quotes("\xe2\x80\xae|\xe2\x80\xa8"),
            R"("\xe2\x80\xae|\xe2\x80\xa8")");  // a right-to-left override; a line separator
  EXPECT_EQ(printable("\"kept\" \\ \x1b"), R"("kept" \ \x1b)");
  EXPECT_EQ(in_quotes({"\0", 1}), R"("\x00")");
}

TEST(Printable, InvalidUtf8IsShownAsBytes) {
  EXPECT_EQ(in_quotes("\xff\xfe"), R"("\xff\xfe")");
  EXPECT_EQ(in_quotes("\xc3("), R"("\xc3(")");                        // the second byte is missing
  EXPECT_EQ(in_quotes("\xc3"), R"("\xc3")");                          // the text ends within a character
  EXPECT_EQ(in_quotes("\xc0\xaf"), R"("\xc0\xaf")");                  // not the shortest form
  EXPECT_EQ(in_quotes("\xed\xa0\x80"), R"("\xed\xa0\x80")");          // a surrogate
  EXPECT_EQ(in_quotes("\xf4\x90\x80\x80"), R"("\xf4\x90\x80\x80")");  // beyond Unicode
  EXPECT_EQ(in_quotes("\xf0\x9f\x98\x80"), "\"\xf0\x9f\x98\x80\"");
}

TEST(Printable, ALongTextIsCutBetweenCharacters) {
  EXPECT_EQ(in_quotes(std::string(most_shown, 'x')), '"' + std::string(most_shown, 'x') + '"');
  EXPECT_EQ(in_quotes(std::string(most_shown + 1, 'x')), '"' + std::string(most_shown, 'x') + "...\"");
  EXPECT_EQ(in_quotes(std::string(most_shown - 1, 'x') + "ö"), '"' + std::string(most_shown - 1, 'x') + "...\"");
  EXPECT_EQ(printable("123456", 3), "123...");
  EXPECT_EQ(cut(std::string(most_shown + 1, 'x')).size(), most_shown + 3);
}

}  // namespace printable_test
}  // namespace assay
