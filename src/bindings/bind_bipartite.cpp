#include "lists.hpp"

namespace {

hinge::MeasureAt measure_at(const std::string& name, double beta, std::size_t k) {
    using hinge::Measure;
    if (name == "sensitivity_specificity") return {Measure::sensitivity_specificity, beta, k};
    if (name == "f1") return {Measure::fbeta, 1.0, k};
    if (name == "fbeta") return {Measure::fbeta, beta, k};
    if (name == "recall_at_k") return {Measure::recall_at_k, beta, k};
    if (name == "precision_at_k") return {Measure::precision_at_k, beta, k};
    throw nb::value_error(("there is no measure " + name).c_str());
}

template <class Real>
class BipartiteRanker : public ListModel<hinge::BipartiteBatch<Real>, std::uint8_t> {
public:
    BipartiteRanker(const std::string& rule, bool intercept, bool average, const std::string& measure, double beta,
                    std::size_t k)
        : ListModel<hinge::BipartiteBatch<Real>, std::uint8_t>(rule, intercept, average) {
        this->model_->oracle().measure() = measure_at(measure, beta, k);
    }

    // What the measure answers to the scores of some rows, as 0 and 1.
    nb::object answer(Vector<double> scores) const {
        const auto count = scores.shape(0);
        hinge::MeasureAnswer answer;
        return new_array<std::uint8_t>({count}, [&](std::uint8_t* to) {
            answer.mark({scores.data(), count}, this->model().oracle().measure(), {}, {to, count});
        });
    }
};

template <class Real>
void bind(nb::module_& m, const char* name) {
    using B = BipartiteRanker<Real>;
    using namespace nb::literals;
    auto type = nb::class_<B>(m, name, "One vector of weights that tells relevant rows, learned by batch.");
    type.def(nb::init<const std::string&, bool, bool, const std::string&, double, std::size_t>(), "rule"_a,
             "intercept"_a, "average"_a, "measure"_a, "beta"_a, "k"_a)
        .def("answer", &B::answer, "scores"_a);
    bind_list_model(type);
}

}  // namespace

void bind_bipartite(nb::module_& m) {
    bind<float>(m, "BipartiteRankerFloat32");
    bind<double>(m, "BipartiteRankerFloat64");
}
