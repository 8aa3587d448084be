// A model of the core as Python holds it: many readers or one writer, copied, saved and put back.
#pragma once

#include <memory>
#include <mutex>
#include <shared_mutex>

#include "../core/ledger.hpp"
#include "archive.hpp"

// A lock is taken without the GIL, unless it is free.
template <class Lock>
Lock lock_politely(std::shared_mutex& mutex) {
    Lock lock(mutex, std::try_to_lock);
    if (!lock.owns_lock()) {
        nb::gil_scoped_release release;
        lock.lock();
    }
    return lock;
}

// A model offers clone(), features(), outputs(), grow(features, outputs), ledger() and archive(Archive&).
template <class Model>
class SharedModel {
public:
    explicit SharedModel(std::unique_ptr<Model> model) : model_(std::move(model)) {}
    SharedModel(const SharedModel& other) {
        const auto lock = other.reading();
        model_ = other.model_->clone();
    }

    auto reading() const { return lock_politely<std::shared_lock<std::shared_mutex>>(mutex_); }
    auto writing() { return lock_politely<std::unique_lock<std::shared_mutex>>(mutex_); }

    const Model& model() const { return *model_; }
    Model& model() { return *model_; }
    std::shared_mutex& mutex() const { return mutex_; }

    nb::dict state() {
        const auto lock = writing();
        Saver saver;
        model_->archive(saver);
        return saver.sections;
    }

    void restore(nb::dict sections) {
        const auto lock = writing();
        Loader loader(std::move(sections));
        model_->archive(loader);
        loader.finish();
    }

protected:
    std::unique_ptr<Model> model_;
    mutable std::shared_mutex mutex_;
};

// What every model offers to Python.
template <class Shared>
void bind_shared_model(nb::class_<Shared>& type) {
    using hinge::Index;
    type.def("copy", [](const Shared& self) { return new Shared(self); }, nb::rv_policy::take_ownership)
        .def_prop_ro("features", [](const Shared& self) { return self.model().features(); })
        .def_prop_ro("outputs", [](const Shared& self) { return self.model().outputs(); })
        .def_prop_ro("rounds", [](const Shared& self) { return self.model().ledger().rounds; })
        .def("grow",
             [](Shared& self, Index features, Index outputs) {
                 const auto lock = self.writing();
                 self.model().grow(features, outputs);
             },
             nb::arg("features"), nb::arg("outputs"))
        .def("state", &Shared::state)
        .def("restore", &Shared::restore, nb::arg("sections"));
}

// The books, and the dual read off the state.
inline nb::dict shown_ledger(const hinge::Ledger& book, double conjugate) {
    nb::dict out;
    out["rounds"] = book.rounds;
    out["idle"] = book.idle;
    out["mistakes"] = book.mistakes;
    out["mistake_weight"] = book.mistake_weight;
    out["loss"] = book.loss;
    out["dual"] = book.promised - conjugate;
    out["running_dual"] = book.dual;
    out["risen"] = book.risen;
    out["least_gain"] = book.least_gain;
    out["C"] = book.C;
    out["least_C"] = book.least_C;
    out["conjugate"] = conjugate;
    out["promised"] = book.promised;
    return out;
}
