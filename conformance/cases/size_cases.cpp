#include "conformance/cases/size_cases.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "conformance/cases/tensors.h"
#include "conformance/judge/judge.h"
#include "conformance/text/digest.h"
#include "reference/call.h"

namespace assay::cases {
namespace {

// The widths of vectors and of unrolled loops, and their neighbours; above 129 those behind the width alone.
constexpr std::array<Int, 23> vector_widths{1,  3,  4,  5,  7,   8,   9,   15,  16,  17,   31,  32,
                                            33, 63, 64, 65, 127, 128, 129, 257, 513, 1024, 1025};
// One behind whole vectors of 16, of 64 and of 256 numbers, and so of all narrower ones.
constexpr std::array<Int, 3> other_widths{17, 65, 257};
constexpr std::array<Int, 3> widths_of_dtypes{1025, 67, 17};  // the dtypes take turns
// One more than two shares of threads, which are 32,768 elements in ATen. Half of the operators take a shorter
// length in its place: kernels of many operators share a loop.
constexpr Int longest = 65537;
constexpr std::array<Int, 8> in_place_of_longest{32769, 32769, 32769, 32769, 32769, 65536, 32769, 65535};
constexpr std::size_t turns = 16;  // the first of which take a length of `in_place_of_longest`
// A share of threads and a block, with their neighbours. The first lengths find most mistakes.
constexpr std::array<Int, 6> block_sizes{32769, 4097, 4096, 4095, 32768, 32767};
// One more than two shares, and one more than a share, of threads.
constexpr std::array<Int, 2> lengths_of_equal_vectors{longest, 32769};
// More than two and more than four blocks of 512 elements, in a row along the dimension `dim`.
constexpr std::array<Int, 2> lengths_of_rows{1025, 2049};
// Sizes that a call gets at once, for its sizes from the largest to the smallest.
constexpr std::array<Int, 6> sizes_at_once{18, 17, 6, 5, 3, 2};

constexpr std::array<Int, 2> probed{37, 129};  // a size that takes these lengths takes others
constexpr std::size_t most_bases = 400;        // recorded calls that are looked at
constexpr std::size_t most_long_bases = 24;    // recorded calls that can become long
constexpr std::size_t most_axes = 4;           // sizes of an operator that get lengths, beside the first
constexpr Int work_of_line = 600'000, work_of_blocks = 3'600'000, work_of_longest = 7'000'000;
constexpr Int work_of_rows = 3'000'000, work_of_equal_vectors = 40'000'000;
constexpr std::size_t most_outs = 64;  // of a call that returns a list
constexpr Int work_of_element = 30;    // comparing and filling, beside the reference's own work

// A size of a recorded call that can have other lengths.
struct Axis {
  CaseId base;
  Int distinct = 0;  // the number of the size among the distinct sizes of the call
  bool with_integers = false;
  std::string places;  // the arguments and dimensions that have the size
  DType dtype = DType::float32;
  Int work = 0;  // of the call with the longer of the probed lengths

  auto cost() const { return std::pair(dtype != DType::float32, work); }
};

Mutation to_length(const Axis& axis, Int length) {
  return {Mutation::Kind::extents, {axis.distinct, length, axis.with_integers}};
}

class SizeSearch {
 public:
  enum class Looks : std::uint8_t { at_all_sizes, at_long_ones };  // `at_long_ones`: for long_cases() only

  SizeSearch(const Corpus& corpus, const RecordedCalls& calls, Looks looks)
      : corpus_(corpus), op_(calls.op()), looks_(looks) {
    for (std::size_t i = 0; i < std::min(calls.size(), most_bases) && long_bases_ < most_long_bases; ++i)
      look_at({std::string(op_.name), calls.digest(i), {}});
  }

  std::vector<CaseId> cases() {
    std::vector<CaseId> all;
    const std::vector<Axis> axes = chosen();
    if (axes.empty()) return all;
    std::vector<const Axis*> dtypes{&axes.front()};
    for (const auto& [dtype, axis] : by_dtype_)
      if (dtype != axes.front().dtype) dtypes.push_back(&axis);
    add(all, *dtypes[0], within(*dtypes[0], vector_widths, work_of_line));
    add_longest(all, *dtypes[0]);
    for (std::size_t k = 1; k < dtypes.size(); ++k)
      add(all, *dtypes[k], within(*dtypes[k], std::array{widths_of_dtypes[k % widths_of_dtypes.size()]}, work_of_line));
    for (std::size_t k = 1; k < axes.size(); ++k) add(all, axes[k], within(axes[k], other_widths, work_of_line));
    if (const CaseId id = with_all_sizes_changed(); id.mutations.size() > 1) all.push_back(id);
    return all;
  }

  std::vector<CaseId> long_cases() const {
    std::vector<CaseId> all;
    if (equal_vectors_)
      add(all, *equal_vectors_, within(*equal_vectors_, lengths_of_equal_vectors, work_of_equal_vectors));
    for (const auto& [along_last, axis] : rows_) add(all, axis, within(axis, lengths_of_rows, work_of_rows));
    return all;
  }

