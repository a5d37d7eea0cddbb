"""Files that stand for far more than they are: each is refused before it costs memory or time, in a line with the option that reads it."""

from __future__ import annotations

import gzip
import json
import logging
import os
import sqlite3
import threading
import time
import tracemalloc
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import bombs
import pytest
from bombs import LINE, MEGABYTE, PARAGRAPH, Bomb, merged, parquet, pdf, pdf_stream, repeated, row, run_bounded, table, word

from kgeval.errors import InputError, UsageError
from kgeval.graph.load import graphml, triples
from kgeval.graph.load.table_files import RELATIONS, columns
from kgeval.limits import (
    DEEPEST,
    FileLimits,
    TooLargeError,
    file_limits,
    inflate_bytes,
    parse_json,
    parse_limits,
    parse_toml,
    sound_zip,
    too_large,
)
from kgeval.tables.parquet import parquet_batches
from kgeval.tables.parquet_pages import read_pages
from kgeval.tables.plain import parse_yaml, read_parquet
from kgeval.tables.score_tables import ScoreSelection, read_score_tables
from kgeval.tables.stream import stream
from kgeval.text.documents import read_documents
from kgeval.text.pdf_guard import OutOfTimeError, stopped_after
from kgeval.text.schema_files import read_schema_file

MEMORY = 450  # MB: what a command takes that reads nothing large is 60 to 150
POOLS: list[Any] = []  # what is in one may be kept longer, and Python ends where its pool does not
GRAPH = ("--graph", "g", "--dry-run")


def limited(monkeypatch: pytest.MonkeyPatch, limits: str) -> None:
    monkeypatch.setenv("KGEVAL_FILE_LIMIT", limits)


def wide(folder: Path) -> Path:
    keys = "".join(f'<key id="k{n}" for="node" attr.name="a{n}"><default>x</default></key>' for n in range(5_000))
    path = folder / "wide.graphml"
    nodes = "".join(f'<node id="{n}"/>' for n in range(5_000))
    path.write_text(f"<graphml>{keys}<graph>{nodes}</graph></graphml>")
    return path


def long_default(folder: Path) -> Path:
    """One text of 1.2 MB, given to 5,000 nodes."""
    path = folder / "long.graphml"
    nodes = "".join(f'<node id="{n}"/>' for n in range(5_000))
    key = f'<key id="k" for="node" attr.name="a"><default>{"x" * 1_200_000}</default></key>'
    path.write_text(f"<graphml>{key}<graph>{nodes}</graph></graphml>")
    return path


def nodes_of(folder: Path, descriptions: object, count: int) -> Path:
    """A folder of tables whose nodes have these descriptions."""
    inside = folder / "tables"
    inside.mkdir()
    parquet(inside / "nodes.parquet", {"id": [str(n) for n in range(count)], "name": ["x"] * count, "description": descriptions})
    parquet(inside / "relations.parquet", {"source": ["1"], "target": ["2"], "predicate": ["p"]})
    return inside


def answers_of(path: Path, response: object, count: int, *, groups: int = 1, use_dictionary: bool = True) -> Path:
    ids = [str(n) for n in range(count)]
    columns = {"id": ids, "question": ["q"] * count, "response": response}
    return parquet(path, columns, groups=groups, use_dictionary=use_dictionary)


def zeros(count: int) -> object:
    import numpy as np
    import pyarrow as pa

    return pa.array(np.zeros(count, np.int64))


def nulls(path: Path) -> Path:
    import pyarrow as pa

    none = pa.nulls(5_000_000, pa.string())
    return parquet(path, {"id": none, "question": none, "response": none}, groups=5)


BUILD, SCORE, IMPORT = ("build",), ("score",), ("import",)
REFUSED: dict[str, tuple[tuple[str, ...], Bomb, str, str]] = {  # command, bomb, what is said, the limit
    "docx, 300 MB": (BUILD, lambda at: bombs.word_of_megabytes(at / "a.docx", 300), "unpacks to 301 MB", "unpacked"),
    "docx, 100 MB in 0.3": (BUILD, lambda at: bombs.word_of_megabytes(at / "a.docx", 100), "unpack to 101 MB, ", "ratio"),
    "docx, 100 MB beside noise": (
        BUILD, lambda at: word(at / "a.docx", PARAGRAPH * 20_000, 92, media=os.urandom(600_000)),
        "a.docx: word/document.xml: too large: 279 kB unpack to ", "ratio",
    ),
    "docx, elements": (BUILD, lambda at: word(at / "a.docx", b"<a/>" * 500_000, 31), "its XML has 15,5", "elements"),
    "docx, merged cells": (
        BUILD, lambda at: word(at / "a.docx", table(row(merged(True) + PARAGRAPH * 3_000), *[row(merged(False) + b"<w:p/>")] * 8_000)),
        "its tables repeat merged cells", "unpacked",
    ),
    "pdf, a stream": (BUILD, lambda at: pdf(at / "a.pdf", pdf_stream(bombs.packed(LINE, 200))), "a stream unpacks to", "unpacked"),
    "pdf, 25,000 pages": (
        BUILD, lambda at: pdf(at / "a.pdf", pdf_stream(zlib.compress(LINE)), pages=25_000), "a PDF of more pages", "pages",
    ),
    "parquet, one value": (
        SCORE, lambda at: answers_of(at / "a.parquet", ["x" * 100 * MEGABYTE], 1, use_dictionary=False), "unpack to 101 MB", "ratio",
    ),
    "parquet, no values": (SCORE, lambda at: nulls(at / "a.parquet"), "unpack to 75 MB", "ratio"),
    "parquet, a text repeated": (
        SCORE, lambda at: answers_of(at / "a.parquet", repeated("x" * MEGABYTE, 20_000), 20_000), "a.parquet: too large: ", "ratio",
    ),
    "parquet, a graph": (IMPORT, lambda at: nodes_of(at, repeated("x" * MEGABYTE, 20_000), 20_000), "nodes.parquet: too large: ", "ratio"),
    "parquet, items of a list": (SCORE, lambda at: bombs.one_list(at / "a.parquet", zeros(100_000_000)), "unpack to 800 MB", "ratio"),
    "parquet, a text in a list": (SCORE, lambda at: bombs.one_list(at / "a.parquet", repeated("z", 10**8)), "unpack to 800 MB", "ratio"),
    "parquet, bytes of one length": (SCORE, lambda at: bombs.long_bytes(at / "a.parquet"), "unpack to 2,000 MB", "ratio"),
    "parquet, a footer that lies": (
        SCORE, lambda at: bombs.parquet_that_lies(at / "a.parquet", 200), "unpack to 201 MB", "ratio",
    ),
    "graphml, defaults": (IMPORT, wide, "its keys give more than 10,000,000 values by default", "defaults"),
    "graphml, a long default": (IMPORT, long_default, "each 100 characters of a text counted as one", "defaults"),
    "report, a page": (("report",), lambda at: bombs.report_page(at / "a.html", 300), "unpacks to more than 2", "unpacked"),
}


