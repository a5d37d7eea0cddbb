"""Reading kgeval.toml. One that nobody named, found in the working directory, may run code, send secrets or leave its folder only when it
was trusted: its bytes, and those of the code that it names, at this place. What is trusted stands in the user's state folder, an entry a
file, as direnv has it."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal

from kgeval.config.powers import Deed, deeds_of, is_owned
from kgeval.config.reading import DEFAULT_FILE, Config, parse
from kgeval.ending import open_new, unused_name
from kgeval.errors import ConfigError
from kgeval.format import for_terminal

State = Literal["trusted", "changed", "gone"]


def load(path: Path | None = None, *, named: bool = True) -> Config:
    """The configuration of `path`, or of ./kgeval.toml where there is one, or the defaults. `named`: whether it was the user who named
    `path`.

    Raises: ConfigError that names the file and every faulty key; for a file that is neither named nor trusted, with all that it would do.
    """
    config, faults = read(path, named=named)
    if faults:
        raise ConfigError(f"{path or DEFAULT_FILE}: " + "; ".join(faults), fix="known keys: kgeval help configuration")
    return config


def read(path: Path | None = None, *, named: bool = True) -> tuple[Config, list[str]]:
    """The configuration without its faulty keys, and one line for each of those: for who has more to check before giving up.

    Raises: ConfigError for a file that is not there or is no TOML, or that is neither named nor trusted and would do more than compute.
    """
    if path is None and not Path(DEFAULT_FILE).is_file():
        return Config(), []
    file = ConfigFile.read(path or Path(DEFAULT_FILE))
    if (path is None or not named) and file.deeds and not file.is_trusted():
        raise ConfigError(
            f"{file.path} was found here, and is neither named nor trusted. What it does:{file.told()}",
            fix=f"read it, then kgeval trust {file.path}; or name it: --config FILE, kgeval run FILE",
        )
    return file.config, file.faults


def look_up(path: Path | None = None) -> Config:
    """As `load`, for who runs and sends nothing of what the file says, trusted or not. Raises: ConfigError for a faulty file."""
    if path is None and not Path(DEFAULT_FILE).is_file():
        return Config()
    return ConfigFile.read(path or Path(DEFAULT_FILE)).sound()


@dataclass(frozen=True)
class ConfigFile:
    """A file as it was read, once: what is judged is what is used. `owned`: whether it is this user's, or the system's."""

    path: Path
    content: bytes
    owned: bool
    config: Config
    faults: list[str]

    @classmethod
    def read(cls, path: Path) -> ConfigFile:
        """Raises: ConfigError for a file that is not there, or is no TOML."""
        if not path.is_file():
            raise ConfigError(f"{path}: no such file", fix="give the path of a kgeval.toml with --config")
        try:
            with path.open("rb") as stream:
                content, status = stream.read(), os.fstat(stream.fileno())
        except OSError as cause:
            raise ConfigError(f"{path}: {cause.strerror or cause}", fix="the file must be readable") from cause
        return cls(path, content, is_owned(status), *parse(content, path))

    def sound(self) -> Config:
        """The configuration. Raises: ConfigError with every faulty key."""
        if self.faults:
            raise ConfigError(f"{self.path}: " + "; ".join(self.faults), fix="known keys: kgeval help configuration")
        return self.config

    @property
    def place(self) -> Path:
        """Where it is: the real folder with the name in it. A link counts where it stands, for its relative paths mean that folder."""
        return self.path.parent.resolve() / self.path.name

    @cached_property
    def deeds(self) -> list[Deed]:
        """What it would do beside computing in its folder."""
        return deeds_of(self.config, self.place.parent, owned=self.owned)

    @cached_property
    def code(self) -> list[Path]:
        """The files that it names whose code it would run, as far as they can be told."""
        return sorted({file for deed in self.deeds for file in deed.files})

    def told(self) -> str:
        """Its deeds, a line each."""
        return "".join(f"\n  {for_terminal(' '.join(str(deed).split()))}" for deed in self.deeds)

    def is_trusted(self) -> bool:
        """Whether it was trusted as it is, here: elsewhere its relative names mean other files."""
        return Path.cwd().resolve() == self.place.parent and self._entry().is_file()

    def trust(self) -> None:
        """Writes down that it is trusted as it is now, in place of how it was before. Raises: ConfigError."""
        self.revoke()
        entry = self._entry()
        try:
            entry.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            unfinished = unused_name(entry.parent, ".")
            try:
                with os.fdopen(open_new(unfinished), "wb") as file:
                    file.write(os.fsencode(self.place))
                unfinished.replace(entry)
            finally:
                unfinished.unlink(missing_ok=True)
        except OSError as cause:
            raise ConfigError(f"{entry.parent}: {cause.strerror or cause}", fix="make it a folder that you can write") from cause

    def revoke(self) -> bool:
        """Takes back that it is trusted, however it was. False where it was not."""
        return revoke(self.place)

    def _entry(self) -> Path:
        digest = hashlib.sha256(os.fsencode(self.place) + b"\0" + hashlib.sha256(self.content).digest())
        for file in self.code:
            found = b"absent"
            with suppress(OSError, ValueError):
                found = hashlib.sha256((self.place.parent / file).read_bytes()).digest()
            digest.update(os.fsencode(file) + b"\0" + found)
        return trust_folder() / digest.hexdigest()


def trust_folder() -> Path:
    """Where it is written down which files are trusted."""
    import platformdirs

    return platformdirs.user_state_path("kgeval", appauthor=False) / "trusted"


def revoke(place: Path) -> bool:
    """Takes back that the file at this place is trusted. False where it was not. Raises: ConfigError."""
    entries = [entry for entry, path in _entries() if path == place]
    try:
        for entry in entries:
            entry.unlink(missing_ok=True)
    except OSError as cause:
        raise ConfigError(f"{trust_folder()}: {cause.strerror or cause}", fix="make it a folder that you can write") from cause
    return bool(entries)


def trusted_files() -> list[tuple[Path, State]]:
    """All files that were trusted, by name, and whether they still are: changed ones are not."""
    return sorted((path, _state(entry, path)) for entry, path in _entries())


def _entries() -> Iterator[tuple[Path, Path]]:
    folder = trust_folder()
    for entry in sorted(folder.iterdir()) if folder.is_dir() else ():
        if not entry.name.startswith("."):
            with suppress(OSError):
                yield entry, Path(os.fsdecode(entry.read_bytes()))


def _state(entry: Path, path: Path) -> State:
    if not path.is_file():
        return "gone"
    try:
        return "trusted" if ConfigFile.read(path)._entry() == entry else "changed"
    except ConfigError:
        return "changed"
