"""Which metrics a run computes, and which of them a row gets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from types import MappingProxyType

from kgeval.config import Criterion
from kgeval.errors import UsageError
from kgeval.metrics.definition import Metric, Need, Tool
from kgeval.metrics.own import OwnMetric, own_metrics
from kgeval.metrics.table import EVERY, PRESETS, all_metrics
from kgeval.records import Answer, Passage, Question, Row

LACKING: Mapping[Need, str] = {
    "reference": "no reference answer is given", "contexts": "the answer does not tell the texts of its contexts",
    "passages": "the answer tells neither texts nor ids of its contexts", "context_ids": "the contexts have no ids",
    "evidence": "no evidence text is given", "evidence_ids": "no gold chunk ids are given",
    "points": "neither information points nor a reference are given", "statements": "no gold statements are given",
    "citations": "the answer has no citations", "cited_document": "the answer names no document", "document": "no gold document is given",
    "path": "no gold path is given", "steps": "no steps are given", "reasoning": "the answer tells no reasoning",
    "cypher": "the answer has no Cypher",
    "gold_cypher": "no gold Cypher is given",
    "retrieved": "the answer does not tell which nodes or relations it retrieved", "kind": "the question has no type",
}


@dataclass(frozen=True)
class Selection:
    """The metrics of a run in the order of the table. `levels`: metric -> the levels it is for; absent: every row."""

    metrics: tuple[Metric, ...]
    levels: Mapping[str, frozenset[str]]

    def of(self, row: Row) -> tuple[Metric, ...]:
        """The metrics that this row gets. A metric that a preset keeps for other levels is not among them."""
        return tuple(m for m in self.metrics if m.name not in self.levels or row.question.level in self.levels[m.name])

    def facts_of(self, row: Row) -> frozenset[str]:
        """Names of the facts that this row's metrics read; none for a metric whose needs the row does not meet."""
        return frozenset(fact for metric in self.of(row) if lacking(metric, row) is None for fact in metric.asks)

    def criteria_of(self, row: Row) -> tuple[Criterion, ...]:
        """The criteria of the user's own by which this row is graded; none whose needs it does not meet."""
        return tuple(m.criterion for m in self.of(row) if m.criterion is not None and lacking(m, row) is None)

    @property
    def tools(self) -> frozenset[Tool]:
        """What must be there to compute all of them."""
        return frozenset(tool for metric in self.metrics for tool in metric.tools)

    def needing(self, tool: Tool) -> tuple[str, ...]:
        """Names of the metrics that need a tool."""
        return tuple(metric.name for metric in self.metrics if tool in metric.tools)


def select(
    names: Iterable[str | Criterion], criteria: Iterable[Criterion] = (),
    functions: Mapping[str, OwnMetric] = MappingProxyType({}),
) -> Selection:
    """The selection for names of metrics and presets. A metric that is named itself, or by a preset for every row, is for every row.
    Names may be those of `criteria` and `functions`, FILE.py:NAME (the file is run), or a criterion itself.

    Raises: UsageError that names every unknown one, with the nearest that exists, and what is wrong with one's own.
    """
    names = list(names)
    own, written, wrong = own_metrics(names, criteria, functions)
    if wrong:
        raise UsageError("metrics of your own: " + "; ".join(wrong), fix="kgeval help own-metrics describes them")
    known = {**all_metrics(), **own}
    levels: dict[str, set[str] | None] = {}
    faults = []
    for name in dict.fromkeys(written.get(name, name) if isinstance(name, str) else name.name for name in names):
        if name in PRESETS:
            for level, members in PRESETS[name].items():
                for member in members:
                    _admit(levels, member, None if level == EVERY else level)
        elif name in known:
            _admit(levels, name, None)
        else:
            near = get_close_matches(name, [*known, *PRESETS], n=1)
            faults.append(f"'{name}'" + (f" (did you mean {near[0]}?)" if near else ""))
    if faults:
        raise UsageError("unknown metrics: " + ", ".join(faults), fix="kgeval metrics list shows all metrics and presets")
    if not levels:
        raise UsageError("no metric is named", fix="give --metrics, for example --metrics lexical; kgeval metrics list shows all")
    chosen = tuple(metric for name, metric in known.items() if name in levels)
    return Selection(chosen, {name: frozenset(only) for name, only in levels.items() if only is not None})


def _admit(levels: dict[str, set[str] | None], name: str, level: str | None) -> None:
    if level is None:
        levels[name] = None
    elif name not in levels:
        levels[name] = {level}
    elif (only := levels[name]) is not None:
        only.add(level)


def lacking(metric: Metric, row: Row) -> str | None:
    """Why the metric has no meaning for this row: what it lacks, all of it; None if it has all."""
    missing = [LACKING[need] for need in metric.needs if not PRESENT[need](row.question, row.answer)]
    return "; ".join(missing) or None


def _any_text(texts: Iterable[str]) -> bool:
    """True if one of the texts is more than blanks: nobody can be measured by the others."""
    return any(text.strip() for text in texts)


def _is_known(context: Passage) -> bool:
    return bool(context.text.strip() or context.chunk_id)


# each looks at what its need is about and at nothing else: this is asked for every row and metric
PRESENT: Mapping[Need, Callable[[Question, Answer], bool]] = {
    "reference": lambda question, answer: bool(question.right_answers),
    "contexts": lambda question, answer: answer.contexts is not None and (not answer.contexts or bool(answer.context_texts)),
    "passages": lambda question, answer: answer.contexts is not None and (not answer.contexts or any(map(_is_known, answer.contexts))),
    "context_ids": lambda question, answer: answer.contexts is not None and all(context.chunk_id for context in answer.contexts),
    "evidence": lambda question, answer: bool(question.evidence_texts),
    "evidence_ids": lambda question, answer: bool(question.evidence_groups),
    "points": lambda question, answer: _any_text(question.points) or bool(question.right_answers),
    "statements": lambda question, answer: _any_text(question.statements),
    "citations": lambda question, answer: answer.citations is not None,
    "cited_document": lambda question, answer: any(citation.document for citation in answer.citations or ()),
    "document": lambda question, answer: question.document is not None,
    "path": lambda question, answer: question.path is not None,
    "cypher": lambda question, answer: answer.cypher is not None,
    "steps": lambda question, answer: _any_text(question.steps or (question.path.text if question.path else [])),
    "reasoning": lambda question, answer: _any_text(answer.reasoning or ()),
    "gold_cypher": lambda question, answer: question.cypher is not None,
    "retrieved": lambda question, answer: answer.retrieved_nodes is not None or answer.retrieved_relations is not None,
    "kind": lambda question, answer: bool(question.kinds),
}
