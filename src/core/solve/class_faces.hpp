// Conjugate gradients for the dual of the multiclass support vector machine, on the face that the blocks have found.
//
// Block steps find out which masses are zero, and are slow to say how large the others are where examples are alike.
// With the zeros held, the dual is a concave quadratic in the masses b of the examples that have several,
//   gradient C_i (delta_i + s_i), curvature ||sum_i C_i b_i x_i'||^2, each block's sum fixed,
// and conjugate gradients, preconditioned by C_i^2 ||x_i||^2, go to its top. What leaves the simplex on the way there is
// projected back, and the step is halved until the dual rises (More and Toraldo's gradient projection works so).
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "../linear.hpp"
#include "../rows.hpp"
#include "../step.hpp"
#include "simplex.hpp"

namespace hinge::solve {

template <class Real>
class ClassFaces {
public:
    using Costs = std::function<const double*(std::int64_t)>;

    ClassFaces(const Rows<Real>& x, const double* caps, const std::vector<double>& norms, const Costs& cost)
        : x_(x), caps_(caps), norms_(norms), cost_(cost), moved_(0) {}

    // What a climb did: by how much the dual rose, of this by how much the masses' gain, and what it cost in passes.
    struct Climb {
        double rise = 0, promise = 0, passes = 0;
    };

    // At most `most` steps of conjugate gradients; masses and weights move along.
    Climb climb(double* masses, Linear<Real>& linear, int most) {
        outputs_ = linear.weights().outputs();
        gather(masses, linear);
        Climb done;
        if (free_.empty()) return done;
        const int steps = aim(linear, most);
        const double pass = static_cast<double>(free_.size()) / static_cast<double>(x_.count);
        done.passes = pass * (1 + 2 * steps);
        double step = 1;
        for (int attempt = 0; attempt < 4 && steps > 0; ++attempt, step /= 2) {
            const double promise = place(step, masses, linear);
            done.passes += pass;
            const double rise = promise - falls_ - sum_of_squares(moved_.weights()) / 2;
            if (!(rise > 0)) continue;
            accept(masses, linear);
            done.rise = rise;
            done.promise = promise;
            return done;
        }
        return done;
    }

private:
    // An example with several masses, and where its entries start.
    struct Free {
        std::int64_t row;
        std::size_t start, count;
    };

    void gather(const double* masses, const Linear<Real>& linear) {
        free_.clear();
        at_.clear();
        scores_ = Buffer<Real>(static_cast<std::size_t>(linear.weights().width()));
        for (std::int64_t i = 0; i < x_.count; ++i) {
            if (!(caps_[i] > 0) || !(norms_[static_cast<std::size_t>(i)] > 0)) continue;
            const double* mass = masses + i * outputs_;
            const std::size_t start = at_.size();
            for (Index y = 0; y < outputs_; ++y)
                if (mass[y] > 0) at_.push_back(y);
            if (at_.size() - start > 1)
                free_.push_back({i, start, at_.size() - start});
            else
                at_.resize(start);
        }
        worth_.resize(at_.size());
        for (std::vector<double>* one : {&residual_, &along_, &bent_, &aim_, &target_}) one->assign(at_.size(), 0.0);
    }

    // The direction from the masses to the top of the face, in `aim_`; returns how many steps were made.
    int aim(const Linear<Real>& linear, int most) {
        for (const Free& one : free_) {
            linear.score(x_[one.row], scores_.data());
            const double* cost = cost_(one.row);
            for (std::size_t e = one.start; e < one.start + one.count; ++e) {
                worth_[e] = static_cast<double>(scores_[static_cast<std::size_t>(at_[e])]);
                residual_[e] = caps_[one.row] * (worth_[e] + cost[at_[e]]);
            }
            centre(one, residual_);
        }
        double length = preconditioned([](double z, double) { return z; });
        const double enough = length * 1e-8;
        int steps = 0;
        while (steps < most && length > enough) {
            put(along_, linear);
            const double curvature = bend();
            if (!(curvature > 0)) break;
            const double step = length / curvature;
            for (std::size_t e = 0; e < at_.size(); ++e) {
                aim_[e] += step * along_[e];
                residual_[e] -= step * bent_[e];
            }
            const double before = length;
            length = squared_length();
            const double share = length / before;
            preconditioned([share](double z, double p) { return z + share * p; });
            ++steps;
        }
        return steps;
    }

