"""A document in Markdown, short enough for a comment on a pull request.

It reads well as text (`token_f1`, `[0.67, 0.75]`), and no text of users can open a table cell, a link, a mention, an image or a tag: what
has no mark-up stands in a code span, everything else in <code> with its punctuation encoded.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Sequence

from kgeval.format import number, visible
from kgeval.reports.document import (
    Block,
    Cards,
    Cell,
    Code,
    Details,
    Document,
    Items,
    Raw,
    Section,
    Table,
    Text,
    as_cell,
    columns,
    first,
    sections_of,
    shown,
    text_columns,
    with_note,
)

LONGEST = 900  # characters of a sentence
NOTES = 10

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


def render(doc: Document) -> str:
    """The document's longer form, at most MOST_CHARACTERS long: of a section that does not fit the last blocks are left out, or all of
    them, and that is said. One that holds code is never cut: half a list of statements is of no use to who copies them."""
    name = f": {code(doc.name)}" if doc.name else ""
    lead, *others = [_sentence(line) for line in doc.lead] or [""]
    sections = sections_of(doc, "md")
    head = [
        f"# {escape(doc.title)}{name}", _sentence(doc.about) if doc.about else "", f"**{lead}**" if lead else "",
        "\n".join(f"- {line}" for line in others),
    ]
    tail = [*(_sentence(line) for line in doc.foot), _notes(doc.notes), _sentence(doc.end) if doc.end else ""]
    holds_code = any(isinstance(block, Code) for section in sections for block in section.blocks)
    room = sys.maxsize if holds_code else MOST_CHARACTERS - sum(len(part) + 2 for part in (*head, *tail, _LEFT_OUT))
    return _joined([*head, *_fitting(map(_parts, sections), room), *tail]) + "\n"


def _parts(section: Section) -> list[str]:
    """A heading with its first block, so that none is left alone; then a block each. A folded section is one part: whole, or left out."""
    blocks = [text for block in section.blocks if (text := _block(block))]
    hint = _sentence(section.hint) if section.hint else ""
    if blocks and section.folded:
        return [f"<details><summary>{escape(section.title)}</summary>\n\n{_joined([hint, *blocks])}\n\n</details>"]
    heading = f"## {escape(section.title)}" if section.title else ""
    return [_joined([heading, hint, blocks[0]]), *blocks[1:]] if blocks else []


def _block(block: Block) -> str:
    match block:
        case Text():
            return f"**{_sentence(block.text)}**" if block.style == "lead" else _sentence(block.text)
        case Items():
            items, left = first(block.items, block.long)
            lines = [
                (f"{at}. " if block.ordered else "- ") + _cell(as_cell(item), block.longest or 600) for at, item in enumerate(items, 1)
            ]
            name = _sentence(block.title) if block.title else ""
            return _joined([name, "\n".join(lines), more(left)]) if lines else ""
        case Table():
            return _table(block)
        case Cards():
            return _table(columns(block.cards, {
                "Figure": lambda card: card.title,
                "Value": lambda card: card.value or "not measured",
                "What it says": lambda card: " ".join(filter(None, [card.band and f"{card.band}.", card.what])),
            }))
        case Code():
            fence = "`" * max(3, 1 + max((len(run) for run in block.text.split() if set(run) == {"`"}), default=0))
            return _joined([_heading(block.title), f"{fence}{block.language}\n{block.text}\n{fence}"])
        case Details():
            title = f"{escape(block.title)} {escape(block.amount) if block.amount else ''}".strip()
            parts = _joined(map(_block, shown(block.blocks, "md")))
            return f"<details><summary>{title}</summary>\n\n{parts}\n\n</details>" if parts else ""
        case Raw():
            return _joined(map(_block, shown(block.text, "md")))
    return ""


def _heading(title: str) -> str:
    return f"### {escape(title)}" if title else ""


def _joined(parts: Iterable[str]) -> str:
    return "\n\n".join(part for part in parts if part)


def _table(block: Table) -> str:
    rows, left = first(block.rows, block.long)
    if not rows:
        return ""
    columns = text_columns(block.head, rows)
    cells = [[_cell(as_cell(row[at]), 300) for at in columns] for row in rows]
    heads = [escape(block.head[at]) if block.head[at] else "" for at in columns]
    lines = ["| " + " | ".join(line) + " |" for line in [heads, ["---"] * len(heads), *cells]]
    room = MOST_CHARACTERS // 2  # of a comment: a table of long names leaves room for the other half of the report
    while len(lines) > 3 and sum(map(len, lines)) > room:
        lines.pop()
        left += 1
    hint = _sentence(block.hint) if block.hint else ""
    cut = f"{number(left)} more are in the HTML and JSON reports." if left > 0 else ""
    return _joined([_heading(block.title), hint, "\n".join(lines), cut])


def _sentence(text: str) -> str:
    """A sentence, in <code> where a renderer could find a mention in it."""
    return prose(text, longest=LONGEST)


def _cell(cell: Cell, longest: int) -> str:
    text = (code(cell.text, longest=160) if cell.user else prose(cell.text, longest=longest)) if cell.text or cell.user else ""
    text = f"**{text}**" if text and cell.tone in ("error", "warning") else text
    apart = "; " if any(one.more or one.note for one in cell.more) else ", "
    text = apart.join(filter(None, [text, *(_cell(one, longest) for one in cell.more)])) + (" *" if cell.best else "")
    return with_note(text, prose(cell.note, longest=longest) if cell.note else "")


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
    """`and 12 more`, a paragraph of its own below a list; "" where nothing is left."""
    return f"and {number(left)} more" if left > 0 else ""


def _notes(notes: Sequence[str]) -> str:
    """The first notes as a list under their heading; "" without notes."""
    lines = "\n".join(f"- {prose(note)}" for note in notes[:NOTES])
    return _joined(["## Notes", lines, more(len(notes) - NOTES)]) if notes else ""


def _fitting(sections: Iterable[Sequence[str]], room: int) -> Iterator[str]:
    cut = False
    for blocks in sections:
        for block in blocks:
            if len(block) + 2 > room:
                cut = True
                break  # the next section may be shorter
            room -= len(block) + 2
            yield block
    if cut:
        yield _LEFT_OUT
