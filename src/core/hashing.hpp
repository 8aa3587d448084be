// Features by hash: 64-bit FNV-1a, mixed at the end; the low bits are the feature, the highest bit the sign.
#pragma once

#include <cstdint>
#include <string_view>

#include "rows.hpp"

namespace hinge {

struct HashedFeature {
    Index index;
    double sign;
};

inline HashedFeature hash_feature(std::string_view name, int bits) {
    std::uint64_t h = 0xcbf29ce484222325;
    for (const char c : name) {
        h ^= static_cast<unsigned char>(c);
        h *= 0x100000001b3;
    }
    h ^= h >> 32;
    h *= 0xd6e8feb86659fd93;
    h ^= h >> 32;
    return {static_cast<Index>(h & ((std::uint64_t{1} << bits) - 1)), h >> 63 ? -1.0 : 1.0};
}

}  // namespace hinge
