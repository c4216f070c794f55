#include "conformance/testees/recorded_eager.h"

#include <algorithm>
#include <cstring>

#include "reference/fault.h"

namespace assay {
namespace {

// All that makes two calls the same: kinds and contents of the arguments, of outs only what is known before the call.
class Fingerprint {
 public:
  void add(const void* bytes, std::size_t n) {
    if (n > 0) text_.append(static_cast<const char*>(bytes), n);
  }
  template <class T>
  void number(T v) {
    add(&v, sizeof v);
  }
  void dims(const Dims& d) {
    number(d.size());
    for (Int n : d) number(n);
  }
  void tensor(DType dtype, const Dims& sizes, const Dims& dim_order, const std::byte* data, std::size_t bytes) {
    number(dtype), dims(sizes), dims(dim_order);
    add(data, bytes);
  }
  std::string text() && { return std::move(text_); }

 private:
  std::string text_;
};

void add(Fingerprint& f, const Tensor& t) { f.tensor(t.dtype, t.sizes, t.dim_order, t.bytes.data(), t.bytes.size()); }
void add(Fingerprint& f, const TensorView& t) { f.tensor(t.dtype, t.sizes, t.dim_order, t.data, t.bytes()); }
void add(Fingerprint&, std::monostate) {}
void add(Fingerprint& f, Int v) { f.number(v); }
void add(Fingerprint& f, bool v) { f.number(v); }
void add(Fingerprint& f, double v) { f.number(v); }
void add(Fingerprint& f, const std::string& v) { f.number(v.size()), f.add(v.data(), v.size()); }
template <class T, class Allocator>
void add(Fingerprint& f, const std::vector<T, Allocator>& list) {
  f.number(list.size());
  for (const T& v : list) add(f, v);
}
template <class T>
void add(Fingerprint& f, const std::optional<T>& v) {
  f.number(v.has_value());
  if (v) add(f, *v);
}

// The dtypes and dim orders of outs are part of a call; their sizes are not, since a host plans them by the result.
template <class Out>
void add_out(Fingerprint& f, const Out& out) {
  if constexpr (requires { out.dim_order; }) f.number(out.dtype), f.dims(out.dim_order);
  if constexpr (requires { out.front().has_value(); })
    for (const auto& entry : out)
      if (entry) add_out(f, *entry);
}

template <class V>
std::string fingerprint(const Operator& op, std::span<const V> arguments) {
  Fingerprint f;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (op.arguments[i].is_out_number()) continue;
    f.number(arguments[i].index());
    std::visit([&](const auto& v) { op.arguments[i].out ? add_out(f, v) : add(f, v); }, arguments[i]);
  }
  return std::move(f).text();
}

void store(const Tensor& result, TensorView& out) {
  out.dtype = result.dtype, out.sizes = result.sizes, out.dim_order = result.dim_order;
  const std::size_t bytes = std::min(result.bytes.size(), out.capacity);
  if (bytes > 0) std::memcpy(out.data, result.bytes.data(), bytes);
}

}  // namespace

Reply RecordedEager::call(const Operator& op, std::span<HostValue> arguments) {
  const RecordedCalls& calls = *corpus_.calls(op.name);
  if (indexed_ != op.name) {
    indexed_ = op.name;
    recorded_.clear();
    for (std::size_t i = 0; i < calls.size(); ++i) recorded_.emplace(fingerprint<Value>(op, calls.at(i).arguments), i);
  }
  const auto at = recorded_.find(fingerprint<HostValue>(op, arguments));
  if (at == recorded_.end()) return {Outcome::unsupported, "this call was not recorded"};
  const RecordedCall call = calls.at(at->second);
  if (call.refused) return {Outcome::invalid, call.refusal};
  auto result = call.results.begin();
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (!op.arguments[i].out) continue;
    if (auto* view = std::get_if<TensorView>(&arguments[i])) store(*result++, *view);
    if (auto* list = std::get_if<TensorViews>(&arguments[i]))
      for (auto& view : *list)
        if (result != call.results.end()) store(*result++, *view);
  }
  return {};
}

}  // namespace assay
