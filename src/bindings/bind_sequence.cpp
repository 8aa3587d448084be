#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <optional>
#include <tuple>
#include <vector>

#include "../core/sequence.hpp"
#include "rows.hpp"
#include "shared_model.hpp"

namespace {

using hinge::Index;

template <class Real>
class Sequence : public SharedModel<hinge::SequenceModel<Real>> {
public:
    using Shared = SharedModel<hinge::SequenceModel<Real>>;
    using Shared::model_, Shared::mutex_, Shared::reading, Shared::writing;
    using Starts = Vector<std::int64_t>;
    using Order = std::optional<Vector<std::int64_t>>;

    Sequence(const std::string& rule, bool intercept, bool average, bool normalize)
        : Shared(std::make_unique<hinge::SequenceModel<Real>>(rule, average, normalize)), intercept_(intercept) {
        if (!model_->exists()) throw nb::value_error(("there is no rule " + rule).c_str());
    }
    Sequence(const Sequence& other) : Shared(other), intercept_(other.intercept_) {}

    void learn(const RowsView<Real>& x, Starts start, Order order, Vector<std::int32_t> y,
               std::optional<Vector<double>> weight, double C, std::optional<Filled<double>> loss,
               std::optional<Filled<double>> error, std::optional<Filled<double>> dual,
               std::optional<Filled<std::int32_t>> answer) {
        const hinge::WordRows words = checked(x, start, order);
        hinge::WordTrace trace;
        if (loss) trace.loss = loss->data();
        if (error) trace.error = error->data();
        if (dual) trace.dual = dual->data();
        if (answer) trace.answer = answer->data();
        nb::gil_scoped_release release;
        const std::unique_lock lock(mutex_);
        model_->learn(x.rows(), words, y.data(), weight ? weight->data() : nullptr, {C, 0, 0}, trace);
    }

    void answer(const RowsView<Real>& x, Starts start, Filled<std::int32_t> out) const {
        const hinge::WordRows words = checked(x, start, std::nullopt);
        nb::gil_scoped_release release;
        const std::shared_lock lock(mutex_);
        model_->answer(x.rows(), words, out.data());
    }

    void best_through(const RowsView<Real>& x, Starts start,
                      nb::ndarray<Real, nb::ndim<2>, nb::c_contig, nb::device::cpu> out) const {
        const hinge::WordRows words = checked(x, start, std::nullopt);
        nb::gil_scoped_release release;
        const std::shared_lock lock(mutex_);
        if (static_cast<Index>(out.shape(1)) != model_->outputs())
            throw std::runtime_error("another thread changed the labels meanwhile; let readers use snapshot()");
        model_->best_through(x.rows(), words, out.data());
    }

    // The k best words of one: scores, and letters by word.
    nb::tuple best(const RowsView<Real>& x, std::int64_t first, std::int64_t end, std::int32_t k) const {
        const auto lock = reading();
        std::vector<Real> scores;
        std::vector<Index> paths;
        const auto length = static_cast<Index>(end - first);
        const auto found = static_cast<std::size_t>(model_->best({&x.rows(), first, length}, k, scores, paths));
        return nb::make_tuple(
            new_array<Real>({found}, [&](Real* to) { std::copy(scores.begin(), scores.end(), to); }),
            new_array<std::int32_t>({found, static_cast<std::size_t>(length)},
                                    [&](std::int32_t* to) { std::copy(paths.begin(), paths.end(), to); }));
    }

    std::tuple<int, double, double, double> solve(const RowsView<Real>& x, Starts start, Order order,
                                                  Vector<std::int32_t> y, Vector<double> caps, double tolerance,
                                                  int passes) {
        const hinge::WordRows words = checked(x, start, order);
        nb::gil_scoped_release release;
        const std::unique_lock lock(mutex_);
        const auto done = model_->solve(x.rows(), words, y.data(), caps.data(), tolerance, passes);
        return {done.passes, done.primal, done.dual, done.hinge};
    }

    // Which words have another path with a margin below `below`, and the directions to it as the arrays of a CSR
    // matrix over the whole memory.
    nb::tuple rivals(const RowsView<Real>& x, Starts start, Vector<std::int32_t> y, double below) {
        const hinge::WordRows words = checked(x, start, std::nullopt);
        const auto lock = writing();
        std::vector<std::int64_t> which, ends{0};
        std::vector<std::int64_t> index;
        std::vector<double> value;
        const Index reserved = model_->weights().reserved();
        model_->rivals(x.rows(), words, y.data(), below, [&](std::int64_t i, const hinge::Row<Real>& row) {
            which.push_back(i);
            row.each([&](Index place, Real v) {
                index.push_back(place + reserved);
                value.push_back(static_cast<double>(v));
            });
            ends.push_back(static_cast<std::int64_t>(index.size()));
        });
        return nb::make_tuple(copied(which), copied(ends), copied(index), copied(value));
    }

