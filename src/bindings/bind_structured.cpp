#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <tuple>

#include "../core/oracle_model.hpp"
#include "../core/problem/given.hpp"
#include "../core/solve/direction_blocks.hpp"
#include "rows.hpp"
#include "shared_model.hpp"

namespace {

using hinge::Index;

// The rules over an oracle written in Python, which names rivals and their directions.
template <class Real>
class Structured : public SharedModel<hinge::OracleModel<hinge::Given<Real>>> {
public:
    using Shared = SharedModel<hinge::OracleModel<hinge::Given<Real>>>;
    using Shared::model_, Shared::reading, Shared::writing;

    Structured(const std::string& rule, bool average)
        : Shared(hinge::make_oracle_model<hinge::Given<Real>>(rule, 0, average)) {
        if (!model_) throw nb::value_error(("there is no rule " + rule).c_str());
    }
    Structured(const Structured& other) : Shared(other) {}

    // One round with the two rivals: delta, the places and values of the direction, whether it is another answer.
    // Returns loss, error and dual.
    nb::tuple learn(double plain_delta, Vector<std::int32_t> plain_index, Vector<Real> plain_value, bool plain_differs,
                    double delta, Vector<std::int32_t> index, Vector<Real> value, bool differs, double weight,
                    double C) {
        const auto lock = writing();
        const hinge::GivenRound<Real> round{{plain_delta, row(plain_index, plain_value), plain_differs},
                                            {delta, row(index, value), differs}};
        const hinge::Judgement seen = model_->learn(round, {}, weight, {C, 0, 0});
        return nb::make_tuple(seen.loss, seen.error, model_->ledger().dual);
    }

    // hardest(i, w) names example i's loss-augmented rival as (delta, places, values, differs).
    std::tuple<int, double, double, double> solve(nb::callable hardest, Vector<double> caps, double tolerance,
                                                  int passes) {
        const auto lock = writing();
        const auto count = static_cast<std::int64_t>(caps.shape(0));
        hinge::solve::DirectionBlocks<hinge::Given<Real>> blocks(model_->oracle(), model_->written(), caps.data(), count);
        const auto done = blocks.solve(
            [&](std::int64_t i, auto&& use) {
                const auto [delta, index, value, differs] =
                    nb::cast<std::tuple<double, Vector<std::int32_t>, Vector<Real>, bool>>(hardest(i, current()));
                const hinge::GivenRound<Real> round{{}, {delta, row(index, value), differs}};
                use(round, hinge::Nothing{});
            },
            tolerance, passes);
        return {done.passes, done.primal, done.dual, done.hinge};
    }

    void write(Vector<double> values) {
        const auto lock = writing();
        auto& weights = model_->written().weights();
        for (std::size_t j = 0; j < values.shape(0); ++j)
            *weights.row(static_cast<Index>(j)) = static_cast<Real>(values.data()[j]);
    }

    double score(Vector<std::int32_t> index, Vector<Real> value) const {
        const auto lock = reading();
        return model_->score(row(index, value));
    }

    // The weights that are predicted with, or those that the next round is scored with.
    nb::object weights(bool current) const {
        const auto lock = reading();
        const auto n = static_cast<std::size_t>(model_->features());
        return new_array<Real>({n}, [&](Real* to) {
            for (Index j = 0; j < model_->features(); ++j)
                to[j] = static_cast<Real>(current ? static_cast<double>(*model_->read().row(j)) * model_->scale()
                                                  : model_->weight(j));
        });
    }

    nb::dict ledger() const {
        const auto lock = reading();
        return shown_ledger(model_->ledger(), model_->conjugate());
    }

private:
    nb::object current() const {
        return new_array<Real>({static_cast<std::size_t>(model_->features())}, [&](Real* to) {
            for (Index j = 0; j < model_->features(); ++j) to[j] = *model_->read().row(j);
        });
    }

    static hinge::Row<Real> row(const Vector<std::int32_t>& index, const Vector<Real>& value) {
        return {index.data(), value.data(), static_cast<Index>(std::min(index.shape(0), value.shape(0))), Real(0)};
    }
};

template <class Real>
void bind(nb::module_& m, const char* name) {
    using S = Structured<Real>;
    using namespace nb::literals;
    auto type = nb::class_<S>(m, name, "One vector of weights, moved along directions that an oracle gives.");
    bind_shared_model(type);
    type.def(nb::init<const std::string&, bool>(), "rule"_a, "average"_a)
        .def("learn", &S::learn, "plain_delta"_a, "plain_index"_a, "plain_value"_a, "plain_differs"_a, "delta"_a,
             "index"_a, "value"_a, "differs"_a, "weight"_a, "C"_a)
        .def("solve", &S::solve, "hardest"_a, "caps"_a, "tolerance"_a, "passes"_a)
        .def("write", &S::write, "values"_a)
        .def("score", &S::score, "index"_a, "value"_a)
        .def("weights", &S::weights, "current"_a)
        .def("ledger", &S::ledger);
}

}  // namespace

void bind_structured(nb::module_& m) {
    bind<float>(m, "StructuredFloat32");
    bind<double>(m, "StructuredFloat64");
}
