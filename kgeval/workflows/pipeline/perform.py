"""One stage in this process: a session of its own, and its messages and its result in a file of its own."""

from __future__ import annotations

import gc
import traceback
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any

from kgeval.auditing.malloc import trim_heap
from kgeval.config import BatchOptions, Config, ModelOptions, SessionOptions, load
from kgeval.config.words import values_of
from kgeval.errors import KgevalError, library_missing
from kgeval.format import for_terminal
from kgeval.llm.plan import Plan
from kgeval.tables.output import open_log
from kgeval.workflows.pipeline.execute import INTERRUPTED
from kgeval.workflows.pipeline.stages import Stage, StageKind
from kgeval.workflows.session import Session, gds_session_of, gds_session_parts, options_of, session_with

FAILED = 2
Around = Callable[[Session], AbstractContextManager[Any]]


class StageLog:
    """The file that a stage's messages and its result go to, for its owner only. `watch`: gets the messages, too."""

    def __init__(self, path: Path, watch: Callable[[str], None] | None = None) -> None:
        """Raises: InputError where it cannot be written."""
        self._file = open_log(path)
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
        """Does the stage and gives its exit code, as its command would. Raises: InputError where the log cannot be written."""
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
        except (Exception, SystemExit) as fault:  # noqa: BLE001 - the border of a stage: the others go on, and the cause is in the log
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
    if not (own := stage.session_options()).quiet:
        log.write(result.rendered(own.form, redact=session.redact))
    if fault is not None:
        raise fault
    return int(result.exit_code)


def planned(stage: Stage, base: Session) -> Plan | str:
    """What the stage would ask of models; or what is wrong, with what was said before. Nothing is sent or written."""
    messages: list[str] = []
    try:
        session = session_of(stage, replace(base, dry=True), messages.append)
        with session:
            return "" if stage.kind.plan is None else stage.kind.plan(session, stage.files, stage.options(session.config))
    except (KgevalError, ImportError) as fault:
        cause = library_missing(fault) if isinstance(fault, ImportError) else fault
        if cause is None:
            raise
        return "\n".join([*messages, f"kgeval: {cause}"])


def session_of(stage: Stage, base: Session, say: Callable[[str], None]) -> Session:
    """A session of its own for a stage: what it says itself, else what that of the run has. Raises: UsageError, ConfigError."""
    kind, own = stage.kind, stage.session_options()
    config = base.config if own.config_file in (None, base.config_file) else load(own.config_file)
    named: dict[str, Any] = {} if kind.file is None else {kind.file: str(stage.files[0])}
    named |= {} if kind.files is None else {kind.files: list(map(str, stage.files))}
    session = session_with(
        base, " ".join(kind.command), own, config, **_connected(stage, own, base), **_graph(kind, own, base), say=say,
        gds_session=_gds_session(own, base, config) if "gds_session" in kind.session else None,
        asking=options_of(ModelOptions, values_of(ModelOptions, stage.chosen) if kind.role else {}),
        batches=options_of(BatchOptions, values_of(BatchOptions, stage.chosen) if kind.batches else {}),
        arguments={"form": own.form if "form" in kind.session else None, **named},
    )
    session.redact = own.redact or ("redact" in kind.session and config.report.redact)
    return session


def _connected(stage: Stage, own: SessionOptions, base: Session) -> dict[str, Any]:
    """Where the graph of a stage is: as the file says of it, else that of the run, else as the environment says."""
    if not {"uri", "home"}.intersection(stage.kind.session):
        return {"connection": None, "username": None, "database": None, "home": None}
    return {"pause": base.pause if own.pause is None else own.pause, **_place(stage, own, base)}


def _place(stage: Stage, own: SessionOptions, base: Session) -> dict[str, Any]:
    own_place = {"uri", "home"} & stage.given.keys()
    if not own_place and base.connection is not None and not isinstance(base.connection, str):
        return {}  # an open driver
    if own_place or (base.connection is None and base.home is None):
        return {"connection": own.uri, "username": own.username, "database": own.database, "home": own.home}
    user = {name: stage.given.get(name) or getattr(base, name) for name in ("username", "database")}
    if base.home is None:  # the embedded server has no other user, whoever is named in the environment
        user = {name: value or getattr(own, name) for name, value in user.items()}
    return {"connection": base.connection, "home": base.home, **user}


def _graph(kind: StageKind, own: SessionOptions, base: Session) -> dict[str, Any]:
    """Which graph of the database, and how it is stored."""
    return {
        "graph_name": (own.graph_name or base.graph_name) if "graph_name" in kind.session else None,
        "layout": (own.layout or base.layout) if "layout" in kind.session else None,
        "layout_keys": (own.layout_keys or base.layout_keys) if "layout_keys" in kind.session else {},
    }


def _gds_session(own: SessionOptions, base: Session, config: Config) -> Any:
    """The session of Aura Graph Analytics that the stage, the run or the file asks for."""
    parts = {
        part: getattr(base.gds_session, part, None) if value is None else value for part, value in gds_session_parts(own).items()
    }
    return gds_session_of(config, use=own.gds_session or base.gds_session is not None, parts=parts)


def _failed(fault: Exception | SystemExit, log: StageLog) -> int:
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
