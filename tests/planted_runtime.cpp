// A runtime: the reference's, with an operator that does wrong.

#include <fstream>
#include <iterator>

#include "conformance/testees/runtime.h"
#include "reference/runtime/runtime.h"
#include "tests/planted.h"

namespace assay {
namespace {

Answer answer(const Operator& op, std::span<Value> arguments, const Budget& budget) {
  do_planted(op);
  if (is_planted(op, "refuse")) return {Outcome::unsupported, "planted", "not today", {}};
  Answer answer = call(op, arguments, budget);
  Tensor* out = std::get_if<Tensor>(&arguments.back());
  if (is_planted(op, "wrong") && out) out->bytes.back() ^= std::byte{0x40};
  return answer;
}

File read(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string all{std::istreambuf_iterator<char>(in), {}};
  const auto bytes = std::as_bytes(std::span(all));
  return in_memory({bytes.begin(), bytes.end()});
}

Reply reply_of(const Fault& fault) { return {fault.outcome, fault.message}; }

class PlantedProgram final : public TesteeProgram {
 public:
  explicit PlantedProgram(LoadedProgram program) : program_(std::move(program)) {}

  Reply call(const std::string& name, std::span<const Value> inputs, std::vector<Value>& outputs) override {
    if (methods_.find(name) == methods_.end()) {
      auto made = program_.method(name);
      if (!made) return reply_of(made.faults.front());
      methods_.emplace(name, std::move(*made));
    }
    Method& method = methods_.at(name);
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (const Refusal refused = method.set_input(i, inputs[i])) return reply_of(*refused);
    if (const Refusal refused = method.execute()) return reply_of(*refused);
    for (std::size_t i = 0; i < format::size_of(method.plan().outputs()); ++i) outputs.push_back(*method.output(i));
    return {};
  }

 private:
  LoadedProgram program_;
  std::map<std::string, Method> methods_;
};

class PlantedRuntime final : public Runtime {
 public:
  std::string_view name() const override { return "planted"; }

  std::unique_ptr<TesteeProgram> load(const LoadSettings& settings, Reply& reply) override {
    std::vector<File> files;
    for (const auto& file : settings.data) files.push_back(read(file));
    RuntimeOptions options;
    options.call = answer, options.share_arenas = settings.share_arenas;
    auto loaded = LoadedProgram::load(read(settings.program), std::move(files), std::move(options));
    if (loaded) return std::make_unique<PlantedProgram>(std::move(*loaded));
    reply = reply_of(loaded.faults.front());
    return nullptr;
  }
};

}  // namespace
}  // namespace assay

extern "C" assay::Runtime* assay_runtime() { return new assay::PlantedRuntime; }
