// What a learner shows of its state so that it can be stored and put back: the same walk does both.
//
// A learner is grown to its full shape before it is put back, so every part has its final size when it is shown.
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

    // As many values as the state itself says; `values` are as many as the learner has been grown to.
    virtual void list(const char* name, std::vector<double>& values) { this->values(name, values); }

    void value(const char* name, double& value) {
        std::vector<double> one{value};
        values(name, one);
        value = one[0];
    }
};

}  // namespace hinge
