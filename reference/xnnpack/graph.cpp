#include "reference/xnnpack/graph.h"

#include <algorithm>
#include <bit>

#include "format/header.h"
#include "format/xnnpack/check.h"
#include "reference/program/decoded.h"
#include "reference/program/taken.h"

namespace assay::xnnpack {
namespace {

using format::xnnpack::PayloadView;

AnyFile opened(File file) { return taken(open_as(std::move(file), format::xnnpack_kind)); }

// The payload with its graph folded, or nothing if there is nothing to fold.
std::optional<Bytes> folded(std::span<const std::byte> payload, const PayloadView& view) {
  XnnpackPayload decoded = taken(decode_xnnpack(payload));
  return fold(decoded.graph, view) ? std::optional(encode(decoded)) : std::nullopt;
}

// Throws the first fault of a payload. Without a plan it is not known whether the dims are sizes or upper bounds, which
// X39 does not compare.
struct Checked {
  bool are_bounds;
  std::optional<Fault> first = {};

  static bool tell(void* checked, const format::Finding& finding) {
    auto& self = *static_cast<Checked*>(checked);
    if (self.are_bounds && finding.rule.id == "X39") return false;
    if (!self.first)
      self.first.emplace(finding.outcome, std::string(finding.rule.id), std::string(finding.message),
                         text_of(finding.place));
    return true;
  }
};
void require_rules(const AnyFile& file, const format::Related& related) {
  Checked checked{!related.plan};
  with_workspace([&](format::Workspace& w) {
    format::Findings findings(Checked::tell, &checked);
    format::xnnpack_kind.check(file.view(), related, w, findings);
  });
  if (checked.first) throw *checked.first;
}

float scale_at(std::span<const std::byte> bytes, std::size_t i, bool bfloat16) {
  if (!bfloat16) return format::load<float>(bytes, i * sizeof(float));
  return std::bit_cast<float>(std::uint32_t{format::load<std::uint16_t>(bytes, i * sizeof(std::uint16_t))} << 16);
}

}  // namespace

Graph::Graph(std::span<const std::byte> payload, const format::Related& related, FindNamed find_named, Form form)
    : find_named_(std::move(find_named)) {
  file_.emplace(opened(borrowed(payload)));
  require_rules(*file_, related);
  if (form == Form::folded)
    if (auto bytes = folded(payload, PayloadView(file_->view())))
      file_.emplace(opened(in_memory(std::move(*bytes)))), is_changed_ = true;
  view_ = PayloadView(file_->view());
  memory_.emplace(with_workspace([&](format::Workspace& w) { values_.emplace(view_, w); }));
  for (std::uint32_t i = 0; i < values_->size(); ++i) ids_.push_back(values_->tensor(i).id());
}

std::span<const std::byte> Graph::constant(std::uint32_t index, std::uint64_t size) const {
  const std::string_view name = format::xnnpack::constant_name(view_, index);
  const auto bytes = name.empty() ? format::xnnpack::constant_bytes(view_, index, nullptr) : find_named_(name);
  if (!bytes || bytes->size() < size)
    throw broken("X15", {nullptr, "constant", index}, "is named data ", format::Quoted{name}, " of ", size,
                 " bytes, which no file has");
  return bytes->first(static_cast<std::size_t>(size));
}

std::span<const std::byte> Graph::elements(Id id) const {
  return constant(tensor(id).constant(), *format::xnnpack::stored_bytes(tensor(id)));
}

std::vector<float> Graph::scales(Id id) const {
  std::vector<float> scales = stated_scales(id);
  if (!std::ranges::all_of(scales, format::xnnpack::is_scale))
    throw broken("X42", {nullptr, "value", id}, "a scale is not a normal number above 0");
  return scales;
}

std::vector<float> Graph::stated_scales(Id id) const {
  const auto several = format::xnnpack::scales_of(value(id));
  if (!several) return {value(id).content_as_QuantizedTensor()->parameters_as_PerTensor()->scale()};
  if (!several->list.empty()) return {several->list.begin(), several->list.end()};
  const auto bytes = constant(several->constant, std::uint64_t{several->count} * several->bytes());
  std::vector<float> scales;
  for (std::size_t i = 0; i < several->count; ++i) scales.push_back(scale_at(bytes, i, several->bfloat16));
  return scales;
}

std::int32_t Graph::zero_point(Id id) const {
  const auto* quantized = value(id).content_as_QuantizedTensor();
  const auto* whole = quantized ? quantized->parameters_as_PerTensor() : nullptr;
  return whole ? whole->zero_point() : 0;
}

}  // namespace assay::xnnpack
