// The permutation v of 1..r that maximises sum_i v_i s_i - D(v_i) b_i, b >= 0, where D(r - q + 1) = 1/log2(q + 1) for the
// places q <= k and 0 below them: the assignment problem behind the NDCG hinge (MATH.md E).
//
// Only k positions carry a discount. The others form a bottom that is always sorted, so it is not looked at position by
// position: taking document x out of it and putting y in costs a closed form of prefix sums. What is left are k shortest
// augmenting paths over at most k positions, each scanned once in O(r): O(r log r + k^2 r). The proof is in
// docs/design/ndcg_argmax.md, whose letters are used here: a = -s is a cost, positions are 1..r, r the best.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

namespace hinge {

// 1/log2(place + 1), place 1 being the best.
inline double discount_at(std::size_t place) { return 1 / std::log2(static_cast<double>(place) + 1); }

class DiscountedAssignment {
public:
    // Writes v_i, 1..r. Documents of equal score at the bottom keep the lower index above.
    void best(std::span<const double> scores, std::span<const double> shares, std::size_t k, std::span<double> positions) {
        start(scores, shares, std::min(k, scores.size()));
        if (scores_[order_.front()] == scores_[order_.back()]) {
            match_by_share();
        } else {
            for (std::size_t place = 1; place <= k_; ++place) match(place);
        }
        for (std::size_t j = 0; j < bottom_.size(); ++j) positions[bottom_[j]] = static_cast<double>(j + 1);
        for (std::size_t q = 0; q < matched_.size(); ++q) positions[matched_[q].document] = position_of(q);
    }

private:
    static constexpr double far = std::numeric_limits<double>::infinity();
    static constexpr std::size_t none = static_cast<std::size_t>(-1);

    // A top position; number q is place q + 1. `label` is its dual price.
    struct Top {
        std::size_t document;
        double discount;
        double label;
    };

    // A document outside the bottom: a goal of a path.
    struct Goal {
        std::size_t document;
        std::size_t above;  // how many at the bottom cost at least as much
    };

