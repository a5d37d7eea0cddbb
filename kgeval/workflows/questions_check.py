"""Checks of questions, whoever made them: is each answerable, not known anyway, unique, and said once?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kgeval.config import CheckOptions
from kgeval.errors import KgevalError, UsageError, together, tried
from kgeval.format import percent
from kgeval.workflows.result import QuestionsResult, exit_code, gate_lines
from kgeval.workflows.rows import STDIN, names_of, questions_of
from kgeval.workflows.session import Session

if TYPE_CHECKING:
    import pandas as pd

    from kgeval.graph.connect import Graph
    from kgeval.llm.embed import Embedder
    from kgeval.llm.plan import Plan
    from kgeval.llm.session import Models
    from kgeval.questions.checking.path_checks import PathChecks
    from kgeval.questions.duplicates import QuestionFingerprint, Twin
    from kgeval.records import CheckedSet, CheckReport, Layout
    from kgeval.stats.thresholds import Threshold
    from kgeval.tables.question_rows import Questions

SHOWN_TWINS = 1_000
WORDS = {"exact": "the same text", "normalised": "the same words", "embedding": "nearly the same"}


@dataclass(frozen=True)
class CheckResult(QuestionsResult):
    """The checks of one set of questions, or of two. `report`: a CheckReport. `file`: the questions with their checks, of one set."""

    def to_pandas(self) -> pd.DataFrame:
        """A row a check of a set: file, check, and its figures."""
        import pandas as pd

        rows = [{"file": one.file, **figure.model_dump(mode="json")} for one in self.report.sets for figure in one.figures]
        return pd.DataFrame(rows)


@dataclass
class _Checking:
    """One run: what was asked for, and what it is done with. `names`: how the sets are called, in the order of `sets`."""

    session: Session
    options: CheckOptions
    files: Sequence[Path]
    names: list[str]
    checks: tuple[str, ...]
    gates: list[Threshold]
    models: Models | None = None
    graph: Graph | None = None
    layout: Layout | None = None
    embedder: Embedder | None = None
    sets: list[Questions] = field(default_factory=list)

    def paths(self, questions: Questions) -> dict[str, PathChecks]:
        """What the graph proves of the paths of a set, all at once."""
        from kgeval.questions.checking.path_checks import path_checks

        if self.graph is None or self.layout is None:
            return {}
        return path_checks(questions, self.graph, self.layout, timeout=self.options.timeout)


@dataclass(frozen=True)
class _Twins:
    """Pairs that were found: of each set, id -> (earlier id, how); and the pairs with the places of their questions."""

    given: Sequence[QuestionFingerprint] = ()
    pairs: Sequence[Twin] = ()

    def within(self, number: int) -> dict[str, tuple[str, str]]:
        """The pairs inside a set, as CheckContext.earlier wants them."""
        own = (twin for twin in self.pairs if self.given[twin.later].set == self.given[twin.earlier].set == number)
        return {self.given[twin.later].id: (self.given[twin.earlier].id, _how(twin)) for twin in own}


def plan(session: Session, files: Sequence[Path], options: CheckOptions, *, graph: bool | None = None) -> Plan:
    """What the run would ask of the model: calls that are not in the journal yet, counted by the code that makes them."""
    from kgeval.llm.asker import Dry
    from kgeval.llm.calls import Limits
    from kgeval.llm.plan import Plan
    from kgeval.questions.checking.run import CheckContext, checked

    with ExitStack() as stack:
        checking = _opened(stack, session, files, options, graph)
        if checking.models is None:
            return Plan((), Limits())
        dry = Dry(checking.models)
        for questions in checking.sets:
            desk = CheckContext(checking.checks, dry, checking.graph, options.timeout, paths=checking.paths(questions))
            for question in questions:
                checked(question, desk)
        return Plan(dry.stages(), checking.models.limits)


def run(session: Session, files: Sequence[Path], options: CheckOptions, *, graph: bool | None = None) -> CheckResult:
    """Checks the questions of one file or two; writes those of one file, with their checks, where the session's outputs are .jsonl.
    `graph`: whether answers are proved in the session's graph; None: where the session names one.

    Raises: UsageError, InputError, ConnectError, ModelError.
    """
    from kgeval.tables.temporary import private_folder

    faults: list[KgevalError] = []
    with ExitStack() as stack:
        checking = _opened(stack, session, files, options, graph)
        results = [path for path in session.outputs if _is_result(path)]
        folder = private_folder("questions") if session.keep_rows and not results and len(files) == 1 else None
        try:
            twins = _twins(checking)
            into = [folder.path / "questions.jsonl"] if folder else results
            sets = [_checked(checking, number, twins, into, faults) for number in range(len(files))]
        except KeyboardInterrupt:
            session.say("replies that came are in the journal: the same command goes on; nothing was written")
            raise
        report = _report(checking, sets, twins)
    messages = tuple(_messages(report, session.limits.max_error_rate))
    return CheckResult(
        report, together(faults) if faults else None, session.redact, file=into[0] if into else None,
        written=() if faults else tuple(results), messages=messages, _folder=folder,
    )


def reports_of(outputs: Sequence[Path]) -> list[Path]:
    """The outputs that are reports: those that do not take the questions."""
    return [path for path in outputs if not _is_result(path)]


def _is_result(path: Path) -> bool:
    return path.suffix.lower() == ".jsonl"


def _opened(stack: ExitStack, session: Session, files: Sequence[Path], options: CheckOptions, graph: bool | None) -> _Checking:
    """Everything that can be checked and opened before a question is read, then the questions."""
    from kgeval.questions.checking.check_table import CHECKS, chosen_checks
    from kgeval.questions.checking.gates import parse_check_gates

    names = names_of(session, files, "checked")
    if len(set(names)) < len(names):
        raise UsageError(f"{names[0]} is given twice", fix="give two different files")
    _check_outputs(session.outputs, files)
    named = _names_model(session, options)
    proves = any((session.graph_name, session.home, session.layout, session.connection)) if graph is None else graph
    checks = chosen_checks(options.checks, model=named, graph=proves)
    checking = _Checking(session, options, files, names, checks, parse_check_gates(options.thresholds, checks, names))
    needs = frozenset[str]().union(*(CHECKS[name].needs | CHECKS[name].also for name in checks))
    if proves and "graph" in needs:  # its name is looked up, so that no proof is made in a database that does not hold it
        checking.graph, checking.layout = session.graph, session.bound_layout()
        session.say(f"answers are proved in {checking.graph.info.uri}, layout {checking.layout.name}")
    if named and "model" in needs:
        checking.models = session.models("judge", options)
    if not (options.no_model or options.no_embeddings or session.dry) and "duplicate" in checks:
        checking.embedder = session.embedder
    checking.sets = [stack.enter_context(questions_of(session, path, options)) for path in files]
    return checking


def _check_outputs(outputs: Sequence[Path], files: Sequence[Path]) -> None:
    """Raises: UsageError for a file that cannot be written, or that is read."""
    from kgeval.records import CheckReport
    from kgeval.reports.write import check_outputs, check_replaced

    results = [path for path in outputs if _is_result(path)]
    check_outputs(reports_of(outputs), CheckReport)
    if results and len(files) > 1:
        raise UsageError(f"-o {results[0]}: the questions of two files do not go into one", fix="check each file by itself for that")
    check_replaced(outputs, files)


def _names_model(session: Session, options: CheckOptions) -> bool:
    """Whether a model is asked. Raises: UsageError where checks that need one are wanted, none is named, and --no-model is not given."""
    from kgeval.questions.checking.check_table import CHECKS

    if options.no_model:
        return False
    named = session.names_model("judge")
    needing = [name for name in options.checks or CHECKS if name in CHECKS and "model" in CHECKS[name].needs]
    if needing and not named:
        raise UsageError(
            f"no model is named for the judge, and these checks need one: {', '.join(needing)}",
            fix="give --model NAME, or name = ... in [model.judge] of kgeval.toml; --no-model does the checks that need none",
        )
    return named


def _twins(checking: _Checking) -> _Twins:
    """Questions that ask the same, within the sets and across them."""
    from kgeval.questions.duplicates import fingerprint_of, twins

    if "duplicate" not in checking.checks:
        return _Twins()
    fingerprints = [fingerprint_of(question, number) for number, questions in enumerate(checking.sets) for question in questions]
    embed = checking.embedder.embed if checking.embedder is not None else None
    return _Twins(fingerprints, list(twins(fingerprints, embed, checking.options.duplicate_threshold)))


def _how(twin: Twin) -> str:
    return WORDS[twin.how] + (f" ({twin.similarity:.2f})" if twin.similarity is not None else "")


def _checked(
    checking: _Checking, number: int, twins: _Twins, into: Sequence[Path], faults: list[KgevalError],
) -> CheckedSet:
    """The figures of one set; its questions are written as they come. `faults`: gets what cannot be written at the end."""
    from kgeval.metrics.path import path_picture
    from kgeval.questions.checking.figures import CheckTally
    from kgeval.questions.checking.run import CheckContext, check_questions, with_checks
    from kgeval.tables.output import replacing

    questions, options = checking.sets[number], checking.options
    paths = checking.paths(questions)
    desk = CheckContext(checking.checks, None, checking.graph, options.timeout, twins.within(number), paths)
    tally = CheckTally(checking.names[number], checking.checks, examples=options.examples, draw=path_picture)
    with ExitStack() as stack:
        files = [stack.enter_context(replacing(path)) for path in into]
        for question, checks in check_questions(questions, desk, checking.models):
            tally.add(question, checks)
            for file in files:
                file.write(with_checks(question, checks).model_dump_json(exclude_defaults=True) + "\n")
        tried(stack.close, faults)
    return tally.result(questions.notes)


def _report(checking: _Checking, sets: list[CheckedSet], twins: _Twins) -> CheckReport:
    from kgeval.questions.checking.figures import differences, failed_share
    from kgeval.questions.checking.gates import evaluated
    from kgeval.records import CheckReport

    models, session, options = checking.models, checking.session, checking.options
    stopped = models is not None and models.exit_code != 0
    gates = evaluated(checking.gates, sets, complete=not stopped)
    across = sum(twins.given[pair.later].set != twins.given[pair.earlier].set for pair in twins.pairs)
    code = exit_code(gates, incomplete=stopped or failed_share(sets) > session.limits.max_error_rate)
    return CheckReport(
        run=session.manifest(
            options, server=checking.graph.info if checking.graph else None, inputs=[path for path in checking.files if path != STDIN],
            asked=models.asked() if models else None, exit_code=code,
        ),
        complete=not stopped, near=options.duplicate_threshold if checking.embedder is not None else None, sets=sets,
        differences=differences(*sets) if len(sets) == 2 else [], twins=list(_pairs(checking, twins)), twins_across=across,
        twins_within={name: len(twins.within(number)) for number, name in enumerate(checking.names)} if twins.given else {}, gates=gates,
        notes=list(models.notes if models else []),
    )


def _pairs(checking: _Checking, twins: _Twins) -> Iterator[Any]:
    from kgeval.records import QuestionTwin

    for twin in twins.pairs[:SHOWN_TWINS]:
        later, earlier = twins.given[twin.later], twins.given[twin.earlier]
        yield QuestionTwin(
            file=checking.names[later.set], id=later.id, other_file=checking.names[earlier.set], other_id=earlier.id, how=twin.how,
            similarity=twin.similarity,
        )


def _messages(report: CheckReport, max_error_rate: float) -> list[str]:
    """What is to be said of a run that is not complete, and of thresholds that are missed or without an answer."""
    from kgeval.questions.checking.figures import failed_share

    share, lines = failed_share(report.sets), gate_lines(report.gates)
    if report.complete and share <= max_error_rate:
        return lines
    return [f"incomplete: {percent(share)} of the checks failed (the report has the causes); the same command goes on", *lines]
