// Large memory in huge pages, where the system has them: fewer faults when it is first touched, fewer translations later.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace hinge {

inline constexpr std::size_t huge_page = std::size_t{1} << 21;

// Asks for huge pages in [memory, memory + bytes); a wish, which the system may leave unheard.
inline void wish_huge_pages([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t bytes) {
#if defined(__linux__)
    constexpr std::uintptr_t page = 4096;
    const auto begin = (reinterpret_cast<std::uintptr_t>(memory) + page - 1) / page * page;
    const auto end = reinterpret_cast<std::uintptr_t>(memory) + bytes;
    if (end > begin) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
#endif
}

}  // namespace hinge
