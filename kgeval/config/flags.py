"""One definition of an option: a field of an options class is a keyword of the library, a flag, a key of kgeval.toml and an argument in
the manifest. The field has the name, the type, the default and the description; a Flag says what the command line shows otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

HOUR, DAY = 3_600, 86_400  # seconds


@dataclass(frozen=True)
class Flag:
    """How a field looks on the command line. `name`: where it is not the field's own (several: with spaces between); `short`: one letter;
    `metavar`: what stands for a value in the help; `heading`: the part of the help; `envvar`: a variable beside KGEVAL_COMMAND_NAME;
    `commas`: the parts of one value are values; `values`: for a field of several flags, each with its value and its help."""

    name: str = ""
    metavar: str | None = None
    short: str = ""
    heading: str = ""
    envvar: str | None = None
    commas: bool = False
    values: Mapping[str, tuple[Any, str]] = field(default_factory=dict)


@dataclass(frozen=True)
class Unit:
    """The unit of a number, for messages: "seconds"."""

    name: str


@dataclass(frozen=True)
class Folder:
    """Marks a field that is a folder: a file is refused."""


@dataclass(frozen=True)
class Written:
    """Marks a field of files that will be written: a name that ends in / is a folder."""


PowerKind = Literal["word", "path", "metric", "system", "address", "model", "pipeline", "settings", "switch", "flags"]


@dataclass(frozen=True)
class Power:
    """Marks a field by which a file could do harm: run code, send secrets, leave its folder, delete, cost money. Such
    a value counts only in a file that was named or is trusted (config/powers.py). A field of paths needs no mark.

    `kind`: how its value is judged. path: a text that may be a file; metric: FILE.py:NAME; system: as --system takes
    it; address; model: the name of one, or a folder, which may hold code; pipeline: of spaCy; settings: of systems and
    metrics; switch: whatever is set; flags: of other commands, each judged as the field that it is; word: harmless.
    `what`: of an address what is sent there, of a switch what it does.
    """

    kind: PowerKind
    what: str = ""
