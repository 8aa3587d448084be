// The multi-class multi-label Perceptron (Crammer and Singer 2003; MATH.md D): on the pairs in wrong order, ties among
// them, each with the same share of the instance; or on the worst pair alone.
#pragma once

#include "../judgement.hpp"
#include "../motion.hpp"
#include "../step.hpp"

namespace hinge {

class MmpUniform {
public:
    static constexpr int sequences = 1;

    static bool moves(const Judgement&) { return true; }  // the mean counts rounds without a mistake too

    template <class Region, class Geometry>
    void choose(const Region& region, Geometry& geometry, const typename Geometry::Line& pace, Step&) {
        geometry.motion().gain(0) = region.pairs->wrong(-pace.weight, geometry.delta()) ? 1 : 0;
    }
};

class MmpMax {
public:
    static constexpr int sequences = 1;

    static bool moves(const Judgement&) { return true; }

    template <class Region, class Geometry>
    void choose(const Region& region, Geometry& geometry, const typename Geometry::Line& pace, Step& step) {
        Index lowest = region.relevant.front(), highest = -1;
        std::size_t next = 0;
        for (Index y = 0; y < region.outputs; ++y) {
            if (next < region.relevant.size() && region.relevant[next] == y) {
                ++next;
                if (region.scores[y] < region.scores[lowest]) lowest = y;
            } else if (highest < 0 || region.scores[y] > region.scores[highest]) {
                highest = y;
            }
        }
        const bool mistake = region.scores[lowest] <= region.scores[highest];
        geometry.motion().gain(0) = mistake ? 1 : 0;
        step.set(lowest, pace.weight);
        step.set(highest, -pace.weight);
    }
};

}  // namespace hinge
