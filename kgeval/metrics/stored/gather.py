"""Finds out, by asking the stored graph, the facts that metrics read: grounding, steps@graph, cypher, expired."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import accumulate, pairwise
from math import isinf, isnan
from typing import Annotated

from pydantic import BeforeValidator, JsonValue, model_validator

from kgeval.graph.connect import Graph
from kgeval.graph.foreign import Cell, QueryResult
from kgeval.graph.guard import ends_ordered
from kgeval.graph.guarded import run_guarded
from kgeval.llm import tokens
from kgeval.llm.asker import Asker, Later, digest
from kgeval.llm.calls import Failure, Outcome, Reply, SourceTag, Tagged
from kgeval.llm.characters import whole
from kgeval.llm.tags import source_tags
from kgeval.metrics.definition import Subject
from kgeval.metrics.facts import CypherRun, Expired, Grounded, ItemVerdicts, JudgedItem, Label, TextList
from kgeval.metrics.judge.context import MOST_REASON, JudgeContext, answer_text, failure_of
from kgeval.metrics.judge.replies import label_word
from kgeval.metrics.stored.candidates import GraphLine, StoredGraph, candidates, from_graph, parts
from kgeval.metrics.stored.joins import arrow, by_names, is_node_id, is_relation_id, relations_among, same_kind
from kgeval.metrics.stored.names import NamesCache
from kgeval.metrics.stored.steps import step_texts, steps_in_graph
from kgeval.records import Layout, Row
from kgeval.text.names import normalise

# Which claims of an answer can be traced to triples of the stored graph: a judge is shown the triples near each
# claim.

STAGE = "grounding"
PROMPT = "judge-grounding"
# as in judge/checks.py: each has a sentence of reason in the reply
MOST_ITEMS = 60
LINE_TOKENS = 40  # of one triple, a guess for dry runs
NOTHING = "the graph has nothing on what it names"


class Traced(Tagged):
    """What the triples say of one claim, and which of them. A claim that is supported by none of them is not supported."""

    reason: str
    triples: list[SourceTag]
    label: Annotated[Label, BeforeValidator(label_word)]

    @model_validator(mode="after")
    def _traceable(self) -> Traced:
        if self.label == "supported" and not self.triples:
            raise ValueError("supported, but by no triple")
        return self


class TracedClaims(Reply):
    """One verdict a claim."""

    items: list[Traced]


@dataclass
class _Traces:
    """What was found out so far: claim (position) -> item, and the triples that were shown, numbered over all calls."""

    items: dict[int, JudgedItem] = field(default_factory=dict)
    lines: list[GraphLine] = field(default_factory=list)


def grounding(subject: Subject, store: StoredGraph, asker: Asker) -> Grounded:
    """The fact "grounding", from the claims in the facts. A claim that names nothing in the graph, or only what has no triple, is
    not stated by it, and nobody is asked. What the database refuses is a failure of the row.

    Raises: ConnectionLost; what the asker raises.
    """
    claims = subject.facts.texts.get("claims:answer", TextList())
    judge = JudgeContext(subject, asker)
    if claims.failure is not None:
        if asker.dry and claims.failure.cause == "cancelled":
            _count_later(judge, store)
        return Grounded(ItemVerdicts(failure=claims.failure))
    if not claims.texts:
        return Grounded(ItemVerdicts())
    lines_by_claim = from_graph(partial(candidates, claims.texts, store))
    if isinstance(lines_by_claim, Failure):
        return Grounded(ItemVerdicts(failure=lines_by_claim))
    return _asked(judge, claims.texts, lines_by_claim, most=store.settings.candidates)


def _asked(judge: JudgeContext, claims: Sequence[str], wanted: Sequence[Sequence[GraphLine]], *, most: int) -> Grounded:
    traces = _Traces()
    for places, lines in parts(wanted, most=most, items=MOST_ITEMS):
        tags = source_tags([line.text for line in lines])
        shown: list[JsonValue] = [{"tag": tag, "triple": line.text} for tag, line in zip(tags, lines, strict=True)]
        texts = tuple(claims[place] for place in places)
        outcome = judge.ask(STAGE, PROMPT, {"triples": shown}, TracedClaims, items=texts, sources=frozenset(tags))
        _take(traces, outcome, places, texts, dict(zip(tags, lines, strict=True)))
    items = tuple(
        traces.items.get(index) or JudgedItem(index + 1, claim, "not_stated", reason=NOTHING) for index, claim in enumerate(claims)
    )
    return Grounded(
        ItemVerdicts(items), tuple(line.element_id for line in traces.lines), tuple(line.text for line in traces.lines),
        frozenset(line.element_id for line in traces.lines if line.is_relation),
    )


def _take(
    traces: _Traces, outcome: Outcome[TracedClaims], places: Sequence[int], texts: Sequence[str], lines: Mapping[str, GraphLine],
) -> None:
    """One reply's verdicts. Triples are numbered over all calls; `lines`: tag -> triple of this one."""
    numbers = {tag: number for number, tag in enumerate(lines, start=len(traces.lines) + 1)}
    traces.lines += lines.values()
    for number, (place, text) in enumerate(zip(places, texts, strict=True), start=1):
        answer: Traced | None = outcome.answers.get(number)
        if answer is None:
            traces.items[place] = JudgedItem(place + 1, text, failure=failure_of(outcome, number))
            continue
        named = () if answer.label == "not_stated" else tuple(sorted({numbers[tag] for tag in answer.triples}))
        traces.items[place] = JudgedItem(
            place + 1, text, answer.label, reason=answer.reason.strip()[:MOST_REASON], sources=named, call=outcome.call_of.get(number),
        )


