#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "conformance/defects/foretold.h"
#include "conformance/defects/numbers.h"

// The mistakes of matrix products, of convolutions and attention that pair channels, groups or heads wrongly, and of
// sums of products with factors.
namespace assay::defects {
namespace {

// A convolution that takes the group of an output channel as its number modulo the groups, so that neighbours have
// different groups. With one input channel a group, it reads the wrong input channel.
void groups_in_turn(const Operator& op, std::vector<Hypothesis>& found) {
  const auto groups = argument_of(op, "groups"), transposed = argument_of(op, "transposed");
  if (!is_named(op, "::convolution.") || !groups || !transposed) return;
  found.push_back(
      answering(op, "take output channel c as one of group c % groups, so that wrong input channels are read",
                [&op, groups = *groups,
                 transposed = *transposed](const cases::HostCall& call) -> std::optional<judge::Expectation> {
                  const Int* n = std::get_if<Int>(&call.arguments[groups]);
                  const bool* is_transposed = std::get_if<bool>(&call.arguments[transposed]);
                  const Tensor* weight = std::get_if<Tensor>(&call.arguments[1]);
                  if (!call.valid() || !n || *n < 2 || !is_transposed || *is_transposed || !weight) return std::nullopt;
                  const Int channels = weight->sizes[0], each = channels / *n;
                  if (each < 2) return std::nullopt;
                  // A convolution of channels in another order, whose results are put back.
                  const auto from = [&](Int k) { return k % each * *n + k / each; };
                  const auto to = [&](Int c) { return c % *n * each + c / *n; };
                  std::vector<Value> all = call.arguments;
                  all[1] = taken(*weight, 0, channels, from);
                  if (const Tensor* bias = std::get_if<Tensor>(&all[2])) all[2] = taken(*bias, 0, channels, from);
                  const judge::Expectation e = judge::expect(op, all, Budget(cheap));
                  if (e.answer.outcome != Outcome::ok || e.outs[0].rank() < 3) return std::nullopt;
                  return with_results(call.expected,
                                      {taken(e.outs[0], e.outs[0].rank() == weight->rank() ? 1 : 0, channels, to)});
                }));
}

// Attention in which several heads of the query share one of the key: head h takes the wrong one.
void heads_in_turn(const Operator& op, std::vector<Hypothesis>& found) {
  const auto query = argument_of(op, "query"), key = argument_of(op, "key"), value = argument_of(op, "value");
  if (!is_named(op, "sdpa") || !query || !key || !value) return;
  constexpr int heads = 2;
  found.push_back(as_if(op, "take head h of query with head h % H of key and value, of which there are H",
                        [=](std::vector<Value>& all) {
                          const Tensor *q = std::get_if<Tensor>(&all[*query]), *k = std::get_if<Tensor>(&all[*key]);
                          if (!q || !k || q->rank() != 4 || k->rank() != 4) return false;
                          const Int number = q->sizes[heads], own = k->sizes[heads];
                          if (own < 2 || number <= own) return false;
                          for (const std::size_t at : {*key, *value}) {
                            const Tensor* t = std::get_if<Tensor>(&all[at]);
                            if (!t || t->rank() != 4 || t->sizes[heads] != own) return false;
                            all[at] = taken(*t, heads, number, [own](Int h) { return h % own; });
                          }
                          return true;
                        }));
}

// A convolution whose groups all read the channels of the first.
void ignored_groups(const Operator& op, std::vector<Hypothesis>& found) {
  const auto at = std::ranges::find(op.arguments, "groups", &SchemaArgument::name);
  if (at == op.arguments.end() || !holds_tensors(op.arguments[0])) return;
  const auto groups = static_cast<std::size_t>(at - op.arguments.begin());
  found.push_back(as_if(op, "ignore groups", [groups](std::vector<Value>& all) {
    Tensor* input = std::get_if<Tensor>(&all[0]);
    const Int* n = std::get_if<Int>(&all[groups]);
    if (!input || !n || *n < 2 || input->rank() < 2) return false;
    std::vector<Value> slice{*input, Int{1}, Int{0}, input->sizes[1] / *n, Int{1}, {}};
    if (call(*find_operator("aten::slice_copy.Tensor_out"), slice).outcome != Outcome::ok) return false;
    all[0] = std::get<Tensor>(slice.back()), all[groups] = Int{1};
    return true;
  }));
}

// A convolution whose groups all use the weights of the first.
void weights_of_the_first_group(const Operator& op, std::vector<Hypothesis>& found) {
  const auto groups = argument_of(op, "groups"), weight = argument_of(op, "weight");
  if (!is_named(op, "::convolution.") || !groups || !weight) return;
  found.push_back(as_if(op, "use the weights of the first group for every group", [=](std::vector<Value>& all) {
    Tensor* t = std::get_if<Tensor>(&all[*weight]);
    const Int* n = std::get_if<Int>(&all[*groups]);
    if (!t || !n || *n < 2 || t->rank() < 1) return false;
    *t = taken(*t, 0, t->sizes[0], [each = t->sizes[0] / *n](Int channel) { return channel % each; });
    return true;
  }));
}

// A transposed convolution that finds its first element by a division of padding by stride.
void padding_in_strides(const Operator& op, std::vector<Hypothesis>& found) {
  const auto transposed = argument_of(op, "transposed"), padding = argument_of(op, "padding"),
             stride = argument_of(op, "stride");
  if (!transposed || !padding || !stride) return;
  found.push_back(as_if(op, "round padding down to a multiple of stride", [=](std::vector<Value>& all) {
    const bool* is_transposed = std::get_if<bool>(&all[*transposed]);
    const Ints *pads = std::get_if<Ints>(&all[*padding]), *steps = std::get_if<Ints>(&all[*stride]);
    if (!is_transposed || !*is_transposed || !pads || !steps || steps->empty()) return false;
    Ints now = *pads;
    for (std::size_t k = 0; k < now.size(); ++k)
      if (const Int step = (*steps)[std::min(k, steps->size() - 1)]; step > 0) now[k] -= now[k] % step;
    return changed_to(all[*padding], std::move(now));
  }));
}

// A product of matrices: the sums run along the last dimension of `left` and along `inner` of `right`.
struct Product {
  std::string_view op;
  std::size_t left, right;  // positions of arguments
  int inner;                // counts from the end
};
constexpr auto products = std::to_array<Product>({{"aten::mm.out", 0, 1, -2},
                                                  {"aten::bmm.out", 0, 1, -2},
                                                  {"aten::addmm.out", 1, 2, -2},
                                                  {"aten::linear.out", 0, 1, -1}});

// A kernel that works in blocks along the sums, and stores the sum of each block in place of adding it.
void sums_of_last_blocks(const Operator& op, const Product& product, std::vector<Hypothesis>& found) {
  for (const Int width : {4, 8, 16, 32, 64, 128, 256, 512})
    found.push_back(as_if(
        op, fmt::format("store the sum of each {} products in place of adding it, so that the last sum stays", width),
        [product, width](std::vector<Value>& all) {
          Tensor *left = std::get_if<Tensor>(&all[product.left]), *right = std::get_if<Tensor>(&all[product.right]);
          if (!left || !right || left->rank() < 1 || right->rank() < 2) return false;
          const int last = left->rank() - 1, inner = right->rank() + product.inner;
          const Int size = left->sizes[last], first = (size - 1) / width * width;
          if (size <= width || right->sizes[inner] != size) return false;
          const auto behind = [first](Int k) { return first + k; };
          *left = taken(*left, last, size - first, behind), *right = taken(*right, inner, size - first, behind);
          return true;
        }));
}

// A kernel that reads each row in whole vectors, and multiplies what lies behind the row by 0.
void products_behind_rows(const Operator& op, const Product& product, std::vector<Hypothesis>& found) {
  for (const Int width : {4, 8, 16})
    found.push_back(spoiling(
        op,
        fmt::format("multiply what lies behind a row of {} by 0, to fill vectors of {} elements, so that NaN and "
                    "infinity there give NaN",
                    op.arguments[product.left].name, width),
        [product, width](Tensor& out, const cases::HostCall& call) {
          const Tensor* left = std::get_if<Tensor>(&call.arguments[product.left]);
          if (!left || !is_floating(left->dtype) || !is_floating(out.dtype) || left->rank() < 2 || left->count() == 0 ||
              out.count() == 0 || left->dim_order != Dims::counting(left->rank()))
            return false;
          const Array<Real> numbers = read<Real>(*left);
          const Int length = left->sizes[left->rank() - 1], rows = left->count() / length, each = out.count() / rows,
                    behind = (width - length % width) % width;
          Array<Real> now = read<Real>(out);
          bool any = false;
          for (Int r = 0; r < rows; ++r) {
            const Int first = (r + 1) * length, end = std::min(first + behind, left->count());
            bool spoilt = false;
            for (Int k = first; k < end; ++k) spoilt |= !std::isfinite(numbers[k]);
            for (Int k = r * each; spoilt && k < (r + 1) * each; ++k)
              now[k] = std::numeric_limits<Real>::quiet_NaN(), any = true;
          }
          if (any) write(now, out);
          return any;
        }));
}

// A sum of products, beta self + alpha (mat1 mat2), in which what has the factor 0 is to be left out.
void factors(const Operator& op, std::vector<Hypothesis>& found) {
  const auto alpha = argument_of(op, "alpha"), beta = argument_of(op, "beta");
  if (!alpha || !beta || op.outs() != 1 || inputs_of(op) < 3 || !holds_tensors(op.arguments[0]) ||
      !holds_tensors(op.arguments[1]))
    return;
  found.push_back(spoiling(op, "multiply self by a beta of 0, so that NaN and infinity stay",
                           [beta = *beta](Tensor& out, const cases::HostCall& call) {
                             const auto factor = number_in(call.arguments[beta]);
                             const auto self = numbers_of(call.arguments[0]);
                             if (!factor || real(*factor) != 0 || !self || !is_floating(out.dtype)) return false;
                             Array<Real> all = read<Real>(out);
                             Int flat = 0;
                             for (const Dims& i : indices(out.sizes)) {
                               if (!std::isfinite(families::broadcast(*self, out.sizes).at(i, flat)))
                                 all[flat] = std::numeric_limits<Real>::quiet_NaN();
                               ++flat;
                             }
                             write(all, out);
                             return true;
                           }));
  found.push_back(spoiling(op, "multiply an empty sum by alpha, so that NaN and infinity give NaN",
                           [alpha = *alpha](Tensor& out, const cases::HostCall& call) {
                             const auto factor = number_in(call.arguments[alpha]);
                             const Tensor* first = std::get_if<Tensor>(&call.arguments[1]);
                             if (!factor || std::isfinite(real(*factor)) || !first || first->count() != 0 ||
                                 !is_floating(out.dtype))
                               return false;
                             Array<Real> all = read<Real>(out);
                             std::ranges::fill(all.data, std::numeric_limits<Real>::quiet_NaN());
                             write(all, out);
                             return true;
                           }));
}

}  // namespace

std::vector<Hypothesis> mistakes_of_products(const Operator& op) {
  std::vector<Hypothesis> found;
  groups_in_turn(op, found);
  heads_in_turn(op, found);
  ignored_groups(op, found);
  weights_of_the_first_group(op, found);
  padding_in_strides(op, found);
  if (const auto* product = std::ranges::find(products, op.name, &Product::op); product != products.end())
    sums_of_last_blocks(op, *product, found), products_behind_rows(op, *product, found);
  factors(op, found);
  return found;
}

}  // namespace assay::defects
