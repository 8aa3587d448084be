// Rows as Python hands them over: views on arrays that are kept alive, or one dict read into a row.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "../core/hashing.hpp"
#include "../core/rows.hpp"
#include "archive.hpp"

namespace nb = nanobind;

template <class T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using Filled = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// The rows of a call. The arrays belong to Python and live as long as this does.
template <class Real>
class RowsView {
public:
    RowsView(Matrix<Real> values, bool intercept)
        : rows_{nullptr, nullptr, values.data(), static_cast<std::int64_t>(values.shape(0)),
                static_cast<hinge::Index>(values.shape(1)), constant(intercept)},
          values_(nb::cast(values)) {}

    RowsView(Vector<std::int64_t> start, Vector<std::int32_t> index, Vector<Real> values, std::int64_t width,
             bool intercept)
        : rows_{start.data(), index.data(), values.data(), static_cast<std::int64_t>(start.shape(0)) - 1,
                static_cast<hinge::Index>(width), constant(intercept)},
          stored_(static_cast<std::int64_t>(std::min(index.shape(0), values.shape(0)))),
          start_(nb::cast(start)),
          index_(nb::cast(index)),
          values_(nb::cast(values)) {
        if (start.shape(0) == 0) throw nb::value_error("indptr is empty");
    }

    const hinge::Rows<Real>& rows() const { return rows_; }
    hinge::Finding inspect() const {
        return rows_.start ? hinge::inspect_sparse(rows_, stored_) : hinge::inspect_dense(rows_);
    }

    // The arrays as they are: start and index are None where the rows are dense.
    nb::tuple arrays() const { return nb::make_tuple(start_, index_, values_, rows_.width); }

    // A copy of some of the rows, in the given order.
    RowsView take(Vector<std::int64_t> order) const {
        const auto count = order.shape(0);
        const bool intercept = rows_.constant != Real(0);
        for (std::size_t i = 0; i < count; ++i)
            if (order.data()[i] < 0 || order.data()[i] >= rows_.count) throw nb::index_error("no such row");
        if (!rows_.start) {
            const auto width = static_cast<std::size_t>(rows_.width);
            return {nb::cast<Matrix<Real>>(new_array<Real>({count, width}, [&](Real* to) {
                        for (std::size_t i = 0; i < count; ++i) to = std::copy_n(rows_[order.data()[i]].value, width, to);
                    })),
                    intercept};
        }
        std::size_t stored = 0;
        auto start = new_array<std::int64_t>({count + 1}, [&](std::int64_t* to) {
            *to++ = 0;
            for (std::size_t i = 0; i < count; ++i)
                *to++ = static_cast<std::int64_t>(stored += static_cast<std::size_t>(rows_[order.data()[i]].count));
        });
        auto index = new_array<std::int32_t>({stored}, [&](std::int32_t* to) {
            for (std::size_t i = 0; i < count; ++i)
                to = std::copy_n(rows_[order.data()[i]].index, rows_[order.data()[i]].count, to);
        });
        auto value = new_array<Real>({stored}, [&](Real* to) {
            for (std::size_t i = 0; i < count; ++i)
                to = std::copy_n(rows_[order.data()[i]].value, rows_[order.data()[i]].count, to);
        });
        return {nb::cast<Vector<std::int64_t>>(start), nb::cast<Vector<std::int32_t>>(index),
                nb::cast<Vector<Real>>(value), rows_.width, intercept};
    }

private:
    static Real constant(bool intercept) { return intercept ? Real(1) : Real(0); }

    hinge::Rows<Real> rows_;
    std::int64_t stored_ = 0;
    nb::object start_ = nb::none(), index_ = nb::none(), values_;
};

// Reads dicts of feature name to number or string into a row; knows which feature a name is.
class DictReader {
public:
    explicit DictReader(int bits) : bits_(bits) {}  // 0: names, else hashed

    nb::dict& names() { return names_; }
    const nb::dict& names() const { return names_; }
    void set_names(nb::dict names) { names_ = std::move(names); }
    hinge::Index features() const {
        return bits_ > 0 ? hinge::Index(1) << bits_ : static_cast<hinge::Index>(PyDict_Size(names_.ptr()));
    }

    // What a dict holds, by increasing feature.
    template <class Real>
    struct Read {
        std::vector<hinge::Index> index;
        std::vector<Real> value;
        // Without the features that a model of `features` does not have.
        hinge::Row<Real> row(bool intercept, hinge::Index features) const {
            const auto end = std::lower_bound(index.begin(), index.end(), features);
            return {index.data(), value.data(), static_cast<hinge::Index>(end - index.begin()),
                    intercept ? Real(1) : Real(0)};
        }
    };

