"""A package's own environment: made, checked and removed in the user's data folder. Nothing of it is imported by
kgeval."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from pydantic import BaseModel, ValidationError

from kgeval.config import environment
from kgeval.errors import UsageError
from kgeval.systems.adapters.catalog import AdapterInfo
from kgeval.tables.output import write_text

MARKER = "kgeval-environment.json"
INSTALL_SECONDS = 3600
_VERSION = re.compile(r"(\d+)\.(\d+)")


class Installed(BaseModel):
    """What stands in an environment. `version`: of the wrapped package; `by`: uv or pip; `bytes`: on the disk."""

    adapter: str
    version: str
    python: str
    requirements: tuple[str, ...]
    by: str
    seconds: float
    bytes: int


def place(info: AdapterInfo) -> Path:
    """Where the adapter's environment is, or would be: below KGEVAL_SYSTEMS_DIR, else in kgeval's data folder of this
    user.

    Always absolute: it becomes a part of the PATH of processes that run in another folder.
    """
    import platformdirs

    chosen = environment("KGEVAL_SYSTEMS_DIR")
    base = Path(chosen).expanduser() if chosen else platformdirs.user_data_path("kgeval", appauthor=False) / "systems"
    return (base / info.name).absolute()


def installed(info: AdapterInfo) -> Installed | None:
    """What is installed, or None: nothing, or a part of something."""
    try:
        return Installed.model_validate_json((place(info) / MARKER).read_text(encoding="utf-8"))
    except (OSError, ValidationError):
        return None


def python_of(info: AdapterInfo) -> Path:
    """The environment's Python. Raises: UsageError if the adapter is not installed."""
    if installed(info) is None:
        raise UsageError(f"{info.name} is not installed", fix=f"kgeval system install {info.name}")
    return place(info) / "bin" / "python"


