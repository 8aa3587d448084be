// JSON values in a line of text, read in place.
#pragma once

#include <string>
#include <string_view>

#include "scan.hpp"

namespace hinge::text {

class Json {
public:
    Json(const char* begin, const char* end) : p_(begin), end_(end) { skip(); }

    const char* at() const { return p_; }
    char peek() const { return p_ < end_ ? *p_ : '\0'; }
    bool done() const { return p_ == end_; }

    bool take(char c) {
        if (peek() != c) return false;
        ++p_;
        skip();
        return true;
    }

    void expect(char c, const char* where) {
        if (!take(c)) fail(std::string("expected '") + c + "' " + where);
    }

    // A string; what it views lives until the next call.
    std::string_view string(std::string& scratch) {
        if (peek() != '"') fail("expected a string in double quotes");
        const char* const begin = ++p_;
        while (p_ < end_ && *p_ != '"' && *p_ != '\\' && static_cast<unsigned char>(*p_) >= 32) ++p_;
        std::string_view out(begin, static_cast<std::size_t>(p_ - begin));
        if (peek() != '"') {
            scratch.assign(out);
            unescape(scratch);
            out = scratch;
        }
        ++p_;
        skip();
        return out;
    }

    double real() {
        const char* const begin = p_;
        check_number();
        double value = 0;
        number(begin, end_, value);
        if (!std::isfinite(value)) throw Bad{begin, "number " + quoted({begin, static_cast<std::size_t>(p_ - begin)}) + " is too large"};
        skip();
        return value;
    }

    bool word(std::string_view text) {
        if (static_cast<std::size_t>(end_ - p_) < text.size() || std::string_view(p_, text.size()) != text) return false;
        p_ += text.size();
        skip();
        return true;
    }

    // Any value, checked and left out.
    void pass(std::string& scratch, int depth = 0) {
        if (depth > 64) fail("values are nested more than 64 deep");
        if (peek() == '{') {
            members(scratch, [&](std::string_view) { pass(scratch, depth + 1); });
        } else if (peek() == '[') {
            items([&] { pass(scratch, depth + 1); });
        } else if (peek() == '"') {
            string(scratch);
        } else if (!word("true") && !word("false") && !word("null")) {
            real();
        }
    }

    // Calls visit(key) in front of each value of an object, which it must read.
    template <class Visit>
    void members(std::string& scratch, Visit&& visit) {
        expect('{', "");
        if (take('}')) return;
        do {
            const std::string_view key = string(scratch);
            expect(':', "after a key");
            visit(key);
        } while (take(','));
        expect('}', "or ',' in an object");
    }

    template <class Visit>
    void items(Visit&& visit) {
        expect('[', "");
        if (take(']')) return;
        do visit();
        while (take(','));
        expect(']', "or ',' in a list");
    }

    [[noreturn]] void fail(std::string message) const {
        if (p_ == end_) message = "the line ends too early: " + message;
        throw Bad{p_, message};
    }

private:
    void skip() {
        while (p_ < end_ && is_blank(*p_)) ++p_;
    }

    void digits() {
        if (!is_digit(peek())) fail("expected a value");
        while (is_digit(peek())) ++p_;
    }

    void check_number() {
        if (peek() == '-') ++p_;
        if (peek() == '0' && p_ + 1 < end_ && is_digit(p_[1])) fail("a number cannot begin with 0");
        digits();
        if (peek() == '.') {
            ++p_;
            digits();
        }
        if (peek() == 'e' || peek() == 'E') {
            ++p_;
            if (peek() == '+' || peek() == '-') ++p_;
            digits();
        }
    }

    unsigned hex4() {
        unsigned out = 0;
        for (int i = 0; i < 4; ++i, ++p_) {
            const char c = peek();
            const unsigned digit = is_digit(c)            ? static_cast<unsigned>(c - '0')
                                   : c >= 'a' && c <= 'f' ? static_cast<unsigned>(c - 'a' + 10)
                                   : c >= 'A' && c <= 'F' ? static_cast<unsigned>(c - 'A' + 10)
                                                          : 16;
            if (digit == 16) fail("expected four hexadecimal digits after \\u");
            out = out * 16 + digit;
        }
        return out;
    }

    static void put(std::string& to, unsigned code) {
        const auto byte = [&](unsigned value) { to += static_cast<char>(value); };
        if (code < 0x80) {
            byte(code);
        } else if (code < 0x800) {
            byte(0xC0 | code >> 6);
            byte(0x80 | (code & 63));
        } else if (code < 0x10000) {
            byte(0xE0 | code >> 12);
            byte(0x80 | (code >> 6 & 63));
            byte(0x80 | (code & 63));
        } else {
            byte(0xF0 | code >> 18);
            byte(0x80 | (code >> 12 & 63));
            byte(0x80 | (code >> 6 & 63));
            byte(0x80 | (code & 63));
        }
    }

    // From the first character that does not stand for itself to the closing quote, which is not taken.
    void unescape(std::string& to) {
        for (;;) {
            if (p_ == end_) fail("a string has no closing quote");
            if (*p_ == '"') return;
            if (static_cast<unsigned char>(*p_) < 32) fail("a control character in a string must be escaped");
            if (*p_ != '\\') {
                to += *p_++;
                continue;
            }
            ++p_;
            const char c = peek();
            constexpr std::string_view written = "\"\\/bfnrt", meant = "\"\\/\b\f\n\r\t";
            const std::size_t which = written.find(c);
            if (c != '\0' && which != written.npos) {
                to += meant[which];
                ++p_;
            } else if (c == 'u') {
                ++p_;
                unsigned code = hex4();
                if (code >= 0xD800 && code < 0xDC00 && peek() == '\\' && p_ + 1 < end_ && p_[1] == 'u') {
                    p_ += 2;
                    const unsigned second = hex4();
                    if (second < 0xDC00 || second > 0xDFFF) fail("a surrogate stands alone");
                    code = 0x10000 + ((code - 0xD800) << 10) + (second - 0xDC00);
                } else if (code >= 0xD800 && code < 0xE000) {
                    fail("a surrogate stands alone");
                }
                put(to, code);
            } else {
                fail("a backslash must be followed by one of \"\\/bfnrtu");
            }
        }
    }

    const char* p_;
    const char* end_;
};

}  // namespace hinge::text
