#include "conformance/text/element.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>

#include "conformance/text/malformed.h"
#include "conformance/text/printable.h"
#include "reference/tensor.h"

namespace assay::text {
namespace {

// The whole text as a T, or none.
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

// The number, if it is an integer that the dtype can hold.
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

// The double with the fewest decimal digits that rounds to x in the dtype; 17 digits always suffice. Integers that a
// double holds exactly are shown in full: the largest float16 is 65504, although 65500 would read back as the same
// element.
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

namespace {

Bits number_element(const Number& number, DType dtype) {
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
    case Kind::complex:
    case Kind::opaque:
      break;
  }
  well_formed(element.has_value(), "call.tensor", text_of(number), " is no ", info(dtype).name);
  return *element;
}

Number written_number(std::string_view text) {
  const auto number = number_of(text);
  well_formed(number.has_value(), "call.tensor", Quoted{text}, " is no number");
  return *number;
}

// The position of the imaginary part with its sign: the last sign that does not belong to an exponent.
std::size_t imaginary_part(std::string_view text) {
  for (std::size_t at = text.size(); at-- > 1;)
    if ((text[at] == '+' || text[at] == '-') && text[at - 1] != 'e' && text[at - 1] != 'E') return at;
  return 0;
}

Element complex_element(std::string_view text, DType dtype) {
  if (!text.ends_with('j')) return element_of(written_number(text), dtype);
  text.remove_suffix(1);
  const std::size_t at = imaginary_part(text);
  const std::string_view imaginary = text.substr(text.substr(at).starts_with('+') ? at + 1 : at);
  return element_of(at == 0 ? Number(Int{0}) : written_number(text.substr(0, at)), written_number(imaginary), dtype);
}

}  // namespace

Element element_of(const Number& number, DType dtype) {
  return is_complex(dtype) ? element_of(number, Number(Int{0}), dtype) : Element{number_element(number, dtype)};
}

Element element_of(const Number& real, const Number& imaginary, DType dtype) {
  const DType part = info(dtype).part;
  Array<Bits> parts(Dims{2});
  parts[0] = number_element(real, part), parts[1] = number_element(imaginary, part);
  Tensor one = make(dtype, {});
  write_parts(parts, one);
  return read<Element>(one)[0];
}

Element element_of(std::string_view text, DType dtype) {
  if (is_complex(dtype)) return complex_element(text, dtype);
  if (info(dtype).is_opaque()) {
    const auto bits = opaque_element(text, dtype);
    well_formed(bits.has_value(), "call.tensor", "an element of ", info(dtype).name, " is ", info(dtype).bytes,
                " bytes in hexadecimal such as 0x3f, but came as ", Quoted{text});
    return {*bits};
  }
  return element_of(written_number(text), dtype);
}

std::string element_text(const Element& element, DType dtype) {
  if (!is_complex(dtype)) return number_text(element.low, dtype);
  Tensor one = make(dtype, {});
  Array<Element> elements;
  elements[0] = element;
  write(elements, one);
  const Array<Bits> parts = read_parts(one);
  const std::string imaginary = number_text(parts[1], info(dtype).part);
  return number_text(parts[0], info(dtype).part) + (imaginary.starts_with('-') ? "" : "+") + imaginary + 'j';
}

std::string number_text(Bits number, DType dtype) {
  const DTypeInfo& d = info(dtype);
  switch (d.kind) {
    case Kind::boolean:
      return d.int_of(number) ? "true" : "false";
    case Kind::integer:
      return dtype == DType::uint64 ? fmt::format("{}", number) : fmt::format("{}", d.int_of(number));
    case Kind::opaque:
      return fmt::format("0x{:0{}x}", number, 2 * d.bytes);
    default:  // floating
      break;
  }
  const double x = static_cast<double>(d.real_of(number));
  return fmt::format("{}", std::isfinite(x) ? shortest(x, dtype) : x);
}

std::string double_text(double value) {
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

}  // namespace assay::text
