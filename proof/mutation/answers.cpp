// Mutants of answers, tested by the judge. A mutant is a testee that answers each recorded call as eager PyTorch did,
// except for one fault. The kinds of faults are "number", "order" and "answer".
//
// A mutant is a fault in the answers of an operator in a dtype, that of its first out. It changes a call where it gives
// another outcome, dtype, sizes or dim order, or another number: one NaN is as good as another, and so is a zero. Where
// numbers are not specified the first four alone are tried. Behind the scores it prints for each fault, in all
// operators, the share of the changed calls that notice it. Of all mutants, it exits with 1, too, where that share is
// below 95 % for one fault or below 99 % for all.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <span>

#include "proof/mutation/driver.h"
#include "proof/mutation/eager.h"

namespace assay::mutation {
namespace {

using Draw = std::minstd_rand;
using Mutation = std::function<void(Reaction&, const Reaction& before, Draw&)>;

struct Change {
  std::string_view kind, text;
  Mutation make;
};

// -- faults in numbers ------------------------------------------------------------------------------------------------

using Numbers = Buffer<Bits>;  // the numbers of an out, row by row; a complex element is two numbers

const DTypeInfo& part(const Tensor& t) { return info(info(t.dtype).part); }

bool is_another(const DTypeInfo& dtype, Bits a, Bits b) {
  if (dtype.kind != Kind::floating) return dtype.int_of(a) != dtype.int_of(b);
  const Real x = dtype.real_of(a), y = dtype.real_of(b);
  return std::isnan(x) != std::isnan(y) || x < y || x > y;
}

// Calls f(numbers, their dtype, draw) for a drawn out that has numbers.
template <class F>
Mutation numbers(F f) {
  return [f](Reaction& r, const Reaction&, Draw& draw) {
    if (r.outs.empty() || !r.has_values) return;
    Tensor& out = r.outs[draw() % r.outs.size()];
    if (out.count() == 0 || info(out.dtype).is_opaque()) return;
    Array<Bits> all = read_parts(out);
    f(all.data, part(out), draw);
    write_parts(all, out);
  };
}

// Changes one number: from a drawn place on the first that f(number, dtype) changes.
template <class F>
Mutation one(F f) {
  return numbers([f](Numbers& all, const DTypeInfo& dtype, Draw& draw) {
    const std::size_t start = draw() % all.size();
    for (std::size_t k = 0; k < all.size(); ++k) {
      Bits& number = all[(start + k) % all.size()];
      const Bits other = f(number, dtype);
      if (is_another(dtype, number, other)) return static_cast<void>(number = other);
    }
  });
}

template <class F>
Mutation one_real(F f) {
  return one([f](Bits number, const DTypeInfo& dtype) {
    return dtype.kind == Kind::floating ? dtype.bits_of_real(f(dtype.real_of(number), dtype)) : number;
  });
}

template <class F>
Mutation one_integer(F f) {
  return one([f](Bits number, const DTypeInfo& dtype) {
    return dtype.kind == Kind::floating ? number : dtype.bits_of_int(f(dtype.int_of(number)));
  });
}

// Multiplies one finite number, of any dtype.
Mutation one_times(Int factor) {
  return one([factor](Bits number, const DTypeInfo& dtype) {
    if (dtype.kind != Kind::floating) return dtype.bits_of_int(wrapping_multiply(dtype.int_of(number), factor));
    const Real x = dtype.real_of(number);
    return std::isfinite(x) ? dtype.bits_of_real(x * static_cast<Real>(factor)) : number;
  });
}

Real with_half_the_bits(Real x, const DTypeInfo& dtype) {
  int exponent = 0;
  const Real fraction = std::frexp(x, &exponent), steps = std::ldexp(Real{1}, dtype.precision / 2);
  return std::isfinite(x) ? std::ldexp(std::nearbyint(fraction * steps) / steps, exponent) : x;
}

void stored_as_if_contiguous(Reaction& r, const Reaction&, Draw&) {
  for (Tensor& out : r.outs) {
    if (!r.has_values || info(out.dtype).is_opaque()) continue;
    Tensor contiguous = out;
    contiguous.dim_order = Dims::counting(out.sizes.size());
    write_parts(read_parts(out), contiguous);
    out.bytes = contiguous.bytes;
  }
}

// -- faults in outcomes, dtypes, sizes and dim orders -----------------------------------------------------------------

// Gives `out` another dtype, other sizes or another dim order, and zeros.
void remake(Tensor& out, DType dtype, const Dims& sizes, const Dims& dim_order) {
  const auto bytes = static_cast<std::size_t>(count(sizes) * info(dtype).bytes);
  out = {dtype, sizes, dim_order, Buffer<std::byte>(out.bytes.empty() ? 0 : bytes)};
}

template <class F>
Mutation first_out(F f) {
  return [f](Reaction& r, const Reaction&, Draw&) {
    if (!r.outs.empty()) f(r.outs[0]);
  };
}

template <class F>
Mutation last_two_dims(F f) {
  return first_out([f](Tensor& out) {
    if (out.sizes.size() >= 2 && out.count() > 0) f(out, out.sizes.size() - 2, out.sizes.size() - 1);
  });
}

const std::array all_changes = std::to_array<Change>({
    {"number", "one is 0", one_times(0)},
    {"number", "one is of the other sign", one_times(-1)},
    {"number", "one is twice as large", one_times(2)},
    {"number", "one is 1 % larger", one_real([](Real x, const DTypeInfo&) { return 1.01 * x; })},
    {"number", "one integer is off by 1", one_integer([](Int x) { return wrapping_add(x, x == 1 ? -1 : 1); })},
    {"number", "one is NaN", one_real([](Real, const DTypeInfo&) { return std::nan(""); })},
    {"number", "one is infinite",
     one_real([](Real x, const DTypeInfo&) { return std::isnan(x) ? x : std::copysign(INFINITY, x); })},
    {"number", "one infinity is of the other sign",
     one_real([](Real x, const DTypeInfo&) { return std::isinf(x) ? -x : x; })},
    {"number", "one infinity is the largest number", one([](Bits number, const DTypeInfo& dtype) {
       // as bits, infinity is next to the largest number
       return dtype.kind == Kind::floating && std::isinf(dtype.real_of(number)) ? number - 1 : number;
     })},
    {"number", "one NaN is 0", one_real([](Real x, const DTypeInfo&) { return std::isnan(x) ? 0 : x; })},
    {"number", "all have half of their bits",
     numbers([](Numbers& all, const DTypeInfo& d, Draw&) {
       if (d.kind != Kind::floating) return;
       for (Bits& b : all) b = d.bits_of_real(with_half_the_bits(d.real_of(b), d));
     })},
    {"number", "one bool is 2",
     [](Reaction& r, const Reaction&, Draw&) {
       for (Tensor& out : r.outs)
         if (const auto at = std::ranges::find(out.bytes, std::byte{1});
             out.dtype == DType::boolean && at != out.bytes.end())
           return static_cast<void>(*at = std::byte{2});
     }},
    {"order", "two are exchanged",
     numbers([](Numbers& all, const DTypeInfo& d, Draw& draw) {
       Bits& first = all[draw() % all.size()];
       for (Bits& other : all)
         if (is_another(d, first, other)) return std::swap(first, other);
     })},
    {"order", "all are moved by one",
     numbers([](Numbers& all, const DTypeInfo&, Draw&) { std::ranges::rotate(all, all.begin() + 1); })},
    {"order", "all are reversed", numbers([](Numbers& all, const DTypeInfo&, Draw&) { std::ranges::reverse(all); })},
    {"order", "all are the first",
     numbers([](Numbers& all, const DTypeInfo&, Draw&) { std::ranges::fill(all, Bits{all[0]}); })},
    {"order", "the second half repeats the first",
     numbers([](Numbers& all, const DTypeInfo&, Draw&) {
       std::copy_n(all.begin(), all.size() / 2, all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2));
     })},
    {"order", "the last is 0", numbers([](Numbers& all, const DTypeInfo&, Draw&) { all.back() = 0; })},
    {"order", "what is left over of eights is 0",
     numbers([](Numbers& all, const DTypeInfo&, Draw&) {
       std::fill(all.end() - static_cast<std::ptrdiff_t>(all.size() % 8), all.end(), Bits{0});
     })},
    {"order", "they lie as if contiguous", stored_as_if_contiguous},
    {"answer", "that of the call before",
     [](Reaction& r, const Reaction& before, Draw&) {
       if (r.has_values && before.has_values && std::ranges::equal(r.outs, before.outs, like)) r.outs = before.outs;
     }},
    {"answer", "the first two results are exchanged",
     [](Reaction& r, const Reaction&, Draw&) {
       if (r.outs.size() > 1 && like(r.outs[0], r.outs[1])) std::swap(r.outs[0], r.outs[1]);
     }},
    {"answer", "another dtype", first_out([](Tensor& out) {
       remake(out, out.dtype == DType::float32 ? DType::float64 : DType::float32, out.sizes, out.dim_order);
     })},
    {"answer", "another dimension", first_out([](Tensor& out) {
       Dims sizes{1};
       for (const Int n : out.sizes) sizes.push_back(n);
       remake(out, out.dtype, sizes, Dims::counting(sizes.size()));
     })},
    {"answer", "the last two sizes are exchanged",
     last_two_dims([](Tensor& out, int a, int b) {
       Dims sizes = out.sizes;
       std::swap(sizes[a], sizes[b]);
       remake(out, out.dtype, sizes, out.dim_order);
     })},
    {"answer", "the last two dimensions lie exchanged",
     last_two_dims([](Tensor& out, int a, int b) {
       if (out.sizes[out.dim_order[a]] == 1 || out.sizes[out.dim_order[b]] == 1) return;
       Dims order = out.dim_order;
       std::swap(order[a], order[b]);
       remake(out, out.dtype, out.sizes, order);
     })},
    {"answer", "a refusal", [](Reaction& r, const Reaction&, Draw&) { r.outcome = Outcome::invalid; }},
});

// -- recorded calls, answered with faults -----------------------------------------------------------------------------

bool differ(const Tensor& a, const Tensor& b) {
  if (!like(a, b) || a.dim_order != b.dim_order) return true;
  if (a.bytes == b.bytes || a.dtype == DType::boolean) return a.bytes != b.bytes;
  const Array<Bits> x = read_parts(a), y = read_parts(b);
  return !std::ranges::equal(x.data, y.data, [&](Bits p, Bits q) { return !is_another(part(a), p, q); });
}

bool changes(const Reaction& eager, const Reaction& mutant) {
  return eager.outcome != mutant.outcome || !std::ranges::equal(eager.outs, mutant.outs, std::not_fn(differ));
}

struct Count {
  int changed = 0, noticed = 0;  // calls

