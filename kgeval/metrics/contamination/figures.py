"""The figures: what the closed book knows by group, scores without it, gains over it, known against unknown documents, false answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from kgeval.metrics.contamination.documents import Knowledge, sides
from kgeval.metrics.contamination.measures import ATTEMPTED, FALSE, JUDGED, LONG
from kgeval.metrics.contamination.question_table import QuestionTable, ScoredQuestions, missing_closed_book
from kgeval.metrics.summary.gains import gain
from kgeval.metrics.summary.means import mean_of_values
from kgeval.records import (
    ClosedBookGroup,
    ContaminationDocument,
    ContaminationReport,
    Gain,
    KnownSide,
    Mean,
    RunManifest,
    SystemMean,
    WithWithout,
)
from kgeval.rounding import REST
from kgeval.stats.intervals import newcombe, quantile, wilson

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Whole = npt.NDArray[np.int64]

MOST_DOCUMENTS = 10_000


@dataclass(frozen=True)
class ContaminationInputs:
    """What a report is made from. `system`: the closed book; `decides`: the metric that says what is right, from `right_from` on."""

    asked: QuestionTable
    found: ScoredQuestions
    system: str
    decides: str
    right_from: float
    knowledge: Knowledge
    seed: int = 0

    @property
    def others(self) -> list[str]:
        """The systems that are compared with the closed book."""
        return [name for name in self.found.systems if name != self.system]


def report_of(case: ContaminationInputs, run: RunManifest) -> ContaminationReport:
    """All figures of a case but the probe. Raises: InputError where the closed book has no score."""
    import numpy as np

    asked, answerable = case.asked, case.asked.answerable()
    missing = missing_closed_book(asked, case.found, case.system, case.decides)
    marked = marked_of(case)
    without = np.setdiff1d(np.arange(len(asked)), marked)
    known, difference = _known(case, marked)
    report = ContaminationReport(
        run=run, closed_book=case.system, metric=case.decides, right_from=case.right_from, n=len(asked),
        how="judge" if case.decides == JUDGED else "words", negative=len(asked) - len(answerable), missing=missing,
        accuracy=mean_on(case, case.system, case.decides, answerable), attempted=mean_on(case, case.system, ATTEMPTED, answerable),
        marked=[asked.ids[number] for number in marked], groups=_groups(case, marked), scores=_scores(case, without),
        gains=_gains(case, case.found.metrics), gains_without=_gains(case, case.found.metrics, without),
        documents=_documents(case, marked), known=known, known_documents=_about_known(case),
        false_answers=_false(case),
    )
    return report.model_copy(update={"notes": _notes(report, case), **difference})


def marked_of(case: ContaminationInputs) -> Whole:
    """Numbers of the answerable questions that the closed book answers right, in their order: what a model may have read before [K 6.3
    found 51 of 326, 26 of them on the one text that is public]."""
    import numpy as np

    values, numbers = case.found.table.values(case.system, case.decides)
    # a mean over repetitions may miss the limit by its last digits
    right = values.scored & (np.nan_to_num(values.value, nan=-1.0) >= case.right_from - REST)
    return np.intersect1d(numbers[right], case.asked.answerable())


def mean_on(case: ContaminationInputs, system: str, metric: str, only: Whole | None = None) -> Mean:
    """The mean of a metric over some of the questions. Shares (all values 0 or 1) have Wilson's interval, which also has a width where
    all are the same; the others BCa's."""
    import numpy as np

    values, numbers = case.found.table.values(system, metric)
    if only is not None:
        values = values.of(np.isin(numbers, only))
    mean = mean_of_values(values, seed=case.seed)
    scored = values.value[values.scored]
    if mean.mean is None or not np.isin(scored, (0.0, 1.0)).all():
        return mean
    ends = wilson(mean.mean, mean.n_scored, quantile=quantile())
    return mean.model_copy(update={"low": ends.low, "high": ends.high})


def _groups(case: ContaminationInputs, marked: Whole) -> list[ClosedBookGroup]:
    """By level and kind; documents have a list of their own."""
    import numpy as np

    levels = [(level,) if level else () for level in case.asked.levels]
    rows = []
    sets: tuple[tuple[Literal["level", "kind"], Mapping[str, Whole]], ...] = (
        ("level", case.asked.by(levels)), ("kind", case.asked.by(case.asked.kinds)),
    )
    for by, groups in sets:
        for value, numbers in groups.items():
            mean = mean_on(case, case.system, case.decides, numbers)
            rows.append(ClosedBookGroup(by=by, value=value, accuracy=mean, marked=int(np.isin(numbers, marked).sum())))
    return rows


def _scores(case: ContaminationInputs, without: Whole) -> list[WithWithout]:
    rows = []
    for system in case.found.systems:
        for metric in case.found.metrics:
            overall = mean_on(case, system, metric)
            if overall.n:
                rows.append(WithWithout(system=system, metric=metric, overall=overall, without=mean_on(case, system, metric, without)))
    return rows


