// What every parser of text needs: where it went wrong, what separates words, and numbers.
//
// A parser is given one line [begin, end) at a time, and *end is readable and a newline: loops over digits or words
// stop there without looking at a bound.
#pragma once

#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <system_error>

namespace hinge::text {

// Thrown by a parser: what is wrong with the line that it was given, and where.
struct Bad {
    const char* at;
    std::string message;
};

inline bool is_digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }
inline bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }  // within a line
inline bool ends_word(char c) { return is_blank(c) || c == '\n'; }

inline const char* skip_blanks(const char* p) {
    while (is_blank(*p)) ++p;
    return p;
}

inline const char* skip_word(const char* p) {
    while (!ends_word(*p)) ++p;
    return p;
}

// A piece of the input for a message: never long, never more than one line, always printable.
inline std::string quoted(std::string_view piece) {
    constexpr std::size_t most = 40;
    std::string out = "'";
    for (const char c : piece.substr(0, most)) out += static_cast<unsigned char>(c) < 32 ? '?' : c;
    // a character of several bytes that the cut broke is left out
    if (piece.size() > most) {
        while (out.size() > 1 && (static_cast<unsigned char>(out.back()) & 0xC0) == 0x80) out.pop_back();
        if (static_cast<unsigned char>(out.back()) >= 0xC0) out.pop_back();
        out += "..";
    }
    return out + "'";
}

inline constexpr double powers_of_ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                           1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

