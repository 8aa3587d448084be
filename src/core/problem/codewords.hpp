// Output codes: a label is a row of a matrix of -1 and 1, and each column of it a task (MATH.md C).
#pragma once

#include <cstddef>
#include <limits>

#include "../rows.hpp"
#include "parallel_tasks.hpp"

namespace hinge {

struct Code {
    const signed char* sides;  // labels x tasks
    Index labels;
    std::size_t tasks;
    bool by_margin;  // else by Hamming distance

    const signed char* row(Index label) const { return sides + static_cast<std::size_t>(label) * tasks; }

    // How well the scores of the tasks fit a label: tasks that agree less those that do not, or the sum of the margins.
    template <class Real>
    double fit(Index label, const Real* scores) const {
        const signed char* word = row(label);
        double sum = 0;
        for (std::size_t j = 0; j < tasks; ++j) {
            const double side = by_margin ? static_cast<double>(scores[j]) : (scores[j] > 0 ? 1.0 : -1.0);
            sum += word[j] * side;
        }
        return sum;
    }

    // The label that fits best, the lowest at ties.
    template <class Real>
    Index decode(const Real* scores) const {
        Index best = 0;
        double highest = -std::numeric_limits<double>::infinity();
        for (Index label = 0; label < labels; ++label) {
            const double now = fit(label, scores);
            if (now > highest) {
                highest = now;
                best = label;
            }
        }
        return best;
    }
};

// A label by its number, negative where the round asks for nothing. The round is in error where another label is decoded;
// then some task is in error.
struct Codewords {
    struct Target {
        Code code;
        Index label;
    };
    static constexpr double margin = 1;

    static bool active(const Target& y, std::size_t) { return y.label >= 0; }
    static TaskFault judge(const Target& y, std::size_t j, double score) {
        const double side = y.code.row(y.label)[j];
        return {1 - side * score, side, 1.0, side * score <= 0};
    }
    template <class Real>
    static bool wrong(const Target& y, const Real* scores, Index) {
        return y.label >= 0 && y.code.decode(scores) != y.label;
    }
};

}  // namespace hinge
