#include "conformance/hosts/reference_runtime.h"

#include "conformance/files/file.h"
#include "conformance/hosts/host.h"
#include "conformance/hosts/trace.h"
#include "conformance/sandbox/frames.h"
#include "conformance/testee/binaries.h"
#include "conformance/text/fault_text.h"

namespace assay::hosts {
namespace {

testee::Reply reply_of(const Fault& fault) { return {fault.outcome, text::sentence(fault)}; }

RuntimeOptions with_settings(RuntimeOptions options, const testee::LoadSettings& settings) {
  options.share_arenas = settings.share_arenas;
  if (settings.instructions) options.instructions = settings.instructions;
  if (settings.budget) options.budget = *settings.budget;
  return options;
}

class ReferenceProgram final : public testee::TesteeProgram {
 public:
  ReferenceProgram(const ValidProgram& program, RuntimeOptions options, bool traces)
      : tracer_([this](const TracedStep& step) { note(step); }),
        host_(program, std::move(options), traces ? &tracer_ : nullptr) {}

  testee::Reply call(const std::string& method, std::span<const Value> inputs, std::vector<Value>& outputs) override {
    traced_.clear();
    try {
      outputs = host_.call(method, {inputs.begin(), inputs.end()});
      return {};
    } catch (const Fault& f) {
      return reply_of(f);
    }
  }

  std::vector<testee::TracedInstruction> traced() override { return traced_; }

  std::vector<testee::StateEntry> kept(const std::string& method) override {
    std::vector<testee::StateEntry> all;
    for (const auto& [name, tensor] : host_.state(method)) {
      const std::string_view bytes(reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size());
      all.push_back({name, bytes.size(), sandbox::crc(bytes)});
    }
    return all;
  }

 private:
  void note(const TracedStep& step) {
    testee::TracedInstruction& t = traced_.emplace_back();
    t.chain = step.event.chain, t.instruction = step.event.instruction, t.time = step.event.time;
    for (const Seen& seen : step.seen) t.values.push_back(seen.value);
  }

  std::vector<testee::TracedInstruction> traced_;  // of the last call
  Tracer tracer_;
  Host host_;
};

class ReferenceRuntime final : public testee::Runtime {
 public:
  std::string_view name() const override { return "reference"; }
  std::vector<std::string> binaries() const override { return {testee::executable}; }
  bool shows_state() const override { return true; }
  bool charges_memory() const override { return true; }
  bool traces() const override { return true; }
  std::unique_ptr<testee::TesteeProgram> load(const testee::LoadSettings& settings, testee::Reply& reply) override {
    try {
      return reference_program(files::open_file(settings.program), settings, {}, reply);
    } catch (const Fault& f) {
      reply = reply_of(f);
      return nullptr;
    }
  }
};

}  // namespace

std::unique_ptr<testee::TesteeProgram> reference_program(const File& program, const testee::LoadSettings& settings,
                                                         RuntimeOptions options, testee::Reply& reply) {
  try {
    reply = {};
    return std::make_unique<ReferenceProgram>(valid_program(program, files::open_data_files(settings.data)),
                                              with_settings(std::move(options), settings), settings.traces);
  } catch (const Fault& f) {
    reply = reply_of(f);
    return nullptr;
  }
}

std::unique_ptr<testee::Runtime> make_reference_runtime() { return std::make_unique<ReferenceRuntime>(); }

}  // namespace assay::hosts
