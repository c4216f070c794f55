#pragma once

#include <map>
#include <optional>
#include <string>

#include "conformance/hosts/child_library.h"
#include "conformance/hosts/host.h"
#include "conformance/judge/judge.h"

// Programs on the reference's machine, where a library of kernels is asked each call of an operator.
namespace assay {

// Operators for which the reference answered instead of the library, and why.
using Substituted = std::map<std::string, std::string, std::less<>>;

// What the library answers goes on. Calls that it does not support are answered by the reference.
class LibraryHost final : public ProgramRunner {
 public:
  // The library and `substituted`, to which it adds, outlive it.
  LibraryHost(const ValidProgram& program, RuntimeOptions options, Listener* listener, ChildLibrary& library,
              Substituted& substituted);

  const pte::ExecutionPlan& plan(std::string_view method) const override { return host_.plan(method); }
  std::string default_method() const override { return host_.default_method(); }
  std::vector<Value> call(const std::string& method, std::vector<Value> inputs) override;

 private:
  Answer answer(const Operator& op, std::span<Value> arguments, const Budget& budget);
  Observation asked(const Operator& op, std::span<const Value> arguments, const Budget& budget);

  ChildLibrary& library_;
  Substituted& substituted_;
  std::optional<Violation> violation_;  // of the present call
  Host host_;
};

// Where a library first gave what the reference does not.
struct WrongInstruction {
  std::string method, name, operator_name;  // of a delegate's instruction the operator is another than its name
  std::size_t instruction = 0;
  Judgement judgement;
};
std::string sentence(const WrongInstruction& wrong);

// What the reference answers goes on; the library is asked the same and judged, until it is wrong.
class JudgedHost final : public ProgramRunner, private Listener {
 public:
  // The library and `wrong`, which it sets once, outlive it.
  JudgedHost(const ValidProgram& program, RuntimeOptions options, ChildLibrary& library, ArithmeticMode arithmetic,
             std::optional<WrongInstruction>& wrong);

  const pte::ExecutionPlan& plan(std::string_view method) const override { return host_.plan(method); }
  std::string default_method() const override { return host_.default_method(); }
  std::vector<Value> call(const std::string& method, std::vector<Value> inputs) override;

 private:
  Answer answer(const Operator& op, std::span<Value> arguments, const Budget& budget);
  Judgement judged(const Operator& op, std::span<const Value> arguments, const Expectation& expected,
                   const Budget& budget);
  void instruction_done(const Method& method, const Event& event) override;

  ChildLibrary& library_;
  ArithmeticMode arithmetic_;
  std::optional<WrongInstruction>& wrong_;
  std::optional<WrongInstruction> found_;  // in the present instruction
  Host host_;
};

}  // namespace assay
