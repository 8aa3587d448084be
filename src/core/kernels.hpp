// The inner loops that are compiled once per instruction set and chosen at run time.
//
// Every set gives the same bits: with several outputs each output sums in feature order, whatever the vector width;
// with one output the sum runs in 16 lanes chosen by the feature's index, so that a dense row equals the sparse row
// of its non-zero entries. No fused multiply-add anywhere.
#pragma once

#include <cstddef>

#include "rows.hpp"

namespace hinge {

struct HingeSum {
    double sum;
    Index count;
};

struct CappedSum {
    double sum;
    double slope;  // by which it falls, a unit of the shift
    std::ptrdiff_t above, full;
};

template <class Real>
struct Kernels {
    // out[0..width) = sum_i x_i row(i)[0..width)
    void (*score)(const Real* origin, std::ptrdiff_t stride, Index width, Row<Real> x, Real* out);
    // row(i)[0..width) += x_i step[0..width)
    void (*axpy)(Real* origin, std::ptrdiff_t stride, Index width, Row<Real> x, const Real* step);
    // row(i)[b width ..] += x_i factor[b] step[0..width), for `count` blocks of `width` that stand side by side in a row
    void (*axpy_blocks)(Real* origin, std::ptrdiff_t stride, Index width, Row<Real> x, const Real* step,
                        const Real* factor, Index count);
    // out[m] = sum_b factor[b] blocks[b width + m], in the order of b; of blocks after the first those with a factor
    void (*mix)(const Real* blocks, Index width, const Real* factor, Index count, Real* out);
    // <row of one output, x>
    Real (*dot)(const Real* origin, Row<Real> x);
    // Index of the largest of values[0..count), the lowest at ties.
    Index (*argmax)(const Real* values, Index count);
    // b_mi = clip((values[m] - from[i]) slope, 0, 1): many[m] += sum_i b_mi, few[i] = sum_m b_mi; an infinite slope
    // makes it 1 where values[m] > from[i]. `from` and `few` hold `count` values.
    void (*ramp)(const Real* values, Index width, const Real* from, Index count, Real slope, Real* many, Real* few);
    // The sum over m of clip((values[m] - from) slope, 0, 1)^2.
    double (*ramp_squares)(const Real* values, Index width, Real from, Real slope);
    // The sum of [values[m] - from]+, and how many values are at least `level`.
    HingeSum (*hinges)(const Real* values, Index width, Real from, Real level);
    // out[s] = <x_s, x> for rows that stand in blocks, summed in their own type or in float64; see block_products.hpp
    void (*products)(const Real* blocks, Index width, Index rows, Row<Real> x, double* out);
    void (*long_products)(const Real* blocks, Index width, Index rows, Row<Real> x, double* out);
    // For each m: best[m] = max_p before[p] + rows[p * stride + m], and the lowest such p; `count` of them.
    void (*step)(const Real* before, Index count, const Real* rows, std::ptrdiff_t stride, Index width, Real* best,
                 Index* from);
    // The same for several dense rows x, whose products stand `stride` apart.
    void (*many_products)(const Real* blocks, Index width, Index rows, const Row<Real>* x, Index count, double* out,
                          std::ptrdiff_t stride);
    void (*many_long_products)(const Real* blocks, Index width, Index rows, const Row<Real>* x, Index count,
                               double* out, std::ptrdiff_t stride);
    // values[i] = (gamma values[i] + coef0)^degree, from the left
    void (*powers)(double* values, std::ptrdiff_t count, double gamma, double coef0, int degree);
    // sum_i a[i] values[i], in eight lanes by i
    double (*weighted_sum)(const double* a, const double* values, std::ptrdiff_t count);
    // steps[i] = clip((losses[i] - shift) inverses[i], 0, cap), summed in eight lanes by i; how many losses exceed the
    // shift, and how many steps are at the cap.
    CappedSum (*capped_steps)(const double* losses, const double* inverses, std::ptrdiff_t count, double shift,
                              double cap, double* steps);
    const char* name;
};

// values[i] = exp(values[i]), clamped to exp(+-708)
using ExpKernel = void (*)(double* values, std::ptrdiff_t count);
// values[i] = log(values[i]) of normal numbers; what is subnormal or zero counts as the least of them
using LogKernel = void (*)(double* values, std::ptrdiff_t count);

template <class Real>
const Kernels<Real>& kernels();
template <class Real, class Sum>
auto products_kernel() {
    return sizeof(Sum) > sizeof(Real) ? kernels<Real>().long_products : kernels<Real>().products;
}
template <class Real, class Sum>
auto many_products_kernel() {
    return sizeof(Sum) > sizeof(Real) ? kernels<Real>().many_long_products : kernels<Real>().many_products;
}
ExpKernel exp_kernel();
LogKernel log_kernel();

}  // namespace hinge
