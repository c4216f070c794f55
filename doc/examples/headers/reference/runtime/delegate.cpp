#include <reference/runtime/delegate.h>
#include <reference/runtime/runtime.h>

// A custom backend whose delegates return their input. A real program passes the options to LoadedProgram.
class Same final : public assay::Delegate {
 public:
  std::size_t inputs() const override { return 1; }
  std::size_t outputs() const override { return 1; }
  void execute(std::span<assay::Value> arguments) override { arguments[1] = arguments[0]; }
};

int main() {
  assay::RuntimeOptions options;
  options.backends["Same"] = [](const assay::DelegateSource&) { return std::make_unique<Same>(); };
  const auto delegate = options.backends.find("Same")->second({{}, {}, options, {}});
  std::vector<assay::Value> arguments{assay::Int{3}, {}};
  delegate->execute(arguments);
  return std::get<assay::Int>(arguments[1]) == 3 ? 0 : 1;
}
