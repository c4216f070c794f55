#include "reference/dtype.h"
#include "reference/program/checks.h"

// Values and tensors: the rules of areas V and T.
namespace assay {
namespace {

constexpr LayoutRules tensor_rules{"T2", "T4", "T5", "T6", "T7"};

// The product of sizes and of an element's bytes, a size 0 counting as 1, so that strides are bounded by it too.
std::optional<std::uint64_t> checked_product(std::span<const std::int32_t> sizes, std::uint64_t element) {
  std::uint64_t product = element;
  for (const std::int32_t n : sizes) {
    const auto factor = static_cast<std::uint64_t>(std::max(n, 1));
    if (product > static_cast<std::uint64_t>(std::numeric_limits<Int>::max()) / factor) return {};
    product *= factor;
  }
  return product;
}

bool is_permutation(std::span<const std::uint8_t> dim_order) {
  std::uint32_t seen = 0;
  for (const std::uint8_t d : dim_order)
    if (d < dim_order.size()) seen |= std::uint32_t{1} << d;
  return seen == (std::uint32_t{1} << dim_order.size()) - 1;
}

std::uint64_t element_bytes(const pte::TensorT& t) {
  return static_cast<std::uint64_t>(info(*dtype_numbered(t.scalar_type)).bytes);
}

class TensorCheck {
 public:
  TensorCheck(const MethodCheck& method, const pte::TensorT& t, const Place& place)
      : m_(method), f_(method.findings), t_(t), place_(place) {}

  void run() {
    f_.check(t_.storage_offset == 0, "T1", place_, "its storage offset is ", t_.storage_offset, ", but must be 0");
    f_.check(t_.layout == 0, "T23", place_, "its layout is ", Int{t_.layout}, ", but must be 0, strided");
    const bool on_cpu = !t_.extra_tensor_info || t_.extra_tensor_info->device_type == pte::DeviceType::CPU;
    f_.check(on_cpu, "T9", place_, "is on a device that is not the CPU");
    const auto bytes = check_layout(t_, tensor_rules, place_, f_);
    if (!bytes) return;
    strides();
    if (t_.allocation_info) planned(*t_.allocation_info, *bytes);
    if (is_external(t_))
      external(*t_.extra_tensor_info, *bytes);
    else if (t_.data_buffer_idx > 0 && t_.allocation_info)
      initial(*bytes);
    else if (t_.data_buffer_idx > 0)
      constant(*bytes);
  }

 private:
  // ExecuTorch holds strides, in elements, as 32-bit integers.
  void strides() {
    if (t_.sizes.empty()) return;
    const auto outermost = static_cast<std::uint64_t>(std::max(t_.sizes[t_.dim_order.front()], 1));
    const std::uint64_t largest = *checked_product(t_.sizes, 1) / outermost;
    f_.check(largest <= std::numeric_limits<std::int32_t>::max(), "T8", place_, "its largest stride is ", largest,
             ", which does not fit 32 bits");
  }

  void planned(const pte::AllocationDetailsT& a, std::uint64_t bytes) {
    const auto& sizes = m_.plan.non_const_buffer_sizes;
    const std::uint64_t offset = planned_offset(a), element = element_bytes(t_);
    f_.check(offset % element == 0, "T12", place_, "is planned at byte ", offset,
             ", which is no multiple of its element's ", element, " bytes");
    if (!f_.check(a.memory_id > 0 && a.memory_id < sizes.size(), "T10", place_, "is planned into memory ", a.memory_id,
                  ", but there are memories 1 to ", sizes.size() - 1))
      return;
    const Int size = sizes[a.memory_id];
    f_.check(size < 0 || within(offset, bytes, static_cast<std::uint64_t>(size)), "T11", place_, "is planned at byte ",
             offset, " with ", bytes, " bytes, but memory ", a.memory_id, " has ", size);
  }

  void constant(std::uint64_t bytes) {
    const auto data = constant_data(m_.program, t_.data_buffer_idx);
    const RuleId rule = uses_constant_buffer(m_.program) ? RuleId("G10") : RuleId("G9");
    if (!f_.check(data.has_value(), rule, place_, "has constant ", t_.data_buffer_idx, ", which there is not")) return;
    f_.check(data->size() >= bytes, rule, place_, "has ", bytes, " bytes, but from constant ", t_.data_buffer_idx,
             " on there are ", data->size());
    if (uses_constant_buffer(m_.program)) return;
    const std::uint64_t offset = m_.program.tables.constant_segment->offsets[t_.data_buffer_idx],
                        element = element_bytes(t_);
    f_.check(bytes == 0 || offset % element == 0, "T14", place_, "has its constant at byte ", offset,
             ", which is no multiple of its element's ", element, " bytes");
  }

