#!/usr/bin/env python3
"""Writes the small corpora that fuzzing begins from: tools/fuzz/corpus/TARGET and tools/fuzz/heavy/corpus/TARGET.

    python3 tools/scripts/fuzz_corpus.py

The same seed gives the same bytes. Inputs of bugs that fuzzing found lie beside these and stay:
their names begin with `bug-`.
"""

import io
import json
import random
import struct
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1] / "fuzz"
SEED = 7

WORDS = "Cash Debt Revenue Total All Cloud Goods Services Other net 2024 2023 2022a FY2021 in millions (unaudited)".split()
VALUES = ["1,234", "$ 5", "(7)", "—", "12.5 %", "n/a", "0", "-3", "", "1000", "2024", "x", "(12", "3 (a)"]


def main():
    random.seed(SEED)
    light = {
        "html": html(),
        "markdown": markdown(),
        "csv": delimited(),
        "docling": docling(),
        "native": native(),
        "text": text(),
        "xlsx": xlsx(),
        "headers": headers(),
        "trec": trec(),
    }
    for target, inputs in light.items():
        write(ROOT / "corpus" / target, inputs)
    for target, inputs in {"config": config(), "manifest": manifest(), "weights": weights(),
                           "reranker": reranker()}.items():
        write(ROOT / "heavy" / "corpus" / target, inputs)


def write(folder, inputs):
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("seed-*"):
        old.unlink()
    for number, data in enumerate(inputs):
        (folder / f"seed-{number:02}").write_bytes(data if isinstance(data, bytes) else data.encode())


def rows(height, width):
    """Rows of a table: a header row of words, then a name and values each."""
    head = [""] + [random.choice(WORDS) for _ in range(width - 1)]
    body = [[random.choice(WORDS)] + [random.choice(VALUES) for _ in range(width - 1)] for _ in range(height - 1)]
    return [head, *body]


def html():
    for mark in ["td", "th"]:
        body = "".join(
            "<tr>" + "".join(f"<{mark if r == 0 else 'td'}>{cell}</td>" for cell in row) + "</tr>"
            for r, row in enumerate(rows(4, 3))
        )
        yield f"<h2>Sales</h2><p>It rose. To 3.</p><table><caption>c</caption>{body}</table>"
    yield (
        '<?xml version="1.0"?><html><body><div style="display:none"><ix:header><ix:resources><xbrli:context id="c">'
        "<xbrli:period><xbrli:instant>2024-12-31</xbrli:instant></xbrli:period></xbrli:context></ix:resources></ix:header></div>"
        '<table><tr><td/><td colspan="3">2024</td></tr><tr><td style="padding-left:9pt">Cash</td><td>$</td>'
        '<td>(<ix:nonFraction name="us:A" contextRef="c" scale="6" sign="-" format="ixt:num-dot-decimal">7</ix:nonFraction></td><td>)</td></tr>'
        "<tr><td rowspan=0>a<sup>(1)</sup></td></tr></table></body></html>"
    )
    yield "<table><tr><td><table><tr><td>1<td>2</table><td>x<tr><td colspan=1000000000>y</table><b><i></b><p></i>"
    yield b"\xff\xfe" + "<table><tr><td>\u05e9\u05dc\u05d5\u05dd</td><td>1</td></tr></table>".encode("utf-16-le")
    yield '<meta charset="windows-1252"><ul><li>5 \x80</ul><pre>a\n b</pre>'.encode("latin-1")


def markdown():
    for height in [2, 5]:
        table = rows(height, 3)
        lines = ["| " + " | ".join(row) + " |" for row in table]
        yield "# Report\n\nIt rose. Then fell.\n\n" + "\n".join([lines[0], "|:--|--:|--|", *lines[1:]]) + "\n"
    yield "**Bold**\n\n- a\n  - b\n\n> q\n\n```\n|a|\n```\n\n<table><tr><td>x<td>1</table>\n\n[^1]: note\n"


