"""The coverage of a set of questions: shares of a graph's types, predicates, communities, documents, degrees and hop
counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from pydantic import JsonValue

from kgeval.auditing.completeness.documents import NAMED_BY
from kgeval.graph.binding import query_of_graph
from kgeval.graph.queries import all_queries
from kgeval.questions.checking.gates import answered
from kgeval.questions.covering.graph_groups import GraphGroups
from kgeval.questions.covering.placing import PlacedQuestion, QuestionPlacer
from kgeval.records import Gate, Question
from kgeval.records.question_coverage import CoverageFigure, CoverageGroup, CoverageSet, CoverageWays, Facet
from kgeval.stats.thresholds import Threshold

FACETS: Mapping[Facet, str] = {
    "types": "entities", "predicates": "relations", "communities": "entities", "documents": "chunks",
    "degrees": "entities", "hops": "",
}
QUERIES: Mapping[Facet, str] = {
    "types": "coverage-types", "predicates": "coverage-predicates", "communities": "coverage-communities",
    "documents": "coverage-documents", "degrees": "coverage-degrees",
}


@dataclass
class _CoverageTally:
    """Questions by group; `recorded`: those whose file says so."""

    n: int = 0
    groups: Counter[tuple[Facet, str]] = field(default_factory=Counter)
    recorded: Counter[tuple[Facet, str]] = field(default_factory=Counter)
    touching: Counter[Facet] = field(default_factory=Counter)
    ways: Counter[str] = field(default_factory=Counter)
    references: Counter[str] = field(default_factory=Counter)
    documents: Counter[str] = field(default_factory=Counter)
    hops: Counter[str] = field(default_factory=Counter)

    def add(self, placed: PlacedQuestion) -> None:
        self.n += 1
        self.groups.update(placed.groups.keys())
        self.recorded.update(group for group, recorded in placed.groups.items() if recorded)
        self.touching.update({facet for facet, _ in placed.groups})
        self.ways[placed.way] += 1
        self.references.update(placed.references)
        self.documents[placed.documents] += 1
        self.hops[placed.hops] += 1

    def record(self) -> CoverageWays:
        references = {name: self.references[name] for name in ("element_id", "key", "name") if self.references[name]}
        return CoverageWays(
            recorded=self.ways["recorded"], by_names=self.ways["by_names"], nowhere=self.ways["nowhere"],
            references=references,
            lost=self.references["lost"], documents=dict(self.documents.most_common()),
            hops=dict(self.hops.most_common()),
        )


def coverage(questions: Iterable[Question], profile: GraphGroups, file: str, *, examples: int = 10) -> CoverageSet:
    """What a set of questions covers; it is gone through once. `examples`: groups kept of each facet, covered and
    missing each.

    Raises: QueryError, QueryTimeout, ConnectionLost.
    """
    tally = _CoverageTally()
    for placed in QuestionPlacer(profile).of(questions):
        tally.add(placed)
    figures = [_figure(facet, tally, profile, examples) for facet in FACETS]
    result = CoverageSet(file=file, n=tally.n, ways=tally.record(), figures=figures)
    return result.model_copy(update={"notes": _notes(result)})


def _figure(facet: Facet, tally: _CoverageTally, profile: GraphGroups, examples: int) -> CoverageFigure:
    sizes = profile.sizes[facet]
    if facet in profile.reasons or not sizes:
        return CoverageFigure(facet=facet, of=FACETS[facet], reason=profile.reasons.get(facet, "the graph has none"))
    groups = [
        CoverageGroup(
            name=name, size=None if facet == "hops" else size, questions=tally.groups[facet, name],
            recorded=tally.recorded[facet, name],
        ) for name, size in sizes.items()
    ]
    covered = sorted((group for group in groups if group.questions), key=lambda group: (-group.questions, group.name))
    missing = sorted(
        (group for group in groups if not group.questions), key=lambda group: (-(group.size or 0), group.name),
    )
    total_size = sum(sizes.values())
    query = QUERIES.get(facet) if missing else None
    return CoverageFigure(
        facet=facet, of=FACETS[facet], total=len(groups), covered=len(covered), share=len(covered) / len(groups),
        recorded_share=sum(group.recorded > 0 for group in groups) / len(groups),
        size_share=sum(group.size or 0 for group in covered) / total_size if total_size else None,
        questions=tally.touching[facet],
        groups=_shown(facet, covered[:examples], profile), missing=_shown(facet, missing[:examples], profile),
        query=query_of_graph(all_queries()[query], profile.layout) if query else None,
        parameters=_parameters(facet, covered, missing, profile) if query else {},
    )


def _parameters(
    facet: Facet, covered: Sequence[CoverageGroup], missing: Sequence[CoverageGroup], profile: GraphGroups,
) -> dict[str, JsonValue]:
    """What the listing query needs."""
    names: list[JsonValue] = [group.name for group in covered]
    if facet == "communities":
        heads = profile.heads([group.name for group in missing], most=1)
        return {"heads": [own for group in missing for own in heads[group.name]], "most": 10}
    if facet == "degrees":
        return {"ranges": [[int(part) for part in (group.name.split("-") * 2)[:2]] for group in missing]}
    if facet == "documents":
        keys = list(dict.fromkeys(filter(None, [profile.layout.document_key, *NAMED_BY])))
        return {"covered": names, "keys": list[JsonValue](keys)}
    return {"covered": names}


def _shown(facet: Facet, groups: Sequence[CoverageGroup], profile: GraphGroups) -> list[CoverageGroup]:
    """The groups as people read them: a community is called by its best joined entities, a document by its title
    too."""
    if facet == "documents":
        titles = profile.titles
        return [one.model_copy(update={"name": f"{titles[one.name]} ({one.name})"}) if one.name in titles else one for one in groups]
    if facet != "communities" or not groups:
        return list(groups)
    heads = profile.heads([one.name for one in groups])
    parameters = {"layout": profile.layout.model_dump(), "ids": [own for ids in heads.values() for own in ids], "most": 1}
    rows = profile.graph.read(all_queries()["structure-nodes"], parameters, timeout=profile.timeout)
    names = {row["element_id"]: row["name"] for row in rows}
    return [
        one.model_copy(update={"name": ", ".join(names.get(own, own) for own in heads[one.name])}) for one in groups
    ]


def _notes(result: CoverageSet) -> list[str]:
    """What a reader must know of how the questions were found."""
    notes, ways = [], result.ways
    if ways.by_names:
        notes.append(
            f"{ways.by_names:,} of {result.n:,} questions were found by names that their texts mention: a guess, and rather too much "
            "than too little; \"by records\" leaves it out",
        )
    if ways.nowhere:
        notes.append(f"{ways.nowhere:,} of {result.n:,} questions touch no entity of this graph, as far as their records and texts tell")
    if ways.lost:
        notes.append(f"{ways.lost:,} references of the file to entities or relations are not in this graph")
    if (silent := ways.hops.get("nothing", 0)) and result.n:
        notes.append(f"{silent:,} of {result.n:,} questions tell no hop count, neither by hops nor by gold triples")
    return notes


def evaluated(thresholds: Sequence[Threshold], sets: Sequence[CoverageSet]) -> list[Gate]:
    """One result a threshold and set, in the order of the thresholds. `met` None: the graph has no such groups."""
    def met(threshold: Threshold, figure: CoverageFigure) -> bool | None:
        return None if figure.share is None else threshold.met(figure.share)

    files = [(one.file, {str(figure.facet): figure for figure in one.figures}) for one in sets]
    return answered(thresholds, files, met, "the graph has no such groups")
