#include <algorithm>
#include <deque>

#include "conformance/wire/remote.h"
#include "conformance/wire/remote_server.h"

namespace assay::wire {
namespace {

// An integer for a float argument is sent as a double. An out that is a number has no dtype before the call.
testee::HostValue sent(const testee::HostValue& value, const SchemaArgument& argument) {
  if (argument.is_out_number()) return {};
  const Int* n = std::get_if<Int>(&value);
  return n && argument.type.starts_with("float") ? testee::HostValue(static_cast<double>(*n)) : value;
}

class RemoteLibrary final : public testee::KernelLibrary {
 public:
  explicit RemoteLibrary(const Address& address) : server_(address) {}

  std::string_view name() const override { return server_.introduction().name; }

  std::vector<std::pair<std::string, std::string>> facts() const override { return server_.facts(); }

  std::vector<std::string> kernels() const override { return server_.introduction().kernels; }
  bool has(const Operator& op) const override {
    return std::ranges::binary_search(server_.introduction().kernels, op.name, {},
                                      [](const std::string& s) { return std::string_view(s); });
  }
  bool is_remote() const override { return true; }
  int most_at_once() const override { return server_.most_at_once(); }
  bool may_crash() const override { return false; }                  // it runs in another process
  bool takes_outs_of_other_sizes() const override { return false; }  // KERNEL sends outs with the result's sizes
  void fill_memory(std::byte byte) override { fill_ = byte; }

  testee::Reply call(const Operator& op, std::span<testee::HostValue> arguments) override {
    BodyWriter body;
    body.text(op.name).number(static_cast<std::uint8_t>(fill_)).count(op.outs()).count(arguments.size());
    for (std::size_t i = 0; i < arguments.size(); ++i) body.value(sent(arguments[i], op.arguments[i]));
    const std::vector<testee::TensorView*> outs = outs_of(op, arguments);
    std::vector<Tensor> results;
    const ReplyHead head = server_.ask(Request::kernel, body, [&](BodyReader& reply) {
      for (std::size_t left = reply.count(2); left > 0; --left) results.push_back(reply.tensor());
      if (results.size() != outs.size())
        throw Fault(Outcome::malformed, "protocol.outs",
                    concat("the call has ", outs.size(), " outs, but ", results.size(), " came"));
    });
    too_large_.clear();
    for (std::size_t k = 0; k < results.size(); ++k) take(std::move(results[k]), *outs[k]);
    return reply_of(head);
  }

 private:
  static std::vector<testee::TensorView*> outs_of(const Operator& op, std::span<testee::HostValue> arguments) {
    std::vector<testee::TensorView*> all;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      if (!op.arguments[i].out) continue;
      if (auto* one = std::get_if<testee::TensorView>(&arguments[i])) all.push_back(one);
      if (auto* list = std::get_if<testee::TensorViews>(&arguments[i]))
        for (auto& view : *list) all.push_back(&view.value());
    }
    return all;
  }

  // A result that does not fit into its out has wrong sizes, which the judge reports. It is kept here until the next
  // call.
  void take(Tensor result, testee::TensorView& out) {
    out.dtype = result.dtype, out.sizes = result.sizes, out.dim_order = result.dim_order;
    if (result.bytes.size() > out.capacity) {
      Tensor& kept = too_large_.emplace_back(std::move(result));
      out.data = kept.bytes.data(), out.capacity = kept.bytes.size();
    } else {
      std::ranges::copy(result.bytes, out.data);
    }
  }

  RemoteServer server_;
  std::byte fill_{};
  std::deque<Tensor> too_large_;
};

}  // namespace

std::unique_ptr<testee::KernelLibrary> make_remote_library(const Address& address) {
  return std::make_unique<RemoteLibrary>(address);
}

}  // namespace assay::wire
