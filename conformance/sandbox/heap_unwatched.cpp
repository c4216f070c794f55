#include "conformance/sandbox/heap.h"

// In a build with a sanitizer, the sanitizer replaces the heap.
namespace assay::sandbox::heap {

Watch::Watch(std::byte, std::size_t) {}
Watch::~Watch() = default;
bool has_refused() { return false; }
Owner::Owner(Who who) : before_(who) {}
Owner::~Owner() { static_cast<void>(before_); }
std::optional<Damage> damage() { return std::nullopt; }
std::size_t used() { return 0; }
std::size_t blocks_used() { return 0; }
std::size_t live() { return 0; }
void retire_freed() {}
bool was_retired(const void*) { return false; }

}  // namespace assay::sandbox::heap