 private:
  static bool is_plain(const Case& c) {
    bool plain = true;
    each_tensor(c.arguments, [&](const Tensor& t, std::size_t i) {
      if (c.op->arguments[i].out) return;
      plain = plain && is_contiguous(t) && t.count() > 0 && t.count() <= 4096;
      if (plain && is_floating(t.dtype))
        plain = std::ranges::all_of(read<Real>(t).data, [](Real x) { return std::isfinite(x) && std::fabs(x) < 1e6; });
    });
    return plain;
  }

  void add_longest(std::vector<CaseId>& all, const Axis& axis) const {
    if (!work_of(axis, longest, work_of_longest)) return add(all, axis, within(axis, block_sizes, work_of_blocks));
    const std::size_t turn = (text::digest(op_.name) >> 58) % turns;  // drawn by the name
    const Int share = turn % 2 == 0 ? 32767 : 32768;
    add(all, axis, {turn < in_place_of_longest.size() ? in_place_of_longest[turn] : longest, share, 4097, 4096, 4095});
  }

  // The call with the most sizes, each with a length of its own: kernels branch on several sizes, such as the batch and
  // the rows of products.
  CaseId with_all_sizes_changed() const {
    CaseId id = most_sizes_.base;
    if (most_sizes_.distinct < 2) return id;
    std::vector<Value> arguments = corpus_.make(id).arguments;
    forget_outs(op_, arguments);
    Int next = most_sizes_.distinct;
    for (const Int length : sizes_at_once) {
      if (--next < 0) break;
      for (const bool with_integers : {false, true}) {
        const Mutation m = to_length({{}, next, with_integers, {}}, length);
        std::vector<Value> changed = mutated(op_, arguments, m);
        if (!work_of(changed, work_of_line)) continue;
        forget_outs(op_, changed);
        arguments = std::move(changed), id.mutations.push_back(m);
        break;
      }
    }
    return id;
  }

  void look_at(const CaseId& id) {
    Case c = corpus_.make(id);
    if (c.recorded.refused || !is_plain(c)) return;
    forget_outs(op_, c.arguments);
    const std::vector<const Tensor*> tensors = tensors_of(c);
    if (tensors.empty()) return;
    const std::optional<int> along = dimension_of_rows(c, tensors[0]->sizes);
    const bool only_long = looks_ == Looks::at_long_ones;
    if (only_long && !along && !are_equal_vectors(tensors)) return;
    long_bases_ += only_long;
    std::map<Int, std::string> places;  // of each distinct size
    std::optional<DType> dtype;
    std::size_t tensor = 0;
    each_tensor(c.arguments, [&](const Tensor& t, std::size_t i) {
      if (!dtype) dtype = t.dtype;
      for (int d = 0; d < t.rank(); ++d)
        places[t.sizes[d]] += concat(op_.arguments[i].name, tensor, ".", d - t.rank(), " ");
      ++tensor;
    });
    const Axis all_sizes{id, std::ssize(places), false, {}, *dtype};
    if (std::pair(*dtype != DType::float32, -all_sizes.distinct) <
        std::pair(most_sizes_.dtype != DType::float32, -most_sizes_.distinct))
      most_sizes_ = all_sizes;
    Int distinct = 0;
    for (const auto& [size, where] : places) {
      for (const bool with_integers : {false, true}) {
        if (only_long && along && tensors[0]->sizes[*along] != size) break;
        Axis axis{id, distinct, with_integers, where, *dtype, 0};
        const std::optional<Int> works[]{work_of(axis, probed[0], work_of_line),
                                         work_of(axis, probed[1], work_of_line)};
        if (!works[0] || !works[1] || !changes(c, axis)) continue;
        axis.work = *works[1];
        keep(axis);
        if (along && tensors[0]->sizes[*along] == size) keep_cheaper(rows_, *along == tensors[0]->rank() - 1, axis);
        keep_equal_vectors(axis, tensors);
        break;
      }
      ++distinct;
    }
  }

  static std::vector<const Tensor*> tensors_of(const Case& c) {
    std::vector<const Tensor*> all;
    each_tensor(c.arguments, [&](const Tensor& t, std::size_t) { all.push_back(&t); });
    return all;
  }

  static bool are_equal_vectors(const std::vector<const Tensor*>& tensors) {
    return tensors.size() > 1 && std::ranges::all_of(tensors, [&](const Tensor* t) {
             return t->rank() == 1 && t->sizes == tensors[0]->sizes;
           });
  }

  // The dimension that the argument `dim` selects in the first tensor, if no other dimension has its size; the last
  // dimension, or one whose rows have several columns.
  static std::optional<int> dimension_of_rows(const Case& c, const Dims& sizes) {
    const auto at = std::ranges::find(c.op->arguments, std::string_view("dim"), &SchemaArgument::name);
    if (at == c.op->arguments.end()) return std::nullopt;
    const Value& value = c.arguments[static_cast<std::size_t>(at - c.op->arguments.begin())];
    const Ints* list = std::get_if<Ints>(&value);
    const Int* one = list && list->size() == 1 ? &list->front() : std::get_if<Int>(&value);
    if (!one || *one < -sizes.size() || *one >= sizes.size()) return std::nullopt;
    const Int dim = *one < 0 ? *one + sizes.size() : *one;
    Int columns = 1;
    for (Int d = dim + 1; d < sizes.size(); ++d) columns *= sizes[d];
    const bool is_single = std::ranges::count(sizes, sizes[dim]) == 1;
    return is_single && (dim == sizes.size() - 1 || columns > 1) ? std::optional(static_cast<int>(dim)) : std::nullopt;
  }

