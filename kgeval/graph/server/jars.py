"""Fetches the jars of a line: in parallel, each checked by SHA-256, kept once for all homes.

A file gets its name only after it was checked, so a download that was cut off leaves nothing behind that counts.
Files that are there already are checked again before each start; a damaged one is fetched anew.
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
import shutil
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kgeval.config import cache_folder
from kgeval.errors import ServerError
from kgeval.format import first_of
from kgeval.graph.server.faults import FREE_SPACE, OWN_SERVER, clear_io_errors
from kgeval.graph.server.lines import Jar, Neo4jLine
from kgeval.graph.server.locks import only_one

if TYPE_CHECKING:
    import requests

Say = Callable[[str], None]
Progress = Callable[[int, int], None]  # bytes done, bytes in all

AT_ONCE = 16
OFFLINE_FIX = "without network: copy the jars from a machine that has them and name their folder with --jars (kgeval help server)"


def jars_folder() -> Path:
    """Where the jars are kept, for all homes."""
    return cache_folder().absolute() / "jars"


def ensure_jars(line: Neo4jLine, *, source: Path | None, say: Say, progress: Progress | None = None) -> list[Path]:
    """The checked jars of a line, in the order of its list; what is missing or damaged is copied from `source` or downloaded.

    Raises: ServerError: no network, a file that is not the pinned one, disk full, folder not writable.
    """
    folder = jars_folder()
    with clear_io_errors("the jars"):
        folder.mkdir(parents=True, exist_ok=True)
        if not damaged(line.jars, folder):
            return [folder / jar.file for jar in line.jars]
        with only_one(folder / ".lock", what="another kgeval is fetching the jars", say=say, wait=1800):
            # again, now under the lock: another kgeval may have fetched them while this one waited
            missing = damaged(line.jars, folder)
            for file in folder.iterdir():  # what downloads that were killed left behind
                if file.is_file() and file.suffix != ".jar" and file.name != ".lock":
                    file.unlink(missing_ok=True)
            if missing and source is not None:
                _copy(missing, source, folder)
            elif missing:
                free, needed = shutil.disk_usage(folder).free, sum(jar.size for jar in missing)
                if free < needed:
                    what = f"{folder}: {free // 1_000_000} MB are free, the jars need {round(needed / 1_000_000)} MB"
                    raise ServerError(what, fix=FREE_SPACE)
                say(f"downloading Neo4j {line.neo4j} and GDS {line.gds}: {round(needed / 1_000_000)} MB in {len(missing)} files, once")
                download(missing, folder, progress)
    return [folder / jar.file for jar in line.jars]


def damaged(jars: Iterable[Jar], folder: Path) -> list[Jar]:
    """The jars that `folder` lacks or has with other content."""
    jars = list(jars)
    with ThreadPoolExecutor(max_workers=min(8, os.cpu_count() or 1)) as pool:
        good = list(pool.map(lambda jar: is_pinned(folder / jar.file, jar), jars))
    return [jar for jar, fine in zip(jars, good, strict=True) if not fine]


def is_pinned(file: Path, jar: Jar) -> bool:
    """True if `file` is there and has the pinned size and SHA-256."""
    try:
        if file.stat().st_size != jar.size:
            return False
        with file.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest() == jar.sha256
    except FileNotFoundError:
        return False


def repository() -> str:
    """The address of the Maven repository: KGEVAL_MAVEN_URL, or the one that jgo knows. Raises: ServerError."""
    chosen = os.environ.get("KGEVAL_MAVEN_URL")
    if chosen:
        if not re.match(r"https?://[^/]", chosen):
            raise ServerError("KGEVAL_MAVEN_URL is not an http(s) address", fix="set it to the root of a Maven repository, or unset it")
        return chosen.rstrip("/")
    try:
        from jgo.constants import MAVEN_CENTRAL_URL
    except ImportError as cause:
        raise ServerError("the address of the Maven repository is not known", fix="pip install jgo, or set KGEVAL_MAVEN_URL") from cause
    return str(MAVEN_CENTRAL_URL).rstrip("/")


def download(jars: list[Jar], folder: Path, progress: Progress | None) -> None:
    """Downloads `jars` into `folder`, 16 at once. Raises: ServerError at the first that cannot be had."""
    import pooch
    import requests

    root = repository()
    logging.getLogger("pooch").setLevel(logging.ERROR)  # it would write a line a file
    pooch.get_logger().setLevel(logging.ERROR)
    store = pooch.create(
        path=folder, base_url="", retry_if_failed=3, registry={jar.file: f"sha256:{jar.sha256}" for jar in jars},
        urls={jar.file: f"{root}/{jar.path}" for jar in jars},
    )
    with requests.Session() as session, ThreadPoolExecutor(max_workers=AT_ONCE) as pool:
        for scheme in ("https://", "http://"):
            session.mount(scheme, requests.adapters.HTTPAdapter(pool_connections=1, pool_maxsize=AT_ONCE))
        fetch = _Fetch(session, sum(jar.size for jar in jars), progress)
        # the large ones first, so that none is left alone at the end
        tasks = [(jar, pool.submit(store.fetch, jar.file, downloader=fetch)) for jar in sorted(jars, key=lambda jar: -jar.size)]
        try:
            for jar, task in tasks:
                try:
                    task.result()
                except (requests.RequestException, ValueError) as cause:
                    what = re.sub(r"//[^/@\s]*@", "//", str(cause))[:300]  # a mirror's address may hold a password
                    fix = f"check the network (proxies: HTTPS_PROXY), or set KGEVAL_MAVEN_URL to a mirror; {OFFLINE_FIX}; or {OWN_SERVER}"
                    raise ServerError(f"cannot download {jar.coordinate}: {what}", fix=fix) from cause
        except BaseException:
            fetch.stopped.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise


class _StoppedError(Exception):
    """Another download failed for good, or we were interrupted: the rest need not be tried again."""


class _Fetch:
    """Downloads one file over the shared session, and tells how many bytes all of them have so far."""

    def __init__(self, session: requests.Session, total: int, progress: Progress | None) -> None:
        self._session, self._total, self._progress = session, total, progress
        self.stopped = threading.Event()
        self._done = 0
        self._lock = threading.Lock()

    def __call__(self, url: str, output_file: str, _pooch: Any) -> None:
        received = 0
        if self.stopped.is_set():
            raise _StoppedError
        try:
            with self._session.get(url, stream=True, timeout=(10, 60)) as answer, Path(output_file).open("wb") as out:
                answer.raise_for_status()
                for block in answer.iter_content(1 << 16):
                    if self.stopped.is_set():
                        raise _StoppedError
                    out.write(block)
                    received += len(block)
                    self._add(len(block))
        except BaseException:
            self._add(-received)  # it is tried again from the start
            raise

    def _add(self, count: int) -> None:
        with self._lock:
            self._done += count
            if self._progress:
                self._progress(self._done, self._total)


def _copy(jars: list[Jar], source: Path, folder: Path) -> None:
    """Copies the missing jars from a folder of the user's (any depth; other files in it do not matter)."""
    offered: dict[str, list[Path]] = {}
    for file in source.expanduser().rglob("*.jar"):
        offered.setdefault(file.name, []).append(file)
    missing = []
    for jar in jars:
        copy = next((file for file in offered.get(jar.file, []) if is_pinned(file, jar)), None)
        if copy is None:
            missing.append(jar.file + (" (another file than the pinned one)" if jar.file in offered else ""))
            continue
        part = folder / f"{jar.file}.part"
        shutil.copyfile(copy, part)
        part.replace(folder / jar.file)
    if missing:
        raise ServerError(f"{source}: {len(missing)} of {len(jars)} jars are missing: {first_of(missing, 10)}", fix=OFFLINE_FIX)
