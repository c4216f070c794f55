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

// Describes the contents of a file, valid or not. The description is written piece by piece, so that it is never in
// memory as a whole. Charges work and memory to the budget of the scope, and output. Throws Fault: limits.memory,
// limits.work, limits.output.
namespace assay::inspect {

// A file that opens, and its faults.
struct Described {
  const format::FileKind& kind;
  std::uint64_t bytes;
  std::span<const Fault> faults;  // empty if the file is valid
  std::uint64_t more = 0;         // the number of further faults
  format::AnyView view;
  const format::ProgramView* program = nullptr;  // the file itself, or the program that is a part of it
  std::optional<std::string> method;             // only this one is described. Faults: G3
};
void write_text(const Described& file, text::Output& out);
void write_json(const Described& file, text::JsonOutput& out);
void write_html(const Described& file, text::Output& out);

// What follows the header of a description, by the kind of file. Each row of format/kinds.cpp has an entry.
struct ContentWriters {
  void (*text)(const Described&, text::Output&);
  void (*json)(const Described&, text::JsonOutput&);
};
const ContentWriters& content_writers(const format::FileKind& kind);
void write_program(const Described& file, text::Output& out);
void write_program(const Described& file, text::JsonOutput& out);
void write_data(const Described& file, text::Output& out);
void write_data(const Described& file, text::JsonOutput& out);
void write_bundle(const Described& file, text::Output& out);
void write_bundle(const Described& file, text::JsonOutput& out);
void write_payload(const Described& file, text::Output& out);  // of an XNNPACK delegate
void write_payload(const Described& file, text::JsonOutput& out);

Buffer<const pte::ExecutionPlan*> methods_of(const Described& file);  // the methods to describe. Faults: G3

// A file and the result of its check.
class Opened {
 public:
  // `data` are the .ptd files that a program is loaded with. Faults: the first one of a file that does not open.
  Opened(const File& file, std::span<const File> data, const Budget& budget);
  Described described() const;

 private:
  CheckReport report_;
  std::optional<AnyFile> file_;
  std::optional<ProgramFile> program_;
};

// -- facts for both forms -----------------------------------------------------------------------------------------

struct TensorFacts {
  std::string dtype, alias;  // "float32", "f32"
  std::span<const std::int32_t> sizes;
  std::span<const std::uint8_t> dim_order;
  std::string_view dynamism;  // "static", "bounded", "unbounded"
  std::string_view where;     // "planned", "constant", "external", "supplied"; empty for a tensor of a data file
  std::string_view name;      // the fully qualified name; empty if there is none
  double bytes;
  const pte::AllocationDetails* memory = nullptr;  // of a planned tensor
  bool state = false, initial = false;             // whether it is state, and has an initial value
};
TensorFacts facts_of(const pte::Tensor& tensor);
TensorFacts facts_of(const ptd::TensorLayout& tensor);
std::string short_text(const TensorFacts& tensor);  // "f32[2,3]"

// An instruction and its place.
struct InstructionFacts {
  std::uint32_t chain, index;
  Listed listed;
  bool is_target;  // of a jump
};

// A method, with the facts that need a pass over the whole method.
class MethodFacts {
 public:
  explicit MethodFacts(const pte::ExecutionPlan& plan);

  const pte::ExecutionPlan& plan;
  std::uint32_t instructions = 0;

  // "f32[2,3]", "1", "[%4,%5]" for a value that exists; empty if an instruction or the caller writes it.
  std::string value_text(Int value) const;

  struct Calls {
    std::uint32_t calls, index;  // in the plan's operators, followed by the other kinds of instructions
  };
  Buffer<Calls> operators;  // the operators that are called, by descending number of calls
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

// The bytes of a delegate's payload; empty if there is no payload at the place that the program states.
std::optional<std::uint64_t> payload_bytes(const format::ProgramView& program, const pte::BackendDelegate& delegate);
std::string location_text(const pte::BackendDelegate& delegate);  // "inline", "segment 3"

// The bytes of named data; 0 if the segment does not exist.
std::uint64_t named_bytes(const auto& file, std::uint32_t segment) {
  return segment < file.segment_count() ? file.segment(segment).size() : 0;
}

// A reference to a segment.
struct SegmentUse {
  std::uint32_t segment;
  enum class Kind : std::uint8_t { constants, initial_values, named_data, delegate } kind;
  std::uint32_t method = 0, delegate = 0;
  auto operator<=>(const SegmentUse&) const = default;
};
Buffer<SegmentUse> segment_uses(const ptd::FlatTensor& file);  // by segment, each once
Buffer<SegmentUse> segment_uses(const pte::Program& program);
// "constants, delegate 0 of forward": the uses of this segment, from index `at` on; `at` moves behind them. A data file
// has no program.
std::string holds_text(const pte::Program* program, const Buffer<SegmentUse>& uses, std::uint32_t segment,
                       std::size_t& at);

}  // namespace assay::inspect
