// Rule II: whenever there is a loss, the worst constraint moves by the tau in [0, C] that raises the dual most. On one
// direction from an oracle this is passive-aggressive.
#pragma once

#include "../judgement.hpp"
#include "../region.hpp"
#include "../settings.hpp"
#include "../step.hpp"

namespace hinge {

// What a rule that maximises over tau gains on a mistake at least: max over [0, C] of gamma tau - R2 tau^2.
inline double best_least_gain(double gamma, double C, double R2) {
    return C * 2 * R2 <= gamma ? gamma * C - R2 * C * C : gamma * gamma / (4 * R2);
}

class Single {
public:
    static bool moves(const Judgement& seen) { return seen.loss > 0; }
    static double least_gain(double gamma, double C, double R2) { return best_least_gain(gamma, C, R2); }

    template <class Region, class Geometry>
    void choose(const Region& region, Geometry& geometry, typename Geometry::Line& line, Step& step) {
        load(worst(region), geometry);
        put(worst(region), solve::best(worst(region), line), step);
    }
};

}  // namespace hinge
