"""The home of one embedded server: a private folder (0700) with its graphs, password, configuration and log.

    kgeval-home.json     marker: which line made the home, and whether it ever started (0600)
    kgeval-server.json   the server that was started last: pid, port, heap; gone after a clean stop (0600)
    kgeval-old-data/     the store as it was, while a bulk import puts another in its place (kgeval.graph.server.exchange)
    kgeval.lock          one command at a time starts, stops or removes
    password             of user neo4j, random (0600)
    conf/ plugins/ data/ logs/ tmp/
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from kgeval.config import environment
from kgeval.ending import open_new, unused_name
from kgeval.errors import ServerError, upgrade
from kgeval.graph.server.exchange import recover
from kgeval.graph.server.faults import FREE_SPACE, clear_io_errors
from kgeval.graph.server.lines import Neo4jLine, known_lines, line_of_new_homes, load_line
from kgeval.graph.server.locks import only_one

R = TypeVar("R", bound=BaseModel)
USERNAME = "neo4j"
PAGE_CACHE_MB = 256
NEEDED_MB = 100
# The page cache is always set: left to itself it may be more than the memory that the heap leaves, and the server refuses to start.
# `unrestricted`: GDS works on the store's internals, which procedures may not touch unless they are named here. Without `preallocate=false`
# every database, also the empty one, begins with 256 MB of transaction log.
CONF = """\
# Written by kgeval before each start; changes are lost.
server.default_listen_address=127.0.0.1
server.bolt.listen_address=127.0.0.1:{port}
server.bolt.advertised_address=127.0.0.1:{port}
server.http.enabled=false
server.https.enabled=false
dbms.security.procedures.unrestricted=gds.*
server.memory.pagecache.size={page_cache}m
db.tx_log.preallocate=false
db.tx_log.rotation.retention_policy=256M size
# stop in 3 s, not 10 (these two are not in Neo4j's manual)
internal.server.bolt.thread_pool_shutdown_wait_time=1s
internal.server.bolt.connection_shutdown_wait_time=1s
dbms.usage_report.enabled=false
"""


class Marker(BaseModel):
    """Says that a folder is a home of ours, and of which line. `used` is true once a server of it was ready."""

    kgeval_home: str = "1"
    line: str
    neo4j: str
    gds: str
    used: bool = False


class StartedServer(BaseModel):
    """The server that was started last. `pid` is None in the moment before it is known; `created` is the process's
    start time in seconds since 1970. `archive`: of its classes (kgeval.graph.server.classes), whether it is there or not.
    `java`: what it runs on."""

    port: int
    heap: str
    pid: int | None = None
    created: float | None = None
    ready: bool = False
    archive: Path | None = None
    java: Path | None = None


def default_home() -> Path:
    """The home that is used when none is named: KGEVAL_HOME, else `neo4j` in kgeval's data directory of this user."""
    import platformdirs

    if named := environment("KGEVAL_HOME"):
        return Path(named)
    return platformdirs.user_data_path("kgeval", appauthor=False) / "neo4j"


