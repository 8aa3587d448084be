// A model that ranks labels, as Python holds it: the label rankers and the multiclass rules.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <cmath>
#include <memory>
#include <optional>
#include <stdexcept>

#include "../core/label_ranking.hpp"
#include "rows.hpp"
#include "shared_model.hpp"

// Rows in, scores and labels out, by number. `Family` keeps the types of different families apart, and may say what
// the three numbers are that a round reads.
template <class Real, class Family>
class Ranker : public SharedModel<hinge::LabelRankingModel<Real>> {
public:
    using Shared = SharedModel<hinge::LabelRankingModel<Real>>;
    using Index = hinge::Index;
    using Read = DictReader::Read<Real>;
    using Shared::model_, Shared::mutex_, Shared::reading, Shared::writing;

    Ranker(std::unique_ptr<hinge::LabelRankingModel<Real>> model, bool intercept)
        : Shared(std::move(model)), intercept_(intercept) {}
    Ranker(const Ranker& other) : Shared(other), intercept_(other.intercept_) {}

    void learn(const RowsView<Real>& x, std::optional<Vector<std::int64_t>> start, Vector<std::int32_t> label, bool sets,
               std::optional<Vector<std::int32_t>> exist, std::optional<Vector<double>> weight, double C, double margin, double r,
               std::optional<Filled<double>> loss, std::optional<Filled<double>> error,
               std::optional<Filled<double>> dual, std::optional<Filled<double>> cut,
               std::optional<nb::ndarray<Real, nb::ndim<2>, nb::c_contig, nb::device::cpu>> scores,
               std::optional<Matrix<double>> costs) {
        hinge::LabelRows y{start ? start->data() : nullptr, label.data(), sets, exist ? exist->data() : nullptr};
        if (costs) {
            y.cost = costs->data();
            y.cost_width = static_cast<Index>(costs->shape(1));
        }
        hinge::Trace<Real> trace;
        if (loss) trace.loss = loss->data();
        if (error) trace.error = error->data();
        if (dual) trace.dual = dual->data();
        if (cut) trace.cut = cut->data();
        if (scores) {
            trace.scores = scores->data();
            trace.width = static_cast<Index>(scores->shape(1));
        }
        nb::gil_scoped_release release;
        const std::unique_lock lock(mutex_);
        model_->learn(x.rows(), y, weight ? weight->data() : nullptr, settings(C, margin, r), trace);
    }

    void learn_one(DictReader& reader, nb::dict x, Vector<std::int32_t> label, std::int32_t exist, double weight,
                   double C, double margin, double r) {
        const auto lock = writing();
        reader.read_and_add(x, read_);
        learn_read(reader, {label.data(), label.shape(0)}, true, exist, weight, settings(C, margin, r));
    }

    // The same for one label, or none where it is negative.
    void learn_one_label(DictReader& reader, nb::dict x, std::int32_t label, double weight, double C, double margin,
                         double r) {
        const auto lock = writing();
        reader.read_and_add(x, read_);
        learn_read(reader, {&label, label < 0 ? std::size_t{0} : std::size_t{1}}, false, 0, weight, settings(C, margin, r));
    }

    // With `current` by the weights that the next round is judged by, else by those that are predicted with.
    void score(const RowsView<Real>& x, nb::ndarray<Real, nb::ndim<2>, nb::c_contig, nb::device::cpu> out,
               bool current) const {
        Real* to = out.data();
        nb::gil_scoped_release release;
        const std::shared_lock lock(mutex_);
        if (static_cast<Index>(out.shape(1)) != model_->outputs())
            throw std::runtime_error("another thread changed the labels meanwhile; let readers use snapshot()");
        current ? model_->score_current(x.rows(), to) : model_->score(x.rows(), to);
    }

    // Of each row the output that scores highest.
    void top(const RowsView<Real>& x, Filled<std::int32_t> out) const {
        std::int32_t* to = out.data();
        nb::gil_scoped_release release;
        const std::shared_lock lock(mutex_);
        const Index outputs = model_->outputs();
        std::vector<Real> scores(static_cast<std::size_t>(model_->width()));
        for (std::int64_t t = 0; t < x.rows().count; ++t) {
            model_->score_one(x.rows()[t], scores.data());
            to[t] = hinge::kernels<Real>().argmax(scores.data(), outputs);
        }
    }

    std::int32_t top_one(DictReader& reader, nb::dict x) const {
        const auto lock = reading();
        Read read;
        reader.read(x, read);
        std::vector<Real> scores(static_cast<std::size_t>(model_->width()));
        model_->score_one(read.row(intercept_, model_->features()), scores.data());
        return hinge::kernels<Real>().argmax(scores.data(), model_->outputs());
    }

    nb::object score_one(DictReader& reader, nb::dict x) const {
        const auto lock = reading();
        Read read;
        reader.read(x, read);
        std::vector<Real> scores(static_cast<std::size_t>(model_->width()));
        model_->score_one(read.row(intercept_, model_->features()), scores.data());
        const auto outputs = static_cast<std::size_t>(model_->outputs());
        return new_array<Real>({outputs}, [&](Real* to) { std::copy_n(scores.data(), outputs, to); });
    }

