// Entropy: w_y is on the simplex, w_y = softmax(theta_y), G(theta) = log sum_j exp theta_j - log n.
// Signed: the entropy over the doubled features (x, -x), w_j = 2 sinh theta_j / Z, on the l1 ball.
//
// Kept are theta (float64), a read-out u_j = exp(theta_j - s) (signed: 2 sinh(theta_j) exp(-s)) and, for each output,
// the normaliser Z of the stored u (normaliser.hpp), so that w = u / Z is normalised whatever theta is rounded to.
// A round touches only the features of its instance: the old mass leaves Z, the new one joins it. When Z has fallen far
// it is summed anew (`rebase`, O(n) for one output). That needs a move of theta by some 14 or more, so moves of C max|x|
// each make it at most every 14 / (C max|x|) updates of that output.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "../average.hpp"
#include "../elementary.hpp"
#include "../linear.hpp"
#include "../settings.hpp"
#include "../solve/pav.hpp"
#include "../solve/tilted.hpp"
#include "normaliser.hpp"

namespace hinge {

template <class Number, bool Signed>
class EntropyOf {
public:
    using Real = Number;
    using Line = Tilted;
    static constexpr bool certified = true;

    explicit EntropyOf(Index reserved) : theta_(reserved), read_(reserved), average_(reserved) {}

    // Weights are the softmax of `rate` times theta: a step that multiplies whole numbers only when they are read.
    void set_rate(double rate) {
        if (rate == rate_) return;
        rate_ = rate;
        for (Index y = 0; y < read().outputs() && dimension() > 0; ++y) {
            rebase(y);
            refresh(y);
        }
    }

    const Weights<Real>& read() const { return read_.weights(); }
    LazyAverage<Real>& average() { return average_; }
    const LazyAverage<Real>& average() const { return average_; }
    // Weights are read-outs times this.
    double scale(Index output) const { return 1 / mass(output); }

    // How many features the simplex has: the constant one is one of them.
    Index dimension() const { return read().features() + read().reserved(); }

    // New features and outputs start at theta = 0. Returns by how much the sum of all G rose.
    double grow(Index features, Index outputs) {
        const double before = conjugate();
        const Index known = read().outputs();
        const Index from = known == 0 ? -read().reserved() : read().features();
        theta_.grow(features, outputs);
        read_.grow(features, outputs);
        outputs_.resize(static_cast<std::size_t>(outputs));
        for (Index y = 0; y < outputs; ++y) start(y, y < known ? from : -read().reserved());
        // A new output counts as having had its start weight 1/n always, a feature that arrives later as absent.
        average_.grow(features, outputs, dimension() > 0 ? 1 / (start_read() * dimension()) : 0.0);
        for (Index y = 0; y < known; ++y)
            for (Index j = from; j < features; ++j) average_.add(j, y, static_cast<double>(read().row(j)[y]));
        inverse_.resize(static_cast<std::size_t>(read().width()));
        for (Index y = 0; y < outputs; ++y) refresh(y);
        return conjugate() - before;
    }

    // A reserved feature of a single output enters; see Weights.
    void insert_reserved(Index place, Index like) {
        theta_.insert_reserved(place, like);
        read_.weights().insert_reserved(place, like);
        average_.insert_reserved(place, like);
        const Index j = place - read().reserved();
        Output& output = outputs_[0];
        Real& u = read_.weights().row(j)[0];
        if (like < 0) {
            u = read_out(output, 0.0);
            average_.add(j, 0, static_cast<double>(u));
        }
        output.join(static_cast<double>(u));
        output.mark();
        refresh(0);
    }

    void erase_output(Index output) {
        theta_.erase_output(output);
        read_.weights().erase_output(output);
        average_.erase_output(output);
        outputs_.erase(outputs_.begin() + output);
        for (Index y = output; y < read().outputs(); ++y) refresh(y);
    }

    // What is predicted with: the mean where it is kept.
    void keep_average() { average_.turn_on(); }
    bool averages() const { return average_.ready(); }
    Index room() const { return average_.on() ? read().width() : 0; }
    void predict(const Row<Real>& x, Real* out, Real* room) const { average_.predict(x, *this, out, room); }
    double weight(Index feature, Index output) const { return average_.weight(feature, output, *this); }

