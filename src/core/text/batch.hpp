// What a piece of text said: rows of features, and beside each row its labels, weight, query and name.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <new>
#include <numeric>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "../hashing.hpp"
#include "../huge_pages.hpp"
#include "../rows.hpp"
#include "names.hpp"

namespace hinge::text {

// A growing array whose memory can be given away. `room` once a line, `put` without a look at the capacity.
template <class T>
class Column {
    static_assert(std::is_trivially_copyable_v<T>);

public:
    Column() = default;
    Column(Column&& other) noexcept { *this = std::move(other); }
    Column& operator=(Column&& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        std::swap(capacity_, other.capacity_);
        return *this;
    }
    ~Column() { std::free(data_); }

    std::size_t size() const { return size_; }
    const T* data() const { return data_; }
    T& operator[](std::size_t i) { return data_[i]; }
    const T& operator[](std::size_t i) const { return data_[i]; }
    T& back() { return data_[size_ - 1]; }

    void room(std::size_t more) {
        if (capacity_ - size_ >= more) return;
        const std::size_t wanted = std::max(size_ + more, capacity_ + capacity_ / 2 + 64);
        if (wanted > std::numeric_limits<std::size_t>::max() / 2 / sizeof(T)) throw std::bad_alloc();
        void* moved = std::realloc(data_, wanted * sizeof(T));
        if (!moved) throw std::bad_alloc();
        data_ = static_cast<T*>(moved);
        capacity_ = wanted;
        if (wanted * sizeof(T) >= 2 * huge_page) wish_huge_pages(data_, wanted * sizeof(T));
    }
    void put(T value) { data_[size_++] = value; }
    void add(T value) {
        room(1);
        put(value);
    }
    void append(const Column& other) {
        room(other.size_);
        std::copy_n(other.data_, other.size_, data_ + size_);
        size_ += other.size_;
    }
    void shrink(std::size_t kept) { size_ = kept; }

    // The memory, to be freed with std::free; this is empty afterwards.
    T* release() {
        size_ = capacity_ = 0;
        return std::exchange(data_, nullptr);
    }

private:
    T* data_ = nullptr;
    std::size_t size_ = 0;
    std::size_t capacity_ = 0;
};

// The names that the numbers in a batch stand for; they outlive it.
struct Vocabulary {
    Names features;
    Names labels;
    bool has_lists = false;  // a row had its features by place: none may have names
};

enum class Twice { sum, refuse };  // what becomes of a feature that a row has twice

struct Batch {
    Column<std::int64_t> start;  // of each row after the first: how many entries there are by its end
    Column<Index> index;
    Column<double> value;
    Column<std::int64_t> label_start;
    Column<double> label;      // the number
    Column<Index> label_name;  // or the name; -1 for a number
    Column<double> cost;       // of that label; NaN where none is given
    Column<double> weight;
    Column<std::int64_t> query;  // -1 for none
    Column<std::int64_t> line;   // where the row stands, the first line is 1
    Column<std::int64_t> id_end;
    std::string ids;
    bool has_cost = false, has_weight = false, has_query = false, has_id = false, has_sets = false;
    Index least_index = std::numeric_limits<Index>::max();
    Index largest_index = -1;

    std::size_t rows() const { return line.size(); }
    std::size_t entries_before() const { return rows() == 0 ? 0 : static_cast<std::size_t>(start[rows() - 1]); }
    std::size_t labels_before() const { return rows() == 0 ? 0 : static_cast<std::size_t>(label_start[rows() - 1]); }

    void add_entry(Index feature, double v) {
        index.add(feature);
        value.add(v);
    }
    // Makes room for `times` as many entries as there are; a wish, like the guess that it stands on.
    void expect(double times) {
        const auto more = static_cast<std::size_t>(1.02 * times * static_cast<double>(index.size()));
        try {
            index.room(more);
            value.room(more);
        } catch (const std::bad_alloc&) {
        }
    }
    void add_label(double number, Index name = -1, double its_cost = std::numeric_limits<double>::quiet_NaN()) {
        label.add(number);
        label_name.add(name);
        cost.add(its_cost);
    }

    // Ends the row that was added entry by entry: by increasing feature, each at most once. Returns a feature that is
    // there twice and must not be, or -1.
    Index end_row(std::int64_t line_number, Twice twice) {
        const std::size_t begin = entries_before();
        const Index repeated = order(begin, twice);
        if (repeated >= 0) return repeated;
        if (index.size() > begin) {
            least_index = std::min(least_index, index[begin]);
            largest_index = std::max(largest_index, index.back());
        }
        start.add(static_cast<std::int64_t>(index.size()));
        label_start.add(static_cast<std::int64_t>(label.size()));
        weight.add(row_weight);
        query.add(row_query);
        id_end.add(static_cast<std::int64_t>(ids.size()));
        line.add(line_number);
        begin_row();
        return -1;
    }

