// ARFF: attributes that are declared, then rows, dense (`1, red, ?`) or sparse (`{0 1, 3 red}`).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "batch.hpp"

namespace hinge::text {

struct Attribute {
    enum Kind { numeric, nominal, text };
    std::string name;
    Kind kind = numeric;
    Names values;  // of a nominal attribute
};

// A word of ARFF: as it stands, or in single or double quotes with backslashes.
class ArffWords {
public:
    explicit ArffWords(const char* p, const char* end) : p_(p), end_(end) { skip(); }

    const char* at() const { return p_; }
    bool done() const { return p_ == end_; }
    void skip() {
        while (p_ < end_ && is_blank(*p_)) ++p_;
    }
    bool take(char c) {
        if (p_ == end_ || *p_ != c) return false;
        ++p_;
        skip();
        return true;
    }

    // Up to a blank or one of `stops`; what it views lives until the next call.
    std::string_view word(std::string_view stops) {
        if (p_ < end_ && (*p_ == '\'' || *p_ == '"')) return in_quotes();
        const char* const begin = p_;
        while (p_ < end_ && !is_blank(*p_) && stops.find(*p_) == stops.npos) ++p_;
        const std::string_view out(begin, static_cast<std::size_t>(p_ - begin));
        skip();
        return out;
    }

    // The same, but blanks within are part of it.
    std::string_view cell(char stop) {
        if (p_ < end_ && (*p_ == '\'' || *p_ == '"')) return in_quotes();
        const char* const begin = p_;
        while (p_ < end_ && *p_ != stop) ++p_;
        const char* last = p_;
        while (last > begin && is_blank(last[-1])) --last;
        return {begin, static_cast<std::size_t>(last - begin)};
    }

private:
    std::string_view in_quotes() {
        const char* const open = p_;
        const char quote = *p_++;
        scratch_.clear();
        while (p_ < end_ && *p_ != quote) {
            if (*p_ == '\\' && p_ + 1 < end_) ++p_;
            scratch_ += *p_++;
        }
        if (p_ == end_) throw Bad{open, "this quote is not closed"};
        ++p_;
        skip();
        return scratch_;
    }

    const char* p_;
    const char* end_;
    std::string scratch_;
};

inline bool begins_with(std::string_view text, std::string_view lower) {
    if (text.size() < lower.size()) return false;
    for (std::size_t i = 0; i < lower.size(); ++i) {
        const char c = text[i];
        if ((c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c) != lower[i]) return false;
    }
    return true;
}

// The lines up to @data.
class ArffHeader {
public:
    std::string relation;
    std::vector<Attribute> attributes;
    bool done = false;

    void line(const char* p, const char* end) {
        ArffWords words(p, end);
        if (words.done() || *words.at() == '%') return;
        const char* const at = words.at();
        const std::string_view text(at, static_cast<std::size_t>(end - at));
        if (begins_with(text, "@relation")) {
            words.word("");
            const std::string_view name = words.done() ? std::string_view() : words.cell('\n');
            check_text(name, at);
            relation = name;
        } else if (begins_with(text, "@attribute")) {
            words.word("");
            declare(words);
        } else if (begins_with(text, "@data")) {
            if (attributes.empty()) throw Bad{at, "there is no @attribute before @data"};
            done = true;
        } else {
            throw Bad{at, "expected @relation, @attribute or @data"};
        }
    }

private:
    void declare(ArffWords& words) {
        Attribute attribute;
        const char* at = words.at();
        if (words.done()) throw Bad{at, "an attribute's name is missing"};
        const std::string_view name = words.word("{");
        check_text(name, at);
        attribute.name = name;
        at = words.at();
        if (words.take('{')) {
            attribute.kind = Attribute::nominal;
            if (!words.take('}')) {
                do {
                    at = words.at();
                    if (words.done()) break;
                    const Index before = attribute.values.size();
                    if (attribute.values.add(words.word(",}"), at) < before) throw Bad{at, "this value is listed twice"};
                } while (words.take(','));
                if (!words.take('}')) throw Bad{words.at(), "expected ',' or '}' in the list of values"};
            }
        } else {
            const std::string_view kind = words.word("");
            if (begins_with(kind, "string") || begins_with(kind, "date"))
                attribute.kind = Attribute::text;
            else if (!begins_with(kind, "numeric") && !begins_with(kind, "real") && !begins_with(kind, "integer"))
                throw Bad{at, "attribute type " + quoted(kind) + " is not numeric, real, integer, string, date or a {list}"};
        }
        attributes.push_back(std::move(attribute));
    }
};

// A data row. A nominal value is its place in the list, a text its number among the vocabulary's labels, what is
// missing NaN. A dense row has every attribute as an entry.
struct ArffRow {
    const std::vector<Attribute>* attributes;

