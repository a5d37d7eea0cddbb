"""Importing: a graph from files loaded into Neo4j, through the server or as a new store of an embedded home."""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from kgeval.config import ImportOptions
from kgeval.errors import IncompleteError, InputError, KgevalError, UsageError
from kgeval.format import first_lines, percent
from kgeval.workflows.progress import stage_bars
from kgeval.workflows.session import Session

if TYPE_CHECKING:
    import pandas as pd

    from kgeval.graph.load.bulk.convert import ToolFiles
    from kgeval.graph.load.bulk.load import BulkImport
    from kgeval.graph.load.model import Loaded
    from kgeval.graph.load.table_files import TableInputs
    from kgeval.graph.load.writer import Progress, WrittenGraph

_ALWAYS = (
    ("entities", "entities"), ("relations", "relations"), ("chunks", "chunks"), ("documents", "documents"),
    ("dangling_entities", "dangling ends"), ("dangling_relations", "relations at dangling ends"),
    ("same_names", "entities that share a name"),
)
_RARE = (
    ("ambiguous_ends", "ends with several candidates"), ("unnamed", "entities without a name"),
    ("dangling_chunks", "chunks missing in the source"), ("bad", "bad rows passed over"),
    ("already_there", "nodes that were there already"), ("deleted", "old nodes deleted"),
)


@dataclass(frozen=True)
class ImportResult:
    """What was loaded, or would be (`dry`). `counts`: entities, relations, chunks, documents, dangling_entities, dangling_relations,
    same_names, and what else there was. `unchanged`: the same input is loaded already, nothing was done. `home`: of a bulk import."""

    graph: str
    format: str
    counts: Mapping[str, int]
    notes: Sequence[str]
    seconds: float
    unchanged: bool = False
    dry: bool = False
    home: Path | None = None
    exit_code: ClassVar[int] = 0
    fault: ClassVar[None] = None
    written: ClassVar[Sequence[Path]] = ()

    @property
    def messages(self) -> list[str]:
        """Notes on what was loaded."""
        return [f"note: {note}" for note in self.notes]

    def rendered(self, form: str, *, redact: bool | None = None) -> str:
        """The summary as text; there is no other form, and it holds no texts of users."""
        home_flag = f" --home {shlex.quote(str(self.home))}" if self.home is not None else ""
        after = "run it without --dry-run" if self.dry else f"kgeval audit --graph {shlex.quote(self.graph)}{home_flag}"
        return "".join(f"{line}\n" for line in (*self._lines(), f"Next: {after}"))

    def to_dict(self) -> dict[str, Any]:
        """The fields as plain data."""
        return asdict(replace(self, home=None, notes=list(self.notes), counts=dict(self.counts)))

    def to_pandas(self) -> pd.DataFrame:
        """A row a count: what, number."""
        import pandas as pd

        return pd.DataFrame(sorted(self.counts.items()), columns=["what", "number"])

    def __str__(self) -> str:
        home = "" if self.home is None else f", home={str(self.home)!r}"
        after = "call it without dry_run" if self.dry else f"kgeval.audit(graph={self.graph!r}{home})"
        return "\n".join((*self._lines(), f"Next: {after}"))

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"

    def _lines(self) -> Iterator[str]:
        """The summary: what was read and written, and what was left out."""
        if self.unchanged:
            yield f"Graph {self.graph}: the same input is loaded already; nothing was changed."
        else:
            yield f"Graph {self.graph}: {'would load' if self.dry else 'loaded'} {self.format} in {self.seconds:.1f} s"
            for name, label in (*_ALWAYS, *(pair for pair in _RARE if self.counts.get(pair[0]))):
                yield f"  {label:<28} {self.counts.get(name, 0):>10,}"


