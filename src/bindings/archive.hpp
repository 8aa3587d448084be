// A learner's state as a dict of arrays, and back.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <string>
#include <vector>

#include "../core/archive.hpp"

namespace nb = nanobind;

// A new array that owns its memory.
template <class T>
nb::object new_array(std::vector<std::size_t> shape, auto&& fill) {
    std::size_t count = 1;
    for (std::size_t length : shape) count *= length;
    T* data = new T[count];
    nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<T*>(p); });
    fill(data);
    return nb::cast(nb::ndarray<nb::numpy, T>(data, shape.size(), shape.data(), owner));
}

class Saver final : public hinge::Archive {
public:
    nb::dict sections;

    void values(const char* name, std::vector<double>& values) override {
        sections[name] =
            new_array<double>({values.size()}, [&](double* to) { std::copy(values.begin(), values.end(), to); });
    }
    void weights(const char* name, hinge::Weights<float>& weights) override { save(name, weights); }
    void weights(const char* name, hinge::Weights<double>& weights) override { save(name, weights); }

private:
    template <class Real>
    void save(const char* name, const hinge::Weights<Real>& weights) {
        const auto rows = static_cast<std::size_t>(weights.reserved() + weights.features());
        const auto columns = static_cast<std::size_t>(weights.outputs());
        sections[name] = new_array<Real>({rows, columns}, [&](Real* to) {
            for (hinge::Index j = -weights.reserved(); j < weights.features(); ++j)
                to = std::copy_n(weights.row(j), columns, to);
        });
    }
};

// Every section that the learner asks for must be there, of its exact type and shape, and no other.
class Loader final : public hinge::Archive {
public:
    explicit Loader(nb::dict sections) : sections_(std::move(sections)) {}

    void values(const char* name, std::vector<double>& values) override {
        const auto array = take<double, 1>(name, {values.size()});
        std::copy_n(array.data(), values.size(), values.begin());
    }
    void list(const char* name, std::vector<double>& values) override {
        if (!sections_.contains(name)) throw missing(name);
        values.resize(nb::len(nb::object(sections_[name])));
        this->values(name, values);
    }
    void weights(const char* name, hinge::Weights<float>& weights) override { load(name, weights); }
    void weights(const char* name, hinge::Weights<double>& weights) override { load(name, weights); }

    void finish() const {
        if (taken_ != nb::len(sections_)) throw nb::value_error("there are sections that this model does not have");
    }

private:
    template <class Real>
    void load(const char* name, hinge::Weights<Real>& weights) {
        const auto rows = static_cast<std::size_t>(weights.reserved() + weights.features());
        const auto columns = static_cast<std::size_t>(weights.outputs());
        const auto array = take<Real, 2>(name, {rows, columns});
        const Real* from = array.data();
        for (hinge::Index j = -weights.reserved(); j < weights.features(); ++j, from += columns)
            std::copy_n(from, columns, weights.row(j));
    }

    template <class T, int Axes>
    nb::ndarray<const T, nb::ndim<Axes>, nb::c_contig, nb::device::cpu> take(const char* name,
                                                                              std::vector<std::size_t> shape) {
        using Array = nb::ndarray<const T, nb::ndim<Axes>, nb::c_contig, nb::device::cpu>;
        const std::string section = std::string("section '") + name + "'";
        if (!sections_.contains(name)) throw missing(name);
        Array array;
        if (!nb::try_cast<Array>(sections_[name], array, false))
            throw nb::value_error((section + " has another type than the model").c_str());
        for (std::size_t axis = 0; axis < shape.size(); ++axis)
            if (array.shape(axis) != shape[axis])
                throw nb::value_error((section + " has another shape than the model").c_str());
        ++taken_;
        return array;
    }

    static nb::builtin_exception missing(const char* name) {
        return nb::value_error((std::string("section '") + name + "' is missing").c_str());
    }

    nb::dict sections_;
    std::size_t taken_ = 0;
};
