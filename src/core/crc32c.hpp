// CRC32C, the cyclic redundancy check of a model file's parts: Castagnoli's polynomial, bits reflected, the register
// complemented before and after (RFC 3720, B.4). It finds every single flipped bit, and every burst of up to 32 bits.
//
// Two paths with one answer: the processor's own instruction where it has one (SSE 4.2, asked at run time), else
// eight table look-ups for eight bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#define HINGE_CRC32C_SSE42 1
#include <nmmintrin.h>
#else
#define HINGE_CRC32C_SSE42 0
#endif

namespace hinge {
namespace crc32c_detail {

using Table = std::array<std::uint32_t, 256>;

// tables[j][b]: what byte b becomes after j further zero bytes.
constexpr std::array<Table, 8> make_tables() {
    constexpr std::uint32_t polynomial = 0x82F63B78u;  // 0x1EDC6F41, bits reversed
    std::array<Table, 8> tables{};
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
        std::uint32_t state = byte;
        for (int bit = 0; bit < 8; ++bit) state = (state >> 1) ^ ((state & 1u) != 0u ? polynomial : 0u);
        tables[0][byte] = state;
    }
    for (std::size_t j = 1; j < 8; ++j)
        for (std::size_t byte = 0; byte < 256; ++byte) {
            const std::uint32_t before = tables[j - 1][byte];
            tables[j][byte] = (before >> 8) ^ tables[0][before & 0xFFu];
        }
    return tables;
}

inline constexpr std::array<Table, 8> tables = make_tables();

inline std::uint32_t byte_step(std::uint32_t state, std::uint8_t byte) noexcept {
    return (state >> 8) ^ tables[0][(state ^ byte) & 0xFFu];
}

// Byte by byte in file order, so the same on every byte order; compilers make one load of it on little-endian machines.
inline std::uint32_t load_little(const std::uint8_t* data) noexcept {
    return static_cast<std::uint32_t>(data[0]) | static_cast<std::uint32_t>(data[1]) << 8 |
           static_cast<std::uint32_t>(data[2]) << 16 | static_cast<std::uint32_t>(data[3]) << 24;
}

inline std::uint32_t advance_by_table(std::uint32_t state, const std::uint8_t* data, std::size_t size) noexcept {
    for (; size >= 8; data += 8, size -= 8) {
        const std::uint32_t low = state ^ load_little(data);
        const std::uint32_t high = load_little(data + 4);
        state = tables[7][low & 0xFFu] ^ tables[6][(low >> 8) & 0xFFu] ^ tables[5][(low >> 16) & 0xFFu] ^
                tables[4][low >> 24] ^ tables[3][high & 0xFFu] ^ tables[2][(high >> 8) & 0xFFu] ^
                tables[1][(high >> 16) & 0xFFu] ^ tables[0][high >> 24];
    }
    for (; size > 0; ++data, --size) state = byte_step(state, *data);
    return state;
}

#if HINGE_CRC32C_SSE42
__attribute__((target("sse4.2"))) inline std::uint32_t advance_by_sse42(std::uint32_t state, const std::uint8_t* data,
                                                                       std::size_t size) noexcept {
    std::uint64_t wide = state;
    for (; size >= 8; data += 8, size -= 8) {
        std::uint64_t word;
        std::memcpy(&word, data, 8);
        wide = _mm_crc32_u64(wide, word);
    }
    state = static_cast<std::uint32_t>(wide);
    for (; size > 0; ++data, --size) state = _mm_crc32_u8(state, *data);
    return state;
}

inline bool has_sse42() noexcept {
    static const bool answer = __builtin_cpu_supports("sse4.2") != 0;
    return answer;
}
#endif

}  // namespace crc32c_detail

// The table path alone: what a processor without the instruction runs.
inline std::uint32_t crc32c_portable(std::span<const std::uint8_t> data, std::uint32_t crc = 0) noexcept {
    return ~crc32c_detail::advance_by_table(~crc, data.data(), data.size());
}

// The check of `data`; with `crc`, the check of what gave `crc` followed by `data`.
inline std::uint32_t crc32c(std::span<const std::uint8_t> data, std::uint32_t crc = 0) noexcept {
#if HINGE_CRC32C_SSE42
    if (crc32c_detail::has_sse42()) return ~crc32c_detail::advance_by_sse42(~crc, data.data(), data.size());
#endif
    return crc32c_portable(data, crc);
}

}  // namespace hinge
