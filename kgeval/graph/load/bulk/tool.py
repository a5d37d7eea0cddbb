"""Runs Neo4j's own import tool (AdminTool): the line's jars and JRE, no shell, ended when we are interrupted, its words kept for errors."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from kgeval.ending import undone
from kgeval.errors import ServerError
from kgeval.graph.load.bulk.sheets import SEPARATOR, SheetFiles
from kgeval.graph.server.faults import FREE_SPACE, shown
from kgeval.graph.server.home import write_private
from kgeval.graph.server.memory import check_fits, heap_mb, memory_mb
from kgeval.graph.server.process import environment, java_command

MAIN = "org.neo4j.cli.AdminTool"
CONF = "db.tx_log.preallocate=false\ndbms.usage_report.enabled=false\n"
STAGES = {"Node import": "nodes", "Relationship import": "relations", "Relationship linking": "linking", "Post processing": "finishing"}
# bytes that the tool reads at a time: its own 4 MB, or more where a row would not fit
SMALLEST_BUFFER = 4 << 20
LARGEST_BUFFER = 1 << 30
# A parent that died before the request would never be noticed, so its pid is compared: the command is then not begun.
# Becomes the command after it has asked Linux to be killed when its parent (the first argument) is gone: 1 is PR_SET_PDEATHSIG, 9 SIGKILL.
TIED = """\
import ctypes, os, sys
ctypes.CDLL(None).prctl(1, ctypes.c_ulong(9))
if os.getppid() == int(sys.argv[1]):
    os.execv(sys.argv[2], sys.argv[2:])
"""


def import_store(
    folder: Path, nodes: Sequence[SheetFiles], relations: Sequence[SheetFiles], home: Path, jars: Sequence[Path], *,
    longest: int, heap: str, progress: Callable[[str, int, int], None] = lambda _stage, _done, _total: None,
) -> Path:
    """Makes a store of the CSV files in `folder`, database `neo4j`, in the empty folder `home`; returns its data folder.
    `longest`: bytes of the longest row.

    Raises: ServerError with the tool's last words; memory that does not fit; a row that is too long.
    """
    check_fits(heap)
    if longest * 2 > LARGEST_BUFFER:
        what = f"a row of {longest >> 20} MB is too long for Neo4j's import tool"
        raise ServerError(what, fix="cut its longest text, or leave that column out")
    for name in ("conf", "tmp"):
        (home / name).mkdir(mode=0o700, parents=True)
    write_private(home / "conf" / "neo4j.conf", CONF)
    java = java_command(home, jars, heap, more="-XX:+UseParallelGC\n-Dapp.name=neo4j\n")  # an eighth faster; pauses hurt nobody
    command = [*java, MAIN, "database", "import", "full", *arguments(folder, nodes, relations, home, longest=longest, heap=heap)]
    last_lines = _run(command, folder.parent, {**environment(), "NEO4J_HOME": str(home), "NEO4J_CONF": str(home / "conf")}, progress)
    if last_lines is not None:
        raise _failure(last_lines)
    return home / "data"


def arguments(
    folder: Path, nodes: Sequence[SheetFiles], relations: Sequence[SheetFiles], home: Path, *, longest: int, heap: str
) -> list[str]:
    """The tool's arguments. Only names of our own files stand in them, none of the user's words."""

    def paths(names: Iterable[str]) -> str:
        """From the folder above theirs: Neo4j 2026 wants a folder in each name, and the home's path may hold a comma."""
        return ",".join(f"{folder.name}/{name}" for name in names)

    groups = [*(("nodes", sheet) for sheet in nodes), *(("relationships", sheet) for sheet in relations)]
    inputs = [f"--{kind}={f'{sheet.type}=' if sheet.type else ''}{paths(sheet.files)}" for kind, sheet in groups]
    broken = [sheet.broken for _, sheet in groups if sheet.broken]
    return [
        *inputs, *([f"--multiline-fields={paths(broken)}", "--multiline-fields-format=v2"] if broken else []),
        # actual: our numbers are the nodes' own, and the tool keeps no map of ids in memory
        "--id-type=actual", f"--array-delimiter=U+{ord(SEPARATOR):04X}", f"--report-file={home / 'import.report'}",
        f"--read-buffer-size={max(SMALLEST_BUFFER, longest * 2)}", f"--max-off-heap-memory={off_heap_mb(heap)}m", "neo4j",
    ]


def off_heap_mb(heap: str) -> int:
    """What the tool may take beside its heap: three quarters of what is free now, at least 256 MB."""
    import psutil

    free = min(int(psutil.virtual_memory().available) >> 20, memory_mb()) - heap_mb(heap)
    return max(256, free * 3 // 4)


def _run(command: list[str], folder: Path, variables: dict[str, str], progress: Callable[[str, int, int], None]) -> list[str] | None:
    """Runs it to its end; its last lines if it failed, else None. Whatever interrupts us ends it; on Linux kill -9 of us does too."""
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


def _failure(last_lines: list[str]) -> ServerError:
    text = "\n".join(last_lines)
    if "No space left on device" in text:
        return ServerError("Neo4j's import tool stopped: the disk is full", fix=FREE_SPACE)
    if any(words in text for words in ("OutOfMemoryError", "Not enough memory", "insufficient memory")):
        return ServerError(f"Neo4j's import tool ran out of memory{shown(last_lines)}", fix="give a larger --heap, or free some memory")
    words = [line for line in last_lines if line.strip() and not line.startswith("\tat ")]
    return ServerError(f"Neo4j's import tool failed{shown(words)}", fix="the old store is as it was; please report this")
