"""Fact retention: how many gold sentences follow from what the graph holds near them [MINE, of the KGGen paper].

For each sentence: the k entities nearest by embedding of name and description, the relations up to h hops around them, and a
judge who says whether the sentence follows from these relations alone. A sentence without a verdict is unscored with its cause.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import JsonValue

from kgeval.auditing.completeness.fact_files import Fact
from kgeval.auditing.completeness.figures import proportion
from kgeval.auditing.graph_reader import GraphReader, batched
from kgeval.errors import UsageError
from kgeval.graph.connect import Graph
from kgeval.graph.queries import all_queries
from kgeval.llm.calls import Outcome, Reply, Task
from kgeval.records import FactRetention, FactVerdict, Layout

if TYPE_CHECKING:

    from kgeval.llm.embed import Embedder
    from kgeval.llm.prompts import Prompt
    from kgeval.llm.session import Models

# The entities nearest to given texts by embedding: exact, in flat memory, whatever the size of the graph.

BLOCK = 2_048


@dataclass(frozen=True, slots=True)
class EmbeddedEntity:
    """An entity as it is embedded: element id, name, and the text (name and description)."""

    element_id: str
    name: str
    text: str


@dataclass(frozen=True, slots=True)
class NearEntity:
    """An entity near a text; `similarity`: cosine."""

    element_id: str
    name: str
    similarity: float


def entities(graph: Graph, layout: Layout, *, timeout: float | None) -> Iterator[EmbeddedEntity]:
    """Every entity of the graph with its text, streamed."""
    for row in graph.stream(all_queries()["fact-entities"], {"layout": layout.model_dump()}, timeout=timeout):
        about = (row["description"] or "").strip()
        yield EmbeddedEntity(row["element_id"], row["name"], f"{row['name']}: {about}" if about else row["name"])


def nearest(texts: Sequence[str], among: Iterable[EmbeddedEntity], embedder: Embedder, *, k: int) -> list[list[NearEntity]]:
    """For each text the `k` entities of highest cosine, best first; equal ones by name, then element id.

    Entities are embedded block by block (the embedder keeps each vector in its cache on disk, so a second run embeds nothing), and
    only the best so far are kept: memory is that of one block.
    """
    import numpy as np

    best: list[list[NearEntity]] = [[] for _ in texts]
    wanted = embedder.embed(texts)
    for block in batched(among, BLOCK):
        scores_by_text = np.round(wanted @ embedder.embed([entity.text for entity in block]).T, 6)  # the last bits depend on the block
        for number, scores in enumerate(scores_by_text):
            so_far = best[number]
            # below every cosine: all are taken until there are k
            floor = so_far[-1].similarity if len(so_far) == k else -2.0
            if len(block) > k:
                floor = max(floor, float(np.partition(scores, -k)[-k]))
            places = np.flatnonzero(scores >= floor).tolist()
            new = [NearEntity(block[place].element_id, block[place].name, float(scores[place])) for place in places]
            best[number] = sorted([*so_far, *new], key=lambda near: (-near.similarity, near.name, near.element_id))[:k]
    return best


PROMPT = "judge-fact"
NOTHING = "no relation of the graph is near it"


class FactReply(Reply):
    """What the judge says of one sentence."""

    reason: str
    follows: bool


@dataclass(frozen=True)
class FactOptions:
    """How much of the graph the judge sees of a sentence. `most`: relations an entity at most; `triples`: relations in all.

    `timeout`: seconds a query.
    """

    top_k: int = 8
    hops: int = 2
    most: int = 50
    triples: int = 200
    timeout: float = 3600.0

    def __post_init__(self) -> None:
        if not 1 <= self.top_k <= 100:
            raise UsageError(f"--top-k {self.top_k}: not between 1 and 100", fix="8 is usual")
        if not 1 <= self.hops <= 4:
            raise UsageError(f"--hops {self.hops}: not between 1 and 4", fix="2 is usual; each hop multiplies what the judge reads")


@dataclass(frozen=True)
class Context:
    """A sentence with the relations near it, nearest hop first. `cut`: relations that did not fit.

    `partly`: not even all relations near it were read: an entity has more than `most`, or a hop leads to too many entities.
    """

    fact: Fact
    triples: tuple[str, ...]
    cut: int = 0
    partly: bool = False


def fact_retention(graph: Graph, layout: Layout, facts: Sequence[Fact], models: Models, embedder: Embedder,
                   *, options: FactOptions | None = None) -> FactRetention:
    """The share of the sentences that follow from the graph; `n` is the number of sentences given, never of those judged.

    A sentence with no relation near it does not follow, and the judge is not asked.

    Raises: QueryError, QueryTimeout, ConnectionLost: the server's; ModelError: a model cannot be used at all.
    """
    options = options or FactOptions()
    contexts: list[Context] = []

    def asked() -> Iterator[Task[FactReply]]:
        for context in fact_contexts(graph, layout, facts, embedder, options=options):
            contexts.append(context)
            if context.triples:
                yield _task(context, prompt)

    prompt = models.prompt(PROMPT)
    outcomes = {outcome.id: outcome for outcome in models.ask_all(asked(), total=len(facts))}
    verdicts = [_verdict(context, outcomes.get(context.fact.id)) for context in contexts]
    n, kept = len(verdicts), sum(verdict.value is True for verdict in verdicts)
    scored = sum(verdict.value is not None for verdict in verdicts)
    causes = Counter[str](outcome.failure.cause for outcome in outcomes.values() if outcome.value is None and outcome.failure)
    if lost := n - scored - causes.total():
        causes["missing_item"] = lost
    # unscored sentences count in the bounds only: as if none of them followed, and as if all did
    return FactRetention(
        k=options.top_k, hops=options.hops, n=n, n_scored=scored, retention=proportion(kept, scored),
        bound_low=kept / n if n else 0.0, bound_high=(kept + n - scored) / n if n else 1.0, failures=dict(sorted(causes.items())),
        embedding_model=embedder.name, judge=models.endpoint.model, facts=verdicts, notes=_notes(contexts, options),
    )


def fact_tasks(graph: Graph, layout: Layout, facts: Sequence[Fact], prompt: Prompt, embedder: Embedder,
               *, options: FactOptions | None = None) -> Iterator[Task[FactReply]]:
    """The questions that fact_retention would ask, for a dry run. Texts are embedded; no judge is asked."""
    for context in fact_contexts(graph, layout, facts, embedder, options=options or FactOptions()):
        if context.triples:
            yield _task(context, prompt)


def fact_contexts(graph: Graph, layout: Layout, facts: Sequence[Fact], embedder: Embedder, *, options: FactOptions) -> Iterator[Context]:
    """What the judge sees of each sentence, in the order of the sentences."""
    among = entities(graph, layout, timeout=options.timeout)
    nearest_of = nearest([fact.text for fact in facts], among, embedder, k=options.top_k)
    reader = GraphReader(graph, layout, options.timeout)
    for fact, near in zip(facts, nearest_of, strict=True):
        yield _context(reader, fact, [entity.element_id for entity in near], options)


def _notes(contexts: Sequence[Context], options: FactOptions) -> list[str]:
    """What a reader should know of the contexts: those that were cut, and those that are empty."""
    cut, empty = sum(context.cut > 0 for context in contexts), sum(not context.triples for context in contexts)
    notes = [f"{cut} facts had more than {options.triples} relations near them: the judge saw {options.triples}"] if cut else []
    partly = sum(context.partly for context in contexts)
    if partly:
        notes.append(
            f"{partly} facts are near entities with more than {options.most} relations, or with more than {options.triples} "
            "neighbours in a hop: not all of those were read"
        )
    return notes + ([f"{empty} facts had no relation near them: they do not follow, and the judge was not asked"] if empty else [])


def _context(reader: GraphReader, fact: Fact, frontier: list[str], options: FactOptions) -> Context:
    """Relations around the nearest entities (`frontier`), hop by hop; within a hop those that share most words with the sentence first."""
    from rapidfuzz import fuzz

    seen, partly = set(frontier), False
    relations: dict[str, tuple[int, str]] = {}  # by relation the first hop that reaches it, and its text
    for hop in range(1, options.hops + 1):
        if not frontier:
            break
        if len(relations) >= 10 * options.triples:  # more than enough to choose from: a hop more would only take time
            partly = True
            break
        reached: set[str] = set()
        rows: Counter[str] = Counter()
        for row in reader.rows("fact-relations", ids=frontier, most=options.most + 1):  # one more tells that there is more
            rows[row["element_id"]] += 1
            if rows[row["element_id"]] > options.most:
                partly = True
            else:
                relations.setdefault(row["relation"], (hop, row["said"]))
                reached |= {row["other"]} - seen
        seen |= reached
        partly |= hop < options.hops and len(reached) > options.triples
        frontier = sorted(reached)[: options.triples]
    lines: dict[str, int] = {}
    for hop, text in relations.values():
        lines.setdefault(text, hop)
    wanted = fact.text.casefold()
    ordered = sorted(lines, key=lambda text: (lines[text], -fuzz.token_set_ratio(text.casefold(), wanted), text))
    return Context(fact, tuple(ordered[: options.triples]), max(0, len(ordered) - options.triples), partly)


def _task(context: Context, prompt: Prompt) -> Task[FactReply]:
    slots: dict[str, JsonValue] = {"fact": context.fact.text, "triples": list[JsonValue](context.triples)}
    return Task(id=context.fact.id, prompt=prompt, slots=slots, reply=FactReply, stage=PROMPT)


def _verdict(context: Context, outcome: Outcome[FactReply] | None) -> FactVerdict:
    value, reason = None, None
    if not context.triples:
        value, reason = False, NOTHING
    elif outcome is not None and outcome.value is not None:
        value, reason = outcome.value.follows, outcome.value.reason.strip()[:1000] or None
    else:
        failure = outcome.failure if outcome else None
        reason = f"{failure.cause}: {failure.detail}".rstrip(": ") if failure else "missing_item"
    fact = context.fact
    return FactVerdict(id=fact.id, fact=fact.text, document=fact.document, value=value, reason=reason, retrieved=list(context.triples))
