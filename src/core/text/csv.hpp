// Tables of text: comma, tab, semicolon or bar between cells, double quotes around them (RFC 4180), columns that hold
// numbers or texts.
#pragma once

#include <deque>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "lines.hpp"

namespace hinge::text {

struct CsvColumn {
    std::string name;
    bool is_text = false;
    Column<double> number;  // NaN where a cell is empty
    Column<Index> code;     // which of `names`
    Names names;            // of a column of texts, in order of first appearance
    Index kept = 0;         // how many names the rows that were kept have
};

// What a column holds is settled by the first call: numbers if every cell is one or missing.
class Csv {
public:
    enum class Header { guess, yes, no };

    Csv(char delimiter, Header header) : delimiter_(delimiter), header_(header) {}

    std::vector<CsvColumn> columns;
    Column<std::int64_t> line;  // of each row

    // Parses the whole records of a text; returns how much of it they take. The rows replace those of the last call.
    std::size_t parse(std::string_view text, bool last, Faults& faults) {
        const std::size_t faults_before = faults.found.size();
        const std::int64_t lines_before = lines_;
        const bool begun = begun_;
        clear();
        std::size_t taken = run(text, last, faults);
        if (found_text_) {  // the numbers of these columns are texts after all
            faults.found.resize(faults_before);
            lines_ = lines_before;
            clear();
            begun_ = begun;
            taken = run(text, last, faults);
        }
        settled_ |= line.size() > 0;
        return taken;
    }

private:
    struct Cell {
        const char* at;
        std::string_view text;  // without quotes
        bool is_quoted;
    };

    void clear() {
        found_text_ = false;
        line.shrink(0);
        for (CsvColumn& column : columns) {
            column.number.shrink(0);
            column.code.shrink(0);
            if (!settled_) column.names.truncate(column.kept = 0);
        }
    }

    std::size_t run(std::string_view text, bool last, Faults& faults) {
        const char* p = text.data();
        const char* const end = p + text.size();
        while (p < end) {
            const std::int64_t number = lines_ + 1;
            const char* next = nullptr;
            try {
                next = read(p, end, last);
                if (!next) break;  // the rest of the record is in the next piece of text
                if (!is_empty()) take(p, number);
            } catch (const Bad& bad) {
                const auto* newline = static_cast<const char*>(std::memchr(p, '\n', static_cast<std::size_t>(end - p)));
                if (!newline && !last) break;
                if (!next) next = newline ? newline + 1 : end;
                drop();
                lines_ = number - 1;
                faults.found.push_back(place(bad, p, next, number));
                if (faults.too_many()) return static_cast<std::size_t>(next - text.data());
            }
            lines_ = number - 1 + newlines(p, next);
            p = next;
        }
        return static_cast<std::size_t>(p - text.data());
    }

    static std::int64_t newlines(const char* from, const char* to) {
        return std::max<std::int64_t>(1, std::count(from, to, '\n'));
    }

    // A quoted cell may reach over several lines: the place is in the line that holds it.
    static Fault place(const Bad& bad, const char* begin, const char* end, std::int64_t line) {
        const char* at = std::clamp(bad.at, begin, end);
        for (const char* q = begin; q < at; ++q)
            if (*q == '\n' && q + 1 < end) {
                begin = q + 1;
                ++line;
            }
        const char* stop = std::find(begin, end, '\n');
        return fault_at({at, bad.message}, begin, stop, line);
    }

    bool is_empty() const { return cells_.size() == 1 && cells_[0].text.empty() && !cells_[0].is_quoted; }

    // Cuts one record into cells; null if it goes on behind the text. The text need not end with a newline.
    const char* read(const char* p, const char* end, bool last) {
        cells_.clear();
        unquoted_.clear();
        if (delimiter_ == 0) delimiter_ = guess_delimiter(p, end);
        for (;;) {
            const char* const at = p;
            if (p < end && *p == '"') {
                p = quoted_cell(p, end, last);
                if (!p) return nullptr;
            } else {
                while (p < end && *p != delimiter_ && *p != '\n') ++p;
                if (p == end && !last) return nullptr;
                const char* stop = p;
                if ((p == end || *p == '\n') && stop > at && stop[-1] == '\r') --stop;
                cells_.push_back({at, {at, static_cast<std::size_t>(stop - at)}, false});
            }
            if (p == end) return end;
            if (*p++ == '\n') return p;
        }
    }

