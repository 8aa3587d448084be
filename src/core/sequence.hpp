// Words behind one face: letters and features are grown, words learned, answered and explained, by number.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "oracle_model.hpp"
#include "problem/words.hpp"
#include "solve/direction_blocks.hpp"

namespace hinge {

// The words of a call: word i has the rows start[order[i]] .. start[order[i] + 1], or start[i] .. without an order.
struct WordRows {
    const std::int64_t* start;
    const std::int64_t* order;  // or null
    std::int64_t count;

    std::int64_t number(std::int64_t i) const { return order ? order[i] : i; }
    std::int64_t first(std::int64_t i) const { return start[number(i)]; }
    Index length(std::int64_t i) const { return static_cast<Index>(start[number(i) + 1] - first(i)); }
};

struct WordTrace {
    double* loss = nullptr;
    double* error = nullptr;
    double* dual = nullptr;
    Index* answer = nullptr;  // by row, before the word was learned
};

template <class Real>
class SequenceModel {
public:
    using Oracle = Words<Real>;

    SequenceModel(std::string_view rule, bool average, bool normalize)
        : model_(make_oracle_model<Oracle>(rule, 0, average)), normalize_(normalize) {
        if (!model_) return;
        model_->grow(0, 1);
        model_->oracle().set_normalize(normalize);
    }
    SequenceModel(const SequenceModel& other)
        : model_(other.model_->clone()),
          normalize_(other.normalize_),
          features_(other.features_),
          letters_(other.letters_),
          stride_(other.stride_) {}

    bool exists() const { return model_ != nullptr; }
    std::unique_ptr<SequenceModel> clone() const { return std::make_unique<SequenceModel>(*this); }

    Index features() const { return features_; }
    Index outputs() const { return letters_; }
    const Ledger& ledger() const { return model_->ledger(); }
    double conjugate() const { return model_->conjugate(); }
    // By truth and then by answer.
    void set_cost(std::vector<double> by_truth) { model_->oracle().set_cost(std::move(by_truth)); }

    void grow(Index features, Index letters) {
        if (letters > stride_) {
            const Index stride = Weights<Real>::padded(letters);  // of letters alone, so that a file knows it
            check_size(features, stride);
            model_->regrid(stride_, stride, 1 + stride);
            stride_ = stride;
        }
        check_size(features, stride_);
        model_->grow(features * stride_, 1);
        features_ = features;
        letters_ = letters;
        model_->oracle().set_letters(letters_, stride_);
    }

    void learn(const Rows<Real>& x, const WordRows& words, const Index* y, const double* weights, const Settings& set,
               const WordTrace& trace) {
        for (std::int64_t i = 0; i < words.count; ++i) {
            const Word<Real> word{&x, words.first(i), words.length(i)};
            const Index* letters = y + word.first;
            const Index exist = *std::max_element(letters, letters + word.length) + 1;
            if (exist > letters_) grow(features_, exist);
            if (trace.answer) answer(word, trace.answer + word.first);
            const Judgement seen = model_->learn(word, letters, weights ? weights[i] : 1.0, set);
            if (trace.loss) trace.loss[i] = seen.loss;
            if (trace.error) trace.error[i] = seen.error;
            if (trace.dual) trace.dual[i] = model_->ledger().dual;
        }
    }

    // The best word, with the weights that are predicted with; letter 0 everywhere while no letter is known.
    void answer(const Word<Real>& x, Index* out) const {
        std::fill_n(out, x.length, Index(0));
        if (letters_ == 0) return;
        Lattice<Real> lattice;
        WordScores<Real> scores;
        read(x, scores);
        lattice.shape(x.length, letters_, stride_);
        lattice.solve(scores.emissions.data(), scores.transitions.data(), out);
    }

    void answer(const Rows<Real>& x, const WordRows& words, Index* out) const {
        Lattice<Real> lattice;
        WordScores<Real> scores;
        for (std::int64_t i = 0; i < words.count; ++i) {
            const Word<Real> word{&x, words.first(i), words.length(i)};
            read(word, scores);
            lattice.shape(word.length, letters_, stride_);
            lattice.solve(scores.emissions.data(), scores.transitions.data(), out + word.first);
        }
    }

    // The k best words with their scores, best first.
    Index best(const Word<Real>& x, Index k, std::vector<Real>& scores, std::vector<Index>& paths) const {
        Lattice<Real> lattice;
        WordScores<Real> read_out;
        read(x, read_out);
        lattice.shape(x.length, letters_, stride_);
        const Index found =
            lattice.best_of(read_out.emissions.data(), read_out.transitions.data(), k, scores, paths);
        if (normalize_)
            for (Real& score : scores) score /= static_cast<Real>(x.length);
        return found;
    }

