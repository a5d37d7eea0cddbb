"""Verdicts of pairwise judges in the files of any tool, as kgeval's comparison verdicts.

Read by the names of their fields: kgeval's own, evalica (`left,right,winner`), FastChat's MT-bench (`model_1`, `g1_winner`,
`g2_winner`), benchmark-qed (`answer_1_name`, `criteria`, `NAME_score`), judgekit (`choice`, `swapped`, `sample_index`), and plain tables
with two systems and a winner under any usual name; `--map` names the others. One row may hold two calls (FastChat).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kgeval.files.cells import Misfit, absent, name, text
from kgeval.files.given import Faults, Sheet, check_maps, counted, fields_of, lacking, sheet_of, signed
from kgeval.files.plain import Line
from kgeval.files.winners import WAY_OUT, Coding, coding_of
from kgeval.records import ComparisonVerdict, Procedure, Winner

Points = tuple[float | None, float | None]
OVERALL = "overall"
FIELDS: Mapping[str, tuple[str, ...]] = {
    "question_id": ("question_id", "item_id", "qid", "query_id", "prompt_id", "instruction_id", "id", "question", "instruction", "prompt"),
    "system_a": ("system_a", "left", "model_a", "model_1", "a_model", "answer_1_name", "generator_1"),
    "system_b": ("system_b", "right", "model_b", "model_2", "b_model", "answer_2_name", "generator_2"),
    "winner": ("winner", "choice", "preference", "preferred", "label"),
    "score_a": ("score_a", "points_a"), "score_b": ("score_b", "points_b"),
    "first": ("first",), "swapped": ("swapped",),
    "aspect": ("aspect", "criterion", "criteria"),  # benchmark-qed writes criteria
    "trial": ("trial", "sample_index", "epoch"), "repeat": ("repeat",), "turn": ("turn",),
    "length_a": ("length_a", "a_len", "words_a", "len_a"), "length_b": ("length_b", "b_len", "words_b", "len_b"),
    "procedure": ("procedure",), "failure": ("failure", "error"), "dataset": ("dataset",), "level": ("level",),
    "aligned": ("aligned",),
}
PROCEDURES: tuple[Procedure, ...] = ("scores", "single", "pairwise-choice", "differential", "biased")
NO_IDS = "no question ids: each row counts as a question of its own; where questions repeat, intervals are too narrow"
CHOSEN: Mapping[Winner, Points] = {"a": (1.0, 0.0), "b": (0.0, 1.0), "tie": (0.5, 0.5)}
NEITHER = "\0"
TWICE = "name the field that tells them apart (--map trial=FIELD or --map repeat=FIELD), or take one row out"


class _Unclear(Misfit):
    """A winner that cannot be read."""


@dataclass(frozen=True)
class VerdictsWanted:
    """How verdict files are read: `maps` (--map), `winners` (--winner), the `range` that points must lie in, both ends included."""

    maps: Mapping[str, str] = field(default_factory=dict)
    winners: Mapping[str, Winner] = field(default_factory=dict)
    range: tuple[float, float] | None = None


@dataclass(frozen=True)
class Verdicts:
    """What was read. `by_row`: no file has question ids, so each row counts as a question of its own."""

    verdicts: tuple[ComparisonVerdict, ...]
    rows: Mapping[str, int]
    by_row: bool = False
    notes: tuple[str, ...] = ()


def read_verdicts(paths: Sequence[Path], wanted: VerdictsWanted) -> Verdicts:
    """The verdicts of all files in their order. Raises: InputError with every fault of every file; UsageError for a faulty --map."""
    faults = Faults()
    sheets = [sheet_of(path, faults) for path in paths]
    check_maps(wanted.maps, FIELDS, sheets)
    found: list[ComparisonVerdict] = []
    notes: list[str] = []
    taken: dict[tuple[Any, ...], str] = {}
    for sheet in sheets:
        reader = _reader(sheet, wanted, faults)
        if reader is not None:
            for line in sheet.rows:
                found += reader.read(line, faults, taken)
            notes += reader.notes
    faults.stop("verdicts")
    return Verdicts(tuple(found), {sheet.file: len(sheet.rows) for sheet in sheets}, NO_IDS in notes, tuple(dict.fromkeys(notes)))


def _reader(sheet: Sheet, wanted: VerdictsWanted, faults: Faults) -> _Reader | None:
    """How a file's rows are read; null, with a fault, where fields are lacking or numbers for winners are not clear."""
    fields = fields_of(sheet, FIELDS, wanted.maps)
    games = tuple(one for one in ("g1_winner", "g2_winner") if one in sheet.names and "winner" not in wanted.maps)
    by_name = not games and "winner" not in fields and _score_fields(sheet, fields) is not None
    scored = "score_a" in fields and "score_b" in fields
    needed = {} if games or by_name or scored or "winner" in fields else {"winner": "who won, or score_a and score_b"}
    if bool("system_a" in fields) != bool("system_b" in fields):
        needed |= {one: "the name of a system" for one in ("system_a", "system_b") if one not in fields}
    if needed:
        faults.add(sheet.file, "", lacking(sheet, "is no verdict file", needed), "name the fields: --map winner=FIELD")
        return None
    try:
        values = [value for one in games or (fields.get("winner"),) if one for value in sheet.texts(one)]
        coding = coding_of(values, wanted.winners)
    except Misfit as cause:
        faults.add(sheet.file, fields.get("winner", "winner"), str(cause), WAY_OUT)
        return None
    return _Reader(sheet, fields, games, by_name, coding, wanted.range)


