#include "conformance/adapters/optimized/client.h"
#include "conformance/files/some_inputs.h"
#include "conformance/loaders/loader.h"
#include "conformance/loaders/read_only.h"
#include "conformance/testee/binaries.h"
#include "conformance/text/fault_text.h"
#include "reference/runtime/runtime.h"

// The loaders of the reference and of the optimized runtime.
namespace assay::loaders {
namespace {

constexpr Int most_work = 200'000'000;  // work limit for one file

Taken taken(const Fault& fault) {
  return {fault.outcome == Outcome::exhausted ? Taken::As::exhausted : Taken::As::refused, text::sentence(fault)};
}

class ReferenceLoader final : public Loader {
 public:
  explicit ReferenceLoader(const LoaderSettings& settings) : settings_(settings) {}
  std::string_view name() const override { return "reference"; }
  std::vector<std::string> binaries() const override { return {testee::executable}; }

  Taken take(const corrupt::Files& files) override {
    RuntimeOptions options;
    options.budget = Budget({.bytes = static_cast<Int>(settings_.bytes), .work = most_work});
    options.instructions = static_cast<Int>(settings_.instructions);
    std::vector<File> data;
    for (const Bytes& file : files.data) data.push_back(borrowed(file));
    const ReadOnlyFile file(files.file);
    const auto loaded = LoadedProgram::load(borrowed(file.bytes()), std::move(data), options);
    if (!loaded) return taken(loaded.faults.front());
    for (const auto* plan : *loaded->program()->tables().execution_plan())
      if (const Refusal refused = take_method(*loaded, plan->name()->string_view())) return taken(*refused);
    return {};
  }

 private:
  Refusal take_method(const LoadedProgram& program, std::string_view name) const {
    auto method = program.method(name);
    if (!method) return method.faults.front();
    if (!settings_.executes) return {};
    const auto inputs = files::some_inputs(*method);
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (inputs[i])
        if (Refusal refused = method->set_input(i, *inputs[i])) return refused;
    return method->execute();
  }

  LoaderSettings settings_;
};

class OptimizedLoader final : public Loader {
 public:
  explicit OptimizedLoader(const LoaderSettings& settings) : settings_(settings) {}
  std::string_view name() const override { return "optimized"; }
  std::vector<std::string> binaries() const override { return {testee::executable}; }

  Taken take(const corrupt::Files& files) override {
    const ReadOnlyFile file(files.file);
    std::vector<adapters::OptimizedClient::Bytes> data(files.data.begin(), files.data.end());
    try {
      adapters::OptimizedClient client(file.bytes(), data,
                                       {.budget = Budget({.bytes = static_cast<Int>(settings_.bytes)})});
      for (const std::string& name : client.method_names()) client.method(name);
      return {};
    } catch (const Fault& fault) {
      return taken(fault);
    }
  }

 private:
  LoaderSettings settings_;
};

}  // namespace

std::unique_ptr<Loader> make_reference_loader(const LoaderSettings& settings) {
  return std::make_unique<ReferenceLoader>(settings);
}
std::unique_ptr<Loader> make_optimized_loader(const LoaderSettings& settings) {
  return std::make_unique<OptimizedLoader>(settings);
}

}  // namespace assay::loaders
