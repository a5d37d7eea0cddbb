"""Reads documents: text, Markdown, PDF, Word, JSONL and JSON, folders of them, and standard input. Bad ones are listed and passed over."""

from __future__ import annotations

import io
import logging
import os
import re
import struct
import sys
import unicodedata
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Literal

from kgeval.errors import InputError, library
from kgeval.format import first_of, plural
from kgeval.graph.load.values import Misfit
from kgeval.limits import TooLargeError, file_limits, sound_zip, too_large
from kgeval.records import Document
from kgeval.tables import Line, decode
from kgeval.text.clean import clean_line, clean_text, share_of_control
from kgeval.text.document_rows import columns, document_of, rows_of_json, rows_of_lines
from kgeval.text.pdf_guard import (
    CHARACTER,
    FontsError,
    OutOfTimeError,
    fonts_counted,
    forms_watched,
    is_of_unpacked,
    refusal,
    stopped_after,
)

# The text in the bytes of one file: plain, Markdown, PDF, Word. What cannot be read raises Misfit with the way out.

_MARKS = {
    b"%PDF-": "a PDF: give it the ending .pdf", b"PK\x03\x04": "a zip archive or an Office file: give it its own ending, or unpack it",
    b"\x89PNG": "an image", b"\xff\xd8\xff": "an image", b"GIF8": "an image", b"\x7fELF": "a program",
    b"\x1f\x8b": "a gzip file: gunzip it first",
    b"\xd0\xcf\x11\xe0": "an old Office file: save it as .docx, or as text", b"{\\rtf": "a rich text file: save it as .docx, or as text",
}
# A damaged file can break a parser anywhere, and parsers let whatever breaks come through.
_PARSER_FAULTS = (
    ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RuntimeError, OSError, EOFError, SyntaxError, AssertionError,
    zlib.error, struct.error, zipfile.BadZipFile,
)
# Of a PDF's content stream at most so many in memory for each second that its pages may take: 2,000,000, as the library has it.
TOKENS_A_SECOND = 3_334
_HEADING = re.compile(r"heading (\d)", re.IGNORECASE)


@dataclass(frozen=True)
class Parsed:
    """What a file says. `notes`: what could not be read of it."""

    text: str
    title: str | None = None
    notes: list[str] = field(default_factory=list)


def read_plain(data: bytes, name: str) -> Parsed:
    """Text in UTF-8. Raises: Misfit for what is no text, InputError for another encoding."""
    for mark, what in _MARKS.items():
        if data.startswith(mark):
            raise Misfit(f"is {what}")
    head = data[:4000]
    # UTF-16 has a zero beside each ASCII letter
    if head.count(0) * 3 > len(head) and data[:2] not in (b"\xff\xfe", b"\xfe\xff"):
        raise Misfit("is binary, or UTF-16 without a mark: save it as UTF-8")
    text = decode(data, name)
    if share_of_control(text[:10_000]) > 0.1:
        raise Misfit("is binary, no text")
    return Parsed(text)


def read_markdown(data: bytes, name: str) -> Parsed:
    """Markdown as it stands; its title is the first heading of level 1. Raises as read_plain does."""
    text = read_plain(data, name).text
    return Parsed(text, next(filter(None, map(_heading, text[:20_000].splitlines())), None))


def _heading(line: str) -> str:
    """The heading of level 1 in a line of Markdown, "" where it is none. A closing run of # stands after a space: "# C#" is "C#".

    No regex: one that looks for the closing run and the spaces before it takes time by the cube of the spaces in a line."""
    if line[:1] != "#" or not line[1:2].isspace():
        return ""
    words = line[1:].strip()
    bare = words.rstrip("#")
    return bare.rstrip() if not bare or bare[-1].isspace() else words


