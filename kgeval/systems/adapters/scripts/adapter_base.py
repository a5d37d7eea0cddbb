"""What every adapter script shares: it is started by kgeval with the Python of the wrapped package's environment.

    python adapter_NAME.py index  --folder DIR      documents.jsonl of the folder -> the package's index, and index.json about it
    python adapter_NAME.py answer --folder DIR --mode MODE [--settings JSON] [--model NAME]
                                                    JSONL requests on stdin -> JSONL replies on stdout (docs/system-protocol.md)

The folder's kgeval-adapter.json says which models and settings to use. Addresses and keys come from the environment,
and only the relay sees them. What the package prints goes to stderr: stdout belongs to the protocol. Standard library
only; kgeval is not imported. """

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any, Protocol

from adapter_relay import Relay, RelayCounts, Upstream

CARD, DOCUMENTS, RESULT = "kgeval-adapter.json", "documents.jsonl", "index.json"
PARENT_SECONDS = 1.0
OURS = ("OPENAI_BASE_URL", "OPENAI_API_KEY", "KGEVAL_EMBEDDINGS_URL", "KGEVAL_EMBEDDINGS_KEY")


@dataclass(frozen=True)
class Job:
    """What an adapter is to do. `base_url`, `key`: the relay's. `settings`: those that were given, and the preset's."""

    folder: Path
    mode: str
    settings: Mapping[str, Any]
    model: str
    embedding_model: str
    dimensions: int
    base_url: str
    key: str
    card: Mapping[str, Any] = field(default_factory=dict)

    @property
    def store(self) -> Path:
        """Where the package keeps its index."""
        return self.folder / "store"

    def given(self, *names: str) -> dict[str, Any]:
        """Those of the named settings that are set: what is not is left to the package's own default."""
        return {name: self.settings[name] for name in names if self.settings.get(name) is not None}

    def setting(self, name: str, default: Any) -> Any:
        """A setting, or the default where it is not set. 0 is a setting."""
        value = self.settings.get(name)
        return default if value is None else value

    def documents(self) -> list[dict[str, Any]]:
        """The documents: id, title, text."""
        with (self.folder / DOCUMENTS).open(encoding="utf-8") as lines:
            return [json.loads(line) for line in lines]


@dataclass(frozen=True)
class Built:
    """What an index came to. None: the package does not say."""

    entities: int | None = None
    relations: int | None = None
    chunks: int | None = None
    failures: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    stages: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class PackageAnswer:
    """What a package answered. `contexts`: passages in its order (text, chunk_id, document, score); None: it does not
    tell."""

    answer: str
    contexts: list[dict[str, Any]] | None = None
    retrieved_nodes: list[str] | None = None
    retrieved_relations: list[str] | None = None
    cypher: str | None = None
    stages: Mapping[str, float] | None = None


class Adapter(Protocol):
    """A package, opened for one job. Its errors are the package's own: the loop below turns them into replies."""

    def index(self, documents: list[dict[str, Any]]) -> Built: ...

    def answer(self, question: str) -> PackageAnswer: ...

    def close(self) -> None: ...


def main(package: str, opener: Callable[[Job], Adapter]) -> None:
    """Runs the script. `package`: the distribution whose version is told. `opener`: gets the job, gives the open
    adapter."""
    parser = argparse.ArgumentParser()
    parser.add_argument("task", choices=["index", "answer"])
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--mode", default="")
    parser.add_argument("--settings", type=json.loads, default={})
    parser.add_argument("--model", default=None)
    arguments = parser.parse_args()
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    with _protocol_stream() as out:
        card = json.loads((arguments.folder / CARD).read_text(encoding="utf-8"))
        settings = {**card.get("settings", {}), **arguments.settings}
        # the endpoint is taken out of the environment: the package finds only the relay there
        base_url, key, embeddings, embeddings_key = (os.environ.pop(name, "") for name in OURS)
        forced = parameters(arguments.task, settings)
        with Relay(Upstream(base_url, key, embeddings or None, embeddings_key, forced)) as relay:
            os.environ["OPENAI_BASE_URL"], os.environ["OPENAI_API_KEY"] = relay.base_url, relay.key
            embedding = card.get("embedding_model") or ""
            job = Job(
                arguments.folder.resolve(), arguments.mode, settings, arguments.model or card["model"], embedding,
                card.get("dimensions") or (relay.dimensions(embedding) if embedding else 0), relay.base_url, relay.key,
                card,
            )
            if arguments.task == "index":
                _index(package, opener, job, relay)
            else:
                _answer(package, opener, job, relay, out)


def _end_with(parent: int) -> None:
    """Ends this process, and what it started, when the one that started it is gone: nobody would read what goes on
    being paid for."""
    # no system has a signal for the parent's end that macOS and Linux share: its number changes then
    while os.getppid() == parent:
        time.sleep(PARENT_SECONDS)
    # only where kgeval has made a group of it: by hand in a shell the group is the user's
    if os.getpgrp() == os.getpid():
        os.killpg(os.getpgrp(), signal.SIGKILL)
    os._exit(1)


