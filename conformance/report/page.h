#pragma once

#include <initializer_list>
#include <nlohmann/json_fwd.hpp>
#include <ostream>
#include <string>
#include <string_view>

namespace assay::report {

// The text that replaces a mark. A page has each mark once.
struct PagePart {
  std::string_view mark, text;
};

// Writes the page with the parts in place of their marks. The parts are in the order of the marks in the page.
void write_page(std::ostream& out, std::string_view page, std::initializer_list<PagePart> parts);

// JSON as the text of a <script> element. "</script>" or "<!--" in a text would end the element, so `<` is written as
// \u003c, which is the same JSON. Texts are made printable; their lines stay.
std::string page_data(nlohmann::ordered_json json);

}  // namespace assay::report
