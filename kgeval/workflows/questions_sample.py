"""The pieces of a graph that questions are made from, drawn by a seed."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from kgeval.config import SampleOptions
from kgeval.errors import UsageError
from kgeval.workflows.result import INCOMPLETE, beside
from kgeval.workflows.session import Session

if TYPE_CHECKING:
    from kgeval.records import RunManifest, Structure



def run(session: Session, options: SampleOptions, output: Path | None, show: Callable[[Structure], object]) -> int:
    """Draws structures; `show` gets each as it is drawn. `output` (.jsonl) gets all with their passages, one a line, and X.run.json beside
    it says how they came to be. The exit code: 3 where the graph gives fewer than asked for.

    Raises: UsageError, InputError, ConnectError, LayoutError, QueryError.
    """
    from kgeval.auditing.accuracy.chunks import read_chunks
    from kgeval.questions.draw_spec import DrawSpec
    from kgeval.questions.sampling.sampler import open_sampler
    from kgeval.reports.write import check_outputs
    from kgeval.tables.output import replacing, write_text

    if output is not None:
        if output.suffix.lower() != ".jsonl":
            raise UsageError(f"{output}: structures are written as .jsonl", fix="give -o structures.jsonl, or -o - for stdout")
        check_outputs([beside(output)])
    spec = DrawSpec(
        kind=options.structure, hops=options.hops, min_relations=options.min_relations, walk_length=options.walk_length,
        most_relations=options.max_relations, parts=options.parts, stratify=options.stratify, documents=options.min_documents,
    )
    chunks, drawn = read_chunks(options.chunks) if options.chunks else None, 0
    for note in chunks.notes if chunks else ():
        session.say(note)
    graph, layout = session.graph, session.bound_layout()
    with open_sampler(graph, layout, seed=options.seed, timeout=options.timeout, chunks=chunks) as sampler, ExitStack() as held:
        capacity = sampler.capacity(spec)
        file: IO[Any] | None = held.enter_context(replacing(output)) if output is not None else None
        for structure in islice(sampler.structures(spec), options.n) if capacity.available != 0 else ():
            drawn += 1
            if file is not None:
                file.write(structure.model_dump_json(exclude_defaults=True) + "\n")
            show(structure)
    code = 0 if drawn == options.n else INCOMPLETE
    if code:
        most = f"the graph can give {capacity.available or 0:,}{'' if capacity.exact else ' at most'}"
        limit = "it gave no more" if capacity.available is None else most
        session.say(f"{drawn} of {options.n} drawn: {limit}: {capacity.why}")
    if output is not None:
        manifest = json.dumps(_manifest(session, options, code).model_dump(mode="json"), indent=1, ensure_ascii=False)
        write_text(beside(output), manifest + "\n")
        for path in (output, beside(output)):
            session.say(f"wrote {path}")
    return code


def _manifest(session: Session, options: SampleOptions, code: int) -> RunManifest:
    from kgeval.config import DEFAULT_FILE
    from kgeval.graph.queries import all_queries

    named = [session.config_file or DEFAULT_FILE, session.layout, *options.chunks]
    used = {query.name: query.sha256 for query in all_queries().values() if query.folder in ("questions", "project")}
    inputs = [Path(name) for name in named if name and Path(name).is_file()]
    return session.manifest(options, server=session.graph.info, inputs=inputs, seed=options.seed, exit_code=code, hashes=used)
