#include "conformance/inspect/memory_use.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>

#include "reference/dtype.h"

namespace assay::inspect {
namespace {

// The lifetime of a value, as numbers of instructions.
struct Use {
  static constexpr std::uint32_t never = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t first = never, last = 0;
  std::uint32_t first_read = never, first_write = never;  // by an instruction, not by the caller

  bool is_any() const { return first != never; }
  bool reads_first() const { return first_read != never && first_read <= first_write; }
  void add(const Use& more) {
    first = std::min(first, more.first), last = std::max(last, more.last);
    first_read = std::min(first_read, more.first_read), first_write = std::min(first_write, more.first_write);
  }
};

struct BackwardJump {
  std::uint32_t from, to;
};

// The lifetime of each value.
class Lifetimes {
 public:
  explicit Lifetimes(const pte::ExecutionPlan& plan) : plan_(plan), uses_(format::size_of(plan.values())) {
    for (const pte::Chain& chain : tables(plan.chains())) {
      const std::uint32_t begin = count_;
      for (const pte::Instruction& instruction : tables(chain.instructions())) add(listed(plan, instruction), begin);
    }
    const std::uint32_t last = std::max(count_, 1u) - 1;
    for (const std::int32_t i : format::items(plan.inputs())) use(i, {0, 0});
    for (const std::int32_t i : format::items(plan.outputs())) use(i, {last, last});
    for (Int i = 0; i < static_cast<Int>(uses_.size()); ++i)
      if (const auto* t = tensor_at(plan, i); t && is_state(*t)) use(i, {0, last});
    for (Int i = 0; i < static_cast<Int>(uses_.size()); ++i) use_listed(i);
    Budget::Scope::work(static_cast<Int>(uses_.size() * jumps_.size()));
    for (Use& u : uses_) keep_through_loops(u);
  }

  const Use& of(std::uint32_t value) const { return uses_[value]; }
  std::uint32_t size() const { return static_cast<std::uint32_t>(uses_.size()); }

 private:
  void add(const Listed& instruction, std::uint32_t begin) {
    for (const Operand& o : instruction.operands)
      use(o.value, o.role == Operand::Role::input ? Use{count_, count_, count_, Use::never}
                                                  : Use{count_, count_, Use::never, count_});
    if (instruction.target && *instruction.target >= 0 && begin + *instruction.target <= count_)
      jumps_.push_back({count_, begin + static_cast<std::uint32_t>(*instruction.target)});
    ++count_;
  }
  void use(Int value, const Use& more) {
    if (value_at(plan_, value)) uses_[static_cast<std::size_t>(value)].add(more);
  }
  // A use of a list is a use of its tensors. Many instructions may use one list; recording the first use is enough.
  void use_listed(Int list) {
    const Use use = uses_[static_cast<std::size_t>(list)];
    if (!use.is_any()) return;
    each_tensor(plan_, list, [&](Int t) {
      if (t != list) uses_[static_cast<std::size_t>(t)].add(use);
    });
  }
  // A value that is live into a loop is live in all its iterations.
  void keep_through_loops(Use& u) const {
    for (const BackwardJump& jump : jumps_)
      if (u.first < jump.to && u.last >= jump.to) u.last = std::max(u.last, jump.from);
  }

  const pte::ExecutionPlan& plan_;
  std::uint32_t count_ = 0;
  Buffer<Use> uses_;  // of each value
  Buffer<BackwardJump> jumps_;
};

// -- tenants over time --------------------------------------------------------------------------------------------

// A map from addresses to T, constant over ranges.
template <class T>
class Ranges {
 public:
  // Calls f(length, T&) for each range between begin and end that has one T.
  template <class F>
  void each(double begin, double end, F f) {
    if (begin >= end) return;
    const auto first = split(begin), last = split(end);
    for (auto at = first; at != last; ++at, Budget::Scope::work(range_cost))
      f(std::next(at)->first - at->first, at->second);
    join(first, std::next(last));
  }

 private:
  static constexpr Int range_cost = 50;  // nodes of a tree
  using Map = std::map<double, T, std::less<>, Charged<std::pair<const double, T>>>;

  typename Map::iterator split(double at) {
    const auto behind = ranges_.upper_bound(at);
    const auto before = std::prev(behind);
    return before->first == at ? before : ranges_.emplace_hint(behind, at, before->second);
  }
  void join(typename Map::iterator first, typename Map::iterator end) {
    if (first != ranges_.begin()) --first;
    for (auto at = std::next(first); at != end; at = std::next(first))
      at->second == first->second ? void(ranges_.erase(at)) : void(first = at);
  }