def _count_later(judge: JudgeContext, store: StoredGraph) -> None:
    """Counts the call of an answer whose claims are not known yet. There is none if they name nothing in the graph."""
    text = answer_text(judge.row)
    length = tokens.count(whole(text))
    judge.asker.later(Later(
        stage=STAGE, prompt=PROMPT, key=digest(STAGE, judge.row.question.question, text, judge.subject.trial), certain=False,
        tokens=(length, 3 * length + LINE_TOKENS * store.settings.candidates), items=10,
    ))
    if length > LINE_TOKENS:  # an answer of a few sentences may want more triples than one call shows
        judge.asker.later(Later(
            stage=STAGE, prompt=PROMPT, key=digest(STAGE, "second", judge.row.question.question, text, judge.subject.trial), certain=False,
            tokens=(0, LINE_TOKENS * store.settings.candidates), items=10,
        ))


# Which of the retrieved nodes and relations the stored graph marks as no longer valid.

MOST = 5_000  # retrieved things that are looked up

Places = Mapping[str, tuple[str, ...]]  # what was retrieved, as the answer writes it -> element ids of what it may be


def expired(row: Row, store: StoredGraph) -> Expired | None:
    """The fact "expired"; None where the answer does not tell what it retrieved.

    A thing counts if the graph knows it and it can expire: every relation, and nodes that carry one of the layout's properties of
    time. It is expired if everything that it may be is: of two facts of one name one may be the current one. Raises: ConnectionLost.
    """
    nodes, relations = row.answer.retrieved_nodes, row.answer.retrieved_relations
    if nodes is None and relations is None:
        return None
    named_nodes, named_relations = (list(dict.fromkeys(things or ()))[:MOST] for things in (nodes, relations))
    count = len(named_nodes) + len(named_relations)
    if not (store.layout.expired_key or store.layout.valid_to_key):
        return Expired(retrieved=count, nothing=f"layout {store.layout.name} has no property that says when a fact ends")
    marks = from_graph(lambda: [
        *_marks(_nodes(named_nodes, store), "node-validity", store),
        *_marks(_relations(named_relations, store), "relation-validity", store),
    ])
    if isinstance(marks, Failure):
        return Expired(retrieved=count, failure=marks)
    old = [ids for ids, ended in marks if ended]
    ids = tuple(dict.fromkeys(element_id for group in old for element_id in group))
    return Expired(count, len(marks), len(old), ids, None if marks else "the graph knows none of them that could expire")


