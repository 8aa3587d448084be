// What a learner shows of its state so that it can be stored and put back: the same walk does both.
#pragma once

#include <vector>

#include "weights.hpp"

namespace hinge {

class Archive {
public:
    virtual ~Archive() = default;
    virtual void values(const char* name, std::vector<double>& values) = 0;
    virtual void weights(const char* name, Weights<float>& weights) = 0;
    virtual void weights(const char* name, Weights<double>& weights) = 0;
};

}  // namespace hinge
