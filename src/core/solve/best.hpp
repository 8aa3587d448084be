// The exact best step for all constraints of a round. One specialisation for each (region, line) that exists.
#pragma once

namespace hinge::solve {

template <class Region, class Line>
class Best {
    static_assert(sizeof(Region) == 0, "rule full: solve/ has no best step for this region in this geometry");
};

}  // namespace hinge::solve
