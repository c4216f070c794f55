#include <algorithm>
#include <deque>

#include "conformance/wire/end.h"
#include "conformance/wire/remote.h"

namespace assay::wire {
namespace {

// An integer where the schema has a float is one. An out number has no dtype before.
HostValue sent(const HostValue& value, const SchemaArgument& argument) {
  if (argument.is_out_number()) return {};
  const Int* n = std::get_if<Int>(&value);
  return n && argument.type.starts_with("float") ? HostValue(static_cast<double>(*n)) : value;
}

class RemoteLibrary final : public KernelLibrary {
 public:
  explicit RemoteLibrary(const Address& address) : end_(address) {}

  std::string_view name() const override { return end_.introduction().name; }

  std::vector<std::pair<std::string, std::string>> facts() const override { return end_.facts(); }

  std::vector<std::string> kernels() const override { return end_.introduction().kernels; }
  bool has(const Operator& op) const override {
    return std::ranges::binary_search(end_.introduction().kernels, op.name, {},
                                      [](const std::string& s) { return std::string_view(s); });
  }
  bool is_remote() const override { return true; }
  int most_at_once() const override { return end_.most_at_once(); }
  bool may_crash() const override { return false; }  // nothing of it is in this process
  void fill_memory(std::byte byte) override { fill_ = byte; }

  Reply call(const Operator& op, std::span<HostValue> arguments) override {
    BodyWriter body;
    body.text(op.name).number(static_cast<std::uint8_t>(fill_)).count(op.outs()).count(arguments.size());
    for (std::size_t i = 0; i < arguments.size(); ++i) body.value(sent(arguments[i], op.arguments[i]));
    const std::vector<TensorView*> outs = outs_of(op, arguments);
    std::vector<Tensor> results;
    const ReplyHead head = end_.ask(Request::kernel, body, [&](BodyReader& reply) {
      for (std::size_t left = reply.count(2); left > 0; --left) results.push_back(reply.tensor());
      if (results.size() != outs.size())
        throw Fault(Outcome::malformed, "protocol.outs",
                    text("the call has ", outs.size(), " outs, but ", results.size(), " came"));
    });
    too_large_.clear();
    for (std::size_t k = 0; k < results.size(); ++k) take(std::move(results[k]), *outs[k]);
    return reply_of(head);
  }

 private:
  static std::vector<TensorView*> outs_of(const Operator& op, std::span<HostValue> arguments) {
    std::vector<TensorView*> all;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      if (!op.arguments[i].out) continue;
      if (auto* one = std::get_if<TensorView>(&arguments[i])) all.push_back(one);
      if (auto* list = std::get_if<TensorViews>(&arguments[i]))
        for (auto& view : *list) all.push_back(&view.value());
    }
    return all;
  }

  // A result that does not fit has wrong sizes, which the judge says: it stays here until the next call.
  void take(Tensor result, TensorView& out) {
    out.dtype = result.dtype, out.sizes = result.sizes, out.dim_order = result.dim_order;
    if (result.bytes.size() > out.capacity) {
      Tensor& kept = too_large_.emplace_back(std::move(result));
      out.data = kept.bytes.data(), out.capacity = kept.bytes.size();
    } else {
      std::ranges::copy(result.bytes, out.data);
    }
  }

  End end_;
  std::byte fill_{};
  std::deque<Tensor> too_large_;
};

}  // namespace

std::unique_ptr<KernelLibrary> make_remote_library(const Address& address) {
  return std::make_unique<RemoteLibrary>(address);
}

}  // namespace assay::wire
