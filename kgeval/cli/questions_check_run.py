"""A run of `kgeval questions check`: the dry run, the checks, the questions written again, the report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kgeval.cli.common import say
from kgeval.cli.models import show_plan
from kgeval.cli.questions_stats import STDIN
from kgeval.cli.show import show_report
from kgeval.reports.display import beyond, percent

if TYPE_CHECKING:
    from kgeval.files.asked import Questions
    from kgeval.graph.connect import Graph
    from kgeval.llm.embed import Embedder
    from kgeval.llm.session import Models
    from kgeval.manifest import Started
    from kgeval.questions.checking.gates import CheckGate
    from kgeval.questions.checking.paths import PathChecks
    from kgeval.questions.duplicates import Asks, Twin
    from kgeval.records import CheckedSet, CheckReport, Layout

MISSED, INCOMPLETE = 1, 3
SHOWN_TWINS = 1_000
WORDS = {"exact": "the same text", "normalised": "the same words", "embedding": "nearly the same"}


@dataclass
class CheckJob:
    """One run: what was asked for, and what it is done with. `files`: how the sets are called, in the order of `sets`."""

    options: Mapping[str, Any]
    started: Started
    files: list[str]
    checks: tuple[str, ...]
    gates: list[CheckGate]
    results: list[Path]
    reports: list[Path]
    models: Models | None
    graph: Graph | None
    layout: Layout | None
    embedder: Embedder | None
    max_error_rate: float
    sets: list[Questions] = field(default_factory=list)


@dataclass(frozen=True)
class _Twins:
    """Pairs that were found: of each set, id -> (earlier id, how); and the pairs with the places of their questions."""

    given: Sequence[Asks] = ()
    pairs: Sequence[Twin] = ()

    def within(self, number: int) -> dict[str, tuple[str, str]]:
        """The pairs inside a set, as CheckDesk.earlier wants them."""
        own = (twin for twin in self.pairs if self.given[twin.later].set == self.given[twin.earlier].set == number)
        return {self.given[twin.later].id: (self.given[twin.earlier].id, _how(twin)) for twin in own}


def plan(job: CheckJob) -> int:
    """The dry run: the calls that are not in the journal yet, by the same code that makes them."""
    from kgeval.llm.asker import Dry
    from kgeval.llm.calls import Limits
    from kgeval.llm.plan import Plan
    from kgeval.questions.checking.run import CheckDesk, checked

    if job.models is None:
        show_plan(Plan((), Limits()))
        return 0
    dry = Dry(job.models)
    for questions in job.sets:
        desk = CheckDesk(job.checks, dry, job.graph, job.options["query_timeout"], paths=_paths(job, questions))
        for question in questions:
            checked(question, desk)
    show_plan(Plan(dry.stages(), job.models.limits))
    return 0


def finish(job: CheckJob) -> int:
    """Checks all questions, writes and shows what came, and says by its exit code whether thresholds were met."""
    try:
        twins = _twins(job)
        sets = [_checked(job, number, twins) for number in range(len(job.sets))]
    except KeyboardInterrupt:
        say("replies that came are in the journal: the same command goes on; nothing was written")
        raise
    report = _report(job, sets, twins)
    for path in job.results:
        say(f"wrote {path}")
    show_report(report, job.options, job.reports)
    for line in _told(report, job):
        say(line)
    return report.run.exit_code


def _twins(job: CheckJob) -> _Twins:
    """Questions that ask the same, within the sets and across them."""
    from kgeval.questions.duplicates import asks, twins

    if "duplicate" not in job.checks:
        return _Twins()
    given = [asks(question, number) for number, questions in enumerate(job.sets) for question in questions]
    embed = job.embedder.embed if job.embedder is not None else None
    return _Twins(given, list(twins(given, embed, job.options["near"])))


def _paths(job: CheckJob, questions: Questions) -> dict[str, PathChecks]:
    """What the graph proves of the paths of a set, all at once."""
    from kgeval.questions.checking.paths import path_checks

    if job.graph is None or job.layout is None:
        return {}
    return path_checks(questions, job.graph, job.layout, timeout=job.options["query_timeout"])


def _how(twin: Twin) -> str:
    return WORDS[twin.how] + (f" ({twin.similarity:.2f})" if twin.similarity is not None else "")


def _checked(job: CheckJob, number: int, twins: _Twins) -> CheckedSet:
    """The figures of one set; its questions are written as they come."""
    from kgeval.files.plain import replacing
    from kgeval.questions.checking.figures import Tally
    from kgeval.questions.checking.run import CheckDesk, check_questions, with_checks

    questions = job.sets[number]
    desk = CheckDesk(job.checks, None, job.graph, job.options["query_timeout"], twins.within(number), _paths(job, questions))
    tally = Tally(job.files[number], job.checks, examples=job.options["examples"])
    with ExitStack() as stack:
        files = [stack.enter_context(replacing(path)) for path in job.results]
        for question, found in check_questions(questions, desk, job.models):
            tally.add(question, found)
            for file in files:
                file.write(with_checks(question, found).model_dump_json(exclude_defaults=True) + "\n")
    return tally.result(questions.notes)


def _report(job: CheckJob, sets: list[CheckedSet], twins: _Twins) -> CheckReport:
    from kgeval.questions.checking.figures import differences
    from kgeval.questions.checking.gates import evaluated
    from kgeval.records import CheckReport

    stopped = job.models is not None and job.models.exit_code != 0
    gates = evaluated(job.gates, sets, complete=not stopped)
    across = sum(twins.given[pair.later].set != twins.given[pair.earlier].set for pair in twins.pairs)
    report = CheckReport(
        run=job.started.manifest(
            server=job.graph.info if job.graph else None, inputs=[path for path in job.options["files"] if path != STDIN],
            asked=job.models.asked() if job.models else None,
        ),
        complete=not stopped, near=job.options["near"] if job.embedder is not None else None, sets=sets,
        differences=differences(*sets) if len(sets) == 2 else [], twins=list(_pairs(job, twins)), twins_across=across,
        twins_within={name: len(twins.within(number)) for number, name in enumerate(job.files)} if twins.given else {}, gates=gates,
        notes=list(job.models.notes if job.models else []),
    )
    return report.model_copy(update={"run": report.run.model_copy(update={"exit_code": _code(report, job, stopped=stopped)})})


def _pairs(job: CheckJob, twins: _Twins) -> Iterator[Any]:
    from kgeval.records import QuestionTwin

    for twin in twins.pairs[:SHOWN_TWINS]:
        later, earlier = twins.given[twin.later], twins.given[twin.earlier]
        yield QuestionTwin(
            file=job.files[later.set], id=later.id, other_file=job.files[earlier.set], other_id=earlier.id, how=twin.how,
            similarity=twin.similarity,
        )


def _code(report: CheckReport, job: CheckJob, *, stopped: bool) -> int:
    from kgeval.questions.checking.figures import failed_share

    if stopped or any(gate.met is None for gate in report.gates) or failed_share(report.sets) > job.max_error_rate:
        return INCOMPLETE
    return MISSED if any(gate.met is False for gate in report.gates) else 0


def _told(report: CheckReport, job: CheckJob) -> Iterator[str]:
    """Messages for a run that is not complete, and for thresholds that are missed or without an answer."""
    from kgeval.questions.checking.figures import failed_share

    share = failed_share(report.sets)
    if not report.complete or share > job.max_error_rate:
        yield f"incomplete: {percent(share)} of the checks failed (the report has the causes); the same command goes on"
    for gate in report.gates:
        name, sign = f"{gate.metric} of {gate.system}", ">=" if gate.least else "<="
        if gate.met is None:
            why = "nothing was checked" if gate.value is None else "what is unscored could decide it"
            yield f"threshold not answered: {name}: {why}"
        elif not gate.met:
            yield f"threshold missed: {name} is {beyond(gate.value or 0.0, gate.limit)}, wanted {sign} {gate.limit:g}"
