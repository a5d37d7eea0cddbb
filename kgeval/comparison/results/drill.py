"""The drill-down: which questions of a pair are opened, and what stands in them. Pure; texts and calls come through functions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, TypeVar

from kgeval.comparison.results.found import Found
from kgeval.comparison.table import PairTable
from kgeval.records import ComparisonVerdict, Drill, DrillCall, Winner

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

T = TypeVar("T")
_OTHER: dict[Winner, Winner] = {"a": "b", "b": "a", "tie": "tie"}


def drilled(found: Found, table: PairTable, most: int) -> Iterator[Drill]:
    """Up to `most` questions of a pair, opened at the first trial that says what most of them say."""
    wins = table.wins()
    for at in telling(wins)[:most]:
        yield _opened(found, table, at, _trial(wins[at]))


def telling(wins: Floats) -> list[int]:
    """The scored questions, the most telling first: by turns the one with the largest mean of win - loss (either way) and the one that
    its trials disagree on most. Ties: the earlier question first."""
    import numpy as np

    scored = [at for at in range(len(wins)) if not np.isnan(wins[at]).all()]
    mean = {at: abs(float(np.nanmean(wins[at]))) for at in scored}
    spread = {at: float(np.nanstd(wins[at])) for at in scored}
    clear = sorted(scored, key=lambda at: -mean[at])
    mixed = sorted((at for at in scored if spread[at] > 0), key=lambda at: -spread[at])
    order: dict[int, None] = {}
    for turn in range(len(clear)):
        order |= dict.fromkeys([*clear[turn : turn + 1], *mixed[turn : turn + 1]])
    return list(order)


def _trial(said: Floats) -> int:
    """The first trial that agrees with the mean of all; where none does, the first with a result."""
    import numpy as np

    sign = np.sign(np.nanmean(said))
    agreeing = np.nonzero(said == sign)[0]
    return int(agreeing[0] if len(agreeing) else np.nonzero(~np.isnan(said))[0][0])


def _opened(found: Found, table: PairTable, at: int, trial: int) -> Drill:
    import numpy as np

    asked, names = table.questions[at], (table.system_a, table.system_b)
    place = (*names, asked.question_id, trial + 1)
    texts = found.texts(*place) if found.texts else None
    words = [None if np.isnan(one) else int(one) for one in table.words[at, trial]]
    return Drill(
        system_a=names[0], system_b=names[1], question_id=asked.question_id, level=asked.level, trial=trial + 1,
        question=found.question_text(asked.question_id) if found.question_text else None,
        answer_a=texts[0] if texts else None, answer_b=texts[1] if texts else None, words_a=words[0], words_b=words[1],
        relative=float(np.nanmean(table.wins()[at])), calls=list(_calls(found.calls(*place), table)) if found.calls else [],
    )


def _calls(verdicts: Iterable[ComparisonVerdict], table: PairTable) -> Iterator[DrillCall]:
    """Verdicts of one question and trial, call by call; those written the other way round are turned."""
    calls: dict[tuple[str | None, int, int], list[ComparisonVerdict]] = {}
    for one in verdicts:
        if one.procedure == table.procedure:
            calls.setdefault((one.first, one.trial, one.repeat), []).append(one)
    for (first, trial, repeat), parts in calls.items():
        turned = parts[0].system_a == table.system_b
        points = {one.aspect: _turned((one.score_a, one.score_b), turned=turned) for one in parts}
        given = {one.aspect: _turned((one.reason_a or "", one.reason_b or ""), turned=turned) for one in parts}
        yield DrillCall(
            first=first, trial=trial, repeat=repeat, points=points, reasons={aspect: two for aspect, two in given.items() if any(two)},
            winner=_winner(points, parts, turned=turned),
        )


def _turned(two: tuple[T, T], *, turned: bool) -> tuple[T, T]:
    return (two[1], two[0]) if turned else two


def _winner(points: dict[str, tuple[float | None, float | None]], parts: list[ComparisonVerdict], *, turned: bool) -> Winner | None:
    """Of the whole call: the judge's overall choice where he made one, else the higher sum; null where points are lacking."""
    chosen = next((one.winner for one in parts if one.aspect == "overall"), None)
    if chosen is not None:
        return _OTHER[chosen] if turned else chosen
    if any(one is None for two in points.values() for one in two):
        return None
    gap = sum((a or 0.0) - (b or 0.0) for a, b in points.values())
    return "tie" if abs(gap) <= 1e-9 else "a" if gap > 0 else "b"
