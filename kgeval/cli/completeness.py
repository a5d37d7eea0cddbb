"""`kgeval completeness`: what a graph lacks of a gold set, by matching level; with a model, also of facts and of an ideal graph."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kgeval.cli.choose import layout_from_options, layout_options
from kgeval.cli.common import Seconds, arguments, connection_options, listed, open_from_options, say
from kgeval.cli.completeness_models import (
    IdealMade,
    check_ideal,
    fact_options,
    facts_from_options,
    ideal_from_options,
    ideal_options,
    with_ideal,
)
from kgeval.cli.models import embedding_options, limit_options, model_options
from kgeval.cli.show import report_options, show_report
from kgeval.errors import UsageError

if TYPE_CHECKING:
    from kgeval.auditing.completeness.gold import Gold
    from kgeval.auditing.completeness.run import CompletenessOptions
    from kgeval.config import Config
    from kgeval.manifest import Started
    from kgeval.records import CompletenessReport, Level, Proportion
    from kgeval.stats.thresholds import Threshold

FIGURES = (
    "entity_coverage", "relation_completeness", "relation_completeness_directed", "relation_completeness_with_predicate", "relation_pairs",
)
FACTS = "fact_retention"
DEFAULT_LEVELS = "exact,normalised,alias,fuzzy"


@click.command()
@connection_options
@layout_options
@click.option(
    "--gold", "gold_files", multiple=True, type=click.Path(path_type=Path), metavar="FILE",
    help="Gold entities and triples: JSONL, JSON, CSV, TSV, Parquet, or a GraphRAG-Bench question file (repeatable).",
)
@click.option(
    "--ideal", multiple=True, type=click.Path(path_type=Path), metavar="DOCS", help="Take an extractor's graph of DOCS as gold set.",
)
@click.option("--facts", type=click.Path(path_type=Path), metavar="FILE", help="Gold sentences: judge which of them follow from the graph.")
@click.option("--documents", multiple=True, metavar="ID", help="Only the gold of these documents (comma or repeated).")
@click.option(
    "--whole-graph", is_flag=True,
    help="Look for gold items in the whole graph, whatever document they belong to: the figures are higher than by document.",
)
@click.option(
    "--levels", multiple=True, metavar="LEVEL",
    help=f"Levels to match at: {DEFAULT_LEVELS}, embedding, or all [default: all but embedding].",
)
@click.option("--fuzzy", type=float, default=90.0, show_default=True, help="Lowest token_sort_ratio of the fuzzy level, 70 to 100.")
@click.option("--similarity", type=float, default=0.85, show_default=True, help="Lowest cosine of the embedding level.")
@click.option("--control", type=click.Path(path_type=Path), metavar="FILE", help="Gold of another text, which should not be found.")
@click.option(
    "--threshold", "thresholds", multiple=True, metavar="ID>=SHARE",
    help="E.g. entity_coverage>=0.7 or entity_coverage@normalised>=0.6; missed: exit 1 (comma or repeated).",
)
@click.option("--limit", type=click.IntRange(min=0), default=5, show_default=True, help="Examples a finding, faults shown; 0 = all.")
@click.option("--timeout", type=Seconds(), default=3600.0, help="Seconds a query may take [default: 3600].")
@fact_options
@ideal_options
@model_options("judge")
@limit_options
@embedding_options
@report_options
def completeness(**options: Any) -> int:
    """Find what a graph lacks: hold it against gold entities and triples. Reads only; needs no model, but for --ideal and --facts.

    Exit codes: 0 done, 1 a --threshold is missed, 2 wrong input or no connection, 3 incomplete (a threshold has no answer, a
    budget was reached), 130 interrupted.
    """
    from kgeval import config as configuration
    from kgeval.manifest import Started
    from kgeval.reports.write import check_outputs

    config = configuration.load(options["config_file"])
    outputs = list(options["outputs"]) or [Path(name) for name in config.report.outputs]
    check_outputs(outputs)
    gates = parse_gates(options["thresholds"])
    started = Started("completeness", arguments(options))
    measured = _measured(config, options, started)
    if measured is None:
        return 0
    report, code = measured
    code = max(code, gate_code(report, gates))
    run = report.run.model_copy(update={"exit_code": code, "seconds": started.seconds})
    show_report(report.model_copy(update={"run": run}), options, outputs)
    return code


def _check_sources(options: dict[str, Any]) -> None:
    """Raises: UsageError where there is nothing to hold the graph against, two gold sets, or options of --ideal do not fit."""
    check_ideal(options)
    given = [name for name in ("gold_files", "ideal") if options[name]]
    if len(given) == 2:
        raise UsageError("--gold and --ideal are two gold sets", fix="measure them one after the other")
    if not given and not options["facts"]:
        raise UsageError("nothing to hold the graph against", fix="give --gold FILE, --ideal DOCS or --facts FILE")
    if not given and listed(options["documents"]):
        raise UsageError("--documents chooses among the gold of --gold or --ideal", fix="leave --documents out")


def _gold(config: Config, options: dict[str, Any]) -> tuple[Gold, IdealMade | None]:
    """The gold set of files, or an extractor's (none after a dry run)."""
    from kgeval.auditing.completeness.gold import Items, distinct, only_documents
    from kgeval.auditing.completeness.gold_files import read_gold

    ideal = ideal_from_options(config, options) if options["ideal"] else None
    gold = ideal.gold if ideal else read_gold(options["gold_files"]) if options["gold_files"] else distinct(Items())
    wanted = listed(options["documents"])
    gold = only_documents(gold, wanted) if wanted and (ideal or options["gold_files"]) else gold
    _say_faults(gold, options["limit"])
    return gold, ideal