@pytest.mark.long
@pytest.mark.parametrize("name", REFUSED)
def test_a_bomb_is_refused_with_one_line_before_it_costs_memory(tmp_path: Path, name: str) -> None:
    command, make, says, limit = REFUSED[name]
    path = make(tmp_path)
    further = {BUILD: ("--graph", "g", "--extractor", "rules"), SCORE: ("--metrics", "exact_match"), IMPORT: GRAPH}.get(command, ())
    ended = run_bounded(*command, path, *further)
    assert ended.code == 2, ended.said
    line = next(line for line in ended.said.splitlines() if "too large" in line)
    assert says in line
    assert f"--file-limit {limit}=" in line
    assert not {"Traceback", "damaged", "broken"} & set(ended.said.split())
    # data of a page are base64: the bytes and their text, then what they unpack to, up to the limit
    assert ended.memory < MEMORY + (200 if command == ("report",) else 0), ended


@pytest.mark.long
def test_an_archive_that_lies_about_its_sizes_costs_no_more_than_it_says(tmp_path: Path) -> None:
    path = bombs.word_that_lies(tmp_path / "a.docx", 400)
    ended = run_bounded("build", path, "--graph", "g", "--extractor", "rules")
    assert ended.code == 2
    assert "a.docx: is a damaged Word file" in ended.said
    assert ended.memory < MEMORY, ended


@pytest.mark.long
@pytest.mark.parametrize("make", [bombs.pdf_of_forms, bombs.pdf_of_forms_too_long])
def test_forms_in_forms_end_at_the_limit_of_time(tmp_path: Path, make: Bomb) -> None:
    path = make(tmp_path / "a.pdf")
    ended = run_bounded("--file-limit", "seconds=1", "build", path, "--graph", "g", "--extractor", "rules")
    assert ended.code == 2
    assert "its pages up to page 1 take more seconds of a processor than that; the limit is 1 (--file-limit seconds=2" in ended.said


@pytest.mark.long
def test_the_fonts_of_a_page_end_at_the_limits_of_memory_and_of_time(tmp_path: Path) -> None:
    """1,500 fonts took 7 GB and 80 s before the first operator, where the clock was first looked at."""
    path = bombs.pdf_of_fonts(tmp_path / "a.pdf", 1_500)
    command = ("build", path, "--graph", "g", "--extractor", "rules")
    ended = run_bounded(*command)
    assert ended.code == 2
    assert "page 1: too large: its fonts map more characters than that, at 100 bytes each; the limit is 256 MB" in ended.said
    assert ended.memory < 900, ended
    ended = run_bounded("--file-limit", "seconds=1", "--file-limit", "unpacked=100GB", *command)
    assert ended.code == 2
    assert "its pages up to page 1 take more seconds of a processor than that; the limit is 1 (" in ended.said
    assert ended.memory < 900, ended


@pytest.mark.slow
def test_fonts_beyond_the_limit_leave_the_other_pages_and_the_named_option_reads_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    from pypdf import PdfWriter

    writer = PdfWriter()
    (tmp_path / "in").mkdir()
    for name, path in (("a", bombs.pdf_of_fonts(tmp_path / "a.pdf", 5)), ("b", pdf(tmp_path / "b.pdf", pdf_stream(zlib.compress(LINE))))):
        writer.append(path, outline_item=name)
    writer.write(tmp_path / "in" / "a.pdf")
    limited(monkeypatch, "unpacked=20MB")
    read = read_documents([tmp_path / "in"])
    assert read.documents[0].text == "Anna lives in Bern."
    assert read.notes[0] == "a.pdf: 1 of 2 pages could not be read: 1"
    assert "page 1: too large: its fonts map more characters than that" in read.notes[1]
    limited(monkeypatch, read.notes[1].partition("--file-limit ")[2].partition(" raises")[0])
    assert read_documents([tmp_path / "in"]).documents[0].text == "Anna lives in Bern.\n\nAnna lives in Bern."


@pytest.mark.slow
def test_fonts_of_a_form_that_is_drawn_often_are_counted_while_they_are_in_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    form = b"/Type /XObject /Subtype /Form /BBox [0 0 612 792] /Resources << /Font << /F1 4 0 R /G 7 0 R >> >>"
    font, descends, mapping = (part.replace(b"8 0 R", b"9 0 R").replace(b"7 0 R", b"8 0 R") for part in bombs.font_objects(bombs.FULL))
    content, form_of = pdf_stream(zlib.compress(b"/X Do\n" * 12)), pdf_stream(zlib.compress(LINE), form)
    pdf(tmp_path / "a.pdf", content, form_of, font, descends, mapping)
    limited(monkeypatch, "unpacked=20MB")  # three such fonts, at 6.5 MB
    assert read_documents([tmp_path]).documents[0].text.count("Anna") == 12


