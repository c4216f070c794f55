#include "conformance/text/literal.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include <nlohmann/json.hpp>

#include "conformance/text/element.h"

namespace assay::text {
namespace {

// Whether nested lists show all sizes. Behind a size of 0 there are no lists to show the remaining sizes.
bool nests(const Dims& sizes) { return sizes.size() == 1 || std::ranges::find(sizes, 0) == sizes.end(); }

// Writes the first `most` elements of a tensor as nested lists.
class NestedLists {
 public:
  NestedLists(const Tensor& tensor, Int most) : dtype_(tensor.dtype), elements_(read<Element>(tensor)), left_(most) {
    write(0, 0);
  }
  const std::string& text() const { return text_; }

 private:
  // Writes the list of dimension d with index `at` among the lists of that dimension.
  void write(int d, Int at) {
    if (d == elements_.sizes.size()) {
      text_ += element_text(elements_[at], dtype_);
      --left_;
      return;
    }
    const Int length = elements_.sizes[d];
    text_ += '[';
    for (Int i = 0; i < length; ++i) {
      if (i > 0) text_ += ',';
      if (left_ == 0) {
        text_ += "…";
        break;
      }
      write(d + 1, at * length + i);
    }
    text_ += ']';
  }

  DType dtype_;
  Array<Element> elements_;
  Int left_;
  std::string text_;
};

std::string tensor_suffix(const Tensor& t) {
  const std::string dtype = fmt::format(":{}", info(t.dtype).alias);
  if (t.dim_order == Dims::counting(t.rank())) return dtype;
  return fmt::format("{}:({})", dtype, fmt::join(t.dim_order, ","));
}

template <class Items, class Text>
std::string joined(char open, const Items& items, char close, Text text) {
  std::string all(1, open);
  for (std::size_t i = 0; i < items.size(); ++i) all += (i > 0 ? "," : "") + text(items[i]);
  return all + close;
}

std::string bool_text(bool b) { return b ? "true" : "false"; }

std::string dtype_text(Int number) {
  const auto dtype = dtype_numbered(number);
  return dtype ? std::string(info(*dtype).name) : std::to_string(number);
}

struct Literal {
  bool is_dtype;  // an integer is the number of a dtype
  Int most;

  std::string operator()(std::monostate) const { return "none"; }
  std::string operator()(const Tensor& t) const { return literal(t, most); }
  std::string operator()(Int n) const { return is_dtype ? dtype_text(n) : std::to_string(n); }
  std::string operator()(double x) const { return double_text(x); }
  std::string operator()(bool b) const { return bool_text(b); }
  std::string operator()(const std::string& s) const {
    return nlohmann::json(s).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  }
  std::string operator()(const Ints& list) const {
    return joined('[', list, ']', [](Int n) { return std::to_string(n); });
  }
  std::string operator()(const Doubles& list) const { return joined('[', list, ']', double_text); }
  std::string operator()(const Bools& list) const { return joined('[', list, ']', bool_text); }
  std::string operator()(const Tensors& list) const {
    return joined('{', list, '}', [&](const std::optional<Tensor>& t) { return t ? literal(*t, most) : "none"; });
  }
};

}  // namespace

std::string literal(const Tensor& tensor, Int most) {
  const std::string suffix = tensor_suffix(tensor), sizes = fmt::format("({})", fmt::join(tensor.sizes, ","));
  if (!nests(tensor.sizes)) return "zeros" + sizes + suffix;
  return NestedLists(tensor, most).text() + (tensor.count() > most ? sizes : "") + suffix;
}

std::string out_literal(const Tensor& out) { return tensor_suffix(out).substr(1); }

std::string literal(const Value& value, std::string_view type, Int most) {
  return std::visit(Literal{type.starts_with("ScalarType"), most}, value);
}

std::string literal(const Value& value, Int most) { return literal(value, {}, most); }

}  // namespace assay::text