def _score_fields(sheet: Sheet, fields: Mapping[str, str]) -> str | None:
    """benchmark-qed's way: a row names both answers, and the points stand under NAME_score."""
    named = {str(value) for ours in ("system_a", "system_b") if ours in fields for value in sheet.texts(fields[ours]) if value is not None}
    return "NAME_score" if named and all(f"{one}_score" in sheet.names for one in named) else None


@dataclass(frozen=True)
class _Reader:
    """Reads the rows of one file. `games`: fields of winners, the first with system A first, the second with B; `by_name`: points stand
    under NAME_score."""

    sheet: Sheet
    fields: Mapping[str, str]
    games: tuple[str, ...]
    by_name: bool
    coding: Coding
    range: tuple[float, float] | None

    @property
    def notes(self) -> list[str]:
        """What was decided about the file."""
        told = []
        if "question_id" not in self.fields:
            told.append(NO_IDS)
        if "system_a" not in self.fields:
            told.append("no names of systems: they are called a and b")
        return told

    def read(self, line: Line, faults: Faults, taken: dict[tuple[Any, ...], str]) -> Iterator[ComparisonVerdict]:
        """The verdicts of a row. Its faults go to `faults`; `taken`: places that have a verdict -> where."""
        try:
            common = self._common(line)
        except Misfit as cause:
            name_of, _, what = str(cause).partition("\0")
            faults.add(line.where, name_of, what)
            return
        for one in self._calls(line, common, faults):
            key = _place(one)
            if key in taken:
                faults.add(line.where, "", f"a second verdict for the place of {taken[key]}", TWICE)
            taken.setdefault(key, line.where)
            yield one

    def _common(self, line: Line) -> dict[str, Any]:
        """The fields that all calls of a row share. Raises: Misfit, `field NUL what`."""
        row = line.value
        got: dict[str, Any] = {}
        for ours, read in _READERS.items():
            theirs = self.fields.get(ours)
            if theirs is not None:
                try:
                    got[ours] = read(row.get(theirs))
                except Misfit as cause:
                    raise Misfit(f"{theirs}\0{cause}") from cause
        a, b = (got.get(f"system_{side}") if f"system_{side}" in self.fields else side for side in "ab")
        if a is None or b is None or a == b:
            what = "the name of a system is lacking" if a is None or b is None else f"'{a}' stands against itself: give two runs two names"
            raise Misfit(f"{self.fields.get('system_b', 'system_b')}\0{what}")
        question = got.get("question_id")
        if question is None:
            if "question_id" in self.fields:
                raise Misfit(f"{self.fields['question_id']}\0the id of the question is lacking")
            question = line.where
        return {**got, "system_a": a, "system_b": b, "question_id": question}

    def _calls(self, line: Line, common: dict[str, Any], faults: Faults) -> Iterator[ComparisonVerdict]:
        for game, value, first, trial in self._said(line.value, common):
            try:
                yield self._verdict(common, value, first, trial)
            except _Unclear as cause:
                faults.add(line.where, game, str(cause), WAY_OUT)
            except Misfit as cause:
                faults.add(line.where, game, str(cause))

    def _said(self, row: Mapping[str, Any], common: Mapping[str, Any]) -> Iterator[tuple[str, Any, str | None, int | None]]:
        """Field, value, who stood first, trial: one or two calls of a row."""
        a, b, trial = common["system_a"], common["system_b"], common.get("trial")
        if self.games:
            for one, first in zip(("g1_winner", "g2_winner"), (a, b), strict=True):
                if one in self.games:
                    yield one, row.get(one), first, trial
        elif self.by_name:  # benchmark-qed: trials from 0, each even one and the next are one exchange of positions
            yield f"{a}_score", (row.get(f"{a}_score"), row.get(f"{b}_score")), a, None if trial is None else trial // 2
        else:
            yield self.fields.get("winner", "winner"), row.get(self.fields.get("winner", "")), self._first(common), trial

    def _first(self, common: Mapping[str, Any]) -> str | None:
        a, b, swapped, first = common["system_a"], common["system_b"], common.get("swapped"), common.get("first")
        if swapped is not None:
            return str(b) if swapped else str(a)
        if first is None:
            return None
        if first in (a, b):
            return str(first)
        return {"a": str(a), "b": str(b), "left": str(a), "right": str(b)}.get(str(first).lower(), NEITHER)

    def _verdict(self, common: Mapping[str, Any], value: Any, first: str | None, trial: int | None) -> ComparisonVerdict:
        if first == NEITHER:
            raise Misfit(f"'{common['first']}' stood first, which is neither '{common['system_a']}' nor '{common['system_b']}'")
        points, winner = self._points(common, value), None
        if not isinstance(value, tuple):
            try:
                winner = self.coding.read(value, common["system_a"], common["system_b"])
            except Misfit as cause:
                raise _Unclear(str(cause)) from cause
        failure = common.get("failure")
        if winner is None and None not in points:
            winner = _higher(points)
        if winner is None:
            failure = failure or "no winner"
        elif None in points:
            points = CHOSEN[winner]
        if failure is not None:
            points, winner = (None, None), None
        kept = {one: common.get(one) for one in ("dataset", "level", "length_a", "length_b")}
        return ComparisonVerdict(
            question_id=common["question_id"], system_a=common["system_a"], system_b=common["system_b"], first=first,
            trial=trial if trial is not None else 1, repeat=common["repeat"] if common.get("repeat") is not None else 1,
            aspect=self._aspect(common), procedure=common.get("procedure") or "pairwise-choice", score_a=points[0], score_b=points[1],
            winner=winner, failure=failure, aligned=bool(common.get("aligned")), **kept,
        )

    def _points(self, common: Mapping[str, Any], value: Any) -> Points:
        """The points of both answers. Raises: Misfit for some outside the range."""
        given: Points = (common.get("score_a"), common.get("score_b"))
        if isinstance(value, tuple):
            given = (signed(value[0]), signed(value[1]))
        outside = [one for one in given if one is not None and self.range is not None and not self.range[0] <= one <= self.range[1]]
        if outside and self.range is not None:
            raise Misfit(f"{outside[0]:g} is outside the range {self.range[0]:g} to {self.range[1]:g}")
        return given

    def _aspect(self, common: Mapping[str, Any]) -> str:
        turn = common.get("turn")
        return common.get("aspect") or (f"turn {turn}" if turn is not None and self.games else OVERALL)


