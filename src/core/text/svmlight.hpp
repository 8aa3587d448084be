// svmlight, libsvm and LETOR: `labels [qid:q] index:value .. [# comment]`, labels joined by commas or absent.
#pragma once

#include "batch.hpp"

namespace hinge::text {

struct Svmlight {
    static constexpr std::int64_t most_index = std::numeric_limits<Index>::max() - 1;
    static constexpr std::int64_t most_query = 900'000'000'000'000'000;

    void operator()(const char* p, const char* end, std::int64_t line, Batch& out, Vocabulary&) const {
        const char* const begin = p;
        p = skip_blanks(p);
        if (*p == '\n' || *p == '#') return;
        p = labels(p, end, out);
        if (starts_query(p, end)) p = query(p, out);
        const auto most = static_cast<std::size_t>(end - p) / 3 + 1;  // an entry takes three characters and a blank
        out.index.room(most);
        out.value.room(most);
        while (*p != '\n' && *p != '#') p = entry(p, end, out);
        if (*p == '#') comment(p + 1, end, out);
        const Index twice = out.end_row(line, Twice::refuse);
        if (twice >= 0) throw Bad{second_place(begin, twice), "feature " + std::to_string(twice) + " appears twice"};
    }

private:
    static const char* labels(const char* p, const char* end, Batch& out) {
        const char* const word = p;
        if (*p == ',') throw Bad{p, "a label is missing before the comma"};
        for (;;) {
            double value = 0;
            const char* stop = number(p, end, value);
            if (stop == p && p == word && starts_query(p, end)) return p;
            if (stop == p || (*stop != ',' && *stop != ':' && *stop != '#' && !ends_word(*stop)))
                throw Bad{p, "label " + quoted({p, static_cast<std::size_t>(label_end(p) - p)}) + " is not a number"};
            if (*stop == ':') {
                if (p == word) return p;  // no label at all: this is the first feature
                throw Bad{p, "labels are joined by commas, and a blank comes before the first feature"};
            }
            if (!std::isfinite(value)) throw Bad{p, "a label must be finite"};
            out.add_label(value);
            if (*stop != ',') {
                out.has_sets |= p != word;
                return skip_blanks(stop);
            }
            p = stop + 1;
            if (ends_word(*p)) throw Bad{p, "a label is missing after the comma"};
        }
    }

    static const char* label_end(const char* p) {
        while (!ends_word(*p) && *p != ',') ++p;
        return p;
    }

    static bool starts_query(const char* p, const char* end) { return end - p >= 4 && std::memcmp(p, "qid:", 4) == 0; }

    static const char* query(const char* p, Batch& out) {
        const char* const from = p + 4;
        std::int64_t value = 0;
        const char* stop = whole_number(from, most_query, value);
        if (stop == from || !ends_word(*stop))
            throw Bad{from, "query " + quoted({from, static_cast<std::size_t>(skip_word(from) - from)}) +
                                " is not a whole number between 0 and 9e17"};
        out.row_query = value;
        out.has_query = true;
        return skip_blanks(stop);
    }

    const char* entry(const char* p, const char* end, Batch& out) const {
        std::int64_t feature = 0;
        const char* colon = end - p >= 8 ? p + short_index(p, feature) : p;
        if (colon == p || *colon != ':') colon = whole_number(p, most_index, feature);
        if (colon == p || *colon != ':') throw bad_index(p);
        double value = 0;
        const char* stop = number(colon + 1, end, value);
        if (stop == colon + 1 || !(ends_word(*stop) || *stop == '#') || !std::isfinite(value))
            throw bad_value(colon + 1, stop, value);
        out.index.put(static_cast<Index>(feature));
        out.value.put(value);
        return skip_blanks(stop);
    }

    // Up to eight digits, of which eight may be followed by more.
    static int short_index(const char* p, std::int64_t& feature) {
        std::uint64_t value = 0;
        const int count = eight_digits(p, value);
        feature = static_cast<std::int64_t>(value);
        return count < 8 ? count : 0;
    }

    static Bad bad_index(const char* p) {
        const char* stop = skip_word(p);
        const std::string_view word(p, static_cast<std::size_t>(stop - p));
        const std::size_t colon = word.find(':');
        if (colon == word.npos) return {p, quoted(word) + " is not of the form index:value"};
        const std::string_view index = word.substr(0, colon);
        const bool large = !index.empty() && index.find_first_not_of("0123456789") == index.npos;
        return {p, "feature index " + quoted(index) + (large ? " is too large" : " is not a whole number")};
    }

    static Bad bad_value(const char* from, const char* stop, double value) {
        const std::string_view word(from, static_cast<std::size_t>(skip_word(from) - from));
        if (word.empty()) return {from, "a feature value is missing after the colon"};
        if (stop == from + word.size() && !std::isfinite(value))
            return {from, "feature value " + quoted(word) + " is not finite"};
        return {from, "feature value " + quoted(word) + " is not a number"};
    }

    // LETOR names a document in its comment: `#docid = GX000-00-0000000 inc = 1 ..`
    static void comment(const char* p, const char* end, Batch& out) {
        const std::string_view text(p, static_cast<std::size_t>(end - p));
        const std::size_t key = text.find("docid = ");
        if (key == text.npos) return;
        const char* from = p + key + 8;
        const std::string_view name(from, static_cast<std::size_t>(skip_word(from) - from));
        check_text(name, from);
        out.ids += name;
        out.has_id = true;
    }

    // Where a feature stands for the second time in the line.
    static const char* second_place(const char* p, Index feature) {
        int seen = 0;
        for (p = skip_blanks(p); *p != '\n' && *p != '#'; p = skip_blanks(skip_word(p))) {
            std::int64_t index = -1;
            const char* stop = whole_number(p, most_index, index);
            if (stop != p && *stop == ':' && index == feature && ++seen == 2) return p;
        }
        return p;
    }
};

}  // namespace hinge::text
