// Names and their numbers, in order of first appearance.
#pragma once

#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "../rows.hpp"
#include "scan.hpp"

namespace hinge::text {

// A hash table with linear probing. A slot is never moved but by growth, which puts names back in their order: so the
// path to a name leads only over older ones, and the newest can be forgotten without a trace.
class Names {
public:
    Index size() const { return static_cast<Index>(end_.size()); }

    std::string_view operator[](Index number) const {
        const auto n = static_cast<std::size_t>(number);
        const std::size_t begin = n == 0 ? 0 : end_[n - 1];
        return {text_.data() + begin, end_[n] - begin};
    }

    // The number of a name; a new one is added. `at` is where an error about it points.
    Index add(std::string_view name, const char* at) {
        if (2 * (end_.size() + 1) > slot_.size()) grow();
        const std::uint64_t hash = hashed(name);
        std::size_t i = hash & (slot_.size() - 1);
        const std::uint64_t tag = hash & ~low;
        for (; slot_[i] != 0; i = (i + 1) & (slot_.size() - 1))
            if ((slot_[i] & ~low) == tag && (*this)[number_in(slot_[i])] == name) return number_in(slot_[i]);
        check_text(name, at);
        if (end_.size() >= most) throw Bad{at, "there are too many different names"};
        text_ += name;
        end_.push_back(text_.size());
        slot_[i] = tag | end_.size();
        return size() - 1;
    }

    // The number of a name, or -1.
    Index find(std::string_view name) const {
        if (slot_.empty()) return -1;
        const std::uint64_t hash = hashed(name);
        for (std::size_t i = hash & (slot_.size() - 1); slot_[i] != 0; i = (i + 1) & (slot_.size() - 1))
            if ((slot_[i] & ~low) == (hash & ~low) && (*this)[number_in(slot_[i])] == name) return number_in(slot_[i]);
        return -1;
    }

    // Forgets all names from number `kept` on.
    void truncate(Index kept) {
        while (size() > kept) {
            std::size_t i = hashed((*this)[size() - 1]) & (slot_.size() - 1);
            while ((slot_[i] & low) != end_.size()) i = (i + 1) & (slot_.size() - 1);
            slot_[i] = 0;
            end_.pop_back();
            text_.resize(end_.empty() ? 0 : end_.back());
        }
    }

private:
    static constexpr std::size_t most = std::numeric_limits<Index>::max() - 1;
    static constexpr std::uint64_t low = 0xFFFFFFFF;  // a slot: half of the hash, and the number + 1 (0: empty)

    static Index number_in(std::uint64_t slot) { return static_cast<Index>((slot & low) - 1); }

    static std::uint64_t hashed(std::string_view name) {
        std::uint64_t h = 0x9E3779B97F4A7C15 ^ name.size();
        const char* p = name.data();
        std::size_t left = name.size();
        for (; left >= 8; left -= 8, p += 8) {
            std::uint64_t word;
            std::memcpy(&word, p, 8);
            h = (h ^ word) * 0xD6E8FEB86659FD93;
            h ^= h >> 32;
        }
        if (left > 0) {
            std::uint64_t word = 0;
            std::memcpy(&word, p, left);
            h = (h ^ word) * 0xD6E8FEB86659FD93;
            h ^= h >> 32;
        }
        h *= 0xD6E8FEB86659FD93;
        return h ^ (h >> 29);
    }

    void grow() {
        slot_.assign(slot_.empty() ? 64 : 2 * slot_.size(), 0);
        for (Index number = 0; number < size(); ++number) {
            const std::uint64_t hash = hashed((*this)[number]);
            std::size_t i = hash & (slot_.size() - 1);
            while (slot_[i] != 0) i = (i + 1) & (slot_.size() - 1);
            slot_[i] = (hash & ~low) | (static_cast<std::uint64_t>(number) + 1);
        }
    }

    std::string text_;
    std::vector<std::size_t> end_;
    std::vector<std::uint64_t> slot_;
};

}  // namespace hinge::text
