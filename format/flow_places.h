#pragma once

#include "format/flow_effects.h"
#include "format/view.h"

// Where the values of a method lie: which values are the same bytes, and which bytes overlap.
namespace assay::format {

inline bool is_static(const pte::Tensor& t) { return t.shape_dynamism() == pte::TensorShapeDynamism::STATIC; }
inline bool is_constant(const pte::Tensor& t) {
  return !t.allocation_info() && (t.data_buffer_idx() > 0 || is_external(t));
}
std::uint64_t bytes_of(const pte::Tensor& t);  // an upper bound, unless the tensor is unbounded
// Calls f(memory, end) for each planned tensor: the bytes of the tensor end before byte `end` of the planned memory. No
// method uses the bytes of a memory behind its largest end. Requires a valid plan.
template <class F>
void each_end(const pte::ExecutionPlan& plan, F f) {
  for (const pte::EValue* v : *plan.values())
    if (const pte::Tensor* t = v->val_as_Tensor(); t && t->allocation_info())
      f(t->allocation_info()->memory_id(), planned_offset(*t->allocation_info()) + bytes_of(*t));
}
inline bool has_initial_value(const pte::Tensor& t) {  // the tensor is state
  return t.allocation_info() && (t.data_buffer_idx() > 0 || is_external(t));
}
inline bool is_unbounded(const pte::Tensor& t) {  // its first write allocates its memory
  return t.shape_dynamism() == pte::TensorShapeDynamism::DYNAMIC_UNBOUND && !t.allocation_info();
}
bool same_beginning(const pte::Tensor& a, const pte::Tensor& b);  // both are planned at the same byte
inline bool same_place(const pte::Tensor& a, const pte::Tensor& b) {
  return same_beginning(a, b) && bytes_of(a) == bytes_of(b);
}

// Bytes of one memory. A tensor that is not planned has a memory of its own.
struct Range {
  std::uint64_t begin, end;
  std::uint32_t memory;
  std::uint32_t value;  // the first value at this range

  bool operator==(const Range& r) const { return memory == r.memory && begin == r.begin && end == r.end; }
  bool overlaps(const Range& r) const { return memory == r.memory && begin < r.end && r.begin < end; }
};

// An upper bound on the steps of an analysis, since a hostile file can make it arbitrarily long.
struct Work {
  std::uint64_t left;
  bool take(std::uint64_t steps) {
    left = steps < left ? left - steps : 0;
    return left > 0;
  }
};

// The analysis of data flow knows of each cell whether it is defined. Cells are
// - the bytes of tensors: a tensor has a cell of its own if its sizes may change, since only it knows them, if it is an
//   input, or if something writes all of it; the other tensors at a place are views that the exporter left out, and
//   share one cell;
// - the content of a handle, unless that is one of these cells;
// - a handle: whether it was made in this execution;
// - a number that instructions assign.
class Places {
 public:
  static constexpr std::uint32_t nowhere = ~std::uint32_t{0};

  // The numbers of the things that take memory.
  struct Counts {
    std::uint32_t values, tensors = 0, aliases = 0, jumps = 0;
    explicit Counts(const pte::ExecutionPlan& plan);
  };
  Places(const Method& method, const Counts& counts, Workspace& workspace, Work& work);

  std::uint32_t cells() const { return cells_; }
  std::uint32_t content(std::uint32_t value) const { return content_[value]; }  // nowhere: always defined
  std::uint32_t handle(std::uint32_t value) const { return handle_[value]; }    // nowhere: the content is its only cell
  std::span<const Range> ranges() const { return ranges_; }                     // of the first cells, in their order
  std::uint32_t contents_end() const { return contents_end_; }                  // cells before this one hold contents
  bool holds_tensors(std::uint32_t cell) const { return cell < contents_end_; }
  bool is_static(std::uint32_t content) const;
  // The cell of the static views at the place of this cell; nowhere: there are none.
  std::uint32_t views_of(std::uint32_t cell) const { return cell < views_.size() ? views_[cell] : nowhere; }
  // Calls f(Range) for each range in which a tensor's content is or may be.
  template <class F>
  void each_range(std::uint32_t content, F f) const {
    if (content < ranges_.size()) return f(ranges_[content]);
    if (content < contents_end_)
      for (const std::uint32_t s : held(content).subspan(1)) f(ranges_[s]);
  }
  // Whether any bytes of a are bytes of b.
  bool overlap(std::uint32_t a, std::uint32_t b, Work& work) const;

  bool is_input(std::uint32_t v) const { return flags_[v] & input; }
  bool is_output(std::uint32_t v) const { return flags_[v] & output; }
  bool is_handle(std::uint32_t v) const { return flags_[v] & alias; }
  bool may_change(std::uint32_t v) const { return flags_[v] & changing; }  // a number that an instruction may write
  bool is_assigned(std::uint32_t v) const {
    return flags_[v] & assigned;
  }  // a number that must be written before it is used
  bool is_constant(std::uint32_t v) const { return flags_[v] & constant; }  // or a handle of a constant
  bool is_own(std::uint32_t v) const { return flags_[v] & own; }  // not a view: something writes all its bytes
  bool may_be_state(std::uint32_t v) const { return flags_[v] & state; }

 private:
  enum Flag : std::uint16_t {
    input = 1,
    output = 2,
    alias = 4,
    changing = 8,
    assigned = 16,
    constant = 32,
    state = 64,
    used = 128,
    own = 256
  };
  struct Edge {
    std::uint32_t to, from;
    auto operator<=>(const Edge&) const = default;
  };

  void mark_values();
  void mark_handles(Work& work);
  void place_tensors();
  std::span<Edge> collect(std::span<Edge> edges) const;
  void place_handles(std::span<const Edge> edges, std::span<std::uint32_t> queue, Work& work);
  std::size_t find_sources(std::uint32_t handle, std::span<const Edge> edges, std::span<std::uint32_t> queue,
                           Work& work);
  void number_cells();
  // For a content behind the ranges: the handle, then the ranges in which it may be.
  std::span<const std::uint32_t> held(std::uint32_t content) const {
    const std::size_t h = content - ranges_.size();
    return sources_.subspan(begins_[h], begins_[h + 1] - begins_[h]);
  }

  const Method& m_;
  std::span<std::uint16_t> flags_;
  std::span<std::uint32_t> content_, handle_;
  std::span<Range> ranges_;
  std::span<std::uint32_t> views_;
  std::span<std::uint32_t> sources_, begins_;  // see held()
  std::uint32_t contents_end_ = 0, cells_ = 0;
};

}  // namespace assay::format
