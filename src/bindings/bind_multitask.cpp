#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <stdexcept>
#include <vector>

#include "../core/multitask.hpp"
#include "rows.hpp"
#include "shared_model.hpp"

namespace {

using hinge::Index;

// {p}, or {p1, p2, alpha} of an interpolation
hinge::DualBall ball_of(const std::vector<double>& norm) {
    if (norm.size() == 1) return hinge::DualBall::p_norm(norm[0]);
    if (norm.size() == 3) return hinge::DualBall::interpolated(norm[0], norm[1], norm[2]);
    throw nb::value_error("a norm is one number or three");
}

using Filled2 = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Sides = nb::ndarray<const std::int8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <class Real>
class Tasks : public SharedModel<hinge::MultitaskModel<Real>> {
public:
    using Shared = SharedModel<hinge::MultitaskModel<Real>>;
    using Read = DictReader::Read<Real>;
    using Views = std::vector<const RowsView<Real>*>;
    using Scores = nb::ndarray<Real, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
    using Shared::model_, Shared::mutex_, Shared::reading, Shared::writing;

    Tasks(const std::string& update, const std::vector<double>& norm, const std::string& answers, bool shared,
          bool intercept)
        : Shared(hinge::make_multitask<Real>(update, ball_of(norm), answers, shared, intercept)), intercept_(intercept) {
        if (!model_) throw nb::value_error(("no algorithm has update " + update).c_str());
    }
    Tasks(const Tasks& other) : Shared(other), intercept_(other.intercept_) {}

    void widen(const std::vector<Index>& widths) {
        const auto lock = writing();
        model_->widen(widths);
    }

    // The rows from `start` to before `stop`; the answers are those of these rows only.
    void learn(const Views& x, std::int64_t start, std::int64_t stop, std::optional<Sides> sides,
               std::optional<Matrix<double>> numbers, std::optional<Vector<double>> weight, double C, double radius,
               double horizon, double remoteness, double epsilon, std::optional<Filled<double>> loss,
               std::optional<Filled<double>> error, std::optional<Filled<double>> task_errors,
               std::optional<Filled<double>> dual, std::optional<Scores> scores) {
        learn_rows(rows_of(x, start, stop), answers(sides, numbers, epsilon), weight,
                   {C, radius, horizon, remoteness, epsilon}, trace_of(loss, error, task_errors, dual, scores));
    }

    // The same for labels, each a row of the code.
    void learn_labels(const RowsView<Real>& x, std::int64_t start, std::int64_t stop, Vector<std::int32_t> label,
                      Sides code, bool by_margin, std::optional<Vector<double>> weight, double C, double radius,
                      double horizon, double remoteness, std::optional<Filled<double>> loss,
                      std::optional<Filled<double>> error, std::optional<Filled<double>> task_errors,
                      std::optional<Filled<double>> dual, std::optional<Scores> scores) {
        learn_rows(rows_of({&x}, start, stop), answers(label.data(), code, by_margin), weight,
                   {C, radius, horizon, remoteness, 0}, trace_of(loss, error, task_errors, dual, scores));
    }

    void learn_one_label(DictReader& reader, nb::dict x, std::int32_t label, Sides code, bool by_margin, double weight,
                         double C, double radius, double horizon, double remoteness) {
        const auto lock = writing();
        reads_.resize(1);
        reader.read_and_add(x, reads_[0]);
        model_->grow(std::max(reader.features(), model_->features()), static_cast<Index>(code.shape(1)));
        model_->learn(rows_read(reads_, ends_), answers(&label, code, by_margin), &weight,
                      {C, radius, horizon, remoteness, 0}, last_trace());
    }

    // How well the scores of the tasks fit each label of a code.
    void decode(Scores scores, Sides code, bool by_margin, Filled2 out) const {
        const hinge::Code words = code_of(code, by_margin);
        double* to = out.data();
        for (std::size_t t = 0; t < scores.shape(0); ++t)
            for (Index label = 0; label < words.labels; ++label)
                *to++ = words.fit(label, scores.data() + t * scores.shape(1));
    }

    // One dict for all tasks, or one a task.
    void learn_one(const std::vector<DictReader*>& readers, const std::vector<nb::dict>& x, std::optional<Sides> sides,
                   std::optional<Matrix<double>> numbers, double weight, double C, double radius, double horizon,
                   double remoteness, double epsilon) {
        const auto lock = writing();
        const hinge::TaskRows y = answers(sides, numbers, epsilon);
        reads_.resize(x.size());
        for (std::size_t j = 0; j < x.size(); ++j) readers[j]->check(x[j], reads_[j]);
        for (std::size_t j = 0; j < x.size(); ++j) readers[j]->read_and_add(x[j], reads_[j]);
        if (model_->shared()) {
            model_->grow(std::max(readers[0]->features(), model_->features()), static_cast<Index>(y.tasks));
        } else {
            widths_.clear();
            for (const DictReader* reader : readers) widths_.push_back(reader->features());
            model_->widen(widths_);
        }
        check_tasks(x.size(), y.tasks);
        model_->learn(rows_read(reads_, ends_), y, &weight, {C, radius, horizon, remoteness, epsilon}, last_trace());
    }

