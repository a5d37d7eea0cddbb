"""A document in Markdown, short enough for a comment on a pull request."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator

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
    first,
    sections_of,
    shown,
    text_columns,
)
from kgeval.reports.markdown import MOST_CHARACTERS, code, elsewhere, escape, fitted, more, notes, prose
from kgeval.reports.markdown import table as table_of

LONGEST = 900  # characters of a sentence


def render(doc: Document) -> str:
    """The document's longer form. One that holds code is never cut: half a list of
    statements is of no use to who copies them."""
    name = f": {code(doc.name)}" if doc.name else ""
    lead, *others = [_sentence(line) for line in doc.lead] or [""]
    head = [
        f"# {escape(doc.title)}{name}", _sentence(doc.about) if doc.about else "", f"**{lead}**" if lead else "",
        "\n".join(f"- {line}" for line in others),
    ]
    tail = [*(_sentence(line) for line in doc.foot), notes(doc.notes), doc.end]
    holds_code = any(isinstance(block, Code) for section in sections_of(doc, "md") for block in section.blocks)
    return fitted(head, _sections(doc), tail, most=sys.maxsize if holds_code else MOST_CHARACTERS)


def _sections(doc: Document) -> Iterator[str]:
    for section in sections_of(doc, "md"):
        yield from _parts(section)


def _parts(section: Section) -> Iterator[str]:
    """A heading with its first block, so that none is left alone; then a block each. A folded section is one part: whole, or left out."""
    blocks = [text for block in shown(section.blocks, "md") if (text := _block(block))]
    hint = _sentence(section.hint) if section.hint else ""
    if blocks and section.folded:
        yield f"<details><summary>{escape(section.title)}</summary>\n\n{_joined([hint, *blocks])}\n\n</details>"
    elif blocks:
        yield _joined([f"## {escape(section.title)}" if section.title else "", hint, blocks[0]])
        yield from blocks[1:]


def _block(block: Block) -> str:
    if isinstance(block, Text):
        return f"**{_sentence(block.text)}**" if block.style == "lead" else _sentence(block.text)
    if isinstance(block, Items):
        items, left = first(block.items, block.long)
        lines = [(f"{at}. " if block.ordered else "- ") + _cell(as_cell(item), block.longest or 600) for at, item in enumerate(items, 1)]
        name = f"{_sentence(block.title)}\n\n" if block.title else ""
        return name + "\n".join(lines) + more(left) if lines else ""
    if isinstance(block, Table):
        return _table(block)
    if isinstance(block, Cards):
        return _table(Table(("Figure", "Value", "What it says"), [
            (card.title, card.value or "not measured", " ".join(filter(None, [card.band and f"{card.band}.", card.what])))
            for card in block.cards
        ]))
    if isinstance(block, Code):
        fence = "`" * max(3, 1 + max((len(run) for run in block.text.split() if set(run) == {"`"}), default=0))
        name = f"### {escape(block.title)}\n\n" if block.title else ""
        return f"{name}{fence}{block.language}\n{block.text}\n{fence}"
    if isinstance(block, Details):
        title = f"{escape(block.title)} {escape(block.amount) if block.amount else ''}".strip()
        parts = _joined(map(_block, shown(block.blocks, "md")))
        return f"<details><summary>{title}</summary>\n\n{parts}\n\n</details>" if parts else ""
    if isinstance(block, Raw):
        return _joined(map(_block, shown(block.text, "md")))
    return ""


def _joined(parts: Iterable[str]) -> str:
    return "\n\n".join(part for part in parts if part)


def _table(block: Table) -> str:
    rows, left = first(block.rows, block.long)
    if not rows:
        return ""
    columns = text_columns(block.head, rows)
    cells = [[_cell(as_cell(row[at]), 300) for at in columns] for row in rows]
    name = f"### {escape(block.title)}\n\n" if block.title else ""
    hint = f"{_sentence(block.hint)}\n\n" if block.hint else ""
    return name + hint + table_of((escape(block.head[at]) if block.head[at] else "" for at in columns), cells) + elsewhere(left)


def _sentence(text: str) -> str:
    """A sentence, in <code> where a renderer could find a mention in it."""
    return prose(text, longest=LONGEST)


def _cell(cell: Cell, longest: int) -> str:
    text = (code(cell.text, longest=160) if cell.user else prose(cell.text, longest=longest)) if cell.text or cell.user else ""
    text = f"**{text}**" if text and cell.tone in ("error", "warning") else text
    apart = "; " if any(one.more or one.note for one in cell.more) else ", "
    text = apart.join(filter(None, [text, *(_cell(one, longest) for one in cell.more)]))
    text += " *" if cell.best else ""
    note = prose(cell.note, longest=longest) if cell.note else ""
    if text and note:
        return f"{text} {note}" if note.startswith("[") else f"{text} ({note})"
    return text or note
