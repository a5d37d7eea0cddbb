"""Reads documents: text, Markdown, PDF, Word, JSONL and JSON, folders of them, and standard input. Bad ones are listed and passed over."""

from __future__ import annotations

import os
import sys
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Literal

from kgeval.errors import InputError
from kgeval.files import Line, decode
from kgeval.graph.load.values import Misfit
from kgeval.records import Document
from kgeval.text.clean import clean_line, clean_text
from kgeval.text.document_files import Parsed, read_markdown, read_pdf, read_plain, read_word
from kgeval.text.document_rows import columns, document_of, rows_of_json, rows_of_lines

STDIN = "-"
PLAIN = (".txt", ".text", ".md", ".markdown", ".rst", ".pdf", ".docx")
ROWS = (".jsonl", ".ndjson", ".json")
ENDINGS = PLAIN + ROWS
_READERS: dict[str, Callable[[bytes, str], Parsed]] = {
    ".md": read_markdown, ".markdown": read_markdown, ".pdf": read_pdf, ".docx": read_word,
}


@dataclass(frozen=True)
class Documents:
    """What was read. `faults`: one line a document (or row) that could not be used. `notes`: what was removed or passed over.

    `inputs`: the regular files that were read, in order; standard input is not among them.
    """

    documents: list[Document]
    faults: list[str]
    inputs: list[Path]
    notes: list[str] = field(default_factory=list)


def read_documents(paths: Sequence[Path | Literal["-"]], *, stdin: BinaryIO | None = None) -> Documents:
    """All documents of the paths, in order; folders are read recursively, sorted, hidden files and unknown endings left out.

    A file's id is its name, in a folder its path below that folder; a row's id is its own. Texts are cleaned (control
    characters, line ends, NFC). `stdin`: what `-` reads; default: standard input.

    Raises: InputError that lists every fault where not one document could be read.
    """
    reading = _Reading()
    for path in paths:
        if str(path) == STDIN:
            reading.data((stdin or sys.stdin.buffer).read(), "stdin", "")
        else:
            reading.path(Path(path))
    if not reading.documents:
        raise InputError("no document could be read", fix=f"give files that end in {', '.join(ENDINGS)}, or - with text on standard input",
                         faults=reading.faults)
    return Documents(list(reading.documents.values()), reading.faults, reading.inputs, reading.notes)


class _Reading:
    """Gathers documents, faults and notes."""

    def __init__(self) -> None:
        self.documents: dict[str, Document] = {}
        self.faults: list[str] = []
        self.notes: list[str] = []
        self.inputs: list[Path] = []
        self._where: dict[str, str] = {}

    def path(self, path: Path) -> None:
        """A file or a folder."""
        if path.is_dir():
            self._folder(path)
        elif path.suffix.lower() not in (*ENDINGS, "") and path.is_file():
            way = "save it as .docx" if path.suffix.lower() == ".doc" else f"known endings: {', '.join(ENDINGS)}"
            self.faults.append(f"{path}: files that end in {path.suffix} are not read; {way}")
        else:
            self._file(path, path.name)

    def _folder(self, folder: Path) -> None:
        others: list[str] = []
        read = len(self.inputs)
        for top, folders, names in os.walk(folder, onerror=self._no_folder):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            for name in sorted(names):
                path = Path(top, name)
                inside = path.relative_to(folder).as_posix()
                if name.startswith("."):
                    continue
                if path.suffix.lower() in ENDINGS and path.is_file():
                    self._file(path, inside)
                else:
                    others.append(inside)
        if others:
            more = f" ... and {len(others) - 20} more" if len(others) > 20 else ""
            self.notes.append(f"{folder}: {len(others)} files of other kinds passed over: {', '.join(sorted(others)[:20])}{more}")
        if len(self.inputs) == read:
            self.faults.append(f"{folder}: no document in this folder; known endings: {', '.join(ENDINGS)}")

    def _no_folder(self, cause: OSError) -> None:
        self.faults.append(f"{cause.filename}: cannot be opened: {cause.strerror}")

    def _file(self, path: Path, name: str) -> None:
        try:
            data = path.read_bytes()
        except OSError as cause:
            self.faults.append(f"{path}: cannot be read: {cause.strerror or cause}")
            return
        if path.is_file():  # a pipe cannot be read again for its hash
            self.inputs.append(path)
        self.data(data, _portable(name), path.suffix.lower())

    def data(self, data: bytes, name: str, ending: str) -> None:
        """The bytes of one file. Without an ending their kind is looked for in them."""
        try:
            if not data:
                raise Misfit("is empty (0 bytes)")
            ending = ending or _ending_of(data)
            if ending in ROWS:
                body = decode(data, name)
                self._rows(rows_of_json(body, name) if ending == ".json" else rows_of_lines(body, name), name)
            else:
                self._whole(_READERS.get(ending, read_plain)(data, name), name)
        except Misfit as misfit:
            self.faults.append(f"{name}: {misfit}")
        except InputError as cause:
            self.faults.append(f"{cause.message}: {cause.fix}")

    def _whole(self, parsed: Parsed, name: str) -> None:
        text, removed = clean_text(parsed.text)
        if not text.strip():
            raise Misfit("has no text in it")
        title = clean_line(parsed.title) if parsed.title else ""
        self.notes += [f"{name}: {note}" for note in parsed.notes]
        self._add(Document(id=name, title=title or None, text=text), removed, name)

    def _rows(self, rows: Iterable[Line], name: str) -> None:
        for line in rows:
            try:
                if line.fault:
                    raise Misfit(line.fault)
                self._add(*document_of(line.value, name), line.where)
            except Misfit as misfit:
                self.faults.append(f"{line.where}: {misfit}")

    def _add(self, document: Document, removed: int, where: str) -> None:
        first = self._where.setdefault(document.id, where)
        if document.id in self.documents:
            raise Misfit(f"the id {document.id[:80]!r} was already given at {first}; ids must be unique "
                         "(files of one name: give the folder above them)")
        self.documents[document.id] = document
        if removed:
            self.notes.append(f"{where}: {removed} control characters or broken characters removed")


def _portable(name: str) -> str:
    """A file name as an id that is the same on every machine."""
    return unicodedata.normalize("NFC", name.encode("utf-8", "backslashreplace").decode())


def _ending_of(data: bytes) -> str:
    """The kind of bytes that came without a name: PDF, Word, JSONL, JSON or text."""
    if data.startswith(b"%PDF-"):
        return ".pdf"
    if data.startswith(b"PK\x03\x04"):
        return ".docx"
    body = data.lstrip(b"\xef\xbb\xbf \t\r\n")
    if body[:1] not in (b"{", b"["):
        return ".txt"
    first = body.split(b"\n", 1)[0].decode("utf-8", "replace")
    if any(_is_document(line) for line in rows_of_lines(first, "")):
        return ".jsonl"
    return ".json" if any(_is_document(line) for line in rows_of_json(body.decode("utf-8", "replace"), "")) else ".txt"


def _is_document(line: Line) -> bool:
    return isinstance(line.value, dict) and "text" in columns(line.value)
