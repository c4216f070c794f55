#include <algorithm>
#include <utility>

#include "optimized/prepare/build.h"

// What a method delegates is begun when all else of it is ready, whether it is called or not, and ended with it.
namespace assay::optimized {

void Method::end() {
  for (Delegate& d : delegates_)
    if (void* begun = std::exchange(d.begun, nullptr)) d.backend->end(begun);
}

bool Builder::begin_delegate(Delegate& delegate, const pte::BackendDelegate& tables, const format::Place& place) {
  const std::string_view id = format::text_of(tables.id());
  const auto found = std::ranges::find(options_.backends, id, &Backend::id);
  if (found != options_.backends.end()) {
    delegate.backend = &*found;
    const DelegateSource source{program_.view(), tables, format::payload(program_.view(), tables), named_,
                                options_.instructions};
    delegate.begun = found->begin(found->context, source, fault_);
    if (delegate.begun || fault_) return delegate.begun;
  }
  return refuse(fault_, "D2", place, "there is no backend ", format::Quoted{id}, " for it");
}

bool Builder::begin_delegates() {
  if (!memories_) return true;  // sizes are asked for, and none depends on a delegate
  for (std::uint32_t i = 0; i < made_->delegates_.size(); ++i)
    if (!begin_delegate(made_->delegates_[i], *plan_.delegates()->Get(i), where_.in("delegate", i)))
      return made_->end(), false;
  return true;
}

}  // namespace assay::optimized
