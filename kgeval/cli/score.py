"""`kgeval score`: the answers of one or several systems, measured by any metrics, with a summary that can be trusted."""

from __future__ import annotations

from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kgeval.cli.derive import HeadedCommand, flags_of, options_from
from kgeval.cli.interrupts import patient
from kgeval.cli.options import connection_options, embedding_options, layout_options, model_flags, session_from
from kgeval.cli.show import report_options_of, show_plan, show_result
from kgeval.config import BatchOptions, ScoreOptions

if TYPE_CHECKING:
    from kgeval.workflows.score import ScoreResult
    from kgeval.workflows.session import Session

ANSWERS = click.Path(path_type=Path)
FIRST = ("questions", "metrics")  # what is needed first stands first in the help


@click.command(cls=HeadedCommand)
@click.argument("answers", nargs=-1, required=True, type=ANSWERS)
@flags_of(ScoreOptions, only=FIRST)
@report_options_of(
    "Results: .jsonl .csv .parquet or DIR/; report: .html .md .json .xml", ("text", "json", "md", "html", "xml", "csv"),
)
@flags_of(ScoreOptions, without=FIRST)
@model_flags("judge")
@flags_of(BatchOptions)
@connection_options
@layout_options
@embedding_options
def score(answers: tuple[Path, ...], **options: Any) -> int:
    """Score the ANSWERS of RAG systems: files of kgeval, ragas, deepeval, RAGChecker, benchmark-qed, GraphRAG-Bench and others.

    \b
    kgeval score answers.jsonl --questions questions.jsonl --metrics usual --model gpt-4o-mini -o scores.html
    kgeval score vector.jsonl graph.jsonl --metrics lexical

    One file a system, or one file for several. -o takes result files (.jsonl .csv .parquet, or DIR/ for a run folder) and reports
    (.html .md .json .xml). Finished calls are never paid twice: the same command again costs nothing.

    Exit codes: 0 done, 1 a --threshold is missed, 2 wrong input or no connection, 3 incomplete (budget reached, too many failures, a
    threshold without an answer), 130 interrupted; what was done is kept, --resume goes on.
    """
    from kgeval.workflows import score as workflow
    from kgeval.workflows import score_parts

    with session_from("score", options, answers=[str(path) for path in answers]) as session:
        chosen = options_from(ScoreOptions, options, session.config.score, names=partial(workflow.names, session))
        if chosen.explain or chosen.sweep:
            return _look_closer(session, answers, chosen)
        if session.dry:
            return show_plan(workflow.plan(session, answers, chosen))
        with patient() if chosen.executor else nullcontext():
            result = score_parts.run(session, answers, chosen)
    return show_scores(result, options, session.outputs)


def show_scores(result: ScoreResult, options: dict[str, Any], outputs: tuple[Path, ...]) -> int:
    """Shows a result: files of results, the report, and what is incomplete or missed. The exit code."""
    from kgeval.tables.scores import is_result

    return show_result(result, options, [path for path in outputs if not is_result(path)])


def _look_closer(session: Session, answers: tuple[Path, ...], options: ScoreOptions) -> int:
    """--explain and --sweep: text on stdout, and nothing is written. The exit code: 3 if the asking stopped before the end."""
    from kgeval.workflows import score_kg
    from kgeval.workflows.score import check, prepare

    scoring = prepare(session, answers, options)
    with scoring.open_rows() as rows:
        check(scoring, rows)
        scoring.open_tools()
        if session.dry:
            return show_plan(score_kg.plan(scoring, rows))
        if options.explain:
            for text in score_kg.explain(scoring, rows):
                click.echo(text)
        else:
            click.echo(score_kg.sweep(scoring, rows))
        return scoring.tools.models.exit_code if scoring.tools.models is not None else 0
