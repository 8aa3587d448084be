// The sign vector v that maximises delta(v) + sum_i v_i s_i for a measure of true positives a and false positives b
// (MATH.md E, bipartite ranking): within (a, b) the best v takes the a highest positives and the b highest negatives.
//
// For a given a the value is concave in b, so b is found by bisection; and scores so high that they always pay, or so low
// that they never do, are recognised without sorting. Proof in docs/design/multivariate_argmax.md. Of equal scores the
// lowest index is taken, of equal values the largest a, then the largest b, as in the book's listing.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace hinge {

enum class Measure { sensitivity_specificity, fbeta, recall_at_k, precision_at_k };

struct MeasureAt {
    Measure measure = Measure::fbeta;
    double beta = 1;
    std::size_t k = 1;
};

// How many rows are relevant and irrelevant.
struct Sizes {
    std::size_t positives;
    std::size_t negatives;
};

// 1 minus the measure, where 0/0 is 1; exactly zero where nothing that counts is wrong.
inline double measure_loss(const MeasureAt& it, Sizes n, std::size_t a, std::size_t b) {
    const auto share = [](double part, double whole) { return whole > 0 ? part / whole : 0.0; };
    const auto hits = static_cast<double>(a), false_hits = static_cast<double>(b);
    const auto P = static_cast<double>(n.positives), N = static_cast<double>(n.negatives);
    const double weight = it.beta * it.beta;
    switch (it.measure) {
        case Measure::sensitivity_specificity: return (share(P - hits, P) + share(false_hits, N)) / 2;
        case Measure::fbeta: return share(false_hits + weight * (P - hits), hits + false_hits + weight * P);
        case Measure::recall_at_k: return share(P - hits, P);
        default: return share(false_hits, hits + false_hits);
    }
}

class MultivariateArgmax {
public:
    // Marks the rows with v_i = +1; returns delta(v).
    double best(std::span<const double> scores, std::span<const std::uint8_t> positive, const MeasureAt& it,
                std::span<std::uint8_t> chosen) {
        n_ = {0, 0};
        for (std::uint8_t y : positive) ++(y ? n_.positives : n_.negatives);
        k_ = std::min(it.k, scores.size());
        switch (it.measure) {
            case Measure::sensitivity_specificity: return each_by_itself(scores, positive, it, chosen);
            case Measure::recall_at_k: return at_most_k(scores, positive, it, chosen);
            default: return ratio(scores, positive, it, chosen);
        }
    }

private:
    struct Entry {
        double score;
        std::uint32_t row;
        bool operator<(const Entry& other) const {
            return score > other.score || (score == other.score && row < other.row);
        }
    };

    // Rows of one kind: those that are taken in any case, and then candidates, highest first, with twice the running sum
    // of their scores.
    struct Side {
        std::size_t sure = 0;
        std::vector<Entry> candidates;
        std::vector<double> gain;

        std::size_t most() const { return sure + candidates.size(); }
        double gained(std::size_t count) const { return gain[count - sure]; }

        void sort() {
            std::sort(candidates.begin(), candidates.end());
            gain.assign(1, 0.0);
            for (const Entry& one : candidates) gain.push_back(gain.back() + 2 * one.score);
        }
    };

    double each_by_itself(std::span<const double> scores, std::span<const std::uint8_t> positive, const MeasureAt& it,
                          std::span<std::uint8_t> chosen) const {
        const double up = 1 / (2 * static_cast<double>(n_.positives)), down = 1 / (2 * static_cast<double>(n_.negatives));
        std::size_t a = 0, b = 0;
        for (std::size_t i = 0; i < scores.size(); ++i) {
            chosen[i] = 2 * scores[i] + (positive[i] ? -up : down) >= 0;
            if (chosen[i]) ++(positive[i] ? a : b);
        }
        return measure_loss(it, n_, a, b);
    }

    // Recall at k: a + b <= k, so only the k highest of either kind matter, and of the negatives those that pay.
    double at_most_k(std::span<const double> scores, std::span<const std::uint8_t> positive, const MeasureAt& it,
                     std::span<std::uint8_t> chosen) {
        split(scores, positive, chosen, [](double) { return false; }, [](double) { return true; },
              [](double) { return false; }, [](double s) { return s >= 0; });
        keep_highest(ups_, k_);
        keep_highest(downs_, k_);
        ups_.sort();
        downs_.sort();
        return choose(it, chosen, [&](std::size_t a) { return std::min(downs_.most(), k_ - a); });
    }

