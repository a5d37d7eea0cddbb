"""`kgeval import --bulk`, and the tables of nodes and relations that both ways of importing read."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kgeval.cli.common import F, say
from kgeval.errors import IncompleteError, InputError, UsageError
from kgeval.reports.display import percent

if TYPE_CHECKING:
    from kgeval.graph.load.bulk.convert import Converted, Progress
    from kgeval.graph.load.bulk.load import Order
    from kgeval.graph.load.model import Loaded
    from kgeval.graph.load.table_files import Inputs

KINDS = ("nodes", "relations", "chunks", "documents")
ONLY_BULK = ("replace_store", "heap")


def bulk_options(command: F) -> F:
    """--bulk and what belongs to it; --nodes, --relations, --chunks, --documents."""
    file = click.Path(path_type=Path, dir_okay=False)
    for option in reversed((
        *(click.option(
            f"--{kind}", multiple=True, type=file, metavar="FILE", help=f"Table of {kind}, CSV or Parquet; may be given several times."
        ) for kind in KINDS),
        click.option("--bulk", is_flag=True, help="Write a new store with Neo4j's own import tool: for large tables, embedded homes only."),
        click.option("--replace-store", is_flag=True, help="With --bulk: delete EVERYTHING in this home's store first, all graphs of it."),
        click.option("--heap", metavar="SIZE", help="With --bulk: Java heap of tool and server: 4g [default: the server's, or 1g]."),
    )):
        command = option(command)
    return command


def named_tables(path: Path | None, given: dict[str, Any]) -> Inputs:
    """The tables that --nodes, --relations and so on name; beside PATH only --documents, which then gives its documents their titles.

    Raises: UsageError where PATH is there beside others, neither is, or no relations are named.
    """
    from kgeval.graph.load.table_files import Inputs

    found = Inputs(**{kind: given[kind] for kind in KINDS})
    if path is None and not found.all:
        raise UsageError("nothing to load", fix="give PATH, or --nodes FILE and --relations FILE")
    if path is not None:
        if found.nodes or found.relations or found.chunks or (given["bulk"] and found.documents):
            raise UsageError("PATH and --nodes, --relations, --chunks exclude each other", fix="leave PATH or these options out")
        return found
    if found.all and not (found.nodes or found.relations):
        raise UsageError("no table of nodes or relations", fix="add --nodes FILE or --relations FILE")
    return found


def check_bulk(given: dict[str, Any]) -> None:
    """Raises UsageError for options that --bulk needs or forbids."""
    if not given["bulk"]:
        wrong = [name for name in ONLY_BULK if given[name]]
        if wrong:
            raise UsageError(f"--{wrong[0].replace('_', '-')} is for --bulk", fix="add --bulk, or leave it out")
        return
    from kgeval.config import load as load_config
    from kgeval.graph.server.memory import heap_mb

    if given["heap"] is not None:
        heap_mb(given["heap"])
    if _on_command_line("batch_size"):
        raise UsageError("--batch-size is for an import through the server; the import tool of --bulk has none", fix="leave it out")
    if given["append"] or given["replace"]:
        raise UsageError("--bulk writes a new store: nothing is joined to it, no single graph replaced", fix="use --replace-store")
    if given["form"] not in (None, "tables"):
        raise UsageError(f"--bulk reads tables of nodes and relations, not {given['form']}", fix="import without --bulk")
    if given["home"] is None and (given["uri"] or load_config(given["config_file"]).graph.uri):
        raise UsageError(
            "--bulk writes the files of an embedded store, not another server's (--uri, NEO4J_URI or kgeval.toml names one)",
            fix="give --home, or import without --bulk",
        )
    if given["home"] is not None and _on_command_line("uri"):
        raise UsageError("--uri and --home exclude each other", fix="--home means the embedded server; leave one of them out")
    if given["username"] not in (None, "neo4j") or given["database"] not in (None, "neo4j"):
        raise UsageError("the embedded server has one user and one database, both called neo4j", fix="leave out --username and --database")


def _on_command_line(name: str) -> bool:
    return click.get_current_context().get_parameter_source(name) == click.core.ParameterSource.COMMANDLINE


def read_tables(inputs: Inputs) -> Loaded:
    """The tables, row by row. Raises: InputError."""
    from kgeval.graph.load.tables import read

    found = read(inputs)
    if not found.entities and not found.faults:
        raise InputError("the tables hold no entity and no relation", fix="check the files")
    return found


def import_bulk(path: Path | None, name: str, given: dict[str, Any], progress: Progress) -> None:
    """Runs the bulk import and prints what came of it."""
    from kgeval import __version__
    from kgeval.files import check_readable, sha256
    from kgeval.graph.load.bulk.load import Order
    from kgeval.graph.load.state import Target
    from kgeval.graph.load.table_files import FIELDS, FORM, columns
    from kgeval.text.names import name_keys

    begun = time.monotonic()
    inputs = _inputs(path, given)
    for kind in FIELDS:
        for file in inputs.of(kind):
            check_readable(file)
            columns(file, kind)
    stamps = _stamps(inputs)
    source = str(path) if path is not None else ", ".join(str(file) for file in inputs.all[:4])
    target = Target(name, sha256(inputs.all, FORM), FORM, source, __version__)

    def judge(made: Converted) -> None:
        _unchanged(inputs, stamps)
        judge_bulk(made, given["max_error_rate"])

    order = Order(inputs, target, given["home"], name_keys, judge, given["heap"], given["replace_store"], say, progress)
    made = _dry(order) if given["dry_run"] else _loaded(order)
    _show(made, name, time.monotonic() - begun, dry=given["dry_run"], home=given["home"])


def _loaded(order: Order) -> Converted | None:
    from kgeval.graph.load.bulk.load import load

    try:
        return load(order)
    except KeyboardInterrupt:
        say("interrupted: the home's store is as it was; run it again")
        raise


def _stamps(inputs: Inputs) -> list[tuple[int, ...]]:
    """What changes when somebody writes to the files; nothing for one that is gone."""
    found = [path.stat() if path.exists() else None for path in inputs.all]
    return [(one.st_ino, one.st_size, one.st_mtime_ns) if one else () for one in found]


def _unchanged(inputs: Inputs, stamps: list[tuple[int, ...]]) -> None:
    """Raises: InputError where a file was written to since: the mark would name other contents than those that were read."""
    for path, before, now in zip(inputs.all, stamps, _stamps(inputs), strict=True):
        if before != now:
            raise InputError(f"{path}: was changed while it was read; nothing was written", fix="wait for its writer, then run it again")


def _inputs(path: Path | None, given: dict[str, Any]) -> Inputs:
    from kgeval.files import check_readable
    from kgeval.graph.load.table_files import in_folder

    if path is None:
        return named_tables(path, given)
    if not path.is_dir():
        check_readable(path)
        raise InputError(f"{path}: --bulk reads a folder of tables", fix=f"--relations {path} for one table, or import without --bulk")
    found = in_folder(path)
    if not (found.nodes or found.relations):
        what = f"{path}: holds no nodes.csv, relations.csv (or .tsv, .parquet)"
        raise InputError(what, fix="name the files with --nodes and --relations")
    return found


def _dry(order: Order) -> Converted:
    """The conversion alone, in the folder for temporary files."""
    from kgeval.files.temporary import private_folder
    from kgeval.graph.load.bulk.convert import convert
    from kgeval.graph.load.bulk.load import room_for_files
    from kgeval.graph.load.naming import check_graph_name

    check_graph_name(order.target.name)
    with private_folder("bulk") as folder:
        room_for_files(order.inputs, folder)
        made = convert(order.inputs, folder, order.target.name, name_keys=order.name_keys, progress=order.progress)
    order.judge(made)
    return made


def judge_bulk(made: Converted, most: float) -> None:
    """Raises IncompleteError above the share of bad rows that may be passed over; below it they are listed. InputError: no node."""
    bad, rows = made.counts.get("bad", 0), max(made.counts.get("rows", 0), 1)
    more = bad - len(made.faults)
    listed = [*made.faults, *([f"... and {more:,} more"] if more > 0 else [])]
    if bad / rows > most:
        message = f"{bad:,} of {rows:,} rows are bad ({percent(bad / rows)}); nothing was written"
        share = min(1.0, bad / rows + 0.005)
        fix = f"mend them, or pass over them with --max-error-rate {share:.2f}"
        raise IncompleteError(str(InputError(message, faults=listed)), fix=fix)
    if bad:
        say("warning: " + str(InputError(f"{bad:,} of {rows:,} rows are bad and passed over", faults=listed)))
    if not made.counts.get("entities"):
        raise InputError("the tables hold no entity and no relation", fix="check the files")


def _show(made: Converted | None, name: str, seconds: float, *, dry: bool, home: Path | None) -> None:
    import shlex

    at = f" --home {shlex.quote(str(home))}" if home is not None else ""
    if made is None:
        click.echo(f"Graph {name}: the same input is loaded already; nothing was changed.")
    else:
        for note in made.notes:
            say(f"note: {note}")
        click.echo(f"Graph {name}: {'would load' if dry else 'loaded'} tables in {seconds:.1f} s")
        always = (
            ("entities", "entities"), ("relations", "relations"), ("chunks", "chunks"), ("documents", "documents"),
            ("dangling_entities", "dangling ends"), ("dangling_relations", "relations at dangling ends"),
            ("same_names", "entities that share a name"),
        )
        rare = (
            ("unnamed", "entities without a name"), ("dangling_chunks", "chunks missing in the source"), ("bad", "bad rows passed over"),
        )
        for key, label in (*always, *(pair for pair in rare if made.counts.get(pair[0]))):
            click.echo(f"  {label:<28} {made.counts.get(key, 0):>10,}")
    click.echo("Next: " + ("run it without --dry-run" if dry else f"kgeval audit --graph {shlex.quote(name)}{at}"))
