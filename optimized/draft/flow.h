#pragma once

#include <algorithm>
#include <optional>

#include "optimized/draft/source.h"

// The data flow of a method: which instruction may read what another instruction wrote. Two values may have the same
// bytes, and an instruction may read through one value what was written through the other. A block is a sequence of
// instructions that run in order: only its last instruction may jump, and jumps lead only to its first instruction.
namespace assay::optimized {

class Flow {
 public:
  static constexpr std::uint32_t none = ~std::uint32_t{0};

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
    // Whether a handle refers to its bytes, except a view that always has the place of its base.
    bool aliased = false;
    // Whether a handle may refer to its bytes or to other bytes, so that not all its reads and writes are known.
    bool escapes = false;
    std::uint32_t block = none;  // the block of one of its uses
    // Whether all its uses are in one block, and no instruction both reads and writes it. If exactly one instruction
    // writes it, all other uses follow, because the rules of data flow require a write on each path to a read.
    bool local = true;
  };
  const Group& group(std::uint32_t value) const { return members_[root(value)].group; }
  // Whether exactly one instruction writes the group, writes all of it, and only later instructions of the same block
  // read it.
  bool is_private(std::uint32_t value) const {
    const Group& g = group(value);
    return g.writers == 1 && g.local && g.same_place && !g.input && !g.output && !g.state && !g.aliased;
  }
  // Whether the group does not change from its first read in a block to the end of the block.
  bool is_steady(std::uint32_t value) const {
    const Group& g = group(value);
    return !g.state && !g.escapes && g.same_place && g.writers == (g.input ? 0 : 1);
  }

  // The number of the block of an instruction.
  std::uint32_t block(std::uint32_t instruction) const { return points_[instruction].block; }

  // The first and the last instruction that may run between two uses of a group: in a loop, those of the loop unless
  // the group is local.
  struct Interval {
    std::uint32_t first, last;
  };
  Interval lifetime(std::uint32_t value, Interval uses) const;

  // The range of a value's bytes in a planned memory or in a memory of its own. A merged value has the bytes of the
  // group into which it was merged. A handle, which an instruction makes an alias of another value, has the bytes of
  // that value. If it is planned or may refer to several values, its place does not tell its bytes, and it escapes.
  struct Place {
    std::uint32_t memory;
    std::uint64_t begin, size;
    bool operator==(const Place&) const = default;
  };
  const Place& place(std::uint32_t value) const { return members_[value].place; }
  // Drops a copy from b to a: the values of a's group become values of b's group. Requires groups with equally many
  // bytes.
  void merge(std::uint32_t a, std::uint32_t b);
  // Records that one more instruction, or one less, reads the value's group.
  void enter(std::uint32_t value) { ++members_[root(value)].group.readers; }
  void leave(std::uint32_t value) { --members_[root(value)].group.readers; }
  template <class F>
  void each_member(std::uint32_t value, F f) const {
    std::uint32_t v = value;
    do f(v), v = members_[v].next;
    while (v != value);
  }

 private:
  struct Member {  // a value
    std::uint32_t parent, next;
    Place place;
    Group group;
    bool is_handle;  // whether an instruction makes it a handle
  };
  struct Point {          // an instruction
    std::uint32_t block;  // the index of its block
    Interval loops;       // the loops around it
  };
  struct Block {
    std::uint32_t begin;  // its first instruction
    std::uint32_t visit;  // the last read that looked for writes in it
    std::uint32_t next;   // the blocks in which this read must still look
  };

  explicit Flow(const Source& source) : source_(&source) {}
  bool take(format::Workspace& workspace);
  void find_blocks();
  void find_loops();
  bool place_handles();
  bool alias(std::uint32_t handle, std::uint32_t base, bool is_view);
  void follow(std::uint32_t i);
  void read(std::uint32_t value, std::uint32_t at);
  bool read_block(std::uint32_t value, std::uint32_t begin, std::uint32_t end);
  void read_given(std::uint32_t value);
  void enter_predecessors(std::uint32_t block);
  void join(std::uint32_t a, std::uint32_t b);
  Group& group_of(std::uint32_t value) { return members_[root(value)].group; }
  std::uint32_t instructions() const { return static_cast<std::uint32_t>(points_.size()); }
  // Counts steps of the analysis. Returns false if there were too many.
  bool take_steps(std::uint64_t n) { return (left_ -= std::min(left_, n)) > 0; }

  const Source* source_;
  std::span<Member> members_;
  std::span<Point> points_;
  std::span<Block> blocks_;
  std::uint32_t visit_ = 0, waiting_ = none;
  std::uint64_t left_ = most_steps;
};

}  // namespace assay::optimized