    void score(const Row<Real>& x, Real* out) const {
        if constexpr (!Signed)
            if (Real same; is_constant(x, same)) {  // the mean of a constant: no label is ahead by rounding
                std::fill_n(out, read().outputs(), same);
                return;
            }
        read_.score(x, out);
        for (Index y = 0; y < read().outputs(); ++y) out[y] *= inverse_[static_cast<std::size_t>(y)];
    }

    void tick() {
        average_.tick([&](std::size_t y) { return 1 / outputs_[y].value(); });
    }

    // The shape of x along which G will be followed; outputs are loaded by `load`.
    Tilted& line(const Row<Real>& x, const Settings& set, double weight) {
        line_.cap = set.C * weight;
        line_.clear();
        features_.clear();
        entries_.clear();
        double largest = 0;
        x.each([&](Index j, Real value) {
            features_.push_back(j);
            entries_.push_back(static_cast<double>(value));
            largest = std::max(largest, std::abs(static_cast<double>(value)));
        });
        line_.largest = largest;
        line_.values = entries_;
        one_value_ = !entries_.empty() &&
                     std::all_of(entries_.begin(), entries_.end(), [&](double v) { return v == entries_[0]; });
        if (one_value_) line_.values.resize(1);
        if constexpr (Signed) mirror(line_.values);
        return line_;
    }

    // Adds the weights of one output to the line.
    void load(Index y) {
        const Output& output = outputs_[static_cast<std::size_t>(y)];
        LongSum rest = output.rest();
        const double z = rest.value();
        const std::size_t begin = line_.masses.size();
        line_.masses.resize(begin + line_.values.size(), 0.0);
        double* to = line_.masses.data() + begin;
        for (std::size_t i = 0; i < features_.size(); ++i) {
            const double u = static_cast<double>(read().row(features_[i])[y]);
            const double mass = output.mass_of(u);
            rest.add(-mass);
            const std::size_t at = one_value_ ? 0 : i;
            if constexpr (Signed) {
                const double large = (mass + std::abs(u)) / 2;
                const double small = output.smaller_half(large);
                to[2 * at] += (u >= 0 ? large : small) / z;
                to[2 * at + 1] += (u >= 0 ? small : large) / z;
            } else {
                to[at] += mass / z;
            }
        }
        const bool covered = features_.size() == static_cast<std::size_t>(dimension());
        line_.rests.push_back(covered ? 0.0 : std::max(0.0, rest.value() / z));
        line_.outputs.push_back(y);
    }

    // theta += x alpha'; returns by how much the sum of all G rose.
    double advance(const Row<Real>&, const Step& step, const Real*) {
        double rise = 0;
        for (Index y : step.outputs()) rise -= conjugate(y);
        move(step);
        for (std::size_t i = 0; i < step.size(); ++i) {
            const Index y = step.outputs()[i];
            Output& output = outputs_[static_cast<std::size_t>(y)];
            if (highest_ > too_high) {
                rebase(y);
            } else {
                if (average_.on()) keep_digits(y, i);
                write(step, i);
                output.mark();
                if (output.has_fallen()) rebase(y);
            }
            refresh(y);
            rise += conjugate(y);
        }
        return rise;
    }

    // max over theta of <x, Hessian of G, x>
    double measure(const Row<Real>& x) const {
        double low = 0, high = 0;
        Index seen = 0;
        x.each([&](Index, Real value) {
            const double v = static_cast<double>(value);
            low = seen == 0 ? v : std::min(low, v);
            high = seen == 0 ? v : std::max(high, v);
            ++seen;
        });
        if (seen < dimension()) {
            low = std::min(low, 0.0);
            high = std::max(high, 0.0);
        }
        if constexpr (Signed) return std::max(low * low, high * high);
        return (high - low) * (high - low) / 4;
    }