class Home:
    """The files of one home. Nothing is made before `create`."""

    def __init__(self, path: Path | None) -> None:
        self.path = (path or default_home()).expanduser().resolve()
        self.password_file = self.path / "password"
        self.log = self.path / "logs" / "console.log"
        self.conf = self.path / "conf"
        self._marker = self.path / "kgeval-home.json"
        self._server = self.path / "kgeval-server.json"

    def marker(self) -> Marker | None:
        """The marker, or None if the folder is no home of ours. Raises: ServerError if it is of a later kgeval."""
        marker = _read(self._marker, Marker)
        if marker is not None and marker.kgeval_home != "1":
            raise ServerError(f"{self.path} was made by a later kgeval", fix=f"{upgrade()}, or use another --home")
        return marker

    def running(self) -> StartedServer | None:
        """What is written about the server that was started last."""
        return _read(self._server, StartedServer)

    def write_running(self, running: StartedServer | None) -> None:
        """Writes that down, or deletes it."""
        if running is None:
            self._server.unlink(missing_ok=True)
        else:
            write_private(self._server, running.model_dump_json())

    def create(self) -> None:
        """Makes the folder. Raises: ServerError: it belongs to another user, or holds things that are not ours."""
        if any(sign in str(self.path) for sign in ":\n\r"):
            raise ServerError(f"{self.path}: a home's path may hold no colon and no line break", fix="use another --home")
        self.path.mkdir(parents=True, exist_ok=True, mode=0o700)
        if self.path.stat().st_uid != os.getuid():
            raise ServerError(f"{self.path} belongs to another user", fix="use another --home")
        others = [entry.name for entry in self.path.iterdir() if not entry.name.startswith("kgeval")]
        if others and self.marker() is None:
            raise ServerError(f"{self.path} is no home of kgeval, and not empty ({others[0]})", fix="give --home a new or empty folder")
        self.path.chmod(0o700)

    def check_space(self) -> None:
        """Raises: ServerError if the disk has no room for a server."""
        free = shutil.disk_usage(self.path).free // 1_000_000
        if free < NEEDED_MB:
            raise ServerError(f"{self.path}: {free} MB are free on its disk; a server needs at least {NEEDED_MB} MB", fix=FREE_SPACE)

    @contextmanager
    def locked(self, say: Callable[[str], None], *, wait: float = 300.0) -> Iterator[None]:
        """Holds the home's lock. Raises: ServerError if another command holds it for longer than `wait` seconds."""
        what = f"another kgeval is starting or stopping the server of {self.path}"
        with only_one(self.path / "kgeval.lock", what=what, say=say, wait=wait):
            yield

    def check_line(self, line: str | None) -> None:
        """Raises: ServerError if the home is of another line than asked for, or of one that this kgeval does not have."""
        marker = self.marker()
        if marker is not None and marker.line not in known_lines():
            raise ServerError(
                f"{self.path} holds graphs of Neo4j {marker.line}, which this kgeval cannot start",
                fix=f"use the kgeval that made it, or another --home; known lines: {', '.join(known_lines())}",
            )
        if marker is not None and line is not None and marker.line != line:
            raise ServerError(
                f"{self.path} holds graphs of Neo4j {marker.line}, not {line}",
                fix=f"use --neo4j {marker.line}, or another --home for {line} and import the graphs there again; "
                "`kgeval server remove` deletes this home",
            )

    def claim(self, line: str | None) -> Neo4jLine:
        """The home's line, written down on first use. Raises: ServerError if it is another one than asked for."""
        self.check_line(line)
        marker = self.marker()
        wanted = load_line(marker.line if marker else line or line_of_new_homes())
        self._mark(Marker(line=wanted.name, neo4j=wanted.neo4j, gds=wanted.gds, used=marker is not None and marker.used))
        return wanted

    def mark_used(self) -> None:
        """Notes that a server of this home was ready: from now on data and password are kept."""
        marker = self.marker()
        if marker is not None and not marker.used:
            self._mark(marker.model_copy(update={"used": True}))

    def _mark(self, marker: Marker) -> None:
        if marker != self.marker():
            write_private(self._marker, marker.model_dump_json())

    def prepare(self, line: Neo4jLine, jars: list[Path]) -> None:
        """Everything a start needs, save the port: password, plugin links, an empty tmp.

        A home whose server was never ready holds nothing of the user's: what a broken first start left is deleted. Where the
        store is gone or empty, a new one gets the password that the home has: Neo4j's own would be known to everybody.
        """
        recover(self.path)
        marker = self.marker()
        data = self.path / "data"
        used = marker is not None and marker.used
        if not used or not data.exists() or (data.is_dir() and not any(data.iterdir())):
            shutil.rmtree(data, ignore_errors=True)
            if not used or not self.password_file.exists():
                write_private(self.password_file, secrets.token_urlsafe(24))
            write_private(self.path / "data" / "dbms" / "auth.ini", credentials(self.password()))
        self.password()
        # plugins too: a link that an older list of jars left would be loaded beside the new ones
        for name in ("tmp", "plugins"):
            shutil.rmtree(self.path / name, ignore_errors=True)
        for name in ("tmp", "plugins", "conf", "logs", "import"):
            (self.path / name).mkdir(exist_ok=True, mode=0o700)
        for jar, file in zip(line.jars, jars, strict=True):
            if jar.group in line.plugin_groups:  # procedures are looked for here, GDS's own extension on the class path: it needs both
                (self.path / "plugins" / file.name).symlink_to(file)

    def write_conf(self, port: int, *, page_cache: int = PAGE_CACHE_MB) -> None:
        """Writes neo4j.conf. `page_cache` in MiB."""
        write_private(self.conf / "neo4j.conf", CONF.format(port=port, page_cache=page_cache))

    def password(self) -> str:
        """The password of user neo4j. Raises: ServerError if its file is gone."""
        try:
            return self.password_file.read_text(encoding="utf-8").strip()
        except FileNotFoundError as cause:
            raise ServerError(
                f"{self.password_file} is gone, and with it the way into this home",
                fix="put the file back, or delete the home with `kgeval server remove`",
            ) from cause

    def tail(self, lines: int) -> list[str]:
        """The last lines of the server's log (of its last megabyte), or none."""
        try:
            with self.log.open("rb") as stream:
                stream.seek(max(0, self.log.stat().st_size - (1 << 20)))
                return stream.read().decode("utf-8", errors="replace").splitlines()[-lines:] if lines > 0 else []
        except FileNotFoundError:
            return []

    def disk_is_full(self) -> bool:
        """True if the server cannot write any more: Neo4j itself goes on trying then, and says so only in its log."""
        return shutil.disk_usage(self.path).free < 64 * 1024 or "No space left on device" in "\n".join(self.tail(1000))


def credentials(password: str, salt: bytes | None = None) -> str:
    """The line of `auth.ini` from which Neo4j takes its first user: salted SHA-256, 1024 rounds, as AdminTool writes it.

    Written before the first start, so that the server never runs with a known password, and no command line shows one.
    """
    salt = secrets.token_bytes(32) if salt is None else salt
    digest = hashlib.sha256(salt + password.encode()).digest()
    for _ in range(1023):
        digest = hashlib.sha256(digest).digest()
    return f"{USERNAME}:SHA-256,{digest.hex()},{salt.hex()},1024:\n"


def write_private(path: Path, text: str) -> None:
    """Writes a file that only the user may read (0600), whole or not at all."""
    with clear_io_errors(str(path)):
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        part = unused_name(path.parent, f"kgeval-{path.name}-", ".part")
        try:
            with os.fdopen(open_new(part), "w", encoding="utf-8") as out:
                out.write(text)
                out.flush()
                os.fsync(out.fileno())
            part.replace(path)
        except BaseException:
            part.unlink(missing_ok=True)
            raise


def _read(path: Path, record: type[R]) -> R | None:
    """A record from a JSON file; None if there is none, or it is none of ours."""
    try:
        return record.model_validate(json.loads(path.read_text(encoding="utf-8")))
    except (FileNotFoundError, NotADirectoryError, ValidationError, ValueError):
        return None
