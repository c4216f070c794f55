#include "conformance/cases/aimed_cases.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "reference/call.h"

namespace assay::cases {
namespace {

using Mutations = std::vector<Mutation>;
using Arguments = std::vector<Value>;

constexpr std::size_t most_made = 6;  // of the calls with one property
constexpr Int most_draws = 24;        // tries with one recorded call

const Tensor* tensor_in(const Arguments& a, std::size_t i) { return std::get_if<Tensor>(&a[i]); }
Int integer_in(const Arguments& a, std::size_t i) {
  const Int* n = std::get_if<Int>(&a[i]);
  return n ? *n : 0;
}
bool is_text(const Value& v, std::string_view text) {
  const std::string* s = std::get_if<std::string>(&v);
  return s && *s == text;
}

// The share of pairs of elements of two floating tensors of equal sizes for which f holds.
template <class F>
double share_of_pairs(const Arguments& arguments, F f) {
  const Tensor *a = tensor_in(arguments, 0), *b = tensor_in(arguments, 1);
  if (!a || !b || a->sizes != b->sizes || a->count() < 4 || a->dtype != DType::float32 || b->dtype != a->dtype)
    return 0;
  const Array<Real> x = read<Real>(*a), y = read<Real>(*b);
  Int all = 0;
  for (Int k = 0; k < x.count(); ++k) all += f(x[k], y[k]);
  return static_cast<double>(all) / static_cast<double>(x.count());
}

bool has_negative_index_behind_the_first(const Arguments& a) {
  const Tensors* list = std::get_if<Tensors>(&a[1]);
  for (std::size_t k = 1; list && k < list->size(); ++k)
    if (const auto& t = (*list)[k]; t && is_integer(t->dtype))
      if (std::ranges::any_of(read<Int>(*t).data, [](Int n) { return n < 0; })) return true;
  return false;
}

bool has_exact_quotients(const Arguments& a) {
  return is_text(a[2], "floor") && share_of_pairs(a, [](Real x, Real y) {
                                     const Real quotient = x / y;
                                     return x != 0 && std::fabs(y) != 1 && quotient == std::trunc(quotient) &&
                                            std::isfinite(quotient);
                                   }) >= 0.25;
}

bool has_large_quotients(const Arguments& a) {
  return share_of_pairs(a, [](Real x, Real y) { return std::isfinite(x / y) && std::fabs(x / y) > 0x1p23; }) >= 0.5;
}

// What calls of an operator have, and the mutations by which a recorded call may get it.
struct Aim {
  std::string_view op;
  Mutations (*mutations)(Int draw);
  bool (*has)(const Arguments& answered);
};

Mutations of_quotients(Int draw) {
  return {{Mutation::Kind::numbers, {0, 4, draw}}, {Mutation::Kind::numbers, {1, 3, draw + 1}}};
}
// A fraction of 24 bits, multiplied by 2^22 or more, by one of few bits.
Mutations of_large_quotients(Int draw) {
  return {{Mutation::Kind::numbers, {0, 23, draw}},
          {Mutation::Kind::scale, {0, 33, 22 + draw % 4}},
          {Mutation::Kind::numbers, {1, 5, draw + 1}}};
}
Mutations of_dims(Int draw) {
  return {{Mutation::Kind::integer, {0, 1 + draw % 2, 0}}, {Mutation::Kind::numbers, {0, 6, draw}}};
}
bool is_scaled_over_two_dims(const Arguments& a) {
  const Ints* dims = std::get_if<Ints>(&a[1]);
  return dims && dims->size() == 2 && integer_in(a, 2) != 0 && tensor_in(a, 0)->count() > 2;
}

constexpr auto aims = std::to_array<Aim>({
    {"aten::index.Tensor_out",
     [](Int draw) {
       return Mutations{{Mutation::Kind::numbers, {1 + draw % 3, 1, draw}}};
     },
     has_negative_index_behind_the_first},
    {"aten::_cdist_forward.out",
     [](Int draw) {
       return Mutations{{Mutation::Kind::scalar, {0, draw, 0}}};
     },
     [](const Arguments& a) {
       const double* p = std::get_if<double>(&a[2]);
       return p && *p > 0 && std::isinf(*p) && tensor_in(a, 0)->count() > 2 && tensor_in(a, 4)->count() > 1;
     }},
    {"aten::glu.out",
     [](Int draw) {
       return Mutations{{Mutation::Kind::integer, {0, draw, 0}}};
     },
     [](const Arguments& a) {
       return integer_in(a, 1) < 0 && tensor_in(a, 0)->rank() > 1 && tensor_in(a, 2)->count() > 2;
     }},
    {"aten::div.out_mode", of_quotients, has_exact_quotients},
    {"aten::remainder.Tensor_out", of_large_quotients, has_large_quotients},
    {"aten::fmod.Tensor_out", of_large_quotients, has_large_quotients},
    {"aten::_fft_c2c.out", of_dims, is_scaled_over_two_dims},
    {"aten::_fft_r2c.out", of_dims, is_scaled_over_two_dims},
    {"aten::where.self_out",
     [](Int draw) {
       return Mutations{{Mutation::Kind::dtype, {1 + draw % 2, draw / 2, 0}}};
     },
     [](const Arguments& a) {
       return tensor_in(a, 1)->dtype != tensor_in(a, 2)->dtype && tensor_in(a, 3)->count() > 3;
     }},
    {"aten::topk.values",
     [](Int draw) {
       return Mutations{{Mutation::Kind::extents, {draw % 3, 70, 0}}, {Mutation::Kind::number, {0, 6, draw}}};
     },
     [](const Arguments& a) {
       return integer_in(a, 1) > 16 && integer_in(a, 1) < 65 && tensor_in(a, 0)->count() <= 1024;
     }},
    // Numbers of 9 bits lie halfway between two of bfloat16 if they are odd.
    {"aten::_to_copy.out",
     [](Int draw) {
       return Mutations{{Mutation::Kind::extents, {draw % 2, 129, 0}},
                        {Mutation::Kind::numbers, {0, draw % 3 == 0 ? 9 : 23, draw}},
                        {Mutation::Kind::out, {0, draw, 0}}};
     },
     [](const Arguments& a) {
       const Tensor &self = *tensor_in(a, 0), &out = *tensor_in(a, 3);
       return self.dtype == DType::float32 && out.dtype == DType::bfloat16 && self.count() >= 64;
     }},
});

void add(const Aim& aim, const Corpus& corpus, const RecordedCalls& calls, std::vector<CaseId>& all) {
  std::size_t made = 0;
  for (std::size_t i = 0; i < calls.size() && made < most_made; ++i) {
    const CaseId recorded{std::string(aim.op), calls.digest(i), {}};
    if (corpus.make(recorded).recorded.refused) continue;
    for (Int draw = static_cast<Int>(i); draw < static_cast<Int>(i) + most_draws; ++draw) {
      CaseId id = recorded;
      id.mutations = aim.mutations(draw);
      Arguments arguments = corpus.make(id).arguments;
      const Answer answer = call(calls.op(), arguments, Budget({.bytes = Int{1} << 24, .work = Int{1} << 24}));
      if (answer.outcome != Outcome::ok || !aim.has(arguments)) continue;
      all.push_back(std::move(id)), ++made;
      break;
    }
  }
}

}  // namespace

std::vector<CaseId> aimed_cases(const Corpus& corpus, const RecordedCalls& calls) {
  std::vector<CaseId> all;
  for (const Aim& aim : aims)
    if (aim.op == calls.op().name) add(aim, corpus, calls, all);
  return all;
}

}  // namespace assay::cases
