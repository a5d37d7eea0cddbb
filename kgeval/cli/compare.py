"""`kgeval compare`: which of two or more systems answers better, without the biases of the usual way."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kgeval.cli.common import say
from kgeval.cli.derive import HeadedCommand, flags_of, options_from
from kgeval.cli.options import connection_options, embedding_options, layout_options, model_flags, session_from
from kgeval.cli.show import report_options_of, show_plan, show_report, show_result
from kgeval.config import BatchOptions, CompareOptions, FilterOptions, SimulateOptions, SystemOptions
from kgeval.config.compare import SYSTEMS
from kgeval.errors import UsageError

if TYPE_CHECKING:
    from kgeval.workflows.compare import CompareResult

FIRST = ("questions", "systems", "against", "trials", "procedure")  # what is needed first stands first in the help
# these stand further below
FILTERS = FilterOptions.model_fields.keys() - {"seed"}
SYSTEM_FLAGS = SystemOptions.model_fields.keys() - {"systems"}


@click.command(cls=HeadedCommand)
@click.argument("answers", nargs=-1, type=click.Path(path_type=Path))
@flags_of(CompareOptions, only=FIRST)
@flags_of(CompareOptions, without=FILTERS | SYSTEM_FLAGS | set(FIRST))
@model_flags("judge")
@report_options_of(
    "Report: .html .md .json .xml .csv; verdicts: .jsonl; DIR/: all of it", ("text", "json", "md", "html", "xml"),
)
@flags_of(SystemOptions, without=("systems",), heading=SYSTEMS)
@flags_of(FilterOptions, without=("seed",))
@connection_options
@layout_options
@embedding_options
@flags_of(BatchOptions)
@flags_of(SimulateOptions, without=("seed", "trials", "repeats", "tie_region"))
def compare(answers: tuple[Path, ...], **options: Any) -> int:
    """Compare the ANSWERS of two or more systems: answers of one length, both orders, several trials, written grades, ties.

    \b
    kgeval compare vector.jsonl graph.jsonl --questions questions.jsonl --model gpt-4o --dry-run

    One file a system, or one for several; --system adds systems that can be called, or gives a file's system its hook for lengths.
    Finished calls are never paid twice: the same command again costs nothing. --dry-run says the number of calls first.

    Exit codes: 0 done, 1 a --threshold is missed (--simulate: a bound is not held), 2 wrong input, 3 incomplete (budget reached, too many
    failures, nothing could be judged, a threshold without an answer), 130 interrupted; what was done is kept, the same command goes on.
    """
    from kgeval.workflows import compare as workflow

    if options["simulate"]:
        return _simulate(answers, options)
    with session_from("compare", options, answers=[str(path) for path in answers]) as session:
        chosen = options_from(CompareOptions, options, session.config.compare)
        if session.dry:
            return show_plan(workflow.plan(session, answers, chosen))
        result = workflow.run(session, answers, chosen)
    return show_comparison(result, options, session.outputs)


def show_comparison(result: CompareResult, options: dict[str, Any], outputs: tuple[Path, ...]) -> int:
    """Shows a result: files of verdicts, the report, and what is incomplete or missed. The exit code."""
    from kgeval.tables.score_forms import is_folder

    reports = [path for path in dict.fromkeys(outputs) if path.suffix.lower() != ".jsonl" and not is_folder(path)]
    return show_result(result, options, reports)


def _simulate(answers: tuple[Path, ...], options: dict[str, Any]) -> int:
    """--simulate: the proof, which asks no model and reads nothing. The exit code."""
    from kgeval.reports.views.simulation import ENOUGH_RUNS
    from kgeval.workflows.compare_calibrate import simulate
    from kgeval.workflows.session import Session

    if options["shard"]:
        raise UsageError("--shard does not go with these: --simulate is one computation", fix="leave out --shard, or the others")
    if options["form"] not in ("text", "json", "md", "html"):
        raise UsageError(f"a simulation has no form '{options['form']}'", fix="choose one of: text, json, md, html")
    if answers or options["systems"]:
        raise UsageError("--simulate draws its own systems: it takes no answers and no --system", fix="leave out these, or --simulate")
    quiet = options["quiet"]
    outputs = tuple(options["outputs"])
    with Session("compare --simulate", outputs=outputs, say=(lambda text: None) if quiet else say) as session:
        report = simulate(session, options_from(SimulateOptions, options))
    show_report(report, options | {"redact": False}, outputs)
    if quiet and not report.passed:
        few = "" if report.runs >= ENOUGH_RUNS else f"; {report.runs} runs are too few to judge by (--simulate-runs {ENOUGH_RUNS})"
        say(f"not all bounds are held{few}; without -q it is said which")
    return report.run.exit_code
