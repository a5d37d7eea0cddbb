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

from kgeval.records import ComparisonVerdict, Procedure, Winner
from kgeval.tables.cells import Misfit, signed
from kgeval.tables.fields import VERDICTS as FIELDS
from kgeval.tables.given import Faults, Sheet, check_range, open_sheets
from kgeval.tables.output import replacing, write_cells
from kgeval.tables.plain import Line
from kgeval.tables.winners import Coding, coding_of

__all__ = ["FIELDS", "Verdicts", "VerdictsWanted", "pairs_of", "read_verdicts", "write_duels"]

Points = tuple[float | None, float | None]
OVERALL = "overall"
PROCEDURES: tuple[Procedure, ...] = ("scores", "single", "pairwise-choice", "differential", "biased")
NO_IDS = "no question ids: each row counts as a question of its own; where questions repeat, intervals are too narrow"
CHOSEN: Mapping[Winner, Points] = {"a": (1.0, 0.0), "b": (0.0, 1.0), "tie": (0.5, 0.5)}
# No system can be called so.
NEITHER = "\0"
SIDES = ("a", "b", "both")  # who gave no answer
_OUTCOMES = {1: "left", 0: "tie", -1: "right"}
TWICE = "name the field that tells them apart (--map trial=FIELD or --map repeat=FIELD), or take one row out"


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
    faults, verdicts, notes = Faults(), list[ComparisonVerdict](), list[str]()
    sheets = open_sheets(paths, FIELDS, wanted.maps, faults)
    for sheet in sheets:
        reader = _reader(sheet, wanted, faults)
        if reader is not None:
            for line in sheet.rows:
                verdicts += reader.read(line, faults)
            notes += [NO_IDS] * ("question_id" not in sheet.fields)
            notes += ["no names of systems: they are called a and b"] * ("system_a" not in sheet.fields)
    faults.stop("verdicts")
    return Verdicts(tuple(verdicts), {sheet.file: len(sheet.rows) for sheet in sheets}, NO_IDS in notes, tuple(dict.fromkeys(notes)))


def _reader(sheet: Sheet, wanted: VerdictsWanted, faults: Faults) -> _Reader | None:
    """How a file's rows are read; None, with a fault, where fields are lacking or numbers for winners are not clear."""
    games = tuple(name for name in ("g1_winner", "g2_winner") if name in sheet.names and "winner" not in wanted.maps)
    winner = sheet.fields.get("winner")
    by_name = not games and winner is None and _points_by_name(sheet)
    missing = [] if games or by_name or winner is not None or not sheet.lacks(["score_a", "score_b"]) else ["winner"]
    alone = sheet.lacks(["system_a", "system_b"])
    # Both names or none: without any the systems are a and b.
    missing += alone if len(alone) == 1 else []
    if missing:
        faults.add(sheet.file, "", sheet.refused("is no verdict file", missing), "name the fields: --map winner=FIELD")
        return None
    try:
        values = [value for name in games or (winner,) if name for value in sheet.texts(name)]
        return _Reader(sheet, games, by_name, coding_of(values, wanted.winners), wanted.range)
    except Misfit as cause:
        faults.add(sheet.file, winner or "winner", str(cause), cause.fix)
        return None


def _points_by_name(sheet: Sheet) -> bool:
    """Whether it is benchmark-qed's way: a row names both answers, and the points stand under NAME_score."""
    ends = [sheet.fields[ours] for ours in ("system_a", "system_b") if ours in sheet.fields]
    named = {str(value) for end in ends for value in sheet.texts(end) if value is not None}
    return bool(named) and all(f"{name}_score" in sheet.names for name in named)


