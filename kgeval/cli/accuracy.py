"""`kgeval accuracy`: is what the graph says true? A sample with its passages, judged by a model, by people, or by both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kgeval.cli.audit_embed import embed_options, embedding_of
from kgeval.cli.choose import layout_from_options, layout_options
from kgeval.cli.common import Option, Seconds, arguments, connection_options, open_from_options, say
from kgeval.cli.models import limit_options, model_options, open_models_from_options, show_plan
from kgeval.cli.show import report_options, show_report
from kgeval.errors import UsageError

if TYPE_CHECKING:
    from kgeval.auditing.accuracy.report import Results
    from kgeval.auditing.accuracy.run import Drawn
    from kgeval.auditing.accuracy.sample import Wanted
    from kgeval.auditing.check import Embedding
    from kgeval.config import Config
    from kgeval.llm.session import Models
    from kgeval.manifest import Asked, Started
    from kgeval.records import AccuracyReport, Layout, ServerInfo

INCOMPLETE, MISSED = 3, 1
_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command()
@connection_options
@layout_options
@click.option(
    "--kind", type=click.Choice(["relations", "entities", "duplicates"]), default="relations", show_default=True,
    help="What is drawn; duplicates: the pairs that the duplicate checks list.",
)
@click.option("-n", "--n", type=click.IntRange(1, 1_000_000), default=200, show_default=True, help="About how many items to draw.")
@click.option("--seed", type=click.IntRange(0, 2**31 - 1), default=0, show_default=True, help="Seed of the sample.")
@click.option(
    "--strata", type=click.Choice(["none", "type", "document"]), default="none", show_default=True,
    help="Draw from each type or document in proportion.",
)
@click.option(
    "--per-passage", type=click.IntRange(1, 20), default=5, show_default=True, help="Items of one passage drawn together, at most.",
)
@click.option("--passages", type=click.IntRange(1, 20), default=3, show_default=True, help="Passages shown for an item that has several.")
@click.option(
    "--chunks", multiple=True, type=_FILE, metavar="FILE",
    help="Chunk texts that are not in the graph: JSONL, or LightRAG's kv_store_text_chunks.json (repeatable).",
)
@click.option(
    "--labels", "human", cls=Option, old="--human", multiple=True, type=_FILE, metavar="CSV",
    help="Labels of people: the sheet that --sheet wrote, filled in (repeatable).",
)
@click.option(
    "--sheet", "export", cls=Option, old="--export", type=click.Path(dir_okay=False, path_type=Path), metavar="CSV",
    help="Write the sample as a blind sheet for people.",
)
@click.option(
    "--labelled-pairs", "pairs", cls=Option, old="--pairs", type=_FILE, metavar="CSV",
    help="With --kind duplicates: labelled pairs (name_a, name_b, label), for recall.",
)
@click.option(
    "--duplicate-check", "duplicate_checks", multiple=True, type=click.Choice(["duplicate-name", "fragmented-entity", "similar-entity"]),
    help="With --kind duplicates: only the pairs of this check (repeatable).  [default: all that can run]",
)
@click.option("--no-model", "no_judge", cls=Option, old="--no-judge", is_flag=True, help="Ask no model, even if kgeval.toml names one.")
@click.option("--half-width", "half_widths", multiple=True, type=click.FloatRange(0.001, 0.4), help="Print the n for this half-width too.")
@click.option(
    "--threshold", "thresholds", multiple=True, metavar="NAME>=SHARE",
    help="E.g. accuracy>=0.8, contradicted<=0.02; missed: exit 1 (comma or repeated).",
)
@click.option("--timeout", type=Seconds(), default=600, show_default=True, help="Seconds a query may take.")
@model_options("judge")
@limit_options
@embed_options(cache=False)
@report_options
def accuracy(**options: Any) -> int:
    """Measure how much of a graph is true, by a sample of it: each item is read against the passages that it comes from.

    Without --model (or [model.judge] in kgeval.toml) nothing is sent to a model: --sheet writes a sheet for people, --labels
    reads it back. With both, the judge is corrected by the people's labels.

    Exit codes: 0 done, 1 a --threshold is missed, 2 wrong input or no connection, 3 incomplete (no estimate, budget reached,
    too many failures, a threshold without an answer), 130 interrupted.
    """
    from kgeval import config as configuration
    from kgeval.manifest import Started
    from kgeval.reports.write import check_outputs

    config = configuration.load(options["config_file"])
    started = Started("accuracy", arguments(options))
    gates = parse_gates(options["thresholds"])
    outputs = list(options["outputs"]) or [Path(name) for name in config.report.outputs]
    options["redact"] = options["redact"] or config.report.redact
    _check(options)
    check_outputs(outputs)
    if not _asks_judge(config, options):
        return _without_judge(config, options, started, gates=gates, outputs=outputs)
    with open_models_from_options(config, "judge", options) as models:
        at, drawn = _draw(config, options)
        _export(drawn, options, at.graph)
        if options["dry_run"]:
            return _plan(models, drawn, options)
        results = _results(drawn, options, models)
        report = _report(results, options, started, at=at, asked=models.asked(), notes=models.notes)
        return _finish(report, options, gates=gates, outputs=outputs, code=models.exit_code)


@dataclass(frozen=True)
class Gate:
    """A share that must be reached (`least`) or kept under."""

    of: str
    least: bool
    share: float


@dataclass(frozen=True)
class Place:
    """Where the sample comes from, for the report, and what made embeddings."""

    server: ServerInfo
    layout: Layout
    graph: str | None
    embedding: Embedding | None = None


def parse_gates(given: Sequence[str]) -> list[Gate]:
    """`accuracy>=0.8`, `contradicted<=0.02`; `=` means at least for what is good, at most for what is not. All faults at once."""
    from kgeval.auditing.accuracy.estimates import share_names
    from kgeval.stats.thresholds import Threshold, parse_thresholds, without_at

    names = share_names()

    def faults(one: Threshold) -> list[str]:
        unknown = [] if one.name in names and one.of is None else [f"no share is called {f'{one.of}:' if one.of else ''}{one.name}"[:100]]
        return [*unknown, *without_at(one)]

    fix = f"write NAME>=SHARE, NAME<=SHARE or NAME=SHARE; shares are {', '.join(sorted(names))}"
    return [Gate(one.name, one.least(names[one.name]), one.limit) for one in parse_thresholds(given, faults, fix=fix)]


def _check(options: Mapping[str, Any]) -> None:
    """Refuses options that do not fit together, before anything is opened."""
    if options["pairs"] and options["kind"] != "duplicates":
        raise UsageError("--labelled-pairs is for --kind duplicates", fix="add --kind duplicates, or leave --labelled-pairs out")
    if options["duplicate_checks"] and options["kind"] != "duplicates":
        raise UsageError("--duplicate-check is for --kind duplicates", fix="add --kind duplicates, or leave --duplicate-check out")
    if (options["embed"] or options["embed_anew"]) and options["kind"] != "duplicates":
        raise UsageError("--embed is for --kind duplicates", fix="add --kind duplicates, or leave --embed out")
    if options["kind"] == "duplicates" and options["strata"] != "none":
        raise UsageError("pairs are not stratified", fix="leave --strata out")
    if options["export"] and options["export"].exists():
        raise UsageError(f"{options['export']}: is there already, and may hold labels", fix="choose another name, or move the file away")


def _asks_judge(config: Config, options: Mapping[str, Any]) -> bool:
    """A model is asked if one is named; a sheet alone asks none, unless --model says so."""
    if options["no_judge"]:
        return False
    others = options["export"] or options["human"] or options["pairs"]
    return bool(options["model"] or not others or (config.model.judge.name and not options["export"]))


def _without_judge(
    config: Config, options: Mapping[str, Any], started: Started, *, gates: list[Gate], outputs: list[Path],
) -> int:
    """Only people: the sheet is written, or their labels make the report."""
    from kgeval.manifest import Asked

    at, drawn = _draw(config, options)
    _export(drawn, options, at.graph)
    if not options["human"] and not options["pairs"]:
        if not options["export"]:
            raise UsageError("--no-model leaves nothing to do", fix="give --sheet, --labels or --labelled-pairs")
        return 0 if drawn.sample.items else INCOMPLETE
    report = _report(_results(drawn, options, None), options, started, at=at, asked=Asked(), notes=[])
    return _finish(report, options, gates=gates, outputs=outputs, code=0)


def _wanted(options: Mapping[str, Any]) -> Wanted:
    from kgeval.auditing.accuracy.sample import Wanted

    return Wanted(
        kind=options["kind"], n=options["n"], seed=options["seed"], strata=options["strata"], per_passage=options["per_passage"],
        passages=options["passages"], timeout=options["timeout"], checks=tuple(dict.fromkeys(options["duplicate_checks"])),
    )


def _draw(config: Config, options: Mapping[str, Any]) -> tuple[Place, Drawn]:
    """The sample; the connection is closed again, because judging may take long."""
    from kgeval.auditing.accuracy.chunks import read_chunks
    from kgeval.auditing.accuracy.run import draw

    chunks = read_chunks(options["chunks"]) if options["chunks"] else None
    embedding = embedding_of(config, options) if options["kind"] == "duplicates" else None
    with open_from_options(config, **{name: options[name] for name in ("uri", "username", "database", "home")}) as graph:
        layout = layout_from_options(graph, config, **{name: options[name] for name in ("graph_name", "layout_option", "overrides")})
        drawn = draw(graph, layout, _wanted(options), chunks, embedding=embedding)
        place = Place(graph.info, layout, layout.scope_value or options["graph_name"], embedding)
    if not drawn.sample.items:
        say("nothing can be judged: " + ("; ".join(drawn.sample.notes) or f"the graph has no {options['kind']} with a passage"))
    return place, drawn


def _export(drawn: Drawn, options: Mapping[str, Any], graph: str | None) -> None:
    from kgeval.auditing.accuracy.sheet import write_sheet

    if not options["export"] or not drawn.sample.items:
        return
    write_sheet(options["export"], drawn.sample, _wanted(options), graph=graph)
    n, clusters = drawn.sample.design.drawn, drawn.sample.design.clusters_drawn
    say(f"wrote {options['export']}: {n} {options['kind']} in {clusters} clusters; fill in the column label, then give it with --labels")


def _plan(models: Models, drawn: Drawn, options: Mapping[str, Any]) -> int:
    from kgeval.auditing.accuracy.run import planned
    from kgeval.llm.plan import Plan

    stage = models.plan(batch.task for batch in planned(models, drawn.sample, options["kind"]))
    show_plan(Plan((stage,), models.limits))
    return 0


def _results(drawn: Drawn, options: Mapping[str, Any], models: Models | None) -> Results:
    """Labels of people and verdicts of the judge. Sheets are read first: their faults must not cost money."""
    from kgeval.auditing.accuracy.gold_pairs import read_pairs
    from kgeval.auditing.accuracy.report import Results
    from kgeval.auditing.accuracy.run import judge
    from kgeval.auditing.accuracy.sheet import read_sheets

    people = read_sheets(options["human"], drawn.sample, _wanted(options)) if options["human"] else None
    gold = read_pairs(options["pairs"]) if options["pairs"] else []
    judged = judge(models, drawn.sample, options["kind"]) if models else {}
    return Results(options["kind"], drawn.sample, judged, people, drawn.listed, gold, options["half_widths"])


def _report(
    results: Results, options: Mapping[str, Any], started: Started, *, at: Place, asked: Asked, notes: Sequence[str],
) -> AccuracyReport:
    from kgeval.auditing.accuracy.report import accuracy_report
    from kgeval.auditing.accuracy.run import query_hashes
    from kgeval.config import DEFAULT_FILE

    named = [options["config_file"] or DEFAULT_FILE, options["layout_option"], *options["chunks"], *options["human"], options["pairs"]]
    run = started.manifest(
        server=at.server, hashes=query_hashes(results.kind), inputs=[Path(name) for name in named if name and Path(name).is_file()],
        seed=options["seed"], asked=_with_embedding(asked, at.embedding),
    )
    report = accuracy_report(results, graph=at.graph, layout=at.layout, run=run)
    return report.model_copy(update={"notes": [*report.notes, *notes]})


def _with_embedding(asked: Asked, embedding: Embedding | None) -> Asked:
    from kgeval.workflows.audit import models_of

    made = models_of(embedding)
    return replace(asked, models=[*asked.models, *made.models]) if made else asked


def _finish(report: AccuracyReport, options: Mapping[str, Any], *, gates: list[Gate], outputs: list[Path], code: int) -> int:
    """Shows the report; the exit code says whether the gates were met."""
    unanswered, missed = _gated(report, gates)
    answered = any(e.value is not None for e in report.estimates) or report.duplicates.get("gold_pairs") is not None
    code = INCOMPLETE if code or unanswered or not answered else MISSED if missed else 0
    show_report(report.model_copy(update={"run": report.run.model_copy(update={"exit_code": code})}), options, outputs)
    for text in (*missed, *unanswered):
        say(text)
    return code


def _gated(report: AccuracyReport, gates: list[Gate]) -> tuple[list[str], list[str]]:
    """Messages for gates without an answer and for those missed. A gate looks at the most trustworthy estimate there is."""
    from kgeval.auditing.accuracy.report import best
    from kgeval.reports.display import beyond
    from kgeval.stats.thresholds import passes

    unanswered, missed = [], []
    for gate in gates:
        found = best(report.estimates, gate.of)
        if found is None or found.value is None:
            unanswered.append(f"gate not answered: {gate.of} has no estimate here")
        elif not passes(found.value, gate.share, least=gate.least):
            sign = ">=" if gate.least else "<="
            value = f"{beyond(found.value, gate.share)} ({found.labelled_by})"
            missed.append(f"gate missed: {gate.of} is {value}, wanted {sign} {gate.share:g}")
    return unanswered, missed
