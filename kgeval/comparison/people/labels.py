"""Labels of people: from files, kgeval's own (JSONL of HumanLabel) and those of RAGChecker's meta-evaluation, with the answers in them; and
as arrays, one table an aspect."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, compress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import ValidationError

from kgeval.comparison.people.scales import OVERALL, SCALES, category
from kgeval.errors import InputError
from kgeval.records import AgreementBy, Answer, HumanLabel, LabelScope, Question
from kgeval.tables.plain import Line
from kgeval.tables.stream import stream

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

Form = Literal["auto", "kgeval", "ragchecker"]
ASPECTS = ("correctness", "completeness", OVERALL)
GROUPS: tuple[AgreementBy, ...] = ("level", "dataset", "difficulty")
_PAIR = ("query", "model1", "model2", "correctness_label")
ORDER = (
    "RAGChecker's file names no people: the first row of a pair is said to be of person-1, the second of person-2, ...; these may be "
    "different people from pair to pair"
)


@dataclass(frozen=True)
class Labels:
    """What was read. `answers`, `questions`: the texts that a file has beside its labels, each once. `notes`: for the reader."""

    scope: LabelScope
    labels: tuple[HumanLabel, ...]
    answers: tuple[Answer, ...] = field(default=(), repr=False)
    questions: tuple[Question, ...] = field(default=(), repr=False)
    notes: tuple[str, ...] = ()


@dataclass
class _LabelReading:
    labels: list[HumanLabel] = field(default_factory=list)
    answers: dict[tuple[str, str], Answer] = field(default_factory=dict)
    questions: dict[str, Question] = field(default_factory=dict)
    rows: dict[str, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    seen: dict[tuple[str, ...], str] = field(default_factory=dict)


def read_labels(paths: Sequence[Path], form: Form = "auto") -> Labels:
    """The labels of all files. Raises: InputError with every fault: rows that are no labels, labels off the scale, pairs mixed with
    single answers, one person labelling one item twice in one aspect."""
    read = _LabelReading()
    for path in paths:
        rows = stream(path)
        first = next(rows)
        kind = form if form != "auto" else "ragchecker" if _is_pair(first.value) else "kgeval"
        take = _ragchecker if kind == "ragchecker" else _own
        for line in chain([first], rows):
            if line.fault:
                read.faults.append(f"{line.where}: {line.fault}")
            else:
                take(line, path.stem, read)
        if kind == "ragchecker" and ORDER not in read.notes:
            read.notes.append(ORDER)
    scope = _scope(read)
    if read.faults:
        raise InputError(
            f"{', '.join(map(str, paths))}: {len(read.faults)} {'fault' if len(read.faults) == 1 else 'faults'}", faults=read.faults,
            fix="give files of kgeval annotate read, or RAGChecker's human_labeled_data.json",
        )
    return Labels(scope, tuple(read.labels), tuple(read.answers.values()), tuple(read.questions.values()), tuple(read.notes))


def _is_pair(value: Any) -> bool:
    return isinstance(value, dict) and all(name in value for name in _PAIR)


def _own(line: Line, stem: str, read: _LabelReading) -> None:
    """A HumanLabel of answers."""
    try:
        label = HumanLabel.model_validate({name: value for name, value in line.value.items() if value is not None})
    except ValidationError as cause:
        first = cause.errors()[0]
        read.faults.append(f"{line.where}: {'.'.join(map(str, first['loc'])) or 'row'}: {first['msg']}")
        return
    lacking = [name for name in ("question_id", "metric", "system_a") if getattr(label, name) is None]
    if lacking:
        read.faults.append(f"{line.where}: is no label of an answer: {', '.join(lacking)} missing")
        return
    _add(label if label.annotator else label.model_copy(update={"annotator": stem}), line.where, read)


def _add(label: HumanLabel, where: str, read: _LabelReading) -> None:
    scope: LabelScope = "pairs" if label.system_b is not None else "answers"
    place = (label.annotator, label.id, label.metric or "")
    if category(label.label, scope) is None:
        read.faults.append(f"{where}: label: '{label.label[:40]}' is none of {', '.join(SCALES[scope])}")
    elif place in read.seen:
        read.faults.append(f"{where}: '{label.annotator}' labelled item {label.id} in {label.metric} already at {read.seen[place]}")
    else:
        read.seen[place] = where
        read.labels.append(label)


def _ragchecker(line: Line, _stem: str, read: _LabelReading) -> None:
    """One row: a pair of answers and one person's three labels, positive where model2 is better; kgeval's are positive for A (model1)."""
    row = line.value
    faults = list(_faults(row)) if _is_pair(row) else [f"is no row of RAGChecker's: {', '.join(_PAIR)} are needed"]
    if faults:
        read.faults += [f"{line.where}: {fault}" for fault in faults]
        return
    dataset = str(row.get("dataset") or "")
    question = "/".join(part for part in (dataset, str(row.get("query_id") or row["query"])) if part)
    a, b = (str(row[side]["model_name"]) for side in ("model1", "model2"))
    item = f"{question} {a} {b}"
    read.rows[item] = read.rows.get(item, 0) + 1
    _texts(row, question, dataset, where=line.where, read=read)
    for aspect in ASPECTS:
        label = HumanLabel(
            id=item, annotator=f"person-{read.rows[item]}", label=str(-int(row[f"{aspect}_label"])), question_id=question, metric=aspect,
            system_a=a, system_b=b, dataset=dataset or None,
        )
        _add(label, line.where, read)


def _faults(row: dict[str, Any]) -> Iterator[str]:
    for side in ("model1", "model2"):
        model = row[side]
        if not isinstance(model, dict) or not isinstance(model.get("model_name"), str) or not isinstance(model.get("response"), str):
            yield f"{side}: needs model_name and response"
    for aspect in ASPECTS:
        value = row.get(f"{aspect}_label")
        if isinstance(value, bool) or not isinstance(value, int | float) or value not in (-2, -1, 0, 1, 2):
            yield f"{aspect}_label: {str(value)[:40]} is none of -2, -1, 0, 1, 2"


def _texts(row: dict[str, Any], question: str, dataset: str, *, where: str, read: _LabelReading) -> None:
    reference = row.get("gt_answer")
    read.questions.setdefault(question, Question(
        id=question, question=str(row["query"]), reference=reference if isinstance(reference, str) else None, dataset=dataset or None,
    ))
    for side in ("model1", "model2"):
        answer = Answer(question_id=question, system=row[side]["model_name"], answer=row[side]["response"])
        known = read.answers.setdefault((question, answer.system), answer)
        if known != answer:
            read.faults.append(f"{where}: {side}: another response of {answer.system} to the same question stands above")


def _scope(read: _LabelReading) -> LabelScope:
    scopes = {label.system_b is not None for label in read.labels}
    if len(scopes) > 1:
        read.faults.append("labels of pairs and labels of single answers are mixed")
    if not read.labels and not read.faults:
        read.faults.append("there is no label")
    return "pairs" if True in scopes else "answers"


def as_lines(labels: Iterable[HumanLabel]) -> Iterator[str]:
    """One JSON line a label."""
    for label in labels:
        yield label.model_dump_json(exclude_none=True) + "\n"


@dataclass(frozen=True)
class LabelledItem:
    """What is labelled. `systems`: A and B, or the one system."""

    id: str
    question: str
    systems: tuple[str, ...]
    dataset: str | None = None
    level: str | None = None
    difficulty: str | None = None


@dataclass(frozen=True)
class LabelTable:
    """One aspect. `places`: (items, people) places of the labels on the scale from 0, NaN where there is none."""

    aspect: str
    scope: LabelScope
    items: tuple[LabelledItem, ...]
    people: tuple[str, ...]
    places: Floats = field(repr=False)

    @property
    def categories(self) -> int:
        """How many labels the scale has."""
        return len(SCALES[self.scope])

    @property
    def numbers(self) -> Floats:
        """(items, people) the labels as numbers: -2..2 of pairs (positive: A is better), 0..5 of answers."""
        shifted: Floats = self.places + float(SCALES[self.scope][0])
        return shifted

    @property
    def questions(self) -> list[str]:
        """The question of each item: the unit of resampling."""
        return [item.question for item in self.items]

    def groups(self) -> Iterator[tuple[AgreementBy, str | None, LabelTable]]:
        """All items, then each level, data set and difficulty where there are several."""
        yield "all", None, self
        for by in GROUPS:
            values = sorted({str(value) for item in self.items if (value := getattr(item, by)) is not None})
            if len(values) > 1:
                for value in values:
                    yield by, value, self._only([getattr(item, by) == value for item in self.items])

    def _only(self, kept: list[bool]) -> LabelTable:
        import numpy as np

        return LabelTable(self.aspect, self.scope, tuple(compress(self.items, kept)), self.people, self.places[np.array(kept, dtype=bool)])


def tables_of(labels: Labels) -> list[LabelTable]:
    """A table for each aspect, in the order in which they come; items and people in theirs."""
    people = tuple(dict.fromkeys(label.annotator for label in labels.labels))
    return [_table(aspect, labels, people) for aspect in dict.fromkeys(label.metric or "" for label in labels.labels)]


def _table(aspect: str, labels: Labels, people: tuple[str, ...]) -> LabelTable:
    import numpy as np

    own = [label for label in labels.labels if (label.metric or "") == aspect]
    items: dict[str, LabelledItem] = {}
    for label in own:
        systems = tuple(name for name in (label.system_a, label.system_b) if name is not None)
        items.setdefault(label.id, LabelledItem(
            label.id, label.question_id or label.id, systems, label.dataset, label.level, label.difficulty,
        ))
    rows = {name: row for row, name in enumerate(items)}
    columns = {name: column for column, name in enumerate(people)}
    places = np.full((len(items), len(people)), np.nan)
    for label in own:
        place = category(label.label, labels.scope)
        places[rows[label.id], columns[label.annotator]] = np.nan if place is None else place
    return LabelTable(aspect, labels.scope, tuple(items.values()), people, places)
