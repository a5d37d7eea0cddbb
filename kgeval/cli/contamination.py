"""`kgeval contamination`: what a model knows without any text, and what that does to the scores."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kgeval.cli.choose import layout_options
from kgeval.cli.common import Option, Seconds, arguments, connection_options
from kgeval.cli.models import limit_options, limits_from_options, model_options
from kgeval.cli.questions_stats import STDIN, file_options, questions_of
from kgeval.cli.show import report_options_of
from kgeval.errors import UsageError

if TYPE_CHECKING:
    from kgeval.cli.contamination_run import Job
    from kgeval.config import Config
    from kgeval.manifest import Started

PATH = click.Path(path_type=Path)
FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command()
@click.argument("questions", type=PATH)
@click.option("--answers", multiple=True, type=PATH, metavar="FILE", help="Answers of the closed book, and of others (repeatable).")
@click.option("--scores", multiple=True, type=PATH, metavar="FILE", help="Scores of kgeval score for these answers (repeatable).")
@click.option("--closed-book", "closed_book", metavar="SYSTEM", help="The system that answers without texts [default: found by its name].")
@click.option("--metric", metavar="NAME", help="What is right [default: binary_accuracy with a judge or its scores, else contains].")
@click.option(
    "--right-from", type=click.FloatRange(0, 1, min_open=True), default=0.5, show_default=True, help="Value from which an answer is right.",
)
@click.option("--known", multiple=True, metavar="NAMES", help="Documents that the model may know, and no others (comma or repeated).")
@click.option("--documents", "dated", type=FILE, metavar="FILE", help="Documents with dates of publication (JSONL, JSON, CSV, Parquet).")
@click.option("--model-cutoff", "cutoff", metavar="DATE", help="With --documents: what was published before may be known.")
@click.option("--probe", is_flag=True, help="Have a model sum up each document of --graph by its title, and check that against its text.")
@click.option("--reader", metavar="NAME", help="With --probe: who sums up [default: model.reader of kgeval.toml, else the judge].")
@click.option("--probe-documents", type=click.IntRange(1, 100_000), default=100, show_default=True, help="Documents probed at most.")
@click.option("--marked", type=PATH, metavar="FILE", help="Write the ids of the questions that the closed book answers, one a line.")
@click.option("--allow-missing", is_flag=True, help="Leave out answers to questions that QUESTIONS lacks.")
@click.option("--limit", "first", type=click.IntRange(min=1), metavar="N", help="Only the first N questions.")
@click.option("--seed", type=click.IntRange(0, 2**31 - 1), default=0, show_default=True, help="Seed of intervals.")
@click.option(
    "--timeout", "query_timeout", cls=Option, old="--query-timeout", type=Seconds(), default=600, show_default=True,
    help="Seconds a query may take.",
)
@file_options
@connection_options
@layout_options
@model_options("judge")
@limit_options
@report_options_of("Report: .json .md", ("text", "json", "md"))
def contamination(**options: Any) -> int:
    """What a model answers to QUESTIONS without any text, and every score without the questions that it knows.

    Gives closed-book accuracy by level, kind and document, the questions that the closed book answers, each score with and without
    them, what retrieval gains by document, documents that the model may know against those that it cannot, and how often questions
    without an answer in the texts are answered all the same. Without --model words decide; --scores takes what kgeval score has judged.

    Exit codes: 0 done, 2 wrong input or no connection, 3 incomplete (budget reached, too many failures), 130 interrupted.
    """
    from kgeval import config as configuration
    from kgeval.cli.contamination_run import finish, plan
    from kgeval.manifest import Started

    config = configuration.load(options["config_file"])
    options["redact"] = options["redact"] or config.report.redact
    started = Started("contamination", arguments(options))
    _check(config, options)
    with ExitStack() as stack:
        job = _job(stack, config, options, started)
        return plan(job) if options["dry_run"] else finish(job)


def _check(config: Config, options: Mapping[str, Any]) -> None:
    """Everything that can be checked before a file is read. Raises: UsageError."""
    from kgeval.records import ContaminationReport
    from kgeval.reports.write import check_outputs

    if not options["answers"] and not options["scores"]:
        raise UsageError("neither answers nor scores are given", fix="give --answers closed-book.jsonl (kgeval answer makes one)")
    if options["questions"] == STDIN and options["answers"]:
        raise UsageError("questions from standard input are read twice with --answers", fix="put them into a file")
    if bool(options["dated"]) != bool(options["cutoff"]):
        raise UsageError("--documents and --model-cutoff belong together", fix="give both, or name the known documents with --known")
    if options["dated"] and options["known"]:
        raise UsageError("--known and --documents exclude each other", fix="give one of them")
    if options["probe"] and not (options["model"] or config.model.judge.name):
        raise UsageError("--probe needs a judge, and no model is named", fix="give --model NAME, or set [model.judge] in kgeval.toml")
    if options["reader"] and not options["probe"]:
        raise UsageError("--reader is for --probe, which is not given", fix="leave it out, or add --probe")
    check_outputs(options["outputs"], ContaminationReport)
    _check_marked(options["marked"])
    outputs = [*options["outputs"], *filter(None, [options["marked"]])]
    from kgeval.reports.write import check_replaced

    check_replaced(outputs, [options["questions"], *options["answers"], *options["scores"], *filter(None, [options["dated"]])])


def _check_marked(path: Path | None) -> None:
    """Raises: UsageError where the ids cannot be written: not only after models were paid."""
    if path is not None and (path.is_dir() or not os.access(path.resolve().parent, os.W_OK | os.X_OK)):
        raise UsageError(f"--marked {path}: no file can be written there", fix="name a file in a folder that exists and is yours")


def _job(stack: ExitStack, config: Config, options: Mapping[str, Any], started: Started) -> Job:
    """Reads and checks all files, then opens the models and the graph."""
    from kgeval.cli.contamination_run import Job, knowledge_of, open_answers, open_probe
    from kgeval.metrics.contamination.asked import decided_by, read_asked

    questions = stack.enter_context(questions_of(options["questions"], options))
    asked = read_asked(questions)
    job = Job(
        options=options, started=started, asked=asked, notes=list(questions.notes), knowledge=knowledge_of(options, asked),
        max_error_rate=limits_from_options(config, options).max_error_rate,
    )
    open_answers(stack, job)
    named = bool(options["model"] or config.model.judge.name)
    job.decides = decided_by(options["metric"], judge=named and bool(job.rows), given=job.given)
    job.closed_book()
    job.select(config, stack)
    if options["probe"]:
        open_probe(stack, config, job)
    return job
