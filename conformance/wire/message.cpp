#include "conformance/wire/message.h"

#include <algorithm>

#include "conformance/text/malformed.h"
#include "conformance/wire/generator.h"

namespace assay::wire {
testee::Reply reply_of(const ReplyHead& head) {
  const std::string words = head.rule.empty() ? head.message : concat(head.rule, ": ", head.message);
  if (head.status == Status::internal) return {Outcome::invalid, "internal: " + words};
  return {static_cast<Outcome>(head.status), words};
}

static_assert(static_cast<int>(Status::exhausted) == static_cast<int>(Outcome::exhausted));

// -- writing ------------------------------------------------------------------------------------------------------

BodyWriter& BodyWriter::text(std::string_view text) {
  count(text.size()).bytes_.append(text);
  return *this;
}

BodyWriter& BodyWriter::shape(const testee::TensorView& t) {
  number(static_cast<std::uint8_t>(t.dtype)).number(static_cast<std::uint8_t>(t.sizes.size()));
  for (const Int n : t.sizes) number(n);
  for (const Int d : t.dim_order) number(static_cast<std::uint8_t>(d));
  return *this;
}

BodyWriter& BodyWriter::tensor(const testee::TensorView& t) {
  return shape(t).text({reinterpret_cast<const char*>(t.data), t.bytes()});
}

BodyWriter& BodyWriter::value(const testee::HostValue& value) {
  const auto tag = [&](ValueKind t) -> BodyWriter& { return number(static_cast<std::uint8_t>(t)); };
  const auto list = [&](ValueKind t, const auto& items, auto write) {
    tag(t).count(items.size());
    for (const auto& item : items) write(item);
  };
  std::visit(
      [&]<class T>(const T& v) {
        if constexpr (std::is_same_v<T, std::monostate>) tag(ValueKind::none);
        if constexpr (std::is_same_v<T, testee::TensorView>) tag(ValueKind::tensor).tensor(v);
        if constexpr (std::is_same_v<T, Int>) tag(ValueKind::integer).number(v);
        if constexpr (std::is_same_v<T, double>) tag(ValueKind::real).number(v);
        if constexpr (std::is_same_v<T, bool>) tag(ValueKind::boolean).number(v);
        if constexpr (std::is_same_v<T, std::string>) tag(ValueKind::string).text(v);
        if constexpr (std::is_same_v<T, Ints>) list(ValueKind::integers, v, [&](Int n) { number(n); });
        if constexpr (std::is_same_v<T, Doubles>) list(ValueKind::reals, v, [&](double x) { number(x); });
        if constexpr (std::is_same_v<T, Bools>) list(ValueKind::booleans, v, [&](bool b) { number(b); });
        if constexpr (std::is_same_v<T, testee::TensorViews>)
          list(ValueKind::tensors, v,
               [&](const auto& t) { this->value(t ? testee::HostValue(*t) : testee::HostValue()); });
      },
      value);
  return *this;
}

// The view is only read.
BodyWriter& BodyWriter::value(const Value& value) { return this->value(view_of(const_cast<Value&>(value))); }

BodyWriter& BodyWriter::generated(const Tensor& like, std::uint64_t seed) {
  return number(static_cast<std::uint8_t>(ValueKind::generated))
      .shape(view_of(const_cast<Tensor&>(like)))
      .number(static_cast<std::uint8_t>(Generator::small_numbers))
      .number(seed);
}

BodyWriter& BodyWriter::head(const ReplyHead& head) {
  return number(static_cast<std::uint8_t>(head.status))
      .number(head.ticks)
      .number(head.peak)
      .text(head.rule)
      .text(head.message);
}

// -- reading ------------------------------------------------------------------------------------------------------

std::string_view BodyReader::take(std::size_t bytes) {
  if (bytes > rest_.size()) text::malformed("protocol.body", "a body ends ", bytes - rest_.size(), " bytes too early");
  const std::string_view taken = rest_.substr(0, bytes);
  rest_.remove_prefix(bytes);
  return taken;
}

std::size_t BodyReader::count(std::size_t least_bytes) {
  const auto n = number<std::uint32_t>();
  if (n > rest_.size() / least_bytes)
    text::malformed("protocol.body", "a body counts ", n, " items, which do not fit in the ", rest_.size(),
                    " bytes that are left");
  return n;
}

std::string_view BodyReader::bytes() { return take(count(1)); }

std::string BodyReader::text() { return std::string(bytes()); }

std::vector<std::string> BodyReader::texts() {
  std::vector<std::string> all(count(sizeof(std::uint32_t)));
  for (std::string& t : all) t = text();
  return all;
}

Tensor BodyReader::shape() {
  const auto number_of_dtype = number<std::uint8_t>();
  const auto dtype = dtype_numbered(number_of_dtype);
  if (!dtype) text::malformed("protocol.body", "a tensor has dtype ", +number_of_dtype, ", which does not exist");
  const auto rank = number<std::uint8_t>();
  if (rank > max_rank) text::malformed("protocol.body", "a tensor has ", +rank, " dimensions, more than ", max_rank);
  Tensor t{*dtype, {}, {}, {}};
  for (int d = 0; d < rank; ++d) t.sizes.push_back(number<Int>());
  for (int d = 0; d < rank; ++d) t.dim_order.push_back(number<std::uint8_t>());
  if (std::ranges::any_of(t.sizes, [](Int n) { return n < 0; }))
    text::malformed("protocol.body", "a tensor has sizes ", t.sizes);
  if (!is_dim_order(t.dim_order, rank))
    text::malformed("protocol.body", "a tensor has dim order ", t.dim_order, ", which is not a permutation");
  return t;
}

Tensor BodyReader::tensor() {
  Tensor t = shape();
  const std::string_view data = bytes();
  if (static_cast<Int>(data.size()) != t.count() * info(t.dtype).bytes)
    text::malformed("protocol.body", describe(t), " comes with ", data.size(), " bytes");
  const auto elements = std::as_bytes(std::span(data));
  t.bytes.assign(elements.begin(), elements.end());
  return t;
}

ValueKind BodyReader::kind() { return static_cast<ValueKind>(number<std::uint8_t>()); }

Value BodyReader::value() { return value(kind()); }

Value BodyReader::input() {
  const ValueKind kind = this->kind();
  if (kind != ValueKind::generated) return value(kind);
  Tensor t = shape();
  const auto generator = number<std::uint8_t>();
  return generated(std::move(t), generator, number<std::uint64_t>());
}

Value BodyReader::value(ValueKind kind) {
  const auto list = [&]<class T>(T items, std::size_t least_bytes, auto read) -> Value {
    for (std::size_t left = count(least_bytes); left > 0; --left) items.push_back(read());
    return items;
  };
  const auto boolean = [&] {
    const auto b = number<std::uint8_t>();
    if (b > 1) text::malformed("protocol.body", "a bool is ", +b);
    return b == 1;
  };
  const auto item = [&]() -> std::optional<Tensor> {
    const ValueKind kind = this->kind();
    if (kind == ValueKind::none) return std::nullopt;
    if (kind == ValueKind::tensor) return tensor();
    text::malformed("protocol.body", "an item of a list of tensors is neither a tensor nor none");
  };
  switch (kind) {
    case ValueKind::none:
      return {};
    case ValueKind::tensor:
      return tensor();
    case ValueKind::integer:
      return number<Int>();
    case ValueKind::real:
      return number<double>();
    case ValueKind::boolean:
      return boolean();
    case ValueKind::string:
      return text();
    case ValueKind::integers:
      return list(Ints(), sizeof(Int), [&] { return number<Int>(); });
    case ValueKind::reals:
      return list(Doubles(), sizeof(double), [&] { return number<double>(); });
    case ValueKind::booleans:
      return list(Bools(), 1, boolean);
    case ValueKind::tensors:
      return list(Tensors(), 1, item);
    case ValueKind::generated:
      break;  // only inputs are
  }
  text::malformed("protocol.body", "there is no kind ", static_cast<int>(kind), " of values");
}

ReplyHead BodyReader::head() {
  ReplyHead head;
  const auto status = number<std::uint8_t>();
  if (status > static_cast<std::uint8_t>(Status::internal))
    text::malformed("protocol.body", "a reply has status ", +status, ", which does not exist");
  head.status = static_cast<Status>(status);
  head.ticks = number<std::uint64_t>(), head.peak = number<std::uint64_t>();
  head.rule = text(), head.message = text();
  return head;
}

void BodyReader::finish() const {
  if (!rest_.empty()) text::malformed("protocol.body", "a body has ", rest_.size(), " bytes too many");
}

// -- views --------------------------------------------------------------------------------------------------------

testee::TensorView view_of(Tensor& t) { return {t.dtype, t.sizes, t.dim_order, t.bytes.data(), t.bytes.size()}; }

testee::HostValue view_of(Value& value) {
  return std::visit(
      []<class T>(T& v) -> testee::HostValue {
        if constexpr (std::is_same_v<T, Tensor>) {
          return view_of(v);
        } else if constexpr (std::is_same_v<T, Tensors>) {
          testee::TensorViews views;
          for (auto& t : v) views.push_back(t ? std::optional(view_of(*t)) : std::nullopt);
          return views;
        } else {
          return v;
        }
      },
      value);
}

}  // namespace assay::wire
