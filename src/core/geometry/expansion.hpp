// A function space: w is a sum over kept rows, f(x) = sum_s a_s k(x_s, x), and the thresholds stand beside it.
//
// It takes the place of a geometry of features where a kernel is wanted. The thresholds sum over all rounds, whatever
// rows a budget removes. In a `Ball`, function and thresholds together are drawn back to ||f||^2 + ||b||^2 <= 1, by a
// scale on both; what a removal does to ||f||^2 follows from the function's values at the two rows concerned.
#pragma once

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "../kernel_support.hpp"
#include "../region.hpp"
#include "../settings.hpp"
#include "../solve/pav.hpp"
#include "../solve/quadratic.hpp"

namespace hinge {

template <class Number, KernelFunction<Number> K, bool Ball>
class Expansion {
public:
    using Real = Number;
    using Line = Quadratic;
    using Scratch = SupportScratch<Real>;
    static constexpr bool certified = false;
    static constexpr double radius = 1;

    Expansion(Index thresholds, K kernel, Index budget, Removal removal)
        : support_(std::move(kernel), budget, removal), thresholds_(static_cast<std::size_t>(thresholds), 0.0) {}

    const KernelSupport<Real, K>& support() const { return support_; }

    K& kernel() { return support_.kernel(); }

    void insert_reserved(Index place, Index like) {
        const double value = like < 0 ? 0.0 : thresholds_[static_cast<std::size_t>(like)];
        thresholds_.insert(thresholds_.begin() + place, value);
        square_ += value * value * scale_ * scale_;
        draw_back();
    }

    // The score as the update needs it: the kernels of x with the support and with itself are kept until then. Throws
    // where they are not finite, so that what fails has moved nothing.
    double stored_score(const Row<Real>& x) {
        own_ = finite(support_.own(x));
        if (Ball && own_ < 0)
            throw std::domain_error("the kernel of a row with itself is negative: step='sqrt' needs an inner product");
        return finite(support_.score(x, scratch_));
    }
    // The same for readers, who bring their own room.
    double stored_score(const Row<Real>& x, Scratch& room) const { return support_.score(x, room); }
    // Calls visit(t, score) for each row.
    template <class Visit>
    void stored_scores(const Rows<Real>& x, Visit&& visit) const {
        constexpr Index together = KernelSupport<Real, K>::together;
        Scratch room;
        double scores[together];
        for (std::int64_t first = 0; first < x.count; first += together) {
            const auto count = static_cast<Index>(std::min<std::int64_t>(together, x.count - first));
            support_.scores(x, first, count, scores, room);
            for (Index t = 0; t < count; ++t) visit(first + t, scores[t]);
        }
    }
    std::span<const double> stored_thresholds() const { return thresholds_; }
    double scale(Index) const { return scale_; }
    void tick() {}

    // Of the row that was scored last: no other is asked for.
    double squared_length(const Row<Real>&) const { return own_; }
    double measure(const Pull<Real>& pull) {
        line_.curvature = pull.sum * pull.sum * own_ + static_cast<double>(pull.values.size());
        return line_.curvature;
    }

    Quadratic& line(const Pull<Real>&, const Settings& set, double weight) {
        line_.cap = set.C * weight;
        return line_;
    }

    double advance(const Pull<Real>& pull, const Step& step, const Real*) {
        double alpha = 0;
        for (double each : step.alphas()) alpha += each;
        const double stored = alpha / scale_;
        double along = 0;  // <(f, b), direction>, before the scale
        for (std::size_t i = 0; i < pull.rows.size(); ++i) {
            double& b = thresholds_[thresholds_.size() - static_cast<std::size_t>(-pull.rows[i])];
            along += static_cast<double>(pull.values[i]) * b;
            b += stored * static_cast<double>(pull.values[i]);
        }
        if (pull.sum != 0) {
            if constexpr (Ball) along += pull.sum * support_.value(scratch_);
            const double lost = support_.template add<Ball>(pull.instance, own_, stored * pull.sum, scratch_);
            square_ += lost * scale_ * scale_;
        }
        const double rise = line_.rise(scale_ * along, alpha);
        square_ += 2 * rise;
        return rise;
    }

    void constrain(solve::IsotonicProjection& project) {
        if (!std::is_sorted(thresholds_.begin(), thresholds_.end())) {
            const double before = square_of_thresholds();
            project(std::span<double>(thresholds_));
            square_ += (square_of_thresholds() - before) * scale_ * scale_;
        }
        draw_back();
    }

    // The coefficient of a slot.
    double coefficient(std::size_t slot) const { return scale_ * support_.coefficients()[slot]; }

    void archive(Archive& to) {
        to.values("thresholds", thresholds_);
        to.value("scale", scale_);
        to.value("square", square_);
        support_.archive(to);
    }

private:
    static constexpr double small = 0x1p-20;

    static double finite(double value) {
        if (!std::isfinite(value)) throw std::domain_error("the kernel returned a number that is not finite");
        return value;
    }

    double square_of_thresholds() const {
        double sum = 0;
        for (double b : thresholds_) sum += b * b;
        return sum;
    }

    void draw_back() {
        if constexpr (!Ball) return;
        if (square_ > radius * radius) {
            scale_ *= radius / std::sqrt(square_);
            square_ = radius * radius;
        }
        if (scale_ >= small) return;
        for (double& b : thresholds_) b *= scale_;
        support_.rescale(scale_);
        scale_ = 1;
    }

    KernelSupport<Real, K> support_;
    std::vector<double> thresholds_;
    Scratch scratch_;
    double own_ = 0;  // k(x, x) of the row that was scored last
    Quadratic line_{};
    double scale_ = 1;
    double square_ = 0;  // ||f||^2 + ||b||^2, in a ball
};

}  // namespace hinge
