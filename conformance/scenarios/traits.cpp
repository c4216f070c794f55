#include "conformance/scenarios/traits.h"

#include <algorithm>
#include <map>
#include <optional>

#include "conformance/files/file.h"
#include "conformance/hosts/host.h"

namespace assay::scenarios {
namespace {

enum class Place : std::uint8_t { false_input, false_condition, loop, several_inputs };
constexpr Traits bit(Place place) { return Traits{1} << static_cast<unsigned>(place); }

// Notes the jumps of a call that are taken: the instruction after a jump is not the one behind it.
class Jumps final : public Listener {
 public:
  Traits take() { return last_.reset(), std::exchange(taken_, 0); }
  void instruction_done(const Method&, const Event& event) override {
    if (last_ && last_->first == event.chain && event.instruction != last_->second + 1)
      taken_ |= bit(event.instruction <= last_->second ? Place::loop : Place::false_condition);
    last_.reset();
    if (event.name == "JumpFalseCall") last_.emplace(event.chain, event.instruction);
  }

 private:
  std::optional<std::pair<std::size_t, std::size_t>> last_;  // the chain and index of the jump just executed
  Traits taken_ = 0;
};

Traits of_inputs(const std::vector<Value>& inputs) {
  Traits found = 0;
  std::size_t tensors = 0;
  for (const Value& v : inputs)
    if (const Tensor* t = std::get_if<Tensor>(&v)) {
      ++tensors;
      if (t->dtype == DType::boolean && t->rank() == 0 && t->bytes[0] == std::byte{0}) found |= bit(Place::false_input);
    }
  return found | (tensors > 1 ? bit(Place::several_inputs) : 0);
}

}  // namespace

std::vector<Traits> traits_of(const Scenario& scenario) {
  const Script script = scenario.script();
  Jumps jumps;
  std::optional<ValidProgram> program;
  std::map<std::size_t, hosts::Host> loaded;
  try {
    program =
        hosts::valid_program(files::open_file(script.program.program), files::open_data_files(script.program.data));
  } catch (const Fault&) {  // only the inputs tell something
  }
  std::vector<Traits> all;
  for (const Step& step : script.steps) {
    Traits found = of_inputs(step.inputs);
    if (program && step.what == Step::Do::load)
      loaded.erase(step.instance), loaded.try_emplace(step.instance, *program, RuntimeOptions{}, &jumps);
    const auto at = loaded.find(step.instance);
    if (at != loaded.end() && (step.what == Step::Do::call || step.what == Step::Do::execute)) try {
        static_cast<void>(at->second.call(step.method, step.inputs));
      } catch (const Fault&) {
      }
    all.push_back(found | jumps.take());
  }
  return all;
}

}  // namespace assay::scenarios
