#include "conformance/report/page.h"

#include <nlohmann/json.hpp>

#include "conformance/text/printable.h"

namespace assay::report {

void write_page(std::ostream& out, std::string_view page, std::initializer_list<PagePart> parts) {
  for (const auto& [mark, text] : parts) {
    const std::size_t at = page.find(mark);
    out << page.substr(0, at) << text;
    page.remove_prefix(at + mark.size());
  }
  out << page;
}

namespace {

void make_printable(nlohmann::ordered_json& json) {
  if (json.is_string()) json = text::printable_lines(json.get_ref<const std::string&>());
  if (json.is_structured())
    for (auto& item : json) make_printable(item);
}

}  // namespace

std::string page_data(nlohmann::ordered_json json) {
  make_printable(json);
  std::string text;
  for (const char c : json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace))
    c == '<' ? text += "\\u003c" : text += c;
  return text;
}

}  // namespace assay::report
