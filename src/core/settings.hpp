// The numbers that a person sets and a round reads.
#pragma once

namespace hinge {

struct Settings {
    double C;      // the most that a round's coefficients may add up to
    double gamma;  // the margin asked for
    double r;      // adaptive geometry: how slowly confidence grows
    double lambda = 0;     // weight of the squared norm in a regularised objective
    double lipschitz = 0;  // bound on a round's curvature; 0: the largest so far
    double offset = 0;     // rounds that a falling step counts in advance
};

}  // namespace hinge
