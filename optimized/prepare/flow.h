#pragma once

#include <optional>

#include "format/flow_effects.h"
#include "optimized/runtime/kernel.h"

// The data flow of a method whose instructions run one after another: who writes what who reads. The exporter leaves
// views out, so that values are the same bytes where one reads what was written as the other.
namespace assay::optimized {

class Flow {
 public:
  static constexpr std::uint32_t nobody = ~std::uint32_t{0};

  // Whether instructions run in order and none gives a value another place.
  static bool is_straight(const format::Method& method);
  // None where there is no room, or more to look at than `most_steps`.
  static std::optional<Flow> of(const format::Method& method, std::span<const std::uint8_t> is_state,
                                format::Workspace& workspace);
  static constexpr std::uint64_t most_steps = std::uint64_t{1} << 26;

  // Values that are the same bytes, or a part of them: the root stands for all.
  std::uint32_t root(std::uint32_t value) const;
  struct Group {
    std::uint32_t writers = 0, readers = 0;  // how often instructions do
    std::uint32_t writer = nobody;           // the last of them
    std::uint32_t members = 1;
    bool input = false, output = false, state = false;  // what the caller sees, or stays
    bool same_place = true;                             // its values all are the same bytes
  };
  const Group& group(std::uint32_t value) const { return groups_[root(value)]; }
  // An instruction writes it, once and whole, and only instructions read it.
  bool is_private(std::uint32_t value) const {
    const Group& g = group(value);
    return g.writers == 1 && g.same_place && !g.input && !g.output && !g.state;
  }
  // Never changes while it is of use.
  bool is_steady(std::uint32_t value) const {
    const Group& g = group(value);
    return !g.state && g.same_place && g.writers == (g.input ? 0 : 1);
  }

  // The bytes of a value in the plan, or in a memory of its own. Those of what is merged are those of what it is
  // merged with.
  struct Place {
    std::uint32_t memory;
    std::uint64_t begin, size;
  };
  const Place& place(std::uint32_t value) const { return places_[value]; }
  // From here on the values of a's group are those of b's, of as many bytes: nobody sees that one was copied.
  void merge(std::uint32_t a, std::uint32_t b);
  // One more instruction reads it, or one less.
  void enter(std::uint32_t value) { ++groups_[root(value)].readers; }
  void leave(std::uint32_t value) { --groups_[root(value)].readers; }
  template <class F>
  void each_member(std::uint32_t value, F f) const {
    std::uint32_t v = value;
    do f(v), v = next_[v];
    while (v != value);
  }

 private:
  struct Written {  // bytes that hold what was written as a value
    std::uint32_t memory, value;
    std::uint64_t begin, end;
  };

  Flow() = default;
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
