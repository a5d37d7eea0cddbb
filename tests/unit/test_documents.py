"""Documents in: what is read, how it is cleaned, and every way in which a file can be of no use."""

from __future__ import annotations

import io
import json
import os
import random
import threading
import time
import unicodedata
from functools import partial
from pathlib import Path

import pytest

from kgeval.errors import InputError
from kgeval.text.clean import clean_text
from kgeval.text.documents import DocumentSet, read_documents

DATA = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "graphrag-bench-novel" / "corpus.jsonl"


def given(folder: Path, **files: str | bytes) -> DocumentSet:
    for name, content in files.items():
        path = folder / name.replace("__", ".")
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_documents([folder])


def only_fault(folder: Path, name: str, content: bytes) -> str:
    (folder / name).write_bytes(content)
    with pytest.raises(InputError, match="no document could be read") as caught:
        read_documents([folder / name])
    (fault,) = caught.value.faults
    return fault


def pdf(*pages: str, title: str | None = None, password: str | None = None) -> bytes:
    from fpdf import FPDF

    made = FPDF()
    made.set_font("Helvetica", size=12)
    for page in pages:
        made.add_page()
        made.multi_cell(0, text=page)
    if title:
        made.set_title(title)
    if password is not None:
        made.set_encryption(owner_password="owner", user_password=password)
    return bytes(made.output())


def word() -> bytes:
    import docx

    made = docx.Document()
    made.core_properties.title = "The ferry"
    made.add_heading("Crossing", level=2)
    made.add_paragraph("Ada Holm rowed to Vik.")
    table = made.add_table(rows=2, cols=2)
    for cell, text in zip([c for row in table.rows for c in row.cells], ["Boat", "Owner", "Tern", "Ada Holm"], strict=True):
        cell.text = text
    made.add_paragraph("The end.")
    out = io.BytesIO()
    made.save(out)
    return out.getvalue()


@pytest.mark.long
def test_text_markdown_pdf_and_word_of_a_folder_are_read_in_order_with_paths_as_ids(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "b.md").write_text("intro\n\n# The *sea* #\n\nAda rowed.\n", encoding="utf-8")
    (tmp_path / ".hidden.txt").write_text("no", encoding="utf-8")
    (tmp_path / "z.xlsx").write_bytes(b"PK")
    read = given(tmp_path, a__txt="Ada rowed.\n", c__pdf=pdf("Page one.", "Page two.", title="A PDF"), d__docx=word())
    assert [d.id for d in read.documents] == ["a.txt", "c.pdf", "d.docx", "sub/b.md"]
    assert [d.title for d in read.documents] == [None, "A PDF", "The ferry", "The *sea*"]
    assert read.documents[1].text == "Page one.\n\nPage two."
    assert read.documents[2].text == "## Crossing\n\nAda Holm rowed to Vik.\n\n| Boat | Owner |\n| Tern | Ada Holm |\n\nThe end."
    assert read.notes == [f"{tmp_path}: 1 files of other kinds passed over: z.xlsx"]
    assert read.inputs == [tmp_path / name for name in ("a.txt", "c.pdf", "d.docx", "sub/b.md")]


@pytest.mark.parametrize(("line", "title"), [
    ("# Sea", "Sea"), ("#  The *sea*  ##  ", "The *sea*"), ("#\tSea#", "Sea#"), ("# Learn C#", "Learn C#"), ("# a ## b #", "a ## b"),
    ("## Sea", None), ("#Sea", None), ("#", None), ("# ##", None), (" # Sea", None), ("# Sea\r", "Sea"),
    ("#\nSea", None),  # the heading ends with its line
    ("# a" + " " * 19_000 + "b", "a b"), ("# " + " #" * 9_000 + "b", "# " * 8_999 + "#b"),
])
@pytest.mark.timeout(20)
def test_the_title_of_markdown_is_its_first_heading_in_linear_time(tmp_path, line, title):
    """A line of 2,000 spaces took half a minute, 19,000 a day."""
    read = given(tmp_path, a__md=f"intro\n{line}\n\ntext\n")
    assert read.documents[0].title == title