def read_pdf(data: bytes, name: str) -> Parsed:
    """The text layer of a PDF, pages parted by a blank line.

    Raises: Misfit where there is none, or it cannot be read; TooLargeError.
    """
    pypdf = library("pypdf")
    from pypdf.errors import DependencyError, LimitReachedError, PyPdfError

    title = None
    limits = file_limits()
    stream = limits.unpacked // 3  # of the whole file; the library's own limit of a stream is 75 MB
    with _quiet("pypdf"), pypdf.apply_configuration(
        zlib_maximum_output_length=stream, lzw_maximum_output_length=stream, run_length_maximum_output_length=stream,
        brotli_maximum_output_length=stream, array_based_stream_maximum_output_length=stream,
        stream_decoding_work_maximum_length=3 * stream, maximum_declared_stream_length=max(75_000_000, len(data)),
        stream_parsing_work_maximum_count=limits.seconds * TOKENS_A_SECOND, page_tree_maximum_entries=limits.pages,
        array_maximum_element_count=50 * limits.pages, page_tree_maximum_page_entries=max(2_000_000, 100 * limits.pages),
    ):
        try:
            with stopped_after(limits.seconds) as check_time:
                reader = pypdf.PdfReader(io.BytesIO(data))
                # many PDFs are encrypted with an empty password, which only restricts printing and copying
                if reader.is_encrypted and not reader.decrypt(""):
                    raise Misfit("is protected by a password: save it without one, for example with qpdf --decrypt")
                with forms_watched() as count_missed:
                    pages, notes = _pages(reader, len(data), name, check_time, count_missed)
                with suppress(PyPdfError, *_PARSER_FAULTS):  # a broken title is no reason to lose the text
                    title = str(reader.metadata.title) if reader.metadata and reader.metadata.title else None
        # a ValueError, as some of the faults below
        except Misfit:
            raise
        except OutOfTimeError as cause:
            raise too_large(name, "it takes more seconds of a processor than that", "seconds") from cause
        except DependencyError as cause:
            raise Misfit("is encrypted with AES: pip install cryptography, or save it with qpdf --decrypt") from cause
        except LimitReachedError as cause:
            raise refusal(cause, name) from cause
        except (PyPdfError, *_PARSER_FAULTS) as cause:
            raise Misfit(f"is a damaged PDF ({type(cause).__name__}): save it again, or print it to a new PDF") from cause
    if not "".join(pages).strip():
        raise Misfit("has no text layer (a scan?): run OCR over it, for example with ocrmypdf")
    return Parsed("\n\n".join(page.strip() for page in pages if page.strip()), title, notes)


def _pages(
    reader: Any, size: int, name: str, check_time: Callable[[], None], count_missed: Callable[[], int],
) -> tuple[list[str], list[str]]:
    """The texts of the pages that can be read, and notes on the others. `size`: of the file; `count_missed`: the forms that are passed over
    so far. Raises: Misfit, TooLargeError."""
    from pypdf import apply_configuration
    from pypdf.errors import LimitReachedError, PyPdfError

    texts: list[str] = []
    bad: list[int] = []
    partial: list[int] = []
    refused: TooLargeError | Misfit | None = None
    limits = file_limits()
    count = len(reader.pages)
    unpacked = 0
    if count > limits.pages:
        raise too_large(name, f"a PDF of {count:,} pages", "pages", needed=count)
    for number in range(count):
        missed = count_missed()
        try:
            # a list of texts in one operator: the library asks for no time within it
            with fonts_counted(check_time), apply_configuration(array_maximum_element_count=100_000):
                page = reader.pages[number]
                # pages may share one content: each reads it again
                content = page.get_contents()
                unpacked += 0 if content is None else len(content.get_data())
                _check_pages_unpacked(name, number, unpacked - size)
                texts.append(page.extract_text(visitor_operand_before=lambda *_: check_time()))
                unpacked += len(texts[-1])
        except OutOfTimeError as cause:
            raise too_large(name, f"its pages up to page {number + 1:,} take more seconds of a processor than that", "seconds") from cause
        except FontsError:
            bad.append(number + 1)
            what = f"its fonts map more characters than that, at {CHARACTER} bytes each"
            refused = too_large(f"{name}: page {number + 1:,}", what, "unpacked")
        except LimitReachedError as cause:
            bad.append(number + 1)
            refused = refusal(cause, name, number + 1)
            if is_of_unpacked(cause):
                unpacked += limits.unpacked // 3  # that was spent on it
                _check_pages_unpacked(name, number, unpacked - size)
        except (PyPdfError, *_PARSER_FAULTS):
            bad.append(number + 1)
        if count_missed() > missed:
            partial.append(number + 1)
    if refused is not None and not texts:
        raise refused
    if bad and not texts:
        raise Misfit("is a damaged PDF, none of its pages can be read: save it again, or print it to a new PDF")
    notes = [f"{len(bad)} of {count} pages could not be read: {', '.join(map(str, bad[:20]))}"] if bad else []
    if partial:
        notes.append(f"forms on {len(partial)} of {count} pages could not be read: {', '.join(map(str, partial[:20]))}")
    if refused is not None:
        notes.append(refused.message.removeprefix(f"{name}: ") if isinstance(refused, TooLargeError) else str(refused))
    return texts, notes