def _measured(config: Config, options: dict[str, Any], started: Started) -> tuple[CompletenessReport, int] | None:
    """The report, and an exit code where a model did not get to its end; null after a dry run.

    What can fail at once (options, files, connection) is tried before anything that takes long or costs money.
    """
    from kgeval.auditing.completeness.run import measure

    _check_sources(options)
    if options["dry_run"] and options["ideal"]:
        _gold(config, options)
        return None
    with ExitStack() as open_things:
        chosen = _options(config, options, started, open_things)
        facts = facts_from_options(config, options, open_things)
        made = None if options["ideal"] else _gold(config, options)
        if options["dry_run"] and facts is None:
            click.echo("--gold asks no judge\ndry run: nothing was sent")
            return None
        known = ("uri", "username", "database", "home")
        graph = open_things.enter_context(open_from_options(config, **{key: options[key] for key in known}))
        bound = layout_from_options(graph, config, **{key: options[key] for key in ("graph_name", "layout_option", "overrides")})
        if facts and options["dry_run"]:
            facts.show_plan(graph, bound)
            return None
        gold, ideal = made or _gold(config, options)
        report = measure(graph, bound, gold, chosen)
        report, code = facts.judged(graph, report) if facts else (report, 0)
        return (with_ideal(report, ideal), code or ideal.code) if ideal else (report, code)


def _options(config: Config, options: dict[str, Any], started: Started, open_things: ExitStack) -> CompletenessOptions:
    """The options of the measurement; the embedder is opened where its level is asked for."""
    from kgeval.auditing.completeness.gold_files import read_gold
    from kgeval.auditing.completeness.run import CompletenessOptions
    from kgeval.cli.models import open_embedder_from_options

    levels = parse_levels(listed(options["levels"]))
    embedder = open_things.enter_context(open_embedder_from_options(config, options)) if "embedding" in levels else None
    control = read_gold([options["control"]]) if options["control"] else None
    if control is not None:
        _say_faults(control, options["limit"])
    return CompletenessOptions(
        levels=levels, fuzzy=options["fuzzy"], similarity=options["similarity"], embedder=embedder, started=started,
        control=control, whole_graph=options["whole_graph"], limit=options["limit"], timeout=options["timeout"],
        progress=(lambda stage: None) if options["no_progress"] or not sys.stderr.isatty() else (lambda stage: say(f"{stage} ...")),
    )


def parse_levels(given: Sequence[str]) -> tuple[Level, ...]:
    """The levels named, strictest first; `all` is every one; none named: exact to fuzzy. Raises UsageError for unknown ones."""
    from kgeval.records import LEVELS

    named = {name.lower() for name in given} or set(DEFAULT_LEVELS.split(","))
    unknown = sorted(named - {*LEVELS, "all"})
    if unknown:
        raise UsageError(f"--levels: {', '.join(unknown)}: no such level", fix=f"the levels are {', '.join(LEVELS)}, all")
    return tuple(level for level in LEVELS if level in named or "all" in named)


def parse_gates(given: Sequence[str]) -> list[Threshold]:
    """`ID>=0.7`, `ID=0.7`, `ID<=0.7` or `ID@LEVEL>=0.7`; without a level the verdict's is meant. All faults at once."""
    from kgeval.records import LEVELS
    from kgeval.stats.thresholds import parse_thresholds

    def faults(one: Threshold) -> list[str]:
        known = one.of is None and one.name in (*FIGURES, FACTS) and (one.at is None or one.at in LEVELS)
        return [] if known else ["no such figure or level"]

    fix = f"write ID>=SHARE, ID<=SHARE or ID=SHARE (at least); figures: {', '.join((*FIGURES, FACTS))}; levels: {', '.join(LEVELS)}"
    return parse_thresholds(given, faults, fix=fix)


def gate_code(report: CompletenessReport, gates: Sequence[Threshold]) -> int:
    """3 if a gate has no answer, 1 if one is missed, else 0; each is said on stderr."""
    from kgeval.reports.display import beyond
    from kgeval.stats.thresholds import passes

    codes = [0]
    for gate in gates:
        counted = _figure(report, gate.name, gate.at)
        name, least = f"{gate.name}@{gate.at}" if gate.at else gate.name, gate.least("higher")
        if report.scope == "unmatched" and gate.name != FACTS:
            why = "no document of the gold set could be matched with the graph's; --whole-graph takes the figures"
            say(f"gate not answered: {name}: {why}")
            codes.append(3)
        elif counted is None or counted.share is None:
            say(f"gate not answered: {name} has no figure here")
            codes.append(3)
        elif not passes(counted.share, gate.limit, least=least):
            say(f"gate missed: {name} is {beyond(counted.share, gate.limit)}, {'below' if least else 'above'} {gate.limit:g}")
            codes.append(1)
    return max(codes)


def _figure(report: CompletenessReport, figure: str, level: str | None) -> Proportion | None:
    if figure == FACTS:
        return report.facts.retention if report.facts else None
    name: Any = level or report.verdict_level
    coverage = report.levels.get(name)
    found: Proportion | None = getattr(coverage, figure) if coverage else None
    return found


def _say_faults(gold: Gold, limit: int) -> None:
    if not gold.faults:
        return
    say(f"warning: {len(gold.faults)} broken gold items are passed over (all are in the report):")
    for fault in gold.faults[: limit or None]:
        say(f"  {fault}")
    if limit and len(gold.faults) > limit:
        say(f"  ... and {len(gold.faults) - limit} more")
