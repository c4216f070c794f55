#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "conformance/sandbox/red_zone.h"
#include "reference/dtype.h"

namespace assay::sandbox {

// The contents of memory before the first and before the second run of a call. An element of an out that holds the
// first pattern after the first run and the second pattern after the second run was never written. A kernel that reads
// its out before writing it gives two different results.
enum class FillPattern : std::uint8_t { first, second };
std::byte fill_byte(FillPattern pattern);  // for memory without a dtype; fill() never writes this byte

// The two patterns are drawn from `seed`. They differ in every byte and have opposite signs in every signed dtype. In
// floating dtypes their magnitude is about 1, so that they change a sum. As bool they are true and false.
void fill(std::span<std::byte> memory, FillPattern pattern, DType dtype, std::uint64_t seed);

class GuardedMemory;

// Address space for the memory of calls: one region after another, between protected pages. The addresses of a region
// are never used again.
class GuardedRegions {
 public:
  GuardedRegions();  // reserves address space, no memory. Throws std::system_error
  ~GuardedRegions();
  GuardedRegions(const GuardedRegions&) = delete;
  GuardedRegions& operator=(const GuardedRegions&) = delete;

  void retire_earlier();                        // protects the regions of all earlier calls
  bool was_retired(const void* address) const;  // the address lay in the region of an earlier call
  std::size_t used() const { return static_cast<std::size_t>(next_ - begin_); }

  // For a handler of segmentation faults: GuardedMemory::let_pass() of the memory of the present call, if there is one.
  bool let_pass(const void* address);

 private:
  friend class GuardedMemory;
  std::byte *begin_, *next_;  // the next region begins at `next_`
  std::byte* retired_;        // the end of the regions that are protected
  GuardedMemory* present_ = nullptr;
};

// The host memory of one call: buffers in one region, between guard pages, with red zones where they do not adjoin a
// guard page. At most one GuardedMemory lives at a time.
class GuardedMemory {
 public:
  // Which guard page each buffer adjoins: the one behind it, as far as the promised alignment allows, the one before
  // it, or none. A buffer without an adjoining page has exactly the promised alignment, and shares pages with the
  // buffers of its role that are added next to it: system calls for pages take a tenth of the time of a small call.
  enum class Adjoins : std::uint8_t { behind, before, none };
  enum class Role : std::uint8_t { input, out };

  GuardedMemory(GuardedRegions& regions, FillPattern pattern, Adjoins adjoins = Adjoins::none);
  ~GuardedMemory();
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;

  // A buffer of exactly `bytes` bytes, never null, with at least the promised alignment. It lives as long as this
  // object. Throws std::bad_alloc.
  std::byte* add(std::string name, std::size_t bytes, Role role = Role::out);

  void make_inputs_read_only();  // from now on, writing to an input is a trespass

  // One sentence about the first buffer, in the order of add(), with a write outside of it; none if there is no such
  // write.
  std::optional<std::string> damage() const;

  // The most serious access to a guard page or write to a read-only buffer that let_pass() let pass.
  struct Trespass {
    enum class Kind : std::uint8_t { none, read, write_to_input, write };  // in the order of seriousness
    Kind kind = Kind::none;
    std::size_t buffer = 0, distance = 0;  // the number of the buffer, and the bytes between it and the access
    bool behind = false;
  };
  Trespass::Kind trespass() const { return trespass_.kind; }
  std::string describe_trespass() const;

  // Makes the page at `address` accessible and records the access, if it is a trespass. The interrupted instruction can
  // then go on. It may be called in a signal handler.
  bool let_pass(const void* address);

 private:
  struct Buffer {
    std::string name;
    Role role;
    std::byte* data;
    std::size_t bytes;
    std::span<std::byte> pages, before, behind;  // its pages and its red zones
    bool read_only = false;
  };
  friend class GuardedRegions;
  Buffer* read_only_buffer(const std::byte* at);  // null if there is none
  bool borders(const Buffer& buffer, const std::byte* guard_page, bool behind) const;
  bool open_for_writing(Buffer& buffer, std::byte* guard_page, bool behind);
  bool let_pass_guard(std::byte* guard_page, const std::byte* address);
  void record(Trespass trespass);

  GuardedRegions& regions_;
  FillPattern pattern_;
  Adjoins adjoins_;
  std::byte *begin_, *open_;  // the region, the end of its usable pages
  std::vector<Buffer> buffers_;
  Trespass trespass_;
  std::byte* readable_guard_ = nullptr;  // a guard page that was read
};

}  // namespace assay::sandbox
