// What a solver that owns memory per example reports.
#pragma once

namespace hinge::solve {

struct Solved {
    int passes = 0;
    double primal = 0;
    double dual = 0;
    double hinge = 0;  // sum of C_i hinge_i
    double gap() const { return primal - dual; }
};

}  // namespace hinge::solve
