// Oracles: problems with so many answers that only the best one can be asked for (MATH.md E).
//
// An oracle scores a round once and then names a rival of the right answer: the best scored one, or the one at which
// the generalised hinge is attained. What may move is the direction between the two, with one coefficient.
#pragma once

#include <algorithm>
#include <concepts>
#include <limits>

#include "direction.hpp"
#include "geometry/squared.hpp"
#include "judgement.hpp"
#include "region.hpp"
#include "step.hpp"

namespace hinge {

// An answer yhat besides the right one.
struct Rival {
    double delta = 0;   // delta(yhat, y)
    double margin = 0;  // <w, Psi(x, y) - Psi(x, yhat)>
    bool differs = false;
};

// plain: the answer that scores most; at ties one that is not the right answer, so that a tie is a mistake.
// augmented: the answer with the largest delta minus margin; the right one itself where nothing exceeds 0.
enum class Constraint { plain, augmented };

template <class O>
concept Oracle = requires(O oracle, const SquaredNorm<typename O::Real>& geometry, const typename O::Input& x,
                          const typename O::Target& y, Constraint which, Direction<typename O::Real>& to) {
    // Scores the round; false where it asks for nothing, and then nothing else is called.
    { oracle.see(geometry, x, y) } -> std::same_as<bool>;
    { oracle.rival(which) } -> std::same_as<Rival>;
    // Adds Psi(x, y) - Psi(x, yhat) to `to`, which is clear, for the rival found last of that kind.
    oracle.direct(which, to);
};

// An oracle as a problem of the loop: one direction, one coefficient, the gain delta.
template <Oracle O, Constraint which>
class OracleProblem {
public:
    using Real = typename O::Real;
    using Input = typename O::Input;
    using Target = typename O::Target;
    using Region = Ray;

    O& oracle() { return oracle_; }
    const O& oracle() const { return oracle_; }

    void grow(Index) {}

    template <class Geometry>
    Judgement judge(const Geometry& geometry, const Input& x, const Target& y, double) {
        fresh_ = true;
        moving_ = {};
        if (!oracle_.see(geometry, x, y)) return {};
        const Rival answer = oracle_.rival(Constraint::plain);
        const Rival hardest = oracle_.rival(Constraint::augmented);
        const bool wrong = answer.differs && answer.margin <= 0;
        moving_ = which == Constraint::plain ? answer : hardest;
        region_ = {moving_.delta, moving_.margin};
        score_ = static_cast<Real>(moving_.margin);
        return {std::max(0.0, hardest.delta - hardest.margin), wrong ? answer.delta : 0.0, true, wrong};
    }

    const Region& region() const { return region_; }

    // Psi(x, y) - Psi(x, yhat), summed when it is first asked for.
    const Row<Real>& direction(const Input&) {
        if (fresh_) {
            sum_.clear();
            if (moving_.differs) oracle_.direct(which, sum_);
            row_ = sum_.row();
            fresh_ = false;
        }
        return row_;
    }

    double promise(const Step& step) const { return region_.gain * step.total(); }
    // A mistake has at least its own delta as loss; other rounds ask for nothing.
    double asked(const Judgement& seen) const {
        return seen.error > 0 ? seen.error : std::numeric_limits<double>::infinity();
    }
    // <w, direction>
    const Real* scores() { return &score_; }

private:
    O oracle_;
    Rival moving_;
    Region region_{};
    Direction<Real> sum_;
    Row<Real> row_{};
    Real score_ = 0;
    bool fresh_ = false;
};

}  // namespace hinge
