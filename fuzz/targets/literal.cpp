#include "conformance/text/literal.h"

#include "fuzz/printed.h"
#include "fuzz/target.h"

// The input is a schema type, a newline, and a literal of that type. A literal that is read and written reads back as
// the same value.
namespace assay::fuzz {

void attack_literal(Input input) {
  const std::string_view all(reinterpret_cast<const char*>(input.data()), input.size());
  const std::size_t end = all.find('\n');
  if (end == all.npos) return;
  const std::string_view type = all.substr(0, end), given = all.substr(end + 1);
  printed(input.size(), [&](text::Output& out) {
    const std::string written = text::literal(text::read_literal(given, type), type),
                      again = text::literal(text::read_literal(written, type), type);
    must(again == written, "identity", written.substr(0, 100), " of type ", type, " reads back as ",
         again.substr(0, 100));
    out.write(text::printable(written));
  });
}

}  // namespace assay::fuzz
