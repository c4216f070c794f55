#include "conformance/cases/boundary.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <set>

#include "conformance/cases/fingerprint.h"
#include "conformance/cases/tensors.h"
#include "conformance/judge/judge.h"

namespace assay::cases {
namespace {

using Arguments = std::vector<Value>;

constexpr std::size_t calls_looked_at = 96;  // the most recorded calls of an operator that are examined
constexpr std::size_t calls_for_a_rule = 2;  // the number of calls from which a rule's boundary is crossed
constexpr Int most_elements = 2000;          // of all results of a call; larger results show nothing more
constexpr Int largest_tried = 64;            // size of a dimension
constexpr std::size_t most_entries = 16;     // the most entries of a list that are changed

using Limits = std::numeric_limits<Int>;
constexpr std::array<Int, 24> far{0,
                                  1,
                                  2,
                                  3,
                                  4,
                                  5,
                                  7,
                                  8,
                                  16,
                                  -1,
                                  -2,
                                  -3,
                                  -5,
                                  100,
                                  -100,
                                  255,
                                  256,
                                  32768,
                                  65536,
                                  2147483647,
                                  2147483648,
                                  -2147483649,
                                  Limits::max(),
                                  Limits::min()};

// Which rule a call breaks; none where it is valid, no rule's name where it is too large to say anything.
std::string rule_within_limits(const Operator& op, Arguments arguments) {
  const Answer answer = call(op, arguments, Budget({.bytes = Int{1} << 20, .work = Int{1} << 24}));
  if (answer.outcome != Outcome::ok) return answer.rule;
  Int elements = 0;
  for (const Tensor& out : judge::out_tensors(op, arguments)) elements += out.count();
  return elements > most_elements ? "limits" : "";
}

template <class List>
Line length_of(std::size_t argument, const List& list) {
  return {std::ssize(list), [argument](Arguments& a, Int n) {
            List& own = std::get<List>(a[argument]);
            if (n < 0 || n > static_cast<Int>(most_entries) || own.empty()) return false;
            own.resize(static_cast<std::size_t>(n), own.back());
            return true;
          }};
}

// The tensor of an argument, or the k-th of a list.
Tensor& tensor_at(Arguments& arguments, std::size_t argument, std::size_t k) {
  if (Tensor* t = std::get_if<Tensor>(&arguments[argument])) return *t;
  return *std::get<Tensors>(arguments[argument])[k];
}

bool resize(Tensor& tensor, const Dims& sizes) {
  if (count(sizes) > most_elements || std::ranges::any_of(sizes, [](Int n) { return n < 0 || n > largest_tried; }))
    return false;
  tensor = resized(tensor, sizes);
  return true;
}

bool set_rank(Tensor& tensor, Int rank) {
  Dims sizes = tensor.sizes;
  if (rank < 0 || rank > max_rank) return false;
  while (sizes.size() > rank) sizes.erase(0);
  while (sizes.size() < rank) sizes.insert(0, 1);
  return resize(tensor, sizes);
}

// The first of the elements, of an index tensor mostly.
bool set_element(Tensor& tensor, Int n) {
  Array<Int> values = read<Int>(tensor);
  if (values.count() == 0 || wrap_to(tensor.dtype, n) != n) return false;
  values[0] = n;
  write(values, tensor);
  return true;
}

void add_lines(std::vector<Line>& lines, const Tensor& tensor, std::size_t argument, std::size_t k = 0) {
  for (int d = 0; d < tensor.rank(); ++d)
    lines.push_back({tensor.sizes[d], [=](Arguments& a, Int n) {
                       Tensor& t = tensor_at(a, argument, k);
                       Dims sizes = t.sizes;
                       sizes[d] = n;
                       return resize(t, sizes);
                     }});
  lines.push_back({tensor.rank(), [=](Arguments& a, Int n) { return set_rank(tensor_at(a, argument, k), n); }});
  if (is_integer(tensor.dtype) && tensor.count() > 0)
    lines.push_back(
        {read<Int>(tensor)[0], [=](Arguments& a, Int n) { return set_element(tensor_at(a, argument, k), n); }});
}

}  // namespace

std::vector<Line> lines_of(const Operator& op, const Arguments& arguments, std::size_t argument) {
  const Value& value = arguments[argument];
  const std::string_view type = op.arguments[argument].type;
  std::vector<Line> lines;
  if (const Int* n = std::get_if<Int>(&value); n && takes_number(type))
    lines.push_back({*n, [argument](Arguments& a, Int x) { return a[argument] = x, true; }});
  if (std::holds_alternative<double>(value))
    lines.push_back({1, [argument](Arguments& a, Int x) { return a[argument] = static_cast<double>(x), true; }});
  if (const Ints* list = std::get_if<Ints>(&value)) {
    for (std::size_t k = 0; k < std::min(list->size(), most_entries); ++k)
      lines.push_back({(*list)[k], [=](Arguments& a, Int x) { return std::get<Ints>(a[argument])[k] = x, true; }});
    lines.push_back(length_of(argument, *list));
  }
  if (const Doubles* list = std::get_if<Doubles>(&value)) lines.push_back(length_of(argument, *list));
  if (const Tensor* t = std::get_if<Tensor>(&value)) add_lines(lines, *t, argument);
  if (const Tensors* list = std::get_if<Tensors>(&value)) {
    for (const std::size_t k : std::set{std::size_t{0}, list->size() - 1})
      if (k < list->size() && (*list)[k]) add_lines(lines, *(*list)[k], argument, k);
    lines.push_back(length_of(argument, *list));
  }
  return lines;
}

namespace {

bool is_dtype(const Mutation& m) { return m.kind == Mutation::Kind::dtype || m.kind == Mutation::Kind::dtypes; }

// Looks for the boundaries of one operator's rules.
class BoundarySearch {
 public:
  explicit BoundarySearch(const Operator& op) : op_(op) {}

