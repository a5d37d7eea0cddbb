"""Small files that stand for gigabytes of memory or hours of work, and commands that read them in a process of bounded memory."""

from __future__ import annotations

import base64
import gzip
import io
import os
import subprocess
import sys
import tempfile
import time
import zipfile
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

MEGABYTE = 1_000_000
W = b"http://schemas.openxmlformats.org/wordprocessingml/2006/main"
PARAGRAPH = b"<w:p><w:r><w:t>Anna lives in Bern.</w:t></w:r></w:p>"
LINE = b"BT /F1 12 Tf 72 712 Td (Anna lives in Bern.) Tj ET\n"


@dataclass(frozen=True)
class Ended:
    """How a command ended: exit code, what it said, its peak memory in MB, and its seconds."""

    code: int
    said: str
    memory: float
    seconds: float


# What runs there. The peak that the system tells of a process is that of its parent too, up to the moment when it becomes another program.
_BOUNDED = """
import re, resource, sys
from pathlib import Path
size, peak = int(sys.argv[1]), sys.argv[2]
resource.setrlimit(resource.RLIMIT_AS, (size, size))
from kgeval.cli.main import run
code = run(sys.argv[3:])
own = Path("/proc/self/status")
used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
Path(peak).write_text(re.search(r"VmHWM:\\s*(\\d+) kB", own.read_text())[1] if own.exists() else str(used // 1024))
sys.exit(code)
"""


def run_bounded(*arguments: str | Path, most: int = 2_500, **environment: str) -> Ended:
    """`kgeval ARGUMENTS` in at most so many MB of addresses: beyond them it fails, and nothing else on this machine does."""
    started = time.monotonic()
    with tempfile.NamedTemporaryFile(mode="r", encoding="utf-8") as peak:
        process = subprocess.run(
            [sys.executable, "-c", _BOUNDED, str(most * MEGABYTE), peak.name, *map(str, arguments)], check=False, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            env={**os.environ, "COLUMNS": "500", "OPENBLAS_NUM_THREADS": "1", **environment},
        )
        memory = int(peak.read() or 0) * 1_024 / MEGABYTE
    return Ended(process.returncode, process.stdout, memory, time.monotonic() - started)


def word(path: Path, piece: bytes, times: int = 1, *, styles: bytes = b"", media: bytes = b"") -> Path:
    """A Word file whose body is the piece, many times. `styles`: further ones; `media`: a picture that nothing shows."""
    import docx

    source = io.BytesIO()
    docx.Document().save(source)
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as new:
        for part in old.infolist():
            if part.filename == "word/styles.xml":
                new.writestr(part, old.read(part).replace(b"</w:styles>", styles + b"</w:styles>"))
            elif part.filename != "word/document.xml":
                new.writestr(part, old.read(part))
        if media:
            new.writestr("word/media/image1.png", media)
        with new.open("word/document.xml", "w") as out:
            out.write(b'<w:document xmlns:w="' + W + b'"><w:body>')
            for _ in range(times):
                out.write(piece)
            out.write(b"</w:body></w:document>")
    return path