def parameters(task: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """What the relay sets in every chat request: the temperature is one of answering, the index has the package's
    own."""
    temperature = settings.get("temperature")
    return {"temperature": temperature} if task == "answer" and temperature is not None else {}


def _index(package: str, opener: Callable[[Job], Adapter], job: Job, relay: Relay) -> None:
    job.store.mkdir(parents=True, exist_ok=True)
    relay.reset()
    started = time.perf_counter()
    adapter = opener(job)
    opened = time.perf_counter() - started
    try:
        built = adapter.index(job.documents())
    finally:
        adapter.close()
    seconds = time.perf_counter() - started
    stages = {"open": round(opened, 3), **(built.stages or {"index": round(seconds - opened, 3)})}
    result = {
        **asdict(built), "stages": stages, "seconds": round(seconds, 3), "version": version(package),
        "dimensions": job.dimensions,
        "asked": asdict(relay.counted()), "python": sys.version.split()[0],
    }
    (job.folder / RESULT).write_text(line(result), encoding="utf-8")


def _answer(package: str, opener: Callable[[Job], Adapter], job: Job, relay: Relay, out: IO[str]) -> None:
    """One question at a time, in one thread: packages that hold an event loop stay in it, and counts belong to one
    question."""
    with ThreadPoolExecutor(max_workers=1) as executor:
        adapter = executor.submit(opener, job).result()
        for request in _requests(sys.stdin):
            if "hello" in request:
                reply: dict[str, Any] = {"hello": hello(package, job)}
            else:
                relay.reset()
                started = time.perf_counter()
                future = executor.submit(adapter.answer, str(request.get("question", "")))
                wrong = future.exception()
                if isinstance(wrong, Exception):  # whatever a package raises is this question's failure, not the run's
                    fields = {"error": f"{type(wrong).__name__}: {wrong}"[:2000]}
                else:  # what it does not tell is left out
                    fields = {name: value for name, value in asdict(future.result()).items() if value is not None}
                reply = {"id": request.get("id"), **fields, **counts(relay.counted())}
                reply["latency_s"] = round(time.perf_counter() - started, 6)
            out.write(line(reply) + "\n")
            out.flush()
        executor.submit(adapter.close).result()


def hello(package: str, job: Job) -> dict[str, Any]:
    """What the script declares: the package, and all of the card that answers depend on. None of the packages takes a
    wanted length."""
    return {"name": package, "version": version(package), "adjusts": False, "card": dict(job.card)}


def _requests(stream: IO[str]) -> Iterator[dict[str, Any]]:
    for line in stream:
        if line.strip():
            yield json.loads(line)


def line(value: Any) -> str:
    """As JSON in ASCII, whatever a package put into it: half surrogate pairs are escaped, its own types become
    texts."""
    return json.dumps(value, default=str)


def counts(counted: RelayCounts) -> dict[str, Any]:
    """What an answer took, in the protocol's fields; tokens that are not known are null."""
    return {
        "calls": counted.calls, "input_tokens": counted.input_tokens, "output_tokens": counted.output_tokens, "extra": {
            "embedding_calls": counted.embedding_calls, "embedding_tokens": counted.embedding_tokens,
            "model_seconds": round(counted.seconds, 6),
        },
    }


class _protocol_stream:
    """stdout for the protocol alone: until the end, everything else that is printed, in Python or below it, goes to
    stderr."""

    def __enter__(self) -> IO[str]:
        sys.stdout.flush()
        self._kept = os.dup(1)
        # the number itself is redirected, not sys.stdout: libraries in C print past Python
        os.dup2(2, 1)
        self._out = os.fdopen(self._kept, "w", encoding="utf-8")
        return self._out

    def __exit__(self, *_: object) -> None:
        self._out.close()


def version(package: str) -> str:
    """The installed version of a distribution."""
    return importlib.metadata.version(package)


def graphml_size(path: Path) -> tuple[int | None, int | None]:
    """(nodes, edges) of a GraphML file, which the package wrote on this machine; None where there is none."""
    if not path.is_file():
        return None, None
    from xml.etree import ElementTree

    names = [node.tag.rpartition("}")[2] for _, node in ElementTree.iterparse(path)]  # noqa: S314
    return names.count("node"), names.count("edge")


def cut(text: str, words: int, overlap: int) -> list[str]:
    """The text in pieces of so many words, for packages that take passages as they are. The text between words is
    kept."""
    import re

    if words < 1:
        raise ValueError("a passage has one word or more")
    starts = [match.start() for match in re.finditer(r"\S+", text)]
    if len(starts) <= words:
        return [text.strip()] if text.strip() else []
    step = max(1, words - overlap)
    pieces = []
    for first in range(0, len(starts), step):
        end = starts[first + words] if first + words < len(starts) else len(text)
        pieces.append(text[starts[first] : end].strip())
        if first + words >= len(starts):
            break
    return pieces
