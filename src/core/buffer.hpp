// Zeroed, cache-line aligned memory; large buffers come in huge pages where the system has them.
#pragma once

#include <cstddef>
#include <cstring>
#include <limits>
#include <new>
#include <type_traits>
#include <utility>

#include "huge_pages.hpp"

#if defined(__linux__) || defined(__APPLE__)
#include <sys/mman.h>
#endif

namespace hinge {

inline constexpr std::size_t cache_line = 64;

template <class T>
class Buffer {
    static_assert(std::is_trivially_copyable_v<T>);

public:
    Buffer() = default;
    explicit Buffer(std::size_t count) : count_(count) { allocate(); }
    Buffer(const Buffer& other) : count_(other.count_) {
        allocate();
        if (count_ > 0) std::memcpy(data_, other.data_, count_ * sizeof(T));
    }
    Buffer(Buffer&& other) noexcept { swap(other); }
    Buffer& operator=(Buffer other) noexcept {
        swap(other);
        return *this;
    }
    ~Buffer() { release(); }

    T* data() { return data_; }
    const T* data() const { return data_; }
    std::size_t size() const { return count_; }
    T& operator[](std::size_t i) { return data_[i]; }
    const T& operator[](std::size_t i) const { return data_[i]; }

private:
    void swap(Buffer& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(count_, other.count_);
    }

    // Large memory comes zeroed from the system and is touched only where it is used.
    bool mapped() const { return can_map && count_ * sizeof(T) >= 2 * huge_page; }

    void allocate() {
        if (count_ == 0) return;
        if (count_ > std::numeric_limits<std::size_t>::max() / 2 / sizeof(T)) throw std::bad_alloc();
        if (mapped())
            data_ = static_cast<T*>(map(count_ * sizeof(T)));
        else
            data_ = static_cast<T*>(::operator new(count_ * sizeof(T), std::align_val_t{cache_line}));
        if (!mapped()) std::memset(data_, 0, count_ * sizeof(T));
    }

    void release() {
        if (!data_) return;
        if (mapped())
            unmap(data_, count_ * sizeof(T));
        else
            ::operator delete(data_, std::align_val_t{cache_line});
    }

#if defined(__linux__) || defined(__APPLE__)
    static constexpr bool can_map = true;
    static void* map(std::size_t bytes) {
        void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) throw std::bad_alloc();
        wish_huge_pages(memory, bytes);
        return memory;
    }
    static void unmap(void* memory, std::size_t bytes) { munmap(memory, bytes); }
#else
    static constexpr bool can_map = false;
    static void* map(std::size_t) { throw std::bad_alloc(); }
    static void unmap(void*, std::size_t) {}
#endif

    T* data_ = nullptr;
    std::size_t count_ = 0;
};

}  // namespace hinge
