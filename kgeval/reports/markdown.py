"""Parts of Markdown. Every text of users stands in <code> with its punctuation encoded: no name can open a table cell, a link, a mention,
an image or a tag."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from kgeval.records import RunManifest
from kgeval.reports.display import number, visible

# Not encoded: what is no mark-up within a line. A colon may start a link or an emoji unless a blank or a digit follows.
_MARKS = re.compile(r"[\\`*_{}\[\]<>#|!&~@$^]|:(?=[^\s\d])|(?<=[wW])\.")
MOST_CHARACTERS = 60_000  # a comment on GitHub holds 65,536
_LEFT_OUT = "*More stands in the HTML and JSON reports: a comment must not become longer.*"


def escape(text: str, *, longest: int = 200) -> str:
    """The text on one line with Markdown's and HTML's punctuation as character references."""
    return _MARKS.sub(lambda m: f"&#{ord(m[0])};", visible(text, longest=longest))


def code(text: str, *, longest: int = 100) -> str:
    """A text of the graph's: escaped, in <code> (where no renderer looks for mentions or links)."""
    return f"<code>{escape(text, longest=longest)}</code>"


def prose(text: str) -> str:
    """A sentence that may quote the graph or the server: in <code> only where a renderer could find a mention in it."""
    return code(text, longest=300) if "@" in text else escape(text, longest=300)


def more(left: int) -> str:
    """`and 12 more` as a paragraph of its own below a list; "" where nothing is left."""
    return f"\n\nand {number(left)} more" if left > 0 else ""


def elsewhere(left: int) -> str:
    """Where the rest of a table is; "" where nothing is left."""
    return f"\n\n{number(left)} more are in the HTML and JSON reports." if left > 0 else ""


def notes(given: Sequence[str], *, most: int = 10) -> str:
    """The first notes as a list under their heading; "" without notes."""
    lines = "\n".join(f"- {prose(note)}" for note in given[:most])
    return f"## Notes\n\n{lines}{more(len(given) - most)}" if given else ""


def foot(run: RunManifest, layout: str) -> str:
    """The last line of a report: versions, layout, server, time."""
    server = f", Neo4j {run.server.neo4j}, GDS {run.server.gds or 'missing'}" if run.server else ""
    return f"kgeval {escape(run.kgeval)}, layout {code(layout)}{escape(server)}, {escape(run.started)}, {run.seconds:.1f} s"


def fitted(head: Iterable[str], blocks: Iterable[str], tail: Iterable[str]) -> str:
    """Head, blocks and tail as paragraphs, at most MOST_CHARACTERS long: blocks that do not fit are left out from the end, and that is
    said. Empty ones are passed over."""
    first, last = list(head), list(tail)
    room = MOST_CHARACTERS - sum(len(part) + 2 for part in (*first, *last)) - len(_LEFT_OUT)
    return "\n\n".join(part for part in (*first, *_fitting(blocks, room), *last) if part) + "\n"


def _fitting(blocks: Iterable[str], room: int) -> Iterator[str]:
    for block in blocks:
        room -= len(block) + 2
        if room < 0:
            yield _LEFT_OUT
            return
        yield block


def cell(text: str) -> str:
    """A text of our own making in a cell: `< 0.01 %` must not open a tag."""
    return text.replace("<", "&lt;").replace(">", "&gt;")


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A Markdown table; the cells are Markdown already."""
    heads = list(head)
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
