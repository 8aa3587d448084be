// Whole buffers, line by line: several threads, bad lines counted, every error with its place.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <exception>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "batch.hpp"

namespace hinge::text {

struct Fault {
    std::int64_t line = 0;    // from 1
    std::int64_t column = 0;  // from 1, in characters
    std::string message;
    std::string text;  // the line, or what of it is near the place
    std::int64_t shown_from = 0;  // characters of the line that `text` leaves out at its beginning
};

// The place of a fault, for people: a long line is cut to what lies around it.
inline Fault fault_at(const Bad& bad, const char* begin, const char* end, std::int64_t line) {
    constexpr std::ptrdiff_t around = 60;
    const auto follows = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; };
    const auto characters = [&](const char* from, const char* to) {
        return std::count_if(from, to, [&](char c) { return !follows(c); });
    };
    const char* at = std::clamp(bad.at ? bad.at : begin, begin, end);
    const char* from = at - begin > around ? at - around : begin;
    const char* to = end - at > around ? at + around : end;
    while (from > begin && follows(*from)) --from;
    while (to > at && to < end && follows(*to)) --to;
    Fault fault{line, characters(begin, at) + 1, bad.message, std::string(from, to), characters(begin, from)};
    while (!fault.text.empty() && (fault.text.back() == '\n' || fault.text.back() == '\r')) fault.text.pop_back();
    for (char& c : fault.text)
        if (static_cast<unsigned char>(c) < 32) c = ' ';
    return fault;
}

struct Faults {
    std::vector<Fault> found;  // at most one more than are allowed
    std::int64_t allowed = 0;
    bool too_many() const { return static_cast<std::int64_t>(found.size()) > allowed; }
};

// Parses all whole lines of [begin, end), which ends with a newline. Returns how many lines there were.
// `line(begin, end, number, out, names)` adds a row, or none, or throws Bad.
template <class Line>
std::int64_t parse_lines(const char* begin, const char* end, const Line& line, std::int64_t first, Batch& out,
                         Vocabulary& names, Faults& faults) {
    constexpr std::ptrdiff_t telling = std::ptrdiff_t{1} << 20;  // so many bytes say how many entries the rest holds
    bool told = end - begin <= telling;
    std::int64_t number = first;
    for (const char* p = begin; p < end; ++number) {
        if (!told && p - begin >= telling) {
            out.expect(static_cast<double>(end - p) / static_cast<double>(p - begin));
            told = true;
        }
        const auto* stop = static_cast<const char*>(std::memchr(p, '\n', static_cast<std::size_t>(end - p)));
        const Index features = names.features.size(), labels = names.labels.size();
        const bool lists = names.has_lists;
        try {
            line(p, stop, number, out, names);
        } catch (const Bad& bad) {
            out.drop_row();
            names.features.truncate(features);
            names.labels.truncate(labels);
            names.has_lists = lists;
            faults.found.push_back(fault_at(bad, p, stop, number));
            if (faults.too_many()) return number - first + 1;
        }
        p = stop + 1;
    }
    return number - first;
}

// The same with several threads, each on its own piece. The result does not depend on how many there are.
template <class Line>
std::int64_t parse_in_pieces(std::string_view text, const Line& line, std::int64_t first, int threads, Batch& out,
                             Vocabulary& names, Faults& faults) {
    constexpr std::size_t worth_a_thread = std::size_t{1} << 20;
    const char* const begin = text.data();
    const char* const end = begin + text.size();
    const auto pieces = std::min<std::size_t>(static_cast<std::size_t>(std::max(threads, 1)), text.size() / worth_a_thread);
    if (pieces <= 1) return parse_lines(begin, end, line, first, out, names, faults);

    struct Piece {
        const char *begin, *end;
        Batch batch;
        Vocabulary names;
        Faults faults;
        std::int64_t lines = 0;
        std::exception_ptr thrown;
    };
    std::vector<Piece> all(pieces);
    const char* from = begin;
    for (std::size_t i = 0; i < pieces; ++i) {
        const char* to = i + 1 == pieces ? end : begin + text.size() / pieces * (i + 1);
        if (to < from) to = from;
        if (to < end) to = static_cast<const char*>(std::memchr(to, '\n', static_cast<std::size_t>(end - to))) + 1;
        all[i].begin = from;
        all[i].end = to;
        all[i].faults.allowed = faults.allowed - static_cast<std::int64_t>(faults.found.size());
        from = to;
    }
    std::vector<std::thread> workers;
    for (Piece& piece : all)
        workers.emplace_back([&piece, &line] {
            try {
                piece.lines = parse_lines(piece.begin, piece.end, line, 1, piece.batch, piece.names, piece.faults);
            } catch (...) {
                piece.thrown = std::current_exception();
            }
        });
    for (std::thread& worker : workers) worker.join();
    const auto any = [&](auto&& holds) { return std::any_of(all.begin(), all.end(), holds); };
    const bool by_place = names.has_lists || any([](const Piece& piece) { return piece.names.has_lists; });
    const bool by_name = names.features.size() > 0 || any([](const Piece& piece) { return piece.names.features.size() > 0; });
    if (by_place && by_name) return parse_lines(begin, end, line, first, out, names, faults);  // it finds the line
    names.has_lists = by_place;
    std::int64_t lines = first - 1;
    for (Piece& piece : all) {
        if (piece.thrown) std::rethrow_exception(piece.thrown);
        out.append(piece.batch, lines, piece.names, names);
        for (Fault& fault : piece.faults.found) {
            fault.line += lines;
            faults.found.push_back(std::move(fault));
            if (faults.too_many()) return lines + piece.lines - (first - 1);
        }
        lines += piece.lines;
    }
    return lines - (first - 1);
}

}  // namespace hinge::text
