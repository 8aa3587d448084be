#include "../core/pairwise.hpp"

#include <nanobind/stl/tuple.h>

#include "ranker.hpp"

namespace {

using namespace nb::literals;

struct Pairwise {
    static hinge::Settings settings(double lambda, double lipschitz, double offset) {
        return {.C = 0, .gamma = 1, .r = 0, .lambda = lambda, .lipschitz = lipschitz, .offset = offset};
    }
};

template <class Real>
using PairwiseRanker = Ranker<Real, Pairwise>;

// Four columns of `count` numbers each.
class Columns {
public:
    explicit Columns(std::int64_t count) : count_(static_cast<std::size_t>(count)), values_(4 * count_) {}

    hinge::PairCounts view() {
        return {values_.data(), values_.data() + count_, values_.data() + 2 * count_, values_.data() + 3 * count_};
    }
    nb::object array() const {
        return new_array<double>({std::size_t{4}, count_},
                                 [&](double* to) { std::copy(values_.begin(), values_.end(), to); });
    }

private:
    std::size_t count_;
    std::vector<double> values_;
};

hinge::LabelRows label_rows(const std::optional<Vector<std::int64_t>>& start, const Vector<std::int32_t>& label) {
    return {start ? start->data() : nullptr, label.data(), false};
}

template <class Real>
nb::object count_pairs(const PairwiseRanker<Real>& self, const RowsView<Real>& x,
                       std::optional<Vector<std::int64_t>> start, Vector<std::int32_t> label, int threads) {
    Columns columns(x.rows().count);
    {
        nb::gil_scoped_release release;
        const auto lock = std::shared_lock(self.mutex());
        hinge::count_pairs(self.model(), x.rows(), label_rows(start, label), threads, columns.view());
    }
    return columns.array();
}

template <class Real>
nb::object count_pairs_of_scores(Matrix<Real> scores, std::optional<Vector<std::int64_t>> start,
                                 Vector<std::int32_t> label, int threads) {
    const auto rows = static_cast<std::int64_t>(scores.shape(0));
    Columns columns(rows);
    {
        nb::gil_scoped_release release;
        hinge::count_pairs(scores.data(), rows, static_cast<hinge::Index>(scores.shape(1)), label_rows(start, label),
                           threads, columns.view());
    }
    return columns.array();
}

template <class Real>
nb::object smoothed_pairs(nb::ndarray<Real, nb::ndim<2>, nb::c_contig, nb::device::cpu> scores,
                          std::optional<Vector<std::int64_t>> start, Vector<std::int32_t> label, double length) {
    const std::size_t rows = scores.shape(0);
    const auto outputs = static_cast<hinge::Index>(scores.shape(1));
    return new_array<double>({std::size_t{3}, rows}, [&](double* to) {
        hinge::smoothed_pairs(scores.data(), 0, static_cast<std::int64_t>(rows), outputs, outputs,
                              label_rows(start, label), length, {to, to + rows, to + 2 * rows});
    });
}

using Problem = hinge::PairProblem<double>;

template <class Given>
void make_problem(Problem* self, const RowsView<Given>& x, std::optional<Vector<std::int64_t>> start,
                  Vector<std::int32_t> label, std::optional<Vector<double>> weight, hinge::Index outputs) {
    new (self) Problem(x.rows(), label_rows(start, label), weight ? weight->data() : nullptr, outputs);
}

std::tuple<double, double, double> evaluate(Problem& self, Matrix<double> weights, double length, int threads,
                                            nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu> gradient) {
    for (const auto& shape : {std::pair(weights.shape(0), weights.shape(1)), {gradient.shape(0), gradient.shape(1)}})
        if (shape != std::pair(static_cast<std::size_t>(self.features()), static_cast<std::size_t>(self.width())))
            throw nb::value_error("weights and gradient must have the problem's shape");
    nb::gil_scoped_release release;
    const Problem::Sums sums = self.evaluate(weights.data(), length, threads, gradient.data());
    return {sums.smoothed, sums.hinge, sums.betas};
}

template <class Real>
void bind(nb::module_& m, const char* name) {
    using R = PairwiseRanker<Real>;
    auto type = nb::class_<R>(m, name, "A label ranker by pairs: outputs are numbered, rows are numbers.");
    type.def(
            "__init__",
            [](R* self, const std::string& rule, bool intercept, bool average) {
                auto model = hinge::make_pairwise<Real>(rule, intercept, average);
                if (!model) throw nb::value_error(("there is no rule " + rule).c_str());
                new (self) R(std::move(model), intercept);
            },
            "rule"_a, "intercept"_a, "average"_a)
        .def("count_pairs", &count_pairs<Real>, "x"_a, "start"_a.none(), "label"_a, "threads"_a,
             "By row the sum of the hinges, wrong pairs, those of them that tie, and all pairs; (4, rows).")
        .def("sum_of_squares", [](const R& self) {
            const auto lock = self.reading();
            double sum = 0;
            for (hinge::Index j = self.intercept() ? -1 : 0; j < self.model().features(); ++j)
                for (hinge::Index y = 0; y < self.model().outputs(); ++y)
                    sum += self.model().weight(j, y) * self.model().weight(j, y);
            return sum;
        });
    bind_ranker(type);
    m.def("count_pairs", &count_pairs_of_scores<Real>, "scores"_a.noconvert(), "start"_a.none(), "label"_a,
          "threads"_a, "By row the sum of the hinges, wrong pairs, those of them that tie, and all pairs; (4, rows).");
    m.def("smoothed_pairs", &smoothed_pairs<Real>, "scores"_a.noconvert(), "start"_a.none(), "label"_a, "length"_a,
          "By row the mean hinge smoothed and not, and the mean slope; (3, rows). Scores become the slopes along them.");
}

}  // namespace

void bind_pairwise(nb::module_& m) {
    bind<float>(m, "PairwiseRankerFloat32");
    bind<double>(m, "PairwiseRankerFloat64");
    nb::class_<Problem>(m, "PairProblem", "The smoothed mean hinge over the pairs of a data set, and its gradient.")
        .def("__init__", &make_problem<float>, "x"_a, "start"_a.none(), "label"_a, "weight"_a.none(), "outputs"_a)
        .def("__init__", &make_problem<double>, "x"_a, "start"_a.none(), "label"_a, "weight"_a.none(), "outputs"_a)
        .def_prop_ro("features", &Problem::features)
        .def_prop_ro("width", &Problem::width)
        .def("columns",
             [](const Problem& self) {
                 return new_array<hinge::Index>({self.columns().size()}, [&](hinge::Index* to) {
                     std::copy(self.columns().begin(), self.columns().end(), to);
                 });
             },
             "The features that occur; weights have a row for each, after that of the constant feature.")
        .def("evaluate", &evaluate, "weights"_a, "length"_a, "threads"_a, "gradient"_a.noconvert(),
             "The smoothed hinge, the hinge and the slopes' mean; the gradient of the first is filled in.");
}
