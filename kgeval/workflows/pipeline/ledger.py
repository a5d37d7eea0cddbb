"""What of a run is done already: fingerprints of stages, and run.json in the run's folder, where one run works at a time."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path

from kgeval import __version__
from kgeval.config import Config
from kgeval.errors import UsageError
from kgeval.records import PipelineRun, StageRun
from kgeval.tables.output import write_text
from kgeval.workflows.pipeline.stages import Stage
from kgeval.workflows.rows import read_record

FILE, LOCK = "run.json", ".lock"
CUT = ("running", "interrupted", "incomplete", "failed")
LARGE = 1_000_000  # bytes
LONGEST = 4096  # characters of a path
UNSAID = ("_JOURNAL", "_CACHE_DIR", "_MAX_CONCURRENCY", "_NO_PROGRESS", "_PAUSE", "_QUIET")  # ends of variables that change no result


class Ledger:
    """The states of all stages of a folder. Each change is on disk at once."""

    def __init__(self, folder: Path) -> None:
        """Raises: InputError for a file that is no ledger of kgeval's."""
        self._path = folder / FILE
        self._stages = {stage.id: stage for stage in read_ledger(self._path).stages}

    def __getitem__(self, stage_id: str) -> StageRun | None:
        return self._stages.get(stage_id)

    def write(self, stage: StageRun) -> None:
        """The new state of a stage. Raises: InputError where the file cannot be written."""
        self._stages[stage.id] = stage
        run = PipelineRun(kgeval=__version__, stages=list(self._stages.values()))
        self._path.parent.mkdir(parents=True, exist_ok=True)
        write_text(self._path, run.model_dump_json(indent=2, exclude_none=True) + "\n", kept=False)

    def alike(self, stage: Stage, fingerprint: str) -> bool:
        """True if the stage is done, from the same things."""
        earlier = self[stage.id]
        return earlier is not None and earlier.state in ("done", "missed") and earlier.fingerprint == fingerprint

    def fresh(self, stage: Stage, fingerprint: str, *, graph: str = "") -> bool:
        """True if the stage is done, from the same things, and its files are as it left them; so is the graph that it wrote (`graph`: its
        state now)."""
        earlier = self[stage.id]
        if earlier is None or not self.alike(stage, fingerprint):
            return False
        if stage.makes is not None and (earlier.graph != stage.makes or earlier.graph_state != graph):
            return False
        return set(earlier.outputs) == set(map(str, stage.outputs)) and all(digest_of(Path(p)) == d for p, d in earlier.outputs.items())

    def goes_on(self, stage: Stage, fingerprint: str) -> bool:
        """True if an earlier run of the same stage was cut off, so that it can go on."""
        earlier = self[stage.id]
        return earlier is not None and earlier.state in CUT and earlier.fingerprint == fingerprint

    def made(self, graph: str) -> bool:
        """True if a stage of this run has written the graph, or begun to."""
        return any(stage.graph == graph and stage.state != "not_run" for stage in self._stages.values())

    def total(self) -> tuple[StageRun, ...]:
        """The last state of every stage."""
        return tuple(self._stages.values())


def fingerprint(stage: Stage, config: Config, *, earlier: Mapping[str, str], made: Collection[Path] = (), graph: str = "") -> str:
    """What a stage's result depends on: kgeval's version, its words, its sections of kgeval.toml, its files and those that its words and
    sections name, environment variables, the stages before it (`earlier`: id -> fingerprint), and the state of a graph that the run
    does not make. `made`: files that stages of the run write."""
    said = config.model_dump(mode="json", exclude={"graph": {"pause"}})  # a pause changes no result
    sections = {name: said.get(name) for name in sorted(stage.sections)}
    # a stage that stopped for errors comes to another end under another rate; the other limits change no result
    rate = config.limits.error_rate if stage.kind.asks else None
    named = {*stage.inputs, *_named([*stage.argv, *_texts(sections)])} - set(made)
    files = {str(path): digest_of(path) for path in named}
    before = {need: earlier.get(need, "") for need in sorted(stage.needs)}
    parts = [__version__, stage.argv, sections, rate, files, _environment(stage), before, graph]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _texts(value: object) -> Iterator[str]:
    """All texts of a section, and the words of those that are command lines."""
    if isinstance(value, str):
        yield value
        if value.startswith("command:"):
            yield from value.removeprefix("command:").split()
    elif isinstance(value, Mapping | list):
        for part in value.values() if isinstance(value, Mapping) else value:
            yield from _texts(part)


def _named(words: Iterable[str]) -> Iterator[Path]:
    """The files that words name, as they are, after `=` or `file:`, or before the name of something in them (`FILE.py:NAME`)."""
    for word in words:
        for text in dict.fromkeys((word, word.rpartition("=")[2], word.removeprefix("file:"), word.rpartition(":")[0])):
            if 0 < len(text) < LONGEST and "\n" not in text and "\0" not in text and Path(text).is_file():
                yield Path(text)


def _environment(stage: Stage) -> dict[str, str]:
    """The variables that this stage's command takes settings from."""
    command = "_".join(stage.kind.command).replace("-", "_").upper()
    places = ("NEO4J_URI", "NEO4J_DATABASE") if "graph" in stage.sections or stage.makes is not None else ()
    models = ("OPENAI_BASE_URL",) if stage.kind.asks else ()
    own = (name for name in os.environ if name.startswith(f"KGEVAL_{command}_") and not name.endswith(UNSAID))
    return {name: os.environ[name] for name in sorted((*places, *models, *own)) if os.environ.get(name)}


def digest_of(path: Path) -> str:
    """SHA-256 of a file's bytes; of a folder: of the names and bytes of all files below it; "" where there is nothing."""
    if path.is_dir():
        total = hashlib.sha256()
        for inner in sorted(file for file in path.rglob("*") if file.is_file()):
            total.update(f"{inner.relative_to(path).as_posix()}\0{digest_of(inner)}\0".encode("utf-8", "surrogateescape"))
        return total.hexdigest()
    if not path.is_file():
        return ""
    facts = path.stat()
    read = _digest if facts.st_size > LARGE else _digest.__wrapped__
    return read(str(path.resolve()), facts.st_size, facts.st_mtime_ns, facts.st_ino)


@lru_cache(maxsize=65_536)
def _digest(path: str, *_: int) -> str:
    """Of a file with this size, time and inode: a large input of many stages is read once. Clocks of file systems are coarse, so a small
    file, which may change twice in one tick, is read each time."""
    with Path(path).open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def read_ledger(path: Path) -> PipelineRun:
    """The states of a run; none where there is no such file. Raises: InputError for a file that is none."""
    if not path.is_file():
        return PipelineRun(kgeval=__version__)
    fix = "name another folder with --folder, or move the file away"
    return read_record(path, PipelineRun, "not a run of kgeval", fix=fix, most=5)


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Holds the folder for as long as this process lives.

    Raises: UsageError where the folder cannot be written, or another run holds it.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as cause:
        raise UsageError(f"{folder}: cannot be written ({cause.strerror})", fix="name another folder with --folder") from cause
    try:
        try:
            # the kernel lets go of it however the process ends; a file whose presence is the lock would stay after a kill
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as cause:
            fix = "wait for its end, or name another folder with --folder"
            raise UsageError(f"{folder}: another run works there", fix=fix) from cause
        yield
    finally:
        os.close(file)
