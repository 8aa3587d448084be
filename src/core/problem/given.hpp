// Directions that come from outside: the oracle of another language has named the rivals already.
#pragma once

#include "../oracle.hpp"

namespace hinge {

// A rival with its direction: a sparse row of Psi(x, y) - Psi(x, yhat), empty where yhat is y.
template <class Real>
struct GivenRival {
    double delta = 0;
    Row<Real> direction{};
    bool differs = false;
};

template <class Real>
struct GivenRound {
    GivenRival<Real> plain, augmented;
};

struct Nothing {};

template <class Number>
class Given {
public:
    using Real = Number;
    using Input = GivenRound<Real>;
    using Target = Nothing;

    template <class Geometry>
    bool see(const Geometry& geometry, const Input& x, Target) {
        round_ = &x;
        plain_ = margin(geometry, x.plain);
        augmented_ = margin(geometry, x.augmented);
        return true;
    }

    Rival rival(Constraint which) const {
        const auto& it = which == Constraint::plain ? round_->plain : round_->augmented;
        return {it.delta, which == Constraint::plain ? plain_ : augmented_, it.differs};
    }

    void direct(Constraint which, Direction<Real>& to) const {
        to.clear();
        to.add((which == Constraint::plain ? round_->plain : round_->augmented).direction, 1.0);
    }

private:
    template <class Geometry>
    static double margin(const Geometry& geometry, const GivenRival<Real>& rival) {
        Real score = 0;
        if (rival.differs) geometry.score(rival.direction, &score);
        return static_cast<double>(score);
    }

    const Input* round_ = nullptr;
    double plain_ = 0, augmented_ = 0;
};

}  // namespace hinge
