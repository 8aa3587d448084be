#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <cmath>
#include <optional>
#include <stdexcept>

#include "../core/ordinal.hpp"
#include "rows.hpp"
#include "shared_model.hpp"

namespace {

using hinge::Index;

// A Python function of two rows, as 1-d arrays of float64. Whoever holds the model holds the function.
template <class Real>
struct GivenKernel {
    nb::handle function;
    Index width = 0;

    void operator()(const hinge::SupportRows<Real>& rows, const hinge::Row<Real>& x,
                    hinge::SupportScratch<Real>& scratch) const {
        const nb::gil_scoped_acquire gil;
        const auto count = static_cast<std::size_t>(rows.size());
        scratch.values.resize(count);
        if (count == 0) return;
        const nb::object other = as_array(x);
        for (std::size_t s = 0; s < count; ++s)
            scratch.values[s] = between(as_array(rows.row(static_cast<Index>(s), scratch.row)), other);
    }
    double own(const hinge::Row<Real>& x) const {
        const nb::gil_scoped_acquire gil;
        const nb::object row = as_array(x);
        return between(row, row);
    }

private:
    nb::object as_array(const hinge::Row<Real>& x) const {
        return new_array<double>({static_cast<std::size_t>(width)}, [&](double* to) {
            std::fill_n(to, width, 0.0);
            x.each([&](Index j, Real value) {
                if (j < width) to[j] = static_cast<double>(value);
            });
        });
    }
    double between(const nb::object& a, const nb::object& b) const {
        const nb::object out = function(a, b);
        const double value = PyFloat_AsDouble(out.ptr());
        if (value == -1.0 && PyErr_Occurred()) {
            PyErr_Clear();
            throw nb::type_error(
                (std::string("the kernel returned ") + nb::repr(out).c_str() + "; it must return a number").c_str());
        }
        if (!std::isfinite(value))
            throw std::domain_error(std::string("the kernel returned ") + nb::repr(out).c_str() +
                                    "; it must return a finite number");
        return value;
    }
};

template <class Real>
using Model = std::unique_ptr<hinge::OrdinalModel<Real>>;

template <class Real, class Rule, class Geometry>
Model<Real> by_feature(double step, double eta, double margin, bool rescale, bool average) {
    using Learner = hinge::OrdinalLearner<Rule, Geometry>;
    return std::make_unique<Learner>(typename Learner::Options{step, eta, margin, rescale, average});
}

template <class Real>
Model<Real> make(const std::string& kind, double step, double eta, double margin, bool rescale, bool average) {
    using namespace hinge;
    if (kind == "constant")
        return by_feature<Real, Steady, SquaredNorm<Real>>(step, eta, margin, rescale, average);
    if (kind == "sqrt") return by_feature<Real, Decreasing, NormBall<Real>>(step, eta, margin, rescale, average);
    if (kind == "entropic") return by_feature<Real, Steady, Entropy<Real>>(step, eta, margin, rescale, average);
    if (kind == "signed-entropic")
        return by_feature<Real, Steady, SignedEntropy<Real>>(step, eta, margin, rescale, average);
    throw nb::value_error(("no ordinal learner is called " + kind).c_str());
}

template <class Real, class K>
Model<Real> with_kernel(K kernel, bool sqrt, double step, Index budget, bool oldest) {
    using namespace hinge;
    const auto removal = oldest ? Removal::oldest : Removal::least_harm;
    if (sqrt) {
        using Space = Expansion<Real, K, true>;
        return std::make_unique<KernelOrdinal<Decreasing, Space>>(Space(0, std::move(kernel), budget, removal), step);
    }
    using Space = Expansion<Real, K, false>;
    return std::make_unique<KernelOrdinal<Steady, Space>>(Space(0, std::move(kernel), budget, removal), step);
}

template <class Real>
class Ordinal : public SharedModel<hinge::OrdinalModel<Real>> {
public:
    using Shared = SharedModel<hinge::OrdinalModel<Real>>;
    using Read = typename DictReader::template Read<Real>;
    using Shared::model_, Shared::mutex_, Shared::reading, Shared::writing;

    Ordinal(Model<Real> model, bool intercept, bool bounded, nb::object function = {})
        : Shared(std::move(model)), intercept_(intercept), bounded_(bounded), function_(std::move(function)) {}
    Ordinal(const Ordinal& other)
        : Shared(other), intercept_(other.intercept_), bounded_(other.bounded_), function_(other.function_) {}

    // A kernel that is a function knows the module that it stands in, and so perhaps this model: Python's collector
    // has to see that. What refers back is always something that it can clear.
    static int traverse(PyObject* self, visitproc visit, void* arg) {
        Py_VISIT(Py_TYPE(self));
        if (nb::inst_ready(self)) Py_VISIT(nb::inst_ptr<Ordinal>(self)->function_.ptr());
        return 0;
    }