    // All weights as they lie in memory, and back.
    std::int64_t cells() {
        const auto lock = reading();
        return std::int64_t{model_->weights().reserved()} + model_->weights().features();
    }
    void write(Vector<double> values) {
        const auto lock = writing();
        auto& weights = model_->weights();
        Real* to = weights.row(-weights.reserved());
        for (std::size_t i = 0; i < values.shape(0); ++i) to[i] = static_cast<Real>(values.data()[i]);
    }

    nb::object emissions() const {
        const auto lock = reading();
        const Index n = model_->features(), q = model_->outputs();
        return new_array<Real>({static_cast<std::size_t>(q), static_cast<std::size_t>(n)}, [&](Real* to) {
            for (Index y = 0; y < q; ++y)
                for (Index j = 0; j < n; ++j) *to++ = static_cast<Real>(model_->emission(j, y));
        });
    }
    nb::object intercepts() const {
        const auto lock = reading();
        return new_array<Real>({static_cast<std::size_t>(model_->outputs())}, [&](Real* to) {
            for (Index y = 0; y < model_->outputs(); ++y)
                *to++ = intercept_ ? static_cast<Real>(model_->emission(-1, y)) : Real(0);
        });
    }
    nb::object transitions() const {
        const auto lock = reading();
        const auto q = static_cast<std::size_t>(model_->outputs());
        return new_array<Real>({q, q}, [&](Real* to) {
            for (Index p = 0; p < model_->outputs(); ++p)
                for (Index y = 0; y < model_->outputs(); ++y) *to++ = static_cast<Real>(model_->transition(p, y));
        });
    }

    void set_cost(Matrix<double> by_truth) {
        const auto lock = writing();
        model_->set_cost({by_truth.data(), by_truth.data() + by_truth.size()});
    }

    nb::dict ledger() const {
        const auto lock = reading();
        return shown_ledger(model_->ledger(), model_->conjugate());
    }

private:
    static hinge::WordRows checked(const RowsView<Real>& x, const Starts& start, const Order& order) {
        const auto count = static_cast<std::int64_t>(start.shape(0)) - 1;
        if (count < 0 || start.data()[count] > x.rows().count) throw nb::value_error("there are fewer rows than words say");
        for (std::int64_t i = 0; i < count; ++i)
            if (start.data()[i] < 0 || start.data()[i + 1] <= start.data()[i]) throw nb::value_error("a word has no rows");
        if (!order) return {start.data(), nullptr, count};
        for (std::size_t i = 0; i < order->shape(0); ++i)
            if (order->data()[i] < 0 || order->data()[i] >= count) throw nb::index_error("no such word");
        return {start.data(), order->data(), static_cast<std::int64_t>(order->shape(0))};
    }

    template <class T>
    static nb::object copied(const std::vector<T>& values) {
        return new_array<T>({values.size()}, [&](T* to) { std::copy(values.begin(), values.end(), to); });
    }

    bool intercept_;
};

template <class Real>
void bind(nb::module_& m, const char* name) {
    using S = Sequence<Real>;
    using namespace nb::literals;
    auto type = nb::class_<S>(m, name, "Words: letters are numbered, rows are numbers.");
    bind_shared_model(type);
    type.def(nb::init<const std::string&, bool, bool, bool>(), "rule"_a, "intercept"_a, "average"_a, "normalize"_a)
        .def("learn", &S::learn, "x"_a, "start"_a, "order"_a.none(), "y"_a, "weight"_a.none(), "C"_a,
             "loss"_a.none() = nb::none(), "error"_a.none() = nb::none(), "dual"_a.none() = nb::none(),
             "answer"_a.none() = nb::none())
        .def("answer", &S::answer, "x"_a, "start"_a, "out"_a.noconvert())
        .def("best_through", &S::best_through, "x"_a, "start"_a, "out"_a.noconvert())
        .def("best", &S::best, "x"_a, "first"_a, "end"_a, "k"_a)
        .def("solve", &S::solve, "x"_a, "start"_a, "order"_a.none(), "y"_a, "caps"_a, "tolerance"_a, "passes"_a)
        .def("rivals", &S::rivals, "x"_a, "start"_a, "y"_a, "below"_a)
        .def_prop_ro("cells", &S::cells)
        .def("write", &S::write, "values"_a)
        .def("emissions", &S::emissions)
        .def("intercepts", &S::intercepts)
        .def("transitions", &S::transitions)
        .def("set_cost", &S::set_cost, "by_truth"_a)
        .def("ledger", &S::ledger);
}

}  // namespace

void bind_sequence(nb::module_& m) {
    bind<float>(m, "SequenceFloat32");
    bind<double>(m, "SequenceFloat64");
}
