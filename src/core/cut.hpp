// Where to cut the scores into a label set: b(x) = <u, x> + u0, learned beside the ranking and never touching it.
//
// The target of a round is the middle of the interval of cuts that put the fewest labels on the wrong side; beyond the
// highest and the lowest score a cut counts as one unit away. When the set cut differs from the truth, b takes a
// passive-aggressive step with C = 1 (times the round's weight) towards the target.
#pragma once

#include <algorithm>
#include <limits>
#include <span>
#include <vector>

#include "archive.hpp"
#include "linear.hpp"

namespace hinge {

template <class Real>
class Cut {
public:
    bool exists() const { return exists_; }
    void begin() { exists_ = true; }

    void grow(Index features) { linear_.grow(features, 1); }

    double at(const Row<Real>& x) const {
        Real b = 0;
        linear_.score(bare(x), &b);
        return static_cast<double>(b) + offset_;
    }

    void learn(const Row<Real>& x, const Real* scores, Index outputs, std::span<const Index> relevant, double unit,
               double weight) {
        const double b = at(x);
        if (wrong_at(b, scores, outputs, relevant) == 0) return;
        find_rivals(scores, outputs, relevant);
        const double distance = target(unit) - b;
        const double most = weight * (squared_norm(bare(x)) + 1);
        const double tau = std::clamp(distance, -most, most) / (squared_norm(bare(x)) + 1);
        step_.clear();
        step_.set(0, tau);
        linear_.add(bare(x), step_);
        offset_ += tau;
    }

    void archive(Archive& to) {
        to.value("cut_offset", offset_);
        to.weights("cut", linear_.weights());
    }

private:
    struct Label {
        double score;
        bool relevant;
    };

    static Row<Real> bare(Row<Real> x) {
        x.constant = Real(0);
        return x;
    }

    // The labels that decide where to cut, best first: those that score at least as high as some relevant one, and the
    // best of the others.
    void find_rivals(const Real* scores, Index outputs, std::span<const Index> relevant) {
        Real lowest = std::numeric_limits<Real>::infinity();
        for (Index y : relevant) lowest = std::min(lowest, scores[y]);
        labels_.clear();
        Real next_best = -std::numeric_limits<Real>::infinity();
        std::size_t next = 0;
        for (Index y = 0; y < outputs; ++y) {
            const bool is = next < relevant.size() && relevant[next] == y;
            if (is) ++next;
            if (scores[y] >= lowest)
                labels_.push_back({static_cast<double>(scores[y]), is});
            else
                next_best = std::max(next_best, scores[y]);
        }
        std::sort(labels_.begin(), labels_.end(), [](const Label& a, const Label& b) { return a.score > b.score; });
        if (labels_.size() < static_cast<std::size_t>(outputs))
            labels_.push_back({static_cast<double>(next_best), false});
    }

    // A label is in the set when its score is above b.
    static Index wrong_at(double b, const Real* scores, Index outputs, std::span<const Index> relevant) {
        Index wrong = 0;
        for (Index y = 0; y < outputs; ++y) wrong += static_cast<double>(scores[y]) > b;
        for (Index y : relevant) wrong += static_cast<double>(scores[y]) > b ? -1 : 1;
        return wrong;
    }

    double target(double unit) const {
        std::size_t wrong = 0;
        for (const Label& label : labels_) wrong += label.relevant;
        std::size_t fewest = wrong, at = 0;
        for (std::size_t above = 1; above <= labels_.size(); ++above) {
            wrong += labels_[above - 1].relevant ? std::size_t(-1) : 1;
            const bool between = above == labels_.size() || labels_[above].score < labels_[above - 1].score;
            if (between && wrong < fewest) {
                fewest = wrong;
                at = above;
            }
        }
        const double low = at == labels_.size() ? labels_.back().score - 2 * unit : labels_[at].score;
        const double high = at == 0 ? labels_.front().score + 2 * unit : labels_[at - 1].score;
        return low + (high - low) / 2;
    }

    Linear<Real> linear_{1};
    double offset_ = 0;
    bool exists_ = false;
    std::vector<Label> labels_;
    Step step_;
};

}  // namespace hinge
