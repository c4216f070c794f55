#include "conformance/reproduce/kinds.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "conformance/text/literal.h"
#include "reference/fault.h"

namespace assay::reproduce {

std::optional<judge::RightAnswers> Reproduced::right(std::size_t output) const {
  return host.valid() ? judge::right_answers(op(), host.expected, output) : std::nullopt;
}

std::vector<const Tensor*> bounds(const std::optional<judge::RightAnswers>& right) {
  if (!right) return {};
  if (right->lowest.bytes == right->highest.bytes) return {&right->expected};
  return {&right->expected, &right->lowest, &right->highest};
}

std::string expected_in_words(const Reproduced& call) {
  const judge::Expectation& e = call.host.expected;
  if (!call.host.valid()) return concat(name(e.answer.outcome), ", ", e.answer.rule, ": ", e.answer.message);
  std::string all;
  for (const Tensor& t : e.outs) all += (all.empty() ? "" : "\n") + text::literal(t, shown_elements);
  return all;
}

std::string string_literal(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

std::vector<Int> strides_of(const Tensor& tensor) {
  std::vector<Int> strides(static_cast<std::size_t>(tensor.rank()));
  Int stride = 1;
  for (int k = tensor.rank() - 1; k >= 0; --k) {
    const Int d = tensor.dim_order[k];
    strides[static_cast<std::size_t>(d)] = stride;
    stride *= std::max<Int>(tensor.sizes[d], 1);
  }
  return strides;
}

std::string filled(std::string_view form, const std::vector<Field>& fields) {
  std::string all;
  for (std::size_t begin; (begin = form.find("{{")) != std::string_view::npos;) {
    const std::size_t end = form.find("}}", begin);
    const auto field = std::ranges::find(fields, form.substr(begin + 2, end - begin - 2), &Field::name);
    if (field == fields.end()) throw std::logic_error("a field of a template has no text");
    all.append(form.substr(0, begin)).append(field->text);
    form.remove_prefix(end + 2);
  }
  return all.append(form);
}

}  // namespace assay::reproduce
