#include "conformance/features/phrase.h"

#include <mutex>
#include <unordered_set>

namespace assay::features {
namespace {

struct Hash : std::hash<std::string_view> {
  using is_transparent = void;
};

}  // namespace

Phrase::Phrase(std::string_view text) {
  static std::mutex mutex;
  static std::unordered_set<std::string, Hash, std::equal_to<>> known;
  const std::lock_guard lock(mutex);
  const auto at = known.find(text);
  text_ = &*(at == known.end() ? known.emplace(text).first : at);
}

}  // namespace assay::features