    void operator()(const char* p, const char* end, std::int64_t line, Batch& out, Vocabulary& names) const {
        ArffWords words(p, end);
        if (words.done() || *words.at() == '%') return;
        if (*words.at() == '{')
            sparse(words, out, names);
        else
            dense(words, p, out, names);
        const Index twice = out.end_row(line, Twice::refuse);
        if (twice >= 0) throw Bad{p, "attribute " + std::to_string(twice) + " appears twice"};
    }

private:
    void dense(ArffWords& words, const char* begin, Batch& out, Vocabulary& names) const {
        std::size_t place = 0;
        do {
            if (place == attributes->size()) throw Bad{words.at(), count(place) + " were declared, and here is one more"};
            const char* at = words.at();
            out.add_entry(static_cast<Index>(place), value(place, words.cell(','), at, names));
            ++place;
        } while (words.take(','));
        if (!words.done()) throw Bad{words.at(), "expected ',' after a value"};
        if (place < attributes->size())
            throw Bad{begin, "this row has " + count(place) + ", but " + std::to_string(attributes->size()) + " were declared"};
    }

    static std::string count(std::size_t n) { return std::to_string(n) + (n == 1 ? " value" : " values"); }

    void sparse(ArffWords& words, Batch& out, Vocabulary& names) const {
        out.has_sets = true;  // here: a sparse row
        words.take('{');
        if (words.take('}')) return after(words);
        do {
            const char* at = words.at();
            std::int64_t place = 0;
            const char* stop = whole_number(at, Index(1) << 30, place);
            const std::string_view index = words.word(",}");
            if (index.empty() || stop != at + index.size())
                throw Bad{at, "attribute number " + quoted(index) + " is not a whole number"};
            if (place >= static_cast<std::int64_t>(attributes->size()))
                throw Bad{at, "there is no attribute " + std::to_string(place) + ": the last is " +
                                  std::to_string(attributes->size() - 1)};
            at = words.at();
            if (words.done() || *at == ',' || *at == '}') throw Bad{at, "a value is missing after the attribute's number"};
            out.add_entry(static_cast<Index>(place), value(static_cast<std::size_t>(place), words.word(",}"), at, names));
        } while (words.take(','));
        if (!words.take('}')) throw Bad{words.at(), "expected ',' or '}'"};
        after(words);
    }

    static void after(const ArffWords& words) {
        if (!words.done() && *words.at() != '%') throw Bad{words.at(), "expected the end of the line after '}'"};
    }

    double value(std::size_t place, std::string_view word, const char* at, Vocabulary& names) const {
        const Attribute& attribute = (*attributes)[place];
        const bool in_quotes = *at == '\'' || *at == '"';
        if (word == "?" && !in_quotes) return std::numeric_limits<double>::quiet_NaN();
        if (attribute.kind == Attribute::text) return names.labels.add(word, at);
        if (attribute.kind == Attribute::nominal) {
            const Index found = attribute.values.find(word);
            if (found < 0) throw Bad{at, quoted(word) + " is not a value of attribute '" + attribute.name + "'"};
            return found;
        }
        double out = 0;
        const std::string copy = in_quotes ? std::string(word) : std::string();
        const char* from = in_quotes ? copy.data() : word.data();
        if (word.empty() || number(from, from + word.size(), out) != from + word.size())
            throw Bad{at, "value " + quoted(word) + " of attribute '" + attribute.name + "' is not a number"};
        return out;
    }
};

}  // namespace hinge::text
