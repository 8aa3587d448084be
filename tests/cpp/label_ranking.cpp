// The solvers and geometries of the label rankers as C functions, for tests of what the public class does not show.
#include <variant>

#include "core/geometry/adaptive.hpp"
#include "core/geometry/entropy.hpp"
#include "core/geometry/squared.hpp"
#include "core/solve/balanced_tilted.hpp"

namespace {

using hinge::BalancedSimplex;
using hinge::Index;
using hinge::Step;
using hinge::Tilted;

using Geometry = std::variant<hinge::SquaredNorm<double>, hinge::Adaptive<double>, hinge::Entropy<double>,
                              hinge::SignedEntropy<double>>;

Geometry make(int kind) {
    if (kind == 0) return hinge::SquaredNorm<double>(0);
    if (kind == 1) return hinge::Adaptive<double>(0);
    if (kind == 2) return hinge::Entropy<double>(0);
    return hinge::SignedEntropy<double>(0);
}

struct Space {
    Geometry geometry;
    Index features = 0;
};

hinge::Row<double> row(const Space& space, const double* x) { return {nullptr, x, space.features, 0.0}; }

}  // namespace

extern "C" {

// The best alphas of one round where G is a log-partition: `atoms` values of x besides zero, their masses by output,
// the masses of zero. Returns the iterations of the interior point method, or -1 where the exact solver was used.
int best_alphas(int outputs, int atoms, const double* values, const double* masses, const double* rests,
                const std::int32_t* ups, int up_count, double gamma, double cap, int interior, double* alphas) {
    Tilted line;
    line.cap = cap;
    line.values.assign(values, values + atoms);
    line.masses.assign(masses, masses + outputs * atoms);
    line.rests.assign(rests, rests + outputs);
    for (Index y = 0; y < outputs; ++y) line.outputs.push_back(y);
    for (double v : line.values) line.largest = std::max(line.largest, std::abs(v));

    std::vector<double> scores(static_cast<std::size_t>(outputs)), up_scores;
    for (std::size_t y = 0; y < scores.size(); ++y) scores[y] = line.moments(y, 0.0).mean;
    const std::span<const Index> up(ups, static_cast<std::size_t>(up_count));
    std::vector<double> down_scores = scores;
    for (Index y : up) {
        up_scores.push_back(scores[static_cast<std::size_t>(y)]);
        down_scores[static_cast<std::size_t>(y)] = -std::numeric_limits<double>::infinity();
    }
    const auto lowest = std::min_element(up_scores.begin(), up_scores.end()) - up_scores.begin();
    const auto highest = std::max_element(down_scores.begin(), down_scores.end()) - down_scores.begin();
    const Index r = up[static_cast<std::size_t>(lowest)];
    const Index s = static_cast<Index>(highest);
    const double margin = scores[static_cast<std::size_t>(r)] - scores[static_cast<std::size_t>(s)];
    const BalancedSimplex<double> region{{r, s, margin, gamma}, up, up_scores, down_scores.data(), outputs};

    hinge::solve::Best<BalancedSimplex<double>, Tilted> solver;
    Step step;
    if (interior)
        solver.best_of_many_atoms(region, line, step);
    else
        solver.best(region, line, step);
    std::fill_n(alphas, outputs, 0.0);
    for (std::size_t i = 0; i < step.size(); ++i) alphas[step.outputs()[i]] = step.alphas()[i];
    return interior ? solver.iterations() : -1;
}

// A geometry without an intercept; kinds 0 to 3: squared norm, adaptive, entropy, signed entropy.
void* space_new(int kind, Index features, Index outputs) {
    auto* space = new Space{make(kind), features};
    std::visit([&](auto& it) { it.grow(features, outputs); }, space->geometry);
    return space;
}
void space_free(void* space) { delete static_cast<Space*>(space); }

double space_grow(void* handle, Index features, Index outputs) {
    auto* space = static_cast<Space*>(handle);
    space->features = features;
    return std::visit([&](auto& it) { return it.grow(features, outputs); }, space->geometry);
}

// theta += x alpha'; returns by how much the geometry says that the sum of all G rose.
double space_advance(void* handle, const double* x, const double* alphas, double r) {
    auto* space = static_cast<Space*>(handle);
    return std::visit(
        [&](auto& it) {
            const Index outputs = it.read().outputs();
            std::vector<double> scores(static_cast<std::size_t>(it.read().width()));
            it.score(row(*space, x), scores.data());
            Step step;
            for (Index y = 0; y < outputs; ++y)
                if (alphas[y] != 0) step.set(y, alphas[y]);
            it.measure(row(*space, x));
            it.line(row(*space, x), {1.0, 1.0, r}, 1.0);
            return it.advance(row(*space, x), step, scores.data());
        },
        space->geometry);
}

void space_scores(void* handle, const double* x, double* out) {
    auto* space = static_cast<Space*>(handle);
    std::visit(
        [&](auto& it) {
            std::vector<double> scores(static_cast<std::size_t>(it.read().width()));
            it.score(row(*space, x), scores.data());
            std::copy_n(scores.data(), it.read().outputs(), out);
        },
        space->geometry);
}

// Weights, output by output.
void space_weights(void* handle, double* out) {
    auto* space = static_cast<Space*>(handle);
    std::visit(
        [&](auto& it) {
            for (Index y = 0; y < it.read().outputs(); ++y)
                for (Index j = 0; j < space->features; ++j) *out++ = it.read().row(j)[y] * it.scale(y);
        },
        space->geometry);
}

// The sum of all G.
double space_conjugate(void* handle) {
    return std::visit([](auto& it) { return it.conjugate(); }, static_cast<Space*>(handle)->geometry);
}

// The most that the Hessian of G can be along x.
double space_curvature(void* handle, const double* x) {
    auto* space = static_cast<Space*>(handle);
    return std::visit([&](auto& it) { return it.measure(row(*space, x)); }, space->geometry);
}

// The mean, variance and log-partition of x along one output, tilted by a.
void space_along(void* handle, const double* x, Index output, double a, double* out) {
    auto* space = static_cast<Space*>(handle);
    std::visit(
        [&](auto& it) {
            it.measure(row(*space, x));
            auto& line = it.line(row(*space, x), {1.0, 1.0, 1.0}, 1.0);
            if constexpr (requires { line.moments(0, a); }) {
                it.load(output);
                const hinge::Moments at = line.moments(0, a);
                out[0] = at.log_partition, out[1] = at.mean, out[2] = at.variance;
            }
        },
        space->geometry);
}

}
