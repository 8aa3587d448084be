// One JSON object a line: {"x": {"name": number, ..}, "y": label, "id": .., "weight": .., "qid": ..}; other keys are
// passed over. x may be a list of numbers; y a number, a string, a list of those, an object of label to bool, or null.
#pragma once

#include "batch.hpp"
#include "json.hpp"

namespace hinge::text {

struct Jsonl {
    Naming naming;

    void operator()(const char* p, const char* end, std::int64_t line, Batch& out, Vocabulary& names) const {
        Json json(p, end);
        if (json.done()) return;
        if (json.peek() != '{') json.fail("expected a JSON object");
        std::string key, scratch;
        unsigned seen = 0;
        json.members(key, [&](std::string_view name) {
            const Field field = field_of(name);
            const auto bit = 1u << field;
            if (field != other && (seen & bit)) json.fail("the key " + quoted(name) + " appears twice");
            seen |= bit;
            switch (field) {
                case x: features(json, out, names, scratch); break;
                case y: target(json, out, names, scratch); break;
                case id: identity(json, out, scratch); break;
                case weight: its_weight(json, out); break;
                case qid: query(json, out); break;
                default: json.pass(scratch);
            }
        });
        if (!json.done()) json.fail("expected the end of the line after the object");
        if (!(seen & 1u << x)) throw Bad{p, "the object has no key \"x\" with the features"};
        const Index twice = out.end_row(line, naming.bits > 0 ? Twice::sum : Twice::refuse);
        if (twice >= 0) throw Bad{p, "feature " + quoted(names.features[twice]) + " appears twice in \"x\""};
    }

private:
    enum Field { x, y, id, weight, qid, other };

    static Field field_of(std::string_view name) {
        constexpr std::string_view known[] = {"x", "y", "id", "weight", "qid"};
        for (int i = 0; i < other; ++i)
            if (name == known[i]) return static_cast<Field>(i);
        return other;
    }

    void features(Json& json, Batch& out, Vocabulary& names, std::string& scratch) const {
        if (json.peek() == '[') {
            if (naming.bits == 0 && names.features.size() > 0) json.fail("\"x\" is a list, but it was an object before");
            names.has_lists = true;
            Index place = 0;
            json.items([&] {
                const double value = json.real();
                if (naming.bits > 0)
                    naming.add(out, names, std::to_string(place), value, json.at());
                else
                    out.add_entry(place, value);
                ++place;
            });
            return;
        }
        if (json.peek() != '{') json.fail("\"x\" must be an object of feature name to value, or a list of numbers");
        if (naming.bits == 0 && names.has_lists) json.fail("\"x\" is an object, but it was a list before");
        std::string key;
        json.members(key, [&](std::string_view name) {
            const char* at = json.at();
            if (json.peek() == '"') {
                std::string full(name);
                full += '=';
                full += json.string(scratch);
                naming.add(out, names, full, 1.0, at);
            } else if (json.word("true")) {
                naming.add(out, names, name, 1.0, at);
            } else if (json.word("false")) {
                naming.add(out, names, name, 0.0, at);
            } else if (json.peek() == '{' || json.peek() == '[' || json.peek() == 'n') {
                json.fail("the value of feature " + quoted(name) + " must be a number, a string, true or false");
            } else {
                const double value = json.real();
                naming.add(out, names, name, value, at);
            }
        });
    }

    static void one_label(Json& json, Batch& out, Vocabulary& names, std::string& scratch) {
        const char* at = json.at();
        if (json.peek() == '"')
            out.add_label(0, names.labels.add(json.string(scratch), at));
        else if (json.word("true"))
            out.add_label(1);
        else if (json.word("false"))
            out.add_label(0);
        else
            out.add_label(label_number(json));
    }

    // Whole numbers that float64 would round are refused: two labels would become one.
    static double label_number(Json& json) {
        const char* const at = json.at();
        const double value = json.real();
        const char* stop = at + (*at == '-');
        while (is_digit(*stop)) ++stop;
        if (std::fabs(value) >= 9007199254740992.0 && *stop != '.' && *stop != 'e' && *stop != 'E')
            throw Bad{at, "label " + quoted({at, static_cast<std::size_t>(stop - at)}) + " is too large for a number; write it as a string"};
        return value;
    }

    static void target(Json& json, Batch& out, Vocabulary& names, std::string& scratch) {
        if (json.word("null")) return;
        if (json.peek() == '[') {
            json.items([&] { one_label(json, out, names, scratch); });
            out.has_sets = true;
        } else if (json.peek() == '{') {
            std::string key;
            json.members(key, [&](std::string_view name) {
                const char* at = json.at();
                const Index number = names.labels.add(name, at);
                if (json.word("true"))
                    out.add_label(0, number);
                else if (!json.word("false"))
                    json.fail("label " + quoted(name) + " must be true or false");
            });
            out.has_sets = true;
        } else {
            one_label(json, out, names, scratch);
        }
    }

    static void identity(Json& json, Batch& out, std::string& scratch) {
        const char* at = json.at();
        if (json.word("null")) return;
        if (json.peek() == '"') {
            const std::string_view text = json.string(scratch);
            check_text(text, at);
            out.ids += text;
        } else {
            json.real();
            while (is_blank(at[0])) ++at;
            const char* stop = json.at();
            while (stop > at && is_blank(stop[-1])) --stop;
            out.ids.append(at, stop);
        }
        out.has_id = true;
    }

    static void its_weight(Json& json, Batch& out) {
        const char* at = json.at();
        out.row_weight = json.real();
        if (out.row_weight < 0) throw Bad{at, "a weight must not be negative"};
        out.has_weight = true;
    }

    static void query(Json& json, Batch& out) {
        const char* at = json.at();
        std::int64_t value = 0;
        const char* stop = whole_number(at, std::int64_t{1} << 53, value);
        json.real();
        if (stop == at || (!ends_word(*stop) && *stop != ',' && *stop != '}')) throw Bad{at, "qid must be a whole number of 0 or more"};
        out.row_query = value;
        out.has_query = true;
    }
};

}  // namespace hinge::text
