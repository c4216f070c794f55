#pragma once

#include "format/flow_effects.h"
#include "format/view.h"

// Finds where the values of a method are stored: which values share all their bytes, and which bytes overlap.
namespace assay::format {

inline bool is_static(const pte::Tensor& t) { return t.shape_dynamism() == pte::TensorShapeDynamism::STATIC; }
inline bool is_constant(const pte::Tensor& t) {
  return !t.allocation_info() && (t.data_buffer_idx() > 0 || is_external(t));
}
// The largest number of bytes that the tensor may have; requires a tensor that is not unbounded.
std::uint64_t bytes_of(const pte::Tensor& t);
// Calls f(context, memory, end) for each planned tensor: the bytes of the tensor end before byte `end` of the planned
// memory. No method uses the bytes of a memory beyond the largest of its ends. Requires a valid plan.
void each_end(const pte::ExecutionPlan& plan, void (*f)(void* context, std::uint32_t memory, std::uint64_t end),
              void* context);
// Whether the file states an initial value, which makes the tensor state.
inline bool has_initial_value(const pte::Tensor& t) {
  return t.allocation_info() && (t.data_buffer_idx() > 0 || is_external(t));
}
inline bool is_unbounded(const pte::Tensor& t) {  // whether its first write allocates its memory
  return t.shape_dynamism() == pte::TensorShapeDynamism::DYNAMIC_UNBOUND && !t.allocation_info();
}
bool same_beginning(const pte::Tensor& a, const pte::Tensor& b);  // whether both tensors are planned at the same byte
inline bool same_place(const pte::Tensor& a, const pte::Tensor& b) {
  return same_beginning(a, b) && bytes_of(a) == bytes_of(b);
}

// A range of bytes in one memory. A tensor that is not planned has a memory of its own.
struct Range {
  std::uint64_t begin, end;
  std::uint32_t memory;
  std::uint32_t value;  // the first value that is stored in this range

  bool operator==(const Range& r) const { return memory == r.memory && begin == r.begin && end == r.end; }
  bool overlaps(const Range& r) const { return memory == r.memory && begin < r.end && r.begin < end; }
};

// A limit on the steps of an analysis, which a hostile file could make arbitrarily long.
struct Work {
  std::uint64_t left;
  bool take(std::uint64_t steps) {
    left = steps < left ? left - steps : 0;
    return left > 0;
  }
};

// The cells of a method. The analysis of data flow tracks for each cell whether it is defined. There are four kinds of
// cells:
// - the bytes of tensors. A tensor has its own cell in three cases: its sizes may change, so that no other value has
//   the current sizes; it is an input; or an instruction writes all of its bytes. All other tensors with the same range
//   are results of views that the exporter removed. They share one cell;
// - the content of a handle, if it is none of the cells above;
// - a handle, which is defined if it was set in this execution;
// - a number that instructions write.
// A handle is a tensor value that refers to the memory of another tensor (spec/format/flow.md, Handles). Its content is
// the elements to which it refers.
class Places {
 public:
  static constexpr std::uint32_t nowhere = ~std::uint32_t{0};

  // The numbers of objects in a plan, which determine the size of the tables.
  struct Counts {
    std::uint32_t values, tensors = 0, aliases = 0, jumps = 0;
    explicit Counts(const pte::ExecutionPlan& plan);
  };
  Places(const Method& method, const Counts& counts, Workspace& workspace, Work& work);

  std::uint32_t cells() const { return cells_; }
  // The cell of the value's content, or `nowhere` if the value is always defined.
  std::uint32_t content(std::uint32_t value) const { return content_[value]; }
  // If the value is a handle, the cell that tells whether the handle was set. Otherwise `nowhere`.
  std::uint32_t handle(std::uint32_t value) const { return handle_[value]; }
  // The ranges of the first cells, in the order of the cells.
  std::span<const Range> ranges() const { return ranges_; }
  std::uint32_t contents_end() const { return contents_end_; }  // cells below this number are contents
  bool holds_tensors(std::uint32_t cell) const { return cell < contents_end_; }
  bool is_static(std::uint32_t content) const;
  // The cell of the static views with the same range as this cell, or `nowhere` if there are no such views.
  std::uint32_t views_of(std::uint32_t cell) const { return cell < views_.size() ? views_[cell] : nowhere; }
  // Calls f(Range) for each range in which the content may be. A content that is not a handle's has exactly one range.
  template <class F>
  void each_range(std::uint32_t content, F f) const {
    if (content < ranges_.size()) return f(ranges_[content]);
    if (content < contents_end_)
      for (const std::uint32_t s : held(content).subspan(1)) f(ranges_[s]);
  }
  // Whether the contents a and b have or may have a common byte.
  bool overlap(std::uint32_t a, std::uint32_t b, Work& work) const;

  bool is_input(std::uint32_t v) const { return flags_[v] & input; }
  bool is_output(std::uint32_t v) const { return flags_[v] & output; }
  bool is_handle(std::uint32_t v) const { return flags_[v] & alias; }
  // Whether v is a number that an instruction may write.
  bool may_change(std::uint32_t v) const { return flags_[v] & changing; }
  // Whether v is a number that must be written before it is used.
  bool is_assigned(std::uint32_t v) const { return flags_[v] & assigned; }
  // Whether v is a constant or a handle of a constant.
  bool is_constant(std::uint32_t v) const { return flags_[v] & constant; }
  // Whether an instruction writes all bytes of v, so that v is not a view.
  bool is_own(std::uint32_t v) const { return flags_[v] & own; }
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
  // For a content that is not a range, returns the handle, followed by the ranges in which the content may be.
  std::span<const std::uint32_t> held(std::uint32_t content) const {
    const std::size_t h = content - ranges_.size();
    return sources_.subspan(begins_[h], begins_[h + 1] - begins_[h]);
  }

  const Method& m_;
  std::span<std::uint16_t> flags_;
  std::span<std::uint32_t> content_, handle_;
  std::span<Range> ranges_;
  std::span<std::uint32_t> views_;
  std::span<std::uint32_t> sources_, begins_;  // the lists that held() returns
  std::uint32_t contents_end_ = 0, cells_ = 0;
};

}  // namespace assay::format
