#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <span>

// Memory is given, protected and taken in whole pages. The addresses that are reserved here are backed by none until
// they are written to.
namespace assay {

inline constexpr std::size_t page_size = 4096;

inline std::byte* page_begin(std::byte* p) { return p - reinterpret_cast<std::uintptr_t>(p) % page_size; }
inline std::byte* page_end(std::byte* p) { return page_begin(p + page_size - 1); }

std::byte* reserve(std::size_t bytes);  // which nobody may touch. Throws std::system_error

bool make_usable(std::span<std::byte> pages);  // to be read and written to. False where the system refuses

// Whole pages: nobody may touch them from now on, and what they held is gone. False where the system refuses.
bool sink(std::span<std::byte> pages);

}  // namespace assay
