// The rows of one list or batch: scored together, and summed with a coefficient each into the direction of the round.
#pragma once

#include <array>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "../oracle.hpp"
#include "../row_sum.hpp"

namespace hinge {

// Some rows of a call, anywhere in it, in the order that they came in.
template <class Real>
struct Documents {
    Rows<Real> rows;
    std::span<const std::int64_t> which;

    std::size_t size() const { return which.size(); }
    Row<Real> operator[](std::size_t i) const { return rows[which[i]]; }
};

// Scores, and the coefficients c of both rivals: Psi(x, y) - Psi(x, yhat) = sum_i c_i x_i.
template <class Real>
class ScoredDocuments {
public:
    template <class Geometry>
    void score(const Geometry& geometry, const Documents<Real>& x) {
        documents_ = x;
        scores_.resize(x.size());
        for (auto& c : coefficients_) c.resize(x.size());
        for (std::size_t i = 0; i < x.size(); ++i) {
            Real score = 0;
            geometry.score(x[i], &score);
            scores_[i] = static_cast<double>(score);
        }
    }

    std::span<const double> scores() const { return scores_; }
    std::span<double> coefficients(Constraint which) { return coefficients_[number(which)]; }

    // The rival that the coefficients of its kind lead away from.
    Rival rival(Constraint which, double delta, bool differs) const {
        const auto& c = coefficients_[number(which)];
        return {delta, std::inner_product(c.begin(), c.end(), scores_.begin(), 0.0), differs};
    }

    void direct(Constraint which, Direction<Real>& to) {
        const auto& c = coefficients_[number(which)];
        sum_.clear();
        for (std::size_t i = 0; i < c.size(); ++i)
            if (c[i] != 0) sum_.add(documents_[i], c[i]);
        to.clear();
        to.add(sum_.row(), 1.0);
    }

private:
    static std::size_t number(Constraint which) { return which == Constraint::plain ? 0 : 1; }

    Documents<Real> documents_{};
    std::vector<double> scores_;
    std::array<std::vector<double>, 2> coefficients_;
    RowSum<Real> sum_;
};

}  // namespace hinge
