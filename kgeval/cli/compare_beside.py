"""What stands beside a comparison: anchors (has the judge moved?), labels of people, an earlier comparison."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kgeval.errors import InputError

if TYPE_CHECKING:
    from kgeval.compare.engine import Run
    from kgeval.compare.judge.ways import Case
    from kgeval.compare.kept import Round
    from kgeval.compare.table import PairTable
    from kgeval.files.label_files import PairLabel
    from kgeval.llm.asker import Asker
    from kgeval.records import Anchor, ComparisonReport, ComparisonVerdict, CorrectedRate, Drift, PairResult

SHOWN = 5


@dataclass
class Beside:
    """Read before anything is paid. `drift`: once the anchors are judged."""

    anchors: tuple[Anchor, ...] = ()
    labels: tuple[PairLabel, ...] = ()
    baseline: ComparisonReport | None = None
    seed: int = 0
    drift: Drift | None = None

    def plan(self, one: Round, asker: Asker) -> None:
        """Counts the anchors' calls in a dry run."""
        for anchor in self.anchors:
            for case in _cases(one, anchor):
                one.way.judge(asker, case)

    def judge(self, one: Round, run: Run) -> None:
        """Judges the anchors, as they stand, in one trial: only the judge can change. Raises what ends a run."""
        from kgeval.compare.drift import drift
        from kgeval.compare.engine import verdicts_of

        if not self.anchors:
            return

        def work(anchor: Anchor) -> list[ComparisonVerdict]:
            about = _about(one, anchor)
            return [said for case in _cases(one, anchor) for said in verdicts_of(one.way, case, one.way.judge(run.asker, case), about)]

        said = [one for found in run.models.map(work, self.anchors, total=len(self.anchors)) for one in found]
        self.drift = drift(self.anchors, said, self.baseline, seed=self.seed, procedure=one.way.procedure)

    def corrected(self, tables: Iterable[PairTable]) -> tuple[tuple[CorrectedRate, ...], list[str]]:
        """The pairs' rates corrected by the labels, and what is to be said of the labels."""
        from kgeval.compare.corrected import corrected, labels_of, selected

        if not self.labels:
            return (), []
        found: list[CorrectedRate] = []
        notes: dict[str, None] = {}
        for table in tables:
            labelled = labels_of(table, self.labels)
            if labelled.unknown:
                more = f" and {len(labelled.unknown) - SHOWN} more" if len(labelled.unknown) > SHOWN else ""
                notes[f"labels of questions that were not judged: {'; '.join(labelled.unknown[:SHOWN])}{more}"] = None
            if labelled.values:
                rates = corrected(table, labelled, seed=self.seed)
                found += rates
                warning = selected(rates)
                notes.update({warning: None} if warning else {})
        if not found:
            notes["no label is about a pair and question of this comparison"] = None
        return tuple(found), list(notes)

    def compared(self, report: ComparisonReport) -> ComparisonReport:
        """The report with what has changed since the baseline, in its notes: first whether the judge moved."""
        if self.baseline is None:
            return report
        return report.model_copy(update={"notes": [*_changes(report, self.baseline, self.drift), *report.notes]})


def read_beside(options: Mapping[str, Any]) -> Beside:
    """Reads the files. Raises: InputError with every fault."""
    from kgeval.files.anchor_files import read_anchors
    from kgeval.files.label_files import read_labels

    anchors = read_anchors(options["anchors"]) if options["anchors"] else ()
    labels = read_labels([options["labels"]]) if options["labels"] else ()
    baseline = _comparison(options["baseline"]) if options["baseline"] else None
    return Beside(anchors, tuple(labels), baseline, options["seed"])


def _comparison(path: Path) -> ComparisonReport:
    from pydantic import ValidationError

    from kgeval.config import explain
    from kgeval.files import read_json
    from kgeval.records import ComparisonReport

    try:
        return ComparisonReport.model_validate(read_json(path))
    except ValidationError as cause:
        wrong = "; ".join(explain(cause)[:SHOWN])
        raise InputError(f"{path}: no comparison: {wrong}", fix="give a .json that kgeval compare -o has written") from cause


def _cases(one: Round, anchor: Anchor) -> Iterator[Case]:
    from kgeval.compare.judge.ways import Case

    for a_first in (True, False)[: one.way.positions]:
        for repeat in range(1, one.repeats + 1):
            yield Case(anchor.question, anchor.answer_a, anchor.answer_b, 1, repeat, a_first)


def _about(one: Round, anchor: Anchor) -> ComparisonVerdict:
    from kgeval.compare.drift import SIDES
    from kgeval.records import ComparisonVerdict

    return ComparisonVerdict(
        question_id=anchor.id, dataset=anchor.dataset, level=anchor.level, system_a=SIDES[0], system_b=SIDES[1],
        procedure=one.way.procedure, aspect=one.way.names[0],
    )


def _changes(now: ComparisonReport, before: ComparisonReport, drift: Drift | None) -> Iterator[str]:
    if drift is not None and drift.moved:
        yield "baseline: the judge has moved on the anchors: differences from the baseline may be his, not the systems'"
    elif drift is None or drift.moved is None:
        yield "baseline: whether the judge has moved is not known (--anchors in both runs tells)"
    if now.signature != before.signature:
        yield "baseline: it was made with other settings (its signature differs): its figures are not those of this procedure"
    earlier = {(one.system_a, one.system_b): one for one in _first(before.pairs)}
    for one in _first(now.pairs):
        then = earlier.get((one.system_a, one.system_b))
        if then is not None and then.relative.value is not None and one.relative.value is not None:
            yield (
                f"baseline: {one.system_a} against {one.system_b}: relative win rate {then.relative.value:+.3f} then, "
                f"{one.relative.value:+.3f} now; {_overlap(then, one)}"
            )


def _first(pairs: Sequence[PairResult]) -> list[PairResult]:
    return [one for one in pairs if one.aspect == "overall" and one.by == "all" and not one.mean_of_datasets]


def _overlap(then: PairResult, now: PairResult) -> str:
    ends = (then.relative.low, then.relative.high, now.relative.low, now.relative.high)
    if None in ends:
        return "without intervals nothing tells whether that is more than chance"
    apart = ends[1] < ends[2] or ends[3] < ends[0]  # type: ignore[operator]
    return "the intervals do not overlap" if apart else "the intervals overlap"
