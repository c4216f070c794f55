#include "conformance/programs/check.h"
#include "fuzz/attached.h"
#include "fuzz/limits.h"
#include "fuzz/oracle.h"
#include "fuzz/target.h"

// assay check.
namespace assay::fuzz {

void attack_check(Input input) {
  const auto [file, data] = split(input);
  const std::vector<Bytes> files(data.empty() ? 0 : 1, Bytes(data.begin(), data.end()));
  const Measured measured(heap_for(input.size()), most_seconds);
  const CheckReport report = check(file, files);
  check_text(to_text(report), most_output);
  check_json(to_json(report), most_output);
}

}  // namespace assay::fuzz
