#include "conformance/hosts/reference_runtime.h"

#include "conformance/files/file.h"
#include "conformance/hosts/host.h"
#include "conformance/sandbox/frames.h"
#include "conformance/testee/binaries.h"
#include "conformance/text/fault_text.h"

namespace assay {
namespace {

Reply reply_of(const Fault& fault) { return {fault.outcome, sentence(fault)}; }

RuntimeOptions options_of(const LoadSettings& settings) {
  RuntimeOptions options;
  options.share_arenas = settings.share_arenas;
  if (settings.instructions) options.instructions = settings.instructions;
  if (settings.budget) options.budget = *settings.budget;
  return options;
}

class ReferenceProgram final : public TesteeProgram {
 public:
  explicit ReferenceProgram(const LoadSettings& settings)
      : host_(valid_program(open_file(settings.program), open_data_files(settings.data)), options_of(settings)) {}

  Reply call(const std::string& method, std::span<const Value> inputs, std::vector<Value>& outputs) override {
    try {
      outputs = host_.call(method, {inputs.begin(), inputs.end()});
      return {};
    } catch (const Fault& f) {
      return reply_of(f);
    }
  }

  std::vector<StateEntry> kept(const std::string& method) override {
    std::vector<StateEntry> all;
    for (const auto& [name, tensor] : host_.state(method)) {
      const std::string_view bytes(reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size());
      all.push_back({name, bytes.size(), crc(bytes)});
    }
    return all;
  }

 private:
  Host host_;
};

class ReferenceRuntime final : public Runtime {
 public:
  std::string_view name() const override { return "reference"; }
  std::vector<std::string> binaries() const override { return {executable}; }
  bool shows_state() const override { return true; }
  bool charges_memory() const override { return true; }
  std::unique_ptr<TesteeProgram> load(const LoadSettings& settings, Reply& reply) override {
    try {
      reply = {};
      return std::make_unique<ReferenceProgram>(settings);
    } catch (const Fault& f) {
      reply = reply_of(f);
      return nullptr;
    }
  }
};

}  // namespace

std::unique_ptr<Runtime> make_reference_runtime() { return std::make_unique<ReferenceRuntime>(); }

}  // namespace assay