def _check_pages_unpacked(name: str, number: int, unpacked: int) -> None:
    if unpacked > file_limits().unpacked:
        raise too_large(name, f"its pages up to page {number + 1:,} unpack to more than that", "unpacked")


@contextmanager
def _quiet(name: str) -> Iterator[None]:
    """A library's warnings about odd files are not for the user: what matters becomes a fault or a note."""
    logger = logging.getLogger(name)
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(level)


def read_word(data: bytes, name: str) -> Parsed:
    """Paragraphs and tables of a .docx in their order; headings become Markdown headings.

    Raises: Misfit for damaged files; TooLargeError.
    """
    library("docx")
    from docx.opc.exceptions import OpcError

    if data.startswith(b"\xd0\xcf\x11\xe0"):
        raise Misfit("is protected by a password, or an old .doc: save it as .docx without one")
    try:
        body, styles, title = _word_parts(sound_zip(data, name))
        blocks = [block for block in _WordText(styles, name).blocks(body) if block.strip()]
    except (OpcError, *_PARSER_FAULTS) as cause:
        raise Misfit(f"is a damaged Word file ({type(cause).__name__}): open it in Word and save it again") from cause
    return Parsed("\n\n".join(blocks), title or None)


def _word_parts(data: BinaryIO) -> tuple[Any, Any, str]:
    """The body of a Word file, its styles and its title. Only these parts are read: the library reads all, and looks for each among those
    that it has read (for 20,000 pictures 10 s)."""
    import docx
    from docx.opc.oxml import parse_xml as parse_relations
    from docx.opc.packuri import PACKAGE_URI, PackURI
    from docx.oxml import parse_xml

    with zipfile.ZipFile(data) as archive:
        def related(part: PackURI) -> dict[str, PackURI]:
            """The parts that this one names, by the last word of their kind."""
            found: dict[str, PackURI] = {}
            with suppress(KeyError):  # it has no file of relations
                for relation in parse_relations(archive.read(part.rels_uri.membername)).Relationship_lst:
                    if relation.target_mode != "External":
                        found.setdefault(relation.reltype.rpartition("/")[2], PackURI.from_rel_ref(part.baseURI, relation.target_ref))
            return found

        package = related(PACKAGE_URI)
        main = package["officeDocument"]
        body = parse_xml(archive.read(main.membername)).body
        styles = related(main).get("styles")
        core = package.get("core-properties")
        return (
            body, parse_xml(archive.read(styles.membername)) if styles else docx.Document().styles.element,
            parse_xml(archive.read(core.membername)).title_text if core else "",
        )


