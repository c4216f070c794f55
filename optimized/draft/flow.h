#pragma once

#include <optional>

#include "optimized/draft/source.h"

// The data flow of a method whose instructions run in order: which instruction reads what another instruction wrote. A
// source has no calls of views: instead, two values have the same bytes, and an instruction may read through one value
// what was written through the other.
namespace assay::optimized {

class Flow {
 public:
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  // Whether the instructions run in order and no instruction moves a value.
  static bool is_straight(const Source& source);
  // Analyses a source. Returns nothing if there is too little memory or the analysis would take more than `most_steps`
  // steps.
  static std::optional<Flow> of(const Source& source, format::Workspace& workspace);
  static constexpr std::uint64_t most_steps = std::uint64_t{1} << 26;

  // Values whose bytes overlap are a group. The root is the value that identifies the group.
  std::uint32_t root(std::uint32_t value) const;
  struct Group {
    std::uint32_t writers = 0, readers = 0;  // the numbers of writes and reads by instructions
    std::uint32_t writer = none;             // the last instruction that writes the group
    std::uint32_t members = 1;
    bool input = false, output = false, state = false;  // whether one of its values is an input, an output or state
    bool same_place = true;                             // whether all its values have exactly the same bytes
  };
  const Group& group(std::uint32_t value) const { return groups_[root(value)]; }
  // Whether exactly one instruction writes the group, writes all of it, and only instructions read it.
  bool is_private(std::uint32_t value) const {
    const Group& g = group(value);
    return g.writers == 1 && g.same_place && !g.input && !g.output && !g.state;
  }
  // Whether the group never changes after its first read.
  bool is_steady(std::uint32_t value) const {
    const Group& g = group(value);
    return !g.state && g.same_place && g.writers == (g.input ? 0 : 1);
  }

  // The range of a value's bytes in a planned memory or in a memory of its own. A merged value has the bytes of the
  // group into which it was merged.
  struct Place {
    std::uint32_t memory;
    std::uint64_t begin, size;
  };
  const Place& place(std::uint32_t value) const { return places_[value]; }
  // Drops a copy from b to a: the values of a's group become values of b's group. Requires groups with equally many
  // bytes.
  void merge(std::uint32_t a, std::uint32_t b);
  // Records that one more instruction, or one less, reads the value's group.
  void enter(std::uint32_t value) { ++groups_[root(value)].readers; }
  void leave(std::uint32_t value) { --groups_[root(value)].readers; }
  template <class F>
  void each_member(std::uint32_t value, F f) const {
    std::uint32_t v = value;
    do f(v), v = next_[v];
    while (v != value);
  }

 private:
  struct Written {  // bytes that hold what was written through a value
    std::uint32_t memory, value;
    std::uint64_t begin, end;
  };

  Flow() = default;
  bool take(const Source& source, format::Workspace& workspace);
  bool write_given(const Source& source);
  bool follow(const Source& source, std::uint32_t i);
  bool read_outputs(const Source& source);
  bool enter_read(std::uint32_t value);
  bool enter_write(std::uint32_t value, std::uint32_t instruction);
  bool read(std::uint32_t value);
  bool write(std::uint32_t value);
  bool cover(const Written& range);
  void join(std::uint32_t a, std::uint32_t b);
  Written range(std::uint32_t v) const {
    return {places_[v].memory, v, places_[v].begin, places_[v].begin + places_[v].size};
  }

  std::span<std::uint32_t> parents_, next_;
  std::span<Group> groups_;
  std::span<Place> places_;
  std::span<Written> written_;
  std::size_t count_ = 0;
  std::uint64_t left_ = most_steps;
};

}  // namespace assay::optimized
