#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "conformance/cases/host_call.h"

// The parts that the kinds of reproductions are made of.
namespace assay::reproduce {

struct Reproduced {
  const cases::Case& c;
  cases::HostCall host;
  std::string library = {};  // the library with the kernel, for a C++ program; empty for the official kernels

  const Operator& op() const { return *c.op; }
  // none for an invalid call, and for an output that may have any value
  std::optional<judge::RightAnswers> right(std::size_t output) const;
};

std::string python_reproduction(const Reproduced& call);
std::string cpp_reproduction(const Reproduced& call);
std::string bpte_reproduction(const Reproduced& call);
std::string json_reproduction(const Reproduced& call);

inline constexpr Int shown_elements = 32;  // per tensor, in text for readers

// The tensors of right answers: the expected tensor, and the lowest and highest tensor if a range is right.
std::vector<const Tensor*> bounds(const std::optional<judge::RightAnswers>& right);

// The expected result as text.
std::string expected_in_words(const Reproduced& call);

// Text in quotes, as a literal of both Python and C++.
std::string string_literal(std::string_view text);

std::vector<Int> strides_of(const Tensor& tensor);  // counted in elements

struct Field {
  std::string_view name;
  std::string text;
};
// The template with each {{name}} replaced by the text of that field.
std::string filled(std::string_view form, const std::vector<Field>& fields);

}  // namespace assay::reproduce
