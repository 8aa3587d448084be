// VW text: `label [importance [base]] [tag]|namespace[:scale] feature[:value] .. |..`
//
// A label is a number; several joined by commas are a set; `label:cost` pairs are costs. A feature is called
// `namespace^feature`, or `feature` in the namespace without a name. What has the value zero is left out.
#pragma once

#include "batch.hpp"

namespace hinge::text {

struct Vw {
    Naming naming;

    void operator()(const char* p, const char* end, std::int64_t line, Batch& out, Vocabulary& names) const {
        p = skip_blanks(p);
        if (*p == '\n') return;
        const auto* bar = static_cast<const char*>(std::memchr(p, '|', static_cast<std::size_t>(end - p)));
        head(p, bar ? bar : end, bar != nullptr, out);
        std::string name;
        while (bar) bar = space(bar + 1, end, name, out, names);
        out.end_row(line, Twice::sum);
    }

private:
    static std::string_view word_at(const char* p, const char* end) {
        const char* stop = p;
        while (stop < end && !ends_word(*stop)) ++stop;
        return {p, static_cast<std::size_t>(stop - p)};
    }

    // Everything before the first bar; what touches the bar, or begins with ', is the tag.
    static void head(const char* p, const char* end, bool has_bar, Batch& out) {
        int numbers = 0;
        bool costs = false;
        while (p < end) {
            const std::string_view word = word_at(p, end);
            const char* const stop = p + word.size();
            if (word[0] == '\'' || (has_bar && stop == end)) {
                tag(word, p, out);
            } else if (numbers == 0 || costs) {
                costs = labels(word, p, numbers, out);
                ++numbers;
            } else if (numbers == 1) {
                out.row_weight = real(word, p, "importance");
                if (out.row_weight < 0) throw Bad{p, "importance " + quoted(word) + " is negative"};
                out.has_weight = true;
                ++numbers;
            } else if (numbers == 2) {
                real(word, p, "base");  // where VW starts its prediction: no model of ours has it
                ++numbers;
            } else {
                throw Bad{p, quoted(word) + " follows label, importance and base; a bar | begins the features"};
            }
            p = stop;
            while (p < end && is_blank(*p)) ++p;
        }
    }

    static void tag(std::string_view word, const char* at, Batch& out) {
        if (word[0] == '\'') word.remove_prefix(1);
        check_text(word, at);
        out.ids += word;
        out.has_id = true;
    }

    static double real(std::string_view word, const char* at, const char* what) {
        double value = 0;
        const char* stop = number(word.data(), word.data() + word.size(), value);
        if (stop == word.data() || stop != word.data() + word.size())
            throw Bad{at, std::string(what) + " " + quoted(word) + " is not a number"};
        if (!std::isfinite(value)) throw Bad{at, std::string(what) + " " + quoted(word) + " is not finite"};
        return value;
    }

    // Returns whether this is a label with its cost.
    static bool labels(std::string_view word, const char* at, int before, Batch& out) {
        const std::size_t colon = word.find(':');
        if (colon != word.npos) {
            const double label = real(word.substr(0, colon), at, "label");
            const char* after = at + colon + 1;
            out.add_label(label, -1, real(word.substr(colon + 1), after, "cost"));
            out.has_cost = true;
            return true;
        }
        if (before > 0) {  // among costs, a label alone: its cost is not known
            out.add_label(real(word, at, "label"));
            return true;
        }
        for (;;) {
            const std::size_t comma = word.find(',');
            out.add_label(real(word.substr(0, comma), word.data(), "label"));
            if (comma == word.npos) return false;
            out.has_sets = true;
            word.remove_prefix(comma + 1);
        }
    }

    // One namespace, from behind its bar; returns the next bar.
    const char* space(const char* p, const char* end, std::string& name, Batch& out, Vocabulary& names) const {
        double scale = 1;
        name.clear();
        if (!is_blank(*p) && *p != '\n' && *p != '|') {
            const std::string_view word = until(p, end);
            const std::size_t colon = word.find(':');
            name = word.substr(0, colon);
            if (colon != word.npos) scale = real(word.substr(colon + 1), p + colon + 1, "namespace scale");
            if (name.empty()) throw Bad{p, "a namespace has a scale but no name"};
            name += '^';
            p += word.size();
        }
        const std::size_t prefix = name.size();
        for (;;) {
            p = skip_blanks(p);
            if (*p == '\n') return nullptr;
            if (*p == '|') return p;
            const std::string_view word = until(p, end);
            const std::size_t colon = word.find(':');
            double value = scale;
            if (colon != word.npos) value *= real(word.substr(colon + 1), p + colon + 1, "feature value");
            if (colon == 0) throw Bad{p, "a feature has a value but no name"};
            if (!std::isfinite(value)) throw Bad{p, "feature value times namespace scale is not finite"};
            name.resize(prefix);
            name += word.substr(0, colon);
            if (value != 0) naming.add(out, names, name, value, p);
            p += word.size();
        }
    }

    static std::string_view until(const char* p, const char* end) {
        const char* stop = p;
        while (stop < end && !ends_word(*stop) && *stop != '|') ++stop;
        return {p, static_cast<std::size_t>(stop - p)};
    }
};

}  // namespace hinge::text