    // Where the scores of each row are cut; NaN where no set was learned.
    void cut(const RowsView<Real>& x, Filled<double> out) const {
        double* to = out.data();
        nb::gil_scoped_release release;
        const std::shared_lock lock(mutex_);
        for (std::int64_t t = 0; t < x.rows().count; ++t) to[t] = model_->cut().at(x.rows()[t]);
    }

    double cut_one(DictReader& reader, nb::dict x) const {
        const auto lock = reading();
        Read read;
        reader.read(x, read);
        return model_->cut().at(read.row(intercept_, model_->features()));
    }

    double last_loss() const { return last_loss_; }
    double last_error() const { return last_error_; }
    double last_dual() const { return last_dual_; }

    // What the features of x add to the score of an output; None where none of them was learned.
    std::optional<double> share_of(DictReader& reader, nb::dict x, std::int32_t output) const {
        const auto lock = reading();
        Read read;
        reader.read(x, read);
        if (read.index.empty()) return std::nullopt;
        double share = 0;
        for (std::size_t i = 0; i < read.index.size(); ++i)
            if (read.index[i] < model_->features())
                share += static_cast<double>(read.value[i]) * model_->weight(read.index[i], output);
        return share;
    }

    nb::object weights() const {
        const auto lock = reading();
        const Index n = model_->features(), k = model_->outputs();
        return new_array<Real>({static_cast<std::size_t>(k), static_cast<std::size_t>(n)}, [&](Real* to) {
            for (Index y = 0; y < k; ++y)
                for (Index j = 0; j < n; ++j) *to++ = static_cast<Real>(model_->weight(j, y));
        });
    }

    nb::object intercepts() const {
        const auto lock = reading();
        const auto k = static_cast<std::size_t>(model_->outputs());
        return new_array<Real>({k}, [&](Real* to) {
            for (std::size_t y = 0; y < k; ++y)
                to[y] = intercept_ ? static_cast<Real>(model_->weight(-1, static_cast<Index>(y))) : Real(0);
        });
    }

    nb::dict ledger() const {
        const auto lock = reading();
        return shown_ledger(model_->ledger(), model_->conjugate());
    }

    bool intercept() const { return intercept_; }

private:
    static hinge::Settings settings(double C, double margin, double r) {
        if constexpr (requires { Family::settings(C, margin, r); })
            return Family::settings(C, margin, r);
        else
            return {C, margin, r};
    }

    void learn_read(const DictReader& reader, std::span<const Index> label, bool sets, Index exist, double weight,
                    const hinge::Settings& set) {
        if (reader.features() > model_->features()) model_->grow(reader.features(), model_->outputs());
        const std::int64_t start[2] = {0, static_cast<std::int64_t>(label.size())};
        const std::int64_t ends[2] = {0, static_cast<std::int64_t>(read_.index.size())};
        const hinge::Rows<Real> rows{ends, read_.index.data(), read_.value.data(), 1, model_->features(),
                                     intercept_ ? Real(1) : Real(0)};
        hinge::Trace<Real> trace;
        trace.loss = &last_loss_;
        trace.error = &last_error_;
        trace.dual = &last_dual_;
        model_->learn(rows, {start, label.data(), sets, &exist}, &weight, set, trace);
    }

    Read read_;
    bool intercept_;
    double last_loss_ = 0, last_error_ = 0, last_dual_ = 0;
};

// What every such model offers to Python.
template <class R>
void bind_ranker(nb::class_<R>& type) {
    using namespace nb::literals;
    using hinge::Index;
    bind_shared_model(type);
    type.def_prop_ro("has_cut", [](const R& self) { return self.model().cut().exists(); })
        .def("begin_cut", [](R& self) { self.model().begin_cut(); })
        .def("erase_output",
             [](R& self, Index output) {
                 const auto lock = self.writing();
                 self.model().erase_output(output);
             },
             "output"_a)
        .def("learn", &R::learn, "x"_a, "start"_a.none(), "label"_a, "sets"_a, "exist"_a.none(), "weight"_a.none(), "C"_a, "margin"_a,
             "r"_a, "loss"_a.none() = nb::none(), "error"_a.none() = nb::none(), "dual"_a.none() = nb::none(),
             "cut"_a.none() = nb::none(), "scores"_a.none() = nb::none(), "costs"_a.none() = nb::none())
        .def("learn_one", &R::learn_one, "reader"_a, "x"_a, "label"_a, "exist"_a, "weight"_a, "C"_a, "margin"_a,
             "r"_a)
        .def("learn_one_label", &R::learn_one_label, "reader"_a, "x"_a, "label"_a, "weight"_a, "C"_a, "margin"_a, "r"_a)
        .def("score", &R::score, "x"_a, "out"_a.noconvert(), "current"_a = false)
        .def("top", &R::top, "x"_a, "out"_a.noconvert())
        .def("top_one", &R::top_one, "reader"_a, "x"_a)
        .def("score_one", &R::score_one, "reader"_a, "x"_a)
        .def("cut", &R::cut, "x"_a, "out"_a.noconvert())
        .def("cut_one", &R::cut_one, "reader"_a, "x"_a)
        .def("share_of", &R::share_of, "reader"_a, "x"_a, "output"_a)
        .def_prop_ro("last_loss", &R::last_loss)
        .def_prop_ro("last_error", &R::last_error)
        .def_prop_ro("last_dual", &R::last_dual)
        .def("weights", &R::weights)
        .def("intercepts", &R::intercepts)
        .def("ledger", &R::ledger);
}