    void start(std::span<const double> scores, std::span<const double> shares, std::size_t k) {
        const std::size_t r = scores.size();
        scores_ = scores;
        shares_ = shares;
        k_ = k;
        sink_ = 0;
        matched_.clear();
        order_.resize(r);
        std::iota(order_.begin(), order_.end(), std::size_t{0});
        std::sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) {
            return scores[a] < scores[b] || (scores[a] == scores[b] && a > b);
        });
        bottom_.assign(order_.begin(), order_.begin() + static_cast<std::ptrdiff_t>(r - k));
        goals_.clear();
        for (std::size_t i = r - k; i < r; ++i) goals_.push_back({order_[i], 0});
        price_by_sorting();
        top_of_.assign(r, none);
        node_.resize(k);
        low_.resize(k + 1);
        high_.resize(k + 1);
        for (auto* column : {&costs_outside_, &shares_outside_, &enters_, &freed_, &distance_}) column->resize(k);
        for (auto* column : {&from_, &hops_, &through_}) column->resize(k);
    }

    // The dual prices of documents in the sort, v_i = i a_i - u_i: with them every place is already near the document
    // that sorting would give it.
    void price_by_sorting() {
        price_.resize(scores_.size());
        double u = 0;
        for (std::size_t i = 0; i < order_.size(); ++i) {
            const double a = cost(order_[i]);
            price_[order_[i]] = static_cast<double>(i + 1) * a - u;
            u += a;
        }
    }

    // Scores that are all alike say nothing: the least worth the best place.
    void match_by_share() {
        std::sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) {
            return shares_[a] < shares_[b] || (shares_[a] == shares_[b] && a < b);
        });
        const auto middle = order_.begin() + static_cast<std::ptrdiff_t>(k_);
        for (auto it = order_.begin(); it != middle; ++it) matched_.push_back({*it, 0, 0});
        bottom_.assign(middle, order_.end());
        std::sort(bottom_.begin(), bottom_.end(), std::greater<>());
    }

    double position_of(std::size_t top) const { return static_cast<double>(scores_.size() - top); }
    double cost(std::size_t document) const { return -scores_[document]; }

    // One more top position: the shortest augmenting path from it to a free document.
    void match(std::size_t place) {
        lay_out_bottom();
        lay_out_goals();
        const std::size_t source = place - 1;
        matched_.push_back({none, discount_at(place), 0});
        const std::size_t end = shortest_path(source);
        raise_labels(end);
        augment(end);
    }

    // Prefix sums P_j of the costs at the bottom, and what it is worth there to leave (-h_j).
    void lay_out_bottom() {
        const std::size_t m = bottom_.size();
        leaves_.resize(m);
        costs_.resize(m);
        bottom_shares_.resize(m);
        sums_.resize(m + 1);
        sums_[0] = 0;
        for (std::size_t j = 0; j < m; ++j) {
            costs_[j] = cost(bottom_[j]);
            bottom_shares_[j] = shares_[bottom_[j]];
            sums_[j + 1] = sums_[j] + costs_[j];
            leaves_[j] = sums_[j + 1] - static_cast<double>(j + 1) * costs_[j];
        }
    }

    // What it costs to enter the bottom (G), and what is won back when a goal is taken from where it is matched.
    void lay_out_goals() {
        if (!bottom_.empty()) {
            for (Goal& y : goals_) {
                const double a = cost(y.document);
                const auto after = std::partition_point(costs_.begin(), costs_.end(), [a](double c) { return c >= a; });
                y.above = static_cast<std::size_t>(after - costs_.begin());
            }
            std::sort(goals_.begin(), goals_.end(), [](const Goal& a, const Goal& b) {
                return a.above < b.above || (a.above == b.above && a.document < b.document);
            });
        }
        for (std::size_t i = 0; i < goals_.size(); ++i) {
            const auto [document, above] = goals_[i];
            const std::size_t top = top_of_[document];
            costs_outside_[i] = cost(document);
            shares_outside_[i] = shares_[document];
            enters_[i] = static_cast<double>(above) * costs_outside_[i] - sums_[above];
            distance_[i] = far;
            if (top == none) {
                freed_[i] = -sink_ - price_[document];
            } else {
                freed_[i] = -direct(top, i) - matched_[top].label;
                node_[top] = i;
            }
        }
    }

    double direct(std::size_t top, std::size_t goal) const {
        return position_of(top) * costs_outside_[goal] + matched_[top].discount * shares_outside_[goal];
    }
    double leave(double position, double discount, std::size_t j) const {
        return position * costs_[j] + discount * bottom_shares_[j] + leaves_[j];
    }

    // All ways on from a top position that is `distance` away: into an open goal, directly or through the bottom. Returns
    // where in `open_` the nearest goal is then.
    std::size_t scan(std::size_t top, double distance, std::size_t hops) {
        const double position = position_of(top), discount = matched_[top].discount;
        const double base = distance + matched_[top].label;
        if (!bottom_.empty()) sweep_bottom(position, discount);
        std::size_t nearest = 0;
        for (std::size_t o = 0; o < open_.size(); ++o) {
            const std::size_t i = open_[o];
            double way = position * costs_outside_[i] + discount * shares_outside_[i];
            bool by_bottom = false;
            if (!bottom_.empty()) {
                const double through = enters_[i] + std::min(low_[i], high_[i + 1] + costs_outside_[i]);
                by_bottom = through < way;
                way = std::min(way, through);
            }
            const double there = base + way + freed_[i];
            if (there < distance_[i] || (there == distance_[i] && hops + 1 < hops_[i])) {
                distance_[i] = there;
                from_[i] = top;
                hops_[i] = hops + 1;
                through_[i] = by_bottom;
            }
            if (o > 0 && nearer(i, open_[nearest])) nearest = o;
        }
        return nearest;
    }

    // For each goal the cheapest way to take a document that costs at least as much from the bottom, and one that costs
    // less: over the stretches of the bottom between the goals' places.
    void sweep_bottom(double position, double discount) {
        const std::size_t count = goals_.size();
        std::size_t j = 0;
        for (std::size_t i = 0; i <= count; ++i) {
            const std::size_t until = i < count ? goals_[i].above : bottom_.size();
            double low = far, high = far;
            for (; j < until; ++j) {
                const double out = leave(position, discount, j);
                low = std::min(low, out);
                high = std::min(high, out - costs_[j]);
            }
            low_[i] = low;
            high_[i] = high;
        }
        for (std::size_t i = 1; i <= count; ++i) low_[i] = std::min(low_[i], low_[i - 1]);
        for (std::size_t i = count; i-- > 0;) high_[i] = std::min(high_[i], high_[i + 1]);
    }

    // Dijkstra's algorithm on prices that keep all ways non-negative, but for those out of the source, which all have the
    // same constant in them. Fewer hops at ties. Returns the free document at the end.
    std::size_t shortest_path(std::size_t source) {
        open_.resize(goals_.size());
        std::iota(open_.begin(), open_.end(), std::size_t{0});
        std::size_t nearest = scan(source, 0, 0);
        const double least = distance_[open_[nearest]];
        matched_[source].label = -least;
        for (double& distance : distance_) distance -= least;
        for (;;) {
            const std::size_t i = open_[nearest];
            const std::size_t top = top_of_[goals_[i].document];
            if (top == none) return i;
            open_[nearest] = open_.back();
            open_.pop_back();
            nearest = scan(top, distance_[i], hops_[i]);
        }
    }

    bool nearer(std::size_t a, std::size_t b) const {
        if (distance_[a] != distance_[b]) return distance_[a] < distance_[b];
        if (hops_[a] != hops_[b]) return hops_[a] < hops_[b];
        return goals_[a].document < goals_[b].document;
    }

    void raise_labels(std::size_t end) {
        const double whole = distance_[end];
        for (std::size_t i : open_) distance_[i] = whole;
        for (std::size_t i = 0; i < goals_.size(); ++i)
            if (const std::size_t top = top_of_[goals_[i].document]; top != none) matched_[top].label += distance_[i];
        sink_ += whole;
    }

    // Where on the bottom the way from `top` to the goal leaves it.
    std::size_t way_through(std::size_t top, std::size_t goal) const {
        const double position = position_of(top), discount = matched_[top].discount, a = costs_outside_[goal];
        std::size_t best = 0;
        double least = far;
        for (std::size_t j = 0; j < bottom_.size(); ++j) {
            const double out = leave(position, discount, j) + (j < goals_[goal].above ? 0.0 : a - costs_[j]);
            if (out < least) {
                least = out;
                best = j;
            }
        }
        return best;
    }

    // Every top position on the path takes the document that the path gives it; what enters the bottom is sorted in.
    void augment(std::size_t end) {
        path_.clear();
        for (std::size_t i = end;;) {
            path_.push_back({from_[i], i, through_[i] ? way_through(from_[i], i) : none});
            if (matched_[from_[i]].document == none) break;
            i = node_[from_[i]];
        }
        std::reverse(path_.begin(), path_.end());
        shorten();
        leaving_.clear();
        entering_.clear();
        for (const Hop& hop : path_) {
            const std::size_t y = goals_[hop.goal].document;
            std::size_t taken = y;
            if (hop.out != none) {  // another leaves the bottom, and y enters it
                taken = bottom_[hop.out];
                goals_[hop.goal].document = taken;
                leaving_.push_back(hop.out);
                entering_.push_back(y);
            }
            matched_[hop.top].document = taken;
            top_of_[taken] = hop.top;
        }
        std::sort(leaving_.begin(), leaving_.end(), std::greater<>());
        for (std::size_t j : leaving_) bottom_.erase(bottom_.begin() + static_cast<std::ptrdiff_t>(j));
        for (std::size_t y : entering_) {
            top_of_[y] = none;
            const auto place = std::partition_point(bottom_.begin(), bottom_.end(), [&](std::size_t x) {
                return scores_[x] < scores_[y] || (scores_[x] == scores_[y] && x > y);
            });
            bottom_.insert(place, y);
        }
    }

    struct Hop {
        std::size_t top;
        std::size_t goal;
        std::size_t out;
    };

    // A shortest path with the fewest hops takes no document from the bottom twice; rounding may.
    void shorten() {
        for (std::size_t i = 0; i < path_.size(); ++i)
            for (std::size_t l = path_.size() - 1; l > i; --l)
                if (path_[i].out != none && path_[i].out == path_[l].out) {
                    path_[i].goal = path_[l].goal;
                    path_.erase(path_.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                                path_.begin() + static_cast<std::ptrdiff_t>(l) + 1);
                    break;
                }
    }

    std::span<const double> scores_, shares_;
    std::size_t k_ = 0;
    double sink_ = 0;
    std::vector<Top> matched_;
    std::vector<Goal> goals_;
    std::vector<double> costs_outside_, shares_outside_, enters_, freed_, distance_;  // by goal
    std::vector<std::size_t> from_, hops_, through_;  // by goal, of the path to it
    std::vector<std::size_t> open_;  // goals to which a nearer way may be found
    std::vector<std::size_t> order_, bottom_;
    std::vector<double> price_;
    std::vector<double> costs_, bottom_shares_, sums_, leaves_, low_, high_;
    std::vector<Hop> path_;
    std::vector<std::size_t> leaving_, entering_, node_, top_of_;
};

}  // namespace hinge