def word_of_megabytes(path: Path, megabytes: int) -> Path:
    """A Word file of so many MB of paragraphs, packed to a three-hundredth."""
    block = PARAGRAPH * (MEGABYTE // len(PARAGRAPH) + 1)
    return word(path, block, megabytes)


def word_that_lies(path: Path, megabytes: int) -> Path:
    """As word_of_megabytes; but its directory says that it holds 1,000 bytes, with the checksum of these."""
    data = bytearray(word_of_megabytes(path, megabytes).read_bytes())
    with zipfile.ZipFile(io.BytesIO(data)) as archive, archive.open("word/document.xml") as part:
        crc = zlib.crc32(part.read(1_000))
    at = data.rindex(b"word/document.xml") - 46
    data[at + 16:at + 20], data[at + 24:at + 28] = crc.to_bytes(4, "little"), (1_000).to_bytes(4, "little")
    path.write_bytes(data)
    return path


def row(*cells: bytes) -> bytes:
    """A row of a Word table: of each cell its properties and its content."""
    return b"<w:tr>" + b"".join(b"<w:tc>" + cell + b"</w:tc>" for cell in cells) + b"</w:tr>"


def table(*rows: bytes) -> bytes:
    return b"<w:tbl><w:tblPr/><w:tblGrid><w:gridCol/></w:tblGrid>" + b"".join(rows) + b"</w:tbl>"


def merged(start: bool) -> bytes:
    return b"<w:tcPr><w:vMerge" + (b' w:val="restart"' if start else b"") + b"/></w:tcPr>"


def packed(piece: bytes, megabytes: int) -> bytes:
    """The piece again and again, so many MB of it, packed as PDF packs."""
    packer, block = zlib.compressobj(9), piece * (MEGABYTE // len(piece) + 1)
    return b"".join(packer.compress(block) for _ in range(megabytes)) + packer.flush()


def pdf_stream(data: bytes, more: bytes = b"") -> bytes:
    """A stream of a PDF whose data are packed already."""
    return b"<< /Length %d /Filter /FlateDecode %s >>\nstream\n" % (len(data), more) + data + b"\nendstream"


def pdf(
    path: Path, content: bytes, *further: bytes, pages: int = 1, said: int | None = None, fonts: bytes = b"/F1 4 0 R",
) -> Path:
    """A PDF of pages that share one content stream. `said`: how many pages it says it has; `further`: objects from number 6 on."""
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>", b"<< /Type /Pages /Count %d /Kids [%s] >>" % (said or pages, b"3 0 R " * pages),
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << %s >> /XObject << /X 6 0 R >> >> "
        b"/Contents 5 0 R >>" % fonts,
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>", content, *further,
    ]
    out, places = io.BytesIO(), []
    out.write(b"%PDF-1.7\n")
    for number, body in enumerate(objects, start=1):
        places.append(out.tell())
        out.write(b"%d 0 obj\n%s\nendobj\n" % (number, body))
    end = out.tell()
    out.write(b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1) + b"".join(b"%010d 00000 n \n" % place for place in places))
    out.write(b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % (len(objects) + 1, end))
    path.write_bytes(out.getvalue())
    return path


def pdf_form(draws: bytes, number: int) -> bytes:
    """A form that draws the form of that number as /X."""
    names = b"/Font << /F1 4 0 R >> /XObject << /X %d 0 R >>" % number
    return pdf_stream(zlib.compress(draws), b"/Type /XObject /Subtype /Form /BBox [0 0 1 1] /Resources << %s >>" % names)


def pdf_of_forms(path: Path) -> Path:
    """A page that draws ten forms, each of which draws ten, and so on: 50 million operators in 1.7 kB."""
    ten = b"/X Do\n" * 10
    forms = (pdf_form(ten, 7), pdf_form(ten, 8), pdf_form(ten, 9), pdf_form(LINE * 1_000, 9))
    return pdf(path, pdf_stream(zlib.compress(ten)), *forms)


def pdf_of_forms_too_long(path: Path) -> Path:
    """As pdf_of_forms; the last form has more steps than the reader takes, which it says to nobody, and tries the next."""
    ten = b"/X Do\n" * 10
    return pdf(path, pdf_stream(zlib.compress(ten)), *(pdf_form(ten, number) for number in (7, 8, 9)), pdf_form(LINE * 20_000, 9))


def parquet(path: Path, columns: Mapping[str, object], *, groups: int = 1, use_dictionary: bool = True) -> Path:
    """A Parquet file of the columns, written so many times."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = pa.table(dict(columns))
    with pq.ParquetWriter(path, rows.schema, compression="zstd", use_dictionary=use_dictionary) as out:
        for _ in range(groups):
            out.write_table(rows)
    return path


def repeated(text: str, times: int) -> object:
    """A column that says one text many times, and holds it once."""
    import pyarrow as pa

    return pa.DictionaryArray.from_arrays(pa.array([0] * times, pa.int32()), [text])


def one_list(path: Path, items: object) -> Path:
    """A row whose list has all these items."""
    import pyarrow as pa

    count = len(items)  # type: ignore[arg-type]
    lists = pa.ListArray.from_arrays(pa.array([0, count], pa.int32()), items)
    return parquet(path, {"id": ["1"], "question": ["q"], "response": ["a"], "xs": lists})


def long_bytes(path: Path, count: int = 1_000) -> Path:
    """So many times the same 2 MB, of one length for all, which a dictionary holds once."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    length = 2 * MEGABYTE
    columns = {"id": [str(n) for n in range(count)], "question": ["q"] * count, "response": ["a"] * count}
    rows = pa.table({**columns, "x": pa.array([bytes(length)] * count, pa.binary(length))})
    pq.write_table(rows, path, compression="zstd", use_dictionary=True, dictionary_pagesize_limit=1 << 30, write_statistics=False)
    return path


