"""What can be done with an embedded server: start, stop, look, remove. The package's public functions."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from kgeval.ending import undone
from kgeval.errors import ServerError
from kgeval.graph.connect import Address
from kgeval.graph.server import classes, exchange
from kgeval.graph.server import process as processes
from kgeval.graph.server.faults import NotReadyError, PortTakenError, clear_io_errors
from kgeval.graph.server.home import USERNAME, Home, StartedServer
from kgeval.graph.server.jars import Progress, Say, ensure_jars
from kgeval.graph.server.lines import Neo4jLine, load_line
from kgeval.graph.server.memory import DEFAULT_HEAP, check_fits, heap_mb
from kgeval.records import Record

if TYPE_CHECKING:
    import psutil

START_SECONDS = 120.0
PORT_TRIES = 5


class ServerStatus(Record):
    """An embedded server. `uri` and `pid` are None while it does not run; `neo4j` and `gds` before its first start."""

    running: bool
    uri: str | None = None
    username: str = USERNAME
    password_file: str
    home: str
    pid: int | None = None
    neo4j: str | None = None
    gds: str | None = None
    log: str


def ensure_started(
    home: Path | None = None, *, say: Callable[[str], None], neo4j: str | None = None, heap: str | None = None,
    port: int | None = None, jars: Path | None = None, progress: Progress | None = None,
) -> Address:
    """The address of the home's server, which is started if it does not run; `say` gets each step in words.

    neo4j: line (default: the home's; of a new home KGEVAL_NEO4J_LINE, else 5.26); heap: 512m, 4g (default 1g); port: default a
    free one; jars: a folder with the jars for machines without network; progress: called with bytes done and in all while jars
    are downloaded.
    Raises: ServerError with the way out.
    """
    if neo4j is not None:
        load_line(neo4j)
    heap_mb(heap or DEFAULT_HEAP)
    place = Home(home)
    with clear_io_errors(f"the home {place.path}"):
        running = _ready(place, say, neo4j, heap, port)
        if running is None:
            place.create()
            with place.locked(say):
                # asked again under the lock: another command may have started it meanwhile
                running = _ready(place, say, neo4j, heap, port) or _start(
                    place, say, neo4j=neo4j, heap=heap, wanted_port=port, jars_source=jars, progress=progress,
                )
        return Address(processes.uri(running.port), USERNAME, place.password(), source="the embedded server", embedded=True)


def start(
    home: Path | None = None, *, say: Callable[[str], None], neo4j: str | None = None, heap: str | None = None,
    port: int | None = None, jars: Path | None = None, progress: Progress | None = None,
) -> ServerStatus:
    """Like `ensure_started`, but gives the status."""
    ensure_started(home, say=say, neo4j=neo4j, heap=heap, port=port, jars=jars, progress=progress)
    return status(home)


def stop(home: Path | None = None, *, say: Callable[[str], None] = lambda _: None, keep_classes: bool = False) -> bool:
    """Stops the home's server: politely, after 30 s by force. False if none ran. `keep_classes`: what it has learned of Java's classes
    speeds up later starts (kgeval.graph.server.classes). Raises: ServerError."""
    place = Home(home)
    if place.marker() is None:
        return False
    with clear_io_errors(f"the home {place.path}"), place.locked(say):
        running = place.running()
        stopped = _stop(place)
        if keep_classes and stopped and running is not None and running.archive is not None and running.java is not None:
            classes.make(running.archive, place.path, running.java, processes.environment())
        return stopped


@contextmanager
def kept_down(home: Path | None = None, *, say: Callable[[str], None] = lambda _: None) -> Iterator[None]:
    """The home's server is stopped, and nobody can start it before the end. Raises: ServerError."""
    place = Home(home)
    with clear_io_errors(f"the home {place.path}"), place.locked(say):
        _stop(place)
        yield


def status(home: Path | None = None) -> ServerStatus:
    """Where the home's server is and whether it runs. A home that does not exist has a server that does not run."""
    place = Home(home)
    with clear_io_errors(f"the home {place.path}"):
        marker, running, process = place.marker(), place.running(), processes.find(place)
    return ServerStatus(
        running=process is not None, pid=process.pid if process else None,
        uri=processes.uri(running.port) if process and running else None,
        home=str(place.path), password_file=str(place.password_file), log=str(place.log),
        neo4j=marker.neo4j if marker else None, gds=marker.gds if marker else None,
    )


def logs(home: Path | None = None, lines: int = 50) -> list[str]:
    """The last lines that the server wrote since its last start; none if it never started."""
    place = Home(home)
    with clear_io_errors(f"the log {place.log}"):
        return place.tail(lines)


def remove(home: Path | None = None, *, say: Callable[[str], None] = lambda _: None) -> None:
    """Stops the server and deletes the home with all graphs in it; the jars stay.

    Raises: ServerError: no home of kgeval; a bulk import into it is running.
    """
    place = Home(home)
    if place.marker() is None:
        raise ServerError(f"{place.path} is no home of kgeval: nothing was removed", fix="`kgeval server status` names the home")
    with clear_io_errors(f"the home {place.path}"):
        with exchange.alone(place.path), place.locked(say):
            _stop(place)
            # kgeval's own files go last: as long as the marker is there, a removal that was interrupted can be run again
            for entry in sorted(place.path.iterdir(), key=lambda entry: entry.name.startswith("kgeval")):
                if entry.is_dir() and not entry.is_symlink():
                    shutil.rmtree(entry)
                elif entry.name != "kgeval.lock":
                    entry.unlink()
        (place.path / "kgeval.lock").unlink(missing_ok=True)
        place.path.rmdir()


def _ready(place: Home, say: Say, neo4j: str | None, heap: str | None, port: int | None) -> StartedServer | None:
    """The record of the server if it runs and was ready; says so where it differs from what was asked for."""
    running = place.running()
    if running is None or not running.ready or processes.find(place) is None or exchange.is_left(place.path):
        return None
    place.check_line(neo4j)
    if port not in (None, running.port) or (heap is not None and heap_mb(heap) != heap_mb(running.heap)):
        say(f"the embedded Neo4j already runs (port {running.port}, heap {running.heap}); `kgeval server stop`, then start, to change that")
    return running


def _start(
    place: Home, say: Say, *, neo4j: str | None, heap: str | None, wanted_port: int | None, jars_source: Path | None,
    progress: Progress | None,
) -> StartedServer:
    """Starts the server; called with the home's lock held."""
    line = place.claim(neo4j)
    if exchange.is_left(place.path):
        say("a bulk import was killed before its end: taking the old store back")
        _stop(place)
    adopted = _adopt(place, say)
    if adopted is not None:
        return adopted
    heap = heap or DEFAULT_HEAP
    check_fits(heap)
    place.check_space()
    if wanted_port is not None:
        processes.check_port(wanted_port)
    jars = ensure_jars(line, source=jars_source, say=say, progress=progress)
    place.prepare(line, jars)
    home_option = "" if place.path == Home(None).path else f" --home {shlex.quote(str(place.path))}"
    for _ in range(1 if wanted_port else PORT_TRIES):
        port = wanted_port or processes.free_port()
        say(f"starting the embedded Neo4j {line.name} at {processes.uri(port)}; `kgeval server stop{home_option}` stops it")
        try:
            return _launch(place, line, jars, port=port, heap=heap)
        except PortTakenError as cause:
            taken = cause
    raise taken


def _launch(place: Home, line: Neo4jLine, jars: list[Path], *, port: int, heap: str) -> StartedServer:
    """One try on one port. What was started is stopped again if it cannot be used or we are interrupted."""
    with undone(lambda: processes.ask_to_end(place)):
        try:
            running = processes.launch(place, line, jars, port=port, heap=heap)
            process = processes.find(place)
            if process is None:
                raise processes.why_ended(place)
            processes.wait_ready(place, process, port=port, seconds=START_SECONDS)
        # it is left running: the next command finds it and waits on (`_adopt`)
        except NotReadyError:
            raise
        except ServerError:
            if (process := processes.find(place)) is not None:
                processes.end(process, seconds=10)
            raise
        except BaseException:
            processes.ask_to_end(place)
            raise
    return _note_ready(place, running, process)


def _adopt(place: Home, say: Say) -> StartedServer | None:
    """A server whose starter was killed before it was ready: waits for it. None if there is none, or it ends."""
    running, process = place.running(), processes.find(place)
    if running is None or process is None:
        return None
    say(f"the embedded Neo4j is being started at {processes.uri(running.port)}; waiting for it")
    try:
        processes.wait_ready(place, process, port=running.port, seconds=START_SECONDS)
    except NotReadyError:
        raise
    except ServerError:
        if processes.alive(process):
            processes.end(process, seconds=10)
            raise
        return None
    return _note_ready(place, running, process)


def _note_ready(place: Home, running: StartedServer, process: psutil.Process) -> StartedServer:
    ready = running.model_copy(update={"pid": process.pid, "created": process.create_time(), "ready": True})
    place.mark_used()
    place.write_running(ready)
    return ready


def _stop(place: Home) -> bool:
    process = processes.find(place)
    if process is not None:
        processes.end(process)
    place.write_running(None)
    return process is not None
