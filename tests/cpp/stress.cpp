// Runs the label rankers through everything that touches memory: rows of all forms, labels and features that come and
// go, weights, means, cuts, copies. To be compiled with sanitizers (tests/test_sanitizers.py); prints a checksum.
#include <cstdio>
#include <map>
#include <random>
#include <string>

#include "core/label_ranking.hpp"

using hinge::Index;

namespace {

std::mt19937 random_bits(7);  // NOLINT: the same stream everywhere

double uniform() { return static_cast<double>(random_bits() >> 8) / 16777216.0; }
Index below(Index n) { return static_cast<Index>(uniform() * n); }

// Keeps what it is shown, or gives it back.
class Memory final : public hinge::Archive {
public:
    bool giving = false;
    void values(const char* name, std::vector<double>& values) override {
        if (giving)
            values = doubles_.at(name);
        else
            doubles_[name] = values;
    }
    void weights(const char* name, hinge::Weights<float>& weights) override { keep(name, weights); }
    void weights(const char* name, hinge::Weights<double>& weights) override { keep(name, weights); }

private:
    template <class Real>
    void keep(const char* name, hinge::Weights<Real>& weights) {
        std::vector<double>& kept = doubles_[name];
        if (!giving) kept.clear();
        std::size_t at = 0;
        for (Index j = -weights.reserved(); j < weights.features(); ++j)
            for (Index y = 0; y < weights.outputs(); ++y) {
                if (giving)
                    weights.row(j)[y] = static_cast<Real>(kept.at(at++));
                else
                    kept.push_back(static_cast<double>(weights.row(j)[y]));
            }
    }

    std::map<std::string, std::vector<double>> doubles_;
};

// Arrays of exactly the length that is used, so that a read beyond their end is found.
template <class Real>
struct Batch {
    std::vector<std::int64_t> start{0}, label_start{0};
    std::vector<Index> index, label, exist;
    std::vector<Real> value;
    std::vector<double> weight;
    std::int64_t count;
    Index width;
    bool dense, sets;

    Batch(std::int64_t rows, Index features, Index labels, bool is_dense, bool has_sets)
        : count(rows), width(features), dense(is_dense), sets(has_sets) {
        const double share = uniform();
        for (std::int64_t t = 0; t < rows; ++t) {
            for (Index j = 0; j < features; ++j) {
                const bool is_there = uniform() < share;
                const auto v = static_cast<Real>(uniform() < 0.3 ? 1.0 : 4 * uniform() - 2);
                if (dense) value.push_back(is_there ? v : Real(0));
                if (!dense && is_there) index.push_back(j), value.push_back(v);
            }
            start.push_back(static_cast<std::int64_t>(index.size()));
            weight.push_back(uniform() < 0.2 ? 0.0 : 2 * uniform());
            if (!sets) {
                label.push_back(below(labels + 1) - 1);
                continue;
            }
            for (Index y = 0; y < labels; ++y)
                if (uniform() < 0.2) label.push_back(y);
            label_start.push_back(static_cast<std::int64_t>(label.size()));
            exist.push_back(below(labels + 1));
        }
    }

    hinge::Rows<Real> rows(bool intercept) const {
        return {dense ? nullptr : start.data(), dense ? nullptr : index.data(), value.data(), count, width,
                intercept ? Real(1) : Real(0)};
    }
    hinge::LabelRows labels() const {
        return {sets ? label_start.data() : nullptr, label.data(), sets, sets ? exist.data() : nullptr};
    }
};

template <class Real>
double run(const char* update, const char* geometry) {
    double sum = 0;
    for (int number = 0; number < 3; ++number) {
        const bool intercept = number % 2 == 0, average = number % 3 == 0;
        auto model = hinge::make_label_ranking<Real>(update, geometry, intercept, average);
        Index features = 1 + below(40), labels = 1 + below(6);
        model->grow(features, labels);
        for (int call = 0; call < 12; ++call) {
            const hinge::Settings set{uniform() < 0.3 ? 20.0 : 0.5, uniform() < 0.3 ? 2.0 : 0.1, 1.0};
            labels = std::min<Index>(labels + below(1 + labels), 150);
            const Batch<Real> batch(1 + below(20), features, labels, call % 2 == 0, call % 3 == 0);
            const auto rows = batch.rows(intercept);
            const auto found = rows.start ? hinge::inspect_sparse(rows, static_cast<std::int64_t>(batch.index.size()))
                                          : hinge::inspect_dense(rows);
            if (found.flaw != hinge::Flaw::none) return std::printf("a good row was refused\n"), 0;
            std::vector<double> loss(static_cast<std::size_t>(batch.count)), dual(loss), cut(loss), error(loss);
            std::vector<Real> scores(loss.size() * static_cast<std::size_t>(std::max(labels, model->outputs())));
            hinge::Trace<Real> trace{loss.data(), error.data(), dual.data(), cut.data(), scores.data(),
                                     static_cast<Index>(std::max(labels, model->outputs()))};
            model->learn(rows, batch.labels(), call % 4 == 0 ? nullptr : batch.weight.data(), set,
                         call % 5 == 0 ? hinge::Trace<Real>{} : trace);
            for (double l : loss) sum += l;

            std::vector<Real> out(static_cast<std::size_t>(model->outputs()) * loss.size());
            model->score(rows, out.data());
            for (Real s : out) sum += static_cast<double>(s);
            sum += model->conjugate() + model->ledger().dual + model->weight(features - 1, model->outputs() - 1);
            if (call % 5 == 4) {
                Memory memory;
                auto copy = model->clone();
                model->archive(memory);
                memory.giving = true;
                copy->archive(memory);
                model = std::move(copy);
            }
            if (call % 4 == 3 && model->outputs() > 1) {
                model->erase_output(below(model->outputs()));
                labels = model->outputs();
            }
            if (call % 3 == 2) model->grow(features += below(30), model->outputs());
        }
    }
    return sum;
}

}  // namespace

int main() {
    double sum = 0;
    for (const char* geometry : {"euclidean", "adaptive", "entropic", "signed-entropic"})
        for (const char* update : {"fixed", "single", "full"}) {
            if (!hinge::make_label_ranking<float>(update, geometry, true, false)) continue;
            const double single = run<float>(update, geometry), twice = run<double>(update, geometry);
            std::printf("%s %s %.6g %.6g\n", update, geometry, single, twice);
            sum += single + twice;
        }
    return std::isfinite(sum) ? 0 : 1;
}
