#pragma once

#include <initializer_list>
#include <nlohmann/json_fwd.hpp>
#include <ostream>
#include <string>
#include <string_view>

namespace assay {

// What stands in a page instead of a mark, which is there once.
struct PagePart {
  std::string_view mark, text;
};

// The page with its parts, which come in the order of their marks.
void write_page(std::ostream& out, std::string_view page, std::initializer_list<PagePart> parts);

// JSON as the text of a <script> element: "</script>" or "<!--" in a text would end it; as \u003c it is the same JSON.
std::string page_data(const nlohmann::ordered_json& json);

}  // namespace assay
