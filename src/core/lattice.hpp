// Best words: each place has a score for each letter, and so has each pair of neighbours (Viterbi).
//
// Ties go to the lowest last letter, then to the lowest letter before it, and so on.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "kernels.hpp"

namespace hinge {

template <class Real>
class Lattice {
public:
    // Room for words of `length` over `letters`; a row of scores takes `stride` values.
    void shape(Index length, Index letters, Index stride) {
        length_ = length;
        letters_ = letters;
        stride_ = stride;
        const std::size_t cells = static_cast<std::size_t>(length) * static_cast<std::size_t>(stride);
        if (best_.size() < cells) {
            best_.resize(cells);
            from_.resize(cells);
        }
    }

    Index length() const { return length_; }

    // Finds the best word; rows of `emissions` are `stride` apart, and so are those of `transitions`, by the letter
    // before. Writes its letters and returns its score.
    Real solve(const Real* emissions, const Real* transitions, Index* path) {
        const Index width = Weights<Real>::padded(letters_);
        std::copy_n(emissions, width, best_.data());
        for (Index t = 1; t < length_; ++t) {
            Real* best = at(t);
            kernels<Real>().step(at(t - 1), letters_, transitions, stride_, width, best, from(t));
            const Real* here = emissions + cell(t);
            for (Index y = 0; y < width; ++y) best[y] += here[y];
        }
        const Index last = kernels<Real>().argmax(at(length_ - 1), letters_);
        trace(length_ - 1, last, path);
        return at(length_ - 1)[last];
    }

    // After `solve` found `truth`: another word that scores the same, if there is one.
    bool another(const Real* transitions, const Index* truth, Index* path) {
        // tied[t]: some other beginning that ends with truth[t] scores as much as the right one
        tied_.assign(static_cast<std::size_t>(length_), false);
        for (Index t = 1; t < length_; ++t)
            tied_[static_cast<std::size_t>(t)] =
                tied_[static_cast<std::size_t>(t - 1)] || other_before(transitions, truth, t, letters_) < letters_;
        const Real* last = at(length_ - 1);
        const Real top = last[truth[length_ - 1]];
        Index y = 0;
        while (y < letters_ && !(last[y] == top && (y != truth[length_ - 1] || tied_[static_cast<std::size_t>(length_ - 1)])))
            ++y;
        if (y == letters_) return false;
        Index t = length_ - 1;
        while (y == truth[t]) {  // the right letter, and the lowest one before it from which there is another word
            path[t] = y;
            const Index other = other_before(transitions, truth, t, letters_);
            y = tied_[static_cast<std::size_t>(t - 1)] ? std::min(other, truth[t - 1]) : other;
            --t;
        }
        trace(t, y, path);
        return true;
    }

    // The k best words, best first: scores and letters, `length` each. Returns how many there are.
    Index best_of(const Real* emissions, const Real* transitions, Index k, std::vector<Real>& scores,
                  std::vector<Index>& paths) {
        const auto most = static_cast<std::size_t>(k);
        const auto letters = static_cast<std::size_t>(letters_);
        const std::size_t layer = letters * most;
        many_.assign(static_cast<std::size_t>(length_) * layer, Ending{});
        for (std::size_t y = 0; y < letters; ++y) many_[y * most] = {emissions[y], 0, 0};
        for (Index t = 1; t < length_; ++t) {
            const Ending* before = many_.data() + static_cast<std::size_t>(t - 1) * layer;
            Ending* here = many_.data() + static_cast<std::size_t>(t) * layer;
            for (std::size_t y = 0; y < letters; ++y) {
                const auto scored = [&](std::size_t p, std::size_t rank) {
                    const Real step = transitions[p * static_cast<std::size_t>(stride_) + y];
                    return (before[p * most + rank].score + step) + emissions[static_cast<std::size_t>(cell(t)) + y];
                };
                gather(before, letters, most, scored);
                std::copy(found_.begin(), found_.end(), here + y * most);
            }
        }
        const Ending* last = many_.data() + static_cast<std::size_t>(length_ - 1) * layer;
        gather(last, letters, most, [&](std::size_t p, std::size_t rank) { return last[p * most + rank].score; });
        scores.clear();
        paths.clear();
        for (const Ending& end : found_) {
            scores.push_back(end.score);
            const std::size_t start = paths.size();
            paths.resize(start + static_cast<std::size_t>(length_));
            Index letter = end.before, rank = end.rank;
            for (Index t = length_ - 1;; --t) {
                paths[start + static_cast<std::size_t>(t)] = letter;
                if (t == 0) break;
                const Ending& here = many_[static_cast<std::size_t>(t) * layer + static_cast<std::size_t>(letter) * most +
                                           static_cast<std::size_t>(rank)];
                letter = here.before;
                rank = here.rank;
            }
        }
        return static_cast<Index>(found_.size());
    }

private:
    struct Ending {
        Real score = -std::numeric_limits<Real>::infinity();
        Index before = 0;
        Index rank = 0;
    };

    std::ptrdiff_t cell(Index t) const { return static_cast<std::ptrdiff_t>(t) * stride_; }
    Real* at(Index t) { return best_.data() + cell(t); }
    Index* from(Index t) { return from_.data() + cell(t); }

    void trace(Index t, Index letter, Index* path) {
        for (; t > 0; --t) {
            path[t] = letter;
            letter = from(t)[letter];
        }
        path[0] = letter;
    }

    // The lowest letter before truth[t], besides truth[t - 1], from which truth[t] scores as much; `letters` if none.
    Index other_before(const Real* transitions, const Index* truth, Index t, Index letters) {
        const auto through = [&](Index p) { return at(t - 1)[p] + transitions[cell(p) + truth[t]]; };
        const Real top = through(truth[t - 1]);
        Index p = 0;
        while (p < letters && (p == truth[t - 1] || through(p) != top)) ++p;
        return p;
    }

    // The best endings over all letters before and their ranks; at ties the lowest letter, then rank.
    template <class Scored>
    void gather(const Ending* before, std::size_t letters, std::size_t most, Scored&& scored) {
        found_.clear();
        for (std::size_t p = 0; p < letters; ++p)
            for (std::size_t rank = 0; rank < most; ++rank) {
                if (before[p * most + rank].score == -std::numeric_limits<Real>::infinity()) break;
                found_.push_back({scored(p, rank), static_cast<Index>(p), static_cast<Index>(rank)});
            }
        const auto better = [](const Ending& a, const Ending& b) {
            if (a.score != b.score) return a.score > b.score;
            return a.before != b.before ? a.before < b.before : a.rank < b.rank;
        };
        const auto kept = std::min(most, found_.size());
        std::partial_sort(found_.begin(), found_.begin() + static_cast<std::ptrdiff_t>(kept), found_.end(), better);
        found_.resize(kept);
    }

    Index length_ = 0, letters_ = 0, stride_ = 0;
    std::vector<Real> best_;
    std::vector<Index> from_;
    std::vector<bool> tied_;
    std::vector<Ending> many_, found_;
};

}  // namespace hinge
