// Words: letters with features each, and transitions between neighbours (MATH.md E, sequences).
//
// All weights are one output. Feature j of letter y has the place j * stride + y; row -1 is the constant feature, and
// row -2 - p holds the transitions from letter p. The first letter has no letter before it. Costs add up over the
// letters; `normalize` divides features and costs by the length.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "../lattice.hpp"
#include "../oracle.hpp"

namespace hinge {

template <class Real>
struct Word {
    const Rows<Real>* rows;
    std::int64_t first;
    Index length;

    Row<Real> operator[](Index t) const { return (*rows)[first + t]; }
};

// Scores of a word's letters and of the transitions, with the weights of one model.
template <class Real>
struct WordScores {
    std::vector<Real> emissions, transitions;

    // `weights` times `factor`; with `add`, on top of what is there.
    void fill(const Weights<Real>& weights, const Word<Real>& x, Index letters, Index stride, Real factor, bool add) {
        const Index width = Weights<Real>::padded(letters);
        const auto cells = static_cast<std::size_t>(x.length) * static_cast<std::size_t>(stride);
        if (emissions.size() < cells) emissions.resize(cells);
        if (room_.size() < static_cast<std::size_t>(stride)) room_.resize(static_cast<std::size_t>(stride));
        const std::size_t table = static_cast<std::size_t>(stride) * static_cast<std::size_t>(stride);
        if (transitions.size() < table) transitions.resize(table);
        for (Index t = 0; t < x.length; ++t) {
            Real* to = emissions.data() + std::ptrdiff_t{t} * stride;
            kernels<Real>().score(weights.origin(), stride, width, x[t], add ? room_.data() : to);
            for (Index y = 0; y < width; ++y) to[y] = add ? to[y] + factor * room_[static_cast<std::size_t>(y)] : factor * to[y];
        }
        for (Index p = 0; p < letters; ++p) {
            const Real* from = weights.origin() - std::ptrdiff_t{2 + p} * stride;
            Real* to = transitions.data() + std::ptrdiff_t{p} * stride;
            for (Index y = 0; y < width; ++y) to[y] = add ? to[y] + factor * from[y] : factor * from[y];
        }
    }

private:
    std::vector<Real> room_;
};

template <class Number>
class Words {
public:
    using Real = Number;
    using Input = Word<Real>;
    using Target = const Index*;  // the letters; a word with a negative one asks for nothing

    void set_normalize(bool normalize) { normalize_ = normalize; }
    // By truth and then by answer; none: every wrong letter costs 1.
    void set_cost(std::vector<double> by_truth) { by_truth_ = std::move(by_truth); }
    void set_letters(Index letters, Index stride) {
        letters_ = letters;
        stride_ = stride;
    }

    template <class Geometry>
    bool see(const Geometry& geometry, const Input& x, Target y) {
        if (*std::min_element(y, y + x.length) < 0) return false;
        x_ = &x;
        truth_ = y;
        const auto length = static_cast<std::size_t>(x.length);
        scores_.fill(geometry.read(), x, letters_, stride_, static_cast<Real>(geometry.scale(0)), false);
        lattice_.shape(x.length, letters_, stride_);
        for (std::vector<Index>& path : paths_)
            if (path.size() < length) path.resize(length);
        return true;
    }

    Rival rival(Constraint which) {
        Index* path = paths_[static_cast<std::size_t>(which)].data();
        if (which == Constraint::plain) {
            lattice_.solve(scores_.emissions.data(), scores_.transitions.data(), path);
            if (is_truth(path) && !lattice_.another(scores_.transitions.data(), truth_, path)) return {};
        } else {
            raise();
            lattice_.solve(raised_.data(), scores_.transitions.data(), path);
            if (is_truth(path)) return {};
        }
        Rival found = against(path);
        // the path was found to score as much; sums in another order may say that it misses by a rounding
        if (which == Constraint::plain) found.margin = std::min(found.margin, 0.0);
        return found;
    }

