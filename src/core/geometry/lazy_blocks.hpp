// Several weight matrices that move together, linearly, so that a sparse round touches sparse rows only.
//
// Weight decay, averaging and acceleration are dense on paper, but linear: a round says
//     W_r <- sum_s decay_rs W_s + push_r x delta'
// of a few sequences W_r (the iterate, an extrapolated point, the average ..). Here W_r = sum_b K_rb B_b: the blocks B
// stand side by side in the row of a feature, and K is a small matrix in float64. A round changes K and the rows of x:
//     K <- decay K,    B_b += (K^-1 push)_b x delta'.
// K decays, by a power of the rounds where steps fall like 1/t. Where its condition passes a limit, B <- K B densely and
// K <- 1: about as often as the logarithm of the rounds. A singular decay (a mean's first round) is the same case.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "../archive.hpp"
#include "../kernels.hpp"
#include "../motion.hpp"
#include "../step.hpp"
#include "../weights.hpp"

namespace hinge {

template <class Number>
class LazyBlocks {
public:
    using Real = Number;

    LazyBlocks(Index reserved, int sequences) : reserved_(reserved), count_(sequences), weights_(reserved) {}

    int sequences() const { return count_; }
    Index features() const { return features_; }
    Index outputs() const { return outputs_; }
    Index reserved() const { return reserved_; }
    // How many values hold the outputs of one sequence, and fill whole vectors.
    Index width() const { return stride_; }
    // How many values `products` writes.
    Index row_width() const { return weights_.width(); }

    void grow(Index features, Index outputs) {
        if (Weights<Real>::padded(outputs) > stride_) relay(outputs);
        weights_.grow(features, static_cast<Index>(count_) * stride_);
        features_ = features;
        outputs_ = outputs;
    }

    // Column `out` leaves; the columns after it move one place to the left.
    void erase_output(Index out) {
        for (Index j = -reserved_; j < features_; ++j)
            for (int b = 0; b < count_; ++b) {
                Real* block = at(j, b);
                std::copy(block + out + 1, block + outputs_, block + out);
                block[outputs_ - 1] = Real(0);
            }
        --outputs_;
    }

    // <x, B_b> of every block that the first `sequences` sequences are made of; `out` holds row_width() values. Those
    // that the first `known` sequences are made of are there already.
    void products(const Row<Real>& x, int sequences, Real* out, int known = 0) const {
        const Index from = known > 0 ? columns_of(known) : 0, to = columns_of(sequences);
        if (to > from) kernels<Real>().score(weights_.origin() + from, weights_.stride(), to - from, x, out + from);
    }
    // The scores of a mixture of the sequences, from their products; `out` holds width() values.
    void mix(const std::array<double, most_sequences>& shares, const Real* products, Real* out) const {
        std::array<Real, most_sequences> factor{};
        for (int b = 0; b < count_; ++b) factor[static_cast<std::size_t>(b)] = static_cast<Real>(share(shares, b));
        kernels<Real>().mix(products, stride_, factor.data(), count_, out);
    }
    // The scores of one sequence; `room` holds row_width() values, `out` width().
    void score(const Row<Real>& x, int sequence, Real* room, Real* out) const {
        products(x, sequence + 1, room);
        mix(SmallMatrix::identity()[sequence], room, out);
    }

    double value(int sequence, Index feature, Index output) const {
        double sum = 0;
        for (int b = 0; b < count_; ++b)
            sum += mixing_[sequence][static_cast<std::size_t>(b)] * static_cast<double>(at(feature, b)[output]);
        return sum;
    }

    // The sum of the squares of a sequence's weights.
    double sum_of_squares(int sequence) const {
        double sum = 0;
        for (Index j = -reserved_; j < features_; ++j)
            for (Index y = 0; y < outputs_; ++y) {
                const double w = value(sequence, j, y);
                sum += w * w;
            }
        return sum;
    }

    // The part of a round without the instance.
    void decay(const Motion& motion) {
        const auto n = static_cast<std::size_t>(count_);
        mixing_ = product(motion.decay, mixing_, n);
        SmallMatrix inverse;
        if (blank_ || !invert(mixing_, inverse, n) || !(condition(mixing_, inverse) <= most_condition)) {
            rebase();
            inverse = SmallMatrix::identity();
        }
        for (std::size_t b = 0; b < n; ++b) {
            share_[b] = 0;
            for (std::size_t s = 0; s < n; ++s) share_[b] += inverse.at[b][s] * motion.push[s];
        }
    }

