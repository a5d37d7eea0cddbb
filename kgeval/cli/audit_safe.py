"""Reading large databases of others with care: what it will take is said first, a part may do, memory is granted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import click

from kgeval.cli.common import F, say
from kgeval.errors import UsageError

if TYPE_CHECKING:
    from kgeval.auditing.part import Part
    from kgeval.graph.connect import Graph
    from kgeval.graph.memory import Estimate
    from kgeval.records import Layout

LARGE_NODES, LARGE_RELATIONS = 1_000_000, 5_000_000
BY_PART = ("ratchet", "write_baseline")


def safe_options(command: F) -> F:
    """--dry-run, --sample-share, --memory-limit."""
    for option in reversed((
        click.option(
            "--dry-run", is_flag=True,
            help="Say how large the graph is, which checks are asked for, what memory GDS takes; read no more.",
        ),
        click.option(
            "--sample-share", type=click.FloatRange(0, 1, min_open=True), metavar="SHARE",
            help="Share of the things that the checks of names and texts look at, with an interval on what they find [default: 1].",
        ),
        click.option(
            "--memory-limit", metavar="SIZE",
            help="What graph algorithms may take of the server's heap, by GDS's estimates (2g); what takes more is skipped.",
        ),
    )):
        command = option(command)
    return command


def part_of(options: Mapping[str, Any]) -> Part:
    """What the checks of strings look at. Raises: UsageError beside a ratchet, which counts single hits."""
    from kgeval.auditing.part import Part

    share = options["sample_share"] or 1.0
    if share < 1 and (named := [name for name in BY_PART if options.get(name)]):
        flags = ", ".join("--" + name.replace("_", "-") for name in named)
        raise UsageError(f"--sample-share does not go with {flags}, which counts single hits", fix="leave one of them out")
    return Part(share, options["seed"])


def check_safe(options: Mapping[str, Any], *, several: bool, session: bool = False) -> None:
    """Raises: UsageError for flags that cannot be meant, before a connection is made. `session`: the algorithms run in one, by a flag or by
    kgeval.toml."""
    granted(options)
    if options["dry_run"] and several:
        raise UsageError("--dry-run looks at one graph", fix="name one graph, or leave --dry-run out")
    if options["memory_limit"] and session:
        raise UsageError("--memory-limit is for the database's own GDS; a session has memory of its own", fix="use --gds-session-memory")


def granted(options: Mapping[str, Any]) -> int | None:
    """The bytes of --memory-limit; null without it. Raises: UsageError."""
    from kgeval.graph.memory import size_of

    return size_of(options["memory_limit"]) if options["memory_limit"] else None


def size_notes(graph: Graph) -> list[str]:
    """Says on stderr that a database is large, before it is read; the same for the report. Of plain counts, which Neo4j answers from
    its count store where it gives that away."""
    from kgeval.graph.queries import all_queries

    held = graph.read(all_queries()["layout-tokens"])[0]
    if held["nodes"] <= LARGE_NODES and held["relations"] <= LARGE_RELATIONS:
        return []
    note = f"a large database: {held['nodes']:,} nodes, {held['relations']:,} relations"
    say(
        f"warning: {note}; an audit reads all of it. --dry-run says what it will take; --sample-share 0.1, --memory-limit, --timeout, "
        "--skip and --no-structure make it lighter",
    )
    return [note]


def part_notes(part: Part) -> list[str]:
    """What a reader must know where checks looked at a part."""
    if part.whole:
        return []
    return [f"the checks of names and texts looked at {part.share:.3g} of the things, picked by their ids (seed {part.seed}): their shares "
            "are estimates with an interval, and a rare fault may be missed; all other checks read everything"]


def foretold(graph: Graph, layout: Layout, options: Mapping[str, Any], rules: list[str], *, session: str | None = None) -> Iterator[str]:
    """The lines of --dry-run: sizes by the count store where that is possible, memory by GDS's estimates, checks that are asked for.
    `session`: where the algorithms run in one, its memory in words."""
    from kgeval.graph.algorithms import missing
    from kgeval.graph.layouts import catalogue
    from kgeval.graph.memory import estimate

    held = catalogue(graph)
    entities = min(held.nodes, sum(held.labels.get(label, 0) for label in layout.entity_labels))
    relations = sum(held.types.get(name, 0) for name in layout.relation_types)
    source = "by the count store" if held.source == "count store" else "counted: this server does not give its count store away"
    yield f"database    {held.nodes:,} nodes, {held.relations:,} relations ({source})"
    scope = f", of all graphs here, not only of {layout.scope_value}" if layout.scope_value else ""
    yield f"graph       layout {layout.name}: at most {entities:,} entities, {relations:,} relations{scope}"
    most = f"at most {options['timeout']:g} s each"
    yield f"checks      {len(rules)} asked for (kgeval doctor says which can run), {most}: {', '.join(rules)}"
    if options["no_structure"]:
        yield "algorithms  none for figures (--no-structure)"
    elif session is not None:
        yield f"algorithms  in a session of Aura Graph Analytics with {session}; nothing was asked of Aura"
    elif reason := missing(graph):
        yield f"algorithms  none: {reason}"
    else:
        yield from _memory(estimate(graph, entities, relations))


def _memory(found: Estimate) -> Iterator[str]:
    from kgeval.graph.memory import PROJECTION, amount

    if not found.steps:
        yield "algorithms  what memory they take cannot be told here"
        return
    parts = ", ".join(f"{step} {amount(found.needed(step))}" for step in sorted(found.steps, key=found.needed) if step != PROJECTION)
    yield f"algorithms  up to {amount(found.peak)} of the server's heap: projection {amount(found.steps[PROJECTION])}; with it {parts}"
    for step in found.steps:
        if refusal := found.refusal(step):
            yield f"            {step}: {refusal}: will be skipped"
