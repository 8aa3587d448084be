#include <nanobind/stl/tuple.h>

#include <vector>

#include "../core/multiclass.hpp"
#include "../core/solve/class_blocks.hpp"
#include "ranker.hpp"

namespace {

using hinge::Index;

struct Multiclass;

template <class Real>
using Model = Ranker<Real, Multiclass>;

// From zero weights: the weights of the support vector machine. Returns passes, primal and dual value, sum of C hinge.
template <class Real>
std::tuple<int, double, double, double> solve(Model<Real>& self, const RowsView<Real>& x, Vector<std::int32_t> label,
                                              Vector<double> caps, Matrix<double> cost, bool by_row, double tolerance,
                                              int passes) {
    const double* costs = cost.data();
    const auto width = static_cast<std::int64_t>(cost.shape(1));
    const std::int32_t* labels = label.data();
    const double* C = caps.data();
    nb::gil_scoped_release release;
    const std::unique_lock lock(self.mutex());
    hinge::Linear<Real>* linear = self.model().written();
    hinge::solve::ClassBlocks<Real> blocks(
        x.rows(), labels, C,
        [=](std::int64_t i) { return costs + (by_row ? i : std::int64_t{labels[i]}) * width; }, *linear);
    const hinge::solve::Solved done = blocks.solve(tolerance, passes);
    return {done.passes, done.primal, done.dual, done.hinge};
}

// The weights as a whole: features by outputs, the constant feature first where there is one.
template <class Real>
void write(Model<Real>& self, Matrix<double> weights) {
    const auto lock = self.writing();
    hinge::Weights<Real>& to = self.model().written()->weights();
    const double* from = weights.data();
    for (Index j = -to.reserved(); j < to.features(); ++j)
        for (Index y = 0; y < to.outputs(); ++y) to.row(j)[y] = static_cast<Real>(*from++);
}

template <class Real>
void bind(nb::module_& m, const char* name) {
    using R = Model<Real>;
    using namespace nb::literals;
    auto type = nb::class_<R>(m, name, "Classes with costs: outputs are numbered, rows are numbers.");
    type.def(
        "__init__",
        [](R* self, const std::string& rule, bool intercept, bool average) {
            auto model = hinge::make_multiclass<Real>(rule, intercept, average);
            if (!model) throw nb::value_error(("there is no rule " + rule).c_str());
            new (self) R(std::move(model), intercept);
        },
        "rule"_a, "intercept"_a, "average"_a);
    bind_ranker(type);
    type.def("set_cost",
             [](R& self, Matrix<double> by_truth) {
                 const auto lock = self.writing();
                 const auto k = by_truth.shape(0);
                 self.model().set_cost({by_truth.data(), by_truth.data() + k * k}, static_cast<Index>(k));
             },
             "by_truth"_a)
        .def("solve", &solve<Real>, "x"_a, "label"_a, "caps"_a, "cost"_a, "by_row"_a, "tolerance"_a, "passes"_a)
        .def("write", &write<Real>, "weights"_a);
}

}  // namespace

void bind_multiclass(nb::module_& m) {
    bind<float>(m, "MulticlassFloat32");
    bind<double>(m, "MulticlassFloat64");
}