    const char* quoted_cell(const char* const open, const char* end, bool last) {
        const char* p = open + 1;
        std::string* copy = nullptr;  // only where a quote is doubled
        const char* from = p;
        for (;;) {
            const auto* quote = static_cast<const char*>(p == end ? nullptr : std::memchr(p, '"', static_cast<std::size_t>(end - p)));
            if (!quote || (quote + 1 == end && !last)) {
                if (!last) return nullptr;
                throw Bad{open, "this quote is not closed"};
            }
            if (quote + 1 == end || quote[1] != '"') {
                p = quote;
                break;
            }
            if (!copy) copy = &unquoted_.emplace_back();
            copy->append(from, quote + 1);
            p = from = quote + 2;
        }
        std::string_view text(from, static_cast<std::size_t>(p - from));
        if (copy) {
            copy->append(from, p);
            text = *copy;
        }
        ++p;
        if (p < end && *p == '\r' && (p + 1 == end || p[1] == '\n')) {
            if (p + 1 == end && !last) return nullptr;
            ++p;
        }
        if (p < end && *p != delimiter_ && *p != '\n')
            throw Bad{p, std::string("expected ") + shown(delimiter_) + " or the end of the line after a closing quote"};
        cells_.push_back({open, text, true});
        return p;
    }

    static std::string shown(char delimiter) { return delimiter == '\t' ? "a tab" : std::string("'") + delimiter + "'"; }

    static char guess_delimiter(const char* p, const char* end) {
        const char* stop = std::find(p, end, '\n');
        char best = ',';
        for (const char c : {',', '\t', ';', '|'})
            if (std::count(p, stop, c) > std::count(p, stop, best)) best = c;
        return best;
    }

    void take(const char* begin, std::int64_t number) {
        if (!begun_) {
            begun_ = true;
            const bool names = header_ == Header::yes || (header_ == Header::guess && looks_like_names());
            if (columns.empty()) columns.resize(cells_.size());
            for (std::size_t i = 0; i < cells_.size() && i < columns.size(); ++i) {
                if (names) check_text(cells_[i].text, cells_[i].at);
                columns[i].name = names ? std::string(cells_[i].text) : "c" + std::to_string(i + 1);
            }
            if (names) return;
        }
        if (cells_.size() != columns.size())
            throw Bad{cells_.size() > columns.size() ? cells_[columns.size()].at : begin,
                      "this row has " + std::to_string(cells_.size()) + " cells, but the first has " +
                          std::to_string(columns.size())};
        for (std::size_t i = 0; i < cells_.size(); ++i) add(columns[i], cells_[i]);
        for (CsvColumn& column : columns) column.kept = column.names.size();
        line.add(number);
    }

    bool looks_like_names() const {
        double value;
        for (const Cell& cell : cells_)
            if (is_missing(cell.text) || reads_as_number(cell.text, value)) return false;
        return true;
    }

    void add(CsvColumn& column, const Cell& cell) {
        double value = std::numeric_limits<double>::quiet_NaN();
        if (column.is_text) {
            column.code.add(column.names.add(cell.text, cell.at));
        } else if (is_missing(cell.text) || reads_as_number(cell.text, value)) {
            column.number.add(value);
        } else if (settled_) {
            throw Bad{cell.at, quoted(cell.text) + " is not a number, but column '" + column.name + "' held numbers so far"};
        } else {
            check_text(cell.text, cell.at);
            column.is_text = found_text_ = true;
            column.code.add(0);
        }
    }

    // Takes the cells of a half-added row back.
    void drop() {
        for (CsvColumn& column : columns) {
            column.number.shrink(std::min(column.number.size(), line.size()));
            column.code.shrink(std::min(column.code.size(), line.size()));
            column.names.truncate(column.kept);
        }
    }

    static bool is_missing(std::string_view text) {
        for (const std::string_view word : {"", "NA", "N/A", "nan", "NaN", "null", "NULL", "?"})
            if (text == word) return true;
        return false;
    }

    static bool reads_as_number(std::string_view text, double& value) {
        while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
        while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
        // `number` wants a character behind the end, and the text may end with the buffer
        char copy[64];
        if (text.empty() || text.size() >= sizeof copy) return false;
        std::memcpy(copy, text.data(), text.size());
        copy[text.size()] = '\n';
        return number(copy, copy + text.size(), value) == copy + text.size();
    }

    char delimiter_;  // 0: not known yet
    Header header_;
    bool begun_ = false;    // the first record was seen
    bool settled_ = false;  // what the columns hold cannot change any more
    bool found_text_ = false;
    std::int64_t lines_ = 0;
    std::vector<Cell> cells_;
    std::deque<std::string> unquoted_;
};

}  // namespace hinge::text