def _marks(places: Places, query: str, store: StoredGraph) -> list[tuple[tuple[str, ...], bool]]:
    """For each thing that can expire: what it may be, and whether all of that has ended."""
    ids_asked = sorted({element_id for ids in places.values() for element_id in ids})
    ended = {row["element_id"]: row["expired"] for row in store.ask(query, ids=ids_asked)} if ids_asked else {}
    expiring = [tuple(element_id for element_id in ids if element_id in ended) for ids in places.values()]
    return [(ids, all(ended[element_id] for element_id in ids)) for ids in expiring if ids]


def _nodes(texts: Sequence[str], store: StoredGraph) -> Places:
    """By element id, by name, or by the layout's own key."""
    places = {text: (text,) for text in texts if is_node_id(text)}
    others = [text for text in texts if text not in places]
    return places | by_names(others, store) | store.names.lookup("entity-keys", others) if others else places


def _relations(texts: Sequence[str], store: StoredGraph) -> Places:
    """By element id, by A -[TYPE]-> B, by the layout's own key, or by the words of the fact."""
    places: dict[str, tuple[str, ...]] = {text: (text,) for text in texts if is_relation_id(text)}
    arrows = {text: written for text in texts if text not in places and (written := arrow(text)) is not None}
    ends = by_names([name for written in arrows.values() for name in (written.start, written.end)], store) if arrows else {}
    among = relations_among((element_id for ids in ends.values() for element_id in ids), store)
    for text, written in arrows.items():
        rows = among.between(ends.get(written.start, ()), ends.get(written.end, ()))
        if ids := tuple(row["element_id"] for row in rows if same_kind(row, written.kind)):
            places[text] = ids
    others = [text for text in texts if text not in places]
    if not others:
        return places
    words = {text: normalise(text) for text in others}
    by_key = store.names.lookup("relation-keys", [*others, *(key for key in words.values() if key)])
    return places | {text: known for text in others if (known := by_key.get(text) or by_key.get(words[text], ()))}


# What a system's own Cypher does: planned, run as a read under limits, and its result compared with that of the gold query.

# Whether two results of Cypher say the same. Pure. Execution accuracy as text-to-query benchmarks have it, but blind to names and order of
# columns: two right queries seldom call their columns alike, so that which column stands for which has to be searched for.

# 1e-8 for sums that databases add up in any order; 1e-13 where numbers are so large that 1e-8 is below their last digit
ABSOLUTE, RELATIVE = 1e-8, 1e-13
MOST_WORK = 1_000_000  # rows looked at while columns are paired
Column = tuple[int, ...]  # one code a row; equal codes are equal values


class TooManyWaysError(Exception):
    """The columns look so much alike that too many ways of pairing them would have to be tried."""


@dataclass(frozen=True)
class ResultComparison:
    """Whether the results match, and the names of the columns that the gold result does not have."""

    matches: bool
    extra_columns: tuple[str, ...] = ()


def compare(found: QueryResult, gold: QueryResult, *, ordered: bool) -> ResultComparison:
    """The found result against the gold one. `ordered`: rows, and the items of lists, must come in the same order.

    Raises: TooManyWaysError.
    """
    if len(found.columns) < len(gold.columns) or len(found.rows) != len(gold.rows):
        return ResultComparison(False)
    codes = _Codes()
    numbers = _groups(_numbers([*found.rows, *gold.rows]))
    mine, theirs = (_columns(table, numbers, codes, ordered=ordered) for table in (found, gold))
    paired = _ColumnPairing(theirs, mine, codes, ordered=ordered).search()
    if paired is None:
        return ResultComparison(False)
    return ResultComparison(True, tuple(name for index, name in enumerate(found.columns) if index not in paired))