def _gains(case: ContaminationInputs, metrics: Sequence[str], only: Whole | None = None, *, empty: bool = False) -> list[Gain]:
    """What each other system gains over the closed book, by these metrics. `empty`: also where both have no question in common."""
    gains = [
        gain(case.found.table, metric, (system, case.system), seed=case.seed, only=only)
        for metric in metrics for system in case.others
    ]
    return [each for each in gains if empty or each.n]


def _documents(case: ContaminationInputs, marked: Whole) -> list[ContaminationDocument]:
    import numpy as np

    return [
        ContaminationDocument(
            document=name, accuracy=mean_on(case, case.system, case.decides, numbers), marked=int(np.isin(numbers, marked).sum()),
            gains=_gains(case, [case.decides], numbers, empty=True), known=case.knowledge.of(name),
            published=case.knowledge.date_of(name),
        )
        for name, numbers in list(case.asked.by(case.asked.documents).items())[:MOST_DOCUMENTS]
    ]


def _known(case: ContaminationInputs, marked: Whole) -> tuple[list[KnownSide], dict[str, float]]:
    """Both sides, and the difference of their marked shares. A question of documents on both sides is on neither."""
    import numpy as np

    if not case.knowledge.told:
        return [], {}
    by_document = case.asked.by(case.asked.documents)
    chosen = sides(by_document, case.knowledge)
    nobody = np.zeros(0, dtype=np.int64)
    of = {side: np.unique(np.concatenate([nobody, *(by_document[name] for name in names)])) for side, names in chosen.items()}
    both = np.intersect1d(of[True], of[False])
    both_sides = [_side(case, marked, side, len(chosen[side]), np.setdiff1d(of[side], both)) for side in (True, False)]
    (p1, n1), (p2, n2) = ((side.marked_share, side.accuracy.n_scored) for side in both_sides)
    if p1 is None or p2 is None:
        return both_sides, {}
    ends = newcombe((p1, n1), (p2, n2), quantile=quantile())
    return both_sides, {"difference": p1 - p2, "difference_low": ends.low, "difference_high": ends.high}


def _side(case: ContaminationInputs, marked: Whole, known: bool, documents: int, numbers: Whole) -> KnownSide:
    import numpy as np

    accuracy, right = mean_on(case, case.system, case.decides, numbers), int(np.isin(numbers, marked).sum())
    side = KnownSide(
        known=known, documents=documents, accuracy=accuracy, gains=_gains(case, [case.decides], numbers, empty=True),
    )
    if not accuracy.n_scored:
        return side
    share = right / accuracy.n_scored
    ends = wilson(share, accuracy.n_scored, quantile=quantile())
    return side.model_copy(update={"marked_share": share, "low": ends.low, "high": ends.high})


def _about_known(case: ContaminationInputs) -> Mean | None:
    """The share of the questions that are about a document which the model may know (any of theirs); None where nothing is told of
    documents. Questions of which it is not known are in the bounds."""
    if not case.knowledge.told:
        return None
    known = undecided = 0
    for documents in case.asked.documents:
        told = {case.knowledge.of(name) for name in documents} or {None}
        known, undecided = known + (True in told), undecided + (True not in told and None in told)
    n = len(case.asked)
    counts = Mean(n=n, n_scored=n - undecided, failures={"no date": undecided} if undecided else {})
    if undecided == n:
        return counts
    ends = wilson(known / (n - undecided), n - undecided, quantile=quantile())
    figures = {"mean": known / (n - undecided), "low": ends.low, "high": ends.high}
    return counts.model_copy(update={**figures, "bound_low": known / n, "bound_high": (known + undecided) / n})


def _false(case: ContaminationInputs) -> list[SystemMean]:
    """Of the questions that the texts do not answer: the share that each system answers all the same."""
    import numpy as np

    beyond = np.flatnonzero(np.frombuffer(bytes(case.asked.outside), dtype=np.uint8))
    if not len(beyond):
        return []
    return [SystemMean(system=system, mean=mean_on(case, system, FALSE, beyond)) for system in case.found.systems]


def _notes(report: ContaminationReport, case: ContaminationInputs) -> list[str]:
    notes, answerable = [], report.n - report.negative
    if report.missing:
        notes.append(f"{report.missing:,} of {answerable:,} answerable questions have no closed-book answer: they are not marked")
    if report.how == "words" and case.asked.long:
        notes.append(
            f"{case.asked.long:,} of {report.n:,} questions have right answers of more than {LONG} words only, which are seldom said word "
            "for word: name a judge with --model",
        )
    if report.how == "words":
        notes.append("attempts and false answers are told by phrases of refusal, not by a judge (--model NAME)")
    if case.found.foreign:
        notes.append(f"{case.found.foreign:,} scores are of questions that the file does not have: left out")
    if not any(case.asked.documents):
        notes.append("no question names a document: nothing is split by document")
    if not report.negative:
        notes.append("no question is negative or out of context: the false-answer rate is not measurable")
    return notes
