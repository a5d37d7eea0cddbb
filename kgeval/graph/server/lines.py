"""The Neo4j lines that can be embedded: one pinned list of jars each, `jars-LINE.toml` in this folder.

A new line comes by adding its file; tools/lock_jars.py makes it.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

from kgeval.config import environment
from kgeval.errors import ServerError

DEFAULT_LINE = "5.26"  # with long-term support; each line of Neo4j has one line of GDS that fits it, and no other loads
LINE_VARIABLE = "KGEVAL_NEO4J_LINE"


@dataclass(frozen=True)
class Jar:
    """One pinned file. `coordinate` is group:artifact:version, or group:artifact:version:classifier; `size` in bytes."""

    coordinate: str
    size: int
    sha256: str

    @property
    def group(self) -> str:
        return self.coordinate.split(":")[0]

    @property
    def file(self) -> str:
        """The file's name: artifact-version.jar, or artifact-version-classifier.jar."""
        return "-".join(self.coordinate.split(":")[1:]) + ".jar"

    @property
    def path(self) -> str:
        """Where a Maven repository keeps it, relative to the repository's address."""
        group, artifact, version = self.coordinate.split(":")[:3]
        return f"{group.replace('.', '/')}/{artifact}/{version}/{self.file}"


@dataclass(frozen=True)
class Neo4jLine:
    """One line of Neo4j with the GDS that fits it. Jars of `plugin_groups` are also shown to Neo4j as plugins."""

    name: str
    neo4j: str
    gds: str
    main_class: str
    plugin_groups: tuple[str, ...]
    jars: tuple[Jar, ...]

    @property
    def size(self) -> int:
        """Bytes of all jars together."""
        return sum(jar.size for jar in self.jars)


def known_lines() -> list[str]:
    """The lines that this version of kgeval can start, oldest first."""
    names = (file.stem.removeprefix("jars-") for file in Path(__file__).parent.glob("jars-*.toml"))
    return sorted(names, key=lambda name: [int(part) for part in name.split(".")])


def line_of_new_homes() -> str:
    """The line of a home that is made without naming one: KGEVAL_NEO4J_LINE, else 5.26. Raises: ServerError if it is not known."""
    chosen = environment(LINE_VARIABLE)
    return load_line(chosen, source=LINE_VARIABLE).name if chosen else DEFAULT_LINE


def load_line(name: str, *, source: str = "") -> Neo4jLine:
    """The line called `name`; `source` says where the name came from. Raises: ServerError that lists the known ones."""
    if name not in known_lines():
        raise ServerError(
            f"{source}: there is no embedded Neo4j {name!r}" if source else f"there is no embedded Neo4j {name!r}",
            fix=f"known lines: {', '.join(known_lines())}; for another one set NEO4J_URI to a server of your own",
        )
    data = tomllib.loads((Path(__file__).parent / f"jars-{name}.toml").read_text(encoding="utf-8"))
    return Neo4jLine(
        name=name, neo4j=data["neo4j"], gds=data["gds"], main_class=data["main_class"],
        plugin_groups=tuple(data["plugin_groups"]),
        jars=tuple(Jar(jar["name"], jar["size"], jar["sha256"]) for jar in data["jars"]),
    )
