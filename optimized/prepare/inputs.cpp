#include <algorithm>

#include "optimized/draft/effects.h"
#include "optimized/prepare/build.h"

// What the client may do with inputs and outputs.
namespace assay::optimized {

bool Builder::overlap(std::uint32_t a, std::uint32_t b) const {
  const Storage &x = source_.storage[a], &y = source_.storage[b];
  if (a == b) return true;
  if (x.memory == 0 || x.memory != y.memory) return false;
  return x.offset < y.offset + source_.tensors[b].capacity && y.offset < x.offset + source_.tensors[a].capacity;
}

// Whether an instruction writes other values to the bytes of an input, as the source plans them. Where there is too
// much to look at, it may.
bool Builder::is_overwritten(std::uint32_t v, std::uint64_t& lookups_left) const {
  if (lookups_left < source_.instructions.size()) return true;
  lookups_left -= source_.instructions.size();
  return std::ranges::any_of(source_.instructions, [&](const Instruction& i) {
    bool over = false;
    each_effect(source_, i, [&](const ValueEffect& e) {
      over = over || (format::writes(e.use) && !format::is_alias(e.use) && e.use != format::Use::freed &&
                      e.value.kind == ValueKind::tensor && overlap(v, source_.index_of(e.value)));
    });
    return over;
  });
}

bool Builder::is_alone(std::uint32_t v, bool overwritten) const {
  if (source_.tensors[v].read_beyond) return false;
  if (!flow_) return !overwritten && source_.storage[v].memory == 0;
  const Flow::Group& g = flow_->group(v);
  return g.members == 1 && g.writers == 0 && !g.output && !g.escapes;
}

void Builder::mark_inputs() {
  std::uint64_t lookups_left = Flow::most_steps;
  for (std::size_t i = 0; i < made_->inputs_.size(); ++i) {
    const auto v = static_cast<std::uint32_t>(source_.inputs[i]);
    Input& input = made_->inputs_[i];
    input.value = v, input.is_open = source_.values[v].kind == ValueKind::none;
    if (!source_.is_tensor(v)) continue;
    input.own = source_.tensors[v].home;
    if (source_.tensors[v].lasts) continue;
    input.is_overwritten = is_overwritten(v, lookups_left);
    input.is_alone = is_alone(v, input.is_overwritten);
  }
}

void Builder::mark_outputs() {
  for (std::size_t i = 0; i < made_->outputs_.size(); ++i) {
    const auto v = static_cast<std::uint32_t>(source_.outputs[i]);
    const bool is_free = source_.is_tensor(v) && source_.storage[v].memory == 0 && !source_.tensors[v].constant;
    made_->outputs_[i] = {v, is_free};
  }
}

}  // namespace assay::optimized
