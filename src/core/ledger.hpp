// What a learner has to show for itself: counts, losses, and the parts of the dual that are running sums.
#pragma once

#include <algorithm>
#include <limits>
#include <utility>

#include "archive.hpp"
#include "judgement.hpp"
#include "settings.hpp"

namespace hinge {

struct Ledger {
    double rounds = 0;
    double idle = 0;             // rounds that ask for nothing
    double mistakes = 0;         // of rounds with a weight
    double mistake_weight = 0;   // their weights' sum
    double loss = 0;             // sum of weight times loss
    double promised = 0;         // sum of gamma times the coefficients on Y
    double dual = 0;             // promised minus the sum of all G, kept by increments
    double risen = 0;            // by how much arrivals of features have raised the sum of all G
    double least_gain = std::numeric_limits<double>::infinity();  // what a mistake has added to the dual at least
    double C = 0;                                                 // the largest that was set
    double least_C = std::numeric_limits<double>::infinity();  // the smallest

    void saw(const Judgement& round, double weight) {
        rounds += 1;
        if (!round.constrained) idle += 1;
        if (!(weight > 0)) return;
        loss += weight * round.loss;
        if (!(round.error > 0)) return;
        mistakes += 1;
        mistake_weight += weight;
    }

    // What a mistake on this round would add to the dual, at least, if it asks for `gamma`.
    template <class Rule>
    void certify(const Rule& rule, double gamma, const Settings& set, double weight, double curvature) {
        least_gain = std::min(least_gain, rule.least_gain(gamma, weight * set.C, curvature));
        C = std::max(C, set.C);
        least_C = std::min(least_C, set.C);
    }

    // Features came, and with them the sum of all G rose: no round lost that, and the next ones do not regain it.
    void grew(double rise) {
        dual -= rise;
        risen += rise;
    }

    void moved(double promise, double rise) {
        promised += promise;
        dual += promise - rise;
    }

    void archive(Archive& to) {
        for (const auto& [name, number] : {std::pair<const char*, double*>{"rounds", &rounds},
                                           {"idle", &idle},
                                           {"mistakes", &mistakes},
                                           {"mistake_weight", &mistake_weight},
                                           {"loss", &loss},
                                           {"promised", &promised},
                                           {"dual", &dual},
                                           {"risen", &risen},
                                           {"least_gain", &least_gain},
                                           {"largest_C", &C},
                                           {"least_C", &least_C}})
            to.value(name, *number);
    }
};

}  // namespace hinge
