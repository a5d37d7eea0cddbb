"""The text in the bytes of one file: plain, Markdown, PDF, Word. What cannot be read raises Misfit with the way out."""

from __future__ import annotations

import io
import logging
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from kgeval.files import decode
from kgeval.graph.load.values import Misfit
from kgeval.text.clean import share_of_control

LARGEST_UNPACKED = 1_000_000_000
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
_HEADING = re.compile(r"heading (\d)", re.IGNORECASE)
_FIRST_HEADING = re.compile(r"^#\s+(.+?)\s*#*\s*$", re.MULTILINE)


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
    if head.count(0) * 3 > len(head) and data[:2] not in (b"\xff\xfe", b"\xfe\xff"):
        raise Misfit("is binary, or UTF-16 without a mark: save it as UTF-8")
    text = decode(data, name)
    if share_of_control(text[:10_000]) > 0.1:
        raise Misfit("is binary, no text")
    return Parsed(text)


def read_markdown(data: bytes, name: str) -> Parsed:
    """Markdown as it stands; its title is the first heading of level 1. Raises as read_plain does."""
    text = read_plain(data, name).text
    found = _FIRST_HEADING.search(text[:20_000].replace("\r\n", "\n"))
    return Parsed(text, found[1] if found else None)


def read_pdf(data: bytes, _name: str) -> Parsed:
    """The text layer of a PDF, pages parted by a blank line. Raises: Misfit where there is none, or it cannot be read."""
    import pypdf
    from pypdf.errors import DependencyError, PyPdfError

    with _quiet("pypdf"):
        try:
            reader = pypdf.PdfReader(io.BytesIO(data))
            if reader.is_encrypted and not reader.decrypt(""):
                raise Misfit("is protected by a password: save it without one, for example with qpdf --decrypt")
            pages, bad = _pages(reader)
            title = _pdf_title(reader)
        except Misfit:
            raise
        except DependencyError as cause:
            raise Misfit("is encrypted with AES: pip install cryptography, or save it with qpdf --decrypt") from cause
        except (PyPdfError, *_PARSER_FAULTS) as cause:
            raise Misfit(f"is a damaged PDF ({type(cause).__name__}): save it again, or print it to a new PDF") from cause
    if not "".join(pages).strip():
        raise Misfit("has no text layer (a scan?): run OCR over it, for example with ocrmypdf")
    notes = [f"{len(bad)} of {len(pages) + len(bad)} pages could not be read: {', '.join(map(str, bad[:20]))}"] if bad else []
    return Parsed("\n\n".join(page.strip() for page in pages if page.strip()), title, notes)


def _pages(reader: Any) -> tuple[list[str], list[int]]:
    """The texts of the pages that can be read, and the numbers of the others."""
    from pypdf.errors import PyPdfError

    texts: list[str] = []
    bad: list[int] = []
    for number in range(len(reader.pages)):
        try:
            texts.append(reader.pages[number].extract_text())
        except (PyPdfError, *_PARSER_FAULTS):
            bad.append(number + 1)
    if bad and not texts:
        raise Misfit("is a damaged PDF, none of its pages can be read: save it again, or print it to a new PDF")
    return texts, bad


def _pdf_title(reader: Any) -> str | None:
    from pypdf.errors import PyPdfError

    try:
        title = reader.metadata.title if reader.metadata else None
    except (PyPdfError, *_PARSER_FAULTS):
        return None
    return str(title) if title else None


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


def read_word(data: bytes, _name: str) -> Parsed:
    """Paragraphs and tables of a .docx in their order; headings become Markdown headings. Raises: Misfit for damaged files."""
    import docx
    from docx.opc.exceptions import OpcError

    if data.startswith(b"\xd0\xcf\x11\xe0"):
        raise Misfit("is protected by a password, or an old .doc: save it as .docx without one")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            if sum(part.file_size for part in archive.infolist()) > LARGEST_UNPACKED:
                raise Misfit(f"unpacks to more than {LARGEST_UNPACKED // 1_000_000} MB")
        document = docx.Document(io.BytesIO(data))
        blocks = [block for block in _word_blocks(document) if block.strip()]
        title = document.core_properties.title
    except Misfit:
        raise
    except (OpcError, *_PARSER_FAULTS) as cause:
        raise Misfit(f"is a damaged Word file ({type(cause).__name__}): open it in Word and save it again") from cause
    return Parsed("\n\n".join(blocks), title or None)


def _word_blocks(holder: Any) -> Iterator[str]:
    for block in holder.iter_inner_content():
        if hasattr(block, "rows"):
            yield "\n".join(_row(row) for row in block.rows)
        else:
            yield _heading_mark(block) + block.text


def _row(row: Any) -> str:
    cells: list[str] = []
    last = None
    for cell in row.cells:
        if cell._tc is not last:  # a merged cell comes once a column
            cells.append(" ".join(" ".join(_word_blocks(cell)).split()))
        last = cell._tc
    return f"| {' | '.join(cells)} |" if any(cells) else ""


def _heading_mark(paragraph: Any) -> str:
    """"## " for a paragraph in the style Heading 2; "" for others."""
    style = getattr(paragraph.style, "name", None) or ""
    found = _HEADING.match(style)
    level = min(int(found[1]), 6) if found else 1 if style == "Title" else 0
    return "#" * level + " " if level and paragraph.text.strip() else ""