  // Whether the length changes a tensor; an integer that selects an element has no length.
  bool changes(const Case& c, const Axis& axis) const {
    const std::vector<Value> changed = mutated(op_, c.arguments, to_length(axis, probed[1]));
    Int before = 0, after = 0;
    each_tensor(c.arguments, [&](const Tensor& t, std::size_t) { before += t.count(); });
    each_tensor(changed, [&](const Tensor& t, std::size_t) { after += t.count(); });
    return before != after;
  }

  template <class Key>
  static void keep_cheaper(std::map<Key, Axis>& axes, const Key& key, const Axis& axis) {
    const auto [at, is_new] = axes.try_emplace(key, axis);
    if (!is_new && axis.cost() < at->second.cost()) at->second = axis;
  }

  void keep(const Axis& axis) {
    ++calls_with_[axis.places];
    keep_cheaper(by_places_, axis.places, axis);
    keep_cheaper(by_dtype_, axis.dtype, axis);
  }

  // If the inputs are several vectors of equal sizes.
  void keep_equal_vectors(Axis axis, const std::vector<const Tensor*>& tensors) {
    if (!are_equal_vectors(tensors)) return;
    for (const Tensor* t : tensors)
      if (axis.dtype == DType::boolean) axis.dtype = t->dtype;  // beside a condition, the numbers decide
    if (!equal_vectors_ || axis.cost() < equal_vectors_->cost()) equal_vectors_ = axis;
  }

  // The cheapest axis, then those of the places that most calls have.
  std::vector<Axis> chosen() const {
    std::vector<Axis> all;
    for (const auto& [places, axis] : by_places_) all.push_back(axis);
    if (all.empty()) return all;
    std::iter_swap(all.begin(), std::ranges::min_element(all, {}, &Axis::cost));
    std::ranges::stable_sort(all.begin() + 1, all.end(), std::greater(),
                             [&](const Axis& a) { return calls_with_.at(a.places); });
    all.resize(std::min(all.size(), most_axes + 1));
    return all;
  }

  // The work of the call with that length; none if the reference does not answer it for `most`, or in too many outs.
  std::optional<Int> work_of(const Axis& axis, Int length, Int most) const {
    Case c = corpus_.make(axis.base);
    forget_outs(op_, c.arguments);
    std::vector<Value> arguments = mutated(op_, c.arguments, to_length(axis, length));
    return work_of(arguments, most);
  }

  // Answers the call. Returns its work, as above.
  std::optional<Int> work_of(std::vector<Value>& arguments, Int most) const {
    const Budget budget({.bytes = Int{1} << 26, .work = most});
    if (call(op_, arguments, budget).outcome != Outcome::ok) return std::nullopt;
    if (judge::out_tensors(op_, arguments).size() > most_outs) return std::nullopt;
    Int elements = 0;
    each_tensor(arguments, [&](const Tensor& t, std::size_t) { elements += t.count(); });
    const Int work = budget.used().work + work_of_element * elements;
    return work <= most ? std::optional(work) : std::nullopt;
  }

  // The lengths of `tried` that the reference answers, within `left` together.
  template <std::size_t n>
  std::vector<Int> within(const Axis& axis, const std::array<Int, n>& tried, Int left) const {
    std::vector<Int> all;
    for (const Int length : tried)
      if (const auto work = work_of(axis, length, left)) all.push_back(length), left -= *work;
    return all;
  }

  static void add(std::vector<CaseId>& cases, const Axis& axis, const std::vector<Int>& added) {
    for (const Int length : added) cases.emplace_back(axis.base).mutations.push_back(to_length(axis, length));
  }

  const Corpus& corpus_;
  const Operator& op_;
  Looks looks_;
  std::size_t long_bases_ = 0;
  std::map<std::string, Axis> by_places_;  // in float32 where the operator has it
  std::map<DType, Axis> by_dtype_;
  std::map<std::string, Int> calls_with_;
  std::optional<Axis> equal_vectors_;
  std::map<bool, Axis> rows_;                          // along an inner dimension, along the last
  Axis most_sizes_{{}, 0, false, {}, DType::boolean};  // `distinct` is the number of the call's sizes
};

}  // namespace

std::vector<CaseId> size_cases(const Corpus& corpus, const RecordedCalls& calls) {
  return SizeSearch(corpus, calls, SizeSearch::Looks::at_all_sizes).cases();
}

std::vector<CaseId> long_cases(const Corpus& corpus, const RecordedCalls& calls) {
  return SizeSearch(corpus, calls, SizeSearch::Looks::at_long_ones).long_cases();
}

}  // namespace assay::cases