class _Codes:
    """A number for each value, in the order in which they came up: rows of numbers are quick to compare."""

    def __init__(self) -> None:
        self._of: dict[Hashable, int] = {}

    def of(self, value: Hashable) -> int:
        return self._of.setdefault(value, len(self._of))

    def joined(self, rows: Column, column: Column) -> Column:
        """Each row with one more value, as one code."""
        return tuple(self.of(pair) for pair in zip(rows, column, strict=True))


def _columns(table: QueryResult, numbers: dict[float, int], codes: _Codes, *, ordered: bool) -> list[Column]:
    """Each column in codes. Without rows all columns are alike."""
    rows = [[codes.of(_key(cell, numbers, ordered=ordered)) for cell in row] for row in table.rows]
    return [tuple(row[index] for row in rows) for index in range(len(table.columns))]


class _ColumnPairing:
    """Which found column stands for each gold column, so that all rows agree.

    Columns are added one by one, and the rows made so far compared, so that a wrong pair ends its branch at once.
    """

    def __init__(self, gold: Sequence[Column], found: Sequence[Column], codes: _Codes, *, ordered: bool) -> None:
        self._gold, self._found, self._codes, self._ordered = gold, found, codes, ordered
        self._work = 0

    def search(self) -> tuple[int, ...] | None:
        """The places of the found columns, in the order of the gold columns; None if there are none. Raises: TooManyWaysError."""
        rows = (0,) * (len(self._gold[0]) if self._gold else 0)
        return self._extend((), rows, rows)

    def _extend(self, taken: tuple[int, ...], made: Column, wanted: Column) -> tuple[int, ...] | None:
        if len(taken) == len(self._gold):
            return taken
        target = self._codes.joined(wanted, self._gold[len(taken)])
        goal = self._bag(target)
        seen: set[Column] = set()
        for index, column in enumerate(self._found):
            if index in taken or column in seen:
                continue
            seen.add(column)  # of columns with the same content one is enough
            self._work += len(column)
            # columns that look alike multiply: ten of them have 3.6 million orders
            if self._work > MOST_WORK:
                raise TooManyWaysError
            joined = self._codes.joined(made, column)
            if self._bag(joined) == goal and (pairing := self._extend((*taken, index), joined, target)) is not None:
                return pairing
        return None

    def _bag(self, rows: Column) -> object:
        return rows if self._ordered else sorted(rows)


def _key(cell: Cell, numbers: dict[float, int], *, ordered: bool) -> Hashable:
    """The cell as something that is equal where cells are the same."""
    kind, content = cell
    if kind in ("int", "float"):
        # nan is not equal to itself: two results that have it would never match
        return ("number", "nan" if isnan(content) else numbers[content])
    if kind == "list":
        items = [_key(part, numbers, ordered=ordered) for part in content]
        return ("list", tuple(items) if ordered else frozenset(Counter(items).items()))
    if kind == "map":
        return ("map", tuple((key, _key(part, numbers, ordered=ordered)) for key, part in content))
    if kind in ("path", "point"):
        return (kind, tuple(_key(part, numbers, ordered=ordered) for part in content))
    return (kind, content)


def _numbers(rows: Iterable[Sequence[Cell]]) -> set[float]:
    """All numbers in the rows, but NaN. An integer and a float of one value are one number."""
    return {number for row in rows for cell in row for number in _within(cell)}


def _within(cell: Cell) -> Iterator[float]:
    kind, content = cell
    if kind in ("int", "float"):
        yield from () if isnan(content) else (content,)
    elif kind in ("list", "path", "point"):
        for part in content:
            yield from _within(part)
    elif kind == "map":
        for _, part in content:
            yield from _within(part)


def _groups(numbers: set[float]) -> dict[float, int]:
    """Number -> the group of numbers that count as the same: neighbours in order that are near enough.

    A group and not a rounding: 0.4999999999 and 0.5000000001 would round apart."""
    ordered = sorted(numbers)
    apart = (not _near(before, number) for before, number in pairwise(ordered))
    return dict(zip(ordered, accumulate(apart, initial=0), strict=True)) if ordered else {}