def _higher(points: Points) -> Winner:
    a, b = points
    return "tie" if a is None or b is None or a == b else "a" if a > b else "b"


def _procedure(value: Any) -> str | None:
    found = text(value)
    if found is not None and found not in PROCEDURES:
        raise Misfit(f"'{found[:40]}' is no procedure: {', '.join(PROCEDURES)}")
    return found


def _flag(value: Any) -> bool | None:
    number = signed(value)
    if number is not None and number not in (0.0, 1.0):
        raise Misfit(f"true or false expected, found {str(value)[:40]!r}")
    return None if number is None else bool(number)


def _failure(value: Any) -> str | None:
    return None if absent(value) or value is False else text(value)


_READERS: Mapping[str, Any] = {
    "question_id": name, "system_a": name, "system_b": name, "first": name, "swapped": _flag, "aspect": text, "trial": counted,
    "repeat": counted, "length_a": counted, "length_b": counted, "procedure": _procedure, "failure": _failure, "dataset": text,
    "level": text, "turn": counted, "score_a": signed, "score_b": signed, "aligned": _flag,
}


def _place(one: ComparisonVerdict) -> tuple[Any, ...]:
    """The place of a verdict: the same for A against B and B against A."""
    pair = tuple(sorted((one.system_a, one.system_b)))
    return (*pair, one.question_id, one.procedure, one.trial, one.repeat, one.first, one.aspect)


def pairs_of(verdicts: Iterable[ComparisonVerdict]) -> list[tuple[str, str]]:
    """The pairs in the order of first sight, each in the direction in which it was seen first."""
    found: dict[frozenset[str], tuple[str, str]] = {}
    for one in verdicts:
        found.setdefault(frozenset((one.system_a, one.system_b)), (one.system_a, one.system_b))
    return list(found.values())
