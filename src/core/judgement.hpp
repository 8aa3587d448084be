// What a problem says of a round before the update.
#pragma once

namespace hinge {

struct Judgement {
    double loss = 0;           // the hinge, an upper bound of the error
    double error = 0;          // the discrete quantity: 0 or 1 for label ranking, delta for an oracle
    bool constrained = false;  // false: the round asks for nothing, and nothing may move
    bool wrong = false;        // oracles: another answer scores as much as the right one
};

}  // namespace hinge
