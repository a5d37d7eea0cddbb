"""The index step of an adapter: documents into a folder, the script run over them, and the Index record of what it
took."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from pydantic import JsonValue

from kgeval.config import environment
from kgeval.errors import IncompleteError
from kgeval.llm.calls import Endpoint
from kgeval.llm.endpoints import DEFAULT_URL, address, scrub
from kgeval.llm.prices import price_of, read_prices
from kgeval.manifest import ModelUsage, Started
from kgeval.records import Document, IndexRecord, ModelRef, ModelUse
from kgeval.systems.adapters import folder as folders
from kgeval.systems.adapters.catalog import AdapterInfo
from kgeval.systems.adapters.folder import IndexCard, IndexReport
from kgeval.systems.adapters.launch import Prices, argv, local_embeddings, variables
from kgeval.tables.output import open_log

GRACE_SECONDS = 5.0


@dataclass(frozen=True)
class IndexWanted:
    """What is to be indexed. `inputs`: the files that were read; `timeout`: seconds in all (None: no limit). `started`:
    of the command."""

    documents: Sequence[Document]
    folder: Path
    card: IndexCard
    started: Started
    inputs: Sequence[Path] = ()
    faults: Sequence[str] = ()
    replace: bool = False
    timeout: float | None = None


def index(info: AdapterInfo, wanted: IndexWanted, *, say: Callable[[str], None]) -> IndexRecord:
    """Makes the index. What the package prints goes into index.log of the folder.

    Raises: UsageError, ModelError before anything is done; IncompleteError with the end of the log where the script
    failed. """
    environ = variables(info)
    folders.check_free(wanted.folder, replace=wanted.replace)
    with ExitStack() as stack:
        environ |= local_embeddings(stack, wanted.card) if wanted.card.local else {}
        folders.prepare(wanted.folder, wanted.card, wanted.documents, replace=wanted.replace)
        log = wanted.folder / folders.LOG
        say(f"{info.title} indexes {len(wanted.documents):,} documents; its log: {log}")
        _run(info, environ, wanted, log)
    report = folders.read_report(wanted.folder)
    if not report.failed or report.failed < len(wanted.documents):  # an index of nothing is none that can be asked
        folders.write_card(
            wanted.folder, wanted.card.model_copy(update={"dimensions": report.dimensions, "version": report.version}),
        )
    return record(info, wanted, report)


def _run(info: AdapterInfo, environ: Mapping[str, str], wanted: IndexWanted, log: Path) -> None:
    with open_log(log) as out:
        process = subprocess.Popen(
            argv(info, "index"), cwd=wanted.folder, env=dict(environ), stdin=subprocess.DEVNULL, stdout=out, stderr=out,
            # a group of its own: packages start workers, which end with it
            start_new_session=True,
        )
        try:
            code = process.wait(wanted.timeout)
        except subprocess.TimeoutExpired as slow:
            _end(process)
            what = f"{info.name}: not done after {wanted.timeout:g} s"
            raise IncompleteError(what, fix=f"give a longer --time-limit; its log: {log}") from slow
        except BaseException:
            _end(process)
            raise
    if code != 0:
        tail = log.read_bytes()[-4000:].decode("utf-8", "replace").strip().splitlines()[-12:]
        end = "\n  ".join(scrub(line, environ["OPENAI_API_KEY"]) for line in tail)
        what = f"{info.name}: the index step failed (exit code {code}):\n  {end}"
        raise IncompleteError(what, fix=f"correct the cause that it names; its log: {log}")


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ends the script and all that it started."""
    for kind in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, kind)
            process.wait(GRACE_SECONDS)
        except ProcessLookupError:
            break
        except subprocess.TimeoutExpired:
            continue


def record(info: AdapterInfo, wanted: IndexWanted, report: IndexReport) -> IndexRecord:
    """The Index record of a finished index step [X table 15, table 18]. Costs are by kgeval's own price list."""
    card, asked = wanted.card, report.asked
    url = address(environment("OPENAI_BASE_URL") or DEFAULT_URL)
    chat, embedding = (price_of(Endpoint(name, url), read_prices()) for name in (card.model, card.embedding_model))
    use = [
        ModelUse(
            stage="index", model=card.model, calls=asked.calls, input_tokens=asked.input_tokens or 0,
            output_tokens=asked.output_tokens or 0, seconds=round(asked.seconds, 3),
            failures={"refused": asked.failed} if asked.failed else {},
        ),
        ModelUse(
            stage="embeddings", model=card.embedding_model, calls=asked.embedding_calls,
            input_tokens=asked.embedding_tokens or 0,
        ),
    ]
    models = [ModelRef(role="extractor", name=card.model), ModelRef(role="embedding", name=card.embedding_model)]
    counts = {
        "input tokens": asked.input_tokens, "output tokens": asked.output_tokens,
        "embedding tokens": asked.embedding_tokens,
    }
    unknown = ", ".join(name for name, count in counts.items() if count is None)
    return IndexRecord(
        system=info.name, graph=str(wanted.folder), variant=card.preset,
        corpus=folders.corpus(wanted.documents, report.chunks),
        run=wanted.started.manifest(
            inputs=wanted.inputs, asked=ModelUsage(models, use), exit_code=3 if report.failed else 0,
        ),
        seconds=report.seconds, stages=report.stages, calls=asked.calls, input_tokens=asked.input_tokens,
        output_tokens=asked.output_tokens, cost=Prices(chat, embedding, card.local).cost(*counts.values()), use=use,
        entities=report.entities, relations=report.relations, failures=report.failures, faults=list(wanted.faults),
        notes=[*report.notes, *([f"{unknown}: not known, the endpoint did not tell"] if unknown else [])],
        configuration=dict[str, JsonValue](folders.configuration(info, card, report.version)),
    )