def install(info: AdapterInfo, *, python: str | None, say: Callable[[str], None]) -> Installed:
    """Makes the environment anew, with uv where there is one, else venv and pip. `python`: the interpreter (None: the
    one kgeval has).

    Raises: UsageError for a Python that the package does not work with, and with what the installer said where it
    failed. """
    from filelock import FileLock

    chosen = _python(info, python)
    folder = place(info)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(folder.with_name(f"{folder.name}.lock"), mode=0o600):
        remove(info)
        started = time.monotonic()
        # much faster than pip, and shares files between environments by links
        uv = shutil.which("uv")
        say(f"installing {', '.join((*info.alone, *info.requirements))} into {folder}")
        try:
            venv = [uv, "venv", "--quiet", "--python", chosen] if uv else [chosen, "-I", "-m", "venv"]
            _run([*venv, str(folder)], info)
            own = str(folder / "bin" / "python")
            pip = [own, "-I", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
            installer = [uv, "pip", "install", "--quiet", "--python", own] if uv else pip
            # `alone` without its own requirements: their exact pins cannot be had together any more (adapters.toml)
            for more, packages in (((), info.requirements), (("--no-deps",), info.alone)):
                if packages:
                    _run([*installer, *more, *packages], info)
            version = _check(info, folder)
        except BaseException:
            remove(info)  # a part of an environment is of no use
            raise
        record = Installed(
            adapter=info.name, version=version, python=_version_of(own), by="uv" if uv else "pip",
            requirements=(*info.alone, *info.requirements), seconds=round(time.monotonic() - started, 1),
            bytes=_size(folder),
        )
        write_text(folder / MARKER, record.model_dump_json(indent=2), kept=False)
        return record


def remove(info: AdapterInfo) -> bool:
    """Deletes the environment; false if there was none. Indexes stay: they are in folders of the user's choice."""
    folder = place(info)
    if not folder.is_dir():
        return False
    if not (folder / "pyvenv.cfg").is_file() and any(folder.iterdir()):
        raise UsageError(
            f"{folder} is no environment of kgeval's", fix="move it away, or set KGEVAL_SYSTEMS_DIR to another folder",
        )
    (folder / MARKER).unlink(missing_ok=True)  # first: where this is interrupted, nothing says any more that it is installed
    for inner in folder.iterdir():
        if inner.is_dir() and not inner.is_symlink():
            shutil.rmtree(inner)
        elif inner.name != "pyvenv.cfg":  # last: by it the rest is known as an environment the next time
            inner.unlink()
    shutil.rmtree(folder)
    return True


def _python(info: AdapterInfo, given: str | None) -> str:
    """The interpreter. Raises: UsageError for one that is not there, or that the package does not work with."""
    found = shutil.which(given) if given else sys.executable
    if found is None:
        raise UsageError(f"{given}: no such Python", fix="give the path of an interpreter with --python")
    python = str(Path(found).absolute())
    low, high = (_pair(text) for text in info.python)
    version = _version_of(python)
    if not low <= _pair(version) < high:
        what = f"{info.name} works with Python {info.python[0]} up to, but without, {info.python[1]}; {python} is {version}"
        raise UsageError(what, fix="give another interpreter with --python")
    return python


def _version_of(python: str) -> str:
    argv = [python, "-I", "-c", "import sys; sys.stdout.write(sys.version.split()[0])"]
    try:
        version = subprocess.run(
            argv, capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL, timeout=60,
        ).stdout
    except (OSError, subprocess.SubprocessError, UnicodeDecodeError):
        version = ""
    if not _VERSION.match(version):
        raise UsageError(f"{python} is no Python that runs", fix="give the path of an interpreter with --python")
    return version


def _pair(version: str) -> tuple[int, int]:
    match = _VERSION.match(version)
    return (int(match[1]), int(match[2])) if match else (0, 0)


def _run(argv: Sequence[str], info: AdapterInfo) -> None:
    """Runs an installer, beside the environment: in the working directory uv would take the package index that a uv.toml or
    pyproject.toml names there, and Python a venv.py or pip.py. Raises: UsageError with the end of what it said."""
    try:
        result = subprocess.run(
            argv, capture_output=True, text=True, check=False, timeout=INSTALL_SECONDS, stdin=subprocess.DEVNULL,
            cwd=place(info).parent,
        )
    except subprocess.TimeoutExpired as slow:
        raise UsageError(
            f"{info.name}: installing took longer than {INSTALL_SECONDS} s", fix="try again with a faster network",
        ) from slow
    except OSError as cause:
        raise UsageError(
            f"{info.name}: {argv[0]}: {cause.strerror or cause}", fix="check that it can be run",
        ) from cause
    if result.returncode != 0:
        end = "\n  ".join((result.stderr or result.stdout).strip().splitlines()[-15:])
        raise UsageError(
            f"{info.name}: the installer failed:\n  {end}", fix="correct the cause that it names, or install with another --python",
        )


def _check(info: AdapterInfo, folder: Path) -> str:
    """The version of the wrapped package, told by the environment itself."""
    code = f"import importlib.metadata as m, sys; sys.stdout.write(m.version({info.distribution!r}))"
    result = subprocess.run([str(folder / "bin" / "python"), "-I", "-c", code], capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise UsageError(f"{info.name}: {info.distribution} is not in its environment", fix=f"kgeval system install {info.name}, once more")
    return result.stdout


def _size(folder: Path) -> int:
    """Bytes of the files below; a file that is linked twice counts once."""
    seen: dict[tuple[int, int], int] = {}
    for top, _, names in os.walk(folder):
        for name in names:
            about = Path(top, name).lstat()
            seen[about.st_dev, about.st_ino] = about.st_size
    return sum(seen.values())


def listed(info: AdapterInfo) -> dict[str, object]:
    """The adapter and its state, for people and programs."""
    record = installed(info)
    state = None if record is None else record.model_dump(mode="json")
    return {"name": info.name, "title": info.title, "modes": list(info.modes), "installed": state, "folder": str(place(info))}
