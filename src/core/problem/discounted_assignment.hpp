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
        for (std::size_t place = 1; place <= k_; ++place) match(place);
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

    // A document outside the bottom, as a goal of a path.
    struct Outside {
        std::size_t document;
        std::size_t above;  // how many at the bottom cost at least as much
        double enters;      // what it costs to put it there
        std::size_t top;    // where it is matched; none: it is free
        double distance;
        int hops;
        std::size_t from;  // the top position before it on the path
        bool through;      // by way of the bottom
        bool done;
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
        outside_.clear();
        for (std::size_t i = r - k; i < r; ++i) outside_.push_back({order_[i], 0, 0, none, far, 0, none, false, false});
        low_.resize(k + 1);
        high_.resize(k + 1);
        node_.resize(k);
        top_of_.assign(r, none);
    }

    double position_of(std::size_t top) const { return static_cast<double>(scores_.size() - top); }
    double cost(std::size_t document) const { return -scores_[document]; }
    double edge(std::size_t top, double discount, std::size_t document) const {
        return position_of(top) * cost(document) + discount * shares_[document];
    }

    // One more top position: the shortest augmenting path from it to a free document.
    void match(std::size_t place) {
        lay_out_bottom();
        const std::size_t source = place - 1;
        matched_.push_back({none, discount_at(place), 0});
        scan(source, 0, 0);
        const std::size_t end = shortest_path(source);
        raise_labels(end);
        augment(end);
    }

    // Prefix sums P_j of the costs at the bottom, and what it is worth there to leave (-h_j) or to enter (G).
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
        for (Outside& y : outside_) {
            const double a = cost(y.document);
            const auto after = std::partition_point(costs_.begin(), costs_.end(), [a](double c) { return c >= a; });
            y.above = static_cast<std::size_t>(after - costs_.begin());
            y.enters = static_cast<double>(y.above) * a - sums_[y.above];
            y.distance = far;
            y.done = false;
        }
        std::sort(outside_.begin(), outside_.end(), [](const Outside& a, const Outside& b) {
            return a.above < b.above || (a.above == b.above && a.document < b.document);
        });
        for (std::size_t i = 0; i < outside_.size(); ++i)
            if (outside_[i].top != none) node_[outside_[i].top] = i;
    }

    double leave(std::size_t top, double discount, std::size_t j) const {
        return position_of(top) * costs_[j] + discount * bottom_shares_[j] + leaves_[j];
    }

    // All ways on from a top position that is `distance` away: into an outside document, directly or through the bottom.
    void scan(std::size_t top, double distance, int hops) {
        const double discount = matched_[top].discount;
        const std::size_t goals = outside_.size();
        std::size_t j = 0;
        for (std::size_t i = 0; i <= goals; ++i) {  // stretches of the bottom between the goals' places
            const std::size_t until = i < goals ? outside_[i].above : bottom_.size();
            double low = far, high = far;
            for (; j < until; ++j) {
                const double out = leave(top, discount, j);
                low = std::min(low, out);
                high = std::min(high, out - costs_[j]);
            }
            low_[i] = low;
            high_[i] = high;
        }
        for (std::size_t i = 1; i <= goals; ++i) low_[i] = std::min(low_[i], low_[i - 1]);
        for (std::size_t i = goals; i-- > 0;) high_[i] = std::min(high_[i], high_[i + 1]);
        for (std::size_t i = 0; i < goals; ++i) {
            Outside& y = outside_[i];
            if (y.done || y.top == top) continue;
            const double direct = edge(top, discount, y.document);
            const double through = y.enters + std::min(low_[i], high_[i + 1] + cost(y.document));
            const bool by_bottom = through < direct;
            const double freed = y.top == none ? -sink_ : -edge(y.top, matched_[y.top].discount, y.document) - matched_[y.top].label;
            const double there = distance + (by_bottom ? through : direct) + freed + matched_[top].label;
            if (there < y.distance || (there == y.distance && hops + 1 < y.hops)) {
                y.distance = there;
                y.hops = hops + 1;
                y.from = top;
                y.through = by_bottom;
            }
        }
    }

    // Dijkstra's algorithm on prices that keep all ways non-negative, but for those out of the source, which all have the
    // same constant in them. Fewer hops at ties. Returns the free document at the end.
    std::size_t shortest_path(std::size_t source) {
        double least = far;
        for (const Outside& y : outside_) least = std::min(least, y.distance);
        matched_[source].label = -least;
        for (Outside& y : outside_) y.distance -= least;
        for (;;) {
            std::size_t next = none;
            for (std::size_t i = 0; i < outside_.size(); ++i)
                if (!outside_[i].done && (next == none || nearer(outside_[i], outside_[next]))) next = i;
            Outside& y = outside_[next];
            if (y.top == none) return next;
            y.done = true;
            scan(y.top, y.distance, y.hops);
        }
    }

    static bool nearer(const Outside& a, const Outside& b) {
        if (a.distance != b.distance) return a.distance < b.distance;
        if (a.hops != b.hops) return a.hops < b.hops;
        return a.document < b.document;
    }

    void raise_labels(std::size_t end) {
        const double whole = outside_[end].distance;
        for (const Outside& y : outside_)
            if (y.top != none) matched_[y.top].label += y.done ? y.distance : whole;
        sink_ += whole;
    }

    // Where on the bottom the way from `top` to the goal leaves it.
    std::size_t way_through(std::size_t top, const Outside& y) const {
        const double discount = matched_[top].discount, a = cost(y.document);
        std::size_t best = 0;
        double least = far;
        for (std::size_t j = 0; j < bottom_.size(); ++j) {
            const double out = leave(top, discount, j) + (j < y.above ? 0.0 : a - costs_[j]);
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
            const Outside& y = outside_[i];
            path_.push_back({y.from, i, y.through ? way_through(y.from, y) : none});
            if (matched_[y.from].document == none) break;
            i = node_[y.from];
        }
        std::reverse(path_.begin(), path_.end());
        shorten();
        leaving_.clear();
        entering_.clear();
        for (const Hop& hop : path_) {
            const std::size_t y = outside_[hop.goal].document;
            std::size_t taken = y;
            if (hop.out != none) {  // another leaves the bottom, and y enters it
                taken = bottom_[hop.out];
                outside_[hop.goal].document = taken;
                leaving_.push_back(hop.out);
                entering_.push_back(y);
            }
            matched_[hop.top].document = taken;
            top_of_[taken] = hop.top;
        }
        for (Outside& y : outside_) y.top = top_of_[y.document];
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
    std::vector<Outside> outside_;
    std::vector<std::size_t> order_, bottom_;
    std::vector<double> costs_, bottom_shares_, sums_, leaves_, low_, high_;
    std::vector<Hop> path_;
    std::vector<std::size_t> leaving_, entering_, node_, top_of_;
};

}  // namespace hinge
