#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "conformance/programs/listing.h"
#include "conformance/programs/memory_use.h"
#include "conformance/text/json.h"
#include "reference/program/unpacked.h"

// What is in a file, valid or not: facts, which are then written as text or as JSON.
namespace assay {

struct TensorFacts {
  std::string dtype, alias;  // "float32", "f32"
  Ints sizes, dim_order;
  std::string dynamism;  // "static", "bounded", "unbounded"
  std::string where;     // "planned", "constant", "external", "supplied"
  std::string name;      // fully qualified, if it has one
  double bytes = 0;
  std::optional<std::uint32_t> memory;  // of a planned one
  std::uint64_t offset = 0;
  bool state = false, initial = false;  // whether it is state, and has an initial value
};

// A value of a plan.
struct ValueFacts {
  Int index;
  std::string kind;  // "Tensor", "Int", "IntList", ...
  std::string text;  // "f32[2,3]", "1", "[%4,%5]"
  std::optional<TensorFacts> tensor;
};

struct InstructionFacts {
  std::size_t chain, index;
  Listed listed;
  bool is_target;  // of a jump
};

struct DelegateFacts {
  std::string backend, location;
  std::optional<std::size_t> bytes;                                // none: the payload is not where the program says
  std::vector<std::pair<std::string, std::size_t>> compile_specs;  // with the bytes of each
  std::size_t calls = 0;
};

struct MethodFacts {
  std::string name;
  std::vector<ValueFacts> values;
  std::vector<Int> inputs, outputs;
  std::vector<std::pair<std::string, std::size_t>> operators;  // with how many calls, most first
  std::vector<DelegateFacts> delegates;
  std::vector<MemoryUse> memory;
  std::vector<InstructionFacts> instructions;

  const ValueFacts* value(Int index) const;  // null: none of this index
};

struct NamedFacts {
  std::string key;
  std::optional<TensorFacts> tensor;  // none: bytes without a layout
  std::size_t bytes, segment;
};

struct SegmentFacts {
  std::size_t bytes;
  std::string holds;  // "constants", "initial values", "named data", "delegate forward 0"
};

struct SuiteFacts {
  std::string method;
  std::vector<std::pair<std::size_t, std::size_t>> cases;  // how many inputs and expected outputs
};

struct FileFacts {
  FileKind kind;
  std::size_t bytes;
  std::vector<Fault> faults;  // none: valid
  std::vector<MethodFacts> methods;
  std::vector<NamedFacts> named;
  std::vector<SegmentFacts> segments;
  std::vector<SuiteFacts> suites;
};

// Of a .pte, .ptd or .bpte file. Throws the Fault of one that does not decode.
FileFacts describe(std::span<const std::byte> file, std::span<const std::vector<std::byte>> data = {});

std::string to_text(const FileFacts& facts);
Json to_json(const FileFacts& facts);

}  // namespace assay
