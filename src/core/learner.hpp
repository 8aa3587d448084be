// The one loop: score, judge, move this round's coefficients, keep the books. Nothing here names an algorithm.
#pragma once

#include <cmath>
#include <utility>

#include "average.hpp"
#include "judgement.hpp"
#include "ledger.hpp"
#include "region.hpp"
#include "settings.hpp"
#include "step.hpp"

namespace hinge {

template <class Problem, class Rule, class Geometry>
class Learner {
public:
    using Real = typename Geometry::Real;
    using Input = typename Problem::Input;
    using Target = typename Problem::Target;

    explicit Learner(Index reserved) : geometry_(reserved) {}
    explicit Learner(Geometry geometry) : geometry_(std::move(geometry)) {}

    Problem& problem() { return problem_; }
    const Problem& problem() const { return problem_; }
    Geometry& geometry() { return geometry_; }
    const Geometry& geometry() const { return geometry_; }
    Rule& rule() { return rule_; }
    Ledger& ledger() { return ledger_; }
    const Ledger& ledger() const { return ledger_; }

    void grow(Index features, Index outputs) {
        ledger_.grew(geometry_.grow(features, outputs));
        problem_.grow(geometry_.read().width());
    }

    // How wrong the current iterate is on this round; nothing moves yet.
    Judgement judge(const Input& x, const Target& y, double weight, const Settings& set) {
        const Judgement seen = problem_.judge(geometry_, x, y, set.gamma);
        ledger_.saw(seen, weight);
        if (weight > 0) {
            const double curvature = asks_curvature ? geometry_.measure(problem_.direction(x)) : 0.0;
            [[maybe_unused]] const Settings& now = settled(set, curvature);
            if constexpr (Geometry::certified) certify(seen, weight, curvature, now);
            if constexpr (requires { rule_.witness(problem_.region(), geometry_, weight); })
                rule_.witness(problem_.region(), geometry_, weight);
        }
        if constexpr (requires { geometry_.tick(weight); })
            geometry_.tick(seen.constrained ? weight : 0.0);
        else
            geometry_.tick();
        return seen;
    }

    // Moves as the rule says, on what `judge` has just seen.
    void move(const Input& x, const Judgement& seen, double weight, const Settings& set) {
        if (!(weight > 0) || !seen.constrained || !Rule::moves(seen)) return;
        const auto& along = problem_.direction(x);
        auto& line = geometry_.line(along, settled_before(set), weight);
        step_.clear();
        rule_.choose(problem_.region(), geometry_, line, step_);
        const double rise = geometry_.advance(along, step_, problem_.scores());
        ledger_.moved(problem_.promise(step_), rise);
        if constexpr (requires { problem_.settle(geometry_); }) problem_.settle(geometry_);
    }

    void archive(Archive& to) {
        geometry_.archive(to);
        if constexpr (requires { rule_.archive(to); }) rule_.archive(to);
        ledger_.archive(to);
    }

private:
    // A rule whose steps do not depend on how the dual bends, and that proves nothing by it, need not have it measured.
    static constexpr bool asks_curvature = [] {
        if constexpr (requires { Rule::asks_curvature; })
            return Rule::asks_curvature;
        else
            return true;
    }();
    static constexpr bool settles = requires(Rule& rule, const Settings& set) { rule.settle(set, 0.0); };

    // A rule may set C by the lengths of the instances so far.
    const Settings& settled(const Settings& set, double curvature) {
        if constexpr (settles) return now_ = rule_.settle(set, curvature);
        return set;
    }
    const Settings& settled_before(const Settings& set) const { return settles ? now_ : set; }

    // What a mistake adds to the dual follows from what it asks for: gamma, or what the problem says.
    void certify(const Judgement& seen, double weight, double curvature, const Settings& set) {
        double asked = set.gamma;
        if constexpr (requires { problem_.asked(seen); }) asked = problem_.asked(seen);
        ledger_.certify(rule_, asked, set, weight, bend<typename Problem::Region> * curvature);
    }

    Problem problem_;
    Rule rule_;
    Geometry geometry_;
    Ledger ledger_;
    Settings now_{};
    Step step_;
};

}  // namespace hinge
