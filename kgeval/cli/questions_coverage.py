"""`kgeval questions coverage`: what of a graph the questions of a file touch, and what they miss."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kgeval.cli.choose import layout_from_options, layout_options
from kgeval.cli.common import Seconds, arguments, connection_options, open_from_options, say
from kgeval.cli.questions_stats import STDIN, file_options, questions_of
from kgeval.cli.show import report_options_of, show_report
from kgeval.errors import UsageError
from kgeval.reports.display import beyond

if TYPE_CHECKING:
    from kgeval.config import Config
    from kgeval.graph.connect import Graph
    from kgeval.manifest import Started
    from kgeval.questions.checking.gates import CheckGate
    from kgeval.questions.covering.land import Land
    from kgeval.records import CoverageReport

MISSED, INCOMPLETE = 1, 3


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE [FILE2]")
@click.option(
    "--examples", type=click.IntRange(0, 100_000), default=10, show_default=True,
    help="Groups listed of each facet, covered and missing; the terminal shows the first five.",
)
@click.option("--cypher", "show_cypher", is_flag=True, help="Print the Cypher that lists all that is missing of each facet, too.")
@click.option("--limit", "first", type=click.IntRange(min=1), metavar="N", help="Only the first N questions of each file.")
@click.option(
    "--threshold", "thresholds", multiple=True, metavar="[FILE:]FACET>=X",
    help="E.g. types>=0.8 (types, predicates, communities, documents, degrees, hops); missed: exit 1 (comma or repeated).",
)
@click.option("--seed", type=click.IntRange(0, 2**31 - 1), default=0, show_default=True, help="Of communities above 200,000 entities.")
@click.option("--timeout", type=Seconds(), default=600, show_default=True, help="Seconds a query may take.")
@file_options
@connection_options
@layout_options
@report_options_of("Report: .json .md", ("text", "json", "md"))
def coverage(**options: Any) -> int:
    """What of a graph the questions of FILE cover: types, predicates, communities, documents, degrees and hop counts; and what they
    miss. Two files are set side by side.

    A question is found in the graph by what its file records (structure, gold path, chunks of the evidence, document): by element id
    where the entity is still called so, else by key, else by name and type. A file that records nothing is searched for names that
    question, right answers and evidence mention; how many questions were found in which way is said. No model is asked.

    Exit codes: 0 done, 1 a --threshold is missed, 2 wrong input or no connection, 3 a threshold without an answer, 130 interrupted.
    """
    from kgeval import config as configuration
    from kgeval.manifest import Started
    from kgeval.questions.checking.gates import parse_check_gates
    from kgeval.questions.coverage import FACETS
    from kgeval.records import CoverageReport
    from kgeval.reports.write import check_outputs

    config = configuration.load(options["config_file"])
    options["redact"] = options["redact"] or config.report.redact
    started = Started("questions coverage", arguments(options))
    names = _names(options["files"])
    gates = parse_check_gates(options["thresholds"], FACETS, names, noun="facet")
    check_outputs(options["outputs"], CoverageReport)
    from kgeval.reports.write import check_replaced

    check_replaced(options["outputs"], list(options["files"]))
    report = _report(config, options, started, names, gates)
    show_report(report, options, options["outputs"])
    for line in _told(report):
        say(line)
    return report.run.exit_code


def _names(files: tuple[Path, ...]) -> list[str]:
    """How the files are called: by name, or by path where both have one name."""
    if len(files) > 2:
        raise UsageError(f"{len(files)} files: one set is described, or two are set side by side", fix="give one file or two")
    names = ["stdin" if path == STDIN else path.name for path in files]
    return names if len(set(names)) == len(names) else [str(path) for path in files]


def _report(
    config: Config, options: Mapping[str, Any], started: Started, names: list[str], gates: list[CheckGate],
) -> CoverageReport:
    from kgeval.questions.coverage import coverage as covered
    from kgeval.questions.coverage import evaluated
    from kgeval.questions.covering.land import read_land
    from kgeval.records import CoverageReport

    with ExitStack() as stack:
        sets = [stack.enter_context(questions_of(path, options)) for path in options["files"]]
        graph = stack.enter_context(open_from_options(config, **{key: options[key] for key in ("uri", "username", "database", "home")}))
        layout = layout_from_options(graph, config, **{key: options[key] for key in ("graph_name", "layout_option", "overrides")})
        land = read_land(graph, layout, timeout=options["timeout"], seed=options["seed"])
        found = [covered(one, land, name, examples=options["examples"]) for one, name in zip(sets, names, strict=True)]
        results = evaluated(gates, found)
        code = INCOMPLETE if any(one.met is None for one in results) else MISSED if any(not one.met for one in results) else 0
        return CoverageReport(
            run=_manifest(options, started, graph, code), graph=options["graph_name"] or config.graph.name, layout=layout,
            entities=len(land.ids), relations=sum(land.sizes["predicates"].values()), sets=found, gates=results, notes=_notes(land),
        )


def _manifest(options: Mapping[str, Any], started: Started, graph: Graph, code: int) -> Any:
    from kgeval.graph.queries import all_queries

    used = {query.name: query.sha256 for query in all_queries().values() if query.name.startswith("coverage-")}
    inputs = [path for path in options["files"] if path != STDIN]
    return started.manifest(server=graph.info, inputs=inputs, seed=options["seed"], exit_code=code, hashes=used)


def _notes(land: Land) -> list[str]:
    return [f"{land.untyped:,} of {len(land.ids):,} entities have no type, and are in no group of types"] if land.untyped else []


def _told(report: CoverageReport) -> Iterator[str]:
    """Messages for thresholds that are missed or without an answer."""
    for gate in report.gates:
        name, sign = f"{gate.metric} of {gate.system}", ">=" if gate.least else "<="
        if gate.met is None:
            yield f"threshold not answered: {name}: the graph has no such groups"
        elif not gate.met:
            yield f"threshold missed: {name} is {beyond(gate.value or 0.0, gate.limit)}, wanted {sign} {gate.limit:g}"