    // F-beta and precision at k: delta = 1 - A/(B + b) with A, B of a alone, so that for b -> b + 1 it rises by
    // A/((B + b)(B + b + 1)), less and less. Precision at k asks for a + b >= k.
    double ratio(std::span<const double> scores, std::span<const std::uint8_t> positive, const MeasureAt& it,
                 std::span<std::uint8_t> chosen) {
        const bool precision = it.measure == Measure::precision_at_k;
        const double weight = precision ? 0.0 : it.beta * it.beta;
        const double constant = weight * static_cast<double>(n_.positives);
        std::size_t paying = 0;
        for (std::size_t i = 0; i < scores.size(); ++i) paying += !positive[i] && scores[i] >= 0;
        // No step in b raises delta by more than `rise`, none in a lowers it by more than `fall`.
        const auto P = static_cast<double>(n_.positives);
        const double least = precision ? static_cast<double>(std::max(k_, paying)) : constant + static_cast<double>(paying);
        const double steepest = precision ? std::min(P, least) / (least * (least + 1))
                                          : (P < least ? P / ((P + least) * (P + least)) : 1 / (4 * least));
        const double rise = (1 + weight) * steepest, fall = (1 + weight) / (1 + least);
        split(scores, positive, chosen, [=](double s) { return 2 * s > fall * slack; }, [=](double s) { return s >= 0; },
              [](double s) { return s >= 0; }, [=](double s) { return 2 * s + rise * slack >= 0; });
        if (precision) fill_up(scores, positive);
        ups_.sort();
        downs_.sort();
        return choose(it, chosen, [&](std::size_t a) {
            const double A = (1 + weight) * static_cast<double>(a), B = static_cast<double>(a) + constant;
            std::size_t low = downs_.sure;
            if (precision && k_ > a) low = std::max(low, k_ - a);
            std::size_t high = downs_.most();
            while (low < high) {  // the least b from which one more does not pay
                const std::size_t b = low + (high - low) / 2;
                const double whole = B + static_cast<double>(b);
                const double more = whole > 0 ? A / (whole * (whole + 1)) : 1.0;
                if (2 * downs_.candidates[b - downs_.sure].score + more >= 0)
                    low = b + 1;
                else
                    high = b;
            }
            return low;
        });
    }

    static constexpr double slack = 1 + 1e-9;  // the bounds hold in exact numbers

    template <class UpSure, class UpMaybe, class DownSure, class DownMaybe>
    void split(std::span<const double> scores, std::span<const std::uint8_t> positive, std::span<std::uint8_t> chosen,
               UpSure up_sure, UpMaybe up_maybe, DownSure down_sure, DownMaybe down_maybe) {
        for (Side* side : {&ups_, &downs_}) {
            side->sure = 0;
            side->candidates.clear();
        }
        for (std::size_t i = 0; i < scores.size(); ++i) {
            const double s = scores[i];
            Side& side = positive[i] ? ups_ : downs_;
            chosen[i] = positive[i] ? up_sure(s) : down_sure(s);
            if (chosen[i])
                ++side.sure;
            else if (positive[i] ? up_maybe(s) : down_maybe(s))
                side.candidates.push_back({s, static_cast<std::uint32_t>(i)});
        }
    }

    static void keep_highest(Side& side, std::size_t count) {
        auto& all = side.candidates;
        if (all.size() <= count) return;
        std::nth_element(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count), all.end());
        all.resize(count);
    }

    // Where a + b >= k may ask for more than what pays, the k highest of either kind are candidates too.
    void fill_up(std::span<const double> scores, std::span<const std::uint8_t> positive) {
        for (const bool up : {true, false}) {
            Side& side = up ? ups_ : downs_;
            const std::size_t needed = std::min(k_, up ? n_.positives : n_.negatives);
            if (side.most() >= needed) continue;
            const double floor = lowest(side);
            rest_.candidates.clear();
            for (std::size_t i = 0; i < scores.size(); ++i)
                if ((positive[i] != 0) == up && scores[i] < floor)
                    rest_.candidates.push_back({scores[i], static_cast<std::uint32_t>(i)});
            keep_highest(rest_, needed - side.most());
            side.candidates.insert(side.candidates.end(), rest_.candidates.begin(), rest_.candidates.end());
        }
    }

    // Who is not among the candidates scores below this.
    static double lowest(const Side& side) {
        double least = 0;
        for (const Entry& one : side.candidates) least = std::min(least, one.score);
        return least;
    }

    // Tries every a with its best b.
    template <class BestB>
    double choose(const MeasureAt& it, std::span<std::uint8_t> chosen, BestB best_b) const {
        const bool at_most = it.measure == Measure::recall_at_k;
        const bool at_least = it.measure == Measure::precision_at_k;
        std::size_t best_a = 0, its_b = 0;
        double highest = 0;
        bool found = false;
        for (std::size_t a = ups_.sure; a <= ups_.most(); ++a) {
            if (at_most && a > k_) break;
            if (at_least && a + downs_.most() < k_) continue;
            const std::size_t b = best_b(a);
            const double value = measure_loss(it, n_, a, b) + ups_.gained(a) + downs_.gained(b);
            if (found && value < highest) continue;
            highest = value;
            best_a = a;
            its_b = b;
            found = true;
        }
        for (std::size_t i = 0; i < best_a - ups_.sure; ++i) chosen[ups_.candidates[i].row] = 1;
        for (std::size_t i = 0; i < its_b - downs_.sure; ++i) chosen[downs_.candidates[i].row] = 1;
        return measure_loss(it, n_, best_a, its_b);
    }

    Sizes n_{};
    std::size_t k_ = 0;
    Side ups_, downs_, rest_;
};

}  // namespace hinge