    void learn(const RowsView<Real>& x, Vector<std::int32_t> low, Vector<std::int32_t> high, Vector<std::int64_t> row,
               Vector<std::int32_t> place, std::optional<Vector<double>> weight, std::optional<Filled<double>> loss,
               std::optional<Filled<double>> error, std::optional<Filled<std::int32_t>> answer) {
        const hinge::IntervalRows y{low.data(), high.data(), row.data(), place.data(),
                                    static_cast<std::int64_t>(place.shape(0))};
        hinge::OrdinalTrace trace;
        if (loss) trace.loss = loss->data();
        if (error) trace.error = error->data();
        if (answer) trace.answer = answer->data();
        nb::gil_scoped_release release;
        const std::unique_lock lock(mutex_);
        try {
            model_->learn(x.rows(), y, weight ? weight->data() : nullptr, trace);
        } catch (const hinge::FailedRound& failed) {
            throw std::domain_error("row " + std::to_string(failed.t) + " of X: " + failed.what());
        }
    }

    void learn_one(DictReader& reader, nb::dict x, std::int32_t low, std::int32_t high, Vector<std::int32_t> place,
                   double weight) {
        const auto lock = writing();
        reader.check(x, read_);
        if (bounded_)
            for (Real value : read_.value)
                if (std::abs(value) > Real(1)) throw nb::value_error("x has a feature beyond 1 in absolute value");
        if (reader.features_then() > model_->features()) model_->grow(reader.features_then(), 1);
        const std::vector<std::int64_t> rows(place.shape(0), 0);
        const hinge::IntervalRows y{&low, &high, rows.data(), place.data(), static_cast<std::int64_t>(rows.size())};
        hinge::OrdinalTrace trace;
        trace.loss = &last_loss_;
        trace.error = &last_error_;
        model_->learn(one_row(read_).rows, y, &weight, trace);
        reader.add();  // not before: a kernel may fail
    }

    void score(const RowsView<Real>& x, Filled<Real> out) const {
        nb::gil_scoped_release release;
        const std::shared_lock lock(mutex_);
        model_->score(x.rows(), out.data());
    }
    void predict(const RowsView<Real>& x, Filled<std::int32_t> out) const {
        nb::gil_scoped_release release;
        const std::shared_lock lock(mutex_);
        model_->predict(x.rows(), out.data());
    }
    void predict_interval(const RowsView<Real>& x, double margin, Filled<std::int32_t> out) const {
        nb::gil_scoped_release release;
        const std::shared_lock lock(mutex_);
        model_->predict_interval(x.rows(), margin, out.data());
    }
    Real score_one(DictReader& reader, nb::dict x) const {
        Real out;
        read_one(reader, x, [&](const hinge::Rows<Real>& row) { model_->score(row, &out); });
        return out;
    }
    std::int32_t predict_one(DictReader& reader, nb::dict x) const {
        std::int32_t out;
        read_one(reader, x, [&](const hinge::Rows<Real>& row) { model_->predict(row, &out); });
        return out;
    }
    std::tuple<std::int32_t, std::int32_t> predict_interval_one(DictReader& reader, nb::dict x, double margin) const {
        std::int32_t out[2];
        read_one(reader, x, [&](const hinge::Rows<Real>& row) { model_->predict_interval(row, margin, out); });
        return {out[0], out[1]};
    }

    nb::object thresholds() const {
        const auto lock = reading();
        const auto count = static_cast<std::size_t>(std::max<Index>(0, model_->classes() - 1));
        return new_array<Real>({count}, [&](Real* to) { model_->thresholds(to); });
    }
    nb::object weights() const {
        const auto lock = reading();
        const Index n = model_->features();
        return new_array<Real>({static_cast<std::size_t>(n)}, [&](Real* to) {
            for (Index j = 0; j < n; ++j) *to++ = static_cast<Real>(model_->weight(j));
        });
    }
    double intercept() const {
        const auto lock = reading();
        return intercept_ ? model_->weight(-1) : 0.0;
    }
    // The rows of the support and their coefficients, slot by slot.
    std::tuple<nb::object, nb::object> support() const {
        const auto lock = reading();
        const auto count = static_cast<std::size_t>(std::max<Index>(0, model_->support_size()));
        const auto width = static_cast<std::size_t>(model_->features());
        std::vector<double> coefficients(count);
        nb::object rows = new_array<double>({count, width}, [&](double* to) {
            for (std::size_t s = 0; s < count; ++s)
                model_->support(static_cast<Index>(s), to + s * width, &coefficients[s]);
        });
        return {rows, new_array<double>({count}, [&](double* to) { std::copy(coefficients.begin(), coefficients.end(), to); })};
    }

    double last_loss() const { return last_loss_; }
    double last_error() const { return last_error_; }

private:
    struct One {
        std::int64_t ends[2];
        hinge::Rows<Real> rows;
        One(const Read& read, Index features, bool intercept)
            : ends{0, read.row(false, features).count},
              rows{ends, read.index.data(), read.value.data(), 1, features, intercept ? Real(1) : Real(0)} {}
        One(const One&) = delete;
    };
    One one_row(const Read& read) const { return One(read, model_->features(), intercept_); }
    template <class Use>
    void read_one(DictReader& reader, nb::dict x, Use&& use) const {
        const auto lock = reading();
        Read read;
        reader.read(x, read);
        use(one_row(read).rows);
    }

