"""Which theta, k and l_max find most of the gold evidence for the least context: retrieval only, no reader is asked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product

from kgeval.errors import UsageError
from kgeval.records import Answer, Question
from kgeval.systems.builtin.graph_rag import GraphPieces, GraphRetriever
from kgeval.systems.builtin.retrieval import Clock, Retrieved, search_with
from kgeval.systems.builtin.settings import GRAPHS, Settings, read_settings
from kgeval.systems.builtin.tools import BuiltinTools

Measure = Callable[[Question, Answer], Mapping[str, float | None]]
GRID: Mapping[str, Sequence[int | float]] = {
    "theta": (0.2, 0.3, 0.4, 0.5, 0.6), "k": (5, 10, 20, 50), "l_max": (250, 500, 1_000, 2_000),
}
SLACK = 0.05  # a cheaper place of the grid is taken where it loses no more than this


@dataclass
class SweepRow:
    """One place of the grid. Means are over the questions for which a measure has a value; `n` says how many those are.

    `tokens`: of the context, mean over all questions; `nothing`: share of questions for which nothing was retrieved.
    """

    settings: Settings
    questions: int = 0
    sums: dict[str, float] = field(default_factory=dict)
    n: dict[str, int] = field(default_factory=dict)
    token_sum: int = 0
    empty: int = 0

    def mean(self, measure: str) -> float | None:
        """The mean of a measure, or None where no question has a value."""
        return self.sums[measure] / self.n[measure] if self.n.get(measure) else None

    @property
    def tokens(self) -> float:
        """Tokens of the context, mean."""
        return self.token_sum / max(self.questions, 1)

    @property
    def nothing(self) -> float:
        """Share of questions with nothing retrieved."""
        return self.empty / max(self.questions, 1)

    def add(self, found: Retrieved, values: Mapping[str, float | None]) -> None:
        """Counts one question."""
        self.questions += 1
        self.token_sum += found.tokens
        self.empty += not found.contexts
        for name, value in values.items():
            if value is not None:
                self.sums[name] = self.sums.get(name, 0.0) + value
                self.n[name] = self.n.get(name, 0) + 1


def sweep(
    settings: Settings, tools: BuiltinTools, questions: Iterable[Question], measure: Measure,
    grid: Mapping[str, Sequence[int | float]] | None = None,
) -> list[SweepRow]:
    """Retrieval at every place of the grid theta x k x l_max, the other settings as given. The index is searched and
    the graph is walked once a question, at the widest place.

    Raises: UsageError for a system without these settings or a grid out of bounds; what opening the system raises.
    """
    if settings.system not in GRAPHS:
        raise UsageError(
            f"{settings.system} has no theta, k and l_max to sweep", fix=f"a sweep is for {' and '.join(GRAPHS)}",
        )
    axes = {**GRID, **(grid or {})}
    places = [
        read_settings(settings.system, {"theta": theta, "k": int(k), "l_max": int(l_max)}, base=settings)
        for theta, k, l_max in product(axes["theta"], axes["k"], axes["l_max"])
    ]
    widest = replace(settings, theta=min(one.theta for one in places), k=max(one.k for one in places))
    wide = GraphRetriever(widest, search_with(settings.system, tools), planned=False)
    rows = [SweepRow(place) for place in places]
    for question in questions:
        pieces = wide.found(question.question, Clock())
        swept = _SweptQuestion(question, wide, pieces, measure)
        for row in rows:
            row.add(*swept.place(row.settings))
    return rows


def best(rows: Sequence[SweepRow], measure: str) -> SweepRow | None:
    """The place with the smallest context among those that lose at most SLACK of the best mean; of equal ones the
    stricter theta, then the smaller k and l_max. None where no question has a value."""
    known = [(value, row) for row in rows if (value := row.mean(measure)) is not None]
    if not known:
        return None
    most = max(value for value, _ in known)
    near = [row for value, row in known if value >= most - SLACK]
    return min(near, key=lambda row: (row.tokens, -row.settings.theta, row.settings.k, row.settings.l_max))


@dataclass
class _SweptQuestion:
    """One question, found at the widest place. Places with the same entry entities and budget are worked out once."""

    question: Question
    wide: GraphRetriever
    found: GraphPieces
    measure: Measure
    made: dict[tuple[int, int], tuple[Retrieved, Mapping[str, float | None]]] = field(default_factory=dict)

    def place(self, settings: Settings) -> tuple[Retrieved, Mapping[str, float | None]]:
        """What is retrieved at one place, and its measures."""
        entries = tuple(entity for entity in self.found.entries[: settings.k] if entity.score > settings.theta)
        # entries are sorted by score: as many entries are the same entries, whatever theta and k cut them
        key = (len(entries), settings.l_max)
        if key not in self.made:
            retrieved = self.wide.set_to(settings).shown(
                self.question.question, replace(self.found, entries=entries), Clock(),
            )
            self.made[key] = (retrieved, self.measure(self.question, self._answer(settings, retrieved)))
        return self.made[key]

    def _answer(self, settings: Settings, found: Retrieved) -> Answer:
        return Answer(
            question_id=self.question.id, system=settings.name, answer="", contexts=list(found.contexts),
            retrieved_nodes=list(found.nodes or ()), retrieved_relations=list(found.relations or ()),
        )
