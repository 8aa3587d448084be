// Parsers of text: a buffer in, arrays out; what is wrong comes back as a list of places.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>

#include <cstdlib>
#include <string>

#include "../core/text/reader.hpp"
#include "archive.hpp"
#include "borrowed.hpp"

namespace {

using hinge::Index;
namespace text = hinge::text;

nb::str to_str(std::string_view bytes) {
    PyObject* out = PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "replace");
    if (!out) nb::raise_python_error();
    return nb::steal<nb::str>(out);
}

// A column's memory as an array, without a copy.
template <class T>
nb::object give(text::Column<T>& column) {
    std::size_t shape[1] = {column.size()};
    if (shape[0] == 0) return new_array<T>({0}, [](T*) {});
    T* data = column.release();
    nb::capsule owner(data, [](void* p) noexcept { std::free(p); });
    return nb::cast(nb::ndarray<nb::numpy, T>(data, 1, shape, owner));
}

// The ends of the rows, with the zero in front that makes them the starts of a CSR matrix.
nb::object starts(const text::Column<std::int64_t>& ends) {
    return new_array<std::int64_t>({ends.size() + 1}, [&](std::int64_t* to) {
        *to = 0;
        std::copy_n(ends.data(), ends.size(), to + 1);
    });
}

nb::list name_list(const text::Names& names, Index from) {
    nb::list out;
    for (Index i = std::max(from, Index(0)); i < names.size(); ++i) out.append(to_str(names[i]));
    return out;
}

nb::list fault_list(const text::Faults& faults) {
    nb::list out;
    for (const text::Fault& it : faults.found)
        out.append(nb::make_tuple(it.line, it.column, to_str(it.message), to_str(it.text), it.shown_from));
    return out;
}

nb::dict batch_dict(text::Batch& batch) {
    nb::dict out;
    nb::list ids;
    if (batch.has_id) {
        std::size_t from = 0;
        for (std::size_t row = 0; row < batch.rows(); ++row) {
            const auto to = static_cast<std::size_t>(batch.id_end[row]);
            ids.append(to_str(std::string_view(batch.ids).substr(from, to - from)));
            from = to;
        }
    }
    out["least_index"] = batch.least_index;
    out["largest_index"] = batch.largest_index;
    out["has_cost"] = batch.has_cost;
    out["has_weight"] = batch.has_weight;
    out["has_qid"] = batch.has_query;
    out["has_id"] = batch.has_id;
    out["has_sets"] = batch.has_sets;
    out["ids"] = ids;
    out["start"] = starts(batch.start);
    out["label_start"] = starts(batch.label_start);
    out["index"] = give(batch.index);
    out["value"] = give(batch.value);
    out["label"] = give(batch.label);
    out["label_name"] = give(batch.label_name);
    out["cost"] = give(batch.cost);
    out["weight"] = give(batch.weight);
    out["qid"] = give(batch.query);
    out["line"] = give(batch.line);
    return out;
}

std::string_view view(const Borrowed& borrowed) {
    const auto bytes = borrowed.bytes();
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

nb::tuple parse_lines(text::LineReader& reader, nb::handle data, bool last, int threads, std::int64_t allowed) {
    const Borrowed borrowed(data);
    text::Batch batch;
    text::Faults faults;
    faults.allowed = allowed;
    std::size_t taken;
    {
        nb::gil_scoped_release release;
        taken = reader.parse(view(borrowed), last, threads, batch, faults);
    }
    return nb::make_tuple(taken, batch_dict(batch), fault_list(faults), faults.too_many());
}

nb::tuple parse_csv(text::CsvReader& reader, nb::handle data, bool last, std::int64_t allowed) {
    const Borrowed borrowed(data);
    text::Faults faults;
    faults.allowed = allowed;
    std::size_t taken;
    {
        nb::gil_scoped_release release;
        taken = reader.parse(view(borrowed), last, faults);
    }
    nb::list columns;
    for (text::CsvColumn& column : reader.csv.columns) {
        const nb::object values = column.is_text ? give(column.code) : give(column.number);
        columns.append(nb::make_tuple(to_str(column.name), values, column.is_text));
    }
    return nb::make_tuple(taken, nb::make_tuple(columns, give(reader.csv.line)), fault_list(faults), faults.too_many());
}

nb::object attributes(const text::LineReader& reader) {
    nb::list out;
    if (!reader.header) return out;
    for (const text::Attribute& it : reader.header->attributes) {
        const char* kinds[] = {"numeric", "nominal", "text"};
        out.append(nb::make_tuple(to_str(it.name), kinds[it.kind], name_list(it.values, 0)));
    }
    return out;
}

}  // namespace

void bind_text(nb::module_& m) {
    using namespace nb::literals;
    nb::class_<text::LineReader>(m, "LineReader", "Reads svmlight, VW text, JSON lines or ARFF, piece by piece.")
        .def(nb::init<std::string_view, int>(), "format"_a, "bits"_a)
        .def("parse", &parse_lines, "data"_a, "last"_a, "threads"_a, "skip_bad"_a,
             "Bytes taken, the rows as a dict of arrays, bad lines, and whether these were too many.")
        .def("feature_names", [](const text::LineReader& self, Index from) { return name_list(self.names.features, from); },
             "from"_a)
        .def("label_names", [](const text::LineReader& self, Index from) { return name_list(self.names.labels, from); },
             "from"_a)
        .def_prop_ro("relation", [](const text::LineReader& self) { return to_str(self.header ? self.header->relation : ""); })
        .def_prop_ro("declared", [](const text::LineReader& self) { return self.header && self.header->done; })
        .def_prop_ro("attributes", &attributes);
    nb::class_<text::CsvReader>(m, "CsvReader", "Reads tables of text, piece by piece.")
        .def("__init__",
             [](text::CsvReader* self, const std::string& delimiter, const std::string& header) {
                 using Header = text::Csv::Header;
                 new (self) text::CsvReader(delimiter.empty() ? '\0' : delimiter[0],
                                            header == "yes"  ? Header::yes
                                            : header == "no" ? Header::no
                                                             : Header::guess);
             },
             "delimiter"_a, "header"_a)
        .def("parse", &parse_csv, "data"_a, "last"_a, "skip_bad"_a,
             "Bytes taken; columns (name, values, whether these number texts) and the rows' lines; bad lines; too many.")
        .def("texts", [](const text::CsvReader& self, std::size_t column, Index from) {
            if (column >= self.csv.columns.size()) throw nb::index_error();
            return name_list(self.csv.columns[column].names, from);
        }, "column"_a, "from"_a);
}