    void score(const Views& x, Scores out) const {
        Real* to = out.data();
        const std::vector<hinge::Rows<Real>> rows = rows_of(x);
        nb::gil_scoped_release release;
        const std::shared_lock lock(mutex_);
        if (static_cast<Index>(out.shape(1)) != model_->outputs())
            throw std::runtime_error("another thread added tasks meanwhile; let readers use snapshot()");
        check_tasks(rows.size(), out.shape(1));
        model_->score(rows, to);
    }

    nb::object score_one(const std::vector<DictReader*>& readers, const std::vector<nb::dict>& x) const {
        const auto lock = reading();
        const auto tasks = static_cast<std::size_t>(model_->outputs());
        check_tasks(x.size(), tasks);
        std::vector<Read> reads(x.size());
        for (std::size_t j = 0; j < x.size(); ++j) {
            readers[j]->read(x[j], reads[j]);
            reads[j].index.resize(static_cast<std::size_t>(reads[j].row(intercept_, width_of(j)).count));
        }
        std::vector<std::int64_t> ends;
        return new_array<Real>({tasks}, [&](Real* to) { model_->score(rows_read(reads, ends), to); });
    }

    // One array (tasks, features), or a list of one array a task.
    nb::object weights() const {
        const auto lock = reading();
        const Index k = model_->outputs();
        if (model_->shared()) {
            const std::vector<std::size_t> shape{static_cast<std::size_t>(k),
                                                 static_cast<std::size_t>(model_->features())};
            return new_array<Real>(shape, [&](Real* to) {
                for (Index j = 0; j < k; ++j) to = copy_weights(j, to);
            });
        }
        nb::list all;
        for (Index j = 0; j < k; ++j)
            all.append(new_array<Real>({static_cast<std::size_t>(model_->features(j))},
                                       [&](Real* to) { copy_weights(j, to); }));
        return all;
    }

    nb::object intercepts() const {
        const auto lock = reading();
        const auto k = static_cast<std::size_t>(model_->outputs());
        return new_array<Real>({k}, [&](Real* to) {
            for (std::size_t j = 0; j < k; ++j)
                to[j] = intercept_ ? model_->weight(-1, static_cast<Index>(j)) : Real(0);
        });
    }

    nb::dict ledger() const {
        const auto lock = reading();
        return shown_ledger(model_->ledger(), model_->conjugate());
    }

    struct Last {
        double loss = 0, error = 0, task_errors = 0, dual = 0;
    };
    const Last& last() const { return last_; }

private:
    void learn_rows(const std::vector<hinge::Rows<Real>>& rows, const hinge::TaskRows& y,
                    const std::optional<Vector<double>>& weight, const hinge::TaskSettings& set,
                    const hinge::TaskTrace<Real>& trace) {
        nb::gil_scoped_release release;
        const std::unique_lock lock(mutex_);
        check_tasks(rows.size(), y.tasks);
        model_->learn(rows, y, weight ? weight->data() : nullptr, set, trace);
    }

    static hinge::TaskTrace<Real> trace_of(std::optional<Filled<double>>& loss, std::optional<Filled<double>>& error,
                                           std::optional<Filled<double>>& task_errors,
                                           std::optional<Filled<double>>& dual, std::optional<Scores>& scores) {
        hinge::TaskTrace<Real> trace;
        if (loss) trace.loss = loss->data();
        if (error) trace.error = error->data();
        if (task_errors) trace.task_errors = task_errors->data();
        if (dual) trace.dual = dual->data();
        if (scores) trace.scores = scores->data();
        return trace;
    }

    hinge::TaskTrace<Real> last_trace() {
        hinge::TaskTrace<Real> trace;
        trace.loss = &last_.loss;
        trace.error = &last_.error;
        trace.task_errors = &last_.task_errors;
        trace.dual = &last_.dual;
        return trace;
    }

    static hinge::Code code_of(const Sides& code, bool by_margin) {
        return {code.data(), static_cast<Index>(code.shape(0)), code.shape(1), by_margin};
    }

    static hinge::TaskRows answers(const Index* labels, const Sides& code, bool by_margin) {
        hinge::TaskRows y{};
        y.tasks = code.shape(1);
        y.labels = labels;
        y.code = code_of(code, by_margin);
        return y;
    }

    static std::vector<hinge::Rows<Real>> rows_of(const Views& x) {
        std::vector<hinge::Rows<Real>> rows;
        for (const RowsView<Real>* view : x) rows.push_back(view->rows());
        return rows;
    }