    double scale(const Free& one) const {
        const double C = caps_[one.row];
        return 1 / (C * C * norms_[static_cast<std::size_t>(one.row)]);
    }

    // <residual, z> with z the preconditioned residual.
    double squared_length() const {
        double sum = 0;
        for (const Free& one : free_)
            for (std::size_t e = one.start; e < one.start + one.count; ++e) sum += scale(one) * residual_[e] * residual_[e];
        return sum;
    }

    // along = join(z, along); returns <residual, z>.
    template <class Join>
    double preconditioned(Join&& join) {
        for (const Free& one : free_)
            for (std::size_t e = one.start; e < one.start + one.count; ++e)
                along_[e] = join(scale(one) * residual_[e], along_[e]);
        return squared_length();
    }

    // moved_ = sum_i C_i change_i x_i'
    void put(const std::vector<double>& change, const Linear<Real>& like) {
        moved_ = Linear<Real>(like.weights().reserved());
        moved_.grow(like.weights().features(), outputs_);
        for (const Free& one : free_) {
            step_.clear();
            for (std::size_t e = one.start; e < one.start + one.count; ++e)
                if (change[e] != 0) step_.set(at_[e], caps_[one.row] * change[e]);
            if (!step_.empty()) moved_.add(x_[one.row], step_);
        }
    }

    // bent_ = the curvature times along_; returns <along, bent>.
    double bend() {
        double sum = 0;
        for (const Free& one : free_) {
            moved_.score(x_[one.row], scores_.data());
            for (std::size_t e = one.start; e < one.start + one.count; ++e)
                bent_[e] = caps_[one.row] * static_cast<double>(scores_[static_cast<std::size_t>(at_[e])]);
            centre(one, bent_);
            for (std::size_t e = one.start; e < one.start + one.count; ++e) sum += along_[e] * bent_[e];
        }
        return sum;
    }

    // Takes the mean of an example's entries from each: blocks keep their sums.
    static void centre(const Free& one, std::vector<double>& entries) {
        double mean = 0;
        for (std::size_t e = one.start; e < one.start + one.count; ++e) mean += entries[e];
        mean /= static_cast<double>(one.count);
        for (std::size_t e = one.start; e < one.start + one.count; ++e) entries[e] -= mean;
    }

    // The masses `step` along the aim, projected, in target_; the change of W in moved_. Returns what the masses promise
    // more; `falls_` is <W, change>.
    double place(double step, const double* masses, const Linear<Real>& linear) {
        double promise = 0;
        falls_ = 0;
        for (const Free& one : free_) {
            const double* mass = masses + one.row * outputs_;
            const double* cost = cost_(one.row);
            double* to = target_.data() + one.start;
            for (std::size_t e = 0; e < one.count; ++e) to[e] = mass[at_[one.start + e]] + step * aim_[one.start + e];
            project_on_simplex(to, one.count);
            for (std::size_t e = 0; e < one.count; ++e) {
                const Index y = at_[one.start + e];
                const double more = caps_[one.row] * (to[e] - mass[y]);
                promise += more * cost[y];
                falls_ -= more * worth_[one.start + e];
                bent_[one.start + e] = mass[y] - to[e];
            }
        }
        put(bent_, linear);
        return promise;
    }

    void accept(double* masses, Linear<Real>& linear) {
        for (const Free& one : free_)
            for (std::size_t e = one.start; e < one.start + one.count; ++e) masses[one.row * outputs_ + at_[e]] = target_[e];
        Weights<Real>& to = linear.weights();
        for (Index j = -to.reserved(); j < to.features(); ++j)
            for (Index y = 0; y < outputs_; ++y) to.row(j)[y] += moved_.weights().row(j)[y];
    }

    const Rows<Real>& x_;
    const double* caps_;
    const std::vector<double>& norms_;
    const Costs& cost_;
    Index outputs_ = 0;
    std::vector<Free> free_;
    std::vector<Index> at_;  // by entry: its output
    std::vector<double> worth_, residual_, along_, bent_, aim_, target_;
    double falls_ = 0;
    Linear<Real> moved_;
    Buffer<Real> scores_;
    Step step_;
};

}  // namespace hinge::solve
