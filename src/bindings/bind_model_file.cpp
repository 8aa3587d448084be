// The checks of a model file, for anything that lends a contiguous buffer: bytes, memoryview, array.
#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "../core/crc32c.hpp"
#include "borrowed.hpp"

namespace nb = nanobind;

namespace {

using Check = std::uint32_t (*)(std::span<const std::uint8_t>, std::uint32_t) noexcept;

template <Check check>
std::uint32_t check_buffer(nb::handle data, std::uint32_t crc) {
    constexpr std::size_t worth_a_thread_switch = 1u << 16;
    const Borrowed borrowed(data);
    const auto bytes = borrowed.bytes();
    if (bytes.size() < worth_a_thread_switch) return check(bytes, crc);
    nb::gil_scoped_release release;
    return check(bytes, crc);
}

}  // namespace

void bind_model_file(nb::module_& m) {
    m.def("crc32c", &check_buffer<hinge::crc32c>, nb::arg("data"), nb::arg("crc"),
          "CRC32C of a contiguous buffer, continuing from the check `crc` of what came before it.");
    m.def("crc32c_portable", &check_buffer<hinge::crc32c_portable>, nb::arg("data"), nb::arg("crc"),
          "The same without the processor's own instruction; bound so that the two can be compared.");
}
