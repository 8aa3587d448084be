#include "ranker.hpp"

namespace {

struct LabelRanking;

template <class Real>
void bind(nb::module_& m, const char* name) {
    using R = Ranker<Real, LabelRanking>;
    using namespace nb::literals;
    auto type = nb::class_<R>(m, name, "A label ranker: outputs are numbered, rows are numbers.");
    type.def(
        "__init__",
        [](R* self, const std::string& update, const std::string& geometry, bool intercept, bool average) {
            auto model = hinge::make_label_ranking<Real>(update, geometry, intercept, average);
            if (!model)
                throw nb::value_error(("no algorithm has update " + update + " and geometry " + geometry).c_str());
            new (self) R(std::move(model), intercept);
        },
        "update"_a, "geometry"_a, "intercept"_a, "average"_a);
    bind_ranker(type);
}

}  // namespace

void bind_label_ranking(nb::module_& m) {
    bind<float>(m, "LabelRankerFloat32");
    bind<double>(m, "LabelRankerFloat64");
}