@dataclass(frozen=True)
class _Reader:
    """Reads the rows of one file. `games`: fields of winners, the first with system A first, the second with B; `by_name`: points stand
    under NAME_score."""

    sheet: Sheet
    games: tuple[str, ...]
    by_name: bool
    coding: Coding
    range: tuple[float, float] | None

    def read(self, line: Line, faults: Faults) -> Iterator[ComparisonVerdict]:
        """The verdicts of a row. Its faults go to `faults`."""
        common = self._common(line, faults)
        for field_of, value, first, trial in self._calls(line.value, common) if common is not None else ():
            try:
                verdict = self._verdict(common or {}, value, first, trial)
            except Misfit as cause:
                faults.add(line.where, field_of, str(cause), cause.fix)
                continue
            faults.once(_place(verdict), line.where, "a second verdict", TWICE)
            yield verdict

    def _common(self, line: Line, faults: Faults) -> dict[str, Any] | None:
        """The fields that all calls of a row share; None, with faults, where they do not fit."""
        values, fields = self.sheet.whole(line, faults), self.sheet.fields
        if values is None:
            return None
        a, b = (values.get(f"system_{side}") if f"system_{side}" in fields else side for side in "ab")
        if a is None or b is None or a == b:
            what = "the name of a system is lacking" if a is None or b is None else f"'{a}' stands against itself: give two runs two names"
            faults.add(line.where, fields.get("system_b", "system_b"), what)
            return None
        procedure = values.get("procedure")
        if procedure is not None and procedure not in PROCEDURES:
            faults.add(line.where, fields["procedure"], f"'{procedure[:40]}' is no procedure: {', '.join(PROCEDURES)}")
            return None
        if values.get("question_id") is None and "question_id" in fields:
            faults.add(line.where, fields["question_id"], "the id of the question is lacking")
            return None
        return {**values, "system_a": a, "system_b": b, "question_id": values.get("question_id", line.where)}

    def _calls(self, row: Mapping[str, Any], common: Mapping[str, Any]) -> Iterator[tuple[str, Any, str | None, int | None]]:
        """Field, value, who stood first, trial: one or two calls of a row."""
        a, b, trial = common["system_a"], common["system_b"], common.get("trial")
        if self.games:
            for name, first in zip(("g1_winner", "g2_winner"), (a, b), strict=True):
                if name in self.games:
                    yield name, row.get(name), first, trial
        elif self.by_name:  # benchmark-qed: trials from 0, each even one and the next are one exchange of positions
            yield f"{a}_score", (row.get(f"{a}_score"), row.get(f"{b}_score")), a, None if trial is None else trial // 2
        else:
            yield self.sheet.fields.get("winner", "winner"), common.get("winner"), self._first(common), trial

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
        points: Points = (common.get("score_a"), common.get("score_b"))
        winner = None
        if self.by_name:
            points = (signed(value[0]), signed(value[1]))
        for point in points:
            check_range(point, self.range)
        if not self.by_name:
            winner = self.coding.read(value, common["system_a"], common["system_b"])
        failure = common.get("failure")
        if winner is None and None not in points:
            winner = _higher(*points)
        if winner is None:
            failure = failure or "no winner"
        elif None in points and common.get("unanswered") not in SIDES:  # without an answer there are no points
            points = CHOSEN[winner]
        if failure is not None:
            points, winner = (None, None), None
        turn = f"turn {common['turn']}" if self.games and common.get("turn") is not None else OVERALL
        kept = {name: common.get(name) for name in ("dataset", "level", "document", "length_a", "length_b")}
        if common.get("unanswered") in SIDES:
            kept["unanswered"] = common["unanswered"]
        return ComparisonVerdict(
            question_id=common["question_id"], system_a=common["system_a"], system_b=common["system_b"], first=first,
            trial=trial if trial is not None else 1, repeat=common["repeat"] if common.get("repeat") is not None else 1,
            aspect=common.get("aspect") or turn, procedure=common.get("procedure") or "pairwise-choice", score_a=points[0],
            score_b=points[1], winner=winner, failure=failure, aligned=bool(common.get("aligned")), **kept,
        )


def _higher(a: float | None, b: float | None) -> Winner:
    return "tie" if a is None or b is None or a == b else "a" if a > b else "b"


def _place(one: ComparisonVerdict) -> tuple[Any, ...]:
    """The place of a verdict: the same for A against B and B against A."""
    pair = tuple(sorted((one.system_a, one.system_b)))
    return (*pair, one.question_id, one.procedure, one.trial, one.repeat, one.first, one.aspect)


def pairs_of(verdicts: Iterable[ComparisonVerdict]) -> list[tuple[str, str]]:
    """The pairs in the order of first sight, each in the direction in which it was seen first."""
    pairs: dict[frozenset[str], tuple[str, str]] = {}
    for verdict in verdicts:
        pairs.setdefault(frozenset((verdict.system_a, verdict.system_b)), (verdict.system_a, verdict.system_b))
    return list(pairs.values())


def write_duels(path: Path, rows: Iterable[tuple[str, str, int, str]]) -> None:
    """Writes evalica's CSV with the question beside it, as a whole or not at all, which `read_verdicts` reads back.

    A row an outcome: left, right, 1 (left won), 0 (tie) or -1, question. No name is taken for a formula.

    Raises: InputError.
    """
    with replacing(path) as file:
        write_cells(file, [("left", "right", "winner", "question_id")])
        write_cells(file, ((left, right, _OUTCOMES[outcome], question) for left, right, outcome, question in rows))
