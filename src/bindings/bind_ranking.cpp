#include "lists.hpp"

namespace {

template <class Real>
class ListRanker : public ListModel<hinge::RankedLists<Real>, double> {
public:
    ListRanker(const std::string& rule, bool average, bool ndcg, std::size_t k, bool exponential,
               bool mean_ties)
        : ListModel<hinge::RankedLists<Real>, double>(rule, false, average) {
        this->model_->oracle().loss() = {ndcg, k, exponential, mean_ties};
    }
};

template <class Real>
void bind(nb::module_& m, const char* name) {
    using namespace nb::literals;
    auto type = nb::class_<ListRanker<Real>>(m, name, "One vector of weights that scores documents, learned by list.");
    type.def(nb::init<const std::string&, bool, bool, std::size_t, bool, bool>(), "rule"_a, "average"_a, "ndcg"_a, "k"_a,
             "exponential"_a, "mean_ties"_a);
    bind_list_model(type);
}

}  // namespace

void bind_ranking(nb::module_& m) {
    bind<float>(m, "ListRankerFloat32");
    bind<double>(m, "ListRankerFloat64");
}
