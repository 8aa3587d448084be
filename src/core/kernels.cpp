// Compiled once per instruction set, with HINGE_TARGET naming it and HINGE_VECTOR the bytes of its registers.
// Nothing from the standard library is used in a loop here: an inline function compiled for a newer processor must
// not be the one that the linker keeps for all.
#include "kernels.hpp"

#include "block_products.hpp"
#include "elementary.hpp"
#include "vectors.hpp"

#define HINGE_CONCAT(a, b) a##b
#define HINGE_NAME(a, b) HINGE_CONCAT(a, b)
#define HINGE_TEXT(a) #a
#define HINGE_STRING(a) HINGE_TEXT(a)

namespace hinge {
namespace {

constexpr int register_bytes = HINGE_VECTOR;
constexpr Index ahead = 6;  // rows of the matrix asked for before they are needed

template <class Real>
inline void prefetch_row(const Real* row, Index bytes) {
    for (Index at = 0; at < bytes; at += 64) __builtin_prefetch(reinterpret_cast<const char*>(row) + at);
}

// Scores of `N` vectors of `Bytes` bytes that stand side by side in every row; they stay in registers throughout.
template <class Real, int Bytes, int N>
void score_block(const Real* origin, std::ptrdiff_t stride, const Row<Real>& x, Real* out) {
    using V = Vector<Real, Bytes>;
    V sum[N];
    for (int m = 0; m < N; ++m) sum[m] = V{};
    if (x.constant != Real(0)) {
        const V* row = reinterpret_cast<const V*>(origin - stride);
        for (int m = 0; m < N; ++m) sum[m] += x.constant * row[m];
    }
    const auto add = [&](Index feature, Real value) {
        const V* row = reinterpret_cast<const V*>(origin + feature * stride);
        for (int m = 0; m < N; ++m) sum[m] += value * row[m];
    };
    if (x.index) {
        const Index far = x.count > ahead ? x.count - ahead : 0;
        for (Index i = 0; i < far; ++i) {
            prefetch_row(origin + x.index[i + ahead] * stride, N * Bytes);
            add(x.index[i], x.value[i]);
        }
        for (Index i = far; i < x.count; ++i) add(x.index[i], x.value[i]);
    } else {
        for (Index j = 0; j < x.count; ++j) add(j, x.value[j]);
    }
    V* to = reinterpret_cast<V*>(out);
    for (int m = 0; m < N; ++m) to[m] = sum[m];
}

template <class Real, int Bytes, int Most>
void score_up_to(int vectors, const Real* origin, std::ptrdiff_t stride, const Row<Real>& x, Real* out) {
    if constexpr (Most > 0) {
        if (vectors == Most) return score_block<Real, Bytes, Most>(origin, stride, x, out);
        score_up_to<Real, Bytes, Most - 1>(vectors, origin, stride, x, out);
    }
}

template <class Real>
void score(const Real* origin, std::ptrdiff_t stride, Index width, Row<Real> x, Real* out) {
    constexpr int lanes = register_bytes / static_cast<int>(sizeof(Real));
    constexpr int most = 8;
    if (width >= lanes) {
        for (Index at = 0; at < width;) {
            const Index left = (width - at) / lanes;
            const int vectors = left < most ? static_cast<int>(left) : most;
            score_up_to<Real, register_bytes, most>(vectors, origin + at, stride, x, out + at);
            at += static_cast<Index>(vectors) * lanes;
        }
        return;
    }
    switch (width) {
        case 1: return score_block<Real, sizeof(Real), 1>(origin, stride, x, out);
        case 2: return score_block<Real, 2 * sizeof(Real), 1>(origin, stride, x, out);
        case 4: return score_block<Real, 4 * sizeof(Real), 1>(origin, stride, x, out);
        case 8: return score_block<Real, 8 * sizeof(Real), 1>(origin, stride, x, out);
        default: return;
    }
}

// A negative zero counts as set: adding it changes nothing.
template <class Real, int Bytes>
bool any_set(const Real* values) {
    using Word [[gnu::may_alias]] = unsigned int;
    const Word* words = reinterpret_cast<const Word*>(values);
    Word any = 0;
    for (int m = 0; m < Bytes / static_cast<int>(sizeof(Word)); ++m) any |= words[m];
    return any != 0;
}

// Adds `N` neighbouring vectors times a factor, which stay in registers, to every row.
template <class Real, int Bytes, int N>
void axpy_block(Real* origin, std::ptrdiff_t stride, const Row<Real>& x, const Real* step, Real factor) {
    using V = Vector<Real, Bytes>;
    V by[N];
    for (int m = 0; m < N; ++m) by[m] = factor * reinterpret_cast<const V*>(step)[m];
    const auto add = [&](Index feature, Real value) {
        V* row = reinterpret_cast<V*>(origin + feature * stride);
        for (int m = 0; m < N; ++m) row[m] += value * by[m];
    };
    if (x.constant != Real(0)) add(-1, x.constant);
    for (Index i = 0; i < x.count; ++i)
        if (x.value[i] != Real(0)) add(x.feature(i), x.value[i]);
}

template <class Real, int Bytes, int Most>
void axpy_up_to(int vectors, Real* origin, std::ptrdiff_t stride, const Row<Real>& x, const Real* step, Real factor) {
    if constexpr (Most > 0) {
        if (vectors == Most) return axpy_block<Real, Bytes, Most>(origin, stride, x, step, factor);
        axpy_up_to<Real, Bytes, Most - 1>(vectors, origin, stride, x, step, factor);
    }
}

// Only the vectors of a row in which something moves are read and written.
template <class Real, int Bytes>
void axpy_with(Real* origin, std::ptrdiff_t stride, Index width, const Row<Real>& x, const Real* step,
               const Real* factor, Index count) {
    constexpr Index lanes = Bytes / static_cast<int>(sizeof(Real));
    constexpr int together = 8;
    for (Index at = 0; at < width;) {
        int run = 0;
        while (run < together && at + run * lanes < width && any_set<Real, Bytes>(step + at + run * lanes)) ++run;
        for (Index b = 0; b < count; ++b)
            if (factor[b] != Real(0))
                axpy_up_to<Real, Bytes, together>(run, origin + b * width + at, stride, x, step + at, factor[b]);
        at += run == together ? run * lanes : (run + 1) * lanes;  // the next one does not move, or is none
    }
}

template <class Real>
void axpy_blocks(Real* origin, std::ptrdiff_t stride, Index width, Row<Real> x, const Real* step, const Real* factor,
                 Index count) {
    constexpr Index lanes = register_bytes / static_cast<int>(sizeof(Real));
    if (width >= lanes) return axpy_with<Real, register_bytes>(origin, stride, width, x, step, factor, count);
    switch (width) {
        case 1: return axpy_with<Real, sizeof(Real)>(origin, stride, width, x, step, factor, count);
        case 2: return axpy_with<Real, 2 * sizeof(Real)>(origin, stride, width, x, step, factor, count);
        case 4: return axpy_with<Real, 4 * sizeof(Real)>(origin, stride, width, x, step, factor, count);
        case 8: return axpy_with<Real, 8 * sizeof(Real)>(origin, stride, width, x, step, factor, count);
        default: return;
    }
}

template <class Real>
void axpy(Real* origin, std::ptrdiff_t stride, Index width, Row<Real> x, const Real* step) {
    const Real once = 1;
    axpy_blocks(origin, stride, width, x, step, &once, 1);
}

template <class Real>
void mix(const Real* blocks, Index width, const Real* factor, Index count, Real* out) {
    constexpr Index lanes = register_bytes / static_cast<int>(sizeof(Real));
    using V = Vector<Real, register_bytes>;
    Index at = 0;
    for (; at + lanes <= width; at += lanes) {
        V sum = factor[0] * *reinterpret_cast<const V*>(blocks + at);
        for (Index b = 1; b < count; ++b)
            if (factor[b] != Real(0)) sum += factor[b] * *reinterpret_cast<const V*>(blocks + b * width + at);
        *reinterpret_cast<V*>(out + at) = sum;
    }
    for (; at < width; ++at) {
        out[at] = factor[0] * blocks[at];
        for (Index b = 1; b < count; ++b)
            if (factor[b] != Real(0)) out[at] += factor[b] * blocks[b * width + at];
    }
}

// Sums run in 16 lanes, whatever the width of a register; a vector type of 16 lanes that fills several registers would
// be compared and chosen from one by one, so the registers are written out.
constexpr Index sum_lanes = 16;

template <class Real>
struct LaneSums {
    static constexpr Index wide = register_bytes / static_cast<int>(sizeof(Real));
    static constexpr Index registers = sum_lanes / wide;
    using V = Vector<Real, register_bytes>;

