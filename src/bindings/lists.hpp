// What the models of lists and of batches share on their way to Python: a round is a list of rows.
#pragma once

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <optional>
#include <tuple>

#include "../core/lists.hpp"
#include "rows.hpp"
#include "shared_model.hpp"

template <hinge::Oracle O, class Value>
class ListModel : public SharedModel<hinge::OracleModel<O>> {
public:
    using Real = typename O::Real;
    using Shared = SharedModel<hinge::OracleModel<O>>;
    using Shared::model_, Shared::mutex_, Shared::reading;

    ListModel(const std::string& rule, bool intercept, bool average)
        : Shared(hinge::make_oracle_model<O>(rule, intercept ? 1 : 0, average)), intercept_(intercept) {
        if (!model_) throw nb::value_error(("there is no rule " + rule).c_str());
        model_->grow(0, 1);
    }

    // `y` is by row; weight, loss, error and dual by list; scores by row, those before a list was learned.
    void learn(const RowsView<Real>& x, Vector<std::int64_t> order, Vector<std::int64_t> start, Vector<Value> y,
               std::optional<Vector<double>> weight, double C, std::optional<Filled<double>> loss,
               std::optional<Filled<double>> error, std::optional<Filled<double>> dual,
               std::optional<Filled<double>> scores) {
        const hinge::ListRows lists = checked(x, order, start, y.shape(0));
        hinge::ListTrace trace;
        if (loss) trace.loss = loss->data();
        if (error) trace.error = error->data();
        if (dual) trace.dual = dual->data();
        if (scores) trace.scores = scores->data();
        const Value* targets = y.data();
        const double* weights = weight ? weight->data() : nullptr;
        nb::gil_scoped_release release;
        const std::unique_lock lock(mutex_);
        hinge::learn_lists(*model_, x.rows(), lists, targets, weights, {C, 0, 0}, trace);
    }

    // The support vector machine over all lists. Returns passes, primal and dual value, the sum of C hinge, and in how
    // many lists something is wrong.
    std::tuple<int, double, double, double, std::int64_t> solve(const RowsView<Real>& x, Vector<std::int64_t> order,
                                                                Vector<std::int64_t> start, Vector<Value> y,
                                                                Vector<double> caps, double tolerance, int passes) {
        const hinge::ListRows lists = checked(x, order, start, y.shape(0));
        if (static_cast<std::int64_t>(caps.shape(0)) != lists.count) throw nb::value_error("one C a list is needed");
        const Value* targets = y.data();
        const double* C = caps.data();
        nb::gil_scoped_release release;
        const std::unique_lock lock(mutex_);
        const auto [done, mistakes] = hinge::solve_lists(*model_, x.rows(), lists, targets, C, tolerance, passes);
        return {done.passes, done.primal, done.dual, done.hinge, mistakes};
    }

    // The weights as a whole, the constant feature first where there is one.
    void write(Vector<double> weights) {
        const auto lock = this->writing();
        hinge::Weights<Real>& to = model_->written().weights();
        if (weights.shape(0) != static_cast<std::size_t>(to.reserved() + to.features()))
            throw nb::value_error("one weight a feature is needed");
        const double* from = weights.data();
        for (Index j = -to.reserved(); j < to.features(); ++j) *to.row(j) = static_cast<Real>(*from++);
    }

    void score(const RowsView<Real>& x, Filled<Real> out) const {
        Real* to = out.data();
        nb::gil_scoped_release release;
        const std::shared_lock lock(mutex_);
        for (std::int64_t t = 0; t < x.rows().count; ++t) to[t] = static_cast<Real>(model_->score(x.rows()[t]));
    }

    // The weights that are predicted with.
    nb::object weights() const {
        const auto lock = reading();
        return new_array<Real>({static_cast<std::size_t>(model_->features())}, [&](Real* to) {
            for (Index j = 0; j < model_->features(); ++j) to[j] = static_cast<Real>(model_->weight(j));
        });
    }

    double intercept() const {
        const auto lock = reading();
        return intercept_ ? model_->weight(-1) : 0.0;
    }

    nb::dict ledger() const {
        const auto lock = reading();
        return shown_ledger(model_->ledger(), model_->conjugate());
    }

private:
    using Index = hinge::Index;

    static hinge::ListRows checked(const RowsView<Real>& x, const Vector<std::int64_t>& order,
                                   const Vector<std::int64_t>& start, std::size_t targets) {
        const auto rows = static_cast<std::size_t>(x.rows().count);
        const auto lists = static_cast<std::int64_t>(start.shape(0)) - 1;
        bool fine = targets == rows && lists >= 0 && start.data()[0] == 0;
        for (std::int64_t t = 0; fine && t < lists; ++t) fine = start.data()[t] <= start.data()[t + 1];
        fine = fine && start.data()[lists] == static_cast<std::int64_t>(order.shape(0));
        for (std::size_t i = 0; fine && i < order.shape(0); ++i)
            fine = order.data()[i] >= 0 && order.data()[i] < static_cast<std::int64_t>(rows);
        if (!fine) throw nb::value_error("rows, lists and targets do not fit together");
        return {order.data(), start.data(), lists};
    }

    bool intercept_;
};

template <class Model>
void bind_list_model(nb::class_<Model>& type) {
    using namespace nb::literals;
    bind_shared_model(type);
    type.def("learn", &Model::learn, "x"_a, "order"_a, "start"_a, "y"_a, "weight"_a.none(), "C"_a,
             "loss"_a.none() = nb::none(), "error"_a.none() = nb::none(), "dual"_a.none() = nb::none(),
             "scores"_a.none() = nb::none())
        .def("solve", &Model::solve, "x"_a, "order"_a, "start"_a, "y"_a, "caps"_a, "tolerance"_a, "passes"_a)
        .def("write", &Model::write, "weights"_a)
        .def("score", &Model::score, "x"_a, "out"_a.noconvert())
        .def("weights", &Model::weights)
        .def("intercept", &Model::intercept)
        .def("ledger", &Model::ledger);
}
