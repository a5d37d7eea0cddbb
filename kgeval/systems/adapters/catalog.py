"""The table of adapters: what each package is installed with, its modes, settings and presets."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from difflib import get_close_matches
from functools import cache
from math import inf
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from kgeval.errors import UsageError

SettingType = Literal["whole number", "number", "yes or no", "text"]
PRESETS = ("xiang",)
XIANG_TEMPERATURE = 0.7  # [X H.2]: of the generation, for all systems
_HERE = Path(__file__).parent


class AdapterSetting(BaseModel):
    """One setting. `package`: the package's own default (None: none that is fixed); `xiang`: the preset's; `answer`: it can be given
    when answering, the others are the index's."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    type: SettingType
    about: str
    package: int | float | bool | str | None = None
    xiang: int | float | bool | str | None = None
    answer: bool = False


class AdapterInfo(BaseModel):
    """One adapter. `distribution`: the package whose version counts; `alone`: installed without its own requirements.

    `python`: first version that works, and the first that does not. `tried`: the version of kgeval's own end-to-end run. `modes`: the
    first is the default. `neo4j`: it works on the database of NEO4J_URI. `card`: the row of [X table 18].
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    title: str
    distribution: str
    requirements: tuple[str, ...]
    alone: tuple[str, ...] = ()
    python: tuple[str, str]
    tried: str
    modes: tuple[str, ...]
    neo4j: bool = False
    card: tuple[str, str, str, str, str]
    settings: tuple[AdapterSetting, ...] = Field(default=())

    @property
    def module(self) -> str:
        """The script, as a module of the scripts' folder."""
        return f"adapter_{self.name.replace('-', '_')}"

    @property
    def configuration_card(self) -> dict[str, JsonValue]:
        """The row of [X table 18]."""
        names = ("knowledge_type", "index_content", "query_input", "granularity", "llm_context")
        return dict(zip(names, self.card, strict=True))

    def preset(self, name: str | None) -> dict[str, JsonValue]:
        """The settings of a preset; None: none. Raises: UsageError."""
        if name is None:
            return {}
        if name not in PRESETS:
            raise UsageError(f"there is no preset {name}", fix=f"presets: {', '.join(PRESETS)}")
        return {
            "temperature": XIANG_TEMPERATURE, **{setting.name: setting.xiang for setting in self.settings if setting.xiang is not None},
        }

    def checked(self, given: Mapping[str, JsonValue], *, answering: bool) -> dict[str, JsonValue]:
        """The settings with the right types. Raises: UsageError that names all that are unknown, of the wrong type or
        too late."""
        settings = {setting.name: setting for setting in self.settings}
        faults, checked = [], dict[str, JsonValue]()
        for name, value in given.items():
            if name == "model":
                checked[name] = value
                faults += [] if isinstance(value, str) and value.strip() else [f"model: {value!r} is no name"]
            elif name == "temperature":
                checked[name] = value
                number = isinstance(value, int | float) and not isinstance(value, bool)
                faults += [] if number and 0 <= float(str(value)) <= 2 else [f"temperature: {value!r} is not between 0 and 2"]
            elif name not in settings:
                near = get_close_matches(name, settings, 1)
                faults.append(f"{name}: no such setting" + (f"; did you mean {near[0]}?" if near else ""))
            elif answering and not settings[name].answer:
                faults.append(f"{name}: belongs to the index; give it to kgeval system index, with another folder")
            elif (read := _read(settings[name].type, value)) is None:
                faults.append(f"{name}: {value!r} is no {settings[name].type}")
            else:
                checked[name] = read
        if faults:
            raise UsageError(
                f"{self.name}: " + "; ".join(faults), fix=f"kgeval system show {self.name} lists the settings",
            )
        return checked


def _read(kind: SettingType, value: JsonValue) -> JsonValue:
    """The value as the type has it, or None."""
    if kind == "text":
        return value if isinstance(value, str) else None
    if kind == "yes or no":
        words: dict[str, bool] = {"yes": True, "true": True, "no": False, "false": False}
        return value if isinstance(value, bool) else words.get(value.strip().lower()) if isinstance(value, str) else None
    if isinstance(value, str):
        try:
            value = int(value) if kind == "whole number" else float(value)
        except ValueError:
            return None
    if isinstance(value, int):
        return value if value >= 0 and not isinstance(value, bool) else None
    return value if isinstance(value, float) and kind == "number" and 0 <= value < inf else None


@cache
def catalog() -> Mapping[str, AdapterInfo]:
    """All adapters by name."""
    table = tomllib.loads((_HERE / "adapters.toml").read_text(encoding="utf-8"))
    return {name: AdapterInfo(name=name, **fields) for name, fields in table.items()}


def adapter(name: str) -> AdapterInfo:
    """The adapter of this name. Raises: UsageError."""
    known = catalog()
    if name not in known:
        near = get_close_matches(name, known, 1)
        raise UsageError(f"there is no adapter {name}" + (f"; did you mean {near[0]}?" if near else ""), fix=f"one of {', '.join(known)}")
    return known[name]


def scripts() -> Path:
    """The folder of the scripts."""
    return _HERE / "scripts"
