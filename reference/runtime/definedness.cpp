#include "reference/runtime/definedness.h"

#include <algorithm>

namespace assay {

std::size_t Definedness::written(std::size_t at) const {
  const auto found = std::ranges::lower_bound(writes_, at, {}, &Write::at);
  return found != writes_.end() && found->at == at ? found->bytes : 0;
}

void Definedness::write(std::size_t at, std::size_t bytes, By by) noexcept {
  if (bytes == 0) return;
  const auto first = std::ranges::upper_bound(writes_, at, {}, [](const Write&w) { return w.at + w.bytes; }),
             last = std::ranges::lower_bound(first, writes_.end(), at + bytes, {}, &Write::at);
  if (first == last) {
    writes_.insert(first, {at, bytes, by});
    return;
  }
  *first = {at, bytes, first->at == at && first->by == By::state ? By::state : by};
  writes_.erase(first + 1, last);
}

void Definedness::forget(std::size_t at) noexcept {
  std::erase_if(writes_, [&](const Write& w) { return w.at == at; });
}

void Definedness::begin() noexcept {
  std::erase_if(writes_, [](const Write& w) { return w.by == By::instruction; });
}

}  // namespace assay