    static std::vector<hinge::Rows<Real>> rows_of(const Views& x, std::int64_t start, std::int64_t stop) {
        std::vector<hinge::Rows<Real>> rows = rows_of(x);
        for (hinge::Rows<Real>& part : rows) part = part.between(start, stop);
        return rows;
    }

    static hinge::TaskRows answers(const std::optional<Sides>& sides, const std::optional<Matrix<double>>& numbers,
                                   double epsilon) {
        if (sides) return {sides->shape(1), sides->data(), nullptr, epsilon};
        if (numbers) return {numbers->shape(1), nullptr, numbers->data(), epsilon};
        throw nb::value_error("there are no answers");
    }

    void check_tasks(std::size_t matrices, std::size_t tasks) const {
        const auto known = static_cast<std::size_t>(model_->outputs());
        if (tasks != known || matrices != (model_->shared() ? 1 : known))
            throw std::runtime_error("another number of tasks than the model has");
    }

    // What was read, as matrices of one row.
    std::vector<hinge::Rows<Real>> rows_read(const std::vector<Read>& reads, std::vector<std::int64_t>& ends) const {
        std::vector<hinge::Rows<Real>> rows;
        ends.assign(2 * reads.size(), 0);
        for (std::size_t j = 0; j < reads.size(); ++j) {
            ends[2 * j + 1] = static_cast<std::int64_t>(reads[j].index.size());
            rows.push_back({ends.data() + 2 * j, reads[j].index.data(), reads[j].value.data(), 1, width_of(j),
                            intercept_ ? Real(1) : Real(0)});
        }
        return rows;
    }

    Index width_of(std::size_t part) const { return model_->features(model_->shared() ? 0 : static_cast<Index>(part)); }

    Real* copy_weights(Index task, Real* to) const {
        for (Index i = 0; i < model_->features(task); ++i) *to++ = model_->weight(i, task);
        return to;
    }

    bool intercept_;
    std::vector<Read> reads_;
    std::vector<std::int64_t> ends_;
    std::vector<Index> widths_;
    Last last_;
};

template <class Real>
void bind(nb::module_& m, const char* name) {
    using T = Tasks<Real>;
    using namespace nb::literals;
    auto type = nb::class_<T>(m, name, "Parallel tasks with a shared loss: tasks are numbered, rows are numbers.");
    bind_shared_model(type);
    type.def(nb::init<const std::string&, const std::vector<double>&, const std::string&, bool, bool>(), "update"_a,
             "norm"_a, "answers"_a, "shared"_a, "intercept"_a)
        .def("widen", &T::widen, "widths"_a)
        .def("learn", &T::learn, "x"_a, "start"_a, "stop"_a, "sides"_a.none(), "numbers"_a.none(), "weight"_a.none(), "C"_a, "radius"_a,
             "horizon"_a, "remoteness"_a, "epsilon"_a, "loss"_a.none() = nb::none(), "error"_a.none() = nb::none(),
             "task_errors"_a.none() = nb::none(), "dual"_a.none() = nb::none(), "scores"_a.none() = nb::none())
        .def("learn_one", &T::learn_one, "readers"_a, "x"_a, "sides"_a.none(), "numbers"_a.none(), "weight"_a, "C"_a,
             "radius"_a, "horizon"_a, "remoteness"_a, "epsilon"_a)
        .def("learn_labels", &T::learn_labels, "x"_a, "start"_a, "stop"_a, "label"_a, "code"_a, "by_margin"_a,
             "weight"_a.none(), "C"_a, "radius"_a, "horizon"_a, "remoteness"_a, "loss"_a.none() = nb::none(),
             "error"_a.none() = nb::none(), "task_errors"_a.none() = nb::none(), "dual"_a.none() = nb::none(),
             "scores"_a.none() = nb::none())
        .def("learn_one_label", &T::learn_one_label, "reader"_a, "x"_a, "label"_a, "code"_a, "by_margin"_a, "weight"_a,
             "C"_a, "radius"_a, "horizon"_a, "remoteness"_a)
        .def("decode", &T::decode, "scores"_a.noconvert(), "code"_a, "by_margin"_a, "out"_a.noconvert())
        .def("score", &T::score, "x"_a, "out"_a.noconvert())
        .def("score_one", &T::score_one, "readers"_a, "x"_a)
        .def_prop_ro("last_loss", [](const T& self) { return self.last().loss; })
        .def_prop_ro("last_error", [](const T& self) { return self.last().error; })
        .def_prop_ro("last_task_errors", [](const T& self) { return self.last().task_errors; })
        .def_prop_ro("last_dual", [](const T& self) { return self.last().dual; })
        .def("weights", &T::weights)
        .def("intercepts", &T::intercepts)
        .def("ledger", &T::ledger);
}

}  // namespace

void bind_multitask(nb::module_& m) {
    bind<float>(m, "MultitaskFloat32");
    bind<double>(m, "MultitaskFloat64");
}