    // The part along the instance, after `decay`: delta is a value an output, width() of them.
    void push(const Row<Real>& x, const Real* delta) {
        if (stands()) return;
        std::array<Real, most_sequences> factor{};
        for (std::size_t b = 0; b < most_sequences; ++b) factor[b] = static_cast<Real>(share_[b]);
        kernels<Real>().axpy_blocks(weights_.origin(), weights_.stride(), stride_, x, delta, factor.data(), count_);
        blank_ = false;
    }
    // The same for a few outputs.
    void push(const Row<Real>& x, const Step& step) {
        if (stands()) return;
        x.each([&](Index j, Real value) {
            for (int b = 0; b < count_; ++b) {
                Real* block = at(j, b);
                for (std::size_t i = 0; i < step.size(); ++i)
                    block[step.outputs()[i]] += value * static_cast<Real>(share_[static_cast<std::size_t>(b)] * step.alphas()[i]);
            }
        });
        blank_ = false;
    }

    // B <- K B, K <- 1.
    void rebase() {
        for (Index j = -reserved_; !blank_ && j < features_; ++j)
            for (Index y = 0; y < outputs_; ++y) {
                std::array<Real, most_sequences> now{};
                for (int r = 0; r < count_; ++r) now[static_cast<std::size_t>(r)] = static_cast<Real>(value(r, j, y));
                for (int r = 0; r < count_; ++r) at(j, r)[y] = now[static_cast<std::size_t>(r)];
            }
        if (!blank_) ++rebased_;
        mixing_ = SmallMatrix::identity();
    }
    // How often that was done with anything stored.
    int rebased() const { return rebased_; }

    void archive(Archive& to) {
        for (int b = 0; b < count_; ++b) {
            Weights<Real> block(reserved_);
            block.grow(features_, outputs_);
            for (Index j = -reserved_; j < features_; ++j) std::copy_n(at(j, b), outputs_, block.row(j));
            to.weights(("block_" + std::to_string(b)).c_str(), block);
            for (Index j = -reserved_; j < features_; ++j) std::copy_n(block.row(j), outputs_, at(j, b));
        }
        std::vector<double> mixing;
        for (int r = 0; r < count_; ++r) mixing.insert(mixing.end(), mixing_[r].begin(), mixing_[r].begin() + count_);
        to.values("mixing", mixing);
        for (int r = 0; r < count_; ++r)
            std::copy_n(mixing.begin() + static_cast<std::ptrdiff_t>(r) * count_, count_, mixing_[r].begin());
        double blank = blank_ ? 1 : 0;
        to.value("blank", blank);
        blank_ = blank != 0;
    }

private:
    static constexpr double most_condition = 100;
    // A matrix that only shrinks is no better: the blocks would grow without end.
    double condition(const SmallMatrix& matrix, const SmallMatrix& inverse) const {
        const auto n = static_cast<std::size_t>(count_);
        return std::max(1.0, norm(matrix, n)) * std::max(1.0, norm(inverse, n));
    }

    Real* at(Index feature, int block) { return weights_.row(feature) + static_cast<std::ptrdiff_t>(block) * stride_; }
    const Real* at(Index feature, int block) const {
        return weights_.row(feature) + static_cast<std::ptrdiff_t>(block) * stride_;
    }

    bool stands() const {
        return std::all_of(share_.begin(), share_.end(), [](double by) { return by == 0; });
    }

    double share(const std::array<double, most_sequences>& shares, int block) const {
        double sum = 0;
        for (int r = 0; r < count_; ++r)
            sum += shares[static_cast<std::size_t>(r)] * mixing_[r][static_cast<std::size_t>(block)];
        return sum;
    }

    // Columns of a row that the first sequences take part of.
    Index columns_of(int sequences) const {
        return Weights<Real>::padded(static_cast<Index>(blocks_of(sequences)) * stride_);
    }

    // How many of the first blocks the first sequences take part of: a mean that nothing else reads costs nothing.
    int blocks_of(int sequences) const {
        for (int b = count_; b > 1; --b)
            for (int r = 0; r < sequences; ++r)
                if (mixing_[r][static_cast<std::size_t>(b - 1)] != 0) return b;
        return 1;
    }

    // More outputs than a block holds: every block moves. Room for an eighth more, as in Weights.
    void relay(Index outputs) {
        const Index stride = Weights<Real>::padded(outputs_ == 0 ? outputs : outputs + outputs / 8);
        Weights<Real> fresh(reserved_);
        fresh.grow(features_, static_cast<Index>(count_) * stride);
        for (Index j = -reserved_; j < features_ && outputs_ > 0; ++j)
            for (int b = 0; b < count_; ++b)
                std::copy_n(at(j, b), outputs_, fresh.row(j) + static_cast<std::ptrdiff_t>(b) * stride);
        weights_ = std::move(fresh);
        stride_ = stride;
    }

    Index reserved_;
    int count_;
    Index features_ = 0;
    Index outputs_ = 0;
    Index stride_ = 0;
    Weights<Real> weights_;
    SmallMatrix mixing_ = SmallMatrix::identity();
    std::array<double, most_sequences> share_{};  // K^-1 push
    bool blank_ = true;                           // nothing but zeros is stored
    int rebased_ = 0;
};

}  // namespace hinge
