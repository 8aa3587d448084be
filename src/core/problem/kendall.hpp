// Pairs of a list that are in wrong order, counted for each document in O(r log r) (MATH.md E, Kendall tau).
//
// A pair is comparable if the relevances differ. It is short of a margin if the more relevant document does not score
// higher by at least that much; a tie in score is short of every margin.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace hinge {

class KendallPairs {
public:
    // Sorts a list by score and numbers its relevances; returns how many pairs are comparable.
    double read(std::span<const double> scores, std::span<const double> relevance) {
        find_levels(relevance);
        below_.assign(levels_.size() + 1, 0);
        by_score_.resize(scores.size());
        for (std::size_t i = 0; i < scores.size(); ++i) {
            const std::size_t level = level_of(relevance[i]);
            by_score_[i] = {scores[i], static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(level)};
            ++below_[level + 1];
        }
        double comparable = 0;
        for (std::size_t l = 1; l < below_.size(); ++l) {
            comparable += static_cast<double>(below_[l - 1]) * static_cast<double>(below_[l]);
            below_[l] += below_[l - 1];
        }
        std::sort(by_score_.begin(), by_score_.end());
        return comparable;
    }

    // Adds to net[i] the pairs short of `margin` (strictly; where it is 0, ties too) in which i is the more relevant
    // one, less those in which it is the other. Returns how many pairs are short.
    double short_of(double margin, std::span<double> net) {
        return levels_.size() <= few ? sweep<Table>(margin, net) : sweep<Tree>(margin, net);
    }

private:
    static constexpr std::size_t few = 16;

    struct Entry {
        double score;
        std::uint32_t row;
        std::uint32_t level;
        bool operator<(const Entry& other) const { return score < other.score; }
    };

    // How many of the documents that were counted lie below a level: as a running table where levels are few, as a
    // Fenwick tree where they are many.
    struct Table {
        std::vector<std::size_t>& sums;
        void count(std::size_t level) {
            for (std::size_t l = level + 1; l < sums.size(); ++l) ++sums[l];
        }
        std::size_t below(std::size_t level) const { return sums[level]; }
    };
    struct Tree {
        std::vector<std::size_t>& sums;
        void count(std::size_t level) {
            for (std::size_t i = level + 1; i < sums.size(); i += i & (~i + 1)) ++sums[i];
        }
        std::size_t below(std::size_t level) const {
            std::size_t sum = 0;
            for (std::size_t i = level; i > 0; i &= i - 1) sum += sums[i];
            return sum;
        }
    };

    void find_levels(std::span<const double> relevance) {
        levels_.clear();
        for (double y : relevance) {
            const auto place = std::lower_bound(levels_.begin(), levels_.end(), y);
            if (place != levels_.end() && *place == y) continue;
            levels_.insert(place, y);
            if (levels_.size() > few) break;
        }
        if (levels_.size() <= few) return;
        levels_.assign(relevance.begin(), relevance.end());
        std::sort(levels_.begin(), levels_.end());
        levels_.erase(std::unique(levels_.begin(), levels_.end()), levels_.end());
    }

    std::size_t level_of(double y) const {
        if (levels_.size() > few)
            return static_cast<std::size_t>(std::lower_bound(levels_.begin(), levels_.end(), y) - levels_.begin());
        std::size_t level = 0;
        for (double each : levels_) level += each < y;
        return level;
    }

    template <class Counted>
    double sweep(double margin, std::span<double> net) {
        const auto is_short = [margin](const Entry& up, const Entry& down) {
            const double lead = up.score - down.score;
            return margin > 0 ? lead < margin : lead <= 0;
        };
        const std::size_t r = by_score_.size();
        std::size_t total = 0;
        // From the lowest score up: of the less relevant ones, who is not yet far enough below.
        counted_.assign(levels_.size() + 1, 0);
        Counted far_below{counted_};
        for (std::size_t i = 0, next = 0; i < r; ++i) {
            const Entry& up = by_score_[i];
            for (; next < r && !is_short(up, by_score_[next]); ++next) far_below.count(by_score_[next].level);
            const std::size_t pairs = below_[up.level] - far_below.below(up.level);
            net[up.row] += static_cast<double>(pairs);
            total += pairs;
        }
        // From the highest score down: of the more relevant ones, who is not yet far enough above.
        counted_.assign(levels_.size() + 1, 0);
        Counted far_above{counted_};
        for (std::size_t j = r, next = r; j-- > 0;) {
            const Entry& down = by_score_[j];
            for (; next > 0 && !is_short(by_score_[next - 1], down); --next) far_above.count(by_score_[next - 1].level);
            const std::size_t counted = (r - next) - far_above.below(down.level + 1);
            net[down.row] -= static_cast<double>(r - below_[down.level + 1] - counted);
        }
        return static_cast<double>(total);
    }

    std::vector<double> levels_;
    std::vector<Entry> by_score_;
    std::vector<std::size_t> below_, counted_;  // below_[l]: the documents below level l
};

}  // namespace hinge
