#include <algorithm>

#include "conformance/defects/foretold.h"

// The mistakes of convolutions and attention that pair channels, groups or heads wrongly.
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

}  // namespace

std::vector<Hypothesis> mistakes_of_products(const Operator& op) {
  std::vector<Hypothesis> found;
  groups_in_turn(op, found);
  heads_in_turn(op, found);
  return found;
}

}  // namespace assay::defects
