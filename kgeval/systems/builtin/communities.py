"""Retrieval over communities: the graph's communities are summed up once, each question is put to all summaries (map), and the points
that come back are read together (reduce) [K 6.4, 2.4]. For questions about a collection as a whole, which no path or chunk answers.

The idea is global search of Edge et al. 2024; the prompts and the cut (one level, communities as the audit finds them) are kgeval's.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pydantic import Field, JsonValue

from kgeval.auditing.communities import method_for
from kgeval.auditing.steps.projection import simple_graph
from kgeval.errors import IncompleteError, LayoutError, UsageError
from kgeval.graph.algorithms import missing, node_number
from kgeval.graph.entry import EntityText, EntryReader
from kgeval.llm import tokens
from kgeval.llm.asker import Asker, Later, Live, digest
from kgeval.llm.calls import FilledText, Outcome, Reply, Task
from kgeval.llm.text_table import TextTable
from kgeval.records import Passage
from kgeval.systems.builtin.graph_rag import Edge, about, budgeted
from kgeval.systems.builtin.retrieval import Clock, RetrievalFailed, Retrieved
from kgeval.systems.builtin.settings import Settings
from kgeval.systems.builtin.tools import BuiltinTools

SUM_UP, POINTS = "sum-up-community", "points-of-communities"
SUMMARY_TOKENS = 500  # of a summary at most, as the prompt asks for it: for dry runs, which have none
ENTITIES = 100  # of a community that its summary is made from: those with the most neighbours
RELATIONS = 100  # of one entity that are looked at, as `most` of the graph system
SEED = 0  # of Leiden


class CommunitySummary(Reply):
    """What a community is about."""

    summary: FilledText


class Point(Reply):
    """What helps to answer a question. `score`: how much, 1 to 100."""

    text: str
    score: float = Field(ge=0, le=100)


class Points(Reply):
    """What some summaries have for a question."""

    points: list[Point]


@dataclass(frozen=True)
class Community:
    """A community with the facts that its summary is made from. `size`: its entities, those without a fact too."""

    size: int
    facts: str


class CommunityRetriever:
    """Puts questions to the summaries of communities. They are made when it is opened, and found again in the journal by whoever asks
    the same model about the same facts."""

    table: TextTable | None = None

    def __init__(self, settings: Settings, tools: BuiltinTools, *, planned: bool) -> None:
        """Raises: UsageError without a model; LayoutError where nothing is joined; IncompleteError where a summary could not be made."""
        if tools.graph is None or tools.layout is None:
            raise UsageError("the system communities needs a graph", fix="name the graph with --graph, or take closed-book")
        if tools.models is None:
            raise UsageError(
                "the system communities needs a model: it sums up communities and looks through the summaries",
                fix="give --model NAME instead of --extractive, or leave communities out",
            )
        if why := missing(tools.graph):
            raise LayoutError(f"the system communities needs graph algorithms: {why}", fix="take graph or vector, or give it a session")
        self._settings, self._models = settings, tools.models
        self._asker: Asker = tools.asker or Live(tools.models)
        self._reader = EntryReader(tools.graph, tools.layout, timeout=tools.timeout)
        self._parts: tuple[tuple[str, ...], ...] = ()  # summaries, as many together as one call is shown
        self.signature = "|".join(f"{name}@{self._asker.prompt(name).hash}" for name in (SUM_UP, POINTS))
        if planned:
            return
        communities = list(read_communities(self._reader, settings))
        if not communities:
            raise UsageError(
                f"communities: no community has a fact within facts={settings.facts} tokens", fix="give --setting communities:facts=8000",
            )
        summaries = self._summed_up(communities)
        self._parts = tuple(packed(summaries, settings.map_tokens))
        made = hashlib.sha256("\n".join(summaries).encode("utf-8", "surrogatepass")).hexdigest()[:12]
        self.signature += f"|communities={len(summaries)}@{made}"
        entities = sum(community.size for community in communities)
        calls = "1 call" if len(self._parts) == 1 else f"{len(self._parts)} calls"
        tools.say(f"communities: {len(summaries)} summed up, of {entities:,} entities; {calls} a question to look through them")

    def retrieve(self, question: str, clock: Clock, trial: int = 0) -> Retrieved:
        """The points of all parts within `l_max` tokens, the most helpful first. Its seconds are those of the calls, one after the other.
        Raises: RetrievalFailed where a part could not be asked: an answer from the others would pass for one from all."""
        outcomes = [self._asker.ask(self._task(question, part, trial)) for part in self._parts]
        if failure := next((outcome.failure for outcome in outcomes if outcome.value is None and outcome.failure), None):
            raise RetrievalFailed(f"{failure.cause}: {failure.detail}")
        spent = self._models.spent(call for outcome in outcomes for call in outcome.calls)
        clock.seconds["map"] = spent.seconds if spent else 0.0
        points = [point for outcome in outcomes for point in (outcome.value.points if outcome.value else ()) if point.score > 0]
        contexts, left = list[Passage](), self._settings.l_max
        for point in sorted(points, key=lambda point: -point.score):  # sorting is stable: equal ones stay in the order of the parts
            if (text := point.text.strip()) and (size := tokens.count(text)) <= left:
                left -= size
                contexts.append(Passage(text=text, score=point.score))
        return Retrieved(tuple(contexts), self._settings.l_max - left, spent=spent)

    def bounds(self) -> tuple[int, int]:
        """Nothing, or the whole budget."""
        return 0, self._settings.l_max

    def size(self) -> tuple[int, int]:
        """Entities and relations of the graph."""
        return self._reader.size()

    def plan(self, question: str, trial: int = 0) -> None:
        """Counts the calls before the reader's in a dry run, at most: it is not known how many communities there are, nor which
        summaries the journal has."""
        settings = self._settings
        for number in range(settings.communities):
            later = Later(stage=SUM_UP, prompt=SUM_UP, key=digest(SUM_UP, number), tokens=(1, settings.facts), certain=False)
            self._asker.later(later)
        own = tokens.count(question)
        # a call is shown whole summaries, and so at least as many as fit in if all are as long as they may be
        for part in range(-(-settings.communities // (settings.map_tokens // SUMMARY_TOKENS))):
            later = Later(
                stage=POINTS, prompt=POINTS, key=digest(POINTS, question, part, trial), tokens=(own, own + settings.map_tokens),
                certain=False,
            )
            self._asker.later(later)

    def _summed_up(self, communities: Sequence[Community]) -> list[str]:
        def ask(community: Community) -> Outcome[CommunitySummary]:
            return self._asker.ask(Task(
                id=digest(community.facts), prompt=self._asker.prompt(SUM_UP), slots={"facts": community.facts}, reply=CommunitySummary,
                stage=SUM_UP,
            ))

        outcomes = list(self._models.map(ask, communities, total=len(communities)))
        if lost := [outcome.failure for outcome in outcomes if outcome.value is None]:
            first = next((failure for failure in lost if failure), None)
            raise IncompleteError(
                f"communities: {len(lost)} of {len(communities)} summaries could not be made"
                + (f", first {first.cause}: {first.detail}" if first else ""),
                fix="run the same command again: those that were made are in the journal",
            )
        return [outcome.value.summary for outcome in outcomes if outcome.value is not None]

    def _task(self, question: str, part: Sequence[str], trial: int) -> Task[Points]:
        slots: dict[str, JsonValue] = {"question": question, "summaries": list(part)}
        return Task(id=digest(POINTS, question), prompt=self._asker.prompt(POINTS), slots=slots, reply=Points, trial=trial, stage=POINTS)


def read_communities(reader: EntryReader, settings: Settings) -> Iterator[Community]:
    """The largest communities of two entities and more, largest first, with their facts: entities that have a description, and the
    relations between the community's best connected entities, within `facts` tokens.

    Raises: LayoutError where no two entities are joined; QueryError, ConnectError where the algorithms cannot run.
    """
    import numpy as np

    graph, layout = reader.graph, reader.layout
    with simple_graph(graph, layout, timeout=None) as view:
        if view is None:
            raise LayoutError("communities: no two entities of this graph are joined", fix="take the system vector")
        partition, _ = view.communities(method_for(view.nodes), SEED)
        groups, sizes = np.unique(partition.groups, return_counts=True)
        order = [at for at in np.lexsort((groups, -sizes)) if sizes[at] > 1][: settings.communities]
        size_of = {int(groups[at]): int(sizes[at]) for at in order}
        best = view.best_connected(partition, list(size_of), ENTITIES)
    group_of = {node: group for group, nodes in best.items() for node in nodes}
    members: dict[int, list[EntityText]] = {group: [] for group in size_of}
    for entity in reader.entities():
        if (group := group_of.get(node_number(entity.element_id))) is not None:
            members[group].append(entity)
    for group, size in size_of.items():
        place = {node: at for at, node in enumerate(best[group])}
        entities = sorted(members[group], key=lambda entity: place[node_number(entity.element_id)])
        inside = {entity.element_id for entity in entities}
        relations = reader.around([entity.element_id for entity in entities], RELATIONS)
        edges = {one.element_id: Edge(one, 0.0, 1) for one in relations if one.start in inside and one.end in inside}
        lead = [about(entity) for entity in entities if entity.description]
        linear = budgeted(edges.values(), settings.facts, tokens.count, describe=True, lead=lead, layout=layout)
        if facts := "\n".join(passage.text for passage in linear.passages):
            yield Community(size, facts)


def packed(texts: Sequence[str], most: int) -> Iterator[tuple[str, ...]]:
    """The texts in their order, as many together as have at most so many tokens; one that is longer stands alone."""
    part, used = list[str](), 0
    for text in texts:
        size = tokens.count(text)
        if part and used + size > most:
            yield tuple(part)
            part, used = [], 0
        part.append(text)
        used += size
    if part:
        yield tuple(part)
