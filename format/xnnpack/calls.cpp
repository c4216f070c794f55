#include <algorithm>

#include "dtype.gen.h"
#include "format/xnnpack/check.h"

// The calls of a delegate in its program. External value k is argument k of each call.
namespace assay::format::xnnpack {
namespace {

// Whether an argument of this dtype fits an external value. `positions` tells whether the value has the positions that
// an ArgMaxPooling2d computes: 32-bit integers, which the delegate may widen to 64 bits.
bool fits(DType dtype, const xnn::Tensor& value, bool positions) {
  if (positions) return dtype == DType::int32 || dtype == DType::int64;
  switch (datatype_of(value)) {
    case Datatype::fp32:
      return dtype == DType::float32;
    case Datatype::fp16:
      return dtype == DType::float16;
    case Datatype::bf16:
      return dtype == DType::bfloat16;
    case Datatype::qint8:  // exporters also declare unsigned bytes so, see X45
      return dtype == DType::int8 || dtype == DType::uint8;
    case Datatype::quint8:
      return dtype == DType::uint8;
    case Datatype::qint32:
    case Datatype::int32:
      return dtype == DType::int32;
    default:
      return false;
  }
}

// The argument's bytes are the elements of a tensor with the value's dims. A tensor of rank 0 counts as one of dims
// [1].
bool has_dims(const pte::Tensor& argument, const xnn::Tensor& value) {
  const auto dims = items(value.dims());
  const auto sizes = items(argument.sizes());
  if (sizes.empty()) return dims.size() == 1 && dims[0] == 1;
  if (sizes.size() != dims.size() || argument.shape_dynamism() != pte::TensorShapeDynamism::STATIC)
    return sizes.size() == dims.size();
  auto dim = dims.begin();
  const auto next = [&] { return dim = std::find_if(dim, dims.end(), [](std::uint32_t n) { return n != 1; }); };
  for (const std::uint8_t d : items(argument.dim_order())) {
    const auto size = static_cast<std::uint32_t>(sizes[d]);
    if (size != 1 && (next() == dims.end() || *dim++ != size)) return false;
  }
  return next() == dims.end();
}

void check_argument(const pte::Tensor* argument, const xnn::Tensor& value, bool positions, const Place& place,
                    Findings& f) {
  if (!f.check(argument != nullptr, "X27", place, "is no tensor")) return;
  const DTypeFacts& dtype = *find_dtype(argument->scalar_type());
  f.check(fits(dtype.dtype, value, positions), "X27", place, "is a tensor of ", dtype.name, ", but the value ",
          value.id(), " of the payload is of ", find_datatype(value.datatype())->name);
  f.check(has_dims(*argument, value), "X27", place, "has other sizes than the value ", value.id(), " of the payload");
}

}  // namespace

void check_calls(const Values& values, const Related& related, std::uint32_t externals,
                 std::span<const std::uint32_t> written, Findings& f) {
  each_call(*related.plan, related.delegate, [&](std::span<const std::int32_t> arguments, const Place& place) {
    if (!f.check(arguments.size() == externals, "X26", place, "calls the delegate with ", arguments.size(),
                 " arguments, but the payload has ", externals, " external values"))
      return;
    for (std::uint32_t i = 0; i < values.size(); ++i)
      if (const xnn::Tensor& value = values.tensor(i); is_external(value))
        check_argument(tensor_of(*related.plan, arguments[value.external()]), value, written[i] == as_positions,
                       place.in("argument", value.external()), f);
  });
}

bool has_fixed_sizes(const Related& related) {
  bool fixed = true;
  if (related.plan)
    each_call(*related.plan, related.delegate, [&](std::span<const std::int32_t> arguments, const Place&) {
      for (const std::int32_t argument : arguments)
        if (const pte::Tensor* t = tensor_of(*related.plan, argument))
          fixed = fixed && t->shape_dynamism() == pte::TensorShapeDynamism::STATIC;
    });
  return fixed;
}

}  // namespace assay::format::xnnpack