def test_a_form_beyond_a_limit_is_noted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The library leaves out what it draws, and only its log said so."""
    said = b"/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /Font << /F1 4 0 R >> >>"
    form = pdf_stream(zlib.compress(b" " * 50_000 + LINE), said)
    pdf(tmp_path / "a.pdf", pdf_stream(zlib.compress(LINE + b"/X Do\n")), form)
    limited(monkeypatch, "unpacked=100kB")
    read = read_documents([tmp_path])
    assert (read.documents[0].text, read.notes) == ("Anna lives in Bern.", ["a.pdf: forms on 1 of 1 pages could not be read: 1"])
    assert not logging.getLogger("pypdf._page").filters


@pytest.mark.skipif(not hasattr(time, "pthread_getcpuclockid"), reason="where threads have no clock that others can read")
@pytest.mark.timeout(60)
def test_the_limit_of_time_ends_what_never_looks_at_the_clock() -> None:
    with pytest.raises(OutOfTimeError), stopped_after(0):
        while True:
            pass
    for _ in range(300):  # nothing comes after the end, where nobody would expect it
        with suppress(OutOfTimeError), stopped_after(0):
            pass
        sum(range(100))


NO_WAY = {  # a font that pypdf does not read: its map, its widths, what pypdf says of it
    "a map": (b"100 beginbfrange\n" + b"<0000> <FFFF> <0041>\n" * 100 + b"endbfrange", b"", "Maximum /ToUnicode size limit reached"),
    "a range": (b"1 beginbfrange\n<00000000> <FFFFFFFF> <0041>\nendbfrange", b"", "Maximum /ToUnicode size limit reached"),
    "a width": (bombs.FULL, b"/W [0 4294967295 500]", "CID width range too large"),
    "widths": (bombs.FULL, b"/W [" + b"0 65534 500 " * 3 + b"]", "Too many character widths"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", NO_WAY)
def test_what_no_option_reads_names_none_and_adds_nothing_to_the_other_pages(tmp_path: Path, name: str) -> None:
    """Each was taken for 85 MB of a stream: four such pages were more than 256 MB, and a greater limit did not help."""
    mapping, widths, says = NO_WAY[name]
    content = pdf_stream(zlib.compress(LINE))
    pdf(tmp_path / "a.pdf", content, *bombs.font_objects(mapping, widths), pages=6, fonts=b"/F1 4 0 R /G 6 0 R")
    with pytest.raises(InputError) as refused:
        read_documents([tmp_path])
    (fault,) = refused.value.faults
    assert fault.startswith("a.pdf: page 6 has what no PDF needs, and is not read (" + says)
    assert fault.endswith("): print it to a new PDF")


@pytest.mark.slow
def test_a_stream_of_many_steps_is_read_with_the_limit_that_its_message_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pdf(tmp_path / "a.pdf", pdf_stream(zlib.compress(b"q " * 5_000 + LINE)))
    limited(monkeypatch, "seconds=1")
    with pytest.raises(InputError) as refused:
        read_documents([tmp_path])
    assert "a stream of more drawing steps than are read in that time" in refused.value.faults[0]
    limited(monkeypatch, refused.value.faults[0].partition("--file-limit ")[2].partition(" raises")[0])
    assert read_documents([tmp_path]).documents[0].text == "Anna lives in Bern."


@pytest.mark.slow
def test_a_long_list_of_pages_without_a_tree_is_beyond_the_limit_of_pages(tmp_path: Path) -> None:
    pdf(tmp_path / "a.pdf", pdf_stream(zlib.compress(LINE)), pages=150_000)
    with pytest.raises(InputError, match="no document") as refused:
        read_documents([tmp_path])
    assert "a.pdf: too large: a PDF of more pages than that; the limit is 20,000 (--file-limit pages=" in refused.value.faults[0]


def test_pages_that_share_a_content_count_it_each_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pdf(tmp_path / "a.pdf", pdf_stream(zlib.compress(b" " * 10_000 + LINE)), pages=9_000)
    limited(monkeypatch, "unpacked=50kB")
    with pytest.raises(InputError) as refused:
        read_documents([tmp_path])
    assert "a.pdf: too large: its pages up to page 11 unpack to more than that; the limit is 50 kB" in refused.value.faults[0]


@pytest.mark.slow
def test_of_a_hundred_documents_the_other_ninety_nine_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(99):
        (tmp_path / f"{number:02}.txt").write_text(f"Anna met Bert {number} times.")
    bombs.word_of_megabytes(tmp_path / "50.docx", 12)
    limited(monkeypatch, "unpacked=10MB")
    read = read_documents([tmp_path])
    assert len(read.documents) == 99
    assert read.faults == [
        "50.docx: too large: unpacks to 13 MB; the limit is 10 MB (--file-limit unpacked=13MB raises it)"
    ]


def test_a_page_beyond_the_limit_is_noted_and_the_other_pages_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from pypdf import PdfWriter

    writer = PdfWriter()
    for name, line in (("small", LINE), ("large", b" " * 50_000 + LINE), ("small2", LINE)):
        writer.append(pdf(tmp_path / f"{name}.pdf", pdf_stream(zlib.compress(line))))
    (tmp_path / "in").mkdir()
    writer.write(tmp_path / "in" / "a.pdf")
    limited(monkeypatch, "unpacked=100kB")
    read = read_documents([tmp_path / "in"])
    assert read.documents[0].text == "Anna lives in Bern.\n\nAnna lives in Bern."
    assert read.notes[0] == "a.pdf: 1 of 3 pages could not be read: 2"
    assert "page 2: too large: a stream unpacks to more than a third of that" in read.notes[1]


@pytest.mark.slow
def test_what_only_says_that_it_is_large_is_read(tmp_path: Path) -> None:
    cell = b'<w:tcPr><w:gridSpan w:val="300000000"/></w:tcPr>' + PARAGRAPH
    word(tmp_path / "span.docx", table(row(cell)))
    word(tmp_path / "merged.docx", table(row(merged(True) + PARAGRAPH), *[row(merged(False) + b"<w:p/>")] * 2_000))
    pdf(tmp_path / "count.pdf", pdf_stream(zlib.compress(LINE)), said=10**9)
    texts = {document.id: document.text for document in read_documents([tmp_path]).documents}
    assert texts["span.docx"] == "| Anna lives in Bern. |"
    assert texts["merged.docx"].splitlines() == ["| Anna lives in Bern. |"] * 2_001
    assert texts["count.pdf"] == "Anna lives in Bern."


@pytest.mark.parametrize(("limit", "just_below"), [("pages", "pages=4"), ("unpacked", "unpacked=400")])
def test_a_pdf_just_below_its_limits_is_read_and_the_named_option_reads_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str, just_below: str,
) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    pdf(folder / "a.pdf", pdf_stream(zlib.compress(LINE)), pages=4)
    limited(monkeypatch, just_below.partition("=")[0] + "=" + {"pages": "3", "unpacked": "1"}[limit])
    with pytest.raises(InputError) as refused:
        read_documents([folder])
    assert f"--file-limit {limit}=" in refused.value.faults[0]
    limited(monkeypatch, just_below)
    assert read_documents([folder]).documents[0].text.count("Anna") == 4


@pytest.mark.long
def test_a_word_file_is_read_with_the_limit_that_its_message_names(tmp_path: Path) -> None:
    path = bombs.word_of_megabytes(tmp_path / "a.docx", 1)
    command = ("build", path, "--graph", "g", "--extractor", "rules", "--dry-run", "--home", tmp_path / "no" / "home")
    refused = run_bounded("--file-limit", "unpacked=1MB", *command)
    raised = refused.said.partition("--file-limit ")[2].partition(" raises")[0]
    assert (refused.code, raised[:9]) == (2, "unpacked=")
    (tmp_path / "no").write_text("no folder: the command ends before a server is started")
    read = run_bounded("--file-limit", raised, *command)
    assert "too large" not in read.said


def styled(count: int) -> tuple[bytes, bytes]:
    """So many paragraphs, each in a style of its own, and the styles: every hundredth is a heading."""
    kinds = [b"heading 2" if n % 100 == 0 else b"n%d" % n for n in range(count)]
    body = b"".join(b'<w:p><w:pPr><w:pStyle w:val="S%d"/></w:pPr><w:r><w:t>a</w:t></w:r></w:p>' % n for n in range(count))
    styles = (b'<w:style w:type="paragraph" w:styleId="S%d"><w:name w:val="%s"/></w:style>' % (n, kind) for n, kind in enumerate(kinds))
    return body, b"".join(styles)


CELL = b"<w:tc><w:p><w:r><w:t>b</w:t></w:r></w:p></w:tc>"
MANY: dict[str, tuple[Callable[[], tuple[bytes, bytes]], str]] = {  # body and styles of a Word file, its text: each took minutes
    "styles": (lambda: styled(30_000), "\n\n".join("## a" if n % 100 == 0 else "a" for n in range(30_000))),
    "line breaks": (lambda: (b"<w:p><w:r>" + b"<w:t>a</w:t><w:br/><w:tab/>" * 60_000 + b"</w:r></w:p>", b""), ("a\n\t" * 60_000).rstrip()),
    "links": (
        lambda: (b"<w:p>" + b"<w:r><w:t>a</w:t></w:r><w:hyperlink><w:r><w:t>b</w:t></w:r></w:hyperlink>" * 150_000 + b"</w:p>", b""),
        "ab" * 150_000,
    ),
    "tables": (
        lambda: ((b"<w:p><w:r><w:t>a</w:t></w:r></w:p>" + table(b"<w:tr>" + CELL + b"</w:tr>")) * 120_000, b""),
        "\n\n".join(["a\n\n| b |"] * 120_000),
    ),
}


@pytest.mark.slow
@pytest.mark.timeout(40)
@pytest.mark.parametrize("name", MANY)
def test_many_parts_of_a_word_file_are_read_in_linear_time(tmp_path: Path, name: str) -> None:
    make, text = MANY[name]
    body, styles = make()
    word(tmp_path / "a.docx", body, styles=styles)
    assert read_documents([tmp_path]).documents[0].text.rstrip() == text


@pytest.mark.parametrize(("piece", "found"), [
    (b"<a></a><b/>", 2), (b"<a/>b", 1), (b'<a b="1" c=""/>', 3), (b"<!-- a --><![CDATA[b]]>", 2), (b"<a>&b;</a>", 2),
])
def test_elements_and_attributes_are_counted_in_every_encoding_before_they_are_parsed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, piece: bytes, found: int,
) -> None:
    """UTF-7 writes < as +ADw-: each of its bytes counts."""
    few = b'<?xml version="1.0"?><r>' + piece * 100 + b"</r>"
    texts = {encoding: few.decode().replace("?>", f' encoding="{encoding}"?>', 1) for encoding in ("utf-8", "utf-16", "windows-1252")}
    parts = {
        "a.xml": few, "b.bin": b"\n" * (1 << 20) + few.removeprefix(b'<?xml version="1.0"?>'),
        **{f"{encoding}.xml": text.encode(encoding) for encoding, text in texts.items()},
    }
    for name, part in parts.items():
        packed = zipped(tmp_path / "a.zip", {name: part})
        # beside them the root, the declaration and what it says
        assert 100 * found + 1 <= refused_elements(packed, monkeypatch) <= 100 * found + 4, name
    utf_7 = b'<?xml version="1.0" encoding="UTF-7"?>+ADw-r/+AD4-'
    assert refused_elements(zipped(tmp_path / "a.zip", {"a.xml": utf_7}), monkeypatch) == len(utf_7)
    assert refused_elements(zipped(tmp_path / "a.zip", {"a.png": b"\x89PNG" + b"<=&" * 1_000}), monkeypatch) == 0


def zipped(path: Path, parts: dict[str, bytes]) -> bytes:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, part in parts.items():
            archive.writestr(name, part)
    return path.read_bytes()


def refused_elements(data: bytes, monkeypatch: pytest.MonkeyPatch) -> int:
    """How many elements and attributes the archive has; with one less as the limit it is refused, with as many it is read."""
    limited(monkeypatch, "elements=0")
    try:
        sound_zip(data, "a")
    except TooLargeError as refused:
        raised = refused.message.partition("--file-limit ")[2].partition(" raises")[0]
        limited(monkeypatch, raised)
        sound_zip(data, "a")
        return int(raised.removeprefix("elements="))
    return 0


@pytest.mark.slow
@pytest.mark.timeout(40)
def test_parts_of_a_word_file_that_nothing_reads_cost_nothing(tmp_path: Path) -> None:
    """30,000 pictures: the library looked for each among all before it, 20 s, and went through what they name."""
    source = word(tmp_path / "a.docx", PARAGRAPH)
    kind = b"http://schemas.openxmlformats.org/officeDocument/2006/relationships/image"
    relations = b"".join(b'<Relationship Id="x%d" Type="%s" Target="media/%d.png"/>' % (n, kind, n) for n in range(30_000))
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(tmp_path / "b.docx", "w") as new:
        for part in old.infolist():
            new.writestr(part, old.read(part).replace(b"</Relationships>", relations * ("document" in part.filename) + b"</Relationships>"))
        for number in range(30_000):
            new.writestr(f"word/media/{number}.png", b"x")
    assert read_documents([tmp_path / "b.docx"]).documents[0].text == "Anna lives in Bern."


@pytest.mark.slow
def test_real_tables_are_far_below_the_ratio(tmp_path: Path) -> None:
    """All rows alike but for the id, and long lists of a few names: the best packed tables that anybody has."""
    count = 20_000
    path = parquet(tmp_path / "a.parquet", {
        "id": [str(n) for n in range(count)], "text": ["the same passage, " * 50] * count, "tags": [["Person", "Place"] * 10] * count,
    })
    rows = read_parquet(path)
    assert len(rows) == count
    assert rows[-1] == {"id": str(count - 1), "text": "the same passage, " * 50, "tags": ["Person", "Place"] * 10}


@pytest.mark.slow
def test_batches_are_small_where_few_bytes_stand_for_long_texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    limited(monkeypatch, "ratio=100000")
    path = answers_of(tmp_path / "a.parquet", ["short"] * 900 + ["x" * MEGABYTE] * 100, 1_000)
    batches = list(parquet_batches(path, 1_000))
    assert max(batch.nbytes for batch in batches) < 40 * MEGABYTE
    assert sum(batch.num_rows for batch in batches) == 1_000


@pytest.mark.slow
def test_one_row_that_repeats_a_text_in_a_list_is_refused(tmp_path: Path) -> None:
    import pyarrow as pa

    items = pa.ListArray.from_arrays(pa.array([0, 5_000_000], pa.int32()), repeated("x" * 10_000, 5_000_000))
    path = parquet(tmp_path / "a.parquet", {"id": ["1"], "contexts": items})
    with pytest.raises(TooLargeError, match="column 'contexts"):
        list(stream(path))


@contextmanager
def arrow_memory() -> Iterator[Any]:
    """A pool that tells the most that Arrow had at once."""
    import pyarrow as pa

    before, pool = pa.default_memory_pool(), pa.proxy_memory_pool(pa.default_memory_pool())
    POOLS.append(pool)
    pa.set_memory_pool(pool)
    try:
        yield pool
    finally:
        pa.set_memory_pool(before)


@pytest.mark.long
@pytest.mark.parametrize("kind", ["items", "texts", "truths", "lists", "maps", "bytes", "lie", "shared"])
def test_parquet_is_refused_by_what_its_pages_say_before_arrow_has_memory_for_them(tmp_path: Path, kind: str) -> None:
    import numpy as np
    import pyarrow as pa

    path, count = tmp_path / "a.parquet", 10_000_000
    if kind == "bytes":
        bombs.long_bytes(path, 100)
    elif kind == "lie":
        bombs.parquet_that_lies(path, 70)
    elif kind == "shared":
        bombs.one_page_for_all(path, 10, 8)
    else:
        few = count // 8
        items: dict[str, Callable[[], object]] = {
            "items": lambda: zeros(count), "texts": lambda: repeated("zz", count), "truths": lambda: pa.array(np.zeros(count, np.bool_)),
            "lists": lambda: pa.ListArray.from_arrays(pa.array(np.zeros(few + 1), pa.int32()), pa.array([], pa.int64())),
            "maps": lambda: pa.StructArray.from_arrays([pa.array(np.zeros(few, np.bool_))], ["a"]),
        }
        bombs.one_list(path, items[kind]())
    with arrow_memory() as pool:
        with pytest.raises(TooLargeError, match="--file-limit ratio="):
            list(stream(path))
        assert pool.max_memory() < MEGABYTE


@pytest.mark.slow
def test_parquet_of_many_columns_is_read_few_rows_at_a_time(tmp_path: Path) -> None:
    """Python makes a map of each row, and all of a batch at once."""
    path = parquet(tmp_path / "a.parquet", {f"c{n}": [n] * 5_000 for n in range(1_000)})
    assert max(batch.num_rows for batch in parquet_batches(path, 5_000)) < 1_200
    assert sum(batch.num_rows for batch in parquet_batches(path, 5_000)) == 5_000


@pytest.mark.slow
def test_texts_that_share_their_beginning_are_read_few_at_a_time(tmp_path: Path) -> None:
    """400 texts of 500 kB are 700 bytes, and no dictionary."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = tmp_path / "a.parquet"
    texts = pa.table({"x": ["y" * 500_000 + str(n) for n in range(400)]})
    pq.write_table(texts, path, compression="zstd", use_dictionary=False, write_statistics=False, column_encoding={"x": "DELTA_BYTE_ARRAY"})
    with arrow_memory() as pool:
        with pytest.raises(TooLargeError):
            list(stream(path))
        assert pool.max_memory() < 150 * MEGABYTE


