"""One stage in this process: a session of its own, and its messages and its result in a file of its own."""

from __future__ import annotations

import gc
import traceback
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from kgeval.auditing.malloc import trim_heap
from kgeval.config import BatchOptions, ModelOptions, load
from kgeval.config.words import values_of
from kgeval.errors import KgevalError, library_missing
from kgeval.reports.display import for_terminal
from kgeval.workflows.pipeline.execute import INTERRUPTED
from kgeval.workflows.pipeline.stages import Stage
from kgeval.workflows.session import EmbeddingChoice, Session, gds_session_of, options_of

FAILED = 2
Around = Callable[[Session], AbstractContextManager[Any]]


class StageLog:
    """The file that a stage's messages and its result go to, for its owner only. `watch`: gets the messages, too."""

    def __init__(self, path: Path, watch: Callable[[str], None] | None = None) -> None:
        """Raises: OSError where it cannot be written."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o600)
        self._file: IO[str] = path.open("w", encoding="utf-8", errors="backslashreplace")
        self._watch = watch

    def __enter__(self) -> StageLog:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._file.close()

    def say(self, text: str) -> None:
        """A message."""
        self.write(f"{for_terminal(text)}\n")
        if self._watch is not None:
            self._watch(text)

    def write(self, text: str) -> None:
        """A result. It is there at once, whatever becomes of this process."""
        self._file.write(text)
        self._file.flush()


@dataclass(frozen=True)
class Performer:
    """Does stages one after the other. `base`: the session of the whole run: its connection, configuration, and who can be asked.
    `watch`: gets the messages of stages beside their logs. `around`: what a stage's session is done within. `stopped`: whether an
    interruption came, so that what a library stumbles over is one."""

    base: Session
    watch: Callable[[str], None] | None = None
    around: Around = lambda session: nullcontext()
    stopped: Callable[[], bool] = lambda: False

    def __call__(self, stage: Stage, path: Path) -> int:
        """Does the stage and gives its exit code, as its command would. Raises: OSError where the log cannot be written."""
        with StageLog(path, self.watch) as log:
            try:
                return self._code(stage, log)
            finally:
                gc.collect()  # what a stage held must not add to what the next one takes
                trim_heap()

    def _code(self, stage: Stage, log: StageLog) -> int:
        try:
            return self._done(stage, log)
        except KeyboardInterrupt:
            log.say("interrupted")
            return INTERRUPTED
        except Exception as fault:  # noqa: BLE001 - the border of a stage: the others go on, and the cause is in the log
            if self.stopped() or _of_interruption(fault):
                log.say("interrupted")
                return INTERRUPTED
            return _failed(fault, log)

    def _done(self, stage: Stage, log: StageLog) -> int:
        session = session_of(stage, self.base, log.say)
        options = stage.options(session.config)
        with self.around(session), session:
            if session.dry and stage.kind.plan is not None:
                log.write(f"{stage.kind.plan(session, stage.files, options)}\n")
                return 0
            result = stage.kind.run(session, stage.files, options)
        return shown(stage, session, result, log)


def shown(stage: Stage, session: Session, result: Any, log: StageLog) -> int:
    """Writes the reports of a result, puts it into the log, and gives the exit code. Raises: UsageError where a file cannot be written."""
    fault = result.fault
    for path in result.written:
        log.say(f"wrote {path}")
    for path in (path for path in session.outputs if stage.kind.writes(path)):
        try:
            result.write(path, redact=session.redact)
            log.say(f"wrote {path}")
        except KgevalError as cause:
            fault = fault or cause
    for message in result.messages:
        log.say(message)
    if not stage.chosen.get("quiet"):
        log.write(result.rendered(stage.chosen.get("form") or "text", redact=session.redact))
    if fault is not None:
        raise fault
    return int(result.exit_code)


def planned(stage: Stage, base: Session) -> str:
    """What the stage would ask of models; or what is wrong, with what was said before. Nothing is sent or written."""
    said: list[str] = []
    try:
        session = session_of(stage, replace(base, dry=True), said.append)
        with session:
            return "" if stage.kind.plan is None else str(stage.kind.plan(session, stage.files, stage.options(session.config)))
    except KgevalError as fault:
        return "\n".join([*said, f"kgeval: {fault}"])


def session_of(stage: Stage, base: Session, say: Callable[[str], None]) -> Session:
    """A session of its own for a stage: the connection of the run, or its own, and what was said of it. Raises: UsageError, ConfigError."""
    given, kind = stage.chosen, stage.kind

    def path(name: str) -> Path | None:
        return None if given.get(name) is None else Path(given[name])

    file = path("config_file")
    config = base.config if file in (None, base.config_file) else load(file)
    elsewhere = bool({"uri", "home"} & stage.given.keys()) or base.connection is None or isinstance(base.connection, str)
    connected: dict[str, Any] = {} if not elsewhere else {
        "connection": given.get("uri"), "username": given.get("username"), "database": given.get("database"), "home": path("home"),
    }
    redact = bool(given.get("redact")) or ("redact" in kind.session and config.report.redact)
    parts = {part: given.get(f"gds_session_{part}") for part in ("memory", "ttl", "cloud", "name")}
    aura = gds_session_of(config, use=bool(given.get("gds_session")), parts=parts) if "gds_session" in kind.session else None
    named: dict[str, Any] = {} if kind.file is None else {kind.file: str(stage.files[0])}
    named |= {} if kind.files is None else {kind.files: list(map(str, stage.files))}
    if not {"uri", "home"} & kind.session:
        connected = {"connection": None, "username": None, "database": None, "home": None}
    return replace(
        base, command=" ".join(kind.command), **connected, config=config, config_file=file or base.config_file,
        graph_name=given.get("graph_name"), layout=given.get("layout"), layout_keys=_layout_keys(given.get("layout_keys") or {}),
        embedding=EmbeddingChoice(
            given.get("embedding_model"), given.get("embedding_url"), given.get("embedding_device"),
            int(given.get("embedding_batch") or 64), path("cache_dir"),
        ),
        gds_session=aura, asking=options_of(ModelOptions, values_of(ModelOptions, given) if kind.role else {}),
        batches=options_of(BatchOptions, values_of(BatchOptions, given) if kind.batches else {}),
        dry=base.dry or bool(given.get("dry_run")),
        redact=redact, outputs=tuple(Path(name) for name in given.get("outputs") or ()),
        arguments={"form": (given.get("form") or "text") if "form" in kind.session else None, **named},
        say=say, announce=not given.get("no_progress"), show=False if given.get("no_progress") else base.show, keep_rows=False, parent=None,
    )


def _layout_keys(given: Any) -> Any:
    from kgeval.graph.layouts import parse_overrides

    return parse_overrides([f"{name}={value}" for name, value in given.items()])


def _failed(fault: Exception, log: StageLog) -> int:
    """Says what went wrong, as a command does, and gives the exit code; of what nobody foresaw the traceback."""
    if isinstance(fault, ImportError):
        fault = library_missing(fault) or fault
    if isinstance(fault, KgevalError):
        log.say(f"kgeval: {fault}")
        return fault.exit_code
    if isinstance(fault, OSError):  # a full disk, a device that is gone
        log.say(f"kgeval: {fault.strerror or fault}\nFix: free space, or write to another place; report files are whole or absent")
        return FAILED
    log.write("".join(traceback.format_exception(fault)))
    log.say(f"kgeval: {type(fault).__name__}: this is a fault of kgeval's, or of a library's")
    return FAILED


def _of_interruption(fault: BaseException | None) -> bool:
    """Whether something was raised while an interruption was dealt with: libraries stumble over what it has left behind."""
    while fault is not None and not isinstance(fault, KeyboardInterrupt):
        fault = fault.__context__
    return fault is not None
