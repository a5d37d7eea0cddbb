"""What people said, in tables: which of two answers is better (labels, anchors), right or wrong of what a judge judged, and wrong answers.

Every fault comes at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from kgeval.records import Anchor, Question, Winner
from kgeval.tables.cells import Misfit, signed, spaced
from kgeval.tables.fields import ANCHORS, LABELS, SHARES, WRONG_ANSWERS
from kgeval.tables.given import Faults, Sheet, open_sheets
from kgeval.tables.plain import Line
from kgeval.tables.winners import WAY_OUT, Coding, Unknown, coding_of

VALUE: Mapping[Winner, float] = {"a": 1.0, "tie": 0.0, "b": -1.0}
OVERALL = "overall"
OWN = frozenset(("id", "annotator", "label", "question_id", "metric", "system_a", "system_b"))  # fields of `kgeval annotate read`
OWN_SCALE: Mapping[str, Winner] = {"2": "a", "1": "a", "0": "tie", "-1": "b", "-2": "b"}  # how much better is not asked here
PREFIX = "label_"  # of a table's columns for aspects: label_relevance


@dataclass(frozen=True, slots=True)
class PairLabel:
    """What a person said of two answers. `value`: from -1 (B is better) to 1 (A is better). `system_a`, `system_b` None: the file names no
    systems, so it is about the only pair, in its direction. `where`: file and line."""

    question_id: str
    value: float
    system_a: str | None = None
    system_b: str | None = None
    annotator: str = ""
    aspect: str = OVERALL
    where: str = ""


def read_labels(
    paths: Sequence[Path], *, maps: Mapping[str, str] | None = None, winners: Mapping[str, Winner] | None = None,
) -> tuple[PairLabel, ...]:
    """The labels of all files; rows with an empty label are passed over (not labelled yet).

    Raises: InputError with every fault: fields that are lacking, labels that are none (winners, or numbers from -1 to 1), one person's
    second label for one place.
    """
    faults, labels = Faults(), list[PairLabel]()
    fix = "name the fields in the file's head"
    for sheet in open_sheets(paths, LABELS, maps or {}, faults, what="is no file of labels", fix=fix):
        try:
            coding = _coding(sheet, winners or {})
        except Misfit as cause:
            faults.add(sheet.file, sheet.fields["label"], str(cause), cause.fix)
            continue
        for line in sheet.rows:
            label = _label(line, sheet, coding, faults)
            if label is not None:
                key = (label.question_id, frozenset((label.system_a, label.system_b)), label.annotator, label.aspect)
                faults.once(key, line.where, f"a second label of '{label.annotator}'", "keep one of both")
                labels.append(label)
    faults.stop("labels")
    return tuple(labels)


def _coding(sheet: Sheet, winners: Mapping[str, Winner]) -> Coding:
    """How the labels are read. Raises: Misfit where that cannot be told."""
    if OWN.issubset(sheet.names):
        return Coding({**OWN_SCALE, **winners})
    try:
        return coding_of(sheet.texts(sheet.fields["label"]), winners)
    except Unknown:
        return Coding(winners)  # numbers from -1 to 1, or faults of their rows


def _label(line: Line, sheet: Sheet, coding: Coding, faults: Faults) -> PairLabel | None:
    """The label of a row; None where it has none, or a fault."""
    values = sheet.whole(line, faults)
    if values is None:
        return None
    question, a, b = values["question_id"], values.get("system_a"), values.get("system_b")
    try:
        value = _value(values["label"], coding, a or "a", b or "b")
    except Misfit as cause:
        faults.add(line.where, sheet.fields["label"], str(cause), cause.fix)
        return None
    if value is None:
        return None
    if question is None:
        faults.add(line.where, sheet.fields["question_id"], "the id of the question is lacking")
    elif (a is None) != (b is None) or (a is not None and a == b):
        faults.add(line.where, sheet.fields.get("system_b", "system_b"), "two different systems are needed, or none")
    else:
        return PairLabel(question, value, a, b, values.get("annotator") or sheet.stem, values.get("aspect") or OVERALL, line.where)
    return None


def _value(value: Any, coding: Coding, a: str, b: str) -> float | None:
    """A label as a number from -1 to 1, None for an empty one. Raises: Misfit."""
    try:
        winner = coding.read(value, a, b)
    except Misfit:
        what = f"'{str(value)[:40]}' is no label: a, b, tie, the name of a system, or a number from -1 to 1 expected"
        try:
            number = None if isinstance(value, bool) else signed(value)
        except Misfit:
            number = None
        if number is None or not -1 <= number <= 1:
            raise Misfit(what, WAY_OUT) from None
        return number
    return None if winner is None else VALUE[winner]


def read_anchors(
    path: Path, *, maps: Mapping[str, str] | None = None, winners: Mapping[str, Winner] | None = None,
) -> tuple[Anchor, ...]:
    """The anchors of a file (pairs of answers with a label of people) in their order; without an id, a row's place is its name.

    Labels of aspects: an object `aspects`, or columns `label_ASPECT`.
    Raises: InputError with every fault: a field or value that is lacking, a label that is none, an id that stands twice, two answers
    that are the same text but not labelled tie.
    """
    faults, anchors = Faults(), dict[str, Anchor]()
    fix = "name the fields: --map label=FIELD"
    for sheet in open_sheets([path], ANCHORS, maps or {}, faults, what="is no file of anchors", fix=fix):
        try:
            coding = coding_of(sheet.texts(sheet.fields["label"]), winners or {})
        except Misfit as cause:
            faults.add(sheet.file, sheet.fields["label"], str(cause), cause.fix)
            continue
        for number, line in enumerate(sheet.rows, start=1):
            anchor = _anchor(line, sheet, coding, faults, str(number))
            if anchor is not None and anchor.id in anchors:
                what = f"'{anchor.id}' stands twice"
                faults.add(line.where, sheet.fields.get("id", "id"), what, "give each pair an id of its own")
            elif anchor is not None:
                anchors[anchor.id] = anchor
    faults.stop(f"{path.name}: anchors")
    return tuple(anchors.values())


def _anchor(line: Line, sheet: Sheet, coding: Coding, faults: Faults, number: str) -> Anchor | None:
    before = len(faults.found)
    values = sheet.read(line, faults)
    labels = {name.removeprefix(PREFIX): line.value.get(name) for name in sheet.names if name.startswith(PREFIX) and name != PREFIX}
    labels |= values.pop("aspects", None) or {}
    aspects = {f"aspects.{aspect}": value for aspect, value in labels.items()}
    winners: dict[str, Winner | None] = {}
    for name, value in {sheet.fields["label"]: values.pop("label"), **aspects}.items():
        try:
            winners[name] = coding.read(value, "a", "b")
        except Misfit as cause:
            faults.add(line.where, name, str(cause), cause.fix)
    if sheet.fields["label"] in winners:
        values["label"] = winners.pop(sheet.fields["label"])
    for name, value in values.items():
        if value is None and (meaning := ANCHORS[name].meaning):
            faults.add(line.where, sheet.fields[name], f"is empty: {meaning} is needed")
    if len(faults.found) == before and values["answer_a"] == values["answer_b"] and values["label"] != "tie":
        # Anchors measure a judge: one with an impossible label would count against it whatever it says.
        what = "both answers are the same text, so no label but tie can be right"
        faults.add(line.where, sheet.fields["label"], what, "correct or drop the pair")
    if len(faults.found) > before:
        return None
    present = {name: value for name, value in values.items() if value is not None}
    aspect_winners = {name.removeprefix("aspects."): winner for name, winner in winners.items() if winner is not None}
    try:
        return Anchor(**{"id": number, **present, "aspects": aspect_winners})
    except ValidationError as cause:
        faults.add(line.where, "", str(cause.errors()[0]["msg"]))
        return None


@dataclass(frozen=True)
class WrongAnswers:
    """Answers that somebody holds for wrong, each with file and line: by the id of their question, or by its text, blanks apart."""

    by_id: Mapping[str, Sequence[tuple[str, str]]]
    by_text: Mapping[str, Sequence[tuple[str, str]]]

    @property
    def places(self) -> frozenset[str]:
        """File and line of each row."""
        return frozenset(where for own in (*self.by_id.values(), *self.by_text.values()) for where, _ in own)

    def of(self, question: Question) -> Sequence[tuple[str, str]]:
        """Place and text of the wrong answers to a question, in the order of the file."""
        return self.by_id.get(question.id) or self.by_text.get(spaced(question.question), ())


def read_wrong_answers(path: Path) -> WrongAnswers:
    """The wrong answers of a file; a question may have several, in a list or in several rows. Raises: InputError with every fault."""
    faults, by_id, by_text = Faults(), dict[str, list[tuple[str, str]]](), dict[str, list[tuple[str, str]]]()
    fix = "write a row a question: question_id (or its text as question) and wrong_answer"
    for sheet in open_sheets([path], WRONG_ANSWERS, {}, faults, what="is no file of wrong answers", fix=fix):
        if {"question_id", "question"}.isdisjoint(sheet.fields):
            faults.add(sheet.file, "", f"no field for the question; its fields are: {', '.join(sheet.names[:30])}", fix)
            continue
        for line in sheet.rows:
            values = sheet.whole(line, faults)
            if values is None:
                continue
            name, asked, wrong = values.get("question_id"), values.get("question"), values["answer"] or []
            if name is None and asked is None:
                faults.add(line.where, "", "does not say to which question the answer is wrong", fix)
            elif not wrong:
                faults.add(line.where, sheet.fields["answer"], "is empty: a wrong answer is needed", "drop the row, or write one")
            else:
                for known, key in ((by_id, name), (by_text, spaced(asked or ""))):  # an id of another file is none here, the text still is
                    if key:
                        known.setdefault(key, []).extend((line.where, one) for one in wrong)
    faults.stop(f"{path.name}: wrong answers")
    return WrongAnswers(by_id, by_text)


@dataclass(frozen=True, slots=True)
class LabelRow:
    """A judged item: verdict and label in 0..1, label None where nobody gave one. Items with the same `cluster` go together."""

    judge: float
    human: float | None
    cluster: str


def read_shares(paths: Sequence[Path], maps: Mapping[str, str]) -> tuple[list[LabelRow], list[str]]:
    """The rows of files where a judge said right or wrong of many items and people of few, one column each; and notes.

    Raises: InputError with every fault: a verdict that is lacking, a value outside 0..1.
    """
    faults, rows, notes = Faults(), list[LabelRow](), list[str]()
    fix = "name them (--map judge=FIELD --map human=FIELD); for verdicts on pairs of systems give the labels with --labels FILE"
    for sheet in open_sheets(paths, SHARES, maps, faults, what="cannot be corrected", fix=fix):
        if sheet.lacks(["cluster"]):
            notes.append(f"{sheet.file}: no field for what belongs together (--map cluster=FIELD): each row counts as independent")
        for line in sheet.rows:
            values = sheet.read(line, faults)
            if "judge" in values and values["judge"] is None:
                faults.add(line.where, sheet.fields["judge"], "the judge's verdict is lacking")
            elif len(values) == len(sheet.fields):
                cluster = values.get("cluster")
                rows.append(LabelRow(values["judge"], values["human"], line.where if cluster is None else cluster))
    faults.stop("labels")
    return rows, notes
