// What the ordinal parts of the core do, as plain functions: projection, problem and kernel support.
#include "core/kernel_support.hpp"
#include "core/problem/ordinal.hpp"
#include "core/solve/pav.hpp"

#include <cstdlib>
#include <map>
#include <new>
#include <string>

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

// A kernel that the core does not know: sum_j min(|a_j|, |b_j|).
struct Overlap {
    void operator()(const hinge::SupportRows<double>& rows, const Row<double>& x,
                    hinge::SupportScratch<double>& scratch) const {
        scratch.values.resize(static_cast<std::size_t>(rows.size()));
        std::vector<double> room;
        for (Index s = 0; s < rows.size(); ++s)
            scratch.values[static_cast<std::size_t>(s)] = between(rows.row(s, room), x);
    }
    double own(const Row<double>& x) const { return between(x, x); }

    static double between(const Row<double>& a, const Row<double>& b) {
        std::map<Index, double> entries;
        a.each([&](Index j, double v) { entries[j] = std::abs(v); });
        double sum = 0;
        b.each([&](Index j, double v) { sum += entries.count(j) ? std::min(entries[j], std::abs(v)) : 0.0; });
        return sum;
    }
};

template <class Real, class K>
struct Support {
    hinge::KernelSupport<Real, K> model;
    hinge::SupportScratch<Real> scratch;
};

// Keeps what it is shown, then gives it back.
class Memory : public hinge::Archive {
public:
    bool giving = false;
    void values(const char* name, std::vector<double>& values) override {
        if (giving)
            values = kept_.at(name);
        else if (!kept_.emplace(name, values).second)
            std::abort();
    }
    void weights(const char*, hinge::Weights<float>&) override { std::abort(); }
    void weights(const char*, hinge::Weights<double>&) override { std::abort(); }

private:
    std::map<std::string, std::vector<double>> kept_;
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

#define HINGE_SUPPORT(Real, K, suffix)                                                                               \
    void support_free_##suffix(void* support) { delete static_cast<Support<Real, K>*>(support); }                    \
    Index support_size_##suffix(void* support) { return static_cast<Support<Real, K>*>(support)->model.size(); }     \
    double support_score_##suffix(void* support, const Index* index, const Real* value, Index count) {               \
        auto& it = *static_cast<Support<Real, K>*>(support);                                                         \
        return it.model.score(Row<Real>{index, value, count, Real(0)}, it.scratch);                                  \
    }                                                                                                                \
    void support_add_##suffix(void* support, const Index* index, const Real* value, Index count, double a) {         \
        auto& it = *static_cast<Support<Real, K>*>(support);                                                         \
        const Row<Real> x{index, value, count, Real(0)};                                                             \
        it.model.add(x, it.model.own(x), a, it.scratch);                                                             \
    }                                                                                                                \
    void support_coefficients_##suffix(void* support, double* out, std::int64_t* ages) {                             \
        const auto& model = static_cast<Support<Real, K>*>(support)->model;                                          \
        std::copy(model.coefficients().begin(), model.coefficients().end(), out);                                    \
        std::copy(model.ages().begin(), model.ages().end(), ages);                                                   \
    }                                                                                                                \
    void support_copy_##suffix(void* from, void* to) {                                                               \
        Memory memory;                                                                                               \
        static_cast<Support<Real, K>*>(from)->model.archive(memory);                                                 \
        memory.giving = true;                                                                                        \
        static_cast<Support<Real, K>*>(to)->model.archive(memory);                                                   \
    }                                                                                                                \
    void support_scores_##suffix(void* support, const Real* rows, Index count, Index width, double* out) {           \
        for (Index t = 0; t < count; ++t) out[t] = support_score_##suffix(support, nullptr, rows + t * width, width); \
    }

#define HINGE_KNOWN(Real, suffix)                                                                                    \
    void* support_new_##suffix(int shape, double gamma, double coef0, int degree, Index budget, int removal) {       \
        return new Support<Real, hinge::Kernel>{                                                                     \
            hinge::KernelSupport<Real>(kernel_of(shape, gamma, coef0, degree), budget,                               \
                                       static_cast<hinge::Removal>(removal)),                                        \
            {}};                                                                                                     \
    }                                                                                                                \
    HINGE_SUPPORT(Real, hinge::Kernel, suffix)

HINGE_KNOWN(double, f64)
HINGE_KNOWN(float, f32)

void* support_new_given(int, double, double, int, Index budget, int removal) {
    return new Support<double, Overlap>{
        hinge::KernelSupport<double, Overlap>(Overlap{}, budget, static_cast<hinge::Removal>(removal)), {}};
}
HINGE_SUPPORT(double, Overlap, given)
}
