#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <ostream>
#include <string>
#include <vector>

#include "conformance/adapters/reference_library.h"
#include "conformance/verdict/verdict.h"
#include "tests/support/planted.h"

// Mistakes of kernel authors. Each is planted in the reference's kernel of one operator, which then goes wrong in some
// of its valid calls.
namespace assay::planted {

// The arguments of a call, by the names of the schema.
class Arguments {
 public:
  Arguments(const Operator& op, std::span<testee::HostValue> values) : op_(op), values_(values) {}

  template <class T>
  const T* find(std::string_view name) const {
    for (std::size_t i = 0; i < values_.size(); ++i)
      if (op_.arguments[i].name == name) return std::get_if<T>(&values_[i]);
    return nullptr;
  }
  Int number(std::string_view name) const {
    if (const bool* b = find<bool>(name)) return *b;
    const Int* n = find<Int>(name);
    return n ? *n : 0;
  }
  Dims sizes(std::string_view name) const {
    const testee::TensorView* t = find<testee::TensorView>(name);
    return t ? t->sizes : Dims{};
  }
  Int rank(std::string_view name) const { return sizes(name).size(); }
  Int size(std::string_view name, int d) const {
    const Dims all = sizes(name);
    return d < all.size() ? all[d] : 0;
  }
  bool is_usual_layout() const { return out().dim_order == Dims::counting(out().dim_order.size()); }
  bool differs_per_dimension(std::string_view name) const {
    const Ints* list = find<Ints>(name);
    return list && std::ranges::adjacent_find(*list, std::ranges::not_equal_to()) != list->end();
  }
  testee::TensorView& out() const {
    for (std::size_t i = 0; i < values_.size(); ++i)
      if (op_.arguments[i].out) return std::get<testee::TensorView>(values_[i]);
    std::abort();
  }
  testee::TensorView& input() const { return std::get<testee::TensorView>(values_[0]); }

 private:
  const Operator& op_;
  std::span<testee::HostValue> values_;
};

struct Fault {
  std::string name, op;
  verdict::Class found_as;
  // Does the damage after the right answer, if the call is one that goes wrong. `before` is a copy of what the out held
  // before the call, and `given` has the sizes with which the out came.
  void (*apply)(const Arguments&, const std::vector<std::byte>& before, const Dims& given);

  friend std::ostream& operator<<(std::ostream& out, const Fault& f) { return out << f.op << ", " << f.name; }
};

inline Int elements(const Arguments& a) { return count(a.out().sizes); }

inline void spoil(const Arguments& a, Int element) {
  testee::TensorView& out = a.out();
  const Int size = info(out.dtype).bytes;
  out.data[(element + 1) * size - 1] ^= out.dtype == DType::boolean ? std::byte{1} : std::byte{0x40};
}

inline void spoil_if(const Arguments& a, bool goes_wrong, Int element = 0) {
  if (goes_wrong && element < elements(a)) spoil(a, element);
}

// The first element after the last whole block of n elements is wrong.
template <Int n>
void breaks_tail(const Arguments& a, const std::vector<std::byte>&, const Dims&) {
  spoil_if(a, elements(a) > n && elements(a) % n != 0, elements(a) / n * n);
}

// The last element of the first whole block of n elements is wrong.
template <Int n>
void breaks_block(const Arguments& a, const std::vector<std::byte>&, const Dims&) {
  spoil_if(a, elements(a) >= n, n - 1);
}

// The first element behind the first n elements is wrong, as at the edge of a thread's share.
template <Int n>
void breaks_edge(const Arguments& a, const std::vector<std::byte>&, const Dims&) {
  spoil_if(a, elements(a) > n, n);
}

template <Int n>
void leaves_element(const Arguments& a, const std::vector<std::byte>& before, const Dims&) {
  if (elements(a) <= n) return;
  const Int size = info(a.out().dtype).bytes;
  std::copy_n(before.begin() + n * size, size, a.out().data + n * size);
}

// Adds the bias a second time to each channel.
inline void adds_bias_twice(const Arguments& a, const std::vector<std::byte>&, const Dims&) {
  const testee::TensorView* bias = a.find<testee::TensorView>("bias");
  if (!bias || bias->dtype != DType::float32 || a.size("input", 0) < 2) return;
  const auto* add = reinterpret_cast<const float*>(bias->data);
  auto* out = reinterpret_cast<float*>(a.out().data);
  const Int channels = count(bias->sizes), places = elements(a) / std::max<Int>(1, channels * a.out().sizes[0]);
  for (Int k = 0; k < elements(a); ++k) out[k] += add[k / places % channels];
}

template <auto goes_wrong>
void wrong_if(const Arguments& a, const std::vector<std::byte>&, const Dims&) {
  spoil_if(a, goes_wrong(a));
}

inline void keeps_given_sizes(const Arguments& a, const std::vector<std::byte>&, const Dims& given) {
  a.out().sizes = given;
}

inline void changes_and_restores(const Arguments& a, const std::vector<std::byte>&, const Dims&) {
  volatile std::byte* at = a.input().data;
  if (a.input().bytes() == 0) return;
  const std::byte old = *at;
  *at = old ^ std::byte{1};
  *at = old;
}

inline void leaks(const Arguments&, const std::vector<std::byte>&, const Dims&) {
  static_cast<volatile char*>(std::malloc(4096))[0] = 1;
}

inline void leaks_pages(const Arguments&, const std::vector<std::byte>&, const Dims&) {
  static_cast<volatile char*>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))[0] = 1;
}

