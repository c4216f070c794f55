#include "format/xnnpack/payload.h"
#include "reference/fault.h"
#include "reference/program/taken.h"
#include "reference/runtime/delegate.h"
#include "reference/runtime/runtime.h"

namespace assay {
namespace {

class ProgramDelegate final : public Delegate {
 public:
  explicit ProgramDelegate(Method method) : method_(std::move(method)) {}

  std::size_t inputs() const override { return format::size_of(method_.plan().inputs()); }
  std::size_t outputs() const override { return format::size_of(method_.plan().outputs()); }

  void execute(std::span<Value> arguments) override {
    for (std::size_t i = 0; i < inputs(); ++i) require_done(method_.set_input(i, arguments[i]));
    require_done(method_.execute());
    for (std::size_t i = 0; i < outputs(); ++i) arguments[inputs() + i] = taken(method_.output(i));
  }

 private:
  Method method_;
};

}  // namespace

const CompileSpec* DelegateSource::compile_spec(std::string_view key) const {
  const auto found = std::ranges::find(compile_specs, key, &CompileSpec::key);
  return found == compile_specs.end() ? nullptr : &*found;
}

Backends own_backends() {
  return {{std::string(program_backend), make_program_delegate},
          {std::string(format::xnnpack::backend), make_xnnpack_delegate}};
}

std::unique_ptr<Delegate> make_program_delegate(const DelegateSource& source) {
  auto payload = source.payload;
  if (const CompileSpec* spec = source.compile_spec("named_data")) {
    const std::string key(reinterpret_cast<const char*>(spec->value.data()), spec->value.size());
    const auto named = source.named_data(key);
    if (!named)
      throw Fault(Outcome::invalid, "D3",
                  concat("the payload is named data ", format::Quoted{key}, ", which does not exist"));
    payload = *named;
  }
  const auto program = taken(LoadedProgram::load(borrowed(payload), {}, source.options));
  return std::make_unique<ProgramDelegate>(taken(program.method("forward")));
}

}  // namespace assay
