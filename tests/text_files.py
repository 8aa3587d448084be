"""Generated files for the readers' tests: the text of a file, and nothing about how it is read."""

import io
import json

import numpy as np

WORDS = ["a", "b1", "grün", "x_y", "long-name", "日本", "Z", "q.9", "0", "17"]


def real(rng):
    """A number as people and programs write them."""
    value = float(rng.normal() * 10.0 ** rng.integers(-12, 13))
    form = rng.integers(7)
    if form == 0:
        return repr(value)
    if form == 1:
        return f"{value:.{rng.integers(0, 12)}f}"
    if form == 2:
        return f"{value:.{rng.integers(0, 20)}e}"
    if form == 3:
        return str(int(rng.integers(-(10**9), 10**9)))
    if form == 4:
        return f"{value:+.6g}"
    if form == 5:
        return f"{abs(value):.25f}"
    return rng.choice(
        ["0", "-0.0", "1.", ".5", "1E5", "1e-320", "123456789012345678901234567890", "1e22", "9007199254740993"]
    )


def blanks(rng):
    return rng.choice([" ", "  ", "\t", " \t"]) if rng.random() < 0.2 else " "


def svmlight(rng, *, several=False, query=False, zero_based=False):
    """Lines of svmlight text, with comments, empty lines and either end of line."""
    out = []
    newline = "\r\n" if rng.random() < 0.2 else "\n"
    width = int(rng.integers(1, 60))
    for row in range(int(rng.integers(1, 30))):
        if rng.random() < 0.1:
            out.append(rng.choice(["", "  ", "# a comment", "\t# another"]))
        if several:
            label = ",".join(str(x) for x in rng.integers(-3, 20, int(rng.integers(1, 4))))
        else:
            label = real(rng) if rng.random() < 0.5 else str(rng.integers(-2, 5))
        columns = np.sort(rng.choice(width, int(rng.integers(0, width + 1)), replace=False)) + (not zero_based)
        parts = [label] + ([f"qid:{row // 3}"] if query else []) + [f"{c}:{real(rng)}" for c in columns]
        line = blanks(rng).join(parts)
        out.append(line + (rng.choice([" # note", " #docid = d7 inc = 1", ""]) if rng.random() < 0.3 else ""))
    return (newline.join(out) + (newline if rng.random() < 0.8 else "")).encode()


def vw(rng, *, labels="simple"):
    """Lines of VW text; returns them and, for each, its namespaces with their features."""
    out = []
    for row in range(int(rng.integers(1, 20))):
        if labels == "simple":
            head = f"{rng.integers(-5, 6)}" if rng.random() < 0.5 else f"{rng.normal():.6f}"
            if rng.random() < 0.4:
                head += f" {rng.integers(1, 5)}.5"
        elif labels == "multilabel":
            head = ",".join(map(str, sorted(rng.choice(9, int(rng.integers(1, 4)), replace=False))))
        else:
            head = " ".join(
                f"{c}:{rng.integers(0, 9)}.25" for c in sorted(rng.choice(9, int(rng.integers(1, 4)), replace=False))
            )
        if rng.random() < 0.3:
            head += f" 'tag{row}"
        text = ""
        for space in rng.choice(["", "s", "user", "w2"], int(rng.integers(1, 4)), replace=False):
            scale = f":{rng.integers(2, 4)}" if space and rng.random() < 0.3 else ""
            names = rng.choice(WORDS, int(rng.integers(0, 6)), replace=False)
            cells = [
                name if rng.random() < 0.4 else f"{name}:{rng.integers(1, 99)}.{rng.integers(0, 99)}" for name in names
            ]
            text += f" |{space}{scale} {' '.join(cells)}"
        out.append(head + text)
    return ("\n".join(out) + "\n").encode()


