#include "conformance/verdict/facts.h"

#include <stdexcept>

#include "conformance/verdict/fields.h"

namespace assay::verdict {

Facts facts_of_header(std::string_view line) {
  if (line.empty()) return {};
  const fields::Json json = fields::parsed(line);
  if (!json.contains("header")) throw std::invalid_argument("field \"header\" is missing");
  if (!json["header"].is_object()) fields::refuse("header", "an object", json["header"]);
  Facts facts;
  for (const auto& [name, value] : json["header"].items())
    facts.push_back({name, value.is_string() ? value.get<std::string>() : fields::dumped(value)});
  return facts;
}

}  // namespace assay::verdict
