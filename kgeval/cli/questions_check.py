"""`kgeval questions check`: is each question of a file answerable, not known anyway, unique, and said once?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from kgeval.cli.choose import layout_from_options, layout_options
from kgeval.cli.common import arguments, connection_options, listed, open_from_options, say
from kgeval.cli.models import (
    embedding_options,
    limit_options,
    limits_from_options,
    model_options,
    open_embedder_from_options,
    open_models_from_options,
)
from kgeval.cli.questions_stats import STDIN, file_options, questions_of
from kgeval.cli.show import report_options_of
from kgeval.errors import UsageError

if TYPE_CHECKING:
    from kgeval.cli.questions_check_run import CheckJob
    from kgeval.config import Config
    from kgeval.graph.connect import Graph
    from kgeval.records import Layout


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE [FILE2]")
@click.option(
    "--checks", multiple=True, metavar="NAMES",
    help="answerable, closed_book, unique, unique_wording, not_in_one_passage, leak, duplicate, no_shortcut, absent; comma or repeated "
    "[default: all that can be done].",
)
@click.option("--no-model", is_flag=True, help="Ask no model and embed nothing: leak, duplicate by words, and what a graph proves.")
@click.option("--no-embeddings", is_flag=True, help="Find duplicates by their words only.")
@click.option(
    "--near", type=click.FloatRange(0, 1), default=0.9, show_default=True, help="Cosine from which two questions are nearly the same.",
)
@click.option("--examples", type=click.IntRange(0, 1000), default=5, show_default=True, help="Failed questions shown of each check.")
@click.option("--limit", "first", type=click.IntRange(min=1), metavar="N", help="Only the first N questions of each file.")
@click.option(
    "--threshold", "thresholds", multiple=True, metavar="[FILE:]CHECK>=X", help="E.g. answerable>=0.9; missed: exit 1 (comma or repeated).",
)
@click.option("--query-timeout", type=click.FloatRange(0.1, 3600), default=30.0, show_default=True, help="Seconds of a proving query.")
@file_options
@connection_options
@layout_options
@model_options("judge")
@limit_options
@embedding_options
@report_options_of("Report: .json .md; the questions with their checks: .jsonl", ("text", "json", "md"))
def check(**options: Any) -> int:
    """Check the questions of FILE, whoever made them; of two files side by side.

    answerable: a model finds the right answer in the evidence. closed_book: without any text it does not. unique: the question's own
    Cypher or path leads to one right answer in the graph (--graph), whatever its words. unique_wording: its words ask for one thing, as a
    model reads them; "not judged" without a model. not_in_one_passage: no single passage answers a question of several hops. leak: the
    question does not say its answer. duplicate: no earlier question asks the same. no_shortcut: no shorter way joins the ends of its
    path. absent: the Cypher of a negative question finds nothing. A call that fails leaves its check unscored; finished calls are never
    paid twice.

    Exit codes: 0 done, 1 a --threshold is missed, 2 wrong input or no connection, 3 incomplete (budget reached, too many failures, a
    threshold without an answer), 130 interrupted.
    """
    from kgeval import config as configuration
    from kgeval.cli.questions_check_run import finish, plan

    config = configuration.load(options["config_file"])
    options["redact"] = options["redact"] or config.report.redact
    with ExitStack() as stack:
        job = _job(stack, config, options)
        for path in options["files"]:
            job.sets.append(stack.enter_context(questions_of(path, options)))
        if options["dry_run"]:
            return plan(job)
        return finish(job)


def _job(stack: ExitStack, config: Config, options: Mapping[str, Any]) -> CheckJob:
    """Everything that can be checked and opened before a question is read."""
    from kgeval.cli.questions_check_run import CheckJob
    from kgeval.manifest import Started
    from kgeval.questions.checking.gates import parse_check_gates
    from kgeval.questions.checking.table import CHECKS, chosen_checks

    started = Started("questions check", arguments(options))
    files = _files(options)
    results, reports = _outputs(options)
    named, given = _model_named(config, options), _graph_given()
    checks = chosen_checks(listed(options["checks"]), model=named, graph=given)
    gates = parse_check_gates(options["thresholds"], checks, files)
    needs = frozenset[str]().union(*(CHECKS[name].needs | CHECKS[name].also for name in checks))
    graph, layout = _graph(stack, config, options) if given and "graph" in needs else (None, None)
    models = stack.enter_context(open_models_from_options(config, "judge", options)) if named and "model" in needs else None
    words_only = options["no_model"] or options["no_embeddings"] or options["dry_run"] or "duplicate" not in checks
    embedder = None if words_only else stack.enter_context(open_embedder_from_options(config, options))
    return CheckJob(
        options=options, started=started, files=files, checks=checks, gates=gates, results=results, reports=reports, models=models,
        graph=graph, layout=layout, embedder=embedder, max_error_rate=limits_from_options(config, options).max_error_rate,
    )


def _model_named(config: Config, options: Mapping[str, Any]) -> bool:
    """Whether a model is asked. Raises: UsageError where checks that need one are wanted, none is named, and --no-model is not given."""
    from kgeval.questions.checking.table import CHECKS

    if options["no_model"]:
        return False
    named = bool(options["model"] or config.model.judge.name)
    wanted = listed(options["checks"]) or list(CHECKS)
    needing = [name for name in wanted if name in CHECKS and "model" in CHECKS[name].needs]
    if needing and not named:
        raise UsageError(
            f"no model is named for the judge, and these checks need one: {', '.join(needing)}",
            fix="give --model NAME, or name = ... in [model.judge] of kgeval.toml; --no-model does the checks that need none",
        )
    return named


def _files(options: Mapping[str, Any]) -> list[str]:
    """How the files are called: by name, or by path where both have one name."""
    files: Sequence[Path] = options["files"]
    if len(files) > 2:
        raise UsageError(f"{len(files)} files: one set is checked, or two are set side by side", fix="give one file or two")
    names = ["stdin" if path == STDIN else path.name for path in files]
    if len(set(names)) < len(names):
        names = [str(path) for path in files]
    if len(set(names)) < len(names):
        raise UsageError(f"{names[0]} is given twice", fix="give two different files")
    return names


def _outputs(options: Mapping[str, Any]) -> tuple[list[Path], list[Path]]:
    """The files for questions, and those for the report. Raises: UsageError."""
    from kgeval.records import CheckReport
    from kgeval.reports.write import check_outputs

    outputs = list(options["outputs"])
    results = [path for path in outputs if path.suffix.lower() == ".jsonl"]
    reports = [path for path in outputs if path not in results]
    check_outputs(reports, CheckReport)
    if results and len(options["files"]) > 1:
        raise UsageError(f"-o {results[0]}: the questions of two files do not go into one", fix="check each file by itself for that")
    from kgeval.reports.write import check_replaced

    check_replaced(outputs, list(options["files"]))
    return results, reports


def _graph_given() -> bool:
    """Whether this command was told of a graph: NEO4J_URI alone does not tell it, for most checks need none."""
    context = click.get_current_context()
    named = any(context.params[name] is not None for name in ("graph_name", "home", "layout_option"))
    return named or context.get_parameter_source("uri") == ParameterSource.COMMANDLINE


def _graph(stack: ExitStack, config: Config, options: Mapping[str, Any]) -> tuple[Graph, Layout]:
    """The open graph; its name is looked up, so that no proof is made in a database that does not hold it."""
    graph = stack.enter_context(open_from_options(config, **{name: options[name] for name in ("uri", "username", "database", "home")}))
    layout = layout_from_options(graph, config, **{name: options[name] for name in ("graph_name", "layout_option", "overrides")})
    say(f"answers are proved in {graph.info.uri}, layout {layout.name}")
    return graph, layout
