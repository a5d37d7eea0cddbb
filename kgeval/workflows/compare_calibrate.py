"""Whether a comparison can be trusted: anchors (has the judge moved?), labels of people, an earlier comparison; and a simulation that
shows that the procedure has no bias."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

from kgeval.comparison.results.pair import is_first
from kgeval.config import CompareOptions, SimulateOptions
from kgeval.errors import InputError, UsageError
from kgeval.format import first_of, plus
from kgeval.workflows.rows import read_record
from kgeval.workflows.session import Session

if TYPE_CHECKING:
    from kgeval.comparison.engine import JudgeRun
    from kgeval.comparison.judge.procedures import JudgeCase
    from kgeval.comparison.table import PairTable
    from kgeval.comparison.verdict_store import ProcedureRun
    from kgeval.llm.asker import Asker
    from kgeval.records import Anchor, ComparisonReport, ComparisonVerdict, CorrectedRate, Drift, PairResult, SimulationReport
    from kgeval.tables.label_files import PairLabel

SHOWN = 5
MOST_CELLS = 40_000_000 // 16  # questions x trials x repeats of one simulated comparison that fit in memory


@dataclass
class CalibrationInputs:
    """Read before anything is paid. `drift`: once the anchors are judged."""

    anchors: tuple[Anchor, ...] = ()
    labels: tuple[PairLabel, ...] = ()
    baseline: ComparisonReport | None = None
    seed: int = 0
    drift: Drift | None = None

    def check(self, pairs: Iterable[tuple[str, str]]) -> None:
        """Compares the labels with the pairs that are judged, before anything is paid; second runs of a system are no pairs of theirs.

        Labels that name no systems are about the only pair. Raises: InputError where there are several, or no label fits any pair.
        """
        all_pairs = list(pairs)
        bare = [label for label in self.labels if label.system_a is None]
        if bare and len(all_pairs) > 1:
            raise InputError(
                f"{len(bare)} labels do not say which systems they are about, and {len(all_pairs)} pairs are compared",
                fix="add system_a and system_b to the labels", faults=[label.where for label in bare[:SHOWN]],
            )
        if bare and all_pairs:
            ((a, b),) = all_pairs
            self.labels = tuple(
                replace(label, system_a=a, system_b=b) if label.system_a is None else label for label in self.labels
            )
        compared = {frozenset(pair) for pair in all_pairs}
        if self.labels and not any(frozenset((label.system_a, label.system_b)) in compared for label in self.labels):
            named = sorted({f"{label.system_a} and {label.system_b}" for label in self.labels})
            raise InputError(
                f"no label is about a pair of this comparison; the labels are about: {'; '.join(named[:SHOWN])}",
                fix="give labels of the compared systems, with the names that the comparison has for them",
            )

    def plan(self, main: ProcedureRun, asker: Asker) -> None:
        """Counts the anchors' calls in a dry run."""
        for anchor in self.anchors:
            for case in _cases(main, anchor):
                main.procedure.judge(asker, case)

    def judge(self, main: ProcedureRun, run: JudgeRun) -> None:
        """Judges the anchors, as they stand, in one trial: only the judge can change. Raises what ends a run."""
        from kgeval.comparison.drift import SIDES, drift
        from kgeval.comparison.engine import verdicts_of
        from kgeval.records import ComparisonVerdict

        if not self.anchors:
            return
        procedure = main.procedure

        def work(anchor: Anchor) -> list[ComparisonVerdict]:
            about = ComparisonVerdict(
                question_id=anchor.id, dataset=anchor.dataset, level=anchor.level, system_a=SIDES[0], system_b=SIDES[1],
                procedure=procedure.name, aspect=procedure.aspect_names[0],
            )
            return [
                verdict for case in _cases(main, anchor)
                for verdict in verdicts_of(procedure, case, procedure.judge(run.asker, case), about)
            ]

        verdicts = [verdict for judged in run.models.map(work, self.anchors, total=len(self.anchors)) for verdict in judged]
        self.drift = drift(self.anchors, verdicts, self.baseline, seed=self.seed, procedure=procedure.name)

    def corrected(
        self, tables: Iterable[PairTable], *, without: Collection[str] = (),
    ) -> tuple[tuple[CorrectedRate, ...], list[str]]:
        """The pairs' rates corrected by the labels, but those of questions that the tables are `without`; and what is to be said of the
        labels."""
        from kgeval.comparison.corrected import corrected, labels_of, selected

        if not self.labels:
            return (), []
        corrections: list[CorrectedRate] = []
        notes: dict[str, None] = {}
        labels = [label for label in self.labels if label.question_id not in without]
        for table in tables:
            labelled = labels_of(table, labels)
            if labelled.unknown:
                places = [label_place.partition(": question ")[0] for label_place in labelled.unknown]  # no id: notes stay under --redact
                notes[f"labels of questions that were not judged: {first_of(places, SHOWN, '; ')}"] = None
            if labelled.values:
                rates = corrected(table, labelled, seed=self.seed)
                corrections += rates
                warning = selected(rates)
                notes.update({warning: None} if warning else {})
        if not corrections:
            notes["no label is about a pair and question of this comparison"] = None
        return tuple(corrections), list(notes)

    def compared(self, report: ComparisonReport) -> ComparisonReport:
        """The report with what has changed since the baseline, in its notes: first whether the judge moved."""
        if self.baseline is None:
            return report
        return report.model_copy(update={"notes": [*_changes(report, self.baseline, self.drift), *report.notes]})


