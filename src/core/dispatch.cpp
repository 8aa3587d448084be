// Chooses, once, the widest instruction set that the processor has; HINGE_SIMD=baseline|avx2|avx512 lowers it.
#include <cstdlib>
#include <string_view>

#include "kernels.hpp"

namespace hinge {

#define HINGE_DECLARE(target)                   \
    struct table_##target {                     \
        static const Kernels<float> f32;        \
        static const Kernels<double> f64;       \
        static const ExpKernel exponential;     \
        static const LogKernel logarithm;       \
    };

HINGE_DECLARE(baseline)
#if defined(HINGE_X86)
HINGE_DECLARE(avx2)
HINGE_DECLARE(avx512)
#endif

namespace {

struct Choice {
    const Kernels<float>* f32;
    const Kernels<double>* f64;
    ExpKernel exponential;
    LogKernel logarithm;
};

template <class Table>
Choice choice() {
    return {&Table::f32, &Table::f64, Table::exponential, Table::logarithm};
}

Choice choose() {
    const char* wish = std::getenv("HINGE_SIMD");
    const std::string_view most = wish ? wish : "";
    if (most == "baseline") return choice<table_baseline>();
#if defined(HINGE_X86)
    __builtin_cpu_init();
    const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw");
    if (avx512 && most != "avx2") return choice<table_avx512>();
    if (__builtin_cpu_supports("avx2")) return choice<table_avx2>();
#endif
    return choice<table_baseline>();
}

const Choice& chosen() {
    static const Choice once = choose();
    return once;
}

}  // namespace

template <>
const Kernels<float>& kernels<float>() {
    return *chosen().f32;
}
template <>
const Kernels<double>& kernels<double>() {
    return *chosen().f64;
}
ExpKernel exp_kernel() { return chosen().exponential; }
LogKernel log_kernel() { return chosen().logarithm; }

}  // namespace hinge