  void initial(std::uint64_t bytes) {
    const std::uint64_t part = t_.extra_tensor_info ? t_.extra_tensor_info->mutable_data_segments_idx : 0;
    f_.check(part == 0, "G15", place_, "has its initial value in part ", part,
             " of mutable_data_segments, but must have it in part 0");
    const auto data = initial_data(m_.program, t_.data_buffer_idx);
    if (!f_.check(data.has_value(), "T18", place_, "has initial value ", t_.data_buffer_idx, ", which there is not"))
      return;
    f_.check(data->size() >= bytes, "T18", place_, "has ", bytes, " bytes, but from initial value ", t_.data_buffer_idx,
             " on there are ", data->size());
  }

  void external(const pte::ExtraTensorInfoT& extra, std::uint64_t bytes) {
    const std::string_view name = extra.fully_qualified_name;
    if (!f_.check(!name.empty(), "T19", place_, "has its data outside of the program, but no name to ask for them"))
      return;
    const pte::TensorT& first = *m_.external.try_emplace(name, &t_).first->second;
    f_.check(same_layout(t_, first), "V11", place_, "has the name \"", name,
             "\" of an earlier tensor, but another dtype, other sizes or dim order");
    const auto found = m_.named.find(name);
    if (found != m_.named.end() && found->second) stored(*found->second, name, bytes);
  }

  void stored(const NamedBytes& stored, std::string_view name, std::uint64_t bytes) {
    if (stored.layout)
      f_.check(same_layout(t_, *stored.layout), "T20", place_, "differs from \"", name,
               "\" of the data file in dtype, sizes or dim order");
    f_.check(stored.size >= bytes, "T21", place_, "has ", bytes, " bytes, but \"", name, "\" has ", stored.size);
  }

  const MethodCheck& m_;
  Findings& f_;
  const pte::TensorT& t_;
  const Place& place_;
};

using pte::KernelTypes;

// The rule of lists whose elements are other values.
struct ElementRule {
  RuleId rule;
  KernelTypes type;
  bool earlier;  // an element stands before its list
  bool or_none;  // -1 for a None
  bool or_null;  // an element may be a Null that gets its value while the method runs
};
constexpr ElementRule integers{"V3", KernelTypes::Int, false, false, true};
constexpr ElementRule tensors{"V7", KernelTypes::Tensor, true, false, false};
constexpr ElementRule optional_tensors{"V8", KernelTypes::Tensor, true, true, true};

template <class Items>
void check_elements(const MethodCheck& m, Int list, const Items& items, const ElementRule& want, const Place& place) {
  for (std::size_t i = 0; i < items.size(); ++i) {
    const Int item = items[i];
    const Place element = place.in("element", static_cast<Int>(i));
    if ((want.or_none && item == -1) || !m.check_index(item, want.rule, element)) continue;
    const KernelTypes type = m.value(item).type;
    const bool known = type == want.type || (want.or_null && type == KernelTypes::Null);
    m.findings.check(known, want.rule, element, "names value ", item, ", a ", EnumNameKernelTypes(type),
                     ", but must name a ", EnumNameKernelTypes(want.type));
    m.findings.check(!want.earlier || item < list, want.rule, element, "names value ", item,
                     ", which does not come before the list");
  }
}

}  // namespace

std::optional<std::uint64_t> check_layout(Int scalar_type, std::span<const std::int32_t> sizes,
                                          std::span<const std::uint8_t> dim_order, const LayoutRules& rules,
                                          const Place& place, Findings& f) {
  const auto dtype = dtype_numbered(scalar_type);
  bool holds = f.check(dtype.has_value(), rules.dtype, place, scalar_type, " is the number of no dtype");
  if (!f.check(sizes.size() <= max_rank, rules.rank, place, "has ", sizes.size(), " dimensions, but ", max_rank,
               " is the most"))
    return {};
  holds &= f.check(dim_order.size() == sizes.size() && is_permutation(dim_order), rules.dim_order, place,
                   "its dim order of ", dim_order.size(), " does not name each of ", sizes.size(), " dimensions once");
  holds &= f.check(std::ranges::none_of(sizes, [](auto n) { return n < 0; }), rules.sizes, place, "a size is negative");
  if (!holds) return {};
  const auto element = static_cast<std::uint64_t>(info(*dtype).bytes);
  if (!f.check(checked_product(sizes, element).has_value(), rules.bytes, place,
               "its sizes are those of more bytes than there can be"))
    return {};
  return std::ranges::find(sizes, 0) == sizes.end() ? *checked_product(sizes, element) : 0;
}

void check_values(const MethodCheck& m, const Place& place) {
  for (std::size_t i = 0; i < m.plan.values.size(); ++i) {
    const auto index = static_cast<Int>(i);
    const Place here = place.in("value", index);
    const pte::KernelTypesUnion& value = m.value(index);
    if (const auto* t = value.AsTensor()) TensorCheck(m, *t, here).run();
    if (const auto* list = value.AsIntList()) check_elements(m, index, list->items, integers, here);
    if (const auto* list = value.AsTensorList()) check_elements(m, index, list->items, tensors, here);
    if (const auto* list = value.AsOptionalTensorList()) check_elements(m, index, list->items, optional_tensors, here);
  }
}

}  // namespace assay
