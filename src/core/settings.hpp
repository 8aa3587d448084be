// The numbers that a person sets and a round reads.
#pragma once

namespace hinge {

struct Settings {
    double C;      // the most that a round's coefficients may add up to
    double gamma;  // the margin asked for
    double r;      // adaptive geometry: how slowly confidence grows
};

}  // namespace hinge
