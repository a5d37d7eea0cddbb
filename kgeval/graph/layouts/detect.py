"""Which layout a database follows, and why: what was seen, what was counted, what speaks against."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from kgeval.errors import LayoutError
from kgeval.graph.connect import Graph
from kgeval.graph.layouts.catalogue import Catalogue, catalogue
from kgeval.graph.layouts.nodes import bind_nodes, counted_roles
from kgeval.graph.layouts.profile import Profile, profiles
from kgeval.graph.layouts.scope import scopes
from kgeval.graph.layouts.signals import Signals
from kgeval.graph.queries import all_queries
from kgeval.records import Record

Fit = Literal["fits", "perhaps", "no"]
FOREIGN_SHARE = 0.05  # nodes that a layout does not see at all: above this share they speak against it


class Candidate(Record):
    """One layout on one database. `roles` counts nodes as entities, chunks, documents, structure and unseen; `share` is the
    share of all nodes that play a role (0..1). Both are null for layouts that do not fit. `graphs`: name -> entities."""

    name: str
    fit: Fit
    evidence_for: list[str] = Field(default_factory=list)
    evidence_against: list[str] = Field(default_factory=list)
    roles: dict[str, int] | None = None
    share: float | None = None
    graphs: dict[str, int] = Field(default_factory=dict)


class Detection(Record):
    """All layouts, best first. `choice` is the one that fits; null if none or several do. `reason` says why in words."""

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
    judged = _without_fallbacks([_judge(profile, signals) for profile in known.values()])
    looked = [_counted(graph, known[c.name], seen, c) if c.fit != "no" else c for c in judged]
    rest = Candidate(name="generic", fit="no", evidence_for=["fits any graph, knows no writer"])
    choice, reason = _choice(looked, name)
    if not any(c.fit != "no" for c in looked):
        rest = _counted(graph, generic, seen, rest)
        if rest.roles and rest.roles["entities"]:
            rest = rest.model_copy(update={"fit": "perhaps"})
            choice, reason = "generic", "no writer's layout fits: every label that is not known structure is taken as an entity's"
    ranked = sorted(looked, key=lambda c: ({"fits": 0, "perhaps": 1, "no": 2}[c.fit], c.name != choice, -len(c.evidence_for), c.name))
    at = sum(c.fit != "no" for c in ranked)
    candidates = [*ranked[:at], rest, *ranked[at:]]
    return Detection(choice=choice, reason=reason, database=seen.describe(), source=seen.source, candidates=candidates)


def misfit(graph: Graph, profile: Profile, seen: Catalogue) -> LayoutError | None:
    """Why a layout that was named cannot be that of this database: nothing of what it needs is there. Null where something is, or where the
    layout says nothing of what it needs (a file of the user's, generic)."""
    signals, rules = Signals(graph, seen), profile.detect
    wanted = [signals.see(one) for one in rules.needs or [*rules.marks, *rules.fallback]]
    if not wanted or any(one.holds for one in wanted):
        return None
    found = detect(graph, seen=seen)
    fitting = [found.choice] if found.choice else [one.name for one in found.tied]
    return LayoutError(
        f"layout '{profile.name}' does not fit this database: {', '.join(one.text for one in wanted)}. It holds {seen.describe()}",
        fix=f"use --layout {' or '.join(fitting)}: {found.reason}" if fitting else "kgeval layout init writes a layout for this database",
    )


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


def _without_fallbacks(judged: list[Candidate]) -> list[Candidate]:
    """A layout that fits by its fallback only counts if none fits by its marks."""
    if not any(c.fit == "fits" for c in judged):
        return judged
    return [c.model_copy(update={"fit": "no"}) if c.fit == "perhaps" else c for c in judged]


def _counted(graph: Graph, profile: Profile, seen: Catalogue, candidate: Candidate) -> Candidate:
    """The candidate with its nodes counted by role, its graphs, and what it does not see as evidence against it."""
    graphs = scopes(graph, profile.layout, seen) if profile.scope_label or profile.scope_property else {}
    try:
        bound, _ = bind_nodes(graph, profile.layout, next(iter(graphs), None), seen)
    except LayoutError as cause:
        against = [*candidate.evidence_against, cause.message]
        return candidate.model_copy(update={"fit": "no", "evidence_against": against, "graphs": graphs})
    if len(graphs) > 1:
        entities = _all_scopes(bound.entity_labels, graphs)
        bound = bound.model_copy(update={"scope_label": None, "scope_property": None, "entity_labels": entities})
    roles = counted_roles(graph, bound)
    share = 1 - roles["unseen"] / seen.nodes
    against = list(candidate.evidence_against)
    if roles["unseen"] > FOREIGN_SHARE * seen.nodes:
        rows = graph.read(all_queries()["layout-unseen"], {"layout": bound.model_dump(), "sample": 3})
        examples = ", ".join((":".join(label[:40] for label in row["labels"]) or "no label") for row in rows)
        against.append(f"{roles['unseen']:,} of {seen.nodes:,} nodes play no role in it ({examples})")
    return candidate.model_copy(update={"roles": roles, "share": share, "graphs": graphs, "evidence_against": against})


def _all_scopes(labels: list[str], graphs: dict[str, int]) -> list[str]:
    """Where the scope's label is the entity label (LightRAG), all graphs' labels together."""
    return list(graphs) if set(labels) <= set(graphs) else labels


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


def _playing(one: Candidate) -> str:
    """`1,200 of 1,204 nodes`: those that play a role."""
    roles = one.roles or {}
    return f"{sum(roles.values()) - roles.get('unseen', 0):,} of {sum(roles.values()):,} nodes"
