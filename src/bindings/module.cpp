// The compiled part of hinge: one bind_<word> a word.
#include <nanobind/nanobind.h>

#include "../core/kernels.hpp"

namespace nb = nanobind;

void bind_bipartite(nb::module_& m);
void bind_label_ranking(nb::module_& m);
void bind_model_file(nb::module_& m);
void bind_multiclass(nb::module_& m);
void bind_multitask(nb::module_& m);
void bind_ordinal(nb::module_& m);
void bind_pairwise(nb::module_& m);
void bind_ranking(nb::module_& m);
void bind_rows(nb::module_& m);
void bind_sequence(nb::module_& m);
void bind_structured(nb::module_& m);
void bind_text(nb::module_& m);

NB_MODULE(_core, m) {
    m.doc() = "The compiled core of hinge.";
    m.def("instruction_set", [] { return hinge::kernels<float>().name; },
          "Name the instruction set whose inner loops run; HINGE_SIMD in the environment lowers it.");
    bind_bipartite(m);
    bind_label_ranking(m);
    bind_model_file(m);
    bind_multiclass(m);
    bind_multitask(m);
    bind_ordinal(m);
    bind_pairwise(m);
    bind_ranking(m);
    bind_rows(m);
    bind_sequence(m);
    bind_structured(m);
    bind_text(m);
}