  bool is_enough(int percent) const { return noticed * 100LL >= changed * static_cast<long long>(percent); }
  Count& operator+=(const Count& other) {
    changed += other.changed, noticed += other.noticed;
    return *this;
  }
};

class Answers : public Subject {
 public:
  explicit Answers(const Options& options) : files_(recorded_in(options.folders)) {
    for (const RecordedCalls& calls : files_)
      for (std::size_t i = 0; i < calls.size(); ++i) add_mutants(calls.op(), dtype_of(calls.op(), calls.at(i)));
    counts_.resize(mutants_.size());
  }

  std::string_view name() const override { return "answers"; }
  std::span<const Mutant> mutants() const override { return mutants_; }

  void try_mutants(std::span<const std::size_t> chosen, Survivors& survivors) override {
    for (const RecordedCalls& calls : files_) {
      std::map<DType, Reaction> before;
      for (std::size_t i = 0; i < calls.size(); ++i) {
        const RecordedCall call = calls.at(i);
        const DType dtype = dtype_of(calls.op(), call);
        const std::size_t first = first_.at({&calls.op(), dtype});
        const std::span asked(std::ranges::lower_bound(chosen, first),
                              std::ranges::lower_bound(chosen, first + of_each));
        if (!asked.empty()) try_call(calls.op(), call, calls.digest(i), asked, before[dtype]);
      }
    }
    for (const std::size_t i : chosen)
      if (const SurvivorLine* line = survivors.line_of(i); !line || !is_equal(line->reason))
        faults_[mutants_[i].change] += counts_[i];
  }

