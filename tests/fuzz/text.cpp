// A fuzzer of the text parsers, for libFuzzer with the address and undefined-behaviour sanitizers:
//
//     make fuzz SECONDS=30 PARSERS="jsonl csv"
//
// PARSER in the environment names the one that is tried; without it the first byte chooses. That byte also says how the
// text is cut: whole, or in two pieces, with or without bad lines allowed. Whatever the bytes are, a parser returns rows
// that fit together, or a place; two pieces give the rows of one, bit for bit.

#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "core/text/reader.hpp"

namespace text = hinge::text;

namespace {

void require(bool holds) {
    if (!holds) std::abort();
}

void check(const text::Faults& faults, std::string_view data) {
    std::int64_t lines = 1;
    for (const char c : data) lines += c == '\n';
    for (const text::Fault& it : faults.found) {
        require(it.line >= 1 && it.line <= lines && it.column >= 1 && it.shown_from >= 0);
        require(!it.message.empty());
    }
}

void check(const text::Batch& batch, const text::Vocabulary& names) {
    std::int64_t before = 0;
    for (std::size_t row = 0; row < batch.rows(); ++row) {
        const std::int64_t end = batch.start[row];
        require(end >= before);
        for (std::int64_t i = before; i < end; ++i) {
            const hinge::Index feature = batch.index[static_cast<std::size_t>(i)];
            require(feature >= 0 && (i == before || batch.index[static_cast<std::size_t>(i - 1)] < feature));
        }
        before = end;
    }
    require(before == static_cast<std::int64_t>(batch.index.size()) && batch.index.size() == batch.value.size());
    require(batch.label.size() == batch.label_name.size() && batch.label.size() == batch.cost.size());
    for (std::size_t i = 0; i < batch.label_name.size(); ++i) require(batch.label_name[i] < names.labels.size());
    for (hinge::Index i = 0; i < names.features.size(); ++i) require(names.features.find(names.features[i]) == i);
}

template <class T>
void require_equal(const text::Column<T>& one, const text::Column<T>& two) {
    require(one.size() == two.size() && (one.size() == 0 || std::memcmp(one.data(), two.data(), one.size() * sizeof(T)) == 0));
}

void require_equal(const text::Batch& one, const text::Batch& two) {
    require_equal(one.start, two.start);
    require_equal(one.index, two.index);
    require_equal(one.value, two.value);
    require_equal(one.label_start, two.label_start);
    require_equal(one.label, two.label);
    require_equal(one.label_name, two.label_name);
    require_equal(one.weight, two.weight);
    require_equal(one.query, two.query);
    require_equal(one.line, two.line);
    require(one.ids == two.ids);
}

void lines(const char* format, int bits, std::string_view data, std::size_t cut, std::int64_t allowed) {
    text::LineReader one(format, bits), two(format, bits);
    text::Batch whole, parts;
    text::Faults faults, others;
    faults.allowed = others.allowed = allowed;
    one.parse(data, true, 1, whole, faults);
    check(faults, data);
    check(whole, one.names);
    const std::size_t taken = two.parse(data.substr(0, cut), false, 1, parts, others);
    require(taken <= cut);
    if (!others.too_many()) two.parse(data.substr(taken), true, 1, parts, others);
    require(others.found.size() == faults.found.size());
    for (std::size_t i = 0; i < faults.found.size(); ++i)
        require(faults.found[i].line == others.found[i].line && faults.found[i].message == others.found[i].message);
    require_equal(whole, parts);
    require(one.names.features.size() == two.names.features.size());
}

void table(std::string_view data, std::size_t cut, std::int64_t allowed) {
    for (const bool in_parts : {false, true}) {
        text::CsvReader reader('\0', text::Csv::Header::guess);
        text::Faults faults;
        faults.allowed = allowed;
        std::size_t taken = 0;
        if (in_parts) {
            taken = reader.parse(data.substr(0, cut), false, faults);
            require(taken <= cut);
        }
        if (!faults.too_many()) reader.parse(data.substr(taken), true, faults);
        check(faults, data);
        for (const text::CsvColumn& column : reader.csv.columns) {
            if (faults.too_many()) continue;
            require((column.is_text ? column.code.size() : column.number.size()) == reader.csv.line.size());
            for (std::size_t i = 0; column.is_text && i < column.code.size(); ++i)
                require(column.code[i] >= 0 && column.code[i] < column.names.size());
        }
    }
}

void parse(std::size_t parser, std::string_view data, std::size_t cut, std::int64_t allowed) {
    switch (parser) {
        case 0: return lines("svmlight", 0, data, cut, allowed);
        case 1: return lines("vw", 0, data, cut, allowed);
        case 2: return lines("vw", 10, data, cut, allowed);
        case 3: return lines("jsonl", 0, data, cut, allowed);
        case 4: return lines("jsonl", 10, data, cut, allowed);
        case 5: return lines("arff", 0, data, cut, allowed);
        default: table(data, cut, allowed);
    }
}

// The parser that PARSER names, or none.
std::size_t named() {
    static constexpr std::array<std::string_view, 8> names = {"svmlight", "vw", "vw-hashed", "jsonl", "jsonl-hashed", "arff", "csv", ""};
    const char* const wanted = std::getenv("PARSER");
    const std::string_view name = wanted ? wanted : "";
    for (std::size_t i = 0; i < names.size(); ++i)
        if (names[i] == name) return i;
    std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    if (size == 0) return 0;
    static const std::size_t parser = named();
    const unsigned how = bytes[0];
    // a copy of its own, so that the sanitizer sees a read behind the end
    const std::string copy(reinterpret_cast<const char*>(bytes) + 1, size - 1);
    const std::string_view data(copy);
    const std::size_t cut = (how >> 4) * data.size() / 16;
    parse(parser < 7 ? parser : how & 7, data, cut, how & 8 ? 3 : 0);
    return 0;
}
