#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "conformance/cases/host_call.h"

// What each kind of reproduction is made by.
namespace assay {

struct Reproduced {
  const Case& c;
  HostCall host;

  const Operator& op() const { return *c.op; }
  // None of an invalid call, and where any values are right.
  std::optional<RightAnswers> right(std::size_t output) const;
};

std::string python_reproduction(const Reproduced& call);
std::string cpp_reproduction(const Reproduced& call);
std::string bpte_reproduction(const Reproduced& call);
std::string json_reproduction(const Reproduced& call);

inline constexpr Int shown_elements = 32;  // of a tensor in words

// The tensors of right answers: the expected ones, and the lowest and highest where they are not the only ones.
std::vector<const Tensor*> bounds(const std::optional<RightAnswers>& right);

// What is expected, in words.
std::string expected_in_words(const Reproduced& call);

// Text in quotes, as Python and C++ read it.
std::string string_literal(std::string_view text);

std::vector<Int> strides_of(const Tensor& tensor);  // in elements

struct Field {
  std::string_view name;
  std::string text;
};
// The template with the text of each field in the place of {{name}}.
std::string filled(std::string_view form, const std::vector<Field>& fields);

}  // namespace assay