def run(session: Session, path: Path | None, options: ImportOptions) -> ImportResult:
    """Loads the files as the graph that the session names. In a dry session: reads and checks them, and writes nothing. `path`: a folder or
    file; None: the tables that the options name.

    Raises: UsageError, InputError; IncompleteError above the share of bad rows, before anything is written; ConnectError, QueryError in
    the middle: the graph may be half loaded.
    """
    from kgeval.graph.load import naming
    from kgeval.graph.load.detect import load
    from kgeval.graph.load.tables import read, titled

    if options.replace and options.append:
        raise UsageError("--replace and --append exclude each other", fix="give one of them")
    _check_bulk(session, options)
    named, name = _named_tables(path, options), str(session.graph_name)
    naming.check_graph_name(name)
    begun = time.monotonic()
    with ExitStack() as stack:
        progress = stack.enter_context(stage_bars(show=session.show))
        if options.bulk:
            return _bulk(session, path, options, progress)
        if path is not None:
            loaded = titled(load(path, options.form), named.documents)
        else:
            loaded = read(named)
            if not loaded.entities and not loaded.faults:
                raise InputError("the tables hold no entity and no relation", fix="check the files")
        _check_bad_rows(session, len(loaded.faults), max(loaded.rows, 1), loaded.faults, options.max_bad_rows)
        source = session.named(", ".join(map(str, loaded.inputs[:4])) if path is None else str(path))
        result = None if session.dry else _write(session, loaded, source, options, progress)
    counts = {
        **loaded.counts, "entities": len(loaded.entities), "relations": len(loaded.relations), "chunks": len(loaded.chunks),
        "documents": len(loaded.documents), "bad": len(loaded.faults), "already_there": result.already_there if result else 0,
        "deleted": result.deleted if result else 0,
    }
    notes = [session.named(note) for note in (*loaded.notes, *(result.notes if result else ()))]
    unchanged = result is not None and result.unchanged
    return ImportResult(name, loaded.format, counts, notes, time.monotonic() - begun, unchanged, session.dry)


def _check_bad_rows(session: Session, bad: int, rows: int, faults: Sequence[str], most: float) -> None:
    """Raises: IncompleteError above the share, before anything is written. Below it, the bad rows are said."""
    if not bad:
        return
    share = bad / rows
    message = f"{bad:,} of {rows:,} rows are bad ({percent(share)})"
    listed = first_lines([*map(session.named, faults)], len(faults), of=bad)
    if share > most:
        text = str(InputError(f"{message}; nothing was written", faults=listed))
        raise IncompleteError(text, fix=f"correct them, or pass over them with --max-bad-rows {min(1.0, share + 0.005):.2f}")
    session.say("warning: " + str(InputError(f"{message} and passed over", faults=listed)))


def _write(session: Session, loaded: Loaded, source: str, options: ImportOptions, progress: Progress) -> WrittenGraph:
    from kgeval import __version__
    from kgeval.graph.load.state import ImportTarget
    from kgeval.graph.load.writer import WriteOptions, write
    from kgeval.tables import sha256
    from kgeval.text.names import normalise

    name = str(session.graph_name)
    target = ImportTarget(
        name, sha256(loaded.inputs, loaded.format), loaded.format, source, __version__,
        replace=options.replace, append=options.append, undirected=loaded.undirected,
    )
    graph = session.graph
    try:
        return write(graph, loaded, target, WriteOptions(normalise, options.transaction_rows, progress))
    except KeyboardInterrupt:
        session.say(f"interrupted: graph {name} may be half loaded; run again with --replace")
        raise
    except UsageError:
        raise
    except KgevalError as wrong:
        raise type(wrong)(
            f"{wrong.message}\ngraph {name} may be half loaded",
            fix="run again with --replace; if the server lacks memory, with a smaller --transaction-rows",
        ) from wrong


def _named_tables(path: Path | None, options: ImportOptions) -> TableInputs:
    """The tables that the options name; beside a path only documents, which then give its documents their titles.

    Raises: UsageError where a path is there beside others, neither is, or no relations are named.
    """
    from kgeval.graph.load.table_files import TableInputs

    tables = TableInputs(options.nodes, options.relations, options.chunks, options.documents)
    if path is None and not tables.all:
        raise UsageError("nothing to load", fix="give PATH, or --nodes FILE and --relations FILE")
    if path is not None:
        if tables.nodes or tables.relations or tables.chunks or (options.bulk and tables.documents):
            raise UsageError("PATH and --nodes, --relations, --chunks exclude each other", fix="leave PATH or these options out")
        return tables
    if tables.all and not (tables.nodes or tables.relations):
        raise UsageError("no table of nodes or relations", fix="add --nodes FILE or --relations FILE")
    return tables


def _check_bulk(session: Session, options: ImportOptions) -> None:
    """Raises: UsageError for options that a bulk import needs or forbids."""
    from kgeval.graph.server.memory import heap_mb

    if not options.bulk:
        for name in ("replace_store", "heap"):
            if getattr(options, name):
                raise UsageError(f"--{name.replace('_', '-')} is for --bulk", fix="add --bulk, or leave it out")
        return
    if options.heap is not None:
        heap_mb(options.heap)
    if "transaction_rows" in options.model_fields_set:
        raise UsageError("--transaction-rows is for an import through the server; the import tool of --bulk has none", fix="leave it out")
    if options.append or options.replace:
        raise UsageError("--bulk writes a new store: nothing is joined to it, no single graph replaced", fix="use --replace-store")
    if options.form not in (None, "tables"):
        raise UsageError(f"--bulk reads tables of nodes and relations, not {options.form}", fix="import without --bulk")
    if session.home is None and (session.connection or session.config.graph.uri):
        raise UsageError(
            "--bulk writes the files of an embedded store, not another server's (--uri, NEO4J_URI or kgeval.toml names one)",
            fix="give --home, or import without --bulk",
        )
    if session.home is not None and session.connection is not None:
        raise UsageError("--uri and --home exclude each other", fix="--home means the embedded server; leave one of them out")
    if session.username not in (None, "neo4j") or session.database not in (None, "neo4j"):
        raise UsageError("the embedded server has one user and one database, both called neo4j", fix="leave out --username and --database")


