#include "conformance/hosts/backend_runtime.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "conformance/adapters/registered_backends.h"
#include "conformance/files/file.h"
#include "conformance/hosts/backend_checks.h"
#include "conformance/hosts/host.h"
#include "conformance/hosts/reference_runtime.h"
#include "conformance/testee/binaries.h"
#include "conformance/testee/no_testee.h"
#include "conformance/text/fault_text.h"
#include "format/xnnpack/payload.h"
#include "reference/program/decoded.h"
#include "reference/program/taken.h"

namespace assay::hosts {
namespace {

// Delegates of the testee have this before their id in the program, so that no rule of payloads is checked.
constexpr std::string_view of_testee = "testee:";

// A delegate whose execution is a check of its backend.
class Checked final : public Delegate {
 public:
  Checked(const MakeDelegate& make, const DelegateSource& source, const BackendCheck& check)
      : make_(make),
        options_(source.options),
        source_{source.payload, source.compile_specs, options_, source.named_data, source.plan, source.index},
        check_(check),
        delegate_(make_(source_)) {}

  std::size_t inputs() const override { return delegate_->inputs(); }
  std::size_t outputs() const override { return delegate_->outputs(); }
  void execute(std::span<Value> arguments) override {
    check_.check([this] { return make_(source_); }, arguments);
    delegate_->execute(arguments);
  }

 private:
  MakeDelegate make_;
  RuntimeOptions options_;
  DelegateSource source_;
  const BackendCheck& check_;
  std::unique_ptr<Delegate> delegate_;
};

class BackendRuntime final : public testee::Runtime {
 public:
  BackendRuntime(std::string name, Backends backends, std::string binary)
      : name_(std::move(name)), backends_(std::move(backends)), binary_(std::move(binary)) {}

  std::string_view name() const override { return name_; }
  std::vector<std::pair<std::string, std::string>> facts() const override {
    std::vector<std::string_view> ids;
    for (const auto& [id, make] : backends_) ids.push_back(id);
    return {{"backends", fmt::format("{}", fmt::join(ids, ", "))}};
  }
  std::vector<std::string> binaries() const override { return {testee::executable, binary_}; }
  bool traces() const override { return true; }

  std::unique_ptr<testee::TesteeProgram> load(const testee::LoadSettings& settings, testee::Reply& reply) override {
    return load(settings, reply, [](const MakeDelegate& make) { return make; });
  }

  std::vector<std::string> delegate_requests() const override {
    std::vector<std::string> all;
    for (const BackendCheck& check : backend_checks()) all.emplace_back(check.name);
    return all;
  }
  testee::Reply ask(std::string_view request, const testee::LoadSettings& settings, const std::string& method,
                    std::span<const Value> inputs) override {
    const auto check = std::ranges::find(backend_checks(), request, &BackendCheck::name);
    testee::Reply reply;
    const auto program = load(settings, reply, [&](const MakeDelegate& make) -> MakeDelegate {
      return [&, make](const DelegateSource& source) { return std::make_unique<Checked>(make, source, *check); };
    });
    std::vector<Value> outputs;
    return program ? program->call(method, inputs, outputs) : reply;
  }

 private:
  template <class Wrap>
  std::unique_ptr<testee::TesteeProgram> load(const testee::LoadSettings& settings, testee::Reply& reply, Wrap wrap) {
    RuntimeOptions options;
    for (const auto& [id, make] : backends_) options.backends.insert_or_assign(concat(of_testee, id), wrap(make));
    try {
      Program program = taken(decode_program(files::open_file(settings.program).bytes));
      for (const auto& plan : program.tables.execution_plan)
        for (const auto& delegate : plan->delegates)
          if (backends_.contains(delegate->id)) delegate->id = concat(of_testee, delegate->id);
      return reference_program(in_memory(encode(program)), settings, std::move(options), reply);
    } catch (const Fault& f) {
      reply = {f.outcome, text::sentence(f)};
      return nullptr;
    }
  }

  std::string name_;
  Backends backends_;
  std::string binary_;
};

}  // namespace

std::unique_ptr<testee::Runtime> make_backend_runtime(std::string_view testee, const std::filesystem::path& file,
                                                      std::string_view id) {
  Backends backends = adapters::load_backends(std::string(testee), file);
  if (!id.empty()) {
    const auto named = backends.find(id);
    if (named == backends.end()) {
      std::vector<std::string_view> ids;
      for (const auto& [known, make] : backends) ids.push_back(known);
      testee::no_testee("the testee ", testee, " names no backend that the library registers; it registers ",
                        fmt::format("{}", fmt::join(ids, ", ")));
    }
    backends.insert_or_assign(std::string(format::xnnpack::backend), named->second);
  }
  return std::make_unique<BackendRuntime>(concat("backend:", file.filename().string()), std::move(backends),
                                          file.filename());
}

}  // namespace assay::hosts