def test_a_file_has_the_same_id_alone_and_in_its_folder(tmp_path):
    assert given(tmp_path, a__txt="x").documents == read_documents([tmp_path / "a.txt"]).documents


def test_rows_come_with_the_field_names_of_other_tools(tmp_path):
    rows = [
        {"corpus_name": "Novel-1", "context": "graphrag-bench"},
        {"_id": "b", "title": "B", "text": "beir"},
        {"doc_id": 3, "contents": "autorag", "metadata": {"year": 1999}, "language": "en"},
        {"name": "n", "page_content": ["one", "two"]},
    ]
    read = given(tmp_path, c__jsonl="\n".join(json.dumps(row) for row in rows) + "\n\n")
    assert [(d.id, d.title, d.text) for d in read.documents] == [
        ("Novel-1", None, "graphrag-bench"),
        ("b", "B", "beir"),
        ("3", None, "autorag"),
        ("n", None, "one\n\ntwo"),
    ]
    assert read.documents[2].metadata == {"year": 1999, "language": "en"}


@pytest.mark.parametrize(
    "value",
    [
        [{"id": "a", "text": "x"}],
        {"id": "a", "text": "x"},
        {"documents": [{"id": "a", "body": "x"}]},
        {"a": {"content": "x"}},
        {"a": "x"},
    ],
)
def test_json_files_hold_a_list_one_document_or_a_map(tmp_path, value):
    read = given(tmp_path, c__json=json.dumps(value))
    assert [(d.id, d.text) for d in read.documents] == [("a", "x")]


def test_a_row_without_an_id_gets_one_from_its_text_so_that_it_keeps_it_where_rows_move(tmp_path):
    first = given(tmp_path, c__jsonl='{"text": "one"}\n{"text": "two"}').documents
    second = given(tmp_path, c__jsonl='{"text": "zero"}\n{"text": "two"}').documents
    assert first[1].id == second[1].id != first[0].id and first[1].id.startswith("c.jsonl#")


def test_bad_rows_are_listed_with_their_lines_and_the_others_kept(tmp_path):
    read = given(
        tmp_path,
        c__jsonl='{"id": "a", "text": "x"}\n{broken\n[1]\n{"id": "b"}\n{"id": "c", "text": " "}\n{"id": "a", "text": "y"}\n'
        '{"id": "d", "text": 5}\n',
    )
    assert [d.id for d in read.documents] == ["a"]
    assert [fault.split(": ", 1)[0] for fault in read.faults] == [f"c.jsonl:{n}" for n in (2, 3, 4, 5, 6, 7)]
    assert "already given at c.jsonl:1" in read.faults[4] and "text expected, found a number" in read.faults[5]


def test_two_files_with_one_name_are_a_fault_that_names_the_way_out(tmp_path):
    for name in ("x", "y"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.txt").write_text(name, encoding="utf-8")
    read = read_documents([tmp_path / "x", tmp_path / "y"])
    assert [d.text for d in read.documents] == ["x"]
    assert "already given" in read.faults[0] and "give the folder above" in read.faults[0]
    assert [d.id for d in read_documents([tmp_path]).documents] == ["x/a.txt", "y/a.txt"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("a.txt", b"", "is empty (0 bytes)"),
        ("a.txt", b" \n\t\n", "has no text in it"),
        ("a.txt", b"\x00" * 100, "is binary"),
        ("a.txt", b"caf\xe9", "a.txt:1: is not UTF-8 (byte 0xe9)"),
        ("a.txt", "é".encode("utf-16"), "is UTF-16"),
        ("a.txt", "plain words".encode("utf-16-le"), "UTF-16 without a mark"),
        ("a.txt", b"%PDF-1.7 ...", "is a PDF"),
        ("a.txt", bytes(range(1, 32)) * 20, "is binary"),
        ("a.docx", b"not a zip", "damaged Word file"),
        ("a.pdf", b"%PDF-1.4\nrubbish", "damaged PDF"),
        ("a.docx", b"\xd0\xcf\x11\xe0" + b"\0" * 600, "protected by a password, or an old .doc"),
        ("a.doc", b"x", "save it as .docx"),
        ("a.html", b"<p>", "known endings"),
        ("a.json", b"5", "holds no documents"),
        ("a.json", b"{", "not JSON"),
        ("a.json", b"[" * 100_000, "a.json: not JSON"),
        ("a.json", b'{"text": "x", "m": ' + b"[" * 400 + b"]" * 400 + b"}", "nested more than 100 deep"),
    ],
)
def test_what_is_of_no_use_is_listed_with_the_reason_and_the_way_out(tmp_path, name, content, says):
    fault = only_fault(tmp_path, name, content)
    assert fault.split(":")[0].endswith(name) and says in fault


