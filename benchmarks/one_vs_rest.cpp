// One-vs-rest Perceptron in the same core: every task whose score has the wrong sign, or is zero, moves by its instance.
// It has no margin, no certificate and no loss to share: what parallel tasks cost beyond it is what those cost.
#include "core/linear.hpp"

// Returns the mistakes of all tasks. `sides` are -1 and 1, tasks of one row side by side.
extern "C" std::int64_t one_vs_rest(const std::int64_t* start, const std::int32_t* index, const float* value,
                                    const signed char* sides, std::int64_t rows, std::int32_t features,
                                    std::int32_t tasks) {
    hinge::Linear<float> linear(1);
    linear.grow(features, tasks);
    hinge::Buffer<float> scores(static_cast<std::size_t>(linear.weights().width()));
    hinge::Step step;
    const hinge::Rows<float> x{start, index, value, rows, features, 1.0F};
    std::int64_t mistakes = 0;
    for (std::int64_t t = 0; t < rows; ++t, sides += tasks) {
        const hinge::Row<float> row = x[t];
        linear.score(row, scores.data());
        step.clear();
        for (std::int32_t j = 0; j < tasks; ++j)
            if (sides[j] * scores[static_cast<std::size_t>(j)] <= 0) step.set(j, sides[j]);
        if (step.empty()) continue;
        mistakes += static_cast<std::int64_t>(step.size());
        linear.add(row, step);
    }
    return mistakes;
}
