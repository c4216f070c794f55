#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <span>

// Memory is mapped, protected and unmapped in whole pages. Reserved addresses are backed by memory when they are first
// written to.
namespace assay::sandbox {

inline constexpr std::size_t page_size = 4096;

inline std::byte* page_begin(std::byte* p) { return p - reinterpret_cast<std::uintptr_t>(p) % page_size; }
inline std::byte* page_end(std::byte* p) { return page_begin(p + page_size - 1); }

std::byte* reserve(std::size_t bytes);  // reserves protected addresses. Throws std::system_error

bool make_usable(std::span<std::byte> pages);  // makes them readable and writable. False if the system refuses

// Backs usable pages with memory at once, which costs less than a page fault for each. It is no error if the system
// cannot.
void populate(std::span<std::byte> pages);

bool make_read_only(std::span<std::byte> pages);  // False if the system refuses

// Protects whole pages and drops their contents. False if the system refuses.
bool retire(std::span<std::byte> pages);

}  // namespace assay::sandbox
