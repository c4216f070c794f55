#include "conformance/programs/memory_use.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include "conformance/programs/listing.h"

namespace assay {
namespace {

struct Span {
  Int first, last;
  bool read_first;
};

struct BackwardJump {
  Int from, to;
};

// The instructions between which each tensor is used.
class Lifetimes {
 public:
  explicit Lifetimes(const pte::ExecutionPlanT& plan) : plan_(plan) {
    for (const auto& chain : plan.chains) {
      const Int begin = count_;
      for (const auto& instruction : chain->instructions) add(listed(plan, *instruction), begin);
    }
    const Int last = std::max<Int>(count_ - 1, 0);
    for (const std::int32_t i : plan.inputs) use(i, 0);
    for (const std::int32_t i : plan.outputs) use(i, last);
    for (std::size_t i = 0; i < plan.values.size(); ++i)
      if (const auto* t = plan.values[i]->val.AsTensor(); t && is_state(*t))
        use(static_cast<Int>(i), 0), use(static_cast<Int>(i), last);
    for (auto& [value, span] : spans_) keep_through_loops(span);
  }

  std::optional<Span> of(Int value) const {
    const auto found = spans_.find(value);
    return found == spans_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  void add(const Listed& instruction, Int begin) {
    for (const Operand& o : instruction.operands) use(o.value, count_, o.role == Operand::Role::input);
    if (instruction.target && begin + *instruction.target <= count_)
      jumps_.push_back({count_, begin + *instruction.target});
    ++count_;
  }
  void use(Int value, Int at, bool read = false) {
    for (const Int t : tensors_of(plan_, value)) {
      Span& span = spans_.try_emplace(t, Span{at, at, read}).first->second;
      span = {std::min(span.first, at), std::max(span.last, at), span.read_first};
    }
  }
  // What comes into a loop is needed in its next round.
  void keep_through_loops(Span& span) const {
    for (const BackwardJump& jump : jumps_)
      if (span.first < jump.to && span.last >= jump.to) span.last = std::max(span.last, jump.from);
  }

  const pte::ExecutionPlanT& plan_;
  Int count_ = 0;
  std::map<Int, Span> spans_;
  std::vector<BackwardJump> jumps_;
};

double offset_of(const pte::AllocationDetailsT& a) {
  return static_cast<double>(std::uint64_t{a.memory_offset_high} << 32 | a.memory_offset_low);
}

// A view that the plan makes by giving it the place of another tensor is there from that one's last use on.
void begin_with_origin(MemoryUse& use) {
  const std::vector<Tenant> before = use.tenants;
  for (Tenant& t : use.tenants) {
    if (!t.inherits) continue;
    Int origin = 0;
    for (const Tenant& o : before)
      if (o.last < t.first && o.offset < t.end && t.offset < o.end) origin = std::max(origin, o.last);
    t.first = std::min(t.first, origin);
  }
}

// Bytes that at least one of these holds.
double held(const std::multiset<std::pair<double, double>>& places) {
  double sum = 0, before = 0;
  for (const auto& [begin, end] : places) {
    sum += std::max(0.0, end - std::max(begin, before));
    before = std::max(before, end);
  }
  return sum;
}

void find_most(MemoryUse& use) {
  std::map<Int, std::pair<std::vector<const Tenant*>, std::vector<const Tenant*>>>
      changes;  // who comes, and who has gone
  for (const Tenant& t : use.tenants) {
    changes[t.first].first.push_back(&t);
    changes[t.last + 1].second.push_back(&t);
  }
  std::multiset<std::pair<double, double>> places;
  for (const auto& [at, change] : changes) {
    for (const Tenant* t : change.second) places.erase(places.find({t->offset, t->end}));
    for (const Tenant* t : change.first) places.emplace(t->offset, t->end);
    if (const double now = held(places); now > use.most) use.most = now, use.most_at = at;
  }
}

// -- the picture --------------------------------------------------------------------------------------------------

constexpr Int most_columns = 80, most_rows = 16;

double overlap(double a, double b, double c, double d) { return std::max(0.0, std::min(b, d) - std::max(a, c)); }

class Picture {
 public:
  Picture(const MemoryUse& use, Int instructions) : use_(use), time_(static_cast<double>(instructions)) {
    const Int each = std::clamp<Int>(most_columns / std::max<Int>(instructions, 1), 1, 6);
    columns_ = std::min(instructions * each, most_columns);
    rows_ = std::clamp<Int>((use.bytes + 15) / 16, 1, most_rows);
    best_.resize(static_cast<std::size_t>(columns_ * rows_), 0);
    cells_.resize(best_.size(), '.');
    std::string marks(use.tenants.size(), ' ');
    for (std::size_t i = 0; i < marks.size(); ++i) marks[i] = static_cast<char>('a' + i % 26);
    char next = 'A';
    for (const std::size_t i : largest_tenants(use)) marks[i] = next++;
    for (std::size_t i = 0; i < marks.size(); ++i) draw(use.tenants[i], marks[i]);
  }