def _near(a: float, b: float) -> bool:
    """Whether a number and the next larger one are the same but for rounding. Integers are exact."""
    if (isinstance(a, int) and isinstance(b, int)) or isinf(a) or isinf(b):
        return False
    return b - a <= max(ABSOLUTE, RELATIVE * abs(b))


MOST_ROWS = 10_000


def cypher_run(subject: Subject, graph: Graph, *, match: bool) -> CypherRun | None:
    """The fact "cypher"; None where the answer has no Cypher. `match`: with the fact "cypher:match", for which the gold query is run.

    Valid: the server plans it as a read and runs it within the time limit without an error. A query that kgeval will not run
    (graph/guard.py) is a failure, and so is a gold query that does not run or gives more than MOST_ROWS rows.
    Raises: ConnectionLost where the server does not answer any more.
    """
    row = subject.row
    if row.answer.cypher is None:
        return None
    run = partial(run_guarded, graph, timeout=subject.settings_for("cypher").query_timeout, rows=MOST_ROWS)
    mine = run(row.answer.cypher)
    if mine.refusal is not None:
        return CypherRun(failure=Failure("graph_error", mine.refusal))
    valid = mine.table is not None
    if row.question.cypher is None or not match:
        return CypherRun(valid=valid, error=mine.error)
    gold = run(row.question.cypher)
    if gold.table is None or gold.table.cut:
        why = gold.refusal or gold.error or f"it gives more than {MOST_ROWS} rows, or too much in them"
        return CypherRun(valid=valid, error=mine.error, gold_failure=Failure("graph_error", f"the gold query: {why}"))
    if mine.table is None:
        return CypherRun(valid=False, matches=False, error=mine.error, gold_rows=len(gold.table.rows))
    return _compared(mine.table, gold.table, ordered=subject.settings_for("cypher:match").ordered and ends_ordered(row.question.cypher))


def _compared(mine: QueryResult, gold: QueryResult, *, ordered: bool) -> CypherRun:
    """Both ran. A result that was cut has more rows than any gold result, so it cannot match."""
    rows, gold_rows = len(mine.rows), len(gold.rows)
    try:
        comparison = compare(mine, gold, ordered=ordered)
    except TooManyWaysError:
        failure = Failure("graph_error", "too many columns look alike to compare the results")
        return CypherRun(valid=True, rows=rows, gold_rows=gold_rows, gold_failure=failure)
    matches = comparison.matches and not mine.cut
    return CypherRun(valid=True, matches=matches, extra_columns=comparison.extra_columns, rows=rows, gold_rows=gold_rows)


FACTS = frozenset(("grounding", "steps@graph", "cypher", "cypher:match", "expired"))
_SHELF = NamesCache()  # lives as long as its runs do; see there


def stored_facts(subject: Subject, wanted: frozenset[str], graph: Graph, layout: Layout, asker: Asker | None) -> None:
    """Fills in `subject.facts` what is wanted and the stored graph tells; other names are passed over. May be called from any thread.

    Each query has the seconds of the setting query_timeout. What the database refuses for this row is a fact with the failure graph_error.
    In a dry run only what a model would be asked is found out.
    Raises: ConnectionLost; what the asker raises: what ends a run.
    """
    mine = wanted & FACTS
    if not mine:
        return
    names = _SHELF.names(asker or layout, graph, layout)

    def store(fact: str) -> StoredGraph:
        return StoredGraph(graph, layout, names, subject.settings_for(fact))

    facts, row = subject.facts, subject.row
    if "grounding" in mine and asker is not None:
        facts.grounded = grounding(subject, store("grounding"), asker)
    if asker is not None and asker.dry:
        return
    if "steps@graph" in mine and step_texts(row.question):
        facts.checks["steps@graph"] = steps_in_graph(row.question, store("steps@graph"))
    if "cypher" in mine:
        facts.cypher = cypher_run(subject, graph, match="cypher:match" in mine)
    if "expired" in mine:
        facts.expired = expired(row, store("expired"))