inline void reads_behind(const Arguments& a, const std::vector<std::byte>&, const Dims&) {
  static_cast<void>(static_cast<const volatile std::byte*>(a.input().data)[a.input().bytes()]);
}

inline void reads_before(const Arguments& a, const std::vector<std::byte>&, const Dims&) {
  static_cast<void>(static_cast<const volatile std::byte*>(a.input().data)[-1]);
}

inline std::vector<Fault> faults() {
  using A = Arguments;
  constexpr auto padding = [](const A& a) { return a.differs_per_dimension("padding"); };
  constexpr auto stride = [](const A& a) { return a.differs_per_dimension("stride"); };
  constexpr auto dilation = [](const A& a) { return a.differs_per_dimension("dilation"); };
  constexpr auto grouped = [](const A& a) { return a.number("groups") > 1 && a.size("input", 1) > a.number("groups"); };
  constexpr auto transposed_groups = [](const A& a) { return a.number("groups") > 1 && a.number("transposed") != 0; };
  constexpr auto transposed_padding = [](const A& a) {
    return a.number("transposed") != 0 && a.differs_per_dimension("padding");
  };
  constexpr auto taps = [](const A& a) { return a.rank("weight") == 4 && a.size("weight", 2) != a.size("weight", 3); };
  constexpr auto channels = [](const A& a) { return a.size("input", 1) > 16; };
  constexpr auto kernel = [](const A& a) { return a.differs_per_dimension("kernel_size"); };
  constexpr auto ceil_stride = [](const A& a) {
    return a.number("ceil_mode") != 0 && a.differs_per_dimension("stride");
  };
  constexpr auto negative_keepdim = [](const A& a) {
    const Ints* dims = a.find<Ints>("dim");
    return dims && !dims->empty() && dims->front() < 0 && a.number("keepdim") != 0;
  };
  constexpr auto long_rows = [](const A& a) {
    const Int r = a.rank("input");
    return r > 0 && a.size("input", static_cast<int>(r) - 1) > 256;
  };
  constexpr auto inner_dim = [](const A& a) {
    const Int dim = a.number("dim"), r = a.rank("self");
    return r > 1 && dim >= 0 && dim < r - 1 && a.size("self", static_cast<int>(r) - 1) > 8;
  };
  constexpr auto negative_dim = [](const A& a) { return a.rank("self") > 1 && a.number("dim") == -2; };
  constexpr auto deep = [](const A& a) { return a.size("self", 1) > 255; };
  constexpr auto wide = [](const A& a) { return a.size("mat2", 1) % 16 > 8; };
  constexpr auto tall = [](const A& a) { return a.size("self", 0) > 64; };
  constexpr auto many = [](const A& a) { return a.size("self", 0) > 4 && a.size("self", 1) > 4; };
  constexpr auto far_index = [](const A& a) { return a.size("index", 0) > 128; };
  constexpr auto broadcast = [](const A& a) {
    return a.rank("other") > 1 && a.size("other", 0) == 1 && a.size("self", 0) > 1;
  };
  constexpr auto last_of_three = [](const A& a) {
    const testee::TensorViews* list = a.find<testee::TensorViews>("tensors");
    return list && list->size() > 2 && a.number("dim") < 0;
  };
  constexpr auto groups_of_channels = [](const A& a) {
    return a.number("group") > 1 && a.number("C") > 2 * a.number("group");
  };
  return {
      {"element 1,000 unwritten", "aten::mul.out", verdict::Class::unwritten, leaves_element<1000>},
      {"bias twice in batches", "aten::convolution.out", verdict::Class::value, adds_bias_twice},
      {"one padding for both", "aten::convolution.out", verdict::Class::value, wrong_if<padding>},
      {"no resize", "aten::relu.out", verdict::Class::shape, keeps_given_sizes},
      {"input changed and restored", "aten::relu.out", verdict::Class::changes_input, changes_and_restores},
      {"4 KiB leaked", "aten::relu.out", verdict::Class::leaks, leaks},
      {"one element read behind the input", "aten::relu.out", verdict::Class::reads_out_of_bounds, reads_behind},
      {"one element read before the input", "aten::relu.out", verdict::Class::reads_out_of_bounds, reads_before},
      {"a page leaked", "aten::relu.out", verdict::Class::leaks, leaks_pages},
      {"tail of 4", "aten::add.out", verdict::Class::value, breaks_tail<4>},
      {"tail of 8", "aten::exp.out", verdict::Class::value, breaks_tail<8>},
      {"tail of 16", "aten::sub.out", verdict::Class::value, breaks_tail<16>},
      {"tail of 32", "aten::where.self_out", verdict::Class::value, breaks_tail<32>},
      {"tail of 64", "aten::clone.out", verdict::Class::value, breaks_tail<64>},
      {"block of 64", "aten::abs.out", verdict::Class::value, breaks_block<64>},
      {"block of 1,024", "aten::sigmoid.out", verdict::Class::value, breaks_block<1024>},
      {"edge at 512", "aten::gelu.out", verdict::Class::value, breaks_edge<512>},
      {"edge at 4,096", "aten::div.out", verdict::Class::value, breaks_edge<4096>},
      {"edge at 32,768", "aten::mul.out", verdict::Class::value, breaks_edge<32768>},
      {"edge at 65,536", "aten::add.out", verdict::Class::value, breaks_edge<65536>},
      {"one stride for both", "aten::convolution.out", verdict::Class::value, wrong_if<stride>},
      {"one dilation for both", "aten::convolution.out", verdict::Class::value, wrong_if<dilation>},
      {"groups of several channels", "aten::convolution.out", verdict::Class::value, wrong_if<grouped>},
      {"transposed with groups", "aten::convolution.out", verdict::Class::value, wrong_if<transposed_groups>},
      {"transposed with one padding", "aten::convolution.out", verdict::Class::value, wrong_if<transposed_padding>},
      {"taps as a square", "aten::convolution.out", verdict::Class::value, wrong_if<taps>},
      {"more than 16 channels", "aten::convolution.out", verdict::Class::value, wrong_if<channels>},
      {"window as a square", "aten::avg_pool2d.out", verdict::Class::value, wrong_if<kernel>},
      {"pooling with one stride, rounded up", "aten::avg_pool2d.out", verdict::Class::value, wrong_if<ceil_stride>},
      {"pooling with one padding", "aten::max_pool2d_with_indices.out", verdict::Class::value, wrong_if<padding>},
      {"negative dim kept", "aten::sum.IntList_out", verdict::Class::value, wrong_if<negative_keepdim>},
      {"rows of more than 256", "aten::native_layer_norm.out", verdict::Class::value, wrong_if<long_rows>},
      {"groups of channels", "aten::native_group_norm.out", verdict::Class::value, wrong_if<groups_of_channels>},
      {"inner dim", "aten::_softmax.out", verdict::Class::value, wrong_if<inner_dim>},
      {"second dim from the end", "aten::cumsum.out", verdict::Class::value, wrong_if<negative_dim>},
      {"more than 255 products", "aten::mm.out", verdict::Class::value, wrong_if<deep>},
      {"tail of columns", "aten::mm.out", verdict::Class::value, wrong_if<wide>},
      {"more than 64 rows", "aten::mm.out", verdict::Class::value, wrong_if<tall>},
      {"batch of products", "aten::bmm.out", verdict::Class::value, wrong_if<many>},
      {"more than 128 indices", "aten::index_select.out", verdict::Class::value, wrong_if<far_index>},
      {"broadcast rows", "aten::minimum.out", verdict::Class::value, wrong_if<broadcast>},
      {"three tensors along a negative dim", "aten::cat.out", verdict::Class::value, wrong_if<last_of_three>},
  };
}

// The reference's answer, with the planted fault in calls whose first result is a contiguous float32.
inline testee::Reply faulty_answer(const Operator& op, std::span<testee::HostValue> values) {
  static const std::vector<Fault> all = faults();
  const auto fault =
      std::ranges::find_if(all, [&](const Fault& f) { return f.op == op.name && is_planted(op, f.name); });
  if (fault == all.end()) return adapters::ReferenceLibrary().call(op, values);
  const Arguments arguments(op, values);
  const testee::TensorView given = arguments.out();
  const std::vector<std::byte> before(given.data, given.data + given.capacity);
  const testee::Reply reply = adapters::ReferenceLibrary().call(op, values);
  const bool is_usual = arguments.out().dtype == DType::float32 && arguments.is_usual_layout();
  if (reply.outcome == Outcome::ok && is_usual) fault->apply(arguments, before, given.sizes);
  return reply;
}

}  // namespace assay::planted
