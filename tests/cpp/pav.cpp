// What the ordinal parts of the core do, as plain functions: projection, problem and kernel support.
#include "core/kernel_support.hpp"
#include "core/problem/ordinal.hpp"
#include "core/solve/pav.hpp"

#include <cstdlib>
#include <new>

using hinge::Index;
using hinge::Row;

namespace {

std::size_t allocations = 0;

template <class Real>
void project(Real* values, const double* weights, std::size_t count) {
    hinge::solve::IsotonicProjection isotonic(count);
    const std::size_t before = allocations;
    isotonic(std::span<Real>(values, count),
             weights ? std::span<const double>(weights, count) : std::span<const double>());
    if (allocations != before) std::abort();
}

template <class Real>
struct Support {
    hinge::KernelSupport<Real> model;
    hinge::SupportScratch<Real> scratch;
};

hinge::Kernel kernel_of(int shape, double gamma, double coef0, int degree) {
    return {static_cast<hinge::Kernel::Shape>(shape), gamma, coef0, degree};
}

}  // namespace

void* operator new(std::size_t bytes) {
    ++allocations;
    if (void* memory = std::malloc(bytes)) return memory;
    throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

extern "C" {

void isotonic_f64(double* values, const double* weights, std::size_t count) { project(values, weights, count); }
void isotonic_f32(float* values, const double* weights, std::size_t count) { project(values, weights, count); }

struct Said {
    Index predicted;
    Index error;
    Index violated;
    Index sum;
    double loss;
    Index lowest;
    Index highest;
};

// Judges a score, writes tau, and moves the thresholds by `step`.
Said ordinal_round(double score, double* thresholds, Index count, Index lo, Index hi, double step, double margin,
                   double* tau) {
    using namespace hinge::ordinal;
    const std::span<double> b(thresholds, static_cast<std::size_t>(count));
    const std::span<const double> seen = b;
    const Interval y{lo, hi};
    const Violations v = violations(score, seen, y);
    const Index predicted = predicted_class(score, seen);
    const Interval indistinct = indistinct_classes(score, seen, margin);
    const Said said{predicted, classes_outside(predicted, y),    v.count(),    v.sum(),
                    interval_hinge(score, seen, y, v), indistinct.lo, indistinct.hi};
    each(v, y, [&](Index i, int t) { tau[i - 1] = t; });
    move_thresholds(b, v, y, step);
    return said;
}

#define HINGE_SUPPORT(Real, suffix)                                                                                 \
    void* support_new_##suffix(int shape, double gamma, double coef0, int degree, Index budget, int removal) {       \
        return new Support<Real>{hinge::KernelSupport<Real>(kernel_of(shape, gamma, coef0, degree), budget,          \
                                                            static_cast<hinge::Removal>(removal)),                   \
                                 {}};                                                                                \
    }                                                                                                                \
    void support_free_##suffix(void* support) { delete static_cast<Support<Real>*>(support); }                       \
    Index support_size_##suffix(void* support) { return static_cast<Support<Real>*>(support)->model.size(); }        \
    double support_score_##suffix(void* support, const Index* index, const Real* value, Index count) {               \
        auto& it = *static_cast<Support<Real>*>(support);                                                            \
        return it.model.score(Row<Real>{index, value, count, Real(0)}, it.scratch);                                  \
    }                                                                                                                \
    void support_add_##suffix(void* support, const Index* index, const Real* value, Index count, double a) {         \
        auto& it = *static_cast<Support<Real>*>(support);                                                            \
        it.model.add(Row<Real>{index, value, count, Real(0)}, a, it.scratch);                                        \
    }                                                                                                                \
    void support_coefficients_##suffix(void* support, double* out, std::int64_t* ages) {                             \
        const auto& model = static_cast<Support<Real>*>(support)->model;                                             \
        std::copy(model.coefficients().begin(), model.coefficients().end(), out);                                    \
        std::copy(model.ages().begin(), model.ages().end(), ages);                                                   \
    }                                                                                                                \
    void support_scores_##suffix(void* support, const Real* rows, Index count, Index width, double* out) {           \
        for (Index t = 0; t < count; ++t) out[t] = support_score_##suffix(support, nullptr, rows + t * width, width); \
    }

HINGE_SUPPORT(double, f64)
HINGE_SUPPORT(float, f32)
}
