"""Which layout a database follows, and why: what was seen, what was counted, what speaks against."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Literal

from pydantic import Field

from kgeval.errors import LayoutError
from kgeval.graph.binding import bind_query
from kgeval.graph.connect import Graph, Row
from kgeval.graph.layouts.catalogue import Catalogue, catalogue
from kgeval.graph.layouts.nodes import bind_nodes, counted_roles, excluded_labels
from kgeval.graph.layouts.profile import Profile, profiles
from kgeval.graph.layouts.scope import scopes
from kgeval.graph.pipelining import ReadRequest
from kgeval.graph.queries import all_queries
from kgeval.records import Record

# Signals of a layout in a database: does each hold, and what was counted?

NAMES = ["name", "title", "label", "entity_id", "canonical_name", "uuid"]
SAMPLE = 200


@dataclass(frozen=True)
class ObservedSignal:
    """One signal: whether it holds, and what was seen in words."""

    signal: str
    holds: bool
    text: str


@dataclass
class Signals:
    """Answers signals on one database, each only once, from the catalogue where it can."""

    graph: Graph
    catalogue: Catalogue
    _known: dict[str, ObservedSignal] = field(default_factory=dict)
    _ahead: list[ReadRequest] | None = None  # while it is only seen what will be asked

    def look_ahead(self, wanted: Iterable[Profile]) -> None:
        """Asks in one message what the signals of these layouts need, within `Graph.remembering`."""
        self._ahead = asked = list[ReadRequest]()
        for rules in (profile.detect for profile in wanted):
            for signal in (*rules.needs, *rules.marks, *rules.fallback, *rules.against, *rules.hints):
                with suppress(_NotYet):
                    self._look(signal)
        self._ahead = None
        self.graph.read_ahead(asked)

    def see(self, signal: str) -> ObservedSignal:
        """Whether the signal holds, and what was counted."""
        if signal not in self._known:
            self._known[signal] = ObservedSignal(signal, *self._look(signal))
        return self._known[signal]

    def _look(self, signal: str) -> tuple[bool, str]:
        kind, _, rest = signal.partition(":")
        seen: tuple[bool, str] = getattr(self, "_" + kind.replace("-", "_"))(rest)
        return seen

    def _label(self, label: str) -> tuple[bool, str]:
        return _signal_count(self.catalogue.labels.get(label, 0), f"nodes with label {label}")

    def _type(self, name: str) -> tuple[bool, str]:
        return _signal_count(self.catalogue.types.get(name, 0), f"relations of type {name}")

    def _labels(self, both: str) -> tuple[bool, str]:
        labels = both.split("+")
        count = 0
        if all(label in self.catalogue.labels for label in labels):
            count = self._ask("layout-together", {"labels": labels})["count"]
        return _signal_count(count, f"nodes with labels {' and '.join(labels)}")

    def _link(self, link: str) -> tuple[bool, str]:
        start, _, rest = link.partition("-")
        name, _, end = rest.rpartition("->")
        total = self.catalogue.types.get(name, 0)
        leaving = total if start == "*" else self.catalogue.starts.get((name, start), 0)
        reaching = total if end == "*" else self.catalogue.ends.get((name, end), 0)
        return _signal_count(min(leaving, reaching), f"relations {_node(start)}-[:{name}]->{_node(end)}")

    def _property(self, both: str) -> tuple[bool, str]:
        label, _, key = both.rpartition(".")
        if label not in self.catalogue.labels or key not in self.catalogue.keys:
            return False, f"no {label} with {key}"
        row = self._ask("layout-node-keys", {"label": label, "sample": SAMPLE})
        return _sampled(row, key, f"{label} nodes have {key}")

    def _relation_property(self, both: str) -> tuple[bool, str]:
        name, _, key = both.rpartition(".")
        if (name != "*" and name not in self.catalogue.types) or key not in self.catalogue.keys:
            return False, f"no {'relation' if name == '*' else name} with {key}"
        row = self._ask("layout-relation-keys", {"type": None if name == "*" else name, "sample": SAMPLE})
        return _sampled(row, key, f"{'' if name == '*' else name + ' '}relations have {key}")

    def _index(self, form: str) -> tuple[bool, str]:
        holds = form in self.catalogue.index_forms
        return holds, f"{'an' if holds else 'no'} index on {form}"

    def _holder(self, key: str) -> tuple[bool, str]:
        known = key in self.catalogue.keys
        count = self._ask("layout-key-holders", {"key": key, "type_key": None})["holders"] if known else 0
        return _signal_count(count, f"nodes with property {key}")

    def _typed(self, both: str) -> tuple[bool, str]:
        key, _, type_key = both.partition(".")
        known = {key, type_key} <= self.catalogue.keys
        row = self._ask("layout-key-holders", {"key": key, "type_key": type_key}) if known else {"holders": 0}
        if not row["holders"]:  # the database never forgets the name of a property: what is said must not depend on what once stood there
            return False, f"no nodes with {key} carry their {type_key} as a label"
        text = f"{row['typed']:,} of {row['holders']:,} nodes with {key} carry their {type_key} as a label"
        return row["typed"] * 2 > row["holders"], text

    def _named_by(self, key: str) -> tuple[bool, str]:
        if key not in self.catalogue.keys:
            return _signal_count(0, f"nodes with property {key}")
        row = self._ask("layout-named-by", {"key": key, "others": [n for n in NAMES if n != key], "sample": 1000})
        text = f"{row['count']:,} of {row['looked_at']:,} nodes looked at have {key} and no other name"
        return row["looked_at"] > 0 and row["count"] == row["looked_at"], text

    def _ask(self, query: str, params: Mapping[str, object]) -> Row:
        if self._ahead is not None:
            self._ahead.append(ReadRequest(*bind_query(all_queries()[query], params)))
            raise _NotYet
        return self.graph.read(all_queries()[query], params)[0]


class _NotYet(Exception):
    """What a signal needs is noted, and will be asked."""


def _signal_count(count: int, what: str) -> tuple[bool, str]:
    return count > 0, f"{count:,} {what}" if count else f"no {what}"


def _sampled(row: Row, key: str, what: str) -> tuple[bool, str]:
    """Holds if at least half of the looked-at have the key."""
    count = next((k["count"] for k in row["keys"] if k["key"] == key), 0)
    return count * 2 >= max(row["looked_at"], 1), f"{count:,} of {row['looked_at']:,} {what} (of those looked at)"


def _node(label: str) -> str:
    return "()" if label == "*" else f"(:{label})"


Fit = Literal["fits", "perhaps", "no"]
FOREIGN_SHARE = 0.05  # nodes that a layout does not see at all: above this share they speak against it


class Candidate(Record):
    """One layout on one database. `roles` counts nodes as entities, chunks, documents, structure and unseen; `share` is the
    share of all nodes that play a role (0..1). Both are None for layouts that do not fit. `graphs`: name -> entities."""

    name: str
    fit: Fit
    evidence_for: list[str] = Field(default_factory=list)
    evidence_against: list[str] = Field(default_factory=list)
    roles: dict[str, int] | None = None
    share: float | None = None
    graphs: dict[str, int] = Field(default_factory=dict)


class Detection(Record):
    """All layouts, best first. `choice` is the one that fits; None if none or several do. `reason` says why in words."""

    choice: str | None
    reason: str
    database: str
    source: str
    candidates: list[Candidate]

    @property
    def tied(self) -> list[Candidate]:
        """The layouts that fit equally, if there are several."""
        fitting = [c for c in self.candidates if c.fit == "fits"] or [c for c in self.candidates if c.fit == "perhaps"]
        return fitting if self.choice is None else []


def detect(graph: Graph, name: str | None = None, *, seen: Catalogue | None = None) -> Detection:
    """Which layout the database follows. With `name`, layouts that know a graph of that name come before those that do not.

    An empty database has no choice. A database that no writer's layout fits is `generic`.
    """
    seen = seen or catalogue(graph)
    if seen.nodes == 0:
        return Detection(choice=None, reason="the database is empty", database=seen.describe(), source=seen.source, candidates=[])
    signals = Signals(graph, seen)
    known = profiles()
    generic = known.pop("generic")
    with graph.remembering():
        signals.look_ahead(known.values())
        judged = [_judge(profile, signals) for profile in known.values()]
        return _detected(graph, name, seen, known, generic, judged)


def _detected(
    graph: Graph, name: str | None, seen: Catalogue, known: Mapping[str, Profile], generic: Profile, judged: list[Candidate],
) -> Detection:
    """The layouts that fit looked at, and the choice."""
    if any(c.fit == "fits" for c in judged):  # a layout that fits by its fallback only counts if none fits by its marks
        judged = [c.model_copy(update={"fit": "no"}) if c.fit == "perhaps" else c for c in judged]
    looked = [_counted(graph, known[c.name], seen, c) if c.fit != "no" else c for c in judged]
    rest = Candidate(name="generic", fit="no", evidence_for=["fits any graph, knows no writer"])
    choice, reason = _choice(looked, name)
    if not any(c.fit != "no" for c in looked):
        rest = _counted(graph, generic, seen, rest)
        if rest.roles and rest.roles["entities"]:
            rest = rest.model_copy(update={"fit": "perhaps"})
            choice, reason = "generic", "no writer's layout fits: every label that is not known structure is taken as an entity's"
    ranked = sorted(looked, key=lambda c: ({"fits": 0, "perhaps": 1, "no": 2}[c.fit], c.name != choice, -len(c.evidence_for), c.name))
    first_unfit = sum(c.fit != "no" for c in ranked)
    candidates = [*ranked[:first_unfit], rest, *ranked[first_unfit:]]
    return Detection(choice=choice, reason=reason, database=seen.describe(), source=seen.source, candidates=candidates)


def misfit(graph: Graph, profile: Profile, seen: Catalogue) -> LayoutError | None:
    """Why a layout that was named cannot be that of this database: nothing of what it needs is there. None where something is, or where the
    layout says nothing of what it needs (a file of the user's, generic)."""
    signals, rules = Signals(graph, seen), profile.detect
    expected = [signals.see(signal) for signal in rules.needs or [*rules.marks, *rules.fallback]]
    if not expected or any(signal.holds for signal in expected):
        return None
    counted = ", ".join(signal.text for signal in expected)
    return unfit(graph, seen, f"layout '{profile.name}' does not fit this database: {counted}. It holds")


def unfit(graph: Graph, seen: Catalogue, what: str) -> LayoutError:
    """The error of a layout that finds nothing: what the database holds, and which layout would fit."""
    detection = detect(graph, seen=seen)
    fitting = [detection.choice] if detection.choice else [candidate.name for candidate in detection.tied]
    use = f"use --layout {' or '.join(fitting)}: {detection.reason}"
    return LayoutError(f"{what} {seen.describe()}", fix=use if fitting else "kgeval layout init writes a layout for this database")


def _judge(profile: Profile, signals: Signals) -> Candidate:
    """Whether one layout fits by its signals: all needs, one mark (or every fallback: perhaps), nothing against."""
    rules = profile.detect
    needs, marks, fallback, against, hints = (
        [signals.see(s) for s in part] for part in (rules.needs, rules.marks, rules.fallback, rules.against, rules.hints)
    )
    possible = all(s.holds for s in needs) and not any(s.holds for s in against)
    fit: Fit = "no"
    if possible and any(s.holds for s in marks):
        fit = "fits"
    elif possible and fallback and all(s.holds for s in fallback):
        fit = "perhaps"
    held = [s.text for s in (*needs, *marks, *fallback, *hints) if s.holds]
    missing = [s.text for s in needs if not s.holds] + [s.text for s in marks if not s.holds and fit != "fits"]
    missing += [s.text for s in hints if not s.holds and fit != "no"]
    opposed = [s.text for s in against if s.holds]
    return Candidate(
        name=profile.name, fit=fit, evidence_for=list(dict.fromkeys(held)), evidence_against=list(dict.fromkeys(opposed + missing))
    )


def _counted(graph: Graph, profile: Profile, seen: Catalogue, candidate: Candidate) -> Candidate:
    """The candidate with its nodes counted by role, its graphs, and what it does not see as evidence against it."""
    layout = profile.layout.model_copy(update={"entity_excluded_labels": excluded_labels(profile.layout, seen)})  # as binding asks
    graphs = scopes(graph, layout, seen) if profile.scope_label or profile.scope_property else {}
    try:
        bound, _ = bind_nodes(graph, profile.layout, next(iter(graphs), None), seen)
    except LayoutError as cause:
        against = [*candidate.evidence_against, cause.message]
        return candidate.model_copy(update={"fit": "no", "evidence_against": against, "graphs": graphs})
    if len(graphs) > 1:
        # where the scope's label is the entity label (LightRAG), all graphs' labels together
        entities = list(graphs) if set(bound.entity_labels) <= set(graphs) else bound.entity_labels
        bound = bound.model_copy(update={"scope_label": None, "scope_property": None, "entity_labels": entities})
    roles = counted_roles(graph, bound)
    share = 1 - roles["unseen"] / seen.nodes
    against = list(candidate.evidence_against)
    if roles["unseen"] > FOREIGN_SHARE * seen.nodes:
        rows = graph.read(all_queries()["layout-unseen"], {"layout": bound.model_dump(), "sample": 3})
        examples = ", ".join((":".join(label[:40] for label in row["labels"]) or "no label") for row in rows)
        against.append(f"{roles['unseen']:,} of {seen.nodes:,} nodes play no role in it ({examples})")
    return candidate.model_copy(update={"roles": roles, "share": share, "graphs": graphs, "evidence_against": against})


def _choice(looked: list[Candidate], name: str | None) -> tuple[str | None, str]:
    fitting = [c for c in looked if c.fit == "fits"] or [c for c in looked if c.fit == "perhaps"]
    if name is not None and any(name in c.graphs for c in fitting):
        fitting = [c for c in fitting if name in c.graphs]
    if not fitting:
        return None, "no layout fits"
    if len(fitting) == 1:
        sure = "" if fitting[0].fit == "fits" else " (nothing marks its writer for certain: check with kgeval layout check)"
        return fitting[0].name, f"only {fitting[0].name} fits{sure}"
    parts = "; ".join(f"{c.name} ({_playing(c)}: {c.evidence_for[-1]})" for c in fitting)
    return None, f"{len(fitting)} layouts fit, the database looks like a mixture: {parts}"


def _playing(candidate: Candidate) -> str:
    """`1,200 of 1,204 nodes`: those that play a role."""
    roles = candidate.roles or {}
    return f"{sum(roles.values()) - roles.get('unseen', 0):,} of {sum(roles.values()):,} nodes"