    // The reserved weights of a single output in order: their theta, and what is read of it, as exp may round two close
    // numbers the wrong way. What is drawn together may be all that the mass was made of.
    void constrain(solve::IsotonicProjection& project) {
        const std::span<double> theta = theta_.side();
        const std::span<const Real> side = read_.weights().side();
        const bool moved = !std::is_sorted(theta.begin(), theta.end());
        if (!moved && std::is_sorted(side.begin(), side.end())) return;
        if (moved) project(theta);
        read_in_order(theta);
        if (outputs_[0].has_fallen()) {
            rebase(0);
            read_in_order(theta);
        }
        refresh(0);
    }

    double conjugate(Index y) const {
        if (dimension() == 0) return 0;
        const Output& output = outputs_[static_cast<std::size_t>(y)];
        return (log(output.value()) + output.shift()) - log((Signed ? 2.0 : 1.0) * dimension());
    }
    double conjugate() const {
        double sum = 0;
        for (Index y = 0; y < read().outputs(); ++y) sum += conjugate(y);
        return sum;
    }

    void archive(Archive& to) {
        to.weights("theta", theta_);
        to.weights("read", read_.weights());
        std::array<std::vector<double>, Output::stored> columns;
        for (const Output& output : outputs_)
            for (std::size_t i = 0; i < columns.size(); ++i) columns[i].push_back(output.numbers()[i]);
        const char* const names[] = {"shift", "mass", "mass_low", "mass_peak", "mass_least"};
        for (std::size_t i = 0; i < columns.size(); ++i)
            if (i < 4 || average_.on()) to.values(names[i], columns[i]);
        average_.archive(to);
        for (std::size_t y = 0; y < outputs_.size(); ++y) {
            std::array<double, Output::stored> numbers;
            for (std::size_t i = 0; i < columns.size(); ++i) numbers[i] = columns[i][y];
            outputs_[y] = Output::restored(numbers);
            refresh(static_cast<Index>(y));
        }
    }

private:
    using Output = Normaliser<Signed>;

    // What a mass would be read as at theta = 0: exp(theta), signed 2 cosh(theta).
    static constexpr double start_read() { return Signed ? 2.0 : 1.0; }
    static constexpr double too_high = 40;  // exp of it leaves float32 room to be summed

    static void mirror(std::vector<double>& values) {
        const std::size_t count = values.size();
        values.resize(2 * count);
        for (std::size_t i = count; i-- > 0;) {
            values[2 * i + 1] = -values[i];
            values[2 * i] = values[i];
        }
    }

    bool is_constant(const Row<Real>& x, Real& same) const {
        const Index intercept = x.constant != Real(0) ? 1 : 0;
        if (x.count == 0 || x.count + intercept < dimension()) return false;
        same = x.value[0];
        for (Index i = 1; i < x.count; ++i)
            if (x.value[i] != same) return false;
        return intercept == 0 || x.constant == same;
    }

    double mass(Index y) const { return outputs_[static_cast<std::size_t>(y)].value(); }

    // The read-out, as it is stored.
    Real read_out(const Output& output, double dual) const { return output.template read_out<Real>(rate_ * dual); }

    // What is read of the reserved weights of a single output, as its own running maximum.
    void read_in_order(std::span<const double> theta) {
        Output& output = outputs_[0];
        const std::span<Real> side = read_.weights().side();
        for (std::size_t i = 0; i < side.size(); ++i) {
            Real fresh = read_out(output, theta[i]);
            if (i > 0) fresh = std::max(fresh, side[i - 1]);
            average_.add(static_cast<Index>(i) - theta_.reserved(), 0,
                         static_cast<double>(fresh) - static_cast<double>(side[i]));
            output.replace(static_cast<double>(side[i]), static_cast<double>(fresh));
            side[i] = fresh;
        }
        output.mark();
    }

    void start(Index y, Index from) {
        Output& output = outputs_[static_cast<std::size_t>(y)];
        const Real u = read_out(output, 0.0);
        for (Index j = from; j < read().features(); ++j) {
            read_.weights().row(j)[y] = u;
            output.join(static_cast<double>(u));
        }
        output.mark();
    }

    // The average loses as many digits as the mass grows by: what it has is settled before a step that lets it grow far.
    void keep_digits(Index y, std::size_t i) {
        Output& output = outputs_[static_cast<std::size_t>(y)];
        const std::size_t count = features_.size();
        double arriving = 0;
        for (std::size_t f = 0; f < count; ++f)
            arriving += plus_[i * count + f] + (Signed ? minus_[i * count + f] : 0.0);
        if (output.value() + arriving <= 16 * output.least()) return;
        average_.settle(y, read());
        output.settled();
    }