  std::string text() const {
    std::string all;
    for (Int row = rows_ - 1; row >= 0; --row)
      all += fmt::format("{:>13} |{}\n", static_cast<Int>(static_cast<double>(row) * band()),
                         std::string_view(cells_.data() + row * columns_, static_cast<std::size_t>(columns_)));
    return all + axis();
  }

 private:
  double band() const { return static_cast<double>(use_.bytes) / static_cast<double>(rows_); }
  double tick() const { return time_ / static_cast<double>(columns_); }

  // Columns and rows that an interval touches.
  static std::pair<Int, Int> touched(double begin, double end, double step, Int count) {
    const double most = static_cast<double>(count - 1);
    return {static_cast<Int>(std::clamp(begin / step, 0.0, most)), static_cast<Int>(std::clamp(end / step, 0.0, most))};
  }
  void draw(const Tenant& t, char mark) {
    const double begin = static_cast<double>(t.first), end = static_cast<double>(t.last + 1);
    const auto [left, right] = touched(begin, end, tick(), columns_);
    const auto [low, high] = touched(t.offset, t.end, band(), rows_);
    for (Int row = low; row <= high; ++row)
      for (Int column = left; column <= right; ++column) {
        const double x = static_cast<double>(column) * tick(), y = static_cast<double>(row) * band();
        claim(static_cast<std::size_t>(row * columns_ + column),
              overlap(begin, end, x, x + tick()) * overlap(t.offset, t.end, y, y + band()), mark);
      }
  }
  void claim(std::size_t cell, double area, char mark) {
    if (area <= best_[cell]) return;
    best_[cell] = area, cells_[cell] = mark;
  }
  // Numbers of instructions, each under where it begins.
  std::string axis() const {
    constexpr double apart = 8;
    std::string line(static_cast<std::size_t>(columns_), ' ');
    const Int step = std::max<Int>(static_cast<Int>(apart * tick()), 1);
    for (Int at = 0; at < static_cast<Int>(time_); at += step) {
      const auto column = static_cast<std::size_t>(static_cast<double>(at) / tick());
      const std::string number = std::to_string(at);
      if (column + number.size() <= line.size()) line.replace(column, number.size(), number);
    }
    return fmt::format("{:>13}  {}\n", "instruction", line);
  }

  const MemoryUse& use_;
  double time_;
  Int columns_, rows_;
  std::vector<double> best_;
  std::string cells_;
};

}  // namespace

bool is_state(const pte::TensorT& t) {
  const bool external = t.extra_tensor_info && t.extra_tensor_info->location == pte::TensorDataLocation::EXTERNAL;
  const bool named = t.extra_tensor_info && !t.extra_tensor_info->fully_qualified_name.empty();
  return t.allocation_info && (named || external || t.data_buffer_idx > 0);
}

double byte_count(const pte::TensorT& t) {
  const auto dtype = dtype_numbered(t.scalar_type);
  double bytes = dtype ? info(*dtype).bytes : 0;
  for (const std::int32_t n : t.sizes) bytes *= std::max(n, 0);
  return bytes;
}

std::vector<MemoryUse> memory_use(const pte::ExecutionPlanT& plan) {
  std::vector<MemoryUse> all;
  for (std::size_t i = 1; i < plan.non_const_buffer_sizes.size(); ++i)
    all.push_back({static_cast<std::uint32_t>(i), std::max<Int>(plan.non_const_buffer_sizes[i], 0), {}});
  const Lifetimes lifetimes(plan);
  for (std::size_t i = 0; i < plan.values.size(); ++i) {
    const auto* t = plan.values[i]->val.AsTensor();
    const auto span = lifetimes.of(static_cast<Int>(i));
    if (!t || !t->allocation_info || !span || t->allocation_info->memory_id < 1 ||
        t->allocation_info->memory_id > all.size())
      continue;
    const double offset = offset_of(*t->allocation_info);
    all[t->allocation_info->memory_id - 1].tenants.push_back(
        {static_cast<Int>(i), offset, offset + byte_count(*t), span->first, span->last, span->read_first});
  }
  for (MemoryUse& use : all) {
    begin_with_origin(use);
    std::ranges::stable_sort(use.tenants, {}, &Tenant::first);
    find_most(use);
  }
  return all;
}

std::string picture(const MemoryUse& use, Int instructions) {
  return instructions == 0 || use.bytes == 0 ? "" : Picture(use, instructions).text();
}

std::vector<std::size_t> largest_tenants(const MemoryUse& use) {
  constexpr std::size_t most = 12;
  std::vector<std::size_t> order(use.tenants.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater(),
                           [&](std::size_t i) { return use.tenants[i].end - use.tenants[i].offset; });
  order.resize(std::min(most, order.size()));
  std::ranges::sort(order);
  return order;
}

}  // namespace assay