    // Forgets what was added since the last row ended.
    void drop_row() {
        index.shrink(entries_before());
        value.shrink(entries_before());
        label.shrink(labels_before());
        label_name.shrink(labels_before());
        cost.shrink(labels_before());
        ids.resize(rows() == 0 ? 0 : static_cast<std::size_t>(id_end[rows() - 1]));
        begin_row();
    }

    // Puts another batch, with its own names, behind this one.
    void append(const Batch& other, std::int64_t lines_before, const Vocabulary& theirs, Vocabulary& ours) {
        std::vector<Index> feature(static_cast<std::size_t>(theirs.features.size()));
        std::vector<Index> name(static_cast<std::size_t>(theirs.labels.size()));
        for (std::size_t i = 0; i < feature.size(); ++i)
            feature[i] = ours.features.add(theirs.features[static_cast<Index>(i)], nullptr);
        for (std::size_t i = 0; i < name.size(); ++i)
            name[i] = ours.labels.add(theirs.labels[static_cast<Index>(i)], nullptr);
        const auto entries = static_cast<std::int64_t>(entries_before());
        const auto labels = static_cast<std::int64_t>(labels_before());
        const auto letters = static_cast<std::int64_t>(ids.size());
        add_shifted(start, other.start, entries);
        add_shifted(label_start, other.label_start, labels);
        add_shifted(id_end, other.id_end, letters);
        add_shifted(line, other.line, lines_before);
        const std::size_t first = index.size(), first_row = rows() - other.rows();
        index.append(other.index);
        value.append(other.value);
        if (!feature.empty()) renumber(feature, first, first_row);
        const std::size_t first_name = label_name.size();
        label_name.append(other.label_name);
        for (std::size_t i = first_name; i < label_name.size() && !name.empty(); ++i)
            if (label_name[i] >= 0) label_name[i] = name[static_cast<std::size_t>(label_name[i])];
        label.append(other.label);
        cost.append(other.cost);
        weight.append(other.weight);
        query.append(other.query);
        ids += other.ids;
        has_cost |= other.has_cost;
        has_weight |= other.has_weight;
        has_query |= other.has_query;
        has_id |= other.has_id;
        has_sets |= other.has_sets;
        least_index = std::min(least_index, other.least_index);
        largest_index = std::max(largest_index, other.largest_index);
    }

    double row_weight = 1;
    std::int64_t row_query = -1;

private:
    void begin_row() {
        row_weight = 1;
        row_query = -1;
    }

    static void add_shifted(Column<std::int64_t>& to, const Column<std::int64_t>& from, std::int64_t by) {
        to.room(from.size());
        for (std::size_t i = 0; i < from.size(); ++i) to.put(from[i] + by);
    }

    void renumber(const std::vector<Index>& feature, std::size_t first, std::size_t row) {
        for (std::size_t i = first; i < index.size(); ++i) index[i] = feature[static_cast<std::size_t>(index[i])];
        for (std::size_t begin = first; row < rows(); ++row) {
            const auto end = static_cast<std::size_t>(start[row]);
            sort(begin, end);
            begin = end;
        }
    }

    Index order(std::size_t begin, Twice twice) {
        const std::size_t end = index.size();
        bool increasing = true;
        for (std::size_t i = begin + 1; i < end; ++i) increasing &= index[i - 1] < index[i];
        if (increasing) return -1;
        sort(begin, end);
        std::size_t to = begin;
        for (std::size_t i = begin + 1; i < end; ++i) {
            if (index[i] != index[to]) {
                ++to;
                index[to] = index[i];
                value[to] = value[i];
            } else if (twice == Twice::refuse) {
                return index[i];
            } else {
                value[to] += value[i];
            }
        }
        index.shrink(to + 1);
        value.shrink(to + 1);
        return -1;
    }

    // By feature; entries of the same one stay in their order.
    void sort(std::size_t begin, std::size_t end) {
        const auto before = [](const auto& a, const auto& b) { return a.first < b.first; };
        sorted_.clear();
        for (std::size_t i = begin; i < end; ++i) sorted_.emplace_back(index[i], value[i]);
        if (std::is_sorted(sorted_.begin(), sorted_.end(), before)) return;
        std::stable_sort(sorted_.begin(), sorted_.end(), before);
        for (std::size_t i = begin; i < end; ++i) {
            index[i] = sorted_[i - begin].first;
            value[i] = sorted_[i - begin].second;
        }
    }

    std::vector<std::pair<Index, double>> sorted_;
};

// How names become features: by a vocabulary, or hashed into 2^bits.
struct Naming {
    int bits = 0;  // 0: names

    void add(Batch& to, Vocabulary& names, std::string_view name, double value, const char* at) const {
        if (bits > 0) {
            const HashedFeature hashed = hash_feature(name, bits);
            to.add_entry(hashed.index, hashed.sign * value);
        } else {
            to.add_entry(names.features.add(name, at), value);
        }
    }
};

}  // namespace hinge::text