    void refresh(Index y) {
        inverse_[static_cast<std::size_t>(y)] = dimension() > 0 ? static_cast<Real>(1 / mass(y)) : Real(0);
    }

    // theta moves, and the exponents of the new read-outs are laid out, output by output.
    void move(const Step& step) {
        const std::size_t count = features_.size();
        plus_.resize(step.size() * count);
        highest_ = 0;
        for (std::size_t f = 0; f < count; ++f) {
            double* row = theta_.row(features_[f]);
            for (std::size_t i = 0; i < step.size(); ++i) {
                const Index y = step.outputs()[i];
                row[y] += step.alphas()[i] * entries_[f];
                const double shift = outputs_[static_cast<std::size_t>(y)].shift();
                const double theta = rate_ * row[y];
                plus_[i * count + f] = theta - shift;
                highest_ = std::max(highest_, (Signed ? std::abs(theta) : theta) - shift);
            }
        }
        if constexpr (Signed) {
            minus_.resize(plus_.size());
            for (std::size_t i = 0; i < step.size(); ++i) {
                const double shift = outputs_[static_cast<std::size_t>(step.outputs()[i])].shift();
                for (std::size_t f = 0; f < count; ++f)
                    minus_[i * count + f] = -(plus_[i * count + f] + shift) - shift;
            }
            exp_kernel()(minus_.data(), static_cast<std::ptrdiff_t>(minus_.size()));
        }
        exp_kernel()(plus_.data(), static_cast<std::ptrdiff_t>(plus_.size()));
    }

    // The new read-outs of one output take the place of the old ones, in Z and in the average too.
    void write(const Step& step, std::size_t i) {
        const std::size_t count = features_.size();
        const Index y = step.outputs()[i];
        Output& output = outputs_[static_cast<std::size_t>(y)];
        for (std::size_t f = 0; f < count; ++f) {
            Real& u = read_.weights().row(features_[f])[y];
            const Real fresh = Signed ? static_cast<Real>(plus_[i * count + f] - minus_[i * count + f])
                                      : static_cast<Real>(plus_[i * count + f]);
            average_.add(features_[f], y, static_cast<double>(fresh) - static_cast<double>(u));
            output.replace(static_cast<double>(u), static_cast<double>(fresh));
            u = fresh;
        }
    }

    // Another shift, so that Z is near n again; all read-outs of the output, and Z, are made anew from theta.
    void rebase(Index y) {
        Output& output = outputs_[static_cast<std::size_t>(y)];
        const Index from = -theta_.reserved();
        const auto along = [&](Index j) { return rate_ * theta_.row(j)[y]; };
        double top = Signed ? std::abs(along(from)) : along(from);
        for (Index j = from; j < theta_.features(); ++j)
            top = std::max(top, Signed ? std::abs(along(j)) : along(j));
        double sum = 0;
        for (Index j = from; j < theta_.features(); ++j) {
            const double theta = along(j);
            sum += bounded_exp(theta - top) + (Signed ? bounded_exp(-theta - top) : 0.0);
        }
        average_.settle(y, read());
        output = Output(top + log(sum / dimension()));
        for (Index j = from; j < theta_.features(); ++j) {
            const Real u = read_.weights().row(j)[y] = read_out(output, theta_.row(j)[y]);
            output.join(static_cast<double>(u));
        }
        output.mark();
    }

    Weights<double> theta_;
    Linear<Real> read_;
    LazyAverage<Real> average_;
    std::vector<Output> outputs_;
    std::vector<Real> inverse_;  // 1 / Z
    Tilted line_;
    std::vector<Index> features_;  // of the round's instance
    std::vector<double> entries_;
    bool one_value_ = false;
    std::vector<double> plus_, minus_;
    double highest_ = 0;
    double rate_ = 1;
};

template <class Real>
using Entropy = EntropyOf<Real, false>;
template <class Real>
using SignedEntropy = EntropyOf<Real, true>;

}  // namespace hinge
