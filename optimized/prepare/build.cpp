#include "optimized/prepare/build.h"

#include <algorithm>

#include "optimized/draft/effects.h"
#include "optimized/runtime/table.h"

namespace assay::optimized {

bool Builder::has_room() {
  const bool room = workspace_.has_room() && tables_.has_room() && (copies_.counts_only() || copies_.has_room()) &&
                    packed_.has_room();
  return room || refuse_room("needs more memory than was supplied");
}

Builder::Builder(const Source& source, const Options& options, format::Workspace& workspace, format::Workspace& tables,
                 const Memories* memories, const Sizes& sizes, Fault& fault)
    : options_(options), workspace_(workspace), tables_(tables), memories_(memories), fault_(fault), source_(source) {
  if (memories_) {
    const auto rest = memories_->prepared.subspan(static_cast<std::size_t>(sizes.tables));
    const auto copies = static_cast<std::size_t>(sizes.copies);
    copies_ = format::Workspace(rest.first(copies));
    packed_ = options_.packed ? Packed::of(*options_.packed) : Packed::in(rest.subspan(copies));
  }
  packed_.note(source_.name);
  packed_.note(kernels::name_of(options_.set));
}

bool Builder::make_method() {
  made_ = tables_.take<Method>(1).data();
  if (!made_) return has_room();
  made_->name_ = source_.name, made_->refusals_ = options_.refusals, made_->instructions_ = options_.instructions;
  made_->inputs_ = tables_.take<Input>(source_.inputs.size());
  made_->outputs_ = tables_.take<Output>(source_.outputs.size());
  made_->delegates_ = tables_.take<Delegate>(source_.delegates);
  made_->initial_ = tables_.take<Value>(source_.values.size());
  return has_room();
}

// Values that are another after an execution than before. An input that the source declares as None takes any number,
// so that it changes, too.
void Builder::mark_changes() {
  for (const Instruction& i : source_.instructions)
    each_effect(source_, i, [&](const ValueEffect& e) {
      const auto& [use, value] = e;
      if (!format::writes(use)) return;
      const bool is_tensor = value.kind == ValueKind::tensor;
      value.changes = value.changes || !is_tensor || format::is_alias(use);
      made_->restores_ = made_->restores_ || value.changes || (is_tensor && value.tensor->moves);
    });
  for (const std::int32_t i : source_.inputs)
    if (Value& value = source_.values[static_cast<std::size_t>(i)]; value.kind == ValueKind::none) value.changes = true;
}

void Builder::mark_types() {
  for (Instruction& i : source_.instructions) i.is_typed = i.call.roles && keeps_numbers(i.call);
}

void Builder::rewrite() {
  Draft draft{source_.values, source_.tensors, source_.instructions, *flow_, source_, tables_, workspace_};
  const auto all = rewrite_table();
  const auto applied = tables_.take<const Rewrite*>(all.size());
  if (!has_room()) return;
  std::size_t n = 0;
  for (const Rewrite* rewrite : all)
    if (rewrite->apply(draft)) applied[n++] = rewrite;
  made_->rewrites_ = applied.first(n);
}

bool Builder::analyze() {
  mark_changes();
  mark_types();
  if (!place_constants()) return false;
  flow_ = Flow::of(source_, workspace_);
  if (!has_room()) return false;
  if (flow_ && !options_.as_written) rewrite();
  return has_room();
}

bool Builder::has_known_constants() const {
  const auto& known = options_.packed;
  return !known || (known->layout == packed_.layout() && known->bytes.size() == packed_.bytes());
}

bool Builder::make() {
  if (!make_method() || !analyze() || !place_tensors() || !begin_state() || !make_steps()) return false;
  mark_inputs();
  mark_outputs();
  if (std::ranges::any_of(source_.tensors, &Tensor::read_beyond)) arena_ += aligned(most_beyond);
  delegated_.arena = arena_, delegated_.scratch = scratch_;
  planned_ = workspace_.take<Planned>(source_.delegates);
  if (!has_room()) return false;
  made_->values_ = source_.values, made_->tensors_ = source_.tensors;
  std::ranges::copy(source_.values, made_->initial_.begin());
  return has_known_constants() ||
         refuse(fault_, "P6", where_,
                "cannot use the packed constants, which were made for another method, instruction set or build");
}

Method* Builder::finish(Sizes& sizes) {
  const std::uint64_t tables = aligned(tables_.most()), copies = aligned(copies_.most());
  const std::uint64_t packed = options_.packed ? 0 : packed_.bytes();
  decisions_.note(packed_.layout()), decisions_.note(delegated_.decisions);
  const Sizes made{tables + copies + packed + delegated_.prepared,
                   delegated_.arena,
                   shared_,
                   aligned(delegated_.scratch),
                   tables,
                   copies,
                   decisions_.value()};
  if (memories_ && made != sizes) {
    refuse_room("is prepared differently than its memory was counted");
    return nullptr;
  }
  sizes = made;
  delegates_begin_ = made.prepared - delegated_.prepared;
  if (memories_) made_->execution_.scratch = memories_->scratch;
  made_->execution_.threads = options_.threads;
  made_->packed_ = packed_.kept();
  return made_;
}

// Adds the place of a delegate to the place of its fault.
bool Builder::refuse_delegate(std::uint32_t i) {
  format::Text place;
  where_.in("delegate", i).write(place);
  fault_.add_place(place);
  return false;
}

// The backends of the client come first.
const Backend* Builder::find_backend(std::string_view id) const {
  const auto found = std::ranges::find(options_.backends, id, &Backend::id);
  return found == options_.backends.end() ? nullptr : &*found;
}

bool Builder::size_delegate(std::uint32_t i, DelegateSource&& source) {
  if (find_backend(source.backend)) return true;
  for (const PlannedBackend* backend : backend_table())
    if (backend->backend.id == source.backend) {
      planned_[i].backend = backend;
      source.memory = &planned_[i].memory, source.needed = &delegated_;
      return backend->size(source, fault_) || refuse_delegate(i);
    }
  return false;
}

bool Builder::begin_delegate(std::uint32_t i, DelegateSource&& source) {
  Delegate& delegate = made_->delegates_[i];
  Planned& planned = planned_[i];
  delegate.backend = planned.backend ? &planned.backend->backend : find_backend(source.backend);
  if (!delegate.backend)
    return refuse(fault_, "D2", where_.in("delegate", i), "needs the backend ", format::Quoted{source.backend},
                  ", which is not registered");
  Memories memories = *memories_;
  memories.prepared = memories.prepared.subspan(static_cast<std::size_t>(delegates_begin_));
  source.memory = &planned.memory, source.memories = &memories;
  delegate.instance = delegate.backend->begin(delegate.backend->context, source, fault_);
  if (delegate.instance) return true;
  if (!fault_) refuse(fault_, "D2", "the backend does not make the delegate");
  return refuse_delegate(i);
}

}  // namespace assay::optimized