    // New names are added, all or (where a value is bad) none of them.
    template <class Real>
    void read_and_add(nb::dict x, Read<Real>& to) {
        check<Real>(x, to);
        add();
    }

    // Names that were never learned are left out.
    template <class Real>
    void read(nb::dict x, Read<Real>& to) {
        collect<Real>(x, false);
        fill(entries_, to);
    }

    // Throws what reading and adding would throw; adds nothing.
    template <class Real>
    void check(nb::dict x, Read<Real>& to) {
        if (fresh_.size() > 0) fresh_.clear();
        collect<Real>(x, true);
        fill(entries_, to);
    }
    // Adds the new names of what was checked last; how many features there are then.
    void add() {
        if (fresh_.size() == 0) return;
        names_.update(fresh_);
        fresh_.clear();
    }
    hinge::Index features_then() const {
        return bits_ > 0 ? features() : features() + static_cast<hinge::Index>(fresh_.size());
    }

private:
    struct Entry {
        hinge::Index index;
        double value;
    };

    template <class Real>
    void collect(const nb::dict& x, bool add) {
        entries_.clear();
        PyObject *key, *value;
        Py_ssize_t at = 0;
        while (PyDict_Next(x.ptr(), &at, &key, &value)) {
            if (!PyUnicode_Check(key))
                throw nb::type_error((std::string("feature names must be strings, got ") + shown(key)).c_str());
            if (PyUnicode_Check(value)) {
                const nb::object name = nb::steal<nb::object>(PyUnicode_FromFormat("%U=%U", key, value));
                if (!name.is_valid()) nb::raise_python_error();
                put(name.ptr(), 1.0, add);
            } else {
                put(key, number<Real>(key, value), add);
            }
        }
    }

    template <class Real>
    static double number(PyObject* key, PyObject* value) {
        const double v = PyFloat_CheckExact(value) ? PyFloat_AS_DOUBLE(value) : PyFloat_AsDouble(value);
        if (v == -1.0 && PyErr_Occurred()) {
            PyErr_Clear();
            throw nb::type_error(("feature " + shown(key) + " must be a number or a string, got " + shown(value)).c_str());
        }
        if (!std::isfinite(static_cast<Real>(v)))
            throw nb::value_error(("feature " + shown(key) + " is " + shown(value) +
                                   (std::isfinite(v) ? ", too large for float32" : "; it must be finite")).c_str());
        return static_cast<double>(static_cast<Real>(v));
    }

    void put(PyObject* name, double value, bool add) {
        if (bits_ > 0) {
            Py_ssize_t length;
            const char* text = PyUnicode_AsUTF8AndSize(name, &length);
            if (!text) nb::raise_python_error();
            const auto hashed = hinge::hash_feature({text, static_cast<std::size_t>(length)}, bits_);
            entries_.push_back({hashed.index, hashed.sign * value});
            return;
        }
        PyObject* found = PyDict_GetItemWithError(names_.ptr(), name);
        if (!found && add) {
            found = PyDict_GetItemWithError(fresh_.ptr(), name);
            if (!found) fresh_[nb::handle(name)] = nb::int_(features() + static_cast<hinge::Index>(fresh_.size()));
            found = PyDict_GetItemWithError(fresh_.ptr(), name);
        }
        if (found) entries_.push_back({static_cast<hinge::Index>(PyLong_AsLong(found)), value});
    }

    template <class Real>
    static void fill(std::vector<Entry>& entries, Read<Real>& to) {
        const auto before = [](const Entry& a, const Entry& b) { return a.index < b.index; };
        if (!std::is_sorted(entries.begin(), entries.end(), before))
            std::stable_sort(entries.begin(), entries.end(), before);
        to.index.clear();
        to.value.clear();
        for (const Entry& entry : entries) {
            if (!to.index.empty() && to.index.back() == entry.index) {
                to.value.back() += static_cast<Real>(entry.value);
                if (!std::isfinite(to.value.back()))
                    throw nb::value_error("the values of features that share one place sum to infinity");
            } else {
                to.index.push_back(entry.index);
                to.value.push_back(static_cast<Real>(entry.value));
            }
        }
    }

    static std::string shown(PyObject* what) { return nb::repr(nb::handle(what)).c_str(); }

    int bits_;
    nb::dict names_;
    std::vector<Entry> entries_;
    nb::dict fresh_;  // names that the dict being read brings
};
