// Weights of a stochastic gradient method: the iterate, the sequences that it draws on, and the mean of the iterates.
//
// Sequence 0 is the iterate. The mean, where it is kept, is that of the iterates after each step. All of them are lazy
// blocks: a step on a sparse row touches the rows of its features only. No certificate.
#pragma once

#include <algorithm>
#include <array>

#include "../settings.hpp"
#include "lazy_blocks.hpp"

namespace hinge {

// What a round brings besides its pairs.
struct Pace {
    const Settings* set = nullptr;
    double weight = 0;
    double squared_norm = 0;  // of the instance
};

template <class Number, int Sequences>
class Trajectory {
public:
    using Real = Number;
    using Line = Pace;
    static constexpr bool certified = false;

    explicit Trajectory(Index reserved) : blocks_(reserved, Sequences) {}

    const LazyBlocks<Real>& read() const { return blocks_; }

    double grow(Index features, Index outputs) {
        blocks_.grow(features, outputs);
        const auto width = static_cast<std::size_t>(blocks_.width());
        if (delta_.size() < width) delta_ = Buffer<Real>(width), mixed_ = Buffer<Real>(width);
        if (products_.size() < static_cast<std::size_t>(blocks_.row_width()))
            products_ = Buffer<Real>(static_cast<std::size_t>(blocks_.row_width()));
        return 0;
    }
    void erase_output(Index output) { blocks_.erase_output(output); }

    void keep_average() {
        blocks_ = LazyBlocks<Real>(blocks_.reserved(), Sequences + 1);
        average_ = true;
    }
    bool averages() const { return average_ && steps_ > 0; }
    Index room() const { return blocks_.row_width(); }
    void predict(const Row<Real>& x, Real* out, Real* room) const { blocks_.score(x, predicting(), room, out); }
    double weight(Index feature, Index output) const { return blocks_.value(predicting(), feature, output); }
    double scale(Index) const { return 1.0; }

    // Scores of the iterate; what `mix` needs is kept.
    void look(const Row<Real>& x, Real* out) {
        blocks_.products(x, Sequences, products_.data());
        blocks_.mix(SmallMatrix::identity()[0], products_.data(), out);
    }
    // What is predicted on the row looked at.
    void predict_seen(const Row<Real>& x, Real* out) {
        blocks_.products(x, predicting() + 1, products_.data(), Sequences);
        blocks_.mix(SmallMatrix::identity()[predicting()], products_.data(), out);
    }
    // Scores, on the row looked at, of a mixture of the sequences.
    const Real* mix(const std::array<double, most_sequences>& shares) {
        blocks_.mix(shares, products_.data(), mixed_.data());
        return mixed_.data();
    }

    void tick() {}
    double measure(const Row<Real>& x) { return pace_.squared_norm = squared_norm(x); }
    Pace& line(const Row<Real>&, const Settings& set, double weight) {
        pace_.set = &set;
        pace_.weight = weight;
        return pace_;
    }

    // Steps so far.
    double steps() const { return steps_; }
    // What the rule fills in: how the sequences move, and along what.
    Motion& motion() { return motion_; }
    Real* delta() { return delta_.data(); }

    // One step; a sparse `step` goes with an empty delta.
    double advance(const Row<Real>& x, const Step& step, const Real*) {
        steps_ += 1;
        if (average_) motion_.mean_after(Sequences, 0, steps_);
        blocks_.decay(motion_);
        if (step.empty())
            blocks_.push(x, delta_.data());
        else
            blocks_.push(x, step);
        return 0;
    }

    double conjugate() const { return 0; }

    void archive(Archive& to) {
        blocks_.archive(to);
        to.value("steps", steps_);
    }

private:
    int predicting() const { return averages() ? Sequences : 0; }

    LazyBlocks<Real> blocks_;
    bool average_ = false;
    double steps_ = 0;
    Motion motion_;
    Pace pace_;
    Buffer<Real> products_, mixed_, delta_;
};

}  // namespace hinge