inline constexpr std::uint64_t whole_powers_of_ten[] = {1,       10,        100,        1'000,      10'000,
                                                       100'000, 1'000'000, 10'000'000, 100'000'000};

// Reads up to eight digits at once, without a branch on how many there are; eight bytes must be readable. Returns how
// many there were.
inline int eight_digits(const char* p, std::uint64_t& value) {
    value = 0;
    if constexpr (std::endian::native == std::endian::big) {
        int count = 0;
        for (; count < 8 && is_digit(p[count]); ++count) value = value * 10 + static_cast<std::uint64_t>(p[count] - '0');
        return count;
    }
    std::uint64_t word;
    std::memcpy(&word, p, 8);
    word ^= 0x3030303030303030u;  // digits become 0 to 9
    // a byte above 9 sets its highest bit; a carry from it spoils only bytes behind the first that is no digit
    const std::uint64_t others = ((word + 0x7676767676767676u) | word) & 0x8080808080808080u;
    const int count = std::countr_zero(others) >> 3;  // 64 zeros: all eight
    if (count == 0) return 0;
    word <<= 64 - 8 * count;  // the last digit to the last place, zeros before the first
    word = (word * 10 + (word >> 8)) & 0x00FF00FF00FF00FFu;
    word = (word * 100 + (word >> 16)) & 0x0000FFFF0000FFFFu;
    value = (word * 10000 + (word >> 32)) & 0xFFFFFFFFu;
    return count;
}

// How many digits a number has before its point, as if it were written without an exponent: negative for small ones.
inline std::int64_t decimal_places(const char* p, const char* end) {
    std::int64_t places = 0;
    bool point = false, begun = false;
    for (; p < end && *p != 'e' && *p != 'E'; ++p) {
        if (*p == '.') point = true;
        begun |= is_digit(*p) && *p != '0';
        if (begun && !point && is_digit(*p)) ++places;
        if (!begun && point && *p == '0') --places;
    }
    if (p == end) return places;
    const bool minus = *++p == '-';
    std::int64_t power = 0;
    for (p += minus || *p == '+' ? 1 : 0; p < end && is_digit(*p); ++p)
        if (power < (std::int64_t{1} << 50)) power = power * 10 + (*p - '0');
    return places + (minus ? -power : power);
}

// A number that did not fit the short way of `number`: the nearest float64, or one that is too large or too small.
inline const char* long_number(const char* p, const char* end, double& value) {
    const char* from = *p == '+' ? p + 1 : p;
    if (from == end || *from == '+' || (from > p && *from == '-')) return p;
    const auto [stop, error] = std::from_chars(from, end, value);
    if (error == std::errc::invalid_argument) return p;
    if (error == std::errc::result_out_of_range) {  // it does not say on which side
        value = decimal_places(from, stop) > 0 ? HUGE_VAL : 0.0;
        if (*from == '-') value = -value;
    }
    return stop;
}

// Reads a number as float() does, correctly rounded; returns where it ends, which is `p` if there is none.
// Few digits and a small exponent are exact in float64: m * 10^e is one rounding (Clinger 1990). The rest is
// left to from_chars. "inf" and "nan" are read too; whoever calls decides about them.
inline const char* number(const char* p, const char* end, double& value) {
    const char* const begin = p;
    const bool negative = *p == '-';
    if (negative || *p == '+') ++p;
    std::uint64_t mantissa = 0;
    const char* const digits = p;
    while (is_digit(*p)) mantissa = mantissa * 10 + static_cast<std::uint64_t>(*p++ - '0');
    std::int64_t count = p - digits;
    std::int64_t exponent = 0;
    if (*p == '.') {
        const char* const fraction = ++p;
        for (std::uint64_t some = 0; end - p >= 8;) {
            const int found = eight_digits(p, some);
            mantissa = mantissa * whole_powers_of_ten[found] + some;
            p += found;
            if (found < 8) break;
        }
        while (is_digit(*p)) mantissa = mantissa * 10 + static_cast<std::uint64_t>(*p++ - '0');
        exponent = fraction - p;
        count -= exponent;
    }
    if (count == 0 || count > 19) return long_number(begin, end, value);
    if (*p == 'e' || *p == 'E') {
        const char* q = p + 1;
        const bool minus = *q == '-';
        if (minus || *q == '+') ++q;
        if (is_digit(*q)) {
            std::int64_t power = 0;
            while (is_digit(*q)) {
                if (power < 100000) power = power * 10 + (*q - '0');
                ++q;
            }
            exponent += minus ? -power : power;
            p = q;
        }
    }
    if (mantissa > (std::uint64_t{1} << 53) || exponent < -22 || exponent > 22) return long_number(begin, end, value);
    const auto m = static_cast<double>(mantissa);
    const double size = exponent < 0 ? m / powers_of_ten[-exponent] : m * powers_of_ten[exponent];
    value = negative ? -size : size;
    return p;
}

// Reads digits as a number of at most `most`; returns where they end, which is `p` if there are none or too many.
inline const char* whole_number(const char* p, std::int64_t most, std::int64_t& value) {
    const char* const begin = p;
    std::uint64_t out = 0;
    while (is_digit(*p)) out = out * 10 + static_cast<std::uint64_t>(*p++ - '0');
    if (p - begin > 18 || out > static_cast<std::uint64_t>(most)) return begin;
    value = static_cast<std::int64_t>(out);
    return p;
}

inline bool is_utf8(std::string_view text) {
    const auto* p = reinterpret_cast<const unsigned char*>(text.data());
    const auto* const end = p + text.size();
    while (p < end) {
        if (*p < 0x80) {
            ++p;
            continue;
        }
        const int more = *p >= 0xF0 ? 3 : *p >= 0xE0 ? 2 : 1;
        if (*p < 0xC2 || *p > 0xF4 || end - p <= more) return false;
        // overlong forms, surrogates, and what lies beyond U+10FFFF show in the second byte
        const unsigned char low = *p == 0xE0 ? 0xA0 : *p == 0xF0 ? 0x90 : 0x80;
        const unsigned char high = *p == 0xED ? 0x9F : *p == 0xF4 ? 0x8F : 0xBF;
        if (p[1] < low || p[1] > high) return false;
        for (int i = 2; i <= more; ++i)
            if ((p[i] & 0xC0) != 0x80) return false;
        p += more + 1;
    }
    return true;
}

// A name or a text must be UTF-8, without the NUL that arrays of text lose at their end.
inline void check_text(std::string_view text, const char* at) {
    if (!is_utf8(text)) throw Bad{at, "this is not UTF-8; convert the file first"};
    if (text.find('\0') != text.npos) throw Bad{at, "a text must not hold a NUL character"};
}

}  // namespace hinge::text
