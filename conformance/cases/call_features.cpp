#include "conformance/cases/call_features.h"

#include <algorithm>
#include <optional>
#include <set>

#include "conformance/cases/tensors.h"

namespace assay::cases {
namespace {

using verdict::CallFeatures, verdict::call_features, verdict::no_value;
using Number = std::int8_t;

// A call, and what its features are read from.
class FeatureReader {
 public:
  FeatureReader(const Operator& op, std::span<const Value> arguments) : op_(op), arguments_(arguments) {
    for (std::size_t i = 0; i < arguments.size(); ++i)
      if (!op.arguments[i].out) each_tensor(arguments[i], [&](const Tensor& t) { tensors_.push_back(&t); });
  }

  CallFeatures features() const {
    return {dtype(),
            alike([](const Tensor& a, const Tensor& b) { return a.dtype == b.dtype; }),
            first([](const Tensor& t) { return static_cast<Number>(std::min(t.rank(), 5)); }),
            first([](const Tensor& t) {
              return static_cast<Number>(is_contiguous(t) ? 0 : is_channels_last(t) ? 1 : 2);
            }),
            alike([](const Tensor& a, const Tensor& b) { return layout_name(a) == layout_name(b); }),
            alike([](const Tensor& a, const Tensor& b) { return a.sizes == b.sizes; }),
            first([](const Tensor& t) { return t.rank() > 0 ? amount(t.sizes[0], 16) : no_value; }),
            first([](const Tensor& t) { return t.rank() > 1 ? amount(t.sizes[t.rank() - 1], 16) : no_value; }),
            first([](const Tensor& t) { return amount(t.count(), 64); }),
            optional_tensors(),
            groups(),
            list({"stride"}, 1),
            list({"padding", "pad"}, 0),
            list({"dilation"}, 1),
            list({"output_padding"}, 0),
            taps(),
            flag("transposed"),
            flag("keepdim"),
            dim(),
            other_flag(0),
            other_flag(1),
            number(),
            entries(),
            list({"output_size", "size", "normalized_shape"}, 1)};
  }

 private:
  const Value* find(std::string_view name) const {
    for (std::size_t i = 0; i < arguments_.size(); ++i)
      if (op_.arguments[i].name == name) return &arguments_[i];
    return nullptr;
  }

  static Number amount(Int n, Int vector) { return static_cast<Number>(n == 0 ? 0 : n == 1 ? 1 : n <= vector ? 2 : 3); }

  Number dtype() const { return tensors_.empty() ? no_value : static_cast<Number>(tensors_[0]->dtype); }

  template <class F>
  Number first(F f) const {
    return tensors_.empty() ? no_value : f(*tensors_[0]);
  }

  template <class Same>
  Number alike(Same same) const {
    if (tensors_.size() < 2) return no_value;
    return std::ranges::any_of(tensors_, [&](const Tensor* t) { return !same(*tensors_[0], *t); });
  }

  Number optional_tensors() const {
    std::size_t given = 0, all = 0;
    for (std::size_t i = 0; i < arguments_.size(); ++i) {
      if (op_.arguments[i].type != "Tensor?") continue;
      ++all, given += std::holds_alternative<Tensor>(arguments_[i]);
    }
    return static_cast<Number>(all == 0 ? no_value : given == 0 ? 0 : given < all ? 1 : 2);
  }

  Number groups() const {
    const Value* value = find("groups");
    const Int* n = value ? std::get_if<Int>(value) : find("group") ? std::get_if<Int>(find("group")) : nullptr;
    if (!n || tensors_.empty() || tensors_[0]->rank() < 2) return no_value;
    return static_cast<Number>(*n == 1 ? 0 : *n == tensors_[0]->sizes[1] ? 2 : 1);
  }

  // All entries usual, all equal to another number, or different.
  static Number spread(std::span<const Int> entries, Int usual) {
    if (entries.empty()) return no_value;
    if (std::ranges::adjacent_find(entries, std::ranges::not_equal_to()) != entries.end()) return 2;
    return entries[0] != usual;
  }

  Number list(std::initializer_list<std::string_view> names, Int usual) const {
    for (const std::string_view name : names)
      if (const Value* value = find(name))
        if (const Ints* entries = std::get_if<Ints>(value)) return spread(*entries, usual);
    return no_value;
  }

  Number taps() const {
    if (const Number given = list({"kernel_size"}, 1); given != no_value) return given;
    const Value* weight = find("weight");
    const Tensor* t = weight && find("stride") ? std::get_if<Tensor>(weight) : nullptr;
    if (!t || t->rank() < 3) return no_value;
    const std::vector<Int> sizes(t->sizes.begin() + 2, t->sizes.end());
    return spread(sizes, 1);
  }

