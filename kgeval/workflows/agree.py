"""How far people agree with each other, metrics and judges with people, and metrics with metrics."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from kgeval.config import AgreeOptions, CorrelationOptions
from kgeval.errors import KgevalError, raise_together, tried
from kgeval.workflows.result import Result
from kgeval.workflows.session import Session

if TYPE_CHECKING:
    import pandas as pd

    from kgeval.comparison.people.labels import Labels, LabelTable
    from kgeval.comparison.people.predictors import Predictor
    from kgeval.records import Answer, Question
    from kgeval.tables.score_tables import ScoreCell


@dataclass(frozen=True)
class AgreementResult(Result):
    """Agreement in figures. `report`: an AgreementReport, or a MatrixReport of metrics with metrics."""

    def to_pandas(self) -> pd.DataFrame:
        """A row a metric or judge (of a MatrixReport: a group of rows), with the fields that the JSON report has for it."""
        import pandas as pd

        rows = self.report.predictors if hasattr(self.report, "predictors") else self.report.groups
        return pd.DataFrame([row.model_dump(mode="json") for row in rows])


def run(session: Session, labels: Sequence[Path], options: AgreeOptions) -> AgreementResult:
    """The agreement of people, metrics, judges and length. Raises: UsageError, InputError."""
    from kgeval.comparison.people.labels import read_labels, tables_of
    from kgeval.comparison.people.measure import measured
    from kgeval.comparison.people.scales import SCALES
    from kgeval.records import AgreementReport
    from kgeval.reports.write import check_outputs

    read = [*labels, *options.scores, *options.verdicts, *options.answers, *([options.questions] if options.questions else [])]
    check_outputs(session.outputs, AgreementReport, read=read)
    given = read_labels(list(labels), options.labels_format)
    tables = tables_of(given)
    figures = measured(tables, _predictors(given, tables, options), seed=options.seed)
    return AgreementResult(AgreementReport(
        run=session.manifest(options, inputs=[path for path in read if path.is_file()], seed=options.seed), scope=given.scope,
        scale=list(SCALES[given.scope]), seed=options.seed, items=len({label.id for label in given.labels}),
        questions=len({label.question_id for label in given.labels}), labels=len(given.labels),
        annotators=dict(Counter(label.annotator for label in given.labels)), people=figures.people, pairs=figures.pairs, each=figures.each,
        predictors=figures.predictors, nearest=figures.nearest, notes=list(given.notes),
    ), redact=session.redact)


def correlations(session: Session, scores: Sequence[Path], options: CorrelationOptions) -> AgreementResult:
    """How every metric goes with every other. Raises: UsageError, InputError."""
    from kgeval.comparison.people.matrix import matrix, score_table
    from kgeval.records import MatrixReport
    from kgeval.reports.write import check_outputs
    from kgeval.tables.rows import read_questions

    read = [*scores, *([options.questions] if options.questions else [])]
    check_outputs(session.outputs, MatrixReport, read=read)
    questions = list(read_questions(options.questions)) if options.questions else []
    given, notes = _scores(scores, questions)
    table = score_table(chain.from_iterable(given.values()))
    datasets = {question.id: question.dataset for question in questions if question.dataset is not None}
    groups = matrix(table, datasets, kind=options.coefficient, seed=options.seed)
    few = len(table.metrics) < 2
    inputs = [path for path in read if path.is_file()]
    return AgreementResult(MatrixReport(
        run=session.manifest(options, inputs=inputs, seed=options.seed, exit_code=3 if few else 0), coefficient=options.coefficient,
        seed=options.seed, questions=len({question for question, _ in table.rows}), systems=table.systems, groups=groups,
        notes=[*(["there are not two metrics to compare"] if few else []), *notes],
    ), redact=session.redact)


def _predictors(labels: Labels, tables: Sequence[LabelTable], options: AgreeOptions) -> list[Predictor]:
    """Metrics, judges, and length where the texts are there."""
    from kgeval.comparison.people.predictors import judge_predictors, length_predictor, metric_predictors
    from kgeval.metrics.table import all_metrics
    from kgeval.tables.rows import read_questions
    from kgeval.tables.score_forms import lower_metrics
    from kgeval.tables.verdict_files import VerdictsWanted, read_verdicts

    items = list({item.id: item for table in tables for item in table.items}.values())
    lower = frozenset(name for name, metric in all_metrics().items() if metric.better == "lower")
    lower = lower.union(*(lower_metrics(path) for path in options.scores))
    questions = read_questions(options.questions) if options.questions else ()
    about = {item.question for item in items}, list(dict.fromkeys(system for item in items for system in item.systems))
    predictors = metric_predictors(items, _scores(options.scores, questions, *about)[0], lower)
    if options.verdicts:
        verdicts = {name: read_verdicts([path], VerdictsWanted()).verdicts for name, path in _named(options.verdicts).items()}
        predictors += judge_predictors(items, verdicts, [table.aspect for table in tables])
    length = length_predictor(items, _answers(options) if options.answers else labels.answers)
    return [*predictors, *([length] if length else [])]


def _scores(
    paths: Sequence[Path], questions: Iterable[Question], ids: Collection[str] = (), systems: Collection[str] = (),
) -> tuple[dict[str, Iterable[ScoreCell]], list[str]]:
    """The scores of each file by its name, and notes. Tables of another tool are of these questions and `systems` (none: those of kgeval's
    own files); they stand under one name where no two say something of one answer, as ragas is run for each system."""
    from kgeval.tables.cells import spaced
    from kgeval.tables.scores import read_scores
    from kgeval.tables.tool_scores import KnownAnswers, is_tool_table, own_cells, read_tool_scores

    named = _named(paths)
    of_tools = {name: path for name, path in named.items() if is_tool_table(path)}
    own = [path for name, path in named.items() if name not in of_tools]
    tables: dict[str, Iterable[ScoreCell]] = {name: own_cells(read_scores(path)) for name, path in named.items() if name not in of_tools}
    if not of_tools:
        return tables, []  # read as they are gone through: memory is what comes of them
    if not ids:
        places_of_own = {(score.question_id, score.system): None for path in own for score in read_scores(path)}
        ids, systems = {question for question, _ in places_of_own}, list(dict.fromkeys(system for _, system in places_of_own))
    texts: dict[str, str | None] = {}
    for question in questions:
        if not ids or question.id in ids:
            text = spaced(question.question)
            texts[text] = None if text in texts else question.id
    known = KnownAnswers(ids, systems, texts)
    notes, places, faults = list[str](), set[tuple[str, str, str]](), list[KgevalError]()
    together: list[ScoreCell] = []
    for name, path in of_tools.items():
        read = tried(partial(read_tool_scores, path, known), faults)
        if read is None:
            continue
        if read.left_out:
            notes.append(f"{path.name}: {read.left_out:,} of {read.rows:,} rows are about questions that the other files do not have")
        own_places = {(cell.question_id, cell.system, cell.metric) for cell in read.cells}
        if places.isdisjoint(own_places):
            places |= own_places
            together.extend(read.cells)
        else:
            tables[name] = read.cells
    raise_together(faults)
    return {**tables, **({"other tools": together} if together else {})}, notes


def _named(paths: Iterable[Path]) -> dict[str, Path]:
    """The files by their names; where two have one, by their folders, their endings, or their whole paths too."""
    folder = {path: path.absolute().parent.name for path in paths}
    forms = {path: (_stem(path), f"{folder[path]}/{_stem(path)}", f"{folder[path]}/{path.name}") for path in paths}
    files = Counter(form for own in forms.values() for form in set(own))
    return {next((form for form in own if files[form] == 1), str(path)): path for path, own in forms.items()}


def _stem(path: Path) -> str:
    return path.name if path.is_dir() else path.stem


def _answers(options: AgreeOptions) -> Iterable[Answer]:
    from kgeval.tables.rows import RowSelection, open_rows

    with open_rows(RowSelection(answers=options.answers, questions=options.questions, allow_missing=True)) as rows:
        for row in rows:
            yield row.answer
