#include "conformance/text/element.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>

#include "conformance/text/malformed.h"
#include "conformance/text/printable.h"

namespace assay {
namespace {

// All of the text as a T, or none.
template <class T, class... Base>
std::optional<T> parsed(std::string_view text, Base... base) {
  T value{};
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value, base...);
  return error == std::errc() && rest == end ? std::optional(value) : std::nullopt;
}

constexpr struct {
  std::string_view text;
  Number number;
} named_numbers[] = {
    {"true", true},
    {"True", true},
    {"false", false},
    {"False", false},
    {"inf", std::numeric_limits<double>::infinity()},
    {"-inf", -std::numeric_limits<double>::infinity()},
    {"nan", std::numeric_limits<double>::quiet_NaN()},
    {"-nan", -std::numeric_limits<double>::quiet_NaN()},
};

std::string text_of(const Number& number) {
  return std::visit([](auto v) { return fmt::format("{}", v); }, number);
}

// The number as an integer that lies in [least, 2^bits - 1 of the dtype], if it is one.
std::optional<Bits> integer_element(const Number& number, DType dtype) {
  const DTypeInfo& d = info(dtype);
  if (const Bits* big = std::get_if<Bits>(&number)) return dtype == DType::uint64 ? std::optional(*big) : std::nullopt;
  const Int* n = std::get_if<Int>(&number);
  if (!n) return std::nullopt;
  const bool fits = dtype == DType::uint64 ? *n >= 0 : d.int_of(d.bits_of_int(*n)) == *n;
  return fits ? std::optional(static_cast<Bits>(*n)) : std::nullopt;
}

std::optional<Bits> bool_element(const Number& number) {
  if (const bool* b = std::get_if<bool>(&number)) return *b;
  const Int* n = std::get_if<Int>(&number);
  return n && (*n == 0 || *n == 1) ? std::optional(static_cast<Bits>(*n)) : std::nullopt;
}

std::optional<Bits> floating_element(const Number& number, DType dtype) {
  if (std::holds_alternative<bool>(number)) return std::nullopt;
  return info(dtype).bits_of_real(std::visit([](auto v) { return static_cast<Real>(v); }, number));
}

std::optional<Bits> opaque_element(std::string_view text, DType dtype) {
  if (!text.starts_with("0x")) return std::nullopt;
  const auto bits = parsed<Bits>(text.substr(2), 16);
  return bits && *bits >> (8 * info(dtype).bytes) == 0 ? bits : std::nullopt;
}

// The double with the fewest decimal digits that is rounded to x in the dtype, of which 17 always suffice; but integers
// that a double counts exactly are shown in full (the largest float16 is 65504, though 65500 would read back).
double shortest(double x, DType dtype) {
  constexpr double counted = 0x1p53;
  if (std::trunc(x) == x && std::fabs(x) < counted) return x;
  for (int digits = 0; digits < 16; ++digits) {
    const auto candidate = parsed<double>(fmt::format("{:.{}e}", x, digits));
    if (candidate && round_to(dtype, *candidate) == x) return *candidate;
  }
  return x;
}

}  // namespace

std::optional<Number> number_of(std::string_view text) {
  for (const auto& row : named_numbers)
    if (row.text == text) return row.number;
  if (text.find_first_of("0123456789") == std::string_view::npos) return std::nullopt;
  if (const auto n = parsed<Int>(text); n && text != "-0") return *n;
  if (const auto n = parsed<Bits>(text)) return *n;
  if (const auto x = parsed<double>(text)) return *x;
  return std::nullopt;
}

Bits element_of(const Number& number, DType dtype) {
  std::optional<Bits> element;
  switch (info(dtype).kind) {
    case Kind::boolean:
      element = bool_element(number);
      break;
    case Kind::integer:
      element = integer_element(number, dtype);
      break;
    case Kind::floating:
      element = floating_element(number, dtype);
      break;
    case Kind::opaque:
      break;
  }
  well_formed(element.has_value(), "call.tensor", text_of(number), " is no ", info(dtype).name);
  return *element;
}

Bits element_of(std::string_view text, DType dtype) {
  if (info(dtype).kind == Kind::opaque) {
    const auto bits = opaque_element(text, dtype);
    well_formed(bits.has_value(), "call.tensor", "an element of ", info(dtype).name, " is ", info(dtype).bytes,
                " bytes in hexadecimal such as 0x3f, but came as ", Quoted{text});
    return *bits;
  }
  const auto number = number_of(text);
  well_formed(number.has_value(), "call.tensor", Quoted{text}, " is no number");
  return element_of(*number, dtype);
}

std::string element_text(Bits element, DType dtype) {
  const DTypeInfo& d = info(dtype);
  switch (d.kind) {
    case Kind::boolean:
      return d.int_of(element) ? "true" : "false";
    case Kind::integer:
      return dtype == DType::uint64 ? fmt::format("{}", element) : fmt::format("{}", d.int_of(element));
    case Kind::opaque:
      return fmt::format("0x{:0{}x}", element, 2 * d.bytes);
    case Kind::floating:
      break;
  }
  const double x = static_cast<double>(d.real_of(element));
  return fmt::format("{}", std::isfinite(x) ? shortest(x, dtype) : x);
}

std::string double_text(double value) {
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

}  // namespace assay