def delimited():
    for delimiter in ",;\t|":
        yield "\n".join(delimiter.join(cell.replace(",", "") for cell in row) for row in rows(4, 3)) + "\n"
    yield 'Title\n\nname,"a ""b""\n",3\r\nc\r\nd,e,f,g\r\n'


def docling():
    cells = [
        {
            "text": text,
            "start_row_offset_idx": r,
            "end_row_offset_idx": r + 1,
            "start_col_offset_idx": c,
            "end_col_offset_idx": c + 1,
            "column_header": r == 0,
            "row_header": c == 0,
        }
        for r, row in enumerate(rows(3, 2))
        for c, text in enumerate(row)
    ]
    document = {
        "schema_name": "DoclingDocument",
        "body": {"children": [{"$ref": f"#/{kind}/0"} for kind in ["texts", "groups", "tables", "pictures"]]},
        "groups": [{"children": [{"$ref": "#/texts/1"}, {"$ref": "#/groups/0"}]}],
        "pictures": [{"children": [{"$ref": "#/texts/1"}]}],
        "texts": [{"label": "section_header", "text": "Sales"}, {"label": "caption", "text": "It rose. It fell."}],
        "tables": [
            {
                "captions": [{"$ref": "#/texts/1"}],
                "prov": [{"page_no": 3}],
                "data": {"num_rows": 3, "num_cols": 2, "table_cells": cells},
            }
        ],
    }
    yield json.dumps(document)
    yield '{"schema_name": "DoclingDocument", "body": {"children": [{"$ref": "#/tables/0"}]}, "tables": [{"data": {"num_rows": 99999999999, "num_cols": 3, "table_cells": []}}]}'


def native():
    table = {"caption": "c", "header_rows": 1, "header_cols": 1, "rows": rows(3, 3), "row_parents": [None, None, 1]}
    yield json.dumps({"id": "r", "blocks": [{"passage": "It rose."}, {"table": table}]})
    span = {"rows": [["a", {"text": "b", "rowspan": 2, "colspan": 1}], ["c"]], "number": 4}
    yield json.dumps({"id": "r", "blocks": [{"table": span}], "questions": [{"id": "q", "question": "?", "gold": []}]})
    yield '{"id": "r", "blocks": [{"table": {"rows": [[{"text": "", "rowspan": 18446744073709551615}]]}}]}'


def text():
    yield "Revenue rose in the U.S. by 3.5 %. See Note No. 5.\n\n1. Business\n\n“It fell.” (a) No."
    yield b"\xfe\xff" + "a。b\n\n\u202eabc".encode("utf-16-be")
    yield b"caf\xe9 5 \x80"


def xlsx():
    def sheet(table, merged=""):
        def cell(r, c, value):
            place = f"{chr(65 + c)}{r + 1}"
            if value.replace(",", "").isdigit():
                return f'<c r="{place}" s="{(r + c) % 4}"><v>{value.replace(",", "")}</v></c>'
            return f'<c r="{place}" t="inlineStr"><is><t>{value}</t></is></c>' if value else ""

        lines = ("".join(cell(r, c, value) for c, value in enumerate(row)) for r, row in enumerate(table))
        return "<sheetData>" + "".join(f'<row r="{r + 1}">{line}</row>' for r, line in enumerate(lines)) + "</sheetData>" + merged

    plain = sheet(rows(4, 3), '<mergeCells count="1"><mergeCell ref="B1:C1"/></mergeCells>')
    yield plain
    yield sheet(rows(2, 2)[:1] + [[""]] + rows(3, 2))
    yield '<sheetData><row r="1048576"><c r="XFD1048576"><f>A1</f><v>2</v></c><c t="d"><v>2024-01-01T00:00:00</v></c></row></sheetData>'
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    relations = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006/relationships"
    book = io.BytesIO()
    with zipfile.ZipFile(book, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, part in {
            "[Content_Types].xml": "<Types/>",
            "_rels/.rels": f'<Relationships xmlns="{package}"><Relationship Id="r" Type="{relations}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
            "xl/workbook.xml": f'<workbook xmlns="{main}" xmlns:r="{relations}"><sheets><sheet name="s" sheetId="1" r:id="r1"/></sheets></workbook>',
            "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{package}"><Relationship Id="r1" Type="{relations}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>',
            "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{main}">{plain}</worksheet>',
        }.items():
            # A fixed time, so that the bytes are the same every time.
            info = zipfile.ZipInfo(name, (2024, 1, 1, 0, 0, 0))
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, part)
    yield book.getvalue()
    yield b"PK\x03\x04xl/"


