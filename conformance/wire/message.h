#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/testee/library.h"
#include "protocol.gen.h"
#include "reference/fault.h"

// The bodies of frames between client and server: spec/runtime_protocol.md.
namespace assay::wire {

// The kind of the frame that answers a request.
constexpr std::uint8_t reply_to(Request request) { return static_cast<std::uint8_t>(request) | 0x80; }

// The head of a reply. If the status is ok, the answer follows it.
struct ReplyHead {
  Status status = Status::ok;
  std::uint64_t ticks = 0;  // the time that the request took
  std::uint64_t peak = 0;   // the most bytes of memory that the server has used
  std::string rule, message;
};

// The reply as the outcome of a call. An internal failure counts as a refusal without a rule.
Reply reply_of(const ReplyHead& head);

class BodyWriter {
 public:
  template <class T>
  BodyWriter& number(T n) {
    static_assert(std::is_arithmetic_v<T>);
    bytes_.append(reinterpret_cast<const char*>(&n), sizeof n);
    return *this;
  }
  BodyWriter& count(std::size_t n) { return number(static_cast<std::uint32_t>(n)); }
  BodyWriter& text(std::string_view text);
  BodyWriter& tensor(const TensorView& tensor);
  BodyWriter& value(const HostValue& value);
  BodyWriter& value(const Value& value);
  // Writes, in place of a value, the shape of a tensor whose elements the server generates from the seed.
  BodyWriter& generated(const Tensor& like, std::uint64_t seed);
  BodyWriter& head(const ReplyHead& head);

  const std::string& bytes() const { return bytes_; }

 private:
  BodyWriter& shape(const TensorView& tensor);

  std::string bytes_;
};

// Reads a body. Throws Fault (malformed, protocol.body) if the bytes are not of the requested type. Never allocates
// more memory than the number of received bytes justifies.
class BodyReader {
 public:
  explicit BodyReader(std::string_view bytes) : rest_(bytes) {}

  template <class T>
  T number() {
    static_assert(std::is_arithmetic_v<T>);
    T n;
    std::memcpy(&n, take(sizeof n).data(), sizeof n);
    return n;
  }
  std::size_t count(std::size_t least_bytes);  // reads a count of items; each item must take at least least_bytes
  std::string_view bytes();                    // reads a count and then as many bytes
  std::string text();
  std::vector<std::string> texts();
  Tensor tensor();
  Value value();
  Value input();  // a value, or a generated tensor; throws also Fault (malformed, protocol.generator)
  ReplyHead head();
  bool has_more() const { return !rest_.empty(); }
  void finish() const;  // throws if bytes are left

 private:
  std::string_view take(std::size_t bytes);
  Tensor shape();  // reads the dtype, sizes and dim order of a tensor
  Value value(ValueKind kind);
  ValueKind kind();

  std::string_view rest_;
};

// A value whose tensors are views of the tensors of `value`. `value` must outlive it.
HostValue view_of(Value& value);
TensorView view_of(Tensor& tensor);

}  // namespace assay::wire