def _bulk(session: Session, path: Path | None, options: ImportOptions, progress: Progress) -> ImportResult:
    """Runs the bulk import."""
    from kgeval import __version__
    from kgeval.graph.load.bulk.load import BulkImport, load
    from kgeval.graph.load.state import ImportTarget
    from kgeval.graph.load.table_files import FIELDS, FORM, columns
    from kgeval.tables import check_readable, sha256
    from kgeval.text.names import name_keys

    begun, name = time.monotonic(), str(session.graph_name)
    inputs = _bulk_inputs(path, options)
    for kind in FIELDS:
        for file in inputs.of(kind):
            check_readable(file)
            columns(file, kind)
    stamps = _stamps(inputs)
    source = session.named(str(path) if path is not None else ", ".join(str(file) for file in inputs.all[:4]))

    def check(made: ToolFiles) -> None:
        for file, before, now in zip(inputs.all, stamps, _stamps(inputs), strict=True):
            if before != now:  # the mark would name other contents than those that were read
                what = f"{file}: was changed while it was read; nothing was written"
                raise InputError(what, fix="wait for its writer, then run it again")
        check_converted(session, made, options.max_bad_rows)

    order = BulkImport(
        inputs, ImportTarget(name, sha256(inputs.all, FORM), FORM, source, __version__), session.home, name_keys, check, options.heap,
        options.replace_store, session.say, progress,
    )
    try:
        made = _converted(order) if session.dry else load(order)
    except KeyboardInterrupt:
        if not session.dry:
            session.say("interrupted: the home's store is as it was; run it again")
        raise
    seconds = time.monotonic() - begun
    if made is None:
        return ImportResult(name, "tables", {}, (), seconds, unchanged=True, home=session.home)
    notes = [session.named(note) for note in made.notes]
    return ImportResult(name, "tables", made.counts, notes, seconds, dry=session.dry, home=session.home)


def check_converted(session: Session, made: ToolFiles, most: float) -> None:
    """Raises: IncompleteError above the share of bad rows that may be passed over; InputError where there is no node."""
    _check_bad_rows(session, made.counts.get("bad", 0), max(made.counts.get("rows", 0), 1), made.faults, most)
    if not made.counts.get("entities"):
        raise InputError("the tables hold no entity and no relation", fix="check the files")


def _stamps(inputs: TableInputs) -> list[tuple[int, ...]]:
    """What changes when somebody writes to the files; nothing for one that is gone."""
    stats = [path.stat() if path.exists() else None for path in inputs.all]
    return [(stat.st_ino, stat.st_size, stat.st_mtime_ns) if stat else () for stat in stats]


def _bulk_inputs(path: Path | None, options: ImportOptions) -> TableInputs:
    """The tables of a bulk import. Raises: InputError where a path is no folder of tables."""
    from kgeval.graph.load.table_files import in_folder
    from kgeval.tables import check_readable

    if path is None:
        return _named_tables(path, options)
    if not path.is_dir():
        check_readable(path)
        raise InputError(f"{path}: --bulk reads a folder of tables", fix=f"--relations {path} for one table, or import without --bulk")
    inputs = in_folder(path)
    if not (inputs.nodes or inputs.relations):
        what = f"{path}: holds no nodes.csv, relations.csv (or .tsv, .parquet)"
        raise InputError(what, fix="name the files with --nodes and --relations")
    return inputs


def _converted(order: BulkImport) -> ToolFiles:
    """The conversion alone, in the folder for temporary files."""
    from kgeval.graph.load.bulk.convert import convert
    from kgeval.graph.load.bulk.load import room_for_files
    from kgeval.tables.temporary import private_folder

    with private_folder("bulk") as folder:
        room_for_files(order.inputs, folder)
        tool_files = convert(order.inputs, folder, order.target.name, name_keys=order.name_keys, progress=order.progress)
    order.judge(tool_files)
    return tool_files