  // Whether a change of the valid call breaks the rule; its boundary is then among those found.
  bool cross(const Rule& rule, const Arguments& valid) {
    bool crossed = false;
    for (const std::size_t argument : subjects(op_, rule)) {
      for (const Line& line : lines_of(op_, valid, argument)) crossed |= walk(rule, valid, line);
      crossed |= change(rule, valid, argument, !crossed);
    }
    return crossed;
  }

  std::vector<BoundaryCall> found;

 private:
  void add(const Rule& rule, bool outside, const Arguments& arguments) {
    if (seen_.insert(fingerprint(op_, arguments)).second) found.push_back({&rule, outside, arguments});
  }

  // From the valid call to the nearest that breaks the rule, downwards and upwards.
  bool walk(const Rule& rule, const Arguments& valid, const Line& line) {
    bool crossed = false;
    for (const bool down : {true, false}) {
      const auto breaks = [&](Int n) {
        Arguments changed = valid;
        return line.set(changed, n) && rule_within_limits(op_, std::move(changed)) == rule.id;
      };
      Int outside = line.start;
      for (const Int n : far)
        if ((n < line.start) == down && n != line.start && breaks(n) &&
            (outside == line.start || (n > outside) == down))
          outside = n;
      if (outside == line.start) continue;
      crossed = true;
      Int inside = line.start;
      for (Int n = std::midpoint(inside, outside); n != inside && n != outside; n = std::midpoint(inside, outside))
        (breaks(n) ? outside : inside) = n;
      for (const Int n : {inside, outside}) {
        Arguments changed = valid;
        line.set(changed, n);
        if (n == outside || rule_within_limits(op_, changed).empty()) add(rule, n == outside, changed);
      }
    }
    return crossed;
  }

  // Of changes that are no steps: every dtype, inside or outside; of others, where asked for, the first that breaks it.
  bool change(const Rule& rule, const Arguments& valid, std::size_t argument, bool others) {
    std::vector<std::pair<bool, Arguments>> dtypes;
    bool crossed = false, crossed_by_dtype = false;
    for (const Mutation& m : changes_of(op_, valid, argument)) {
      if (!is_dtype(m) && (!others || crossed)) continue;
      Arguments changed = mutated(op_, valid, m);
      const std::string broken = rule_within_limits(op_, changed);
      if (broken == rule.id) {
        (is_dtype(m) ? crossed_by_dtype : crossed) = true;
        if (!is_dtype(m)) add(rule, false, valid), add(rule, true, changed);
      }
      if (is_dtype(m) && (broken.empty() || broken == rule.id))
        dtypes.emplace_back(!broken.empty(), std::move(changed));
    }
    if (crossed_by_dtype)
      for (const auto& [outside, arguments] : dtypes) add(rule, outside, arguments);
    return crossed || crossed_by_dtype;
  }

  const Operator& op_;
  std::set<std::string> seen_;
};

// Valid recorded calls, the smallest that have elements first, then others evenly from among the rest.
std::vector<Arguments> valid_calls(const Corpus& corpus, const RecordedCalls& calls) {
  const Operator& op = calls.op();
  std::vector<std::pair<std::pair<bool, Int>, Arguments>> all;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    Case c = corpus.make({std::string(op.name), calls.digest(i), {}});
    if (c.recorded.refused) continue;
    forget_outs(op, c.arguments);
    Int bytes = 0;
    bool empty = false;
    each_tensor(c.arguments,
                [&](const Tensor& t, std::size_t) { bytes += std::ssize(t.bytes), empty |= t.count() == 0; });
    all.emplace_back(std::pair(empty, bytes), std::move(c.arguments));
  }
  std::ranges::stable_sort(all, {}, [](const auto& a) { return a.first; });
  std::vector<Arguments> chosen;
  const std::size_t first = std::min(all.size(), calls_looked_at / 2),
                    step = std::max<std::size_t>(1, (all.size() - first) / (calls_looked_at / 2));
  for (std::size_t i = 0; i < all.size(); i += i < first ? 1 : step)
    if (rule_within_limits(op, all[i].second).empty()) chosen.push_back(std::move(all[i].second));
  return chosen;
}

}  // namespace

std::vector<BoundaryCall> boundary_calls(const Corpus& corpus, const RecordedCalls& calls) {
  const Operator& op = calls.op();
  const std::vector<Arguments> valid = valid_calls(corpus, calls);
  BoundarySearch search(op);
  for (const Rule& rule : op.rules) {
    std::size_t crossed = 0;
    for (const Arguments& arguments : valid)
      if (crossed < calls_for_a_rule) crossed += search.cross(rule, arguments);
  }
  return std::move(search.found);
}

}  // namespace assay::cases
