#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/testee/library.h"
#include "reference/fault.h"

// What the two sides of a wire say to each other in the bodies of frames: spec/runtime_protocol.md.
namespace assay::wire {

enum class Request : std::uint8_t {
  hello = 1,
  caps,
  reset,
  kernel,
  load,
  method,
  set_input,
  execute,
  get_output,
  unload,
  ping,
  quit,
  state,
};

// The kind of a frame that answers a request, and of one that carries a line for people.
constexpr std::uint8_t reply_to(Request request) { return static_cast<std::uint8_t>(request) | 0x80; }
inline constexpr std::uint8_t log_kind = 0x7F;

// Words of CAPS.
inline constexpr std::string_view has_programs = "programs", has_instances = "instances",
                                  has_connections = "connections", has_ping = "ping", has_quit = "quit",
                                  has_state = "state", has_generator = "generator", has_allocations = "allocations";

inline constexpr std::uint8_t generated_kind = 10;  // of a value
enum class Generator : std::uint8_t { small_numbers = 1 };

enum class Status : std::uint8_t { ok, malformed, invalid, unsupported, fault, exhausted, internal };

// How a reply begins; what was asked for stands behind it, where the status is ok.
struct ReplyHead {
  Status status = Status::ok;
  std::uint64_t ticks = 0, peak = 0;  // that the request took; bytes of memory that the end ever had
  std::string rule, message;
};

// As the outcome of a call: an internal failure counts as a refusal without a rule.
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
  // In the place of a value: a tensor like this one, whose elements the other side makes.
  BodyWriter& generated(const Tensor& like, std::uint64_t seed);
  BodyWriter& head(const ReplyHead& head);

  const std::string& bytes() const { return bytes_; }

 private:
  BodyWriter& shape(const TensorView& tensor);

  std::string bytes_;
};

// Throws Fault (malformed, protocol.body) where the bytes are not what is asked for. Takes memory for no more than
// came.
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
  std::size_t count(std::size_t least_bytes);  // of items that take so many bytes each, or more
  std::string_view bytes();                    // behind their count
  std::string text();
  std::vector<std::string> texts();
  Tensor tensor();
  Value value();
  Value input();  // a value, or what is made by a generator; throws Fault (malformed, protocol.generator), too
  ReplyHead head();
  bool has_more() const { return !rest_.empty(); }
  void finish() const;  // nothing is left

 private:
  std::string_view take(std::size_t bytes);
  Tensor shape();  // without elements
  Value value(std::uint8_t kind);

  std::string_view rest_;
};

// A value whose tensors are views of this one's, which stays where it is.
HostValue view_of(Value& value);
TensorView view_of(Tensor& tensor);

}  // namespace assay::wire
