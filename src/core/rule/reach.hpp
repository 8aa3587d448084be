// What the updates of parallel tasks know besides the round: how long instances are, and what follows for C.
#pragma once

#include <algorithm>
#include <cmath>

#include "../archive.hpp"
#include "../settings.hpp"

namespace hinge {

class Reach {
public:
    double radius = 0;      // R; 0: the longest instance so far
    double horizon = 0;     // T, which sets C = 1 / (sqrt(T) R^2); 0: C is as given
    double remoteness = 1;  // rho of the norm's dual
    double alone = 1;       // the norm of a single loss of 1

    Settings settle(Settings set, double curvature) {
        longest_ = std::max(longest_, curvature);
        if (horizon > 0 && squared_radius() > 0) set.C = 1 / (std::sqrt(horizon) * squared_radius());
        return set;
    }

    double squared_radius() const { return radius > 0 ? radius * radius : longest_; }

    void archive(Archive& to) { to.value("longest", longest_); }

private:
    double longest_ = 0;  // its squared length
};

}  // namespace hinge