def parquet_that_lies(path: Path, megabytes: int) -> Path:
    """A row of four texts of so many MB, whose footer says that each takes 1,000 bytes."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    texts = {f"c{n}": ["z" * megabytes * MEGABYTE] for n in range(4)}
    rows = pa.table({"id": ["1"], "question": ["q"], "response": ["a"], **texts})
    pq.write_table(rows, path, compression="zstd", use_dictionary=False, write_statistics=False)
    data = path.read_bytes()
    group = pq.read_metadata(path).row_group(0)
    start = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    footer = data[start:-8]
    for true, said in ((group.column(3).total_uncompressed_size, 1_000), (group.total_byte_size, 5_000)):
        footer = footer.replace(_varint(true), _varint(said, len(_varint(true))))
    path.write_bytes(data[:start] + footer + data[-8:])
    assert pq.read_metadata(path).row_group(0).column(3).total_uncompressed_size == 1_000
    return path


def one_page_for_all(path: Path, megabytes: int, columns: int) -> Path:
    """Columns of one text of so many MB each, which all have the first one's page: the footer gives them its place."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    names = [f"c{n:02}" for n in range(columns)]
    rows = pa.table({"id": ["1"], "question": ["q"], "response": ["a"], **{name: ["z" * megabytes * MEGABYTE] for name in names}})
    pq.write_table(rows, path, compression="zstd", use_dictionary=False, write_statistics=False)
    data = path.read_bytes()
    start = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    footer, group = data[start:-8], pq.read_metadata(path).row_group(0)
    first = group.column(3)
    for column in map(group.column, range(4, 3 + columns)):
        there = _varint(column.data_page_offset)
        footer = footer.replace(there, _varint(first.data_page_offset, len(there)))
    path.write_bytes(data[:first.data_page_offset + first.total_compressed_size] + footer + len(footer).to_bytes(4, "little") + b"PAR1")
    return path


def _varint(number: int, length: int = 1) -> bytes:
    """A whole number as Thrift writes it, in at least so many bytes."""
    left, out = 2 * number, []
    while left >= 128 or len(out) < length - 1:
        out.append(left & 127 | 128)
        left >>= 7
    return bytes([*out, left])


def report_page(path: Path, megabytes: int) -> Path:
    """A page of a report whose data unpack to so many MB."""
    data = b'{"x":"' + b" " * (megabytes * MEGABYTE) + b'"}'
    path.write_bytes(b'<html><script type="application/gzip" id="report">' + base64.b64encode(gzip.compress(data, 1)) + b"</script></html>")
    return path


Bomb = Callable[[Path], Path]


FULL = b"1 beginbfrange\n<0000> <FFFF> <0000>\nendbfrange\n"  # what maps all characters


def font_objects(mapping: bytes, widths: bytes = b"") -> tuple[bytes, bytes, bytes]:
    """Objects 6 to 8 of a PDF: a font, what it descends from with its widths, and its map of characters."""
    return (
        b"<< /Type /Font /Subtype /Type0 /BaseFont /X /Encoding /Identity-H /DescendantFonts [7 0 R] /ToUnicode 8 0 R >>",
        b"<< /Type /Font /Subtype /CIDFontType2 /BaseFont /X /DW 1000 %s >>" % widths, pdf_stream(zlib.compress(mapping)),
    )


def pdf_of_fonts(path: Path, count: int) -> Path:
    """A PDF of one page that names so many fonts, each of which maps 65,536 characters, and uses none of them."""
    fonts = b"/F1 4 0 R " + b"".join(b"/G%d 6 0 R " % number for number in range(count))
    return pdf(path, pdf_stream(zlib.compress(LINE)), *font_objects(FULL), fonts=fonts)
