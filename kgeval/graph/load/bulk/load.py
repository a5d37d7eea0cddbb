"""A bulk import from the user's tables to a started server: the old store stays until the new one is seen to be right."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kgeval.errors import IncompleteError, ServerError, UsageError
from kgeval.graph.connect import Address, Graph, open_graph
from kgeval.graph.load import naming, state
from kgeval.graph.load.bulk import tool
from kgeval.graph.load.bulk.convert import ToolFiles, convert
from kgeval.graph.load.table_files import TableInputs
from kgeval.graph.load.writer import Progress
from kgeval.graph.queries import all_queries
from kgeval.graph.server import ensure_started, exchange, kept_down, status
from kgeval.graph.server.faults import FREE_SPACE, NotReadyError, clear_io_errors
from kgeval.graph.server.home import Home, credentials, write_private
from kgeval.graph.server.jars import Say, ensure_jars
from kgeval.graph.server.lines import Neo4jLine
from kgeval.graph.server.memory import DEFAULT_HEAP, check_fits

CSV_GROWTH, PARQUET_GROWTH = 6, 20  # bytes that CSV files and store together take for each byte of the input, a cautious guess
FILES_SHARE = 3  # what the tool's files alone take of that: one part in so many
STORE_GROWTH = 5  # bytes of store for each byte of the tool's files
NODE_BYTES, RELATION_BYTES = 400, 150
INDEX_SECONDS = 600
PATIENCE = 4


@dataclass(frozen=True)
class BulkImport:
    """What to load and where. `name_keys`: a column of names -> their normal forms; `judge` hears what was converted before the
    tool runs, and may refuse by raising. `heap`: of the tool and of the server afterwards (None: the server's own, or 1g)."""

    inputs: TableInputs
    target: state.ImportTarget
    home: Path | None
    name_keys: Callable[[Any], Any]
    judge: Callable[[ToolFiles], None]
    heap: str | None = None
    replace_store: bool = False
    say: Say = lambda _text: None
    progress: Progress = lambda _stage, _done, _total: None


def load(order: BulkImport) -> ToolFiles | None:
    """Loads the graph; None where the home holds just this input already.

    The home is looked at twice, before the files are read and after the tool ran: what others wrote in the meantime is not lost.
    Raises: UsageError where the home holds anything and `replace_store` was not given; InputError for the files; ServerError for
    tool, disk and server; what `judge` raises. Whatever is raised, and at Ctrl-C, the home's old store is there as it was.
    """
    naming.check_graph_name(order.target.name)
    place = Home(order.home)
    with clear_io_errors(f"the home {place.path}"):
        place.create()
        with exchange.alone(place.path):
            _take_back(place, order)
            if not order.replace_store and _holds(place, order):
                return None
            with exchange.staging(place.path) as folder:
                return _load(place, order, folder)


def _load(place: Home, order: BulkImport, folder: Path) -> ToolFiles | None:
    check_fits(order.heap or DEFAULT_HEAP)
    _check_space(folder, sum(_growth(path) for path in order.inputs.all), "files and store, beside the old store,")
    (folder / "csv").mkdir(mode=0o700)
    order.say("converting the files")
    files = convert(order.inputs, folder / "csv", order.target.name, name_keys=order.name_keys, progress=order.progress)
    order.judge(files)
    needed = STORE_GROWTH * files.size + NODE_BYTES * files.nodes + RELATION_BYTES * files.relations
    _check_space(folder, needed, "the store, beside the old one,")
    with place.locked(order.say):
        line = place.claim(None)
    jars = ensure_jars(line, source=None, say=order.say)
    order.say(f"importing {files.nodes:,} nodes and {files.relations:,} relations with Neo4j's own tool")
    data = tool.import_store(
        files.folder, files.node_groups, files.relation_groups, folder / "store", jars, longest=files.longest,
        heap=order.heap or DEFAULT_HEAP, progress=order.progress,
    )
    shutil.rmtree(folder / "csv")
    if not order.replace_store and _holds(place, order):
        return None
    _change(place, order, files, data, line, jars)
    return files


def _change(place: Home, order: BulkImport, files: ToolFiles, data: Path, line: Neo4jLine, jars: list[Path]) -> None:
    """Puts the new store in, starts the server on it, checks and finishes it; whatever goes wrong, the old one is there again."""
    ran, last = status(order.home).running, place.running()
    heap = order.heap or (last.heap if last else None)
    try:
        if ran:
            order.say(f"stopping the server of {place.path}; it is started again with the new store")
        with kept_down(order.home, say=order.say):
            place.check_line(line.name)  # the home was free while the tool ran: somebody may have made it one of another line
            place.prepare(line, jars)
            # the tool's store knows no user: the server would make one with Neo4j's own password, which everybody knows
            write_private(data / "dbms" / "auth.ini", credentials(place.password()))
            # before the exchange: the next start deletes the data of a home that was never in use
            place.mark_used()
            exchange.exchange(place.path, data)
        with open_graph(_started(order, heap)) as graph:
            _finish(graph, order, files)
        exchange.settle(place.path)
    except BaseException:
        order.say("taking the old store back")
        _take_back(place, order)
        if ran:
            ensure_started(order.home, say=order.say, heap=heap)
        raise


def _take_back(place: Home, order: BulkImport) -> None:
    """The old store is the store again, if an exchange was begun; a server that runs on the new one is stopped first."""
    if exchange.is_pending(place.path):
        with kept_down(order.home, say=order.say):
            exchange.take_back(place.path)


def _started(order: BulkImport, heap: str | None) -> Address:
    """Starts the server, patiently: a slow machine is no reason to throw the new store away."""
    for _ in range(PATIENCE):
        try:
            return ensure_started(order.home, say=order.say, heap=heap)
        except NotReadyError:
            order.say("the server is not ready yet; waiting on")
    return ensure_started(order.home, say=order.say, heap=heap)


def _holds(place: Home, order: BulkImport) -> bool:
    """True where the home holds just this input already, False where its store is empty.

    Raises: UsageError where it holds anything else. To look, its server is started if it does not run.
    """
    marker = place.marker()
    if marker is None or not marker.used or not (place.path / "data" / "databases").is_dir():
        return False
    with open_graph(ensure_started(order.home, say=order.say, heap=order.heap)) as graph:
        counts = graph.read(all_queries()["stored-counts"])[0]
        marks = graph.read(all_queries()["imported-graphs"])
    if not counts["nodes"]:
        return False
    if len(marks) == 1 and marks[0]["name"] == order.target.name and order.target.fingerprint in marks[0]["fingerprints"]:
        return bool(marks[0]["status"] == "ready")
    names = ", ".join(str(mark["name"])[:40] for mark in marks[:5]) or "none that kgeval wrote"
    raise UsageError(
        f"{place.path} holds {counts['nodes']:,} nodes and {counts['relations']:,} relations (graphs: {names}); "
        "a bulk import puts a new store in the place of all of it",
        fix="--home with a new folder; or --replace-store, which deletes everything in this home's store; or import without --bulk",
    )


def _finish(graph: Graph, order: BulkImport, files: ToolFiles) -> None:
    """Counts what is there, makes index and constraint, writes the mark. Raises: IncompleteError where something is missing."""
    queries = all_queries()
    there = graph.read(queries["stored-counts"])[0]
    if (there["nodes"], there["relations"]) != (files.nodes, files.relations):
        raise IncompleteError(
            f"{files.nodes:,} nodes and {files.relations:,} relations were converted, "
            f"{there['nodes']:,} and {there['relations']:,} are there",
            fix="please report this; the old store is as it was",
        )
    order.progress("indexes", 0, 0)
    graph.schema_command(queries["create-name-index"])
    new = state.ImportState("new", (), frozenset())
    state.begin(graph, order.target, new)
    graph.write(queries["await-indexes"], {"seconds": INDEX_SECONDS})
    state.finish(graph, order.target, new, files.nodes)


def _growth(path: Path) -> int:
    return path.stat().st_size * (PARQUET_GROWTH if path.suffix.lower() == ".parquet" else CSV_GROWTH)


def room_for_files(inputs: TableInputs, folder: Path) -> None:
    """Raises: ServerError where the disk of `folder` has no room for the tool's files alone, as a dry run writes them."""
    needed = sum(_growth(path) for path in inputs.all) // FILES_SHARE
    _check_space(folder, needed, "the converted files", fix="free some, or set TMPDIR to a folder on another disk")


def _check_space(folder: Path, needed: int, what: str, *, fix: str = FREE_SPACE) -> None:
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise ServerError(f"{folder.parent}: {free >> 20:,} MB are free on its disk; {what} need about {needed >> 20:,} MB", fix=fix)
