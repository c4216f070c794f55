#include "conformance/text/request.h"

#include "conformance/text/arguments.h"
#include "conformance/text/json.h"

namespace assay::text {

std::string request_line(const Operator& op, std::span<const Value> arguments, std::string_view id) {
  Json args = Json::array(), out = Json::array();
  for (std::size_t i = 0; i < arguments.size(); ++i)
    (i < input_count(op) ? args : out).push_back(to_json(arguments[i], op.arguments[i].type));
  return line_of(Json{{"id", id}, {"operator", op.name}, {"args", args}, {"out", out}});
}

}  // namespace assay::text
