// Values side by side in one register, wherever in memory they stand.
#pragma once

namespace hinge {

// Two steps, because clang takes the alignment of the whole vector where size and alignment are asked for at once.
template <class Real, int Bytes>
struct LooseVector {
    typedef Real Whole __attribute__((vector_size(Bytes)));
    typedef Whole type __attribute__((may_alias, aligned(alignof(Real))));
    static_assert(alignof(type) == alignof(Real));
};
template <class Real, int Bytes>
using Vector = typename LooseVector<Real, Bytes>::type;

}  // namespace hinge
