"""Measures a graph against a gold set: candidates, matches, relations, control, report."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import JsonValue

from kgeval.auditing.border import attempt
from kgeval.auditing.completeness import bridging, candidates, documents, figures, listing
from kgeval.auditing.completeness.candidates import Candidates
from kgeval.auditing.completeness.documents import Documents
from kgeval.auditing.completeness.figures import MatchedGold
from kgeval.auditing.completeness.gold import Gold
from kgeval.auditing.completeness.index import RANK
from kgeval.auditing.completeness.match import Sources, add_by_meaning, matches, names_of
from kgeval.auditing.completeness.predicates import Judge
from kgeval.auditing.completeness.relations import crowded, say_something, triple_matches
from kgeval.config import CompletenessOptions
from kgeval.errors import UsageError
from kgeval.graph.connect import Graph
from kgeval.graph.failures import ConnectionLost
from kgeval.graph.queries import all_queries
from kgeval.manifest import Started
from kgeval.records import CompletenessReport, CompletenessScope, Control, Layout, Level, Proportion, RunManifest

if TYPE_CHECKING:
    from kgeval.llm.embed import Embedder

NAME_QUERIES = {"gold-names", "gold-names-by-key"}
NAMELESS = "relation_completeness_with_predicate is left out: the graph's relations carry no names and no descriptions"
ADVICE = {
    "missing-gold-entity": (
        "See whether the source text of these was read at all (chunk-without-entities), then whether the extraction prompt or the "
        "schema leaves their kind out; more gleaning rounds find more of them."
    ),
    "missing-gold-relation": (
        "Where both ends are there, the extractor saw them and not the relation: larger chunks or a relation schema help. Where an "
        "end is missing, mend that first."
    ),
}


@dataclass(frozen=True)
class _Run:
    graph: Graph
    layout: Layout
    options: CompletenessOptions
    embedder: Embedder | None
    control: Gold | None
    progress: Callable[[str], None]

    def judge(self) -> Judge:
        """What compares predicates at this run's levels."""
        chosen = self.options
        return Judge(chosen.levels, fuzzy=chosen.fuzzy, similarity=chosen.similarity, embedder=self.embedder)


def measure(
    graph: Graph, layout: Layout, gold: Gold, options: CompletenessOptions | None = None, *, embedder: Embedder | None = None,
    control: Gold | None = None, progress: Callable[[str], None] = lambda stage: None,
) -> CompletenessReport:
    """The completeness of a graph (bound layout) against a gold set. `options`: how to match; what they say of files is not read here.
    `embedder`: of the embedding level. `control`: gold of another text. The report's `run` has the server and the queries.

    Raises: UsageError: the embedding level without what embeds; QueryError, QueryTimeout, ConnectionLost: the server's; ModelError: the
    embedding model's.
    """
    chosen = options or CompletenessOptions()
    if "embedding" in chosen.levels and embedder is None:
        raise UsageError("the embedding level needs an embedding model", fix="give --embedding-model, or leave the level out")
    run = _Run(graph, layout, chosen, embedder, control, progress)
    progress("documents")
    wanted = () if chosen.whole_graph else gold.documents
    known = documents.resolve(graph, layout, wanted, timeout=chosen.timeout)
    progress("names")
    places = _candidates(run, gold)
    sources = _sources(run, known, places)
    progress("embedding")
    places, sources = _by_meaning(run, gold, known, places, sources)
    found = _found(run, gold, known, places, sources)
    progress("control")
    against, why_not = _control(run, gold, known, places, sources)
    return _report(run, found, known, places, (against, why_not))


def _candidates(run: _Run, gold: Gold) -> Candidates:
    chosen = run.options
    return candidates.find(run.graph, run.layout, gold, chosen.levels, fuzzy=chosen.fuzzy, timeout=chosen.timeout)


def _sources(run: _Run, known: Documents, places: Candidates) -> Sources:
    if not known.scope:
        return {}
    return documents.of_entities(run.graph, run.layout, known, places.element_ids, timeout=run.options.timeout)


def _by_meaning(run: _Run, gold: Gold, known: Documents, places: Candidates, sources: Sources) -> tuple[Candidates, Sources]:
    """Adds the embedding level for what is still unmatched."""
    chosen = run.options
    if "embedding" not in chosen.levels or run.embedder is None:
        return places, sources
    so_far = matches(places, [entity.document for entity in gold.entities], sources, known)
    still = [at for at, match in enumerate(so_far) if match.rank is None and gold.entities[at].document not in known.missing]
    before = places.element_ids
    add_by_meaning(
        places, gold, still, lambda: names_of(run.graph, run.layout, timeout=chosen.timeout), run.embedder, similarity=chosen.similarity,
    )
    places.queries.add("gold-names")
    new = places.element_ids - before
    return places, {**sources, **(documents.of_entities(run.graph, run.layout, known, new, timeout=chosen.timeout) if known.scope else {})}


def _found(run: _Run, gold: Gold, known: Documents, places: Candidates, sources: Sources) -> MatchedGold:
    entities = matches(places, [entity.document for entity in gold.entities], sources, known)
    run.progress("relations")
    triples = triple_matches(run.graph, run.layout, gold, entities, run.judge(), timeout=run.options.timeout)
    return MatchedGold(gold, entities, triples, say_something(run.layout, triples))


