#pragma once

#include <string_view>

namespace assay {

// The rules that flow_test breaks.
inline constexpr std::string_view flow_rules[] = {"H16", "I9",  "I10", "I12", "I15", "I18", "I19", "I20", "I21",
                                                  "M12", "T13", "T15", "T16", "T25", "T26", "T27", "V9"};

}  // namespace assay
