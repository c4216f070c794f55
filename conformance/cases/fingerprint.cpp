#include "conformance/cases/fingerprint.h"

#include <bit>

namespace assay::cases {
namespace {

class Fingerprint {
 public:
  void add(std::uint64_t number) {
    char bytes[8];
    for (int k = 0; k < 8; ++k) bytes[k] = static_cast<char>(number >> (8 * k) & 0xff);
    text_.append(bytes, sizeof bytes);
  }
  void add(Int v) { add(static_cast<std::uint64_t>(v)); }
  void add(double v) { add(std::bit_cast<std::uint64_t>(v)); }
  void add(bool v) { add(std::uint64_t{v}); }
  void add(std::monostate) {}
  void add(std::string_view v) {
    add(std::uint64_t{v.size()});
    text_ += v;
  }
  void add(const std::string& v) { add(std::string_view(v)); }
  void add(const Dims& dims) {
    add(Int{dims.size()});
    for (Int n : dims) add(n);
  }
  void add(const Tensor& t) { add_tensor(t, {t.bytes.data(), t.bytes.size()}); }
  void add(const testee::TensorView& t) { add_tensor(t, {t.data, t.bytes()}); }
  template <class T, class Allocator>
  void add(const std::vector<T, Allocator>& list) {
    add(std::uint64_t{list.size()});
    for (const T& v : list) add(v);
  }
  template <class T>
  void add(const std::optional<T>& v) {
    add(v.has_value());
    if (v) add(*v);
  }

  template <class Out>
  void add_out(const Out& out) {
    if constexpr (requires { out.dim_order; }) add(static_cast<std::uint64_t>(out.dtype)), add(out.dim_order);
    if constexpr (requires { out.front().has_value(); })
      for (const auto& entry : out)
        if (entry) add_out(*entry);
  }

  std::string text() && { return std::move(text_); }

 private:
  template <class T>
  void add_tensor(const T& t, std::span<const std::byte> bytes) {
    add(static_cast<std::uint64_t>(t.dtype)), add(t.sizes), add(t.dim_order);
    text_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }

  std::string text_;
};

template <class V>
std::string fingerprint_of(const Operator& op, std::span<const V> arguments) {
  Fingerprint f;
  f.add(op.name);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (op.arguments[i].is_out_number()) continue;
    f.add(std::uint64_t{arguments[i].index()});
    std::visit([&](const auto& v) { op.arguments[i].out ? f.add_out(v) : f.add(v); }, arguments[i]);
  }
  return std::move(f).text();
}

}  // namespace

std::string fingerprint(const Operator& op, std::span<const Value> arguments) { return fingerprint_of(op, arguments); }
std::string fingerprint(const Operator& op, std::span<const testee::HostValue> arguments) {
  return fingerprint_of(op, arguments);
}

}  // namespace assay::cases
