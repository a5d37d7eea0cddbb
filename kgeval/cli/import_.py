"""`kgeval import`: loads a graph from files into Neo4j."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kgeval.cli.common import connection_options, open_from_options, say
from kgeval.cli.import_bulk import bulk_options, check_bulk, import_bulk, named_tables, read_tables
from kgeval.errors import KgevalError, UsageError
from kgeval.reports.display import percent

if TYPE_CHECKING:
    from kgeval.graph.load.model import Loaded
    from kgeval.graph.load.state import Target
    from kgeval.graph.load.writer import Progress, Result

FORMATS = ("msgraphrag", "lightrag", "graphml", "triples", "json", "tables")


@click.command("import")
@click.argument("path", type=click.Path(path_type=Path), required=False)
@click.option("--graph", "name", required=True, help="The graph's name: one more label on its nodes, so that several live in one database.")
@click.option("--as", "form", type=click.Choice(FORMATS), help="The format, where it is not found by itself.")
@click.option("--replace", is_flag=True, help="Delete the graph of this name first (only its own nodes).")
@click.option("--append", is_flag=True, help="Add to the graph of this name; nodes with the same id are joined.")
@click.option(
    "--max-error-rate", "--max-bad-rows", "max_error_rate", type=click.FloatRange(0, 1), default=0.0, show_default=True,
    help="Share of bad rows that are passed over with a warning; above it nothing is written.",
)
@click.option("--batch-size", type=click.IntRange(1, 100_000), default=10_000, show_default=True, help="Rows in one transaction.")
@click.option("--dry-run", is_flag=True, help="Read and check the files, say what would be loaded, write nothing.")
@click.option("--no-progress", is_flag=True, help="No progress on stderr.")
@bulk_options
@connection_options
def import_(path: Path | None, name: str, **given: Any) -> None:
    """Load a graph from files into Neo4j, provenance kept.

    PATH is a folder of MS GraphRAG (Parquet), LightRAG or tables (nodes.csv and relations.csv, or .parquet), or one file:
    GraphML, triples (CSV, TSV, JSON, JSONL), or node-link JSON. The format is found by itself. Tables may also be named one by
    one: --nodes FILE --relations FILE. Where the documents of PATH have no names that a gold set would know, --documents map.csv
    (id, title) gives them names.

    With --bulk large tables are written as a new store of an embedded home: millions of relations in a minute. The home must
    be empty, or --replace-store given, which deletes everything in it. If it fails, the old store is as it was.

    Exit codes: 0 loaded, 2 wrong input or use, 3 too many bad rows (nothing is written), 130 interrupted.
    """
    from kgeval.graph.load import naming
    from kgeval.graph.load.detect import load
    from kgeval.graph.load.tables import titled

    if given["replace"] and given["append"]:
        raise UsageError("--replace and --append exclude each other", fix="give one of them")
    check_bulk(given)
    named = named_tables(path, given)
    naming.check_graph_name(name)
    if given["bulk"]:
        with load_progress(quiet=given["no_progress"]) as progress:
            import_bulk(path, name, given, progress)
        return
    begun = time.monotonic()
    loaded = titled(load(path, given["form"]), named.documents) if path is not None else read_tables(named)
    _judge_faults(loaded, given["max_error_rate"])
    source = ", ".join(map(str, loaded.inputs[:4])) if path is None else str(path)
    result = None if given["dry_run"] else _write(loaded, _target(loaded, source, name, given), given)
    _show(loaded, result, name, time.monotonic() - begun)


def _judge_faults(loaded: Loaded, most: float) -> None:
    """Raises IncompleteError above the rate, before anything is written; below it, the bad rows are listed."""
    from kgeval.errors import IncompleteError, InputError

    if not loaded.faults:
        return
    share = len(loaded.faults) / max(loaded.rows, 1)
    message = f"{len(loaded.faults)} of {loaded.rows} rows are bad ({percent(share)})"
    if share > most:
        listed = InputError(f"{message}; nothing was written", faults=loaded.faults)
        raise IncompleteError(str(listed), fix=f"mend them, or pass over them with --max-error-rate {_above(share)}")
    say("warning: " + str(InputError(f"{message} and passed over", faults=loaded.faults)))


def _above(share: float) -> str:
    return f"{min(1.0, share + 0.005):.2f}"


def _target(loaded: Loaded, source: str, name: str, given: dict[str, Any]) -> Target:
    from kgeval import __version__
    from kgeval.files import sha256
    from kgeval.graph.load.state import Target

    return Target(
        name, sha256(loaded.inputs, loaded.format), loaded.format, source, __version__,
        replace=given["replace"], append=given["append"], undirected=loaded.undirected,
    )


def _write(loaded: Loaded, target: Target, given: dict[str, Any]) -> Result:
    from kgeval.config import load as load_config
    from kgeval.graph.load.writer import Options, write
    from kgeval.text.names import normalise

    config = load_config(given["config_file"])
    address = {key: given[key] for key in ("uri", "username", "database", "home")}
    with open_from_options(config, **address) as graph, load_progress(quiet=given["no_progress"]) as progress:
        try:
            return write(graph, loaded, target, Options(normalise, given["batch_size"], progress))
        except KeyboardInterrupt:
            say(f"interrupted: graph {target.name} may be half loaded; run again with --replace")
            raise
        except UsageError:
            raise
        except KgevalError as wrong:
            raise type(wrong)(
                f"{wrong.message}\ngraph {target.name} may be half loaded",
                fix="run again with --replace; if the server lacks memory, with a smaller --batch-size",
            ) from wrong


@contextmanager
def load_progress(*, quiet: bool) -> Iterator[Progress]:
    """A rich progress bar on stderr, one line a stage; silent where stderr is no terminal."""
    if quiet or not sys.stderr.isatty():
        yield lambda _stage, _done, _total: None
        return
    from rich.console import Console
    from rich.progress import Progress as Bar

    with Bar(console=Console(stderr=True)) as bar:
        tasks: dict[str, Any] = {}

        def hear(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                tasks[stage] = bar.add_task(stage, total=total)
            bar.update(tasks[stage], completed=done)

        yield hear


def _show(loaded: Loaded, result: Result | None, name: str, seconds: float) -> None:
    """The summary: what was read and written, what was left out, and the next command."""
    for note in [*loaded.notes, *(result.notes if result else [])]:
        say(f"note: {note}")
    if result is not None and result.unchanged:
        click.echo(f"Graph {name}: the same input is loaded already; nothing was changed.")
    else:
        verb = "would load" if result is None else "loaded"
        click.echo(f"Graph {name}: {verb} {loaded.format} in {seconds:.1f} s")
        for label, number in _figures(loaded, result):
            click.echo(f"  {label:<28} {number:>10,}")
    click.echo("Next: " + ("run it without --dry-run" if result is None else f"kgeval audit --graph {_quoted(name)}"))


def _figures(loaded: Loaded, result: Result | None) -> list[tuple[str, int]]:
    counts = loaded.counts
    always = [
        ("entities", len(loaded.entities)), ("relations", len(loaded.relations)), ("chunks", len(loaded.chunks)),
        ("documents", len(loaded.documents)), ("dangling ends", counts.get("dangling_entities", 0)),
        ("relations at dangling ends", counts.get("dangling_relations", 0)), ("entities that share a name", counts.get("same_names", 0)),
    ]
    rare = [
        ("ends with several candidates", counts.get("ambiguous_ends", 0)), ("entities without a name", counts.get("unnamed", 0)),
        ("chunks missing in the source", counts.get("dangling_chunks", 0)), ("bad rows passed over", len(loaded.faults)),
        ("nodes that were there already", result.already_there if result else 0),
        ("old nodes deleted", result.deleted if result else 0),
    ]
    return always + [pair for pair in rare if pair[1]]


def _quoted(name: str) -> str:
    import shlex

    return shlex.quote(name)