def headers():
    for height in [3, 6]:
        yield "\n".join("|".join(row) for row in rows(height, 4))
    yield "2x1 Name|1x2 2024|1x2 2023\n|a|b|a|b\nAssets:\n2x1 Cash|1|2|3|4\n|1000|2000|3000|4000\nTotal|1001|2002|3003|4004"
    yield "|1x3 percent\nx|1|2|3\n99999999999x99999999999 y|1x0 z"


def trec():
    yield "q1 Q0 t0:r1c1 1 2.5 tag\nq1 Q0 p3 2 2.5 tag\nq%202 Q0 t0 1 -1e-40 tag\n"
    yield "q1 0 t0:r1c1 1\nq1 0 p3 0\nq2 0 %25 -1\n"
    yield "q1 Q0 a 1 3.4028235e38 t\nq1 Q0 b 2 inf t\n"


def config():
    yield "[task]\nkind = \"ranker\"\nseed = 9\n[model]\npreset = \"base\"\nd_out = 7\n[optimisation]\nlearning_rate = 1e-3\n"
    yield "[data]\nkind = \"mix\"\n[[data.parts]]\nkind = \"finqa\"\ntrain = [\"a\"]\n[output]\ndirectory = \"x\"\n"
    yield "[optimisation]\nlerning_rate = nan\n"


def manifest():
    yield json.dumps(
        {"format_version": 2, "files": {}, "model": {"d_in": 3, "d_out": 4, "d_edge": 2}, "d_enc": 5, "encoder": "e",
         "segmenter": "none", "node_kinds": [], "edge_types": [], "seed": 1, "epoch": 1, "data": {}, "dev": {"loss": 0.5}}
    )
    yield '{"format_version": 1}'


def weights():
    head = json.dumps({"w": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}).encode()
    yield struct.pack("<Q", len(head)) + head + struct.pack("<2f", 1.0, float("nan"))
    yield struct.pack("<Q", 2**63) + b"{}"


def reranker():
    def file(tensors):
        head, data = {}, b""
        for name, values in tensors.items():
            end = len(data) + 4 * len(values)
            floats = name in ("trees.threshold", "trees.value")
            head[name] = {"dtype": "F32" if floats else "I32", "shape": [len(values)], "data_offsets": [len(data), end]}
            data += struct.pack(f"<{len(values)}{'f' if floats else 'i'}", *values)
        head = json.dumps(head).encode()
        return struct.pack("<Q", len(head)) + head + data

    # Two trees: one of two cuts, one of a leaf alone. A row of a ranker without features has 75 numbers.
    whole = {
        "trees.features": [75], "trees.feature": [1, 0, 3, 0, 0, 0], "trees.threshold": [0.5, 0, -1, 0, 0, 0],
        "trees.left": [1, -1, 3, -1, -1, -1],
        "trees.value": [0, 0.5, 0, -0.5, 2, 1], "trees.roots": [0, 5], "candidates": [3],
    }
    yield file(whole)
    yield file({**whole, "trees.value": [3e38] * 6})
    yield file({**whole, "trees.left": [0, -1, 3, -1, -1, -1]})


if __name__ == "__main__":
    main()
