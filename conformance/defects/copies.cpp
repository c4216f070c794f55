#include <algorithm>

#include "conformance/defects/foretold.h"
#include "conformance/defects/numbers.h"
#include "reference/words/indexing.h"

// The mistakes of operators that copy elements: slices, paddings, concatenations and permutations.
namespace assay::defects {
namespace {

// The size of the dimension that a slice cuts; none if the call is no valid slice.
std::optional<Int> size_in(const std::vector<Value>& arguments, std::size_t start) {
  const Tensor* self = std::get_if<Tensor>(&arguments[0]);
  const Int *dim = std::get_if<Int>(&arguments[start - 1]), *step = std::get_if<Int>(&arguments[start + 2]);
  if (!self || !dim || !step || *step < 1 || self->rank() == 0 || *dim < -self->rank() || *dim >= self->rank())
    return std::nullopt;
  return self->sizes[static_cast<int>(wrap_dim(*dim, self->rank()))];
}

void mistakes_of_slices(const Operator& op, std::vector<Hypothesis>& found) {
  const auto start = argument_of(op, "start");
  if (!is_named(op, "slice") || !start || op.arguments[*start - 1].name != "dim") return;
  found.push_back(as_if(op, "round the number of steps between start and end down", [at = *start](auto& all) {
    const auto size = size_in(all, at);
    if (!size) return false;
    const auto given = [&](std::size_t k) {
      const Int* n = std::get_if<Int>(&all[k]);
      return n ? std::optional(*n) : std::nullopt;
    };
    const Slice every = slice(*size, given(at), given(at + 1), 1);
    const Int step = std::get<Int>(all[at + 2]);
    if (every.length % step == 0) return false;
    all[at] = every.start, all[at + 1] = every.start + every.length / step * step;
    return true;
  }));
  for (const std::size_t at : {*start, *start + 1})
    found.push_back(as_if(op,
                          concat("take ", op.arguments[at].name, " modulo the size, where it is below minus the size"),
                          [start = *start, at](auto& all) {
                            const auto size = size_in(all, start);
                            const Int* n = std::get_if<Int>(&all[at]);
                            if (!size || !n || *size == 0 || *n >= -*size) return false;
                            const Int rest = *n % *size;
                            return changed_to(all[at], rest < 0 ? rest + *size : rest);
                          }));
}

void mistakes_of_paddings(const Operator& op, std::vector<Hypothesis>& found) {
  const auto pad = argument_of(op, "pad"), value = argument_of(op, "value");
  if (!pad || !value) return;
  found.push_back(
      answering(op, "remove elements from the end of a dimension where the pad before it is negative",
                [&op, pad = *pad, value = *value](const cases::HostCall& call) -> std::optional<judge::Expectation> {
                  const Ints* list = std::get_if<Ints>(&call.arguments[pad]);
                  if (!list || list->size() % 2 != 0) return std::nullopt;
                  Ints crops(list->size(), 0), pads = *list;
                  for (std::size_t k = 0; k < list->size(); k += 2)
                    if (pads[k] < 0) crops[k + 1] = std::exchange(pads[k], 0);
                  if (pads == *list) return std::nullopt;
                  auto cropped = result_of(op.name, {call.arguments[0], crops, call.arguments[value]});
                  if (!cropped) return std::nullopt;
                  std::vector<Value> all = call.arguments;
                  all[0] = std::move(*cropped), all[pad] = pads;
                  return judge::expect(op, all, Budget(cheap));
                }));
  found.push_back(as_if(op, "take a negative pad as 0", [at = *pad](auto& all) {
    const Ints* list = std::get_if<Ints>(&all[at]);
    if (!list) return false;
    Ints now = *list;
    for (Int& n : now) n = std::max<Int>(n, 0);
    return changed_to(all[at], std::move(now));
  }));
}

// A kernel that gives the elements of self in the order of their indices, with the sizes of the right result.
void not_permuted(const Operator& op, std::vector<Hypothesis>& found) {
  if (!is_named(op, "::permute") && !is_named(op, "::transpose") && !is_named(op, "::t_copy")) return;
  found.push_back(
      spoiling(op, "give the elements of self in order, not permuted", [](Tensor& out, const cases::HostCall& call) {
        const Tensor* self = std::get_if<Tensor>(&call.arguments[0]);
        if (!self || self->dtype != out.dtype || self->count() != out.count()) return false;
        Array<Element> now = read<Element>(*self);
        now.sizes = out.sizes;
        write(now, out);
        return true;
      }));
}

// A concatenation that leaves out tensors without elements, though these have sizes.
void concatenation(const Operator& op, std::vector<Hypothesis>& found) {
  const auto dim = argument_of(op, "dim");
  if (op.arguments[0].type != "Tensor[]" || op.name.find("::cat.") == std::string_view::npos || !dim) return;
  found.push_back(
      as_if(op, "do not count the sizes of tensors without elements", [dim = *dim](std::vector<Value>& all) {
        const Int* d = std::get_if<Int>(&all[dim]);
        return d && change_tensors(all[0], [&](Tensor& t) {
                 const Int at = *d < 0 ? *d + t.rank() : *d;
                 if (t.count() > 0 || at < 0 || at >= t.rank() || t.sizes[static_cast<int>(at)] == 0) return false;
                 Dims sizes = t.sizes;
                 sizes[static_cast<int>(at)] = 0;
                 t = make(t.dtype, sizes, t.dim_order);
                 return true;
               });
      }));
}

// A permutation that takes the strides of self in the inverse order. Where it reads behind self, its answer is not
// known.
void inverse_permutation(const Operator& op, std::vector<Hypothesis>& found) {
  const auto dims = argument_of(op, "dims");
  if (!is_named(op, "::permute") || !dims) return;
  found.push_back(answering(op, "take the strides of self by the inverse of dims",
                            [dims = *dims](const cases::HostCall& call) -> std::optional<judge::Expectation> {
                              const Tensor* self = std::get_if<Tensor>(&call.arguments[0]);
                              const Ints* given = std::get_if<Ints>(&call.arguments[dims]);
                              if (!call.valid() || !self || !given || self->rank() < 2) return std::nullopt;
                              const int rank = self->rank();
                              Dims strides = self->sizes;
                              Int each = 1;
                              for (int k = rank - 1; k >= 0; --k) {
                                const Int d = self->dim_order[k];
                                strides[d] = std::exchange(each, each * self->sizes[d]);
                              }
                              Dims taken = strides;  // for each dimension of the result
                              for (Int k = 0; k < rank; ++k)
                                taken[wrap_dim((*given)[static_cast<std::size_t>(k)], rank)] = strides[k];
                              Tensor memory = *self;  // its elements in their order in memory
                              memory.sizes = memory.dim_order = {self->count()}, memory.dim_order[0] = 0;
                              return with_elements(call, memory, [&](const Dims& i) {
                                Int at = 0;
                                for (int d = 0; d < rank; ++d) at += i[d] * taken[d];
                                return at;
                              });
                            }));
}

}  // namespace

std::vector<Hypothesis> mistakes_of_copies(const Operator& op) {
  std::vector<Hypothesis> found;
  mistakes_of_slices(op, found);
  mistakes_of_paddings(op, found);
  not_permuted(op, found);
  concatenation(op, found);
  inverse_permutation(op, found);
  return found;
}

}  // namespace assay::defects