def read_calibration(options: CompareOptions) -> CalibrationInputs:
    """Reads the files. Raises: InputError with every fault."""
    from kgeval.records import ComparisonReport
    from kgeval.tables.label_files import read_anchors, read_labels

    anchors = read_anchors(options.anchors) if options.anchors else ()
    labels = read_labels([options.labels]) if options.labels else ()
    baseline = None
    if options.baseline:
        fix = "give a .json that kgeval compare -o has written"
        baseline = read_record(options.baseline, ComparisonReport, "no comparison", fix=fix, most=SHOWN)
    return CalibrationInputs(anchors, tuple(labels), baseline, options.seed)


def _cases(run: ProcedureRun, anchor: Anchor) -> Iterator[JudgeCase]:
    from kgeval.comparison.judge.procedures import JudgeCase

    for a_first in (True, False)[: run.procedure.positions]:
        for repeat in range(1, run.repeats + 1):
            yield JudgeCase(anchor.question, anchor.answer_a, anchor.answer_b, 1, repeat, a_first, sampled=run.sampled)


def _changes(now: ComparisonReport, before: ComparisonReport, drift: Drift | None) -> Iterator[str]:
    if drift is not None and drift.moved:
        yield "baseline: the judge has moved on the anchors: differences from the baseline may be the judge's, not the systems'"
    elif drift is None or drift.moved is None:
        yield "baseline: whether the judge has moved is not known (--anchors in both runs tells)"
    if now.signature != before.signature:
        yield "baseline: it was made with other settings (its signature differs): its figures are not those of this procedure"
    earlier = {(pair.system_a, pair.system_b): pair for pair in before.pairs if is_first(pair)}
    for pair in filter(is_first, now.pairs):
        then = earlier.get((pair.system_a, pair.system_b))
        if then is not None and then.relative.value is not None and pair.relative.value is not None:
            yield (
                f"baseline: {pair.system_a} against {pair.system_b}: relative win rate {plus(then.relative.value)} then, "
                f"{plus(pair.relative.value)} now; {_overlap(then, pair)}"
            )


def _overlap(then: PairResult, now: PairResult) -> str:
    ends = (then.relative.low, then.relative.high, now.relative.low, now.relative.high)
    if None in ends:
        return "without intervals nothing tells whether that is more than chance"
    disjoint = ends[1] < ends[2] or ends[3] < ends[0]  # type: ignore[operator]
    return "the intervals do not overlap" if disjoint else "the intervals overlap"


def simulate(session: Session, options: SimulateOptions) -> SimulationReport:
    """Draws comparisons by judges with known biases of systems with a known difference, and holds the procedure's figures against the
    truth. No model is asked and nothing is read. Exit code 0: all bounds are held, 1: one is not.

    Raises: UsageError for outputs that cannot be written, or more than fits in memory.
    """
    from kgeval.comparison.simulate import SimulationSettings
    from kgeval.comparison.simulate import simulate as drawn
    from kgeval.records import SimulatedScenario, SimulationBound, SimulationReport
    from kgeval.reports.write import check_outputs

    check_outputs(session.outputs, SimulationReport)
    values_given = options.model_dump(exclude={"simulate", "n_questions"}) | {"questions": options.n_questions}
    settings = SimulationSettings(**{name: value for name, value in values_given.items() if value is not None})
    if settings.questions * settings.trials * settings.repeats > MOST_CELLS:
        raise UsageError("one comparison of that size does not fit in memory", fix="give fewer questions, --trials or --repeats")
    simulation = drawn(settings, done=lambda name: session.say(f"drawn: {name}"))
    scenarios = [
        SimulatedScenario(
            name=result.scenario.name, about=result.scenario.about, truth=result.truth, questions=result.questions, kept=result.kept,
            calls=result.calls, judge=asdict(result.scenario.judge), systems=asdict(result.scenario.systems),
            sequential=result.sequential, unbiased=result.unbiased, biased=result.biased,
        )
        for result in simulation.results
    ]
    return SimulationReport(
        run=session.manifest(options, seed=settings.seed, exit_code=0 if simulation.passed else 1), runs=settings.runs, seed=settings.seed,
        trials=settings.trials, repeats=settings.repeats, confidence=settings.confidence, tie_region=settings.tie_region,
        stop_trials=settings.stop_trials, resamples=settings.resamples, passed=simulation.passed, scenarios=scenarios,
        bounds=[SimulationBound(**asdict(bound), held=bound.held) for bound in simulation.bounds],
    )
