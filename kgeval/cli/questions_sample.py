"""`kgeval questions sample`: the pieces of a graph that questions are made from, drawn by a seed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click

from kgeval.cli.choose import layout_from_options, layout_options
from kgeval.cli.common import Option, Seconds, arguments, connection_options, open_from_options, say, visible
from kgeval.errors import UsageError

if TYPE_CHECKING:
    from kgeval.config import Config
    from kgeval.manifest import Started
    from kgeval.questions.wanted import Capacity, Wanted
    from kgeval.records import RunManifest, ServerInfo, Structure

INCOMPLETE = 3
KINDS = ("node", "edge", "neighbourhood", "path", "chain", "subgraph", "pair", "community")
_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
MOST_NAMES = 8


@click.command()
@connection_options
@layout_options
@click.option("--structure", type=click.Choice(KINDS), default="node", show_default=True, help="What is drawn.")
@click.option("-n", "--n", type=click.IntRange(1, 1_000_000), default=10, show_default=True, help="How many.")
@click.option("--hops", type=click.IntRange(1, 100), default=1, show_default=True, help="Relations of a path; radius of a neighbourhood.")
@click.option(
    "--min-relations", type=click.IntRange(1, 10_000), default=50, show_default=True,
    help="Distinct relations of a subgraph or chain; a walk that gives fewer is walked again, longer.",
)
@click.option("--walk-length", type=click.IntRange(1, 100_000), default=100, show_default=True, help="Steps of a random walk at first.")
@click.option(
    "--max-relations", "most_relations", cls=Option, old="--most-relations", type=click.IntRange(1, 10_000), default=100, show_default=True,
    help="Relations of a neighbourhood or community at most.",
)
@click.option(
    "--stratify", type=click.Choice(["type", "degree", "document", "community"]), help="Draw evenly over these, not uniformly over all.",
)
@click.option(
    "--min-documents", "documents", cls=Option, old="--documents", type=click.IntRange(1, 1_000), default=1, show_default=True,
    help="Documents that a path, chain or pair comes from at least.",
)
@click.option("--seed", type=click.IntRange(0, 2**31 - 1), default=0, show_default=True, help="Seed of the sample.")
@click.option(
    "--chunks", multiple=True, type=_FILE, metavar="FILE",
    help="Chunk texts that are not in the graph: JSONL, or LightRAG's kv_store_text_chunks.json (repeatable).",
)
@click.option("--timeout", type=Seconds(), default=600, show_default=True, help="Seconds a query may take.")
@click.option(
    "-o", "--output", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE.jsonl",
    help="Write the structures with their passages, one a line; FILE.run.json beside it says how they came to be. - is stdout.",
)
def sample(**options: Any) -> int:
    """Draw pieces of a graph: single entities and relations, paths, chains, subgraphs, neighbourhoods, pairs, communities.

    Prints what it drew, a line each; -o writes it with descriptions and passages. Where the graph gives fewer than asked for, it says
    what it can give.

    Exit codes: 0 done, 2 wrong input or no connection, 3 fewer than asked for, 130 interrupted.
    """
    from kgeval import config as configuration
    from kgeval.manifest import Started

    config = configuration.load(options["config_file"])
    started = Started("questions sample", arguments(options))
    _check(options["output"])
    drawn, told, server = _draw(config, options)
    code = 0 if drawn == options["n"] else INCOMPLETE
    if code:
        say(_short(options, drawn, told))
    output = options["output"]
    if output is not None and str(output) != "-":
        _write_manifest(beside(output), _manifest(options, started, server, code))
        for path in (output, beside(output)):
            say(f"wrote {path}")
    return code


def beside(output: Path) -> Path:
    """The file with the manifest that stands beside an output."""
    return output.with_name(f"{output.stem}.run.json")


def _check(output: Path | None) -> None:
    from kgeval.reports.write import check_outputs

    if output is None or str(output) == "-":
        return
    if output.suffix.lower() != ".jsonl":
        raise UsageError(f"{output}: structures are written as .jsonl", fix="give -o structures.jsonl, or -o - for stdout")
    check_outputs([beside(output)])


def _wanted(options: Mapping[str, Any]) -> Wanted:
    from kgeval.questions.wanted import Wanted

    return Wanted(
        kind=options["structure"], hops=options["hops"], min_relations=options["min_relations"], walk_length=options["walk_length"],
        most_relations=options["most_relations"], stratify=options["stratify"], documents=options["documents"],
    )


def _draw(config: Config, options: Mapping[str, Any]) -> tuple[int, Capacity, ServerInfo]:
    """Draws, prints and writes. Returns how many there were, what the graph can give, and the server."""
    from kgeval.auditing.accuracy.chunks import read_chunks
    from kgeval.questions.sampling.sampler import open_sampler

    wanted, chunks = _wanted(options), read_chunks(options["chunks"]) if options["chunks"] else None
    for note in chunks.notes if chunks else ():
        say(note)
    with open_from_options(config, **{name: options[name] for name in ("uri", "username", "database", "home")}) as graph:
        layout = layout_from_options(graph, config, **{name: options[name] for name in ("graph_name", "layout_option", "overrides")})
        with open_sampler(graph, layout, seed=options["seed"], timeout=options["timeout"], chunks=chunks) as sampler:
            told = sampler.capacity(wanted)
            found = islice(sampler.structures(wanted), options["n"]) if told.available != 0 else iter(())
            return _put(found, options["output"]), told, graph.info


def _put(found: Iterator[Structure], output: Path | None) -> int:
    """Prints a line a structure, or the records, and writes the file as a whole, also where nobody reads what is printed any more (a
    closed pipe). Returns how many there were."""
    from kgeval.files.partial import private

    count, read = 0, True
    with ExitStack() as held:
        file: IO[Any] | None = held.enter_context(private(output)) if output is not None and str(output) != "-" else None
        for structure in found:
            count += 1
            record = structure.model_dump_json(exclude_defaults=True)
            if file is not None:
                file.write(record + "\n")
            if read:
                read = _read(record if output is not None and file is None else visible(line(structure)), needed=file is None)
    return count


def _read(text: str, *, needed: bool) -> bool:
    """Prints a line. Returns whether somebody reads on. Raises: BrokenPipeError where nobody does and nothing else is to be done."""
    from kgeval.cli.common import silence_stdout

    try:
        click.echo(text)
    except BrokenPipeError:
        if needed:
            raise
        silence_stdout()
        return False
    return True


def line(structure: Structure) -> str:
    """A structure as one line: its number, what it is made of, and how much it comes from."""
    names = [node.name for node in structure.nodes]
    if structure.kind in ("node", "pair"):
        told = " / ".join(f"{node.name} ({node.type})" if node.type else node.name for node in structure.nodes)
    elif structure.kind in ("edge", "path"):
        told = "; ".join(structure.text_of(relation) for relation in structure.relations)
    else:
        told = ", ".join(names[:MOST_NAMES]) + (f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else "")
    sizes = f"{len(names)} nodes, {len(structure.relations)} relations, {len(structure.passages)} passages"
    return " ".join(f"{structure.number}  {told}  [{sizes}]{f'  {structure.stratum}' if structure.stratum else ''}".splitlines())


def _short(options: Mapping[str, Any], drawn: int, told: Capacity) -> str:
    limits = f"the graph can give {told.available:,}{'' if told.exact else ' at most'}" if told.available is not None else "it gave no more"
    return f"{drawn} of {options['n']} drawn: {limits}: {told.why}"


def _manifest(options: Mapping[str, Any], started: Started, server: ServerInfo, code: int) -> RunManifest:
    from kgeval.config import DEFAULT_FILE
    from kgeval.graph.queries import all_queries

    named: Sequence[Any] = [options["config_file"] or DEFAULT_FILE, options["layout_option"], *options["chunks"]]
    used = {query.name: query.sha256 for query in all_queries().values() if query.folder in ("questions", "project")}
    inputs = [Path(name) for name in named if name and Path(name).is_file()]
    return started.manifest(server=server, inputs=inputs, seed=options["seed"], exit_code=code, hashes=used)


def _write_manifest(path: Path, run: RunManifest) -> None:
    from kgeval.files.plain import write_text

    write_text(path, json.dumps(run.model_dump(mode="json"), indent=1, ensure_ascii=False) + "\n")
