"""A report as a document, which every form is rendered from (reports/render): pure data, and no form in it. A view (reports/views) makes it
from a record that is redacted already where that was asked for.

Texts are as they come, users' among them: a renderer makes them safe for its form.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from typing import Any, Literal, TypeVar

Form = Literal["text", "md", "html"]  # terminal, Markdown, HTML
Forms = Literal["all", "short", "md", "brief", "long", "page"]  # where a block or section stands
STANDS: dict[Forms, tuple[Form, ...]] = {
    "all": ("text", "md", "html"), "short": ("text",), "md": ("md",), "brief": ("text", "md"), "long": ("md", "html"), "page": ("html",),
}
Tone = Literal["", "error", "warning", "info", "passed", "open", "skipped"]
DASHES = frozenset({"-", "–"})  # what stands in a cell where there is no figure
T = TypeVar("T")


@dataclass(frozen=True)
class Cell:
    """A text of a table, a list or a card.

    `note`: what stands behind or below it (interval, n). `user`: a user's text or a name, which Markdown shows as code. `range`: value, low
    and high of 0..1 as a mark on a line; `bar`: a share of 0..1 as a bar; `svg`: a drawing of our own; they stand in HTML alone. `shade`:
    1 to 10 good, -1 to -10 bad. `tone`: a badge in HTML; bold in Markdown. `best`: apart from all others. `link`: a relative address, for
    HTML. `what`: what a technical word means, in a sentence: in HTML on hover and in print. `more`: what stands with it, each by itself,
    such as the other names of a group.
    """

    text: str
    note: str = ""
    user: bool = False
    range: tuple[float | None, float | None, float | None] | None = None
    bar: float | None = None
    svg: str = ""
    shade: int = 0
    tone: Tone = ""
    best: bool = False
    link: str = ""
    what: str = ""
    more: Sequence[Cell] = ()


@dataclass(frozen=True, kw_only=True)
class Block:
    """What a section is made of. `forms`: where it stands."""

    forms: Forms = "all"

    @property
    def kind(self) -> str:
        """What templates call it: text, items, table, cards, figure, code, details, raw."""
        return type(self).__name__.lower()

    @property
    def empty(self) -> bool:
        """Whether there is nothing in it to show. An iterator is not looked into."""
        content = [getattr(self, name) for name in ("rows", "items", "cards") if hasattr(self, name)]
        return any(isinstance(given, Sized) and not len(given) for given in content)


@dataclass(frozen=True)
class Text(Block):
    """A paragraph. `style`: hint: how to read something; lead: what matters most. `link`: words and a relative address at its end, in
    HTML."""

    text: str
    style: Literal["plain", "hint", "lead"] = "plain"
    link: tuple[str, str] | None = None


@dataclass(frozen=True)
class Items(Block):
    """A list. `short`, `long`: how many a terminal and Markdown show. `longest`: characters of an item, in place of the form's own limit:
    for lines that are composed of names, which are cut each by itself, so that the line keeps its end."""

    items: Iterable[str | Cell]
    title: str = ""
    ordered: bool = False
    short: int = 10
    long: int = 100
    longest: int | None = None


@dataclass(frozen=True)
class Table(Block):
    """A table. `rows` may be an iterator. `words`: the places of the columns that hold words; the others hold figures. The first column is
    the name of the row. `short`, `long`: how many rows a terminal and Markdown show. A column without a head and without texts (marks on a
    line, bars) stands in HTML alone."""

    head: Sequence[str]
    rows: Iterable[Sequence[str | Cell]]
    title: str = ""
    hint: str = ""
    words: frozenset[int] = frozenset({0})
    short: int = 12
    long: int = 100

    def filled(self, keep: Collection[int] = (0,)) -> Table:
        """The table without the columns in which no cell has more than a dash, but for those at the places `keep`."""
        rows = list(self.rows)
        nothing = [Cell(text) for text in ("", *DASHES)]
        kept = [at for at in range(len(self.head)) if at in keep or any(as_cell(row[at]) not in nothing for row in rows)]
        return replace(
            self, head=[self.head[at] for at in kept], rows=[[row[at] for at in kept] for row in rows],
            words=frozenset(place for place, at in enumerate(kept) if at in self.words),
        )


@dataclass(frozen=True)
class Card:
    """A figure by itself. `value` "": there is none, and `what` says why."""

    title: str
    value: str
    what: str = ""
    tone: Tone = ""
    band: str = ""


@dataclass(frozen=True)
class Cards(Block):
    """Figures side by side."""

    cards: Sequence[Card]


@dataclass(frozen=True)
class Figure(Block):
    """A picture of our own drawing, with the numbers behind it. `drawing`: an SVG element, or what makes one: it is asked once, where the
    picture is shown. `names`: what its curves or rows are called, in their order. `data_title`: what `data` is to the picture."""

    drawing: str | Callable[[], str]
    title: str
    hint: str = ""
    names: Sequence[str] = ()
    data: Table | None = None
    data_title: str = "Numbers behind the plot"
    forms: Forms = field(default="page", kw_only=True)

    @cached_property
    def svg(self) -> str:
        return self.drawing if isinstance(self.drawing, str) else self.drawing()


@dataclass(frozen=True)
class Code(Block):
    """A statement or a command to copy. `hint`: how to run it. `id`: of its text, in HTML; `needs`: the id of another one that has to be
    run before: they are copied together."""

    text: str
    title: str = ""
    language: str = "cypher"
    hint: str = ""
    id: str = ""
    needs: str = ""


@dataclass(frozen=True)
class Details(Block):
    """Blocks that are folded in HTML and Markdown. `tone`, `amount`, `chips`: of a finding or an item: how bad, how much, marks. `id`:
    where links lead to; the page's filters hide and show such by their tone."""

    title: str
    blocks: Sequence[Block]
    open: bool = False
    tone: Tone = ""
    badge: str = ""
    amount: str = ""
    chips: Sequence[str] = ()
    id: str = ""
    forms: Forms = field(default="page", kw_only=True)