class _WordText:
    """The texts of a Word file. The text of a cell that is merged with those below it stands in each row.

    Children are gone through one by one: the library looks for them by XPath with `|`, and libxml2 compares each node on one side of it
    with each on the other (20,000 tabs and line breaks in a run took 20 s).
    """

    def __init__(self, styles: Any, name: str) -> None:
        from docx.oxml.ns import qn

        self._name = name
        self._characters = 0
        self._paragraph, self._run, self._link, self._table, self._row, self._cell = map(
            qn, ("w:p", "w:r", "w:hyperlink", "w:tbl", "w:tr", "w:tc"),
        )
        self._pieces = frozenset(map(qn, ("w:br", "w:cr", "w:noBreakHyphen", "w:ptab", "w:t", "w:tab")))
        self._styles, self._default = _names_of_styles(styles)

    def blocks(self, holder: Any) -> Iterator[str]:
        """The paragraphs and tables in the element of a body or a cell; a paragraph in the style Heading 2 begins with "## ".

        Raises: TooLargeError."""
        for block in holder.iterchildren(self._paragraph, self._table):
            if block.tag == self._table:
                yield "\n".join(self._rows(block))
            else:
                text = "".join(self._texts(block))
                style = self._styles.get(block.style, self._default)
                heading = _HEADING.match(style)
                level = min(int(heading[1]), 6) if heading else 1 if style == "Title" else 0
                yield ("#" * level + " " if level and text.strip() else "") + text

    def _texts(self, holder: Any) -> Iterator[str]:
        """What the runs of a paragraph say, also those in its links."""
        for child in holder.iterchildren(self._run, self._link):
            if child.tag == self._run:
                yield from (str(piece) for piece in child.iterchildren() if piece.tag in self._pieces)
            elif holder.tag == self._paragraph:
                yield from self._texts(child)

    def _rows(self, table: Any) -> Iterator[str]:
        """The rows of a table. Not by `row.cells`: that holds a cell once for each column that the file says it spans (300 million
        in a file of 36 kB), and looks for merged cells through all rows above."""
        above: dict[int, str] = {}
        for row in table.iterchildren(self._row):
            texts: dict[int, str] = {}
            column = row.grid_before
            for cell in row.iterchildren(self._cell):
                merged = cell.vMerge == "continue" and column in above
                texts[column] = above[column] if merged else " ".join(" ".join(self.blocks(cell)).split())
                column += cell.grid_span
            self._characters += sum(map(len, texts.values()))
            if self._characters > file_limits().unpacked:
                raise too_large(self._name, "its tables repeat merged cells to more text than that", "unpacked")
            yield f"| {' | '.join(texts.values())} |" if any(texts.values()) else ""
            above = texts


def _names_of_styles(styles: Any) -> tuple[dict[str | None, str], str]:
    """The names of the styles of paragraphs by id, and that of the default. The library goes through all for each that it looks up."""
    from docx.oxml.ns import qn

    names: dict[str | None, str] = {}
    default = ""
    seen: set[str] = set()  # of several styles with one id the first counts, of whatever kind it is
    for style in styles.iterchildren(qn("w:style")):
        key, name = style.get(qn("w:styleId")), style.find(qn("w:name"))
        label = "" if name is None else name.get(qn("w:val"), "")
        if style.get(qn("w:type"), "paragraph") == "paragraph":
            if key and key not in seen:
                names[key] = label
            if style.get(qn("w:default")) in ("1", "true", "on"):
                default = label
        seen.add(key)
    return names, default


STDIN = "-"
PLAIN = (".txt", ".text", ".md", ".markdown", ".rst", ".pdf", ".docx")
ROWS = (".jsonl", ".ndjson", ".json")
ENDINGS = PLAIN + ROWS
_READERS: dict[str, Callable[[bytes, str], Parsed]] = {
    ".md": read_markdown, ".markdown": read_markdown, ".pdf": read_pdf, ".docx": read_word,
}


@dataclass(frozen=True)
class DocumentSet:
    """What was read. `faults`: one line a document (or row) that could not be used. `notes`: what was removed or passed over.

    `inputs`: the regular files that were read, in order; standard input is not among them. `links`: a line a folder whose
    symbolic links were passed over.
    """

    documents: list[Document]
    faults: list[str]
    inputs: list[Path]
    notes: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)