  Map ranges_ = {{-1, T()}};  // from each address to the next one
};

// The places of tenants, by the end of their lifetime.
Buffer<std::uint32_t> by_last(const MemoryUse& use) {
  Buffer<std::uint32_t> order(use.tenants.size());
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::sort(order, {}, [&](std::uint32_t i) { return use.tenants[i].last; });
  return order;
}

void sort_by_first(MemoryUse& use) {
  std::ranges::sort(use.tenants, {}, [](const Tenant& t) { return std::pair(t.first, t.value); });
}

// A view that is planned at the place of another tensor lives from the last use of that tensor on.
void begin_with_origin(MemoryUse& use) {
  Ranges<std::uint32_t> last_uses;
  const Buffer<std::uint32_t> leaving = by_last(use);
  auto gone = leaving.begin();
  for (Tenant& t : use.tenants) {
    for (; gone != leaving.end() && use.tenants[*gone].last < t.first; ++gone) {
      const Tenant& o = use.tenants[*gone];
      last_uses.each(o.offset, o.end, [&](double, std::uint32_t& last) { last = o.last; });
    }
    std::uint32_t origin = 0;
    if (t.inherits)
      last_uses.each(t.offset, t.end, [&](double, std::uint32_t last) { origin = std::max(origin, last); });
    if (t.inherits) t.first = std::min(t.first, origin);
  }
  sort_by_first(use);
}

void find_most(MemoryUse& use) {
  Ranges<std::uint32_t> holders;
  double held = 0;
  const Buffer<std::uint32_t> leaving = by_last(use);
  auto gone = leaving.begin();
  for (const Tenant& t : use.tenants) {
    for (; gone != leaving.end() && use.tenants[*gone].last < t.first; ++gone)
      holders.each(use.tenants[*gone].offset, use.tenants[*gone].end,
                   [&](double bytes, std::uint32_t& count) { held -= --count == 0 ? bytes : 0; });
    holders.each(t.offset, t.end, [&](double bytes, std::uint32_t& count) { held += count++ == 0 ? bytes : 0; });
    if (held > use.most) use.most = held, use.most_at = t.first;
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
    rows_ = std::clamp<Int>(use.bytes / 16 + (use.bytes % 16 > 0), 1, most_rows);
    best_.resize(static_cast<std::size_t>(columns_ * rows_), 0);
    cells_.resize(best_.size(), '.');
    Budget::Scope::work(static_cast<Int>(use.tenants.size()));
    const std::vector<std::size_t> largest = largest_tenants(use);
    for (std::size_t i = 0, capital = 0; i < use.tenants.size(); ++i) {
      const bool large = capital < largest.size() && largest[capital] == i;
      draw(use.tenants[i], static_cast<char>(large ? 'A' + capital++ : 'a' + i % 26));
    }
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
    const double begin = t.first, end = t.last + 1.0;
    const auto [left, right] = touched(begin, end, tick(), columns_);
    const auto [low, high] = touched(t.offset, t.end, band(), rows_);
    Budget::Scope::work((high - low + 1) * (right - left + 1));
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
  // The axis: numbers of instructions, each below its column.
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

bool is_state(const pte::Tensor& t) {
  return t.allocation_info() && (!format::name_of(t).empty() || format::is_external(t) || t.data_buffer_idx() > 0);
}

double byte_count(int scalar_type, std::span<const std::int32_t> sizes) {
  constexpr double most = 0x1p64;  // for an invalid program
  const auto dtype = dtype_numbered(scalar_type);
  Budget::Scope::work(static_cast<Int>(sizes.size()));
  double bytes = dtype ? info(*dtype).bytes : 0;
  for (const std::int32_t n : sizes) bytes = std::min(bytes * std::max(n, 0), most);
  return bytes;
}

Buffer<MemoryUse> memory_use(const pte::ExecutionPlan& plan) {
  const std::span sizes = format::items(plan.non_const_buffer_sizes());
  Buffer<MemoryUse> all(std::max<std::size_t>(sizes.size(), 1) - 1);
  for (std::uint32_t i = 0; i < all.size(); ++i) all[i].memory = i + 1, all[i].bytes = std::max<Int>(sizes[i + 1], 0);
  const Lifetimes lifetimes(plan);
  const auto each_planned = [&](auto f) {
    for (std::uint32_t i = 0; i < lifetimes.size(); ++i)
      if (const auto* t = tensor_at(plan, i); t && t->allocation_info() && lifetimes.of(i).is_any())
        if (const auto memory = t->allocation_info()->memory_id(); memory >= 1 && memory <= all.size())
          f(i, *t, memory - 1);
  };
  Buffer<std::size_t> tenants(all.size());
  each_planned([&](std::uint32_t, const pte::Tensor&, std::size_t memory) { ++tenants[memory]; });
  for (std::size_t i = 0; i < all.size(); ++i) all[i].tenants.reserve(tenants[i]);
  each_planned([&](std::uint32_t i, const pte::Tensor& t, std::size_t memory) {
    const auto offset = static_cast<double>(format::planned_offset(*t.allocation_info()));
    const Use& u = lifetimes.of(i);
    all[memory].tenants.push_back({i, u.first, u.last, u.reads_first(), offset, offset + byte_count(t)});
  });
  for (MemoryUse& use : all) {
    sort_by_first(use);
    begin_with_origin(use);
    find_most(use);
  }
  return all;
}

std::string picture(const MemoryUse& use, Int instructions) {
  return instructions == 0 || use.bytes == 0 ? "" : Picture(use, instructions).text();
}

std::vector<std::size_t> largest_tenants(const MemoryUse& use) {
  std::vector<std::size_t> order(std::min<std::size_t>(use.tenants.size(), 12));
  std::vector<std::size_t> all(use.tenants.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  const auto larger = [&](std::size_t a, std::size_t b) {
    const auto size = [&](std::size_t i) { return std::pair(use.tenants[i].end - use.tenants[i].offset, -double(i)); };
    return size(a) > size(b);
  };
  std::ranges::partial_sort_copy(all, order, larger);
  std::ranges::sort(order);
  return order;
}

}  // namespace assay::inspect
