#include "conformance/programs/describe.h"
#include "fuzz/attached.h"
#include "fuzz/limits.h"
#include "fuzz/oracle.h"
#include "fuzz/target.h"

// assay inspect.
namespace assay::fuzz {

void attack_inspect(Input input) {
  const auto [file, data] = split(input);
  const std::vector<Bytes> files(data.empty() ? 0 : 1, Bytes(data.begin(), data.end()));
  const Measured measured(heap_for(input.size()), most_seconds);
  try {
    const FileFacts facts = describe(file, files);
    check_text(to_text(facts), most_output);
    check_json(to_json(facts), most_output);
  } catch (const Fault& refused) {
    check_text(text(refused.place, refused.message), most_output);
  }
}

}  // namespace assay::fuzz