  std::optional<Result> result(std::size_t i) const override {
    if (counts_[i].changed == 0) return {};
    return Result{counts_[i].noticed > 0, "open", {mutants_[i].kind}};
  }

  bool is_enough() const override {
    const auto is_often_noticed = [](std::string_view fault, const Count& c, int percent) {
      if (c.changed == 0) return true;
      fmt::print("{:<40} {:>7} of {:>7} calls noticed, {:.2f} %\n", fault, c.noticed, c.changed,
                 100.0 * c.noticed / c.changed);
      return c.is_enough(percent);
    };
    Count all;
    bool enough = true;
    for (const auto& [fault, c] : faults_) enough &= is_often_noticed(fault, c, 95), all += c;
    return is_often_noticed("all", all, 99) && enough;
  }

 private:
  static constexpr std::size_t of_each = all_changes.size() + 1;  // the last: an invalid call is answered

  static DType dtype_of(const Operator& op, const RecordedCall& call) {
    const std::vector<Tensor> outs = call.refused ? out_tensors(op, call.arguments) : call.results;
    return outs.empty() ? DType::float32 : outs[0].dtype;
  }

  void add_mutants(const Operator& op, DType dtype) {
    if (!first_.try_emplace({&op, dtype}, mutants_.size()).second) return;
    for (const Change& c : all_changes) mutants_.push_back({op.name, c.kind, info(dtype).name, c.text});
    mutants_.push_back({op.name, "answer", info(dtype).name, "one of an invalid call"});
  }

