#pragma once

#include <limits>

#include "format/check.h"
#include "format/names.h"
#include "xnnpack_payload_generated.h"

// Views of the payload of an XNNPACK delegate. spec/format/xnnpack_payload.fbs defines the tables.
namespace assay::format::xnnpack {

inline constexpr std::string_view container_id = "XH00", backend = "XnnpackBackend";
// The offsets of the fields of a container's header, and the end of the last field, in bytes.
inline constexpr std::size_t length_at = 8, begin_at = 10, size_at = 14, constants_at = 18, constants_size_at = 22,
                             header_bytes = 30;

// `segments` is the region of constants, and `bytes` are the bytes of the tables.
using PayloadView = FileView<xnn::Graph>;

// Phases "locate" and "open" of format/check.h for a payload, by the rules X1 to X5. The extent's tables begin at
// offset 0 and contain the header.
std::optional<Extent> locate_payload(std::span<const std::byte> head, std::uint64_t file_size, Findings& findings);
std::optional<PayloadView> open_payload(std::span<const std::byte> tables, std::span<const std::byte> constants,
                                        Findings& findings);

// Phase "check". `related` states the program and the delegate whose payload this is; a payload that is checked alone
// has none of them, and the rules about them are not checked. If `named` lacks a constant's name, the rules about the
// constant's bytes are not checked: another data file may have them.
void check(const PayloadView& payload, const Related& related, Workspace& workspace, Findings& findings);

// Reports the lints of a payload that meets every rule: rules that spec/format/rules.yaml marks `lint`. A payload with
// lints is valid, but it certainly does not compute what its author meant.
void lint(const PayloadView& payload, const Related& related, Workspace& workspace, Findings& lints);

// -- datatypes --------------------------------------------------------------------------------------------------------

enum class Datatype : std::int16_t {
  invalid,
  fp32,
  fp16,
  qint8,
  quint8,
  qint32,
  qcint8,
  qcint32,
  qcint4,
  qdint8,
  qbint4,
  qpint8,
  int32,
  pfp32,
  bf16
};

struct DatatypeFacts {
  std::string_view name;
  std::uint8_t bits;  // of an element
  xnn::Parameters parameters = xnn::Parameters::NONE;
  std::int32_t least = 0, most = 0;  // the range of zero points that a value states
};
const DatatypeFacts* find_datatype(std::int16_t number);  // null if the format does not define the datatype

// -- values -----------------------------------------------------------------------------------------------------------

inline constexpr std::uint32_t no_id = std::numeric_limits<std::uint32_t>::max();
inline constexpr std::uint32_t input_flag = 1, output_flag = 2;

inline const xnn::Tensor& tensor_of(const xnn::Value& value) {
  const auto* quantized = value.content_as_QuantizedTensor();
  return quantized ? *quantized->tensor() : *value.content_as_Tensor();
}
inline Datatype datatype_of(const xnn::Tensor& t) { return static_cast<Datatype>(t.datatype()); }
inline bool is_external(const xnn::Tensor& t) { return t.external() != no_id; }

// The number of bytes of a tensor's elements as they are stored. A row of 4-bit elements begins at a byte. Requires a
// datatype that the format defines. Returns nothing if the number does not fit a signed 64-bit integer.
std::optional<std::uint64_t> stored_bytes(const xnn::Tensor& t);

// Returns the bytes of a constant, or nothing if there is no such constant or `named` lacks its name. `named` may be
// null.
std::optional<std::span<const std::byte>> constant_bytes(const PayloadView& payload, std::uint32_t index,
                                                         const NamedData* named);
// The name of a constant that is named data, else an empty text.
std::string_view constant_name(const PayloadView& payload, std::uint32_t index);
// The number of the payload's constants with entry 0, the placeholder.
std::uint32_t constant_count(const PayloadView& payload);

// The scales of a value's channels or groups: a list of the tables, or the bytes of a constant.
struct Scales {
  std::uint32_t count = 0, constant = 0;
  std::span<const float> list = {};
  bool bfloat16 = false;  // the type of the constant's elements
  std::int32_t channel_dim = 0;
  std::uint32_t bytes() const { return bfloat16 ? 2 : 4; }  // of an element of the constant
};
std::optional<Scales> scales_of(const xnn::Value& value);  // nothing if the value has no such scales

// Finds values by their ids, in logarithmic time.
class Values {
 public:
  Values(const PayloadView& payload, Workspace& workspace);
  // The index of the value with this id, or no_id if there is no such value.
  std::uint32_t find(std::uint32_t id) const;
  const xnn::Tensor& tensor(std::uint32_t index) const { return tensor_of(*values_.Get(index)); }
  const xnn::Value& value(std::uint32_t index) const { return *values_.Get(index); }
  std::uint32_t size() const { return values_.size(); }
  std::span<const std::uint32_t> sorted() const { return order_; }  // the indices of the values, sorted by id

 private:
  const flatbuffers::Vector<flatbuffers::Offset<xnn::Value>>& values_;
  std::span<std::uint32_t> order_;
};

}  // namespace assay::format::xnnpack
