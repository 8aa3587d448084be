// The mean of the weights over all rounds, kept lazily.
//
// The weights before round t are R_t c_t with a read-out R that changes only where the round's instance is not zero,
// and a scalar c_t for each output (1; for the entropies 1/Z). With the clock S_t = c_1 + .. + c_t and the moment
// A = sum_t S_t (change of R in round t), the mean over T rounds is (R S_T - A) / T: a round touches what it moves and
// one scalar an output, never the whole matrix. The mean runs over the weights before each update, the start included.
#pragma once

#include <vector>

#include "archive.hpp"
#include "linear.hpp"

namespace hinge {

template <class Real>
class LazyAverage {
public:
    explicit LazyAverage(Index reserved) : moment_(reserved) {}

    bool on() const { return on_; }
    void turn_on() { on_ = true; }
    // Before the first round there is nothing to average: the weights themselves are read.
    bool ready() const { return on_ && rounds_ > 0; }

    // New outputs have had the weight `rate` since the first round.
    void grow(Index features, Index outputs, double rate) {
        if (!on_) return;
        moment_.grow(features, outputs);
        clock_.resize(static_cast<std::size_t>(outputs), rounds_ * rate);
    }

    void erase_output(Index output) {
        if (!on_) return;
        moment_.weights().erase_output(output);
        clock_.erase(clock_.begin() + output);
    }

    // A reserved feature enters; see Weights. A double of another one has had its mean, a new one has been zero.
    void insert_reserved(Index place, Index like) {
        if (on_) moment_.weights().insert_reserved(place, like);
    }

    // One more round has been scored; rate(y) is the scalar c of output y.
    template <class Rate>
    void tick(Rate&& rate) {
        if (!on_) return;
        rounds_ += 1;
        for (std::size_t y = 0; y < clock_.size(); ++y) clock_[y] += rate(y);
    }

    // See Weights::regrid.
    void regrid(Index from, Index to, Index reserved) {
        if (on_) moment_.weights().regrid(from, to, reserved);
    }

    // For readers that score by themselves: the mean is (read * clock - moment) / rounds.
    const Weights<Real>& moment() const { return moment_.weights(); }
    double rounds() const { return rounds_; }

    double clock(Index output) const { return clock_[static_cast<std::size_t>(output)]; }

    // The read-out changed by x alpha'.
    void add(const Row<Real>& x, const Step& step) {
        if (!on_) return;
        scaled_.clear();
        for (std::size_t i = 0; i < step.size(); ++i)
            scaled_.set(step.outputs()[i], step.alphas()[i] * clock(step.outputs()[i]));
        moment_.add(x, scaled_);
    }

    // The read-out of one feature and output changed by `change`.
    void add(Index feature, Index output, double change) {
        if (on_) moment_.weights().row(feature)[output] += static_cast<Real>(change * clock(output));
    }

    // The read-out of an output is from now on written in another unit: multiplied by `factor`. The moment is a
    // product of both and stays.
    void rescale(Index output, double factor) {
        if (on_) clock_[static_cast<std::size_t>(output)] /= factor;
    }

    // Puts an output's sum so far into its moment, and its clock back to zero: the mean stays what it is, and the
    // read-out may then change at will. O(n). Due where c falls far: R grows as c falls, and R S_T - A would lose the
    // digits of what was summed before.
    void settle(Index output, const Weights<Real>& read) {
        if (!on_) return;
        double& clock = clock_[static_cast<std::size_t>(output)];
        for (Index j = -read.reserved(); j < read.features(); ++j) {
            Real& moment = moment_.weights().row(j)[output];
            moment = static_cast<Real>(static_cast<double>(moment) - static_cast<double>(read.row(j)[output]) * clock);
        }
        clock = 0;
    }

    // Scores of the mean; `room` holds width() values, as `scores` does.
    template <class Geometry>
    void score(const Row<Real>& x, const Geometry& geometry, Real* scores, Real* room) const {
        geometry.score(x, scores);
        moment_.score(x, room);
        for (Index y = 0; y < moment_.weights().outputs(); ++y) {
            const double read = static_cast<double>(scores[y]) / geometry.scale(y);
            scores[y] = static_cast<Real>(mean(read, static_cast<double>(room[y]), y));
        }
    }

    double value(Index feature, Index output, double read) const {
        return mean(read, static_cast<double>(moment_.weights().row(feature)[output]), output);
    }

    // The same where there is a mean, else of the weights themselves: what is predicted with.
    template <class Geometry>
    void predict(const Row<Real>& x, const Geometry& geometry, Real* scores, Real* room) const {
        ready() ? score(x, geometry, scores, room) : geometry.score(x, scores);
    }
    template <class Geometry>
    double weight(Index feature, Index output, const Geometry& geometry) const {
        const double read = static_cast<double>(geometry.read().row(feature)[output]);
        return ready() ? value(feature, output, read) : read * geometry.scale(output);
    }

    void archive(Archive& to) {
        if (!on_) return;
        to.value("average_rounds", rounds_);
        to.values("average_clock", clock_);
        to.weights("average_moment", moment_.weights());
    }

private:
    double mean(double read, double moment, Index output) const { return (read * clock(output) - moment) / rounds_; }

    Linear<Real> moment_;
    std::vector<double> clock_;
    double rounds_ = 0;
    bool on_ = false;
    Step scaled_;
};

}  // namespace hinge
