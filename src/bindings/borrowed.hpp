// A contiguous buffer of Python's: bytes, memoryview, mmap, array.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace nb = nanobind;

// A buffer borrowed for the length of one call. PyBUF_SIMPLE refuses strided memory with Python's own BufferError.
class Borrowed {
public:
    explicit Borrowed(nb::handle owner) {
        if (PyObject_GetBuffer(owner.ptr(), &view_, PyBUF_SIMPLE) != 0) nb::raise_python_error();
    }
    ~Borrowed() { PyBuffer_Release(&view_); }
    Borrowed(const Borrowed&) = delete;
    Borrowed& operator=(const Borrowed&) = delete;

    std::span<const std::uint8_t> bytes() const {
        return {static_cast<const std::uint8_t*>(view_.buf), static_cast<std::size_t>(view_.len)};
    }

private:
    Py_buffer view_{};
};
