#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/corrupt/planned.h"
#include "conformance/corrupt/sample.h"
#include "format/rule.h"
#include "reference/tensor.h"

// For each rule of spec/format/rules.yaml that a file can break: files at its boundary that keep it, and files that
// break it. Our own encoder makes them of the smallest programs that the rule is about.
namespace assay::corrupt {

struct TableCase {
  format::RuleId rule;
  std::function<void(Sample&)> meets, breaks;
};
std::span<const TableCase> table_cases();

// Payloads of XNNPACK delegates. A payload that breaks a lint keeps all other rules.
class Delegated;
struct PayloadCase {
  format::RuleId rule;
  void (*meets)(Delegated&);
  void (*breaks)(Delegated&);
};
std::span<const PayloadCase> payload_cases();

struct ByteCase {
  format::RuleId rule;
  Bytes meets, breaks;
};
std::vector<ByteCase> byte_cases();

struct FlowCase {
  format::RuleId rule;
  std::string_view what;
  std::function<void(Planned&)> meets, breaks;
};
std::span<const FlowCase> flow_cases();

// A file with the data files that it is loaded with.
struct Files {
  Bytes file;
  std::vector<Bytes> data;
};

struct RuleCase {
  std::string_view rule;
  std::string name;  // "G2.1": the second case of the rule
  Files meets, breaks;
};

// All of the above as files, in the order of the rules. The cases of payloads are not among them: a loader reads a
// payload only if it has the payload's backend.
std::vector<RuleCase> rule_cases();
std::vector<RuleCase> payload_rule_cases();  // the cases of payloads as programs, without lints

// A program whose method "forward" only calls a delegate with a broken payload, and inputs for a call of the method.
struct BrokenPayload {
  std::string name;  // "X7.2"
  Bytes file;
  std::vector<Value> inputs;
};
std::vector<BrokenPayload> broken_payloads();

}  // namespace assay::corrupt
