// Pairs of a list that are in wrong order, counted for each document in O(r log r) (MATH.md E, Kendall tau).
//
// A pair is comparable if the relevances differ. It is short of a margin if the more relevant document does not score
// higher by at least that much; a tie in score is short of every margin.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

namespace hinge {

class KendallPairs {
public:
    // Sorts a list by score and numbers its relevances; returns how many pairs are comparable.
    double read(std::span<const double> scores, std::span<const double> relevance) {
        scores_ = scores;
        levels_.assign(relevance.begin(), relevance.end());
        std::sort(levels_.begin(), levels_.end());
        double equal = 0;
        for (std::size_t i = 0, run = 0; i < levels_.size(); ++i) {
            run = i > 0 && levels_[i] == levels_[i - 1] ? run + 1 : 0;
            equal += static_cast<double>(run);
        }
        levels_.erase(std::unique(levels_.begin(), levels_.end()), levels_.end());
        level_.resize(relevance.size());
        for (std::size_t i = 0; i < relevance.size(); ++i)
            level_[i] = static_cast<std::size_t>(std::lower_bound(levels_.begin(), levels_.end(), relevance[i]) -
                                                 levels_.begin());
        order_.resize(scores.size());
        std::iota(order_.begin(), order_.end(), std::size_t{0});
        std::sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) {
            return scores[a] < scores[b] || (scores[a] == scores[b] && a < b);
        });
        const auto r = static_cast<double>(scores.size());
        return r * (r - 1) / 2 - equal;
    }

    // Adds to net[i] the pairs short of `margin` (strictly; where it is 0, ties too) in which i is the more relevant
    // one, less those in which it is the other. Returns how many pairs are short.
    double short_of(double margin, std::span<double> net) {
        const auto is_short = [&](std::size_t up, std::size_t down) {
            const double lead = scores_[up] - scores_[down];
            return margin > 0 ? lead < margin : lead <= 0;
        };
        // From the lowest score up: of the less relevant ones, who is not yet far enough below.
        double total = 0;
        begin();
        for (std::size_t next = 0; const std::size_t i : order_) {
            for (; next < order_.size() && !is_short(i, order_[next]); ++next) count(level_[order_[next]]);
            const double pairs = static_cast<double>(below_[level_[i]]) - counted_below(level_[i]);
            net[i] += pairs;
            total += pairs;
        }
        // From the highest score down: of the more relevant ones, who is not yet far enough above.
        begin();
        const std::size_t r = order_.size();
        for (std::size_t done = 0, next = 0; done < r; ++done) {
            const std::size_t j = order_[r - 1 - done];
            for (; next < r && !is_short(order_[r - 1 - next], j); ++next) count(level_[order_[r - 1 - next]]);
            const auto above = static_cast<double>(r - below_[level_[j] + 1]);
            net[j] -= above - (static_cast<double>(next) - counted_below(level_[j] + 1));
        }
        return total;
    }

private:
    // A Fenwick tree over the levels; below_[l] is how many documents lie below level l.
    void begin() {
        tree_.assign(levels_.size() + 1, 0);
        below_.assign(levels_.size() + 1, 0);
        for (std::size_t level : level_) ++below_[level + 1];
        std::partial_sum(below_.begin(), below_.end(), below_.begin());
    }
    void count(std::size_t level) {
        for (std::size_t i = level + 1; i < tree_.size(); i += i & (~i + 1)) ++tree_[i];
    }
    double counted_below(std::size_t level) const {
        std::size_t sum = 0;
        for (std::size_t i = level; i > 0; i &= i - 1) sum += tree_[i];
        return static_cast<double>(sum);
    }

    std::span<const double> scores_;
    std::vector<double> levels_;
    std::vector<std::size_t> level_, order_, tree_, below_;
};

}  // namespace hinge
