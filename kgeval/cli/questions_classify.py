"""`kgeval questions classify`: the four levels of GraphRAG-Bench for the questions of any file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kgeval.cli.common import Option, arguments, say
from kgeval.cli.models import limit_options, model_options, open_models_from_options
from kgeval.cli.questions_stats import STDIN, file_options, questions_of, shape_options
from kgeval.errors import UsageError

if TYPE_CHECKING:
    from kgeval.files.asked import Questions
    from kgeval.llm.session import Models
    from kgeval.manifest import Started
    from kgeval.questions.classify import Counts
    from kgeval.records import Classification, Question



@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), metavar="FILE.jsonl", help="The questions with levels; needed but for --dry-run.",
)
@click.option(
    "--questions-per-call", "batch", cls=Option, old="--batch", type=click.IntRange(1, 50), default=10, show_default=True,
    help="Questions of one call to the model.",
)
@click.option("--limit", "first", type=click.IntRange(min=1), metavar="N", help="Only the first N questions.")
@file_options
@click.option("-c", "--config", "config_file", type=click.Path(path_type=Path), help="Configuration file (default: ./kgeval.toml).")
@model_options("judge")
@limit_options
@shape_options("What goes to stdout; the questions go to -o.")
def classify(**options: Any) -> int:
    """Give every question of FILE one of four levels: fact_retrieval, complex_reasoning, contextual_summarize, creative_generation.

    A judge labels several numbered questions a call, each with a reason. The questions are written again with `level` set and their
    kind kept; the reason, and the level that the file had, stand in `extra.classified`. A question that got no label has no level, and
    its cause there. Beside the output, FILE.run.json has shares and manifest. The same command again costs nothing.

    Exit codes: 0 done, 2 wrong input, 3 incomplete (budget reached, too many failures), 130 interrupted.
    """
    from kgeval import config as configuration
    from kgeval.cli.show import show_report
    from kgeval.manifest import Started
    from kgeval.reports.write import write_report

    started = Started("questions classify", arguments(options))
    config = configuration.load(options["config_file"])
    output = None if options["dry_run"] else _output(options)
    with open_models_from_options(config, "judge", options) as models, questions_of(options["file"], options) as questions:
        if output is None:
            return _plan(models, questions, options["batch"])
        try:
            report = _report(models, options, started, _label(models, questions, options["batch"], output))
        except KeyboardInterrupt:
            say("replies that came are in the journal: the same command goes on; the output was not written")
            raise
    write_report(report, beside(output))
    for path in (output, beside(output)):
        say(f"wrote {path}")
    show_report(report, {**options, "redact": False}, ())
    return report.run.exit_code


def _output(options: Mapping[str, Any]) -> Path:
    """Where the questions go. Raises: UsageError."""
    path: Path | None = options["output"]
    if path is None or path.suffix.lower() != ".jsonl":
        given = "no output is named" if path is None else f"{path}: questions are written as .jsonl"
        raise UsageError(given, fix="give -o questions-with-levels.jsonl; --dry-run needs none")
    from kgeval.reports.write import check_replaced

    check_replaced([path, beside(path)], [options["file"]])
    return path


def beside(output: Path) -> Path:
    """The file with shares and manifest that stands beside an output."""
    return output.with_name(f"{output.stem}.run.json")


def _plan(models: Models, questions: Iterable[Question], batch: int) -> int:
    from kgeval.cli.models import show_plan
    from kgeval.llm.plan import Plan
    from kgeval.questions.classify import PROMPT, tasks

    asked = tasks(questions, models.prompt(PROMPT), batch)
    show_plan(Plan((models.plan(task for task, _ in asked),), models.limits))
    return 0


def _label(models: Models, questions: Questions, batch: int, output: Path) -> Counts:
    """Labels and writes all questions; the file is written as a whole."""
    from kgeval.files.partial import private
    from kgeval.questions.classify import Counts, classified

    counts = Counts()
    with private(output) as file:
        for one in classified(models, questions, batch=batch, total=len(questions)):
            counts.add(one)
            file.write(one.question.model_dump_json(exclude_defaults=True) + "\n")
    return counts


def _report(models: Models, options: Mapping[str, Any], started: Started, counts: Counts) -> Classification:
    from kgeval.records import Classification

    path = options["file"]
    compared, same, kappa = counts.compared()
    run = started.manifest(inputs=[] if path == STDIN else [path], asked=models.asked(), exit_code=models.exit_code)
    return Classification(
        run=run, complete=models.stopped is None, file="standard input" if path == STDIN else str(path), n=counts.n,
        labelled=counts.levels.total(), levels=counts.shares, failures=dict(sorted(counts.failures.items())),
        changes=counts.rows(counts.changes), by_kind=counts.rows(counts.by_kind), compared=compared, agreement=same, kappa=kappa,
        notes=list(models.notes),
    )
