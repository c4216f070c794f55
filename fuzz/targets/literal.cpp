#include "conformance/text/literal.h"
#include "fuzz/limits.h"
#include "fuzz/oracle.h"
#include "fuzz/target.h"

// A schema's type, a line's end, and a literal of that type: what is read and written reads back as what was written.
namespace assay::fuzz {
namespace {

void check_literal(std::string_view literal_text, std::string_view type) {
  const std::string written = literal(read_literal(literal_text, type), type);
  check_text(written, most_output);
  const std::string again = literal(read_literal(written, type), type);
  must(again == written, "identity", written.substr(0, 100), " of type ", type, " reads back as ",
       again.substr(0, 100));
}

}  // namespace

void attack_literal(Input input) {
  const std::string_view all(reinterpret_cast<const char*>(input.data()), input.size());
  const std::size_t end = all.find('\n');
  if (end == all.npos) return;
  const Measured measured(heap_for(input.size()), most_seconds);
  try {
    check_literal(all.substr(end + 1), all.substr(0, end));
  } catch (const Fault& refused) {
    check_text(refused.message, most_output);
  }
}

}  // namespace assay::fuzz
