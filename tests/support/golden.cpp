#include "golden.h"

namespace assay {

std::filesystem::path golden_folder() { return ASSAY_GOLDEN; }

}  // namespace assay
