#include "conformance/text/output.h"

#include <ostream>

namespace assay::text {

void Output::write(std::string_view text) {
  budget_.print(static_cast<Int>(text.size()), "what is printed");
  if (to_) to_->write(text.data(), static_cast<std::streamsize>(text.size()));
}

}  // namespace assay::text
