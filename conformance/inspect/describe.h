#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "conformance/inspect/check.h"
#include "conformance/inspect/listing.h"
#include "conformance/inspect/memory_use.h"
#include "conformance/text/output.h"
#include "format/check.h"
#include "reference/fault.h"

// What is in a file, valid or not, written as it is looked at, so that the whole of it is never in memory. Costs work
// and memory of the scope's budget, and output. Throws Fault: limits.memory, limits.work, limits.output.
namespace assay {

// A file that opens, and what is wrong with it.
struct Described {
  format::FileKind kind;
  std::uint64_t bytes;
  std::span<const Fault> faults;  // none: valid
  std::uint64_t more = 0;         // beside these
  // As the kind has it.
  const format::ProgramView* program = nullptr;  // that in the bundle too
  const format::DataView* data = nullptr;
  const format::BundleView* bundle = nullptr;
  std::optional<std::string> method;  // only this one. Faults: G3
};
void write_text(const Described& file, Output& out);
void write_json(const Described& file, JsonOutput& out);

Buffer<const pte::ExecutionPlan*> methods_of(const Described& file);  // that are to be described. Faults: G3

// A file with what check says of it.
class Opened {
 public:
  // `data` are .ptd files that a program is to be loaded with. Faults: the first of a file that does not open.
  Opened(const File& file, std::span<const File> data, const Budget& budget);
  Described described() const;

 private:
  CheckReport report_;
  std::optional<ProgramFile> program_;
  std::optional<NamedDataFile> data_;
  std::optional<BundleFile> bundle_;
};

// -- what both forms say of a part --------------------------------------------------------------------------------

struct TensorFacts {
  std::string dtype, alias;  // "float32", "f32"
  std::span<const std::int32_t> sizes;
  std::span<const std::uint8_t> dim_order;
  std::string_view dynamism;  // "static", "bounded", "unbounded"
  std::string_view where;     // "planned", "constant", "external", "supplied"; empty: in a data file
  std::string_view name;      // fully qualified, if it has one
  double bytes;
  const pte::AllocationDetails* memory = nullptr;  // of a planned one
  bool state = false, initial = false;             // whether it is state, and has an initial value
};
TensorFacts facts_of(const pte::Tensor& tensor);
TensorFacts facts_of(const ptd::TensorLayout& tensor);
std::string short_text(const TensorFacts& tensor);  // "f32[2,3]"

// An instruction where it stands.
struct InstructionFacts {
  std::uint32_t chain, index;
  Listed listed;
  bool is_target;  // of a jump
};

// A method, with what must be known of all of it before something is said of a part.
class MethodFacts {
 public:
  explicit MethodFacts(const pte::ExecutionPlan& plan);

  const pte::ExecutionPlan& plan;
  std::uint32_t instructions = 0;

  // "f32[2,3]", "1", "[%4,%5]" of a value that there is; empty where an instruction or the host writes it.
  std::string value_text(Int value) const;

  struct Calls {
    std::uint32_t calls, index;  // of the plan's operators, and behind these of the other kinds of instructions
  };
  Buffer<Calls> operators;  // those that are called, most often first
  std::string name(const Calls& calls) const;
  Buffer<std::uint32_t> delegate_calls;  // of each delegate

  template <class F>
  void each_instruction(F f) const {  // f(InstructionFacts)
    std::uint32_t c = 0;
    for (const pte::Chain& chain : tables(plan.chains())) {
      const auto targets = targets_of(chain);
      for (std::uint32_t i = 0; i < format::size_of(chain.instructions()); ++i)
        f(InstructionFacts{c, i, listed(plan, *chain.instructions()->Get(i)), targets[i]});
      ++c;
    }
  }

 private:
  using Marks = std::vector<bool, Charged<bool>>;
  static Marks targets_of(const pte::Chain& chain);
  std::string element_text(Int value) const;
  std::string list_text(const auto& items) const;

  Marks written_;  // values
};

// The bytes of a delegate's payload; none where it is not where the program says.
std::optional<std::uint64_t> payload_bytes(const format::ProgramView& program, const pte::BackendDelegate& delegate);
std::string location_text(const pte::BackendDelegate& delegate);  // "inline", "segment 3"

// Bytes of named data; 0 where the segment is not there.
std::uint64_t named_bytes(const auto& file, std::uint32_t segment) {
  return segment < file.segment_count() ? file.segment(segment).size() : 0;
}

// Who refers to which segment.
struct SegmentUse {
  std::uint32_t segment;
  enum class Kind : std::uint8_t { constants, initial_values, named_data, delegate } kind;
  std::uint32_t method = 0, delegate = 0;
  auto operator<=>(const SegmentUse&) const = default;
};
Buffer<SegmentUse> segment_uses(const Described& file);  // by segment, each once
// "constants, delegate 0 of forward": what the uses of a segment, which come next, say; `at` goes behind them.
std::string holds_text(const Described& file, const Buffer<SegmentUse>& uses, std::uint32_t segment, std::size_t& at);

}  // namespace assay