    Read read_;
    bool intercept_;
    bool bounded_;
    nb::object function_;
    double last_loss_ = 0, last_error_ = 0;
};

// The first row with an entry beyond 1 in absolute value, and that entry; -1 where there is none.
template <class Real>
std::tuple<std::int64_t, double> beyond_one(const RowsView<Real>& x) {
    nb::gil_scoped_release release;
    for (std::int64_t t = 0; t < x.rows().count; ++t) {
        const hinge::Row<Real> row = x.rows()[t];
        for (Index i = 0; i < row.count; ++i)
            if (std::abs(row.value[i]) > Real(1)) return {t, static_cast<double>(row.value[i])};
    }
    return {-1, 0.0};
}

template <class Real>
void bind(nb::module_& m, const char* name) {
    using O = Ordinal<Real>;
    using namespace nb::literals;
    static PyType_Slot slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(O::traverse)}, {0, nullptr}};
    auto type = nb::class_<O>(m, name, nb::type_slots(slots),
                              "A learner of ordered classes: classes are 1, 2, .., rows are numbers.");
    bind_shared_model(type);
    type.def_static(
            "by_feature",
            [](const std::string& kind, double step, double eta, double margin, bool rescale, bool average) {
                const bool bounded = kind.ends_with("entropic") && !rescale;
                return new O(make<Real>(kind, step, eta, margin, rescale, average), false, bounded);
            },
            "kind"_a, "step"_a, "eta"_a, "margin"_a, "rescale"_a, "average"_a, nb::rv_policy::take_ownership)
        .def_static(
            "with_kernel",
            [](int shape, double gamma, double coef0, int degree, bool sqrt, double step, Index budget, bool oldest) {
                const hinge::Kernel kernel{static_cast<hinge::Kernel::Shape>(shape), gamma, coef0, degree};
                return new O(with_kernel<Real>(kernel, sqrt, step, budget, oldest), false, false);
            },
            "shape"_a, "gamma"_a, "coef0"_a, "degree"_a, "sqrt"_a, "step"_a, "budget"_a, "oldest"_a,
            nb::rv_policy::take_ownership)
        .def_static(
            "with_function",
            [](nb::object function, Index width, bool sqrt, double step, Index budget, bool oldest) {
                const GivenKernel<Real> kernel{function, width};
                return new O(with_kernel<Real>(kernel, sqrt, step, budget, oldest), false, false, std::move(function));
            },
            "function"_a, "width"_a, "sqrt"_a, "step"_a, "budget"_a, "oldest"_a, nb::rv_policy::take_ownership)
        .def_static(
            "widrow_hoff",
            [](double step, bool intercept, bool average) {
                return new O(std::make_unique<hinge::WidrowHoff<Real>>(step, intercept, average), intercept, false);
            },
            "step"_a, "intercept"_a, "average"_a, nb::rv_policy::take_ownership)
        .def_prop_ro("classes", [](const O& self) { return self.model().classes(); })
        .def("enter",
             [](O& self, Index place) {
                 const auto lock = self.writing();
                 self.model().enter(place);
             },
             "place"_a)
        .def("learn", &O::learn, "x"_a, "low"_a, "high"_a, "row"_a, "place"_a, "weight"_a.none(),
             "loss"_a.none() = nb::none(), "error"_a.none() = nb::none(), "answer"_a.none() = nb::none())
        .def("learn_one", &O::learn_one, "reader"_a, "x"_a, "low"_a, "high"_a, "place"_a, "weight"_a)
        .def("score", &O::score, "x"_a, "out"_a.noconvert())
        .def("predict", &O::predict, "x"_a, "out"_a.noconvert())
        .def("predict_interval", &O::predict_interval, "x"_a, "margin"_a, "out"_a.noconvert())
        .def("score_one", &O::score_one, "reader"_a, "x"_a)
        .def("predict_one", &O::predict_one, "reader"_a, "x"_a)
        .def("predict_interval_one", &O::predict_interval_one, "reader"_a, "x"_a, "margin"_a)
        .def("thresholds", &O::thresholds)
        .def("weights", &O::weights)
        .def("intercept", &O::intercept)
        .def("support", &O::support)
        .def_prop_ro("last_loss", &O::last_loss)
        .def_prop_ro("last_error", &O::last_error);
    m.def("beyond_one", &beyond_one<Real>, "x"_a, "Where the first entry beyond 1 in absolute value is, and its value.");
}

}  // namespace

void bind_ordinal(nb::module_& m) {
    bind<float>(m, "OrdinalFloat32");
    bind<double>(m, "OrdinalFloat64");
}
