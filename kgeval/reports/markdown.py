"""Parts of Markdown. It reads well as text (`token_f1`, `[0.67, 0.75]`), and no text of users can open a table cell, a link, a mention, an
image or a tag: what has no mark-up stands in a code span, everything else in <code> with its punctuation encoded."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from kgeval.format import number, visible
from kgeval.records import RunManifest

# Encoded: what could be mark-up where it stands. Left as they are: an underscore within a word, a bracket that no link or note can follow
# from, a star between blanks, `<` and `&` before a blank or a digit, `$` before a digit (GitHub's formulas close with one that no digit
# follows), a colon that no link or emoji can follow from, `@` within a word that is no address.
_INTERVAL = r"\[[-+<> ]*[\d.,]+(?: %)?, [-+<> ]*[\d.,]+(?: %)?\](?![(\[:])"
_AT = r"(?<![A-Za-z0-9_])@"  # a mention begins after any other character, a letter of another script too: GitHub's filter is ASCII
_MARKS = re.compile(
    rf"[\\`|~]|@(?=[\w-]*\.)|{_AT}|(?<![^\W_])_|_(?![^\W_])|(?<!\s)\*|\*(?!\s|$)"
    r"|^(?:[*#]|>(?!=? ?-?\d)|[+-](?=\s)|\[(?![-+<>\d]))|\](?=[(\[:\]]|$)"
    r"|#(?=\d)|[<&](?![\s\d.=])|\$(?!\d)|:(?=//)|(?<!\d):(?=[\w+-]+:)|(?<=mailto):|(?<=[wW]{3})\."
)
_SPARED = re.compile(f"({_INTERVAL})")
_PLAIN = re.compile(rf"(?!.*(?:://|www\.|{_AT}))[^`|\\$<]+", re.IGNORECASE | re.ASCII)  # literal in a code span, in tables too
_MENTION = re.compile(rf"{_AT}\w")
_EVERY = re.compile(r"[\\`*{}\[\]<>#|!&~@$^]|(?<![^\W_])_|_(?![^\W_])|:(?=[^\s\d])|(?<=[wW]{3})\.")
MOST_CHARACTERS = 60_000  # a comment on GitHub holds 65,536
_LEFT_OUT = "*More stands in the HTML and JSON reports: a comment must not become longer.*"


def escape(text: str, *, longest: int = 200) -> str:
    """The text on one line; what Markdown or HTML would take for mark-up stands as character references."""
    parts = _SPARED.split(visible(text, longest=longest))  # every second one is an interval
    return "".join(part if at % 2 else _MARKS.sub(_reference, part) for at, part in enumerate(parts))


def code(text: str, *, longest: int = 100) -> str:
    """A text of the graph's as code, where no renderer looks for mentions or links: in backticks, or escaped in <code>."""
    line = visible(text, longest=longest)
    return f"`{line}`" if _PLAIN.fullmatch(line) else f"<code>{_EVERY.sub(_reference, line)}</code>"


def _reference(mark: re.Match[str]) -> str:
    return f"&#{ord(mark[0])};"


def prose(text: str, *, longest: int = 300) -> str:
    """A sentence that may quote the graph or the server: in <code> only where a renderer could find a mention in it."""
    return code(text, longest=longest) if _MENTION.search(text) else escape(text, longest=longest)


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


def version_line(run: RunManifest) -> str:
    """The last line of a report that no single graph or server stands behind: version and time."""
    return f"kgeval {escape(run.kgeval)}, {escape(run.started)}"


def fitted(head: Iterable[str], blocks: Iterable[str], tail: Iterable[str], *, most: int = MOST_CHARACTERS) -> str:
    """Head, blocks and tail as paragraphs, at most `most` characters long: blocks that do not fit are left out from the end, and that is
    said. Empty ones are passed over."""
    first, last = list(head), list(tail)
    room = most - sum(len(part) + 2 for part in (*first, *last)) - len(_LEFT_OUT)
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
