"""How entities are named: by the properties that a layout lists, or by those that are found for each label (`*`).

An entry of `name_keys` is a property, several joined by `+` (`firstName+lastName`), either of them for one label (`Person.fullName`), or
`*`: what no entry before it names is looked at, label by label.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from kgeval.graph.connect import Graph
from kgeval.graph.layouts.catalogue import Catalogue
from kgeval.graph.queries import all_queries
from kgeval.records import LabelName, Layout

FIND = "*"
SAMPLE = 1000
MOST_LABELS = 60  # labels that are looked at one by one; graphs with more have the names that are listed
WEAK = frozenset({"title", "label"})  # a name of a book, but not of an employee
IDS = frozenset({"id", "uuid", "uri", "guid", "iri", "key", "code", "url", "hash", "element", "identifier"})
WHOLE = ("fullname", "displayname", "preferredname", "legalname", "officialname", "commonname")
PARTS = (("firstname", "lastname"), ("givenname", "familyname"), ("forename", "surname"), ("firstname", "surname"), ("first", "last"))
# `...name` properties that hold no name of the entity itself: a part of it, an account's, a file's, a parent's
NOT_OWN = re.compile(r"^(first|last|middle|given|family|maiden|nick|user|file|host|domain|path|contact|ship|parent|group|graph|class|type)")
TITLES = frozenset({"title", "label", "heading", "headline", "caption", "designation"})  # last words of what names a thing, as name does
HEADINGS = frozenset({"heading", "headline", "caption"})  # of these, those that say nothing else: no post, no form of address
# first words of titles that are a person's post or another thing's
NO_TITLE = re.compile(r"^(?:job|work|position|role|post|honou?r|person|academic|parent|group|series|class|type|axis|alt|sort|user|file)")
KEY_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
DATE = re.compile(r"[+-]?\d{4}(?:-\d{1,2}(?:-\d{1,2}.*)?)?|\d{1,2}[./]\d{1,2}[./]\d{2,4}.*|\d{1,2}:\d{2}.*", re.DOTALL)
ID = re.compile(r"(?:[a-z0-9](?:Id|ID|Uuid|UUID)|_(?:id|uuid|key|uri)|^(?:id|uuid)_?.*)$")
NUMBER = re.compile(r"[+-]?\d{1,18}")
IN_A_ROW = 4  # times as many as there are entities: how far apart the numbers are that count them
SHORTEST_TEXT, SHORTEST_NUMBER = 5, 7  # digits of codes
DECIMAL = re.compile(r"[+-]?\d+[.,]\d+")
LEAST_UNIQUE = 20  # entities of which it says something that nearly all values differ, whatever the property is called
REPEATS = 3  # values that may repeat of them, or one in twenty, but never more than one in ten
LONGEST_DETAIL, MOST_DETAILS = 40, 3  # characters, on average, of a property that describes an entity, and such properties
LONGEST_KEY = 100  # characters of a value, on average
LONGEST_NAME = 500  # characters that tell whether a value is a name
WORDS = re.compile(r"^[^\d@/\\]*[^\W\d_]{2,}[^\d@/\\]*$")
NO_NAME = re.compile(r"^(?:\S+@\S+\.\S+|[a-z][a-z0-9+.-]*:\S+|www\.\S+|[0-9a-f-]{16,}|[\d\s:/.,TZ+-]+)$", re.IGNORECASE)


@dataclass(frozen=True)
class KeyUse:
    """A property on the entities of a label: of `looked_at`, how many have it, how many as text, how many values differ, mean length."""

    key: str
    looked_at: int
    filled: int
    texts: int
    values: int
    length: float
    some: Sequence[str] = ()

    @property
    def plain(self) -> str:
        return re.sub(r"[\W_]", "", self.key).lower()

    def is_text(self, *, fill: float, distinct: float) -> bool:
        """Whether enough of the entities have it, as text, and enough values differ."""
        return self.filled >= fill * self.looked_at and self.texts >= 0.9 * self.filled and self.values >= distinct * self.filled

    @property
    def is_key(self) -> bool:
        """Whether it is called like an id and tells nearly all entities apart: one that repeats is a fault, and no less what people know
        the others by."""
        named = self.plain in IDS or ID.search(self.key) is not None
        return named and self.filled >= 0.9 * self.looked_at and self.values >= 0.95 * self.filled

    @property
    def tells_all_apart(self) -> bool:
        """Whether every entity has it, short, and each another value."""
        return self.looked_at == self.filled == self.values and self.length <= LONGEST_KEY

    @property
    def tells_apart(self) -> bool:
        """Whether it tells the entities apart, whatever it is called: nearly all have it, short, and nearly each another value. Of numbers,
        that may be sums or sizes, some repeat only where they count the entities."""
        if self.looked_at < LEAST_UNIQUE or self.length > LONGEST_KEY or self.holds_dates or self._are_all(DECIMAL):
            return False
        repeats = self.filled - self.values
        if self.filled < 0.9 * self.looked_at or repeats > min(0.1 * self.filled, max(REPEATS, 0.05 * self.filled)):
            return False
        return repeats == 0 or not self.are_numbers or self._are_in_a_row or self._are_codes

    @property
    def describes(self) -> bool:
        """Whether it says something of an entity beside others: at least half have it, short, and not all alike."""
        return self.filled >= 0.5 * self.looked_at and self.length <= LONGEST_DETAIL and (self.values > 1 or self.looked_at == 1)

    @property
    def are_numbers(self) -> bool:
        """Whether most values are whole numbers."""
        return self._are_all(NUMBER)

    @property
    def _are_in_a_row(self) -> bool:
        """Whether whole numbers lie as near to each other as those that count the entities."""
        numbers = [int(value) for value in self.some if NUMBER.fullmatch(value)]
        return max(numbers) - min(numbers) <= IN_A_ROW * self.looked_at

    @property
    def _are_codes(self) -> bool:
        """Whether whole numbers have one length, as no sums have: of numbers as text a shorter one tells it."""
        least = SHORTEST_TEXT if self.texts >= 0.9 * self.filled else SHORTEST_NUMBER
        return len({len(value) for value in self.some}) == 1 and len(self.some[0]) >= least

    def _are_all(self, form: re.Pattern[str]) -> bool:
        return bool(self.some) and sum(form.fullmatch(value) is not None for value in self.some) >= 0.9 * len(self.some)

    @property
    def last_word(self) -> str:
        """The last word of what it is called."""
        return last_word(self.key)

    @property
    def holds_dates(self) -> bool:
        """Whether most values are dates, years or times of day."""
        return sum(DATE.fullmatch(value) is not None for value in self.some) > 0.5 * len(self.some)

    @property
    def says_names(self) -> bool:
        """Whether the values are words, and not numbers, codes, addresses or dates."""
        values = [value[:LONGEST_NAME] for value in self.some]
        return sum(WORDS.match(value) is not None and NO_NAME.match(value) is None for value in values) >= 0.8 * max(1, len(values))


def last_word(name: str) -> str:
    """The last word of what a property or label is called, in small letters, without numbers: `short_title`, `shortTitle`; "" for none."""
    words = KEY_WORD.findall(name)
    return words[-1].lower() if words else ""


def bound_names(graph: Graph, layout: Layout, seen: Catalogue) -> Layout:
    """The layout with `name_keys` as plain properties that the database has, `label_names` where these alone do not say it, and what
    describes entities without name and id."""
    entries = [entry for entry in layout.name_keys if entry != FIND]
    parsed = [name for name in (_parsed(entry, seen) for entry in entries) if name]
    listed = [name.keys[0] for name in parsed if name.label is None and len(name.keys) == 1]
    own = [name for name in parsed if name.label is not None or len(name.keys) > 1]
    found = _Discovered(parsed if own else [])
    if FIND in layout.name_keys:
        found = _discovered(graph, layout, listed, own)
    names = found.names
    layout = layout.model_copy(update={"label_details": found.details})
    if not names:
        return layout.model_copy(update={"name_keys": listed or entries, "label_names": []})
    keys = dict.fromkeys(key for name in names if not name.is_id for key in name.keys)
    return layout.model_copy(update={"name_keys": list(keys), "label_names": names})


def _parsed(entry: str, seen: Catalogue) -> LabelName | None:
    """What an entry says; None where the database has no such label or property. A property that is called so comes first."""
    if entry in seen.keys:
        return LabelName(keys=[entry])
    label, _, rest = entry.rpartition(".")
    if label and label not in seen.labels:
        return None
    keys = [rest] if rest in seen.keys else [key for key in map(str.strip, rest.split("+")) if key in seen.keys]
    return LabelName(label=label or None, keys=keys) if keys else None


def spelled(name: LabelName) -> str:
    """The entry of `name_keys` that says the same."""
    return f"{name.label}." * (name.label is not None) + "+".join(name.keys)


@dataclass(frozen=True)
class _Discovered:
    """How entities are named, and by label what describes those without name and id."""

    names: list[LabelName]
    details: dict[str, list[str]] = field(default_factory=dict)


def _discovered(graph: Graph, layout: Layout, listed: list[str], own: list[LabelName]) -> _Discovered:
    """`own` names, and those of each other type label; no others where the listed properties name every label."""
    rows = graph.read(all_queries()["layout-name-use"], {"layout": layout.model_dump(), "keys": listed})
    named = {name.label for name in own}
    rows = [row for row in rows if row["label"] not in named]
    sure = {key for key in listed if key not in WEAK | IDS}  # a name's without a doubt
    if len(rows) > MOST_LABELS or all(
        any(2 * n >= row["entities"] for n, key in zip(row["filled"], listed, strict=True) if key in sure) for row in rows
    ):
        return _Discovered(own)
    label_names: list[LabelName] = []
    details: dict[str, list[str]] = {}
    plain = True  # the list alone comes to the same names
    ranks: Mapping[str, int] = layout.type_label_rank
    labels: list[str | None] = [row["label"] for row in rows]
    for label in sorted(labels, key=lambda label: (label is None, ranks.get(label or "", len(ranks)), label or "")):
        params = {"layout": layout.model_dump(), "label": label, "sample": SAMPLE}
        uses = [KeyUse(**row) for row in graph.read(all_queries()["layout-name-keys"], params)]
        names = chosen(label, uses, listed)
        label_names += names
        if described := described_by(uses):
            details[label or ""] = described
        there = {use.key for use in uses}
        plain = plain and not names[0].is_id and names[0].keys == [key for key in listed if key in there][:1]
    return _Discovered(own if plain else [*own, *label_names], details)


def chosen(label: str | None, uses: Sequence[KeyUse], listed: Sequence[str]) -> list[LabelName]:
    """How the entities of a label are named, best first; an id comes last, and alone where they have no name.

    A listed property; first and last name; a property called like a name; a listed one that is a name only at times; one called like a
    title; any property whose values are words, filled and nearly unique; a heading, where there is no id; an id, which is no date.
    """
    names = _names(label, uses, listed)
    own = f"{(label or '').lower()}id"
    ids = sorted((use for use in uses if use.is_key), key=lambda use: (use.key not in listed, use.plain != own, use.key))
    if not names and not ids:  # none is called like an id: one that tells them apart is one
        ids = sorted((use for use in uses if use.tells_apart), key=_likeness_to_ids)
    if not names and ids and ids[0].key in listed and ids[0].says_names:
        names, ids = [[ids[0].key]], []
    rest = [LabelName(label=label, keys=[ids[0].key], is_id=True)] if ids else []
    return [*(LabelName(label=label, keys=keys) for keys in names), *rest] or [LabelName(label=label, is_id=True)]


def _is_fuller(unique: Sequence[KeyUse], use: KeyUse) -> bool:
    """Whether all have another name, and some have not this one: a species has a scientific name, and may have a common one."""
    return any(one.filled == one.looked_at and one.values == one.filled for one in unique) and use.filled < use.looked_at


def _likeness_to_ids(use: KeyUse) -> tuple[bool, bool, bool, bool, float, str]:
    """The likest first: called so, without spaces, letters beside digits, no value that repeats, short."""
    spaced = sum(" " in value for value in use.some) > 0.5 * len(use.some)
    return not use.plain.endswith("id"), spaced, use.are_numbers, use.values < use.filled, use.length, use.key


def described_by(uses: Sequence[KeyUse]) -> list[str]:
    """The properties that describe an entity that has neither name nor id: those on most of them that differ most."""
    best = sorted((use for use in uses if use.describes), key=lambda use: (use.filled < 0.9 * use.looked_at, -use.values, use.key))
    return sorted(use.key for use in best[:MOST_DETAILS])


def _is_title(use: KeyUse) -> bool:
    """Whether a property is called a title or the like of the thing itself, and its values, that have letters, are no essays or dates."""
    words = sum(any(char.isalpha() for char in value) for value in use.some) >= 0.8 * max(1, len(use.some))
    own = not NOT_OWN.match(use.plain) and not NO_TITLE.match(use.plain) and use.key not in WEAK
    return use.last_word in TITLES and own and words and use.length <= LONGEST_KEY and not use.holds_dates


def _names(label: str | None, uses: Sequence[KeyUse], listed: Sequence[str]) -> list[list[str]]:
    by_key = {use.key: use for use in uses}
    strong = [key for key in listed if key in by_key and key not in WEAK | IDS]
    if any(2 * by_key[key].filled >= by_key[key].looked_at for key in strong):
        return [[key] for key in strong]
    half = {use.plain: use.key for use in uses if use.is_text(fill=0.5, distinct=0)}
    unique = [use for use in uses if use.is_text(fill=0.5, distinct=0.8) and use.plain.endswith("name") and not NOT_OWN.match(use.plain)]
    own = f"{re.sub(r'[^a-z0-9]', '', (label or '').lower())}name"
    for plain in (own, *WHOLE):
        if plain in half and by_key[half[plain]].is_text(fill=0.5, distinct=0.5) and not _is_fuller(unique, by_key[half[plain]]):
            return [[half[plain]]]
    for first, last in PARTS:
        if first in half and last in half:
            return [[half[first], half[last]]]
    weak = [by_key[key] for key in listed if key in WEAK & by_key.keys() and by_key[key].is_text(fill=0.5, distinct=0.5)]
    words = [
        use for use in uses
        if use.is_text(fill=0.9, distinct=0.95) and use.length <= 80 and use.says_names and not use.is_key and use.key not in WEAK
    ]
    titled = [use for use in uses if use.is_text(fill=0.5, distinct=0.5) and _is_title(use)]
    headed = [use for use in uses if use.is_text(fill=0.5, distinct=0) and use.values > 1 and _is_title(use) and use.last_word in HEADINGS]
    if any(use.is_key for use in uses):  # a heading that many share says less than an id
        headed = []
    for some in (unique, weak, titled, words, headed):
        if some:
            # of equals the first by name: `max` takes the largest, so its letters count backwards
            best = max(some, key=lambda use: (use.filled, use.values, [-ord(char) for char in use.key]))
            return [[best.key]]
    return []
