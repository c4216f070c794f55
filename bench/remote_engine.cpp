#include <algorithm>

#include "bench/engines.h"
#include "bench/replied.h"
#include "conformance/sandbox/child.h"
#include "conformance/testee/no_testee.h"
#include "conformance/wire/remote_program.h"

namespace assay::bench {
namespace {

using wire::ReplyHead, wire::Status;

constexpr std::uint64_t enough_ticks = 100;            // then a run is measured to 1 %
constexpr std::uint32_t most_repetitions = 1'000'000;  // of one EXECUTE: the rule protocol.call

// A server of the wire protocol. Its clock times LOAD, METHOD and EXECUTE.
class RemoteEngine final : public testee::Engine {
 public:
  explicit RemoteEngine(const wire::Address& address) : server_(address) {
    if (!introduction().has(wire::has_programs)) testee::no_testee(introduction().name, " runs no programs");
    for (const auto& [name, content] : introduction().facts)
      if (name == wire::clock_fact) machine_.clock = content, machine_.counts_time = false;
    if (introduction().ticks_per_second == 0) lacks_clock();
    machine_.identity = server_.identity();
  }

  std::string version() const override { return introduction().name; }
  std::vector<std::string> binaries() const override { return {}; }
  const testee::EngineMachine* machine() const override { return &machine_; }

  testee::Reply load(const testee::EngineSettings& settings) override {
    return answered([&] {
      ReplyHead loaded;
      program_ = wire::RemoteProgram::load(server_, {settings.program, settings.data}, loaded);
      if (!program_) return loaded;
      ReplyHead head = program_->method(settings.method);
      return note(loaded.ticks + head.ticks, 1), head;
    });
  }

  testee::Reply set_inputs(std::span<const Value> inputs) override {
    return answered([&] { return program_->set_inputs(inputs); });
  }

  testee::Reply run() override { return run_times(repetitions_); }

  testee::Reply run_times(std::uint32_t times) override {
    return answered([&] {
      times = std::clamp(times, repetitions_, most_repetitions);
      ReplyHead head = program_->execute_times(times);
      machine_.peak = std::max(machine_.peak, head.peak);
      head.ticks > 0 ? measure_enough(head.ticks, times) : lacks_clock();
      return note(head.ticks, times), head;
    });
  }

  std::vector<Value> outputs() const override {
    std::vector<Value> outputs;
    const testee::Reply reply = answered([&] { return program_->get_outputs(outputs); });
    if (reply.outcome != Outcome::ok) throw Fault(reply.outcome, "testee", reply.message);
    return outputs;
  }

 private:
  const wire::Introduction& introduction() const { return server_.introduction(); }

  void lacks_clock() {
    has_clock_ = false, machine_.counts_time = true;
    machine_.clock = "the clock of this machine, which also measures the transfer of the request";
  }

  // Later runs are repeated so often that they take enough ticks.
  void measure_enough(std::uint64_t ticks, std::uint32_t times) {
    const std::uint64_t wanted = 1 + (enough_ticks - 1) * times / ticks;
    repetitions_ = static_cast<std::uint32_t>(std::min<std::uint64_t>(wanted, most_repetitions));
  }

  // Records the time of a request.
  void note(std::uint64_t ticks, std::uint32_t times) {
    machine_.taken.reset();
    if (has_clock_ && ticks > 0)
      machine_.taken = static_cast<double>(ticks) / static_cast<double>(introduction().ticks_per_second) / times;
  }

  // The server's answer, or why there is none.
  template <class F>
  static testee::Reply answered(F f) {
    ReplyHead head;
    const testee::Reply reply = replied([&] {
      try {
        head = f();
      } catch (const sandbox::Lost& lost) {
        testee::no_testee("the testee ", lost.text);
      }
    });
    return reply.outcome == Outcome::ok ? wire::reply_of(head) : reply;
  }

  wire::RemoteServer server_;
  std::unique_ptr<wire::RemoteProgram> program_;
  testee::EngineMachine machine_{.clock = "its own clock"};
  bool has_clock_ = true;
  std::uint32_t repetitions_ = 1;
};

}  // namespace

std::unique_ptr<testee::Engine> make_remote(const wire::Address& address) {
  return std::make_unique<RemoteEngine>(address);
}

}  // namespace assay::bench
