// A fuzzer of the text parsers, for libFuzzer with the address and undefined-behaviour sanitizers:
//
//     make fuzz SECONDS=30
//
// The first byte chooses the format and how the text is cut: whole, or in two pieces, with or without bad lines allowed.
// Whatever the bytes are, a parser returns rows that fit together, or a place; two pieces give the rows of one.

#include <cstdint>
#include <cstdlib>
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
    require(parts.rows() == whole.rows() && parts.index.size() == whole.index.size());
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

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    if (size == 0) return 0;
    const int how = bytes[0];
    // a copy of its own, so that the sanitizer sees a read behind the end
    const std::string copy(reinterpret_cast<const char*>(bytes) + 1, size - 1);
    const std::string_view data(copy);
    const std::size_t cut = data.empty() ? 0 : static_cast<std::size_t>(how >> 4) * data.size() / 16;
    const std::int64_t allowed = how & 8 ? 3 : 0;
    switch (how & 7) {
        case 0: lines("svmlight", 0, data, cut, allowed); break;
        case 1: lines("vw", 0, data, cut, allowed); break;
        case 2: lines("vw", 10, data, cut, allowed); break;
        case 3: lines("jsonl", 0, data, cut, allowed); break;
        case 4: lines("jsonl", 10, data, cut, allowed); break;
        case 5: lines("arff", 0, data, cut, allowed); break;
        default: table(data, cut, allowed);
    }
    return 0;
}