    V sum[registers]{};
    alignas(64) Real lane[sum_lanes];

    void spill() {
        for (Index r = 0; r < registers; ++r) *reinterpret_cast<V*>(lane + r * wide) = sum[r];
    }
    double total() const {
        double all = 0;
        for (Index m = 0; m < sum_lanes; ++m) all += static_cast<double>(lane[m]);
        return all;
    }
    Real folded() {
        for (Index half = sum_lanes / 2; half > 0; half /= 2)
            for (Index m = 0; m < half; ++m) lane[m] += lane[m + half];
        return lane[0];
    }
};

template <class Real>
Real dot(const Real* origin, Row<Real> x) {
    using Sums = LaneSums<Real>;
    using V = typename Sums::V;
    Sums sums;
    Index i = 0;
    if (!x.index)
        for (; i + sum_lanes <= x.count; i += sum_lanes)
            for (Index r = 0; r < Sums::registers; ++r)
                sums.sum[r] += reinterpret_cast<const V*>(x.value + i)[r] * reinterpret_cast<const V*>(origin + i)[r];
    sums.spill();
    for (; i < x.count; ++i) {
        const Index j = x.feature(i);
        sums.lane[j & (sum_lanes - 1)] += x.value[i] * origin[j];
    }
    const Real constant = x.constant != Real(0) ? x.constant * origin[-1] : Real(0);
    return constant + sums.folded();
}

template <class Real>
Index argmax(const Real* values, Index count) {
    constexpr Index lanes = register_bytes / static_cast<int>(sizeof(Real));
    using V = Vector<Real, register_bytes>;
    Real largest = values[0];
    Index i = 0;
    if (count >= lanes) {
        V best = *reinterpret_cast<const V*>(values);
        for (i = lanes; i + lanes <= count; i += lanes) {
            const V next = *reinterpret_cast<const V*>(values + i);
            best = next > best ? next : best;
        }
        largest = best[0];
        for (Index m = 1; m < lanes; ++m) largest = best[m] > largest ? best[m] : largest;
    }
    for (; i < count; ++i) largest = values[i] > largest ? values[i] : largest;
    for (Index m = 0; m < count; ++m)
        if (values[m] == largest) return m;
    return 0;
}

template <class Value>
Value clipped(Value b) {
    const Value zero{}, one = zero + 1;
    b = b > zero ? b : zero;
    return b < one ? b : one;
}

template <class Real>
void ramp(const Real* values, Index width, const Real* from, Index count, Real slope, Real* many, Real* few) {
    using Sums = LaneSums<Real>;
    using V = typename Sums::V;
    const Index whole = width / sum_lanes * sum_lanes;
    for (Index i = 0; i < count; ++i) {
        const Real at = from[i];
        Sums sums;
        for (Index m = 0; m < whole; m += sum_lanes)
            for (Index r = 0; r < Sums::registers; ++r) {
                const V b = clipped<V>((*reinterpret_cast<const V*>(values + m + r * Sums::wide) - at) * slope);
                *reinterpret_cast<V*>(many + m + r * Sums::wide) += b;
                sums.sum[r] += b;
            }
        sums.spill();
        for (Index m = whole; m < width; ++m) {
            const Real b = clipped<Real>((values[m] - at) * slope);
            many[m] += b;
            sums.lane[m & (sum_lanes - 1)] += b;
        }
        few[i] = sums.folded();
    }
}

template <class Real>
double ramp_squares(const Real* values, Index width, Real from, Real slope) {
    using Sums = LaneSums<Real>;
    using V = typename Sums::V;
    const Index whole = width / sum_lanes * sum_lanes;
    Sums sums;
    for (Index m = 0; m < whole; m += sum_lanes)
        for (Index r = 0; r < Sums::registers; ++r) {
            const V b = clipped<V>((*reinterpret_cast<const V*>(values + m + r * Sums::wide) - from) * slope);
            sums.sum[r] += b * b;
        }
    sums.spill();
    for (Index m = whole; m < width; ++m) {
        const Real b = clipped<Real>((values[m] - from) * slope);
        sums.lane[m & (sum_lanes - 1)] += b * b;
    }
    return sums.total();
}

template <class Real>
HingeSum hinges(const Real* values, Index width, Real from, Real level) {
    using Sums = LaneSums<Real>;
    using V = typename Sums::V;
    const Index whole = width / sum_lanes * sum_lanes;
    const V zero{}, one = zero + Real(1);
    Sums sums, counts;
    for (Index m = 0; m < whole; m += sum_lanes)
        for (Index r = 0; r < Sums::registers; ++r) {
            const V value = *reinterpret_cast<const V*>(values + m + r * Sums::wide);
            const V over = value - from;
            sums.sum[r] += over > zero ? over : zero;
            counts.sum[r] += value >= level ? one : zero;
        }
    sums.spill();
    counts.spill();
    for (Index m = whole; m < width; ++m) {
        const Real over = values[m] - from;
        sums.lane[m & (sum_lanes - 1)] += over > Real(0) ? over : Real(0);
        counts.lane[m & (sum_lanes - 1)] += values[m] >= level ? Real(1) : Real(0);
    }
    return {sums.total(), static_cast<Index>(counts.total())};
}

template <class Real, int Bytes>
void step_with(const Real* before, Index count, const Real* rows, std::ptrdiff_t stride, Index width, Real* best,
               Index* from) {
    using V = Vector<Real, Bytes>;
    using Mask = decltype(V{} > V{});
    constexpr Index lanes = Bytes / static_cast<int>(sizeof(Real));
    for (Index at = 0; at < width; at += lanes) {
        V largest = before[0] + *reinterpret_cast<const V*>(rows + at);
        Mask where{};
        for (Index p = 1; p < count; ++p) {
            const V next = before[p] + *reinterpret_cast<const V*>(rows + p * stride + at);
            const Mask above = next > largest;
            largest = above ? next : largest;
            where = above ? Mask{} + p : where;
        }
        *reinterpret_cast<V*>(best + at) = largest;
        for (Index m = 0; m < lanes; ++m) from[at + m] = static_cast<Index>(where[m]);
    }
}

template <class Real>
void step(const Real* before, Index count, const Real* rows, std::ptrdiff_t stride, Index width, Real* best,
          Index* from) {
    constexpr Index lanes = register_bytes / static_cast<int>(sizeof(Real));
    if (width >= lanes) return step_with<Real, register_bytes>(before, count, rows, stride, width, best, from);
    switch (width) {
        case 1: return step_with<Real, sizeof(Real)>(before, count, rows, stride, width, best, from);
        case 2: return step_with<Real, 2 * sizeof(Real)>(before, count, rows, stride, width, best, from);
        case 4: return step_with<Real, 4 * sizeof(Real)>(before, count, rows, stride, width, best, from);
        case 8: return step_with<Real, 8 * sizeof(Real)>(before, count, rows, stride, width, best, from);
        default: return;
    }
}

void exponentials(double* values, std::ptrdiff_t count) {
    for (std::ptrdiff_t i = 0; i < count; ++i) values[i] = bounded_exp(values[i]);
}

void logarithms(double* values, std::ptrdiff_t count) {
    for (std::ptrdiff_t i = 0; i < count; ++i) {
        const double x = values[i] < 0x1p-1022 ? 0x1p-1022 : values[i];
        values[i] = detail::log_of_normal(x, 0);
    }
}

void powers(double* values, std::ptrdiff_t count, double gamma, double coef0, int degree) {
    constexpr std::ptrdiff_t lanes = register_bytes / 8;
    using V = Vector<double, register_bytes>;
    std::ptrdiff_t i = 0;
    for (; i + lanes <= count; i += lanes) {
        V* at = reinterpret_cast<V*>(values + i);
        const V base = gamma * *at + coef0;
        V power = base;
        for (int d = 1; d < degree; ++d) power *= base;
        *at = power;
    }
    for (; i < count; ++i) {
        const double base = gamma * values[i] + coef0;
        values[i] = base;
        for (int d = 1; d < degree; ++d) values[i] *= base;
    }
}

double sum_of_lanes(const double* lane) {
    return ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

double weighted_sum(const double* a, const double* values, std::ptrdiff_t count) {
    constexpr std::ptrdiff_t lanes = 8, wide = register_bytes / 8, registers = lanes / wide;
    using V = Vector<double, register_bytes>;
    V sum[registers]{};
    std::ptrdiff_t i = 0;
    for (; i + lanes <= count; i += lanes)
        for (std::ptrdiff_t r = 0; r < registers; ++r)
            sum[r] += reinterpret_cast<const V*>(a + i)[r] * reinterpret_cast<const V*>(values + i)[r];
    alignas(64) double lane[lanes];
    for (std::ptrdiff_t r = 0; r < registers; ++r) reinterpret_cast<V*>(lane)[r] = sum[r];
    for (std::ptrdiff_t m = 0; i + m < count; ++m) lane[m] += a[i + m] * values[i + m];
    return sum_of_lanes(lane);
}

// Four sums at once, in eight lanes that as many registers hold as it takes.
struct CappedLanes {
    static constexpr std::ptrdiff_t lanes = 8, parts = 64 / register_bytes, width = lanes / parts;
    using V = Vector<double, register_bytes>;

    double shift, cap;
    V sum[parts] = {}, slope[parts] = {}, above[parts] = {}, full[parts] = {};

    void respond(const double* losses, const double* inverses, double* steps) {
        const V zero{}, one = zero + 1.0, most = zero + cap;
        for (std::ptrdiff_t p = 0; p < parts; ++p) {
            const V left = *reinterpret_cast<const V*>(losses + p * width) - shift;
            const V inverse = *reinterpret_cast<const V*>(inverses + p * width);
            const V free = left * inverse;
            const V least = free < most ? free : most;
            const V step = left > zero ? least : zero;
            const V is_above = left > zero ? one : zero;
            const V is_full = free < most ? zero : is_above;
            sum[p] += step;
            slope[p] += is_above > is_full ? inverse : zero;
            above[p] += is_above;
            full[p] += is_full;
            *reinterpret_cast<V*>(steps + p * width) = step;
        }
    }

    static double total(const V* values) {
        alignas(64) double lane[lanes];
        for (std::ptrdiff_t p = 0; p < parts; ++p) *reinterpret_cast<V*>(lane + p * width) = values[p];
        return sum_of_lanes(lane);
    }
    CappedSum totals() const {
        return {total(sum), total(slope), static_cast<std::ptrdiff_t>(total(above)),
                static_cast<std::ptrdiff_t>(total(full))};
    }
};

CappedSum capped_steps(const double* losses, const double* inverses, std::ptrdiff_t count, double shift, double cap,
                       double* steps) {
    constexpr std::ptrdiff_t lanes = CappedLanes::lanes;
    CappedLanes all{shift, cap};
    std::ptrdiff_t i = 0;
    for (; i + lanes <= count; i += lanes) all.respond(losses + i, inverses + i, steps + i);
    if (i < count) {  // what is missing has no loss
        double loss[lanes], inverse[lanes] = {}, step[lanes];
        for (std::ptrdiff_t m = 0; m < lanes; ++m) loss[m] = i + m < count ? losses[i + m] : shift;
        for (std::ptrdiff_t m = 0; i + m < count; ++m) inverse[m] = inverses[i + m];
        all.respond(loss, inverse, step);
        for (std::ptrdiff_t m = 0; i + m < count; ++m) steps[i + m] = step[m];
    }
    return all.totals();
}

}  // namespace

#define HINGE_TABLE HINGE_NAME(table_, HINGE_TARGET)
struct HINGE_TABLE {
    static const Kernels<float> f32;
    static const Kernels<double> f64;
    static const ExpKernel exponential;
    static const LogKernel logarithm;
};
const Kernels<float> HINGE_TABLE::f32{
    score<float>,
    axpy<float>,
    axpy_blocks<float>,
    mix<float>,
    dot<float>,
    argmax<float>,
    ramp<float>,
    ramp_squares<float>,
    hinges<float>,
    block_products<float, float, register_bytes>,
    block_products<float, double, register_bytes>,
    step<float>,
    block_products_of_many<float, float, register_bytes>,
    block_products_of_many<float, double, register_bytes>,
    powers,
    weighted_sum,
    capped_steps,
    HINGE_STRING(HINGE_TARGET)};
const Kernels<double> HINGE_TABLE::f64{
    score<double>,
    axpy<double>,
    axpy_blocks<double>,
    mix<double>,
    dot<double>,
    argmax<double>,
    ramp<double>,
    ramp_squares<double>,
    hinges<double>,
    block_products<double, double, register_bytes>,
    block_products<double, double, register_bytes>,
    step<double>,
    block_products_of_many<double, double, register_bytes>,
    block_products_of_many<double, double, register_bytes>,
    powers,
    weighted_sum,
    capped_steps,
    HINGE_STRING(HINGE_TARGET)};
const ExpKernel HINGE_TABLE::exponential = exponentials;
const LogKernel HINGE_TABLE::logarithm = logarithms;

}  // namespace hinge
