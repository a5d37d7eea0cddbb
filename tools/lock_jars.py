"""For maintainers: writes the pinned jar list of one Neo4j line, kgeval/graph/server/jars-LINE.toml.

    python tools/lock_jars.py 5.26.28 2.13.9                # resolves (minutes), downloads, hashes, writes
    python tools/lock_jars.py 2026.01.4 2.26.0
    python tools/lock_jars.py 5.26.28 2.13.9 --lock FILE    # from a jgo.lock.toml made before, jars beside it

Main class and GDS artifacts change between lines: see MAIN_CLASS and GDS_ARTIFACTS. Start the new line, run
tests/neo4j against it and read the diff before you commit it.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any

TARGET = Path(__file__).resolve().parent.parent / "kgeval" / "graph" / "server"
OLD_MAIN_CLASS = "org.neo4j.server.CommunityEntryPoint"
MAIN_CLASS = "org.neo4j.server.Neo4jCommunity"
GDS_ARTIFACTS = ("proc", "proc-sysinfo", "opengds-extension", "open-model-catalog")
GDS_GROUP = "org.neo4j.gds"


def main() -> int:
    """Writes the list; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("neo4j", help="version of Neo4j, for example 5.26.28")
    parser.add_argument("gds", help="version of GDS that fits it, for example 2.13.9")
    parser.add_argument("--lock", type=Path, help="a jgo.lock.toml made before")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        lock = options.lock or resolve(options.neo4j, options.gds, Path(folder))
        text = render(options.neo4j, options.gds, lock)
    line = ".".join(options.neo4j.split(".")[:2])
    target = TARGET / f"jars-{line}.toml"
    target.write_text(text, encoding="utf-8")
    sys.stdout.write(f"{target}: {text.count('sha256')} jars\n")
    return 0


def is_old(neo4j: str) -> bool:
    """True for the 5.x lines, which have another main class and one GDS artifact more."""
    return neo4j.startswith("5.")


def resolve(neo4j: str, gds: str, folder: Path) -> Path:
    """Lets jgo resolve and download the line into `folder`; the lock file that it wrote."""
    import jgo

    artifacts = (*GDS_ARTIFACTS, *(("open-write-services",) if is_old(neo4j) else ()))
    endpoint = "+".join((f"org.neo4j:neo4j:{neo4j}", *(f"{GDS_GROUP}:{name}:{gds}" for name in artifacts)))
    jgo.build(endpoint, cache_dir=folder)
    return next(folder.rglob("jgo.lock.toml"))


def render(neo4j: str, gds: str, lock: Path) -> str:
    """The text of the pinned list; a bill of materials (a pom) holds no classes and is left out.

    Raises: SystemExit if a file name would stand twice or a dependency is neither.
    """
    entries = [entry for entry in tomllib.loads(lock.read_text(encoding="utf-8"))["dependencies"] if entry["packaging"] != "pom"]
    sizes = {file.name: file.stat().st_size for file in lock.parent.rglob("*.jar")}
    strange = [entry["artifactId"] for entry in entries if entry["packaging"] != "jar"]
    files = [file_name(entry) for entry in entries]
    twice = sorted({file for file in files if files.count(file) > 1})
    if strange or twice:
        raise SystemExit(f"not jars: {strange}; names that stand twice: {twice}")
    rows = sorted(
        f'  {{ name = "{coordinate(entry)}", size = {sizes[file_name(entry)]}, sha256 = "{entry["sha256"]}" }},'
        for entry in entries
    )
    head = (
        "# Written by tools/lock_jars.py. One line a jar: group:artifact:version[:classifier], bytes, SHA-256.\n"
        f'neo4j = "{neo4j}"\ngds = "{gds}"\nmain_class = "{OLD_MAIN_CLASS if is_old(neo4j) else MAIN_CLASS}"\n'
        f'# Jars of these groups are also linked into the plugins folder.\nplugin_groups = ["{GDS_GROUP}"]\njars = [\n'
    )
    return head + "\n".join(rows) + "\n]\n"


def coordinate(entry: dict[str, Any]) -> str:
    """group:artifact:version, with the classifier where there is one."""
    return ":".join(str(entry[key]) for key in ("groupId", "artifactId", "version", "classifier") if entry.get(key))


def file_name(entry: dict[str, Any]) -> str:
    """The file's name in a Maven repository."""
    return "-".join(coordinate(entry).split(":")[1:]) + ".jar"


if __name__ == "__main__":
    sys.exit(main())
