#pragma once

#include <map>
#include <optional>
#include <string>

#include "conformance/hosts/child_library.h"
#include "conformance/hosts/host.h"
#include "conformance/judge/judge.h"

// Programs on the reference's runtime, where a library of kernels receives each call of an operator.
namespace assay::hosts {

// Operators that the reference computed instead of the library, with the reason.
using Substituted = std::map<std::string, std::string, std::less<>>;

// Goes on with the library's results. The reference computes the calls that the library does not support.
class LibraryHost final : public ProgramRunner {
 public:
  // The library and `substituted` must outlive the host, which adds to `substituted`.
  LibraryHost(const ValidProgram& program, RuntimeOptions options, Listener* listener, ChildLibrary& library,
              Substituted& substituted);

  const pte::ExecutionPlan& plan(std::string_view method) const override { return host_.plan(method); }
  std::string default_method() const override { return host_.default_method(); }
  std::vector<Value> call(const std::string& method, std::vector<Value> inputs) override;

 private:
  Answer answer(const Operator& op, std::span<Value> arguments, const Budget& budget);
  sandbox::Observation asked(const Operator& op, std::span<const Value> arguments, const Budget& budget);

  ChildLibrary& library_;
  Substituted& substituted_;
  std::optional<Violation> violation_;  // of the current call
  Host host_;
};

// The first instruction for which the library's result is wrong.
struct WrongInstruction {
  // `name` is the name of the instruction. For an instruction of a delegate, it differs from the operator's name.
  // `node` is the place in the delegate of XNNPACK, such as "node 7, Conv2d".
  std::string method, name, node, operator_name;
  std::size_t instruction = 0;
  judge::Judgement judgement;
};
std::string sentence(const WrongInstruction& wrong);

// Goes on with the reference's results. The library receives the same calls and is judged, until a result is wrong.
class JudgedHost final : public ProgramRunner, private Listener {
 public:
  // The library and `wrong` must outlive the host, which sets `wrong` once.
  JudgedHost(const ValidProgram& program, RuntimeOptions options, ChildLibrary& library,
             judge::ArithmeticMode arithmetic, std::optional<WrongInstruction>& wrong);

  const pte::ExecutionPlan& plan(std::string_view method) const override { return host_.plan(method); }
  std::string default_method() const override { return host_.default_method(); }
  std::vector<Value> call(const std::string& method, std::vector<Value> inputs) override;

 private:
  Answer answer(const Operator& op, std::span<Value> arguments, const Budget& budget);
  judge::Judgement judged(const Operator& op, std::span<const Value> arguments, const judge::Expectation& expected,
                          const Budget& budget);
  void instruction_done(const Method& method, const Event& event) override;
  RuntimeOptions watched(RuntimeOptions options);

  ChildLibrary& library_;
  judge::ArithmeticMode arithmetic_;
  const Delegate* executes_ = nullptr;  // the delegate of XNNPACK that runs
  std::optional<WrongInstruction>& wrong_;
  std::optional<WrongInstruction> found_;  // in the current instruction
  Host host_;
};

}  // namespace assay::hosts
