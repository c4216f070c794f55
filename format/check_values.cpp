#include <limits>

#include "format/check_method.h"
#include "format/header.h"
#include "format/layout.h"

// Values and tensors: the rules of areas V and T.
namespace assay::format {
namespace {

using pte::KernelTypes;

class TensorCheck {
 public:
  TensorCheck(const MethodCheck& method, const pte::Tensor& t, const Place& place)
      : m_(method), f_(method.findings), t_(t), layout_(layout_of(t)), place_(place) {}

  void run() {
    f_.check(t_.storage_offset() == 0, "T1", place_, "its storage offset is ", t_.storage_offset(), ", but must be 0");
    f_.check(t_.layout() == 0, "T23", place_, "its layout is ", t_.layout(), ", but must be 0, strided");
    const auto* extra = t_.extra_tensor_info();
    f_.check(!extra || extra->device_type() == pte::DeviceType::CPU, "T9", place_,
             "is on a device that is not the CPU");
    const auto bytes = check_layout(layout_, {"T2", "T4", "T5", "T6", "T7"}, place_, f_);
    if (!bytes) return;
    strides();
    if (t_.allocation_info()) planned(*t_.allocation_info(), *bytes);
    if (is_external(t_))
      external(*bytes);
    else if (t_.data_buffer_idx() > 0 && t_.allocation_info())
      initial(*bytes);
    else if (t_.data_buffer_idx() > 0)
      constant(*bytes);
  }

 private:
  std::uint64_t element() const { return static_cast<std::uint64_t>(find_dtype(layout_.scalar_type)->bytes); }

  // ExecuTorch stores strides, in elements, as 32-bit integers.
  void strides() {
    if (layout_.sizes.empty()) return;
    const auto outermost =
        static_cast<std::uint64_t>(std::max<std::int32_t>(layout_.sizes[layout_.dim_order.front()], 1));
    const std::uint64_t largest = *checked_product(layout_.sizes, 1) / outermost;
    f_.check(largest <= std::numeric_limits<std::int32_t>::max(), "T8", place_, "its largest stride is ", largest,
             ", which does not fit 32 bits");
  }

  void planned(const pte::AllocationDetails& a, std::uint64_t bytes) {
    const auto sizes = items(m_.plan.non_const_buffer_sizes());
    const std::uint64_t offset = planned_offset(a);
    f_.check(offset % element() == 0, "T12", place_, "is planned at byte ", offset,
             ", which is no multiple of its element's ", element(), " bytes");
    if (!f_.check(a.memory_id() > 0 && a.memory_id() < sizes.size(), "T10", place_, "is planned into memory ",
                  a.memory_id(), ", but there are ", sizes.size(), " with memory 0, the placeholder"))
      return;
    const std::int64_t size = sizes[a.memory_id()];
    f_.check(size < 0 || within(offset, bytes, static_cast<std::uint64_t>(size)), "T11", place_, "is planned at byte ",
             offset, " with ", bytes, " bytes, but memory ", a.memory_id(), " has ", size);
  }

  void constant(std::uint64_t bytes) {
    const std::uint32_t index = t_.data_buffer_idx();
    const auto data = constant_data(m_.program, index);
    const bool own_buffer = uses_constant_buffer(*m_.program.tables);
    const RuleId rule = own_buffer ? RuleId("G10") : RuleId("G9");
    if (!f_.check(data.has_value(), rule, place_, "has constant ", index, ", which there is not")) return;
    f_.check(data->size() >= bytes, rule, place_, "has ", bytes, " bytes, but from constant ", index, " on there are ",
             data->size());
    if (own_buffer || bytes == 0) return;
    const std::uint64_t offset = m_.program.tables->constant_segment()->offsets()->Get(index);
    f_.check(offset % element() == 0, "T14", place_, "has its constant at byte ", offset,
             ", which is no multiple of its element's ", element(), " bytes");
  }

  void initial(std::uint64_t bytes) {
    const std::uint32_t index = t_.data_buffer_idx();
    const std::uint64_t part = t_.extra_tensor_info() ? t_.extra_tensor_info()->mutable_data_segments_idx() : 0;
    f_.check(part == 0, "G15", place_, "has its initial value in part ", part,
             " of mutable_data_segments, but must have it in part 0");
    const auto data = initial_data(m_.program, index);
    if (!f_.check(data.has_value(), "T18", place_, "has initial value ", index, ", which there is not")) return;
    f_.check(data->size() >= bytes, "T18", place_, "has ", bytes, " bytes, but from initial value ", index,
             " on there are ", data->size());
  }

  void external(std::uint64_t bytes) {
    const std::string_view name = name_of(t_);
    if (!f_.check(!name.empty(), "T19", place_, "has its data outside of the program, but no name to ask for them"))
      return;
    const auto found = m_.named.find(name);
    if (!found) return;
    f_.check(!found->layout || same(layout_, layout_of(*found->layout)), "T20", place_, "differs from ", Quoted{name},
             " of the data file in dtype, sizes or dim order");
    f_.check(found->bytes.size() >= bytes, "T21", place_, "has ", bytes, " bytes, but ", Quoted{name}, " has ",
             found->bytes.size());
  }

  const MethodCheck& m_;
  Findings& f_;
  const pte::Tensor& t_;
  Layout layout_;
  const Place& place_;
};

// The rule of lists whose elements are indices of other values.
struct ElementRule {
  RuleId rule;
  KernelTypes type;
  bool earlier;  // an element comes before its list
  bool or_none;  // -1 for a None
  bool or_null;  // an element may be a Null that the method assigns while it runs
};
constexpr ElementRule integers{"V3", KernelTypes::Int, false, false, true};
constexpr ElementRule tensors{"V7", KernelTypes::Tensor, true, false, false};
constexpr ElementRule optional_tensors{"V8", KernelTypes::Tensor, true, true, true};

template <class List>
void check_elements(const MethodCheck& m, std::int64_t list, const List& values, const ElementRule& want,
                    const Place& place) {
  std::int64_t i = 0;
  for (const std::int64_t item : items(values.items())) {
    const Place element = place.in("element", i++);
    if ((want.or_none && item == -1) || !m.check_index(item, want.rule, element)) continue;
    const KernelTypes type = m.value(item).val_type();
    const bool known = type == want.type || (want.or_null && type == KernelTypes::Null);
    m.findings.check(known, want.rule, element, "names value ", item, ", a ", EnumNameKernelTypes(type),
                     ", but must name a ", EnumNameKernelTypes(want.type));
    m.findings.check(!want.earlier || item < list, want.rule, element, "names value ", item,
                     ", which does not come before the list");
  }
}

}  // namespace

void check_values(const MethodCheck& m, const Place& place) {
  for (std::uint32_t i = 0; i < size_of(m.plan.values()); ++i) {
    const Place here = place.in("value", i);
    const pte::EValue& value = m.value(i);
    if (const auto* t = value.val_as_Tensor()) TensorCheck(m, *t, here).run();
    if (const auto* list = value.val_as_IntList()) check_elements(m, i, *list, integers, here);
    if (const auto* list = value.val_as_TensorList()) check_elements(m, i, *list, tensors, here);
    if (const auto* list = value.val_as_OptionalTensorList()) check_elements(m, i, *list, optional_tensors, here);
  }
}

}  // namespace assay::format
