#include <algorithm>

#include "conformance/defects/foretold.h"
#include "conformance/defects/numbers.h"

// The mistakes of convolutions and attention that pair channels, groups or heads wrongly, and of sums of products with
// factors.
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
  factors(op, found);
  return found;
}

}  // namespace assay::defects