    void direct(Constraint which, Direction<Real>& to) const { direct(paths_[static_cast<std::size_t>(which)].data(), to); }

    // Psi(x, y) - Psi(x, path) of the word seen last.
    void direct(const Index* path, Direction<Real>& to) const {
        to.clear(stride_);
        const double unit = normalize_ ? 1.0 / x_->length : 1.0;
        for (Index t = 0; t < x_->length; ++t) {
            const bool letter = path[t] != truth_[t];
            if (letter) {
                to.add((*x_)[t], unit, truth_[t]);
                to.add((*x_)[t], -unit, path[t]);
            }
            if (t > 0 && (letter || path[t - 1] != truth_[t - 1])) {
                to.add(place(truth_[t - 1], truth_[t]), unit);
                to.add(place(path[t - 1], path[t]), -unit);
            }
        }
    }

    // delta and margin of any path for the word seen last.
    Rival against(const Index* path) const {
        double delta = 0, margin = 0;
        for (Index t = 0; t < x_->length; ++t) {
            const bool letter = path[t] != truth_[t];
            if (letter) {
                delta += cost(truth_[t], path[t]);
                margin += emission(t, truth_[t]) - emission(t, path[t]);
            }
            if (t > 0 && (letter || path[t - 1] != truth_[t - 1]))
                margin += transition(truth_[t - 1], truth_[t]) - transition(path[t - 1], path[t]);
        }
        const double unit = normalize_ ? 1.0 / x_->length : 1.0;
        return {delta * unit, margin * unit, !is_truth(path)};
    }

    // The best path besides the truth, of the word seen last.
    const Index* second() {
        lattice_.best_of(scores_.emissions.data(), scores_.transitions.data(), 2, best_scores_, best_paths_);
        const Index* path = best_paths_.data();
        return is_truth(path) && best_scores_.size() > 1 ? path + x_->length : path;
    }

private:
    bool is_truth(const Index* path) const { return std::equal(path, path + x_->length, truth_); }
    Index place(Index before, Index letter) const { return -(2 + before) * stride_ + letter; }

    double cost(Index truth, Index answer) const {
        if (by_truth_.empty()) return truth == answer ? 0.0 : 1.0;
        return by_truth_[static_cast<std::size_t>(truth) * static_cast<std::size_t>(letters_) + static_cast<std::size_t>(answer)];
    }
    double emission(Index t, Index y) const {
        return static_cast<double>(scores_.emissions[static_cast<std::size_t>(std::ptrdiff_t{t} * stride_ + y)]);
    }
    double transition(Index before, Index y) const {
        return static_cast<double>(scores_.transitions[static_cast<std::size_t>(std::ptrdiff_t{before} * stride_ + y)]);
    }

    // Emissions plus the costs of the letters.
    void raise() {
        const auto cells = static_cast<std::size_t>(x_->length) * static_cast<std::size_t>(stride_);
        if (raised_.size() < cells) raised_.resize(cells);
        for (Index t = 0; t < x_->length; ++t) {
            const std::ptrdiff_t row = std::ptrdiff_t{t} * stride_;
            const Real* from = scores_.emissions.data() + row;
            Real* to = raised_.data() + row;
            if (by_truth_.empty()) {
                for (Index y = 0; y < stride_; ++y) to[y] = from[y] + Real(1);
                to[truth_[t]] = from[truth_[t]];
            } else {
                for (Index y = 0; y < letters_; ++y) to[y] = from[y] + static_cast<Real>(cost(truth_[t], y));
            }
        }
    }

    bool normalize_ = false;
    std::vector<double> by_truth_;
    Index letters_ = 0, stride_ = 0;
    const Input* x_ = nullptr;
    Target truth_ = nullptr;
    WordScores<Real> scores_;
    std::vector<Real> raised_, best_scores_;
    std::vector<Index> paths_[2], best_paths_;
    Lattice<Real> lattice_;
};

}  // namespace hinge
