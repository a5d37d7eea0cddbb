"""The run manifest: everything needed to say how a result came to be. No secrets, no user's texts."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

from pydantic import JsonValue

from kgeval import __version__
from kgeval.records import InputFile, ModelRef, ModelUse, RunManifest, ServerInfo

LIBRARIES = (
    "neo4j", "graphdatascience", "scipy", "pydantic", "rapidfuzz", "rouge-score", "openai", "lancedb", "sentence-transformers", "spacy",
)
SECRET = ("password", "token", "key", "secret")


@dataclass(frozen=True)
class ModelUsage:
    """What a run asked of models: which, how much, with which prompts (name -> hash)."""

    models: Sequence[ModelRef] = ()
    use: Sequence[ModelUse] = ()
    prompt_hashes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Started:
    """When and with what a command was started. `names`: of files with rows that were handed over as objects, what the manifest calls
    them."""

    command: str
    arguments: Mapping[str, JsonValue]
    at: datetime = field(default_factory=lambda: datetime.now(UTC))
    clock: float = field(default_factory=time.perf_counter)
    names: Mapping[str, str] = field(default_factory=dict)

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return round(time.perf_counter() - self.clock, 3)

    def manifest(
        self, *, server: ServerInfo | None = None, hashes: Mapping[str, str] | None = None, inputs: Iterable[Path] = (),
        seed: int | None = None, exit_code: int = 0, asked: ModelUsage | None = None,
    ) -> RunManifest:
        """The finished manifest; seconds are counted up to this call. `asked`: what models were asked, where some were."""
        asked = asked or ModelUsage()
        kept = {k: v for k, v in self.arguments.items() if not _unset(v) and not any(s in k for s in SECRET)}
        return RunManifest(
            kgeval=__version__, command=self.command, arguments={name: self._named(value) for name, value in kept.items()},
            libraries=_versions(), server=server, inputs=[input_file(path, self.names.get(str(path))) for path in inputs],
            query_hashes=dict(sorted((hashes or {}).items())), seed=seed,
            started=self.at.isoformat(timespec="seconds"), seconds=self.seconds, exit_code=exit_code,
            models=list(asked.models), model_use=list(asked.use), prompt_hashes=dict(sorted(asked.prompt_hashes.items())),
        )

    def _named(self, value: JsonValue) -> JsonValue:
        """A value of the manifest with names for the paths in it."""
        if isinstance(value, list):
            return [self._named(one) for one in value]
        return self.names.get(value, value) if isinstance(value, str) else value


def _unset(value: JsonValue) -> bool:
    """An option that was not given: null, an empty list or table, or a flag that is off. 0 is a value."""
    return value is None or value is False or value in ([], {})


def _versions() -> dict[str, str]:
    found = {}
    for name in LIBRARIES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def input_file(path: Path, name: str | None = None) -> InputFile:
    """The record of a file that a run read. `name`: what it is called there, if not by its path."""
    with path.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    return InputFile(path=name or str(path), sha256=digest, bytes=path.stat().st_size)
