// The structural support vector machine for any oracle, by block-coordinate ascent on the dual (MATH.md E).
//
// Minimise ||w||^2 / 2 + sum_i C_i hinge_i. An example keeps the directions psi_s = Psi(x, y) - Psi(x, yhat) that the
// oracle named, with masses a_s on the simplex; w = sum_i C_i sum_s a_s psi_s, and the dual is
// sum_i C_i sum_s a_s delta_s - ||w||^2 / 2. A visit asks the oracle for one more direction and then moves mass between
// the best and the worst of them with exact line searches: block Frank-Wolfe with pairwise steps, which, unlike the
// plain ones, converge linearly. The gap is exact when `solve` ends.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "../linear.hpp"
#include "../oracle.hpp"
#include "solved.hpp"

namespace hinge::solve {

// Weights as a geometry that an oracle can score with.
template <class Number>
struct Scorer {
    using Real = Number;
    const Linear<Real>& linear;

    const Weights<Real>& read() const { return linear.weights(); }
    void score(const Row<Real>& x, Real* out) const { linear.score(x, out); }
    double scale(Index) const { return 1; }
};

template <Oracle O>
class DirectionBlocks {
public:
    using Real = typename O::Real;

    DirectionBlocks(O& oracle, Linear<Real>& linear, const double* caps, std::int64_t count)
        : oracle_(oracle), linear_(linear), caps_(caps), blocks_(static_cast<std::size_t>(count)) {
        for (Block& block : blocks_) block.push_back(Plane{{}, {}, 0, 1});
    }

    // example(i, use): calls use(x, y) with the input and the target of example i.
    template <class Example>
    Solved solve(Example&& example, double tolerance, int most) {
        std::vector<std::int64_t> order(blocks_.size());
        for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int64_t>(i);
        std::mt19937_64 random(1);
        Solved done;
        while (done.passes < most) {
            for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random() % i]);
            double gap = 0;
            for (std::int64_t i : order)
                example(i, [&](const auto& x, const auto& y) { gap += visit(i, x, y, true).gap; });
            ++done.passes;
            for (int again = 0; again < cached_passes; ++again) {  // on what the oracle has named so far
                double left = 0;
                for (std::int64_t i : order) left += exchange(blocks_[static_cast<std::size_t>(i)], caps_[i]);
                if (left < gap / 10) break;
            }
            if (gap > tolerance * (dual() + gap)) continue;
            look(example, done);
            if (done.gap() <= tolerance * done.primal) return done;
        }
        look(example, done);
        return done;
    }