def _control(
    run: _Run, gold: Gold, known: Documents, places: Candidates, sources: Sources,
) -> tuple[Control | None, str | None]:
    """Gold that should not be there: a file's, else each document's gold among the entities of the next document."""
    if run.control is not None:
        return _control_of_file(run, run.control), None
    order = sorted(known.known)
    if len(order) < 2:
        return None, "a control needs gold of two documents that the graph knows, or --control FILE with gold of another text"
    following = dict(zip(order, order[1:] + order[:1], strict=True))
    chosen = [at for at, entity in enumerate(gold.entities) if entity.document in following]
    wanted = [following.get(entity.document or "", "") for entity in gold.entities]
    level = figures.verdict_level(run.options.levels)
    entities = matches(places, wanted, sources, known, up_to=RANK[level] + 1)
    triples = triple_matches(run.graph, run.layout, gold, entities, Judge(()), timeout=run.options.timeout)
    rows = [at for at, triple in enumerate(gold.triples) if triple.document in following]
    coverage = MatchedGold(gold, entities, triples).coverage(level, chosen, rows)
    how = f"each document's gold among the entities of the next of {len(order)} documents, {level} level"
    return Control(how=how, entity_coverage=coverage.entity_coverage, relation_completeness=coverage.relation_completeness), None


def _control_of_file(run: _Run, gold: Gold) -> Control:
    places = _candidates(run, gold)
    entities = matches(places, [None] * len(gold.entities), {}, Documents())
    triples = triple_matches(run.graph, run.layout, gold, entities, Judge(()), timeout=run.options.timeout)
    level = figures.verdict_level(run.options.levels)
    coverage = MatchedGold(gold, entities, triples).coverage(level)
    names = ", ".join(path.name for path in gold.inputs)
    return Control(
        how=f"gold of another text ({names}) in the whole graph, {level} level", entity_coverage=coverage.entity_coverage,
        relation_completeness=coverage.relation_completeness,
    )


def _bridging(run: _Run, found: MatchedGold, level: Level) -> tuple[dict[str, Proportion], list[bool | None], list[str]]:
    """The shares of bridging triples, the flag of each triple, and why a part is missing."""
    ids = {i for match in found.entities for i in match.ids}
    if not found.gold.triples or not ids:
        return {}, [None] * len(found.gold.triples), []
    shares: dict[str, Proportion] = {}
    flags: list[bool | None] = [None] * len(found.gold.triples)
    notes = []
    done = attempt(lambda: bridging.communities_of(run.graph, run.layout, ids, timeout=run.options.timeout))
    if done.failure and done.failure.lost:
        raise ConnectionLost(done.failure.reason, fix="see whether the server still runs, then run the command again")
    if done.value:
        flags = bridging.across(found.gold, found.entities, done.value)
        shares["communities"] = found.share_of(flags, level, value=True)
        shares["within_communities"] = found.share_of(flags, level, value=False)
    else:
        notes.append(f"bridging by community is left out: {done.failure.reason if done.failure else 'no relation joins two entities'}")
    if any(triple.document is None for triple in found.gold.triples):
        across = bridging.across_documents(found.gold, found.entities, _links(run, ids))
        shares["documents"] = found.share_of(across, level, value=True)
        flags = [a or b if a is not None or b is not None else None for a, b in zip(flags, across, strict=True)]
    else:
        notes.append("bridging by document is left out: every gold triple names the one document that both its ends are looked for in")
    return shares, flags, notes


def _links(run: _Run, ids: set[str]) -> Sources:
    return bridging.documents_of(run.graph, run.layout, ids, timeout=run.options.timeout)


def _report(
    run: _Run, found: MatchedGold, known: Documents, places: Candidates, control: tuple[Control | None, str | None],
) -> CompletenessReport:
    options, gold = run.options, found.gold
    level = figures.verdict_level(options.levels)
    run.progress("bridging")
    shares, flags, why_not = _bridging(run, found, level)
    refs = listing.references(run.graph, run.layout, found, timeout=options.timeout)
    items = [*listing.entity_items(found, refs), *listing.relation_items(found, refs, flags)]
    levels = {name: found.coverage(name) for name in options.levels}
    told = [*why_not, *crowded(found.entities), *([] if found.named else [NAMELESS])]
    scope: CompletenessScope = "documents" if known.scope else "whole_graph" if options.whole_graph or not gold.documents else "unmatched"
    notes = [*([known.note] if known.note else []), *told, figures.INTERVAL]
    return CompletenessReport(
        graph=run.layout.scope_value, run=_manifest(run, places), layout=run.layout, gold=gold.summary(), verdict_level=level,
        scope=scope, settings=_settings(run, places), levels=levels, apart={name: found.apart(name) for name in options.levels},
        by_type=found.by_type(level), by_document=found.by_document(level), by_predicate=found.by_predicate(level), bridging=shares,
        control=control[0], control_missing=control[1],
        verdicts=figures.verdicts(levels[level], level, banded=scope != "unmatched") if gold.entities else [],
        matched=[item for item in items if item.level], missing=[item for item in items if not item.level],
        findings=listing.findings(items, level, limit=options.examples, advice=ADVICE), notes=notes,
    )


def _settings(run: _Run, places: Candidates) -> dict[str, JsonValue]:
    return {
        "levels": [str(level) for level in run.options.levels], "fuzzy": run.options.fuzzy,
        "similarity": run.options.similarity if run.embedder else None, "embedding_model": run.embedder.name if run.embedder else None,
        "names_read": places.names, "by_index": places.by_index,
    }


def _manifest(run: _Run, places: Candidates) -> RunManifest:
    left_out = NAME_QUERIES - places.queries
    asked = [q for q in all_queries().values() if q.name.startswith("gold-") and q.name not in left_out]
    return Started("completeness", {}).manifest(server=run.graph.info, hashes={query.name: query.sha256 for query in asked})
