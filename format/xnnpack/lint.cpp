#include <algorithm>

#include "dtype.gen.h"
#include "format/check_method.h"
#include "format/header.h"
#include "format/xnnpack/check.h"

// Lints: what a payload certainly does not mean.
namespace assay::format::xnnpack {
namespace {

using xnn::Operation;

// Whether a filter looks like the integers of a quantized filter whose scales were dropped: at least `least` numbers,
// all of them integers of 8 bits, with at least `different` values. A filter that people write by hand, such as one
// that selects or averages, has fewer values.
bool is_of_integers(std::span<const std::byte> bytes, std::uint64_t count) {
  constexpr std::uint64_t least = 64;
  constexpr int different = 8, lowest = -128, highest = 127;
  std::array<bool, highest - lowest + 1> seen{};
  if (count < least) return false;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto x = load<float>(bytes, static_cast<std::size_t>(i) * sizeof(float));
    if (!(x >= lowest && x <= highest) || x != static_cast<float>(static_cast<int>(x))) return false;
    seen[static_cast<std::size_t>(static_cast<int>(x) - lowest)] = true;
  }
  return std::ranges::count(seen, true) >= different;
}

bool keeps_parameters(Operation kind) {
  switch (kind) {
    case Operation::StaticTranspose:
    case Operation::StaticReshape:
    case Operation::StaticSlice:
    case Operation::StaticConstantPad:
    case Operation::Copy:
    case Operation::MaxPooling2d:
    case Operation::Concatenate2:
    case Operation::Concatenate3:
    case Operation::Concatenate4:
    case Operation::Concatenate5:
      return true;
    default:
      return false;
  }
}

const xnn::PerTensor* parameters_of(const xnn::Value& value) {
  const auto* quantized = value.content_as_QuantizedTensor();
  return quantized ? quantized->parameters_as_PerTensor() : nullptr;
}

class Lints {
 public:
  Lints(const PayloadView& payload, const Related& related, Workspace& workspace, Findings& lints)
      : payload_(payload), related_(related), lints_(lints), values_(payload, workspace) {}

  void run() {
    for (std::uint32_t i = 0; i < payload_.tables->nodes()->size(); ++i) {
      const xnn::Node& node = *payload_.tables->nodes()->Get(i);
      const Place index{nullptr, "node", i};
      lint_node(node, index.in(kind_name(node)));
    }
    if (related_.plan) arguments();
  }

 private:
  void lint_node(const xnn::Node& node, const Place& place) {
    const auto [inputs, outputs] = operands_of(node);
    if (keeps_parameters(node.operation_type()))
      for (const Operand& o : inputs) equal_parameters(o, outputs[0], place);
    for (const Operand& o : inputs)
      if (o.name == "filter") filter(values_.tensor(values_.find(o.id)), place);
  }

  void equal_parameters(const Operand& input, const Operand& output, const Place& place) {
    const auto* a = parameters_of(values_.value(values_.find(input.id)));
    const auto* b = parameters_of(values_.value(values_.find(output.id)));
    if (a && b)
      lints_.check(a->scale() == b->scale() && a->zero_point() == b->zero_point(), "X44", place, "its ", input.name,
                   " and its output have other scales or zero points, but it copies the quantized elements");
  }

  void filter(const xnn::Tensor& t, const Place& place) {
    if (datatype_of(t) != Datatype::fp32 || t.constant() == 0) return;
    const auto bytes = constant_bytes(payload_, t.constant(), related_.named);
    const std::uint64_t count = *stored_bytes(t) / sizeof(float);
    if (!bytes || count > limit_) return;
    limit_ -= count;
    lints_.check(!is_of_integers(*bytes, count), "X43", place,
                 "its filter is of fp32, but has only integers: the scales of a quantized filter were dropped");
  }

  void arguments() {
    each_call(*related_.plan, related_.delegate, [&](std::span<const std::int32_t> arguments, const Place& place) {
      for (std::uint32_t i = 0; i < values_.size(); ++i) {
        const xnn::Tensor& t = values_.tensor(i);
        if (!is_external(t) || datatype_of(t) != Datatype::qint8) continue;
        const auto* argument = tensor_of(*related_.plan, arguments[t.external()]);
        lints_.check(argument->scalar_type() != static_cast<int>(DType::uint8), "X45",
                     place.in("argument", t.external()), "is of uint8, but the payload declares value ", t.id(),
                     " as qint8");
      }
    });
  }

  const PayloadView& payload_;
  const Related& related_;
  Findings& lints_;
  Values values_;
  std::uint64_t limit_ = std::uint64_t{1} << 28;  // the number of elements of filters that may still be read
};

}  // namespace

void lint(const PayloadView& payload, const Related& related, Workspace& workspace, Findings& lints) {
  const Workspace::Scope scope(workspace);
  Lints all(payload, related, workspace, lints);
  if (has_room(workspace, lints)) all.run();
}

}  // namespace assay::format::xnnpack