def csv_table(rng):
    """A table with a header: columns of numbers, some with missing cells, and of texts, some in quotes."""
    to = io.StringIO()
    delimiter = rng.choice([",", ";", "\t", "|"])
    kinds = rng.choice(["number", "whole", "text", "quoted"], int(rng.integers(2, 6)))
    to.write(delimiter.join(f"k{i} {kind}" for i, kind in enumerate(kinds)) + "\n")
    for _ in range(int(rng.integers(1, 25))):
        cells = []
        for kind in kinds:
            if kind in ("number", "whole") and rng.random() < 0.1:
                cells.append("")
            elif kind == "number":
                cells.append(f"{rng.normal():.{rng.integers(1, 15)}g}")
            elif kind == "whole":
                cells.append(str(rng.integers(-99, 99)))
            elif kind == "text":
                cells.append(str(rng.choice(["red", "green", "grün", "a b"])))
            else:
                cells.append('"' + str(rng.choice(['say ""hi""', "two\nlines", "a,b;c|d\te", "x", "end"])) + '"')
        to.write(delimiter.join(cells) + "\n")
    return to.getvalue().encode(), delimiter


def jsonl(rng):
    """JSON lines; returns the text and the objects that it stands for."""
    rows = []
    for row in range(int(rng.integers(1, 20))):
        x = {}
        for name in rng.choice([*WORDS, 'qu"ote', "tab\t", "\U0001f600"], int(rng.integers(0, 6)), replace=False):
            kind = rng.integers(4)
            x[str(name)] = [
                float(rng.normal()),
                int(rng.integers(-9, 9)),
                str(rng.choice(WORDS)),
                bool(rng.random() < 0.5),
            ][kind]
        one = {"x": x, "y": [str(rng.choice(WORDS)), int(rng.integers(9))][rng.integers(2)], "id": f"r{row}"}
        if rng.random() < 0.5:
            one["extra"] = [1, {"deep": [None, "x\\y", -1.5e-3]}]
        if rng.random() < 0.3:
            one["weight"] = 2.5
        rows.append(one)
    ascii_only = bool(rng.random() < 0.5)
    return ("\n".join(json.dumps(row, ensure_ascii=ascii_only) for row in rows) + "\n").encode(), rows


def arff(rng, *, sparse=False):
    """An ARFF file with numeric, nominal and string attributes."""
    kinds = rng.choice(["numeric", "real", "integer", "nominal", "string"], int(rng.integers(1, 8)))
    values = ["red", "dark green", "b'lue"]
    lines = ["% generated", f"@RELATION 'r {rng.integers(9)}'"]
    quote = lambda text: "'" + text.replace("'", "\\'") + "'"  # noqa: E731
    for i, kind in enumerate(kinds):
        shown = "{" + ",".join(map(quote, values)) + "}" if kind == "nominal" else str(kind).upper()
        lines.append(f"@attribute 'a {i}' {shown}")
    lines.append("@DATA")
    for _ in range(int(rng.integers(1, 15))):
        cells = []
        for kind in kinds:
            if rng.random() < 0.1:
                cells.append("?")
            elif kind == "nominal":
                cells.append(quote(str(rng.choice(values))))
            elif kind == "string":
                cells.append(quote(str(rng.choice(["some text", "more, text", "it's"]))))
            else:
                cells.append(str(rng.integers(-99, 99)) if kind == "integer" else f"{rng.normal():.8g}")
        if sparse:
            kept = [i for i in range(len(kinds)) if rng.random() < 0.6]
            lines.append("{" + ", ".join(f"{i} {cells[i]}" for i in kept) + "}")
        else:
            lines.append(", ".join(cells))
    return ("\n".join(lines) + "\n").encode()


def mutated(rng, data):
    """The same bytes with a few of them changed, removed, doubled or cut off."""
    out = bytearray(data)
    for _ in range(int(rng.integers(1, 6))):
        if not out:
            break
        at, how = int(rng.integers(len(out))), rng.integers(6)
        if how == 0:
            out[at] = int(rng.integers(256))
        elif how == 1:
            del out[at : at + int(rng.integers(1, 9))]
        elif how == 2:
            out[at:at] = out[at : at + int(rng.integers(1, 40))]
        elif how == 3:
            del out[at:]
        elif how == 4:
            out[at:at] = bytes(rng.choice(list(b" ,:|\"'{}\n\r\t\\#%?0-+.e"), 2).tolist())
        else:
            out[at:at] = rng.choice([b"nan", b"1e999", b"\xff\xfe", b"99999999999", b"\x00"])
    return bytes(out)
