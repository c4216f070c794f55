#include "format/xnnpack/payload.h"

#include <algorithm>
#include <numeric>

#include "format/header.h"
#include "format/sorted.h"

namespace assay::format::xnnpack {
namespace {

using xnn::Parameters;

constexpr DatatypeFacts datatypes[] = {
    {"invalid", 0},
    {"fp32", 32},
    {"fp16", 16},
    {"qint8", 8, Parameters::PerTensor, -128, 127},
    {"quint8", 8, Parameters::PerTensor, 0, 255},
    {"qint32", 32, Parameters::PerTensor, 0, 0},
    {"qcint8", 8, Parameters::PerChannel},
    {"qcint32", 32, Parameters::PerChannel},
    {"qcint4", 4, Parameters::PerChannel},
    {"qdint8", 8, Parameters::PerToken},
    {"qbint4", 4, Parameters::PerGroup},
    {"qpint8", 8},
    {"int32", 32},
    {"pfp32", 32},
    {"bf16", 16},
};

bool has_buffers(const PayloadView& payload) { return size_of(payload.tables->constants()) == 0; }

}  // namespace

const DatatypeFacts* find_datatype(std::int16_t number) {
  const bool known = number > 0 && number < static_cast<std::int16_t>(std::size(datatypes));
  return known ? &datatypes[number] : nullptr;
}

std::optional<std::uint64_t> stored_bytes(const xnn::Tensor& t) {
  constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max(), bits_of_byte = 8;
  const std::uint64_t bits = find_datatype(t.datatype())->bits;
  const auto dims = items(t.dims());
  const std::uint64_t last = dims.empty() ? 1 : dims.back();
  std::uint64_t bytes = (std::max<std::uint64_t>(last, 1) * bits + bits_of_byte - 1) / bits_of_byte;
  for (const std::uint32_t n : dims.first(dims.empty() ? 0 : dims.size() - 1)) {
    if (bytes > most / std::max<std::uint32_t>(n, 1)) return {};
    bytes *= std::max<std::uint32_t>(n, 1);
  }
  return std::ranges::find(dims, 0u) == dims.end() ? bytes : 0;
}

std::uint32_t constant_count(const PayloadView& payload) {
  return has_buffers(payload) ? size_of(payload.tables->buffers()) : size_of(payload.tables->constants());
}

std::string_view constant_name(const PayloadView& payload, std::uint32_t index) {
  if (has_buffers(payload) || index >= constant_count(payload)) return {};
  return text_of(payload.tables->constants()->Get(index)->name());
}

std::optional<std::span<const std::byte>> constant_bytes(const PayloadView& payload, std::uint32_t index,
                                                         const NamedData* named) {
  if (index >= constant_count(payload)) return {};
  if (has_buffers(payload)) return std::as_bytes(items(payload.tables->buffers()->Get(index)->storage()));
  const xnn::Constant& constant = *payload.tables->constants()->Get(index);
  if (const std::string_view name = text_of(constant.name()); !name.empty()) {
    const auto found = named ? named->find(name) : std::nullopt;
    return found ? std::optional(found->bytes) : std::nullopt;
  }
  if (!within(constant.offset(), constant.size(), payload.segments.size())) return {};
  return payload.segments.subspan(static_cast<std::size_t>(constant.offset()),
                                  static_cast<std::size_t>(constant.size()));
}

std::optional<Scales> scales_of(const xnn::Value& value) {
  const auto* quantized = value.content_as_QuantizedTensor();
  if (!quantized) return {};
  if (const auto* p = quantized->parameters_as_PerChannel())
    return Scales{p->scale_count(), p->scales(), items(p->scale()), false, p->channel_dim()};
  if (const auto* p = quantized->parameters_as_PerGroup())
    return Scales{p->scale_count(), p->scales(), items(p->scale()), true, p->channel_dim()};
  return {};
}

Values::Values(const PayloadView& payload, Workspace& workspace)
    : values_(*payload.tables->values()), order_(workspace.take<std::uint32_t>(values_.size())) {
  std::iota(order_.begin(), order_.end(), 0);
  sort_by(order_, [this](std::uint32_t i) { return tensor(i).id(); });
}

std::uint32_t Values::find(std::uint32_t id) const {
  const auto* found = find_by(sorted(), id, [this](std::uint32_t i) { return tensor(i).id(); });
  return found ? *found : no_id;
}

}  // namespace assay::format::xnnpack