  void try_call(const Operator& op, const RecordedCall& call, std::uint32_t digest, std::span<const std::size_t> asked,
                Reaction& before) {
    const Expectation expected = expect(op, call.arguments);
    Reaction eager = reaction_of(call);
    if (!is_right(op, call, expected, eager)) return;  // is listed as a disagreement
    for (const std::size_t n : asked) {
      const std::size_t change = n % of_each;
      Reaction mutant = eager;
      Draw draw(digest + 1);
      if (call.refused && change == all_changes.size())
        mutant.outcome = Outcome::ok, mutant.outs = out_tensors(op, call.arguments);
      else if (!call.refused && change < all_changes.size())
        all_changes[change].make(mutant, before, draw);
      if (!changes(eager, mutant)) continue;
      ++counts_[n].changed;
      counts_[n].noticed += !is_right(op, call, expected, mutant);
    }
    if (!call.refused) before = std::move(eager);
  }

  std::vector<RecordedCalls> files_;
  std::vector<Mutant> mutants_;
  std::map<std::pair<const Operator*, DType>, std::size_t>
      first_;                                 // the number of the first mutant of an operator's answers in a dtype
  std::vector<Count> counts_;                 // the counts of each mutant
  std::map<std::string_view, Count> faults_;  // the counts of each fault in all operators
};

}  // namespace

std::unique_ptr<Subject> make_subject(const Options& options) { return std::make_unique<Answers>(options); }

}  // namespace assay::mutation
