#include "format/flow_rules.h"

namespace assay::format {
namespace {

// The instructions from which the end can be reached. That is all of them unless some jump backward is always taken.
class Ending {
 public:
  Ending(const Method& m, const Jumps& jumps, std::span<std::uint8_t> reaches, Work& work)
      : m_(m), jumps_(jumps), reaches_(reaches) {
    for (bool more = true; more && work.take(m.instructions());) {
      more = false;
      for (std::uint32_t i = m.instructions(); i-- > 0;) {
        if (reaches_[i] || !leads_on(i)) continue;
        reaches_[i] = more = true;
      }
    }
  }

  bool reached_from(std::uint32_t i) const { return i == m_.instructions() || reaches_[i]; }

 private:
  bool leads_on(std::uint32_t i) const {
    const auto* j = m_.jump(i);
    return ((!j || jumps_.may_pass(*j)) && reached_from(i + 1)) ||
           (j && jumps_.may_jump(*j) && reached_from(m_.target(i, *j)));
  }

  const Method& m_;
  const Jumps& jumps_;
  std::span<std::uint8_t> reaches_;
};

// Whether the loop has a jump that may leave it, on a value that the loop writes.
bool may_end(const Method& m, const Places& places, const Jumps& jumps, std::uint32_t begin, std::uint32_t end,
             Work& work) {
  for (std::uint32_t i = begin; i <= end && work.take(1); ++i) {
    const auto* j = m.jump(i);
    if (!j || !jumps.may_jump(*j) || !jumps.may_pass(*j)) continue;
    const std::uint32_t to = m.target(i, *j);
    const bool leaves = i == end || to < begin || to > end;
    if (leaves &&
        is_written_between(m, places, static_cast<std::uint32_t>(j->cond_value_index()), begin, end + 1, work))
      return true;
  }
  return false;
}

}  // namespace

void check_rows(const Method& m, const Jumps& jumps, const Place& plan, Findings& f) {
  for (std::uint32_t i = 0; i < m.instructions(); ++i) {
    const auto* call = m.kernel_call(i);
    const OperatorRoles* roles = call ? m.roles(*call) : nullptr;
    if (!roles || !roles->has(Use::grown)) continue;
    const InstructionPlace at(m, i, plan);
    each_effect(m, *roles, *call, [&](const Effect& e) {
      if (e.use != Use::grown || is_static(*m.tensor(e.value))) return;
      f.check(jumps.adds_row_by_row(i, e), "T16", at.here, "adds to value ", e.value,
              " the row of an index that does not count a loop, so that rows before it may be unwritten");
    });
  }
}

void check_termination(const Method& m, const Places& places, const Jumps& jumps, const Place& plan,
                       Workspace& workspace, Work& work, Findings& f) {
  const Workspace::Scope scope(workspace);
  const auto reaches = workspace.take<std::uint8_t>(m.instructions());
  if (!has_room(workspace, f) || jumps.targets().empty()) return;
  const Ending ending(m, jumps, reaches, work);
  for (std::uint32_t i = 0; i < m.instructions(); ++i) {
    const auto* j = m.jump(i);
    if (!j || !jumps.may_jump(*j) || m.target(i, *j) > i) continue;
    const InstructionPlace at(m, i, plan);
    f.check(ending.reached_from(i) && may_end(m, places, jumps, m.target(i, *j), i, work), "I21", at.here,
            "jumps back to instruction ", j->destination_instruction(), " for ever");
  }
}

}  // namespace assay::format