@dataclass(frozen=True)
class Raw(Block):
    """A part of a page that no other block can say: a template with what it takes. `text`: what stands in its place in the other forms."""

    template: str
    context: dict[str, Any]
    text: Sequence[Block] = ()


@dataclass(frozen=True)
class Section:
    """Blocks under a heading. `wide`: its blocks stand side by side in HTML where there is room. `folded`: in Markdown, where a comment
    must stay short."""

    title: str
    blocks: Sequence[Block]
    hint: str = ""
    id: str = ""
    wide: bool = False
    folded: bool = False
    forms: Forms = "all"


@dataclass(frozen=True)
class Document:
    """A report.

    `title`: what it is; `name`: of what (a graph, a file). `command` and `about`: the first line: what was run and read. `server`: where a
    graph was read, for the terminal alone: reports are handed on, and an address is nobody else's business. `lead`: the outcome, the main
    sentence first; `tone`: how it is; `tally`: counts as badges. `foot`: how to read the figures, what was asked of models. `more`: how to
    get the longer form. `end`: the last line of Markdown, in Markdown.
    """

    title: str
    command: str
    sections: Sequence[Section]
    name: str = ""
    about: str = ""
    server: str = ""
    lead: Sequence[str] = ()
    tone: Tone = ""
    tally: Sequence[tuple[Tone, str]] = ()
    notes: Sequence[str] = ()
    foot: Sequence[str] = ()
    more: str = ""
    end: str = ""


def columns(records: Iterable[T], cells: Mapping[str, Callable[[T], str | Cell]], **more: Any) -> Table:
    """A table with a row a record. `cells`: the heads of the columns, and what stands below each of a record; `more`: fields of the
    table."""
    return Table(tuple(cells), [[cell(one) for cell in cells.values()] for one in records], **more)


def as_cell(value: str | Cell) -> Cell:
    return value if isinstance(value, Cell) else Cell(value)


def with_note(text: str, note: str) -> str:
    """`0.71 [0.67, 0.75]`, `96 (n 100)`: a note behind what it is of."""
    return f"{text} {note if note.startswith('[') else f'({note})'}" if text and note else text or note


def first(rows: Iterable[T], most: int) -> tuple[list[T], int]:
    """The first rows, and how many more there are."""
    left = iter(rows)
    return list(islice(left, most)), sum(1 for _ in left)


def shown(given: Iterable[T], form: Form) -> list[T]:
    """The sections or blocks that stand in a form."""
    return [one for one in given if form in STANDS[one.forms]]  # type: ignore[attr-defined]


def sections_of(doc: Document, form: Form) -> list[Section]:
    """The sections that have something in a form, with the blocks that stand there and an id each: no heading stands over an empty
    table."""
    given = [
        replace(one, id=one.id or f"part-{at}", blocks=[block for block in shown(one.blocks, form) if not block.empty])
        for at, one in enumerate(doc.sections, start=1)
    ]
    return [one for one in shown(given, form) if one.blocks]


def text_columns(head: Sequence[str], rows: Sequence[Sequence[str | Cell]]) -> list[int]:
    """The columns that hold texts; the others are drawn in HTML."""
    def filled(at: int) -> bool:
        return any(as_cell(row[at]).text or as_cell(row[at]).note for row in rows)

    return [at for at, name in enumerate(head) if at == 0 or name or filled(at)]