def read_documents(
    paths: Sequence[Path | Literal["-"]], *, stdin: BinaryIO | None = None, follow_symlinks: bool = False,
) -> DocumentSet:
    """All documents of the paths, in order; folders are read recursively, sorted, hidden files and unknown endings left out.

    Symbolic links in a folder are passed over, with a note that counts and names them, unless `follow_symlinks`: who wrote the folder
    may have meant other files than who reads it. A path that is given is read, link or not.

    A file's id is its name, in a folder its path below that folder; a row's id is its own. Texts are cleaned (control
    characters, line ends, NFC). `stdin`: what `-` reads; default: standard input.

    Raises: InputError that lists every fault where not one document could be read.
    """
    reading = _DocumentReader(follow_symlinks=follow_symlinks)
    for path in paths:
        if str(path) == STDIN:
            reading.data((stdin or sys.stdin.buffer).read(), "stdin", "")
        else:
            reading.path(Path(path))
    if not reading.documents:
        fix = f"mend what is named, or give files that end in {', '.join(ENDINGS)}, or - with text on standard input"
        raise InputError("no document could be read", fix=fix, faults=reading.faults)
    return DocumentSet(list(reading.documents.values()), reading.faults, reading.inputs, reading.notes, reading.links)


class _DocumentReader:
    """Gathers documents, faults and notes."""

    def __init__(self, *, follow_symlinks: bool = False) -> None:
        self._follows = follow_symlinks
        self.documents: dict[str, Document] = {}
        self.faults: list[str] = []
        self.notes: list[str] = []
        self.inputs: list[Path] = []
        self.links: list[str] = []
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
        def closed(cause: OSError) -> None:
            self.faults.append(f"{cause.filename}: cannot be opened: {cause.strerror}")

        others: list[str] = []
        links: list[str] = []
        seen: set[tuple[int, int]] = set()  # folders that were read: links may lead in a circle
        read = len(self.inputs)

        def passed_over(path: Path) -> bool:
            if self._follows or not path.is_symlink():
                return False
            links.append(path.relative_to(folder).as_posix())
            return True

        for top, folders, names in os.walk(folder, onerror=closed, followlinks=self._follows):
            place = Path(top).stat()
            if (place.st_dev, place.st_ino) in seen:
                folders.clear()
                continue
            seen.add((place.st_dev, place.st_ino))
            folders[:] = sorted(name for name in folders if not name.startswith(".") and not passed_over(Path(top, name)))
            for name in sorted(names):
                path = Path(top, name)
                inside = path.relative_to(folder).as_posix()
                if name.startswith(".") or passed_over(path):
                    continue
                if path.suffix.lower() in ENDINGS and path.is_file():
                    self._file(path, inside)
                else:
                    others.append(inside)
        if others:
            self.notes.append(f"{folder}: {len(others)} files of other kinds passed over: {first_of(sorted(others), 20)}")
        if links:
            self.links.append(f"{folder}: {plural(len(links), 'symbolic link')} passed over: {first_of(sorted(links), 20)}")
            self.notes.append(f"{self.links[-1]} (--follow-symlinks reads what they lead to)")
        if len(self.inputs) == read:
            self.faults.append(f"{folder}: no document in this folder; known endings: {', '.join(ENDINGS)}"
                               + (f"; {plural(len(links), 'symbolic link')} passed over (--follow-symlinks)" if links else ""))

    def _file(self, path: Path, name: str) -> None:
        try:
            data = path.read_bytes()
        except OSError as cause:
            self.faults.append(f"{path}: cannot be read: {cause.strerror or cause}")
            return
        if path.is_file():  # a pipe cannot be read again for its hash
            self.inputs.append(path)
        # an id that is the same on every machine: macOS gives names in NFD, Linux may give bytes that are no UTF-8
        portable = unicodedata.normalize("NFC", name.encode("utf-8", "backslashreplace").decode())
        self.data(data, portable, path.suffix.lower())

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
        except TooLargeError as cause:
            self.faults.append(cause.message)
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