@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("compression", ["none", "snappy", "gzip", "zstd"])
@pytest.mark.parametrize("use_dictionary", [True, False])
def test_headers_of_pages_are_read_as_arrow_wrote_them(tmp_path: Path, version: str, compression: str, use_dictionary: bool) -> None:
    """The sums of the footer, which are right here, come from all pages: dictionaries, statistics, lists, nulls."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    path, count = tmp_path / "a.parquet", 3_000
    rows = pa.table({
        "id": [str(n) for n in range(count)], "text": ["x" * (n % 700) for n in range(count)],
        "xs": [[n, None, 3][: n % 4] for n in range(count)],
        "n": [None if n % 3 else n for n in range(count)], "m": [{"a": {"b": [n] * (n % 3)}} for n in range(count)],
    })
    pq.write_table(
        rows, path, compression=compression, use_dictionary=use_dictionary, data_page_version=version, data_page_size=2_000,
        row_group_size=1_700,
    )
    footer = pq.read_metadata(path)
    with path.open("rb") as file:
        for group in range(footer.num_row_groups):
            for column in map(footer.row_group(group).column, range(footer.num_columns)):
                start = column.dictionary_page_offset or column.data_page_offset
                pages = read_pages(file, start, column.total_compressed_size, column.num_values)
                assert (pages.packed, pages.unpacked) == (column.total_compressed_size, column.total_uncompressed_size)
                assert (pages.values, pages.has_dictionary) == (column.num_values, column.dictionary_page_offset is not None)
    assert read_parquet(path) == rows.to_pylist()


def test_what_is_no_header_of_a_page_is_a_damaged_file(tmp_path: Path) -> None:
    path = parquet(tmp_path / "a.parquet", {"id": ["1"], "question": ["q"]})
    data = bytearray(path.read_bytes())
    data[4:12] = b"\xff" * 8
    path.write_bytes(data)
    with pytest.raises(InputError, match="not a Parquet file that can be read"):
        list(stream(path))
    with pytest.raises(InputError, match="not a Parquet file"):
        read_parquet(path)


@pytest.mark.slow
@pytest.mark.parametrize("depth", [DEEPEST, DEEPEST + 1, 200, 500, 980, 2_000])
@pytest.mark.parametrize("shape", [("[", "]"), ('{"a":', "}")])
def test_json_of_every_depth_is_read_or_a_fault_of_its_row(tmp_path: Path, depth: int, shape: tuple[str, str]) -> None:
    """Between 200, where pydantic gives up, and 1,000, where Python does, it was a traceback."""
    from kgeval.cli.main import run

    start, end = shape
    nested = start * (depth - 1) + ("1" if start != "[" else "") + end * (depth - 1)
    files = {
        "a.jsonl": f'{{"id": "1", "question": "q", "response": "a", "reference": "r", "more": {nested}}}\n',
        "a.json": f'[{{"id": "1", "question": "q", "response": "a", "reference": "r", "more": {nested}}}]',
        "g.json": f'{{"nodes": [{{"id": "a", "more": {nested}}}], "links": []}}',
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    codes = [run(["score", str(tmp_path / name), "--metrics", "exact_match", "-q"]) for name in ("a.jsonl", "a.json")]
    assert codes == ([0, 0] if depth <= DEEPEST else [2, 2])
    assert run(["import", str(tmp_path / "g.json"), *GRAPH]) == (0 if depth <= DEEPEST - 2 else 2)


@pytest.mark.slow
def test_json_yaml_and_toml_are_read_to_one_depth() -> None:
    import tomllib

    deep, deeper = "[" * DEEPEST + "]" * DEEPEST, "[" * (DEEPEST + 1) + "]" * (DEEPEST + 1)
    assert parse_json(deep) == parse_yaml(deep)
    assert json.loads("1") == parse_json("1") == parse_json(b"1")
    for read in (parse_json, parse_yaml):
        for text in (deeper, "[" * 100_000 + "]" * 100_000):
            with pytest.raises(ValueError, match="deep"):
                read(text)
    assert parse_toml(f"a = {deep[1:-1]}")
    for part in ("a", '"a"', '"!"', "'a b'", '"."', '"\\""', "''"):
        for text in (".".join([part] * 20_000) + " = 1", "[" + " . ".join([part] * 20_000) + "]", f"x = {{{'.'.join([part] * 300)} = 1}}"):
            with pytest.raises(tomllib.TOMLDecodeError, match="parts"):
                parse_toml(text)
        assert parse_toml(f"{'.'.join([part] * 50)} = 1")
    for text in (f"a = {deeper}", f"a = {'[' * 50_000}"):
        with pytest.raises(tomllib.TOMLDecodeError):
            parse_toml(text)
    with pytest.raises(tomllib.TOMLDecodeError, match="digits"):
        parse_toml(f"a = {'1' * 5_000}")
    for line in ("a-" * 500_000 + "b", '"' * 1_000_001, "'" * 999_999, "a" * 1_000_000, '"a' * 500_000, '"' + '\\"' * 500_000):
        assert parse_toml(f"# {line}\na = 1") == {"a": 1}


@pytest.mark.slow
def test_a_page_that_unpacks_to_two_hundred_times_its_size_is_refused_before_it_is_read(tmp_path: Path) -> None:
    import base64
    import gzip

    from kgeval.overview.sources import read_sources

    page = tmp_path / "bomb.html"
    packed = base64.b64encode(gzip.compress(b"[" + b"[]," * 25_000_000 + b"[]]")).decode()
    page.write_text(f'<script type="application/gzip" id="report">{packed}</script>', encoding="utf-8")
    with pytest.raises(InputError, match=r"times as much.*--file-limit ratio="):
        read_sources([page])
    page.write_text('<script type="application/gzip" id="report">' * 40_000, encoding="utf-8")
    with pytest.raises(InputError, match="no report"):
        read_sources([page])


@pytest.mark.slow
@pytest.mark.parametrize("command", [
    ("score", "-c", "a.toml", "a.jsonl"), ("layout", "check", "a.toml"), ("questions", "profiles", "a.toml"),
])
def test_a_settings_file_that_is_nested_too_deeply_is_one_line(
    tmp_path: Path, command: tuple[str, ...], capsys: pytest.CaptureFixture[str],
) -> None:
    from kgeval.cli.main import run

    (tmp_path / "a.toml").write_text("x = " + "[" * 50_000 + "]" * 50_000)
    assert run([str(tmp_path / word) if word.startswith("a.") else word for word in command]) == 2
    said = capsys.readouterr().err
    assert "a.toml: nested more than 100 deep" in said
    assert "Traceback" not in said


def test_rows_in_yaml_with_aliases_are_refused(tmp_path: Path) -> None:
    lines = ["- id: '1'", "  a: &a [x, x, x, x, x, x, x, x, x]"]
    lines += [f"  {after}: &{after} [{', '.join(['*' + name] * 9)}]" for name, after in zip("abcdefgh", "bcdefghi", strict=True)]
    (tmp_path / "a.yaml").write_text("\n".join(lines))
    with pytest.raises(InputError, match=r"a\.yaml: not YAML: aliases \(\*name\) are not read \(line 3\)"):
        list(stream(tmp_path / "a.yaml"))


@pytest.mark.slow
def test_a_long_text_that_graphml_gives_by_default_counts_by_its_length(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(TooLargeError, match="each 100 characters of a text counted as one; the limit is 10,000,000"):
        graphml.read(long_default(tmp_path))
    limited(monkeypatch, "defaults=60005000")
    assert len(graphml.read(tmp_path / "long.graphml").entities) == 5_000
    limited(monkeypatch, "defaults=60004999")
    with pytest.raises(TooLargeError):
        graphml.read(tmp_path / "long.graphml")


@pytest.mark.parametrize("long", ["<!--{}-->", "<?a {}?>", "<graph><node id='{}'/></graph>"])
def test_long_tags_and_comments_of_graphml_are_begun_anew_a_few_times(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, long: str) -> None:
    """Expat reads what has not ended again with each piece: the pieces get longer, and 8 MB have 8, not 130."""
    import defusedxml.expatreader

    pieces = []

    class Counting(defusedxml.expatreader.DefusedExpatParser):  # type: ignore[misc]
        def feed(self, data: bytes, isFinal: bool = False) -> None:
            pieces.append(len(data))
            super().feed(data, isFinal)

    monkeypatch.setattr("defusedxml.expatreader.DefusedExpatParser", Counting)
    (tmp_path / "a.graphml").write_text(f"<graphml>{long.format('x' * 8 * MEGABYTE)}<graph><node id='b'/></graph></graphml>")
    assert graphml.parse(tmp_path / "a.graphml").nodes[-1].attributes == {"id": "b"}
    assert len(pieces) < 12


def test_data_within_each_other_are_joined_once(tmp_path: Path) -> None:
    """The text of the innermost was put together, and read as a number, at the end of each that stands around it."""
    keys = '<key id="k" for="node" attr.name="a" attr.type="int"/>'
    data = '<data key="k">' * 500 + "no number" + "</data>" * 500
    (tmp_path / "a.graphml").write_text(f'<graphml>{keys}<graph><node id="a">{data}</node></graph></graphml>')
    assert graphml.parse(tmp_path / "a.graphml").nodes[0].faults == ["a: int expected, found 'no number'"]


def test_a_long_name_of_a_property_is_a_fault(tmp_path: Path) -> None:
    """A file has it once, each node has it, and in the JSON text of many properties it was written once for each node."""
    name = "n" * 100_000
    (tmp_path / "a.graphml").write_text(
        f'<graphml><key id="k" for="node" attr.name="{name}"/><graph><node id="a"><data key="k">1</data></node></graph></graphml>'
    )
    assert "a property's name has 100,000 characters, at most 1,000 are read" in graphml.read(tmp_path / "a.graphml").faults[0]
    (tmp_path / "a.csv").write_text(f"source,target,{name}\na,b,c\n")
    with pytest.raises(InputError, match="the name of a column has 100,000 characters"):
        columns(tmp_path / "a.csv", RELATIONS)


@pytest.mark.parametrize(("text", "fault"), [
    ("a: " + ":".join(["59"] * 100_000), r"a number of more than 1,000 characters \(line 1\)"),
    ("a: " + ":".join(["59"] * 100_000) + ".5", "a number of more than 1,000 characters"),
    ("a: " + ":".join(["59"] * 300) + ".5", "a number that is too large"),
    ("a: 0x" + "f" * 4_000, "a number of more than 1,000 characters"),
    ("a:\n  <<: {b: 1}", r"merge keys \(<<\) are not read \(line 2\)"),
    ("a: !!int ''", r"tags \(int\) are not read \(line 1\)"), ("a: !!bool x", r"tags \(bool\)"),
    ("a: !!timestamp x", r"tags \(timestamp\)"),
    ("a: !!set {b, c}", r"tags \(set\)"), ("a: !!binary YQ==", r"tags \(binary\)"), ("a: !b c", r"tags \(!b\)"),
])
def test_yaml_of_which_little_stands_for_much_is_refused(text: str, fault: str) -> None:
    with pytest.raises(ValueError, match=fault):
        parse_yaml(text)


@pytest.mark.slow
def test_tags_of_yaml_that_are_long_by_one_line_are_refused_before_they_are_made(tmp_path: Path) -> None:
    """100 kB of a prefix and 10,000 rows that use it: 1 GB."""
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=r"tags \(x+\) are not read \(line 3\)"):
            parse_yaml("%TAG !e! " + "x" * 100_000 + "\n---\n" + "- !e!a b\n" * 10_000)
        assert tracemalloc.get_traced_memory()[1] < 20 * MEGABYTE
    finally:
        tracemalloc.stop()


def test_plain_yaml_is_read_as_before() -> None:
    text = "a: 12\nb: !!str 12\nc: 1:30\nd: '<<'\ne: 0x1f\nf: 1_000.5\ng: !!map {x: !!seq [true, null]}\n"
    read = {"a": 12, "b": "12", "c": 90, "d": "<<", "e": 31, "f": 1000.5, "g": {"x": [True, None]}}
    assert parse_yaml(text) == read
    assert parse_yaml("a: " + "9" * 1_000) == {"a": int("9" * 1_000)}


@pytest.mark.slow
@pytest.mark.timeout(20)
def test_a_table_of_many_columns_is_read_in_linear_time(tmp_path: Path) -> None:
    names = [f"c{n}" for n in range(100_000)]
    (tmp_path / "a.csv").write_text(",".join(names) + "\n" + ",".join("1" for _ in names) + "\n")
    (rows,) = list(stream(tmp_path / "a.csv"))
    assert len(rows.value) == 100_000


@pytest.mark.slow
@pytest.mark.timeout(20)
def test_a_table_for_a_graph_of_many_columns_is_refused_in_linear_time(tmp_path: Path) -> None:
    names = ["source", "target", *(f"c{n}" for n in range(100_000))]
    (tmp_path / "a.csv").write_text(",".join(names) + "\n" + ",".join("1" for _ in names) + "\n")
    with pytest.raises(InputError, match="100000 further columns"):
        columns(tmp_path / "a.csv", RELATIONS)


@pytest.mark.slow
@pytest.mark.timeout(20)
def test_a_schema_and_scores_of_many_names_are_read_in_linear_time(tmp_path: Path) -> None:
    labels = [f"t{n}" for n in range(50_000)]
    (tmp_path / "a.json").write_text(json.dumps({"node_types": [{"label": label} for label in [*labels, "t7"]]}))
    with pytest.raises(InputError) as refused:
        read_schema_file(tmp_path / "a.json")
    assert list(refused.value.faults) == ["node_types: 't7' is declared 2 times"]
    (tmp_path / "a.csv").write_text(",".join(["id", *labels]) + "\nq1" + ",0.5" * len(labels) + "\n")
    scores = read_score_tables([tmp_path / "a.csv"], ScoreSelection())
    assert scores.systems == labels


@contextmanager
def endpoint(*parts: bytes, **headers: str) -> Iterator[str]:
    """The address of an endpoint that answers everything with these bytes."""
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            self.send_response(200)
            for name, value in headers.items():
                self.send_header(name.replace("_", "-"), value)
            self.end_headers()
            for part in parts:
                self.wfile.write(part)

        def log_message(self, format: str, *args: Any) -> None:
            """Nothing."""

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/v1"
        finally:
            server.shutdown()


def asked(url: str, *, stream: bool = False) -> Any:
    from kgeval.llm.calls import Endpoint
    from kgeval.llm.client import Client
    from kgeval.llm.turns import Turn

    body = {"model": "m", "messages": [], **({"stream": True} if stream else {})}
    with closing(Client(Endpoint("m", url), timeout=20)) as client:
        return client.send(body, Turn(threading.BoundedSemaphore(1), lambda: None))


REPLY = json.dumps({"choices": [{"message": {"content": "yes"}, "finish_reason": "stop"}]}).encode()


@pytest.mark.slow
@pytest.mark.parametrize("stream", [False, True])
def test_a_reply_that_unpacks_to_more_than_the_limit_fails_and_is_not_asked_again(monkeypatch: pytest.MonkeyPatch, stream: bool) -> None:
    from kgeval.llm.client import CallError

    limited(monkeypatch, "unpacked=1MB")
    body = (b"data: " + REPLY.replace(b"yes", b" " * 1_000) + b"\n\n") * 5_000 if stream else REPLY + b" " * 5 * MEGABYTE
    for data, headers in ((gzip.compress(body), {"content_encoding": "gzip"}), (body, {})):
        kind = "text/event-stream" if stream else "application/json"
        with endpoint(data, content_type=kind, **headers) as url, pytest.raises(CallError) as failed:
            asked(url, stream=stream)
        assert not failed.value.again
        assert "the reply: too large: unpacks to more than that; the limit is 1,000 kB" in failed.value.failure.detail


@pytest.mark.slow
def test_vectors_that_unpack_to_more_than_the_limit_are_an_error_that_names_the_option(monkeypatch: pytest.MonkeyPatch) -> None:
    from kgeval.errors import ModelError
    from kgeval.llm.embed_sources import EndpointModel

    limited(monkeypatch, "unpacked=1MB")
    monkeypatch.setattr("kgeval.llm.embed_sources.RETRIES", 0)
    with (
        endpoint(gzip.compress(b" " * 5 * MEGABYTE), content_encoding="gzip", content_type="application/json") as url,
        pytest.raises(ModelError, match=r"the reply: too large: .*--file-limit unpacked=2,?000kB raises it"),
    ):
        EndpointModel("m", url).vectors(["a"])


@pytest.mark.slow
def test_a_packed_reply_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    with endpoint(gzip.compress(REPLY), content_encoding="gzip", content_type="application/json") as url:
        assert asked(url).text == "yes"


@pytest.mark.slow
def test_a_call_in_a_journal_that_unpacks_to_more_than_the_limit_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from kgeval.llm.journal import Journal

    path = tmp_path / "journal.sqlite"
    Journal(path).close()
    limited(monkeypatch, "unpacked=1MB")
    with closing(sqlite3.connect(path)) as journal, journal:
        columns = [name for _, name, *_ in journal.execute("PRAGMA table_info(calls)")]
        values = {**dict.fromkeys(columns, 1), "key": "k", "reply": zlib.compress(b" " * 5 * MEGABYTE), "request": b""}
        journal.execute(f"INSERT INTO calls VALUES ({','.join('?' * len(columns))})", [values[name] for name in columns])
    with closing(Journal(path)) as opened, pytest.raises(TooLargeError, match="a call in the journal: too large"):
        opened.get("k")


def test_data_that_are_cut_are_damaged_and_not_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    limited(monkeypatch, "unpacked=10kB")
    for pack in (zlib.compress, gzip.compress):
        data = pack(bytes(range(256)) * 40)
        assert inflate_bytes(data, "x") == bytes(range(256)) * 40
        with pytest.raises(zlib.error):
            inflate_bytes(data[:-9], "x")
        with pytest.raises(TooLargeError):
            inflate_bytes(pack(b" " * 100_000), "x")


def test_limits_are_read_from_the_flag_and_from_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    assert parse_limits("") == FileLimits()
    assert parse_limits("unpacked=2GB pages=50000, ratio=1000") == FileLimits(unpacked=2_000_000_000, pages=50_000, ratio=1_000)
    assert parse_limits("unpacked=1.5kB").unpacked == 1_500
    limited(monkeypatch, "defaults=7")
    assert file_limits() == FileLimits(defaults=7)
    with pytest.raises(UsageError) as faulty:
        parse_limits("pages=many size=3 ratio=2GB")
    assert all(part in faulty.value.message for part in ("pages=many: a number", "size=3: there is no limit", "ratio=2GB: a number"))


@pytest.mark.slow
def test_a_faulty_limit_is_told_before_anything_is_read(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:
    from kgeval.cli.main import run

    assert run(["--file-limit", "size=3", "layout", "list"]) == 2
    assert "size=3: there is no limit of this name" in capsys.readouterr().err
    limited(monkeypatch, "size=3")
    assert run(["layout", "list"]) == 2
    assert "size=3: there is no limit of this name" in capsys.readouterr().err


@pytest.mark.parametrize("found", [1_001, 999_999, 256_000_001, 9_999_000_000, 123_456_789_012])
def test_the_limit_that_a_message_names_is_enough(found: int) -> None:
    message = too_large("a", "b", "unpacked", needed=found).message
    raised = message.partition("--file-limit ")[2].partition(" raises")[0]
    assert found <= parse_limits(raised).unpacked <= 1.2 * found


@pytest.mark.slow
@pytest.mark.timeout(20)
def test_a_name_of_many_types_and_a_chunk_of_many_documents_are_read_in_linear_time(tmp_path: Path) -> None:
    """They were searched for in lists: for 60,000 of each, 3.6 billion comparisons."""
    count = 60_000
    rows = [
        {"subject": "a", "subject_type": f"t{n}", "predicate": "p", "object": "b", "chunk_id": "c", "document": f"d{n}"}
        for n in range(count)
    ]
    (tmp_path / "a.json").write_text(json.dumps(rows))
    loaded = triples.read(tmp_path / "a.json")
    assert (len(loaded.entities), len(loaded.chunks[0].documents)) == (count + 1, count)
