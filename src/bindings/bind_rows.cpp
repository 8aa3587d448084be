#include "rows.hpp"

#include <nanobind/stl/tuple.h>

namespace {

const char* name_of(hinge::Flaw flaw) {
    switch (flaw) {
        case hinge::Flaw::not_finite: return "not finite";
        case hinge::Flaw::bad_start: return "bad start";
        case hinge::Flaw::out_of_range: return "out of range";
        case hinge::Flaw::not_increasing: return "not increasing";
        default: return "";
    }
}

// Dicts as the rows of a CSR matrix; names that are new are added, or left out.
template <class Real>
RowsView<Real> rows_of(DictReader& reader, const nb::list& dicts, bool add, bool intercept) {
    DictReader::Read<Real> read;
    std::vector<std::int64_t> starts{0};
    std::vector<std::int32_t> indices;
    std::vector<Real> values;
    for (nb::handle each : dicts) {
        nb::dict x = nb::cast<nb::dict>(each);
        add ? reader.read_and_add(std::move(x), read) : reader.read(std::move(x), read);
        indices.insert(indices.end(), read.index.begin(), read.index.end());
        values.insert(values.end(), read.value.begin(), read.value.end());
        starts.push_back(static_cast<std::int64_t>(indices.size()));
    }
    const auto array = [](const auto& from) {
        using Value = typename std::decay_t<decltype(from)>::value_type;
        return nb::cast<Vector<Value>>(
            new_array<Value>({from.size()}, [&](Value* to) { std::copy(from.begin(), from.end(), to); }));
    };
    return {array(starts), array(indices), array(values), reader.features(), intercept};
}

template <class Real>
void bind(nb::module_& m, const char* name) {
    using View = RowsView<Real>;
    nb::class_<View>(m, name, "The rows of a call: a dense matrix, or the three arrays of a CSR matrix.")
        .def(nb::init<Matrix<Real>, bool>(), nb::arg("values").noconvert(), nb::arg("intercept"))
        .def(nb::init<Vector<std::int64_t>, Vector<std::int32_t>, Vector<Real>, std::int64_t, bool>(),
             nb::arg("start").noconvert(), nb::arg("index").noconvert(), nb::arg("values").noconvert(),
             nb::arg("width"), nb::arg("intercept"))
        .def_prop_ro("count", [](const View& self) { return self.rows().count; })
        .def_prop_ro("width", [](const View& self) { return self.rows().width; })
        .def("arrays", &View::arrays, "Start, index, values and width; no start and no index where they are dense.")
        .def("take", &View::take, nb::arg("order"), "A copy of some of the rows, in the given order.")
        .def(
            "inspect",
            [](const View& self) {
                hinge::Finding found;
                {
                    nb::gil_scoped_release release;
                    found = self.inspect();
                }
                return std::tuple(name_of(found.flaw), found.row, found.column);
            },
            "What is wrong first ('' where nothing is), and its row and column.");
}

}  // namespace

void bind_rows(nb::module_& m) {
    bind<float>(m, "RowsFloat32");
    bind<double>(m, "RowsFloat64");
    nb::class_<DictReader>(m, "DictReader", "Reads dicts of feature name to number or string.")
        .def(nb::init<int>(), nb::arg("bits"))
        .def_prop_rw(
            "names", [](DictReader& self) { return self.names(); },
            [](DictReader& self, nb::dict names) { self.set_names(std::move(names)); })
        .def(
            "read",
            [](DictReader& self, nb::dict x, bool add) {
                DictReader::Read<double> read;
                if (add)
                    self.read_and_add(x, read);
                else
                    self.read(x, read);
                return nb::make_tuple(
                    new_array<std::int32_t>({read.index.size()},
                                            [&](std::int32_t* to) { std::copy(read.index.begin(), read.index.end(), to); }),
                    new_array<double>({read.value.size()},
                                      [&](double* to) { std::copy(read.value.begin(), read.value.end(), to); }));
            },
            nb::arg("x"), nb::arg("add"), "Features and values of a dict; names that are new are added, or left out.")
        .def_prop_ro("features", &DictReader::features)
        .def(
            "check", [](DictReader& self, nb::dict x, bool single) {
                DictReader::Read<float> in_float32;
                DictReader::Read<double> in_float64;
                single ? self.check(std::move(x), in_float32) : self.check(std::move(x), in_float64);
            },
            nb::arg("x"), nb::arg("single"), "Raises what learning from x would raise; float32 where `single`.")
        .def(
            "rows", [](DictReader& self, const nb::list& dicts, bool add, bool intercept, bool single) {
                return single ? nb::cast(rows_of<float>(self, dicts, add, intercept))
                              : nb::cast(rows_of<double>(self, dicts, add, intercept));
            },
            nb::arg("dicts"), nb::arg("add"), nb::arg("intercept"), nb::arg("single"),
            "Dicts as rows; names that are new are added, or left out.");
    m.def(
        "hash_feature",
        [](const char* name, int bits) {
            const auto hashed = hinge::hash_feature(name, bits);
            return std::tuple(hashed.index, hashed.sign);
        },
        nb::arg("name"), nb::arg("bits"), "The feature and the sign of a hashed name.");
}
