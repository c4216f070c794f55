#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "conformance/inspect/listing.h"
#include "conformance/text/json.h"
#include "reference/runtime/runtime.h"

// What each instruction of a running program read and wrote: the values of its operands after the instruction.
namespace assay::hosts {

struct Statistics {
  double least = 0, largest = 0, mean = 0;  // of the elements that are not NaN; without meaning if `numbers` is 0
  Int numbers = 0, nans = 0;
};
Statistics statistics(const Tensor& tensor);

struct Seen {
  inspect::Operand operand;
  Value value;  // empty if the operand has no value yet
};

struct TracedStep {
  std::string_view method;
  Event event;
  std::vector<Seen> seen;
};

class Tracer final : public Listener {
 public:
  explicit Tracer(std::function<void(const TracedStep&)> tell) : tell_(std::move(tell)) {}
  void instruction_done(const Method& method, const Event& event) override;
  void tell(const TracedStep& step) const { tell_(step); }  // of an instruction that a testee executed

 private:
  std::function<void(const TracedStep&)> tell_;
};

std::string to_text(const TracedStep& step);  // several lines
text::Json to_json(const TracedStep& step);

}  // namespace assay::hosts
