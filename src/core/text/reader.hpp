// A text piece by piece: what was read of it so far, and which lines were bad.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "arff.hpp"
#include "csv.hpp"
#include "jsonl.hpp"
#include "lines.hpp"
#include "svmlight.hpp"
#include "vw.hpp"

namespace hinge::text {

// Takes a byte order mark off the beginning of a text.
class Beginning {
public:
    // Whether there is enough of it to see one.
    bool waits(std::string_view text, bool last) const { return !begun_ && !last && text.size() < 3; }

    std::size_t skip(std::string_view text) {
        if (begun_) return 0;
        begun_ = true;
        return text.substr(0, 3) == "\xEF\xBB\xBF" ? 3 : 0;
    }

private:
    bool begun_ = false;
};

class LineReader {
public:
    using Format = std::variant<Svmlight, Vw, Jsonl, ArffRow>;

    LineReader(std::string_view format, int bits) : format_(choose(format, bits)) {
        if (format == "arff") header.emplace();
    }

    Vocabulary names;
    std::optional<ArffHeader> header;

    // Parses the whole lines of a text, and if it is the last also what follows them; returns how much that is.
    std::size_t parse(std::string_view text, bool last, int threads, Batch& out, Faults& faults) {
        if (beginning_.waits(text, last)) return 0;
        const std::size_t taken = beginning_.skip(text);
        const std::size_t newline = text.rfind('\n');
        const std::size_t whole = newline == text.npos ? taken : newline + 1;
        if (whole > taken) lines(text.substr(taken, whole - taken), threads, out, faults);
        if (!last || faults.too_many()) return whole;
        if (whole < text.size()) {
            std::string tail(text.substr(whole));
            tail += '\n';
            lines(tail, 1, out, faults);
        }
        if (header && !header->done && !faults.too_many()) {
            faults.found.push_back({std::max<std::int64_t>(1, line_ - 1), 1, "the file ends before @data", "", 0});
            faults.allowed = -1;
        }
        return text.size();
    }

private:
    Format choose(std::string_view format, int bits) const {
        if (format == "svmlight") return Svmlight{};
        if (format == "vw") return Vw{{bits}};
        if (format == "jsonl") return Jsonl{{bits}};
        return ArffRow{nullptr};
    }

    void lines(std::string_view text, int threads, Batch& out, Faults& faults) {
        if (header && !header->done) text.remove_prefix(declarations(text, faults));
        if (header) format_ = ArffRow{&header->attributes};
        if (faults.too_many()) return;
        std::visit([&](const auto& format) { line_ += parse_in_pieces(text, format, line_, threads, out, names, faults); },
                   format_);
    }

    // A header that cannot be read is never skipped.
    std::size_t declarations(std::string_view text, Faults& faults) {
        const char* p = text.data();
        const char* const end = p + text.size();
        while (p < end && !header->done) {
            const auto* stop = static_cast<const char*>(std::memchr(p, '\n', static_cast<std::size_t>(end - p)));
            try {
                header->line(p, stop);
            } catch (const Bad& bad) {
                faults.found.push_back(fault_at(bad, p, stop, line_));
                faults.allowed = -1;
                return text.size();
            }
            ++line_;
            p = stop + 1;
        }
        return static_cast<std::size_t>(p - text.data());
    }

    Format format_;
    Beginning beginning_;
    std::int64_t line_ = 1;
};

class CsvReader {
public:
    CsvReader(char delimiter, Csv::Header header) : csv(delimiter, header) {}

    Csv csv;

    std::size_t parse(std::string_view text, bool last, Faults& faults) {
        if (beginning_.waits(text, last)) return 0;
        const std::size_t skipped = beginning_.skip(text);
        return skipped + csv.parse(text.substr(skipped), last, faults);
    }

private:
    Beginning beginning_;
};

}  // namespace hinge::text