    // For each place and letter the score of the best word that has this letter there; `letters` values a row.
    void best_through(const Rows<Real>& x, const WordRows& words, Real* out) const {
        WordScores<Real> scores;
        std::vector<Real> ahead, behind;
        for (std::int64_t i = 0; i < words.count; ++i) {
            const Word<Real> word{&x, words.first(i), words.length(i)};
            read(word, scores);
            const auto cells = static_cast<std::size_t>(word.length) * static_cast<std::size_t>(letters_);
            ahead.assign(cells, Real(0));
            behind.assign(cells, Real(0));
            const auto cell = [&](Index t, Index y) { return static_cast<std::size_t>(t * letters_ + y); };
            const auto step = [&](Index p, Index y) { return scores.transitions[static_cast<std::size_t>(p * stride_ + y)]; };
            const auto own = [&](Index t, Index y) { return scores.emissions[static_cast<std::size_t>(t * stride_ + y)]; };
            for (Index t = 0; t < word.length; ++t)
                for (Index y = 0; y < letters_; ++y) {
                    Real most = t > 0 ? -std::numeric_limits<Real>::infinity() : Real(0);
                    for (Index p = 0; t > 0 && p < letters_; ++p) most = std::max(most, ahead[cell(t - 1, p)] + step(p, y));
                    ahead[cell(t, y)] = most + own(t, y);
                }
            for (Index t = word.length - 2; t >= 0; --t)
                for (Index y = 0; y < letters_; ++y) {
                    Real most = -std::numeric_limits<Real>::infinity();
                    for (Index q = 0; q < letters_; ++q)
                        most = std::max(most, step(y, q) + (own(t + 1, q) + behind[cell(t + 1, q)]));
                    behind[cell(t, y)] = most;
                }
            const Real unit = normalize_ ? Real(1) / static_cast<Real>(word.length) : Real(1);
            Real* to = out + word.first * letters_;
            for (std::size_t c = 0; c < cells; ++c) to[c] = (ahead[c] + behind[c]) * unit;
        }
    }

    solve::Solved solve(const Rows<Real>& x, const WordRows& words, const Index* y, const double* caps,
                        double tolerance, int passes) {
        solve::DirectionBlocks<Oracle> blocks(model_->oracle(), model_->written(), caps, words.count);
        return blocks.solve(
            [&](std::int64_t i, auto&& use) {
                const Word<Real> word{&x, words.first(i), words.length(i)};
                use(word, y + word.first);
            },
            tolerance, passes);
    }

    // Calls found(i, direction) for each word whose best other path has a margin below `below`.
    template <class Found>
    void rivals(const Rows<Real>& x, const WordRows& words, const Index* y, double below, Found&& found) {
        Direction<Real> direction;
        const solve::Scorer<Real> scorer{model_->written()};
        for (std::int64_t i = 0; i < words.count; ++i) {
            const Word<Real> word{&x, words.first(i), words.length(i)};
            model_->oracle().see(scorer, word, y + word.first);
            const Index* path = model_->oracle().second();
            const Rival rival = model_->oracle().against(path);
            if (!rival.differs || !(rival.margin < below)) continue;
            model_->oracle().direct(path, direction);
            found(i, direction.row());
        }
    }

    // Weight of a feature (-1: the constant one) in a letter; of a transition.
    double emission(Index feature, Index letter) const { return model_->weight(feature * stride_ + letter); }
    double transition(Index before, Index letter) const { return model_->weight(-(2 + before) * stride_ + letter); }

    // The memory as it lies, for solvers outside.
    Weights<Real>& weights() { return model_->written().weights(); }

    void archive(Archive& to) { model_->archive(to); }

private:
    void read(const Word<Real>& x, WordScores<Real>& to) const {
        const LazyAverage<Real>& average = model_->average();
        if (!average.ready()) {
            to.fill(model_->read(), x, letters_, stride_, static_cast<Real>(model_->scale()), false);
            return;
        }
        to.fill(model_->read(), x, letters_, stride_, static_cast<Real>(average.clock(0) / average.rounds()), false);
        to.fill(average.moment(), x, letters_, stride_, static_cast<Real>(-1 / average.rounds()), true);
    }

    static void check_size(Index features, Index stride) {
        const std::int64_t cells = (std::int64_t{features} + 1 + stride) * stride;
        if (cells > std::numeric_limits<Index>::max())
            throw std::length_error("features times letters exceed what one model can address: hash to fewer bits");
    }

    std::unique_ptr<OracleModel<Oracle>> model_;
    bool normalize_;
    Index features_ = 0, letters_ = 0, stride_ = 0;
};

}  // namespace hinge