  static Number truth(const Value& value) {
    const bool* b = std::get_if<bool>(&value);
    return b ? static_cast<Number>(*b) : no_value;
  }

  Number flag(std::string_view name) const {
    const Value* value = find(name);
    return value ? truth(*value) : no_value;
  }

  Number other_flag(int nth) const {
    for (std::size_t i = 0; i < arguments_.size(); ++i) {
      const SchemaArgument& a = op_.arguments[i];
      if (a.type != "bool" || a.name == "transposed" || a.name == "keepdim" || nth-- > 0) continue;
      return truth(arguments_[i]);
    }
    return no_value;
  }

  Number dim() const {
    const Value* value = find("dim");
    if (!value) value = find("dims");
    if (!value) return no_value;
    if (std::holds_alternative<std::monostate>(*value)) return 0;
    const Ints* several = std::get_if<Ints>(value);
    if (several && several->empty()) return 0;
    if (several && several->size() > 1) return 5;
    const Int* one = several ? several->data() : std::get_if<Int>(value);
    if (!one || tensors_.empty()) return no_value;
    const Int last = tensors_[0]->rank() - 1;
    return static_cast<Number>(*one < 0 ? 4 : *one == last ? 3 : *one == 0 ? 1 : 2);
  }

  Number number() const {
    for (std::size_t i = 0; i < arguments_.size(); ++i) {
      if (!op_.arguments[i].type.starts_with("Scalar") || op_.arguments[i].type.starts_with("ScalarType")) continue;
      if (const Int* n = std::get_if<Int>(&arguments_[i])) return static_cast<Number>(*n == 1 ? 0 : *n == 0 ? 1 : 2);
      if (const double* x = std::get_if<double>(&arguments_[i]))
        return static_cast<Number>(*x == 1 ? 0 : *x == 0 ? 1 : 3);
      return std::holds_alternative<bool>(arguments_[i]) ? 4 : 5;
    }
    return no_value;
  }

  Number entries() const {
    for (const Value& value : arguments_)
      if (const Tensors* list = std::get_if<Tensors>(&value)) return amount(static_cast<Int>(list->size()), 2);
    return no_value;
  }

  const Operator& op_;
  std::span<const Value> arguments_;
  std::vector<const Tensor*> tensors_;
};

}  // namespace

CallFeatures call_features_of(const Operator& op, std::span<const Value> arguments) {
  return FeatureReader(op, arguments).features();
}

bool change_together(std::size_t feature, std::size_t other) {
  const auto group = [](std::size_t k) {
    const std::string_view name = call_features()[k].name;
    if (name.starts_with("dtype")) return std::size_t{0};
    const bool is_of_sizes = name == "rank" || name.starts_with("layout") || name == "sizes of tensors" ||
                             name == "first size" || name == "last size" || name == "elements";
    return is_of_sizes ? 1 : 2 + k;
  };
  return group(feature) == group(other);
}

std::vector<CallFeatures> features_of_tensors() {
  const Operator& op = *find_operator("aten::relu.out");
  constexpr std::array<Int, 6> kinds_of_sizes{0, 1, 2, 16, 17, 65};
  std::set<CallFeatures> found;
  const auto add = [&](const Dims& sizes, const Dims& order) {
    found.insert(call_features_of(op, std::vector<Value>{Tensor{DType::float32, sizes, order, {}}, std::monostate()}));
  };
  for (int rank = 0; rank <= 5; ++rank) {
    const Dims order = Dims::counting(rank);
    Dims last = order, reversed = order, kinds = order;
    if (rank > 1) std::rotate(last.begin() + 1, last.begin() + 2, last.end());
    std::ranges::reverse(reversed);
    std::ranges::fill(kinds, std::ssize(kinds_of_sizes));
    for (Dims sizes : indices(kinds)) {
      for (Int& n : sizes) n = kinds_of_sizes[static_cast<std::size_t>(n)];
      add(sizes, order), add(sizes, last), add(sizes, reversed);
    }
  }
  return {found.begin(), found.end()};
}

bool branches_on_triples(const Operator& op) {
  return std::ranges::any_of(std::array{"conv", "pool", "norm", "index", "gather", "scatter", "::cat"},
                             [&](std::string_view word) { return op.name.find(word) != std::string_view::npos; });
}

}  // namespace assay::cases