private:
    struct Plane {
        std::vector<Index> index;
        std::vector<Real> value;
        double delta;
        double mass;
        Row<Real> row() const { return {index.data(), value.data(), static_cast<Index>(index.size()), Real(0)}; }
    };
    using Block = std::vector<Plane>;
    struct Seen {
        double gap, hinge;
    };

    static constexpr int cached_passes = 20;

    double dual() const { return promised_ - sum_of_squares(linear_.weights()) / 2; }

    template <class Example>
    void look(Example&& example, Solved& done) {
        done.hinge = 0;
        for (std::size_t i = 0; i < blocks_.size(); ++i)
            example(static_cast<std::int64_t>(i), [&](const auto& x, const auto& y) {
                done.hinge += visit(static_cast<std::int64_t>(i), x, y, false).hinge;
            });
        done.primal = sum_of_squares(linear_.weights()) / 2 + done.hinge;
        done.dual = dual();
    }

    // By how much the oracle's delta minus margin exceeds that of what the block holds; then the block moves.
    Seen visit(std::int64_t i, const auto& x, const auto& y, bool move) {
        const double C = caps_[i];
        if (!(C > 0)) return {0, 0};
        const Scorer<Real> scorer{linear_};
        if (!oracle_.see(scorer, x, y)) return {0, 0};
        const Rival rival = oracle_.rival(Constraint::augmented);
        const double hinge = std::max(0.0, rival.delta - rival.margin);
        Block& block = blocks_[static_cast<std::size_t>(i)];
        measure(block);
        double held = 0;
        for (std::size_t s = 0; s < block.size(); ++s) held += block[s].mass * values_[s];
        if (move) {
            add(block, rival);
            exchange(block, C);
        }
        return {C * (hinge - held), C * hinge};
    }

    // delta - <w, psi> of each direction
    void measure(const Block& block) {
        values_.resize(block.size());
        for (std::size_t s = 0; s < block.size(); ++s) {
            Real score = 0;
            if (!block[s].index.empty()) linear_.score(block[s].row(), &score);
            values_[s] = block[s].delta - static_cast<double>(score);
        }
    }

    // The right answer itself is the direction zero, which may have left the block.
    void add(Block& block, const Rival& rival) {
        const double delta = rival.delta;
        direction_.clear();
        if (rival.differs) oracle_.direct(Constraint::augmented, direction_);
        const Row<Real> row = direction_.row();
        const auto count = static_cast<std::size_t>(row.count);
        for (const Plane& plane : block)
            if (plane.index.size() == count && plane.delta == delta &&
                std::equal(plane.index.begin(), plane.index.end(), row.index) &&
                std::equal(plane.value.begin(), plane.value.end(), row.value))
                return;
        block.push_back({{row.index, row.index + count}, {row.value, row.value + count}, delta, 0});
    }

    // Moves mass between the directions of a block; returns by how much they were from the best before.
    double exchange(Block& block, double C) {
        if (block.size() < 2) return 0;
        double before = 0;
        for (std::size_t turn = 0; turn < 2 + block.size(); ++turn) {
            measure(block);
            std::size_t best = 0, worst = block.size();
            for (std::size_t s = 0; s < block.size(); ++s) {
                if (values_[s] > values_[best]) best = s;
                if (block[s].mass > 0 && (worst == block.size() || values_[s] < values_[worst])) worst = s;
            }
            if (turn == 0)
                for (std::size_t s = 0; s < block.size(); ++s) before += C * block[s].mass * (values_[best] - values_[s]);
            const double slope = values_[best] - values_[worst];
            if (!(slope > 0)) break;
            const double length = difference(block[best], block[worst]);
            const double step = std::min(block[worst].mass, length > 0 ? slope / (C * length)
                                                                       : std::numeric_limits<double>::infinity());
            if (!(step > 0)) break;
            block[worst].mass = step == block[worst].mass ? 0 : block[worst].mass - step;
            block[best].mass += step;
            promised_ += C * step * (block[best].delta - block[worst].delta);
            step_.clear();
            step_.set(0, C * step);
            linear_.add({index_.data(), value_.data(), static_cast<Index>(index_.size()), Real(0)}, step_);
        }
        std::erase_if(block, [](const Plane& plane) { return plane.mass == 0; });
        return before;
    }

    // Writes up - down to the scratch row; returns its squared norm.
    double difference(const Plane& up, const Plane& down) {
        index_.clear();
        value_.clear();
        std::size_t a = 0, b = 0;
        while (a < up.index.size() || b < down.index.size()) {
            const bool from_up = b == down.index.size() || (a < up.index.size() && up.index[a] <= down.index[b]);
            const bool from_down = a == up.index.size() || (b < down.index.size() && down.index[b] <= up.index[a]);
            index_.push_back(from_up ? up.index[a] : down.index[b]);
            value_.push_back((from_up ? up.value[a] : Real(0)) - (from_down ? down.value[b] : Real(0)));
            a += from_up;
            b += from_down;
        }
        return squared_norm(Row<Real>{index_.data(), value_.data(), static_cast<Index>(index_.size()), Real(0)});
    }

    O& oracle_;
    Linear<Real>& linear_;
    const double* caps_;
    std::vector<Block> blocks_;
    Direction<Real> direction_;
    Step step_;
    std::vector<double> values_;
    std::vector<Index> index_;
    std::vector<Real> value_;
    double promised_ = 0;
};

}  // namespace hinge::solve