@pytest.mark.slow
def test_a_pdf_without_text_layer_says_so_and_names_ocr(tmp_path):
    assert "no text layer" in (fault := only_fault(tmp_path, "scan.pdf", pdf(""))) and "OCR" in fault


def test_a_pdf_with_a_password_is_a_fault_and_one_that_opens_without_is_read(tmp_path):
    assert "protected by a password" in only_fault(tmp_path, "locked.pdf", pdf("Secret.", password="pw"))
    (tmp_path / "open.pdf").write_bytes(pdf("Not secret.", password=""))
    assert read_documents([tmp_path / "open.pdf"]).documents[0].text == "Not secret."


def test_cut_pdf_and_word_files_are_faults_at_every_length(tmp_path):
    whole = {"a.pdf": pdf("Some words."), "a.docx": word()}
    for name, data in whole.items():
        for length in range(10, len(data) - 1, max(1, len(data) // 12)):
            (tmp_path / name).write_bytes(data[:length])
            try:
                (document,) = read_documents([tmp_path / name]).documents
            except InputError as cause:
                assert len(cause.faults) == 1
            else:
                assert document.text.strip()  # a reader that fixes the file


def test_control_characters_are_removed_and_counted_and_line_ends_are_one(tmp_path):
    text = "\ufeffA\x00d\x07a\r\nrow\u00aded\rto\u2028Vik\x85. e\u0301\ttab\n"
    read = given(tmp_path, a__txt=text, b__jsonl=json.dumps({"id": "half", "text": "x \ud83d y"}))
    assert read.documents[0].text == "Ada\nrowed\nto\nVik\n. é\ttab\n"
    assert read.documents[1].text == "x \ufffd y"
    assert read.notes == [
        "a.txt: 3 control characters or broken characters removed",
        "b.jsonl:1: 1 control characters or broken characters removed",
    ]


@pytest.mark.slow
@pytest.mark.timeout(60)
def test_marks_on_a_letter_come_out_in_the_order_of_nfc_however_many_they_are():
    """40,000 of three kinds took half a minute, ten times as many an hour."""
    marks = "".join(sign for sign in map(chr, range(0x300, 0x1FFFF)) if unicodedata.combining(sign) or unicodedata.category(sign) == "Mn")
    mixed = random.Random(1)
    for _ in range(200):
        text = "".join(mixed.choice(marks if mixed.random() < 0.97 else "aé가\u1100\u1161\u2014 \u0344\u0f73\u0f81") for _ in range(200))
        assert clean_text(text) == (unicodedata.normalize("NFC", text), 0)
    count = 300_000
    cleaned, removed = clean_text("a" + "\u0315" * count + "\u0301" * count + "\u0316" * count)
    assert (cleaned[:2], cleaned.count("\u0301"), cleaned[-1], removed) == ("\u00e1\u0316", count - 1, "\u0315", 0)


def test_scripts_and_emoji_come_through_unchanged(tmp_path):
    text = "Привет. 你好。 مرحبا. สวัสดี 👨‍👩‍👧 می‌خواهم"
    assert given(tmp_path, a__txt=text).documents[0].text == text


@pytest.mark.slow
def test_ten_megabytes_in_one_line_take_linear_time(tmp_path):
    def seconds(size: int) -> float:
        (tmp_path / "big.txt").write_bytes(b"The ferry left Vik. " * (size // 20))
        start = time.process_time()
        assert len(read_documents([tmp_path / "big.txt"]).documents[0].text) == size
        return time.process_time() - start

    small, large = min(seconds(2_000_000) for _ in range(3)), seconds(10_000_000)
    assert large < 20 * small  # five times the text; quadratic time would be 25 times


@pytest.mark.parametrize(
    ("data", "ids"),
    [
        (b"Just words.", ["stdin"]),
        (b'{"id": "a", "text": "x"}\n{"id": "b", "text": "y"}', ["a", "b"]),
        (b'[\n {"id": "a", "text": "x"}\n]', ["a"]),
        (b'{"no document": 1}', ["stdin"]),
        (b"[1] a note", ["stdin"]),
        (partial(pdf, "P."), ["stdin"]),
        (word, ["stdin"]),
    ],
)
def test_standard_input_is_taken_for_what_it_looks_like(data, ids):
    read = read_documents(["-"], stdin=io.BytesIO(data() if callable(data) else data))
    assert [d.id for d in read.documents] == ids and read.inputs == []


def test_missing_files_unreadable_folders_and_empty_folders_are_faults(tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "a.txt").write_text("x", encoding="utf-8")
    read = read_documents([tmp_path / "none.txt", tmp_path / "empty", tmp_path / "a.txt"])
    assert len(read.documents) == 1 and len(read.faults) == 2
    assert "No such file" in read.faults[0] and "no document in this folder" in read.faults[1]


def test_symbolic_links_in_a_folder_are_passed_over_and_named_unless_they_are_asked_for(tmp_path):
    outside, folder = tmp_path / "outside", tmp_path / "docs"
    (outside / "deep").mkdir(parents=True)
    (folder / "sub").mkdir(parents=True)
    (outside / "secret.txt").write_text("not yours", encoding="utf-8")
    (outside / "deep" / "d.txt").write_text("deep", encoding="utf-8")
    (folder / "a.txt").write_text("own", encoding="utf-8")
    (folder / "link.txt").symlink_to(outside / "secret.txt")
    (folder / "sub" / "far").symlink_to(outside / "deep")
    (folder / "sub" / "up").symlink_to(folder)  # a circle
    read = read_documents([folder])
    assert [d.id for d in read.documents] == ["a.txt"] and read.inputs == [folder / "a.txt"]
    assert read.notes == [
        f"{folder}: 3 symbolic links passed over: link.txt, sub/far, sub/up (--follow-symlinks reads what they lead to)",
    ]
    followed = read_documents([folder], follow_symlinks=True)
    assert {d.id: d.text for d in followed.documents} == {"a.txt": "own", "link.txt": "not yours", "sub/far/d.txt": "deep"}
    assert followed.notes == []
    assert [d.text for d in read_documents([folder / "link.txt"]).documents] == ["not yours"], "a path that is named"
    with pytest.raises(InputError) as caught:
        read_documents([folder / "sub"])
    assert "2 symbolic links passed over (--follow-symlinks)" in str(caught.value)


def test_a_pipe_is_read_once_and_is_no_input_file(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(b"Words from a pipe.",))
    writer.start()
    read = read_documents([pipe])
    writer.join()
    assert read.documents[0].text == "Words from a pipe." and read.inputs == []


@pytest.mark.skipif(not DATA.is_file(), reason="shared data not here: the books of GraphRAG-Bench")
def test_the_books_of_graphrag_bench_are_read():
    read = read_documents([DATA])
    assert len(read.documents) == 8 and read.faults == []
    assert {d.id for d in read.documents} >= {"Novel-30752", "Novel-2544"}
