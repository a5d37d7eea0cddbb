"""`kgeval agree measure` and `kgeval agree matrix`: agreement in figures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kgeval.cli.common import arguments
from kgeval.cli.show import report_options_of, show_report
from kgeval.reports.write import check_replaced

if TYPE_CHECKING:
    from kgeval.comparison.people.label_files import Labels
    from kgeval.comparison.people.labelled import Item, LabelTable
    from kgeval.comparison.people.predictors import Predictor
    from kgeval.records import Answer, ComparisonVerdict, Score

PATH = click.Path(path_type=Path)
FORMS = ("text", "json", "md", "html")
SEED = click.option("--seed", type=click.IntRange(0, 2**31 - 1), default=0, show_default=True, help="Seed of intervals.")
SCORES = click.option(
    "--scores", multiple=True, type=PATH, metavar="FILE", help="Scores of kgeval score for the labelled answers (repeatable).",
)
report_options = report_options_of("Report file: .html .json .md", FORMS)


@click.command()
@click.argument("labels", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@SCORES
@click.option(
    "--verdicts", multiple=True, type=PATH, metavar="FILE", help="Verdicts of a judge of pairs: kgeval compare's, or of other tools.",
)
@click.option("--answers", multiple=True, type=PATH, metavar="FILE", help="The answers: how far their length alone agrees with people.")
@click.option(
    "--questions", type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="FILE",
    help="With --answers: the questions, where the answers do not have them.",
)
@click.option(
    "--labels-format", "form", type=click.Choice(("auto", "kgeval", "ragchecker")), default="auto", show_default=True,
    help="auto: seen from the fields of the first row.",
)
@SEED
@report_options
def measure(**options: Any) -> int:
    """How far people agree with each other, and metrics and judges with people.

    Which metric or judge is nearest is said per level and data set.

    LABELS are files of kgeval agree read, or RAGChecker's human_labeled_data.json. For pairs the difference of two scores is held against
    the preference. The other people stand beside everything as the ceiling. Every figure has its n and a 95 % interval over questions.

    Exit codes: 0 done, 2 wrong input.
    """
    from kgeval.comparison.people.label_files import read_labels
    from kgeval.comparison.people.labelled import tables_of
    from kgeval.comparison.people.measure import measured
    from kgeval.comparison.people.scales import SCALES
    from kgeval.manifest import Started
    from kgeval.records import AgreementReport
    from kgeval.reports.write import check_outputs

    started = Started("agree measure", arguments(options))
    read = [path for name in ("labels", "scores", "verdicts", "answers") for path in options[name]]
    read += [options["questions"]] if options["questions"] else []
    check_outputs(options["outputs"], AgreementReport)
    check_replaced(options["outputs"], read)
    labels = read_labels(options["labels"], options["form"])
    tables = tables_of(labels)
    found = measured(tables, _predictors(labels, tables, options), seed=options["seed"])
    items = {label.id for label in labels.labels}
    report = AgreementReport(
        run=started.manifest(inputs=[path for path in read if path.is_file()], seed=options["seed"]), scope=labels.scope,
        scale=list(SCALES[labels.scope]), seed=options["seed"], items=len(items), questions=len({one.question_id for one in labels.labels}),
        labels=len(labels.labels), annotators=_counted(labels), people=found.people, pairs=found.pairs, each=found.each,
        predictors=found.predictors, nearest=found.nearest, notes=list(labels.notes),
    )
    show_report(report, options, options["outputs"])
    return 0


def _counted(labels: Labels) -> dict[str, int]:
    found: dict[str, int] = {}
    for label in labels.labels:
        found[label.annotator] = found.get(label.annotator, 0) + 1
    return found


def _predictors(labels: Labels, tables: Sequence[LabelTable], options: Mapping[str, Any]) -> list[Predictor]:
    """Metrics, judges, and length where the texts are there."""
    from kgeval.comparison.people.predictors import judge_predictors, length_predictor, metric_predictors

    items: list[Item] = list({item.id: item for table in tables for item in table.items}.values())
    found = metric_predictors(items, _scores(options["scores"]), _lower())
    if options["verdicts"]:
        found += judge_predictors(items, _verdicts(options["verdicts"]), [table.aspect for table in tables])
    length = length_predictor(items, _answers(options) if options["answers"] else labels.answers)
    return [*found, *([length] if length else [])]


def _lower() -> frozenset[str]:
    """The metrics of which less is better."""
    from kgeval.metrics.table import all_metrics

    return frozenset(name for name, metric in all_metrics().items() if metric.better == "lower")


def _scores(paths: Iterable[Path]) -> dict[str, list[Score]]:
    from kgeval.files.scores import read_scores

    return {_stem(path): list(read_scores(path)) for path in paths}


def _stem(path: Path) -> str:
    return path.name if path.is_dir() else path.stem


def _verdicts(paths: Iterable[Path]) -> dict[str, Sequence[ComparisonVerdict]]:
    from kgeval.files.verdict_files import VerdictsWanted, read_verdicts

    return {_stem(path): read_verdicts([path], VerdictsWanted()).verdicts for path in paths}


def _answers(options: Mapping[str, Any]) -> Iterable[Answer]:
    from kgeval.files.rows import RowsWanted, open_rows

    wanted = RowsWanted(answers=tuple(options["answers"]), questions=options["questions"], allow_missing=True)
    with open_rows(wanted) as rows:
        for row in rows:
            yield row.answer


@click.command()
@click.argument("scores", nargs=-1, required=True, type=PATH)
@click.option("--questions", type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="FILE", help="Questions with data sets.")
@click.option(
    "--coefficient", "kind", type=click.Choice(("spearman", "kendall", "pearson")), default="spearman", show_default=True,
    help="Which correlation.",
)
@SEED
@report_options
def matrix(**options: Any) -> int:
    """How every metric goes with every other, over all answers.

    SCORES are files of kgeval score. Also by data set, and for each pair of texts that metrics set side by side (answer and contexts,
    answer and reference, ...).

    Every cell has its n and a 95 % interval over questions. A metric that is always the same is named and has no correlation.

    Exit codes: 0 done, 2 wrong input, 3 nothing to compare: fewer than two metrics.
    """
    from kgeval.comparison.people.matrix import matrix as measure_matrix
    from kgeval.comparison.people.matrix import score_table
    from kgeval.manifest import Started
    from kgeval.records import MatrixReport
    from kgeval.reports.write import check_outputs

    started = Started("agree matrix", arguments(options))
    read = [*options["scores"], *([options["questions"]] if options["questions"] else [])]
    check_outputs(options["outputs"], MatrixReport)
    check_replaced(options["outputs"], read)
    table = score_table(score for own in _scores(options["scores"]).values() for score in own)
    groups = measure_matrix(table, _datasets(options["questions"]), kind=options["kind"], seed=options["seed"])
    few = len(table.metrics) < 2
    report = MatrixReport(
        run=started.manifest(inputs=[path for path in read if path.is_file()], seed=options["seed"], exit_code=3 if few else 0),
        coefficient=options["kind"], seed=options["seed"], questions=len({question for question, _ in table.rows}), systems=table.systems,
        groups=groups, notes=["there are not two metrics to compare"] if few else [],
    )
    show_report(report, options, options["outputs"])
    return report.run.exit_code


def _datasets(path: Path | None) -> dict[str, str]:
    """Question id -> its data set; none without a file."""
    from kgeval.files.rows import read_questions

    return {} if path is None else {question.id: question.dataset for question in read_questions(path) if question.dataset is not None}
