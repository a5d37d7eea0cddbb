"""Measures a graph against a gold set: candidates, matches, relations, control, report."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING

from kgeval.auditing.attempts import attempt
from kgeval.auditing.completeness import bridging, candidates, documents, figures, listing
from kgeval.auditing.completeness.candidates import BY_KEY_QUERY, NAMES_QUERY
from kgeval.auditing.completeness.documents import GoldDocuments
from kgeval.auditing.completeness.figures import MatchedGold
from kgeval.auditing.completeness.gold import Gold
from kgeval.auditing.completeness.index import RANK
from kgeval.auditing.completeness.match import Match, add_by_meaning, matches, names_of
from kgeval.auditing.completeness.predicates import PredicateJudge
from kgeval.auditing.completeness.relations import crowded, say_something, triple_matches
from kgeval.auditing.graph_reader import GraphReader
from kgeval.config import CompletenessOptions
from kgeval.errors import UsageError
from kgeval.graph.connect import Graph
from kgeval.graph.failures import ConnectionLost
from kgeval.graph.queries import all_queries
from kgeval.manifest import Started
from kgeval.records import CompletenessReport, CompletenessScope, Control, Layout, Level, Proportion

if TYPE_CHECKING:
    from kgeval.llm.embed import Embedder

NAMELESS = "relation_completeness_with_predicate is left out: the graph's relations carry no names and no descriptions"
ADVICE = {
    "missing-gold-entity": (
        "See whether the source text of these was read at all (chunk-without-entities), then whether the extraction prompt or the "
        "schema leaves their kind out; more gleaning rounds find more of them."
    ),
    "missing-gold-relation": (
        "Where both ends are there, the extractor saw them and not the relation: larger chunks or a relation schema help. Where an "
        "end is missing, fix that first."
    ),
}


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
    by_meaning = "embedding" in chosen.levels
    if by_meaning and embedder is None:
        raise UsageError("the embedding level needs an embedding model", fix="give --embedding-model, or leave the level out")
    reader, level = GraphReader(graph, layout, chosen.timeout), figures.verdict_level(chosen.levels)
    progress("documents")
    known = documents.resolve(reader, () if chosen.whole_graph else gold.documents)
    progress("names")
    places = candidates.find(reader, gold, chosen.levels, fuzzy=chosen.fuzzy)
    sources = documents.of_entities(reader, known, places.element_ids)
    wanted = [entity.document for entity in gold.entities]
    progress("embedding")
    if by_meaning and embedder is not None:  # for what no name matched, where its document is there at all
        so_far, before = matches(places, wanted, sources, known), places.element_ids
        still = [position for position, match in enumerate(so_far) if match.rank is None and wanted[position] not in known.missing]
        add_by_meaning(places, gold, still, lambda: names_of(reader), embedder, similarity=chosen.similarity)
        # the names are read once more for their embeddings, whatever answered the levels before
        places.queries.add(NAMES_QUERY)
        sources |= documents.of_entities(reader, known, places.element_ids - before)
    entities = matches(places, wanted, sources, known)
    progress("relations")
    judge = PredicateJudge(chosen.levels, fuzzy=chosen.fuzzy, similarity=chosen.similarity, embedder=embedder)
    triples = triple_matches(reader, gold, entities, judge)
    matched = MatchedGold(gold, entities, triples, say_something(layout, triples))
    progress("control")
    order = sorted(known.known)
    against, no_control = None, None
    if control is not None:
        stray = candidates.find(reader, control, chosen.levels, fuzzy=chosen.fuzzy)
        elsewhere = matches(stray, [None] * len(control.entities), {}, GoldDocuments())
        names = ", ".join(path.name for path in control.inputs)
        against = _control(reader, control, elsewhere, level, f"gold of another text ({names}) in the whole graph, {level} level")
    elif len(order) > 1:  # gold that should not be there: each document's gold among the entities of the next document
        following = dict(zip(order, order[1:] + order[:1], strict=True))
        shifted = matches(places, [following.get(name or "", "") for name in wanted], sources, known, up_to=RANK[level] + 1)
        how = f"each document's gold among the entities of the next of {len(order)} documents, {level} level"
        against = _control(reader, gold, shifted, level, how, of_documents=following.keys())
    else:
        no_control = "a control needs gold of two documents that the graph knows, or --control FILE with gold of another text"
    progress("bridging")
    bridges, flags, left_out = _bridging(reader, matched, level)
    items = listing.gold_items(reader, matched, flags)
    levels = {name: matched.coverage(name) for name in chosen.levels}
    scope: CompletenessScope = "documents" if known.scope else "whole_graph" if chosen.whole_graph or not gold.documents else "unmatched"
    unused = {NAMES_QUERY, BY_KEY_QUERY} - places.queries
    queries = [query for query in all_queries().values() if query.name.startswith("gold-") and query.name not in unused]
    return CompletenessReport(
        graph=layout.scope_value, layout=layout, gold=gold.summary(), verdict_level=level, scope=scope,
        run=Started("completeness", {}).manifest(server=graph.info, hashes={query.name: query.sha256 for query in queries}),
        settings={
            "levels": [str(level) for level in chosen.levels], "fuzzy": chosen.fuzzy,
            "similarity": chosen.similarity if embedder else None, "embedding_model": embedder.name if embedder else None,
            "names_read": places.names, "by_index": places.by_index,
        },
        levels=levels, apart={name: matched.apart(name) for name in chosen.levels},
        by_type=matched.by_type(level), by_document=matched.by_document(level), by_predicate=matched.by_predicate(level), bridging=bridges,
        control=against, control_missing=no_control,
        verdicts=figures.verdicts(levels[level], level, banded=scope != "unmatched") if gold.entities else [],
        matched=[item for item in items if item.level], missing=[item for item in items if not item.level],
        findings=listing.findings(items, level, limit=chosen.examples, advice=ADVICE),
        notes=[
            *([known.note] if known.note else []), *left_out, *crowded(matched.entities), *([] if matched.named else [NAMELESS]),
            figures.INTERVAL,
        ],
    )


def _control(
    reader: GraphReader, gold: Gold, entities: Sequence[Match], level: Level, how: str, *, of_documents: Collection[str] | None = None,
) -> Control:
    """The figures of gold that should not be there. `entities`: where it stands all the same; `of_documents`: only gold of these."""
    triples = triple_matches(reader, gold, entities, PredicateJudge(()))
    chosen = [position for position, entity in enumerate(gold.entities) if of_documents is None or entity.document in of_documents]
    rows = [position for position, triple in enumerate(gold.triples) if of_documents is None or triple.document in of_documents]
    coverage = MatchedGold(gold, entities, triples).coverage(level, chosen, rows)
    return Control(how=how, entity_coverage=coverage.entity_coverage, relation_completeness=coverage.relation_completeness)


def _bridging(reader: GraphReader, found: MatchedGold, level: Level) -> tuple[dict[str, Proportion], list[bool | None], list[str]]:
    """The shares of bridging triples, the flag of each triple, and why a part is missing."""
    ids = {i for match in found.entities for i in match.ids}
    flags: list[bool | None] = [None] * len(found.gold.triples)
    if not flags or not ids:
        return {}, flags, []
    shares: dict[str, Proportion] = {}
    notes = []
    communities = attempt(lambda: bridging.communities_of(reader.graph, reader.layout, ids, timeout=reader.timeout))
    if communities.failure and communities.failure.lost:
        raise ConnectionLost(communities.failure.reason, fix="see whether the server still runs, then run the command again")
    if communities.value:
        flags = bridging.across(found.gold, found.entities, communities.value)
        shares["communities"] = found.share_of(flags, level, value=True)
        shares["within_communities"] = found.share_of(flags, level, value=False)
    else:
        reason = communities.failure.reason if communities.failure else "no relation joins two entities"
        notes.append(f"bridging by community is left out: {reason}")
    if any(triple.document is None for triple in found.gold.triples):
        across = bridging.across_documents(found.gold, found.entities, bridging.documents_of(reader, ids))
        shares["documents"] = found.share_of(across, level, value=True)
        flags = [a or b if a is not None or b is not None else None for a, b in zip(flags, across, strict=True)]
    else:
        notes.append("bridging by document is left out: every gold triple names the one document that both its ends are looked for in")
    return shares, flags, notes
