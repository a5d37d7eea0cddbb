"""An embedded server with APOC core, for the writers that need it. The product itself starts none: this is for `make writers` only.

APOC core is not served for every Neo4j version, so the newest one of the same line is taken: its plain jar, with the jars it depends on.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kgeval.graph.connect import Address
from kgeval.graph.server import process as processes
from kgeval.graph.server.home import USERNAME, Home
from kgeval.graph.server.jars import ensure_jars
from kgeval.graph.server.lines import Neo4jLine, load_line

APOC = "5.26.19"
LINE = "5.26"
HEAP = "768m"
START_SECONDS = 180.0
APOC_GROUP = "org.neo4j.procedure"


class ApocHome(Home):
    """A home whose server may run APOC's procedures without limits (its schema procedures refuse to run otherwise)."""

    def write_conf(self, port: int, **more: int) -> None:
        super().write_conf(port, **more)
        file = self.conf / "neo4j.conf"
        text = file.read_text(encoding="utf-8")
        if "unrestricted=gds.*" not in text:
            raise SystemExit("neo4j.conf has no line that lets gds.* run without limits: change tests/writers/apoc_server.py")
        file.write_text(text.replace("unrestricted=gds.*", "unrestricted=gds.*,apoc.*"), encoding="utf-8")


@contextmanager
def server_with_apoc(folder: Path) -> Iterator[Address]:
    """A server in `folder`/home, stopped at the end."""
    line, home = load_line(LINE), ApocHome(folder / "home")
    home.create()
    home.claim(LINE)
    jars, more = ensure_jars(line, source=None, say=print), apoc_jars(folder / "apoc", line)
    home.prepare(line, jars)
    for jar in more:
        if jar.name.startswith("apoc-"):
            (home.path / "plugins" / jar.name).symlink_to(jar)
    port = processes.free_port()
    processes.launch(home, line, [*jars, *more], port=port, heap=HEAP)
    process = processes.find(home)
    if process is None:
        raise processes.why_ended(home)
    try:
        processes.wait_ready(home, process, port=port, seconds=START_SECONDS)
        home.mark_used()
        yield Address(processes.uri(port), USERNAME, home.password(), source="the server with APOC", embedded=True)
    finally:
        processes.end(process)
        home.write_running(None)


def apoc_jars(folder: Path, line: Neo4jLine) -> list[Path]:
    """APOC core's jars but those that the server has itself, downloaded once into `folder`."""
    own = {tuple(jar.coordinate.split(":")[:2]) for jar in line.jars}
    lock = next(folder.rglob("jgo.lock.toml"), None) or resolved(folder)
    entries = tomllib.loads(lock.read_text(encoding="utf-8"))["dependencies"]
    wanted = [entry for entry in entries if (entry["groupId"], entry["artifactId"]) not in own]
    files = {file.name: file for file in folder.rglob("*.jar")}
    return [files[f"{entry['artifactId']}-{entry['version']}.jar"].resolve() for entry in wanted]


def resolved(folder: Path) -> Path:
    """The lock file of a fresh download."""
    import jgo

    # apoc-core needs apoc-common at run time but does not name it
    jgo.build(f"{APOC_GROUP}:apoc-core:{APOC}+{APOC_GROUP}:apoc-common:{APOC}", cache_dir=folder)
    return next(folder.rglob("jgo.lock.toml"))
