"""Layout files: reading, checking, and overriding single keys."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError

from kgeval.config import explain
from kgeval.errors import ConfigError, did_you_mean
from kgeval.limits import parse_toml
from kgeval.records import Layout, Record

FOLDER = Path(__file__).parents[1] / "profiles"
ALWAYS_STRUCTURE = [
    "KgevalPair*", "__Community__", "__Covariate__", "__KgevalGraph__", "__KgevalMerge__", "_Bloom_*", "_Neodash_*",
]
OFTEN_STRUCTURE = ["Session?", "Message?"]  # a chat's; of a conference or a company they are entities (graph.layouts.proof)
SIGNAL = re.compile(
    r"^(?:(?:label|type|holder|named-by):.+|labels:.+\+.+|link:.+-.+->.+|(?:property|relation-property|index|typed):.+\..+)$", re.DOTALL
)


class Detect(Record):
    """What speaks for a layout. Each entry is a signal (`*` is any label or type):

    `label:L`, `type:T`: there are nodes with the label, relations of the type. `labels:A+B`: nodes with both labels.
    `link:A-T->B`: relations of the type leave A and reach B. `property:L.K`, `relation-property:T.K`: at least half of the
    first 200 nodes of the label, or relations of the type, have the property. `holder:K`: there are nodes with the property.
    `typed:K.T`: most nodes with property K carry the value of T as a label. `named-by:K`: the first 1,000 nodes have K and no
    other property that could be a name. `index:L.K`: there is an index on it.

    `needs` must all hold; then one of `marks` (what only this writer leaves) makes the layout fit, or, if no layout fits
    by its marks, all of `fallback`. Any of `against` rules it out. `hints` never decide, they are reported.
    """

    needs: list[str] = Field(default_factory=list)
    marks: list[str] = Field(default_factory=list)
    fallback: list[str] = Field(default_factory=list)
    against: list[str] = Field(default_factory=list)
    hints: list[str] = Field(default_factory=list)

    def signals(self) -> list[str]:
        """All signals, in the order of the fields."""
        return [*self.needs, *self.marks, *self.fallback, *self.against, *self.hints]


class Profile(Layout):
    """A layout file: the keys of the layout, and how to recognise it."""

    detect: Detect = Field(default_factory=Detect)

    @property
    def layout(self) -> Layout:
        """The layout alone, without what detection needs."""
        return Layout.model_validate(self.model_dump(exclude={"detect"}))


def names() -> list[str]:
    """The built-in layouts' names; `generic` is last."""
    return sorted((p.stem for p in FOLDER.glob("*.toml")), key=lambda name: (name == "generic", name))


def profiles() -> dict[str, Profile]:
    """Every built-in layout by name; `generic` is last."""
    return {name: load_profile(name) for name in names()}


def load_profile(name_or_path: str) -> Profile:
    """A built-in layout by name, or a layout file by path.

    A file may say `extends = "NAME"`: it then starts from that layout and replaces the keys it names.
    Raises: ConfigError that names the file and every faulty key, or lists the known names.
    """
    builtin = FOLDER / f"{name_or_path}.toml"
    # A name with a slash is a path, and never leads out of the folder.
    if re.fullmatch(r"[\w.-]+", name_or_path) and builtin.is_file():
        return _validated(builtin, _parsed(builtin))
    path = Path(name_or_path)
    if not path.is_file():
        raise ConfigError(
            f"there is no layout '{name_or_path}', and no file of that name",
            fix=f"known layouts: {', '.join(names())}; or give the path of a layout file (kgeval layout init writes one)",
        )
    return _validated(path, _parsed(path))


@cache
def fixes_types(name: str) -> bool | None:
    """Whether the writer of a layout uses the relation types that its file lists, whatever it found; None for a layout that does not come
    with kgeval. (A bound layout lists all types.)"""
    return bool(load_profile(name).relation_types) if name in names() else None


def override(layout: Layout, mapping: Mapping[str, Any]) -> Layout:
    """The layout with single keys replaced. Text values are turned into what the key holds (`a,b` into a list).

    An empty text empties a key. Raises: ConfigError that names every unknown key and wrong value.
    """
    if not mapping:
        return layout
    data = dict(layout)
    unknown = sorted(set(mapping) - set(data))
    wrong = [f"{key}: unknown key{did_you_mean(key, data)}" for key in unknown]
    data |= {key: _coerced(data[key], key, value) for key, value in mapping.items() if key in data}
    try:
        changed = type(layout).model_validate(data)
    except ValidationError as cause:
        wrong += explain(cause)
    if wrong:
        raise ConfigError("layout: " + "; ".join(wrong), fix=f"keys of a layout: {', '.join(sorted(Layout.model_fields))}")
    return changed


def _coerced(old: Any, key: str, value: Any) -> Any:
    if not isinstance(value, str):
        return value
    if isinstance(old, list):
        return [part.strip() for part in value.split(",") if part.strip()]
    if value == "" and key != "name":
        return None
    return {"true": True, "false": False}.get(value.lower(), value) if isinstance(old, bool) else value


def _parsed(path: Path) -> dict[str, Any]:
    try:
        return parse_toml(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as cause:
        raise ConfigError(f"{path}: {cause}", fix="a layout file is TOML in UTF-8; kgeval layout init writes one") from cause


def _validated(path: Path, data: dict[str, Any]) -> Profile:
    """The profile of a parsed file; every fault at once."""
    base: dict[str, Any] = {}
    extends = data.pop("extends", None)
    if extends is not None:
        if extends not in names():
            raise ConfigError(f"{path}: extends: there is no layout '{extends}'", fix=f"known layouts: {', '.join(names())}")
        base = load_profile(str(extends)).model_dump(exclude={"detect", "name"})
    known = set(Profile.model_fields)
    wrong = [f"{key}: unknown key{did_you_mean(key, known)}" for key in data if key not in known]
    try:
        profile = Profile.model_validate({"name": path.stem, **base, **{k: v for k, v in data.items() if k in known}})
    except ValidationError as cause:
        raise _faulty(path, [*wrong, *explain(cause)]) from cause
    wrong += _contradictions(profile)
    if wrong:
        raise _faulty(path, wrong)
    # labels that writers use for themselves are never entities: communities, chat history, Bloom scenes, our own marks
    extra = ALWAYS_STRUCTURE + (OFTEN_STRUCTURE if profile.entity_labels == ["*"] and profile.scope_label is None else [])
    used = {*profile.entity_labels, *profile.chunk_labels, *profile.document_labels, *profile.entity_excluded_labels}
    excluded = [*profile.entity_excluded_labels, *(label for label in extra if not {label, label.removesuffix("?")} & used)]
    return profile.model_copy(update={"entity_excluded_labels": excluded})


def _faulty(path: Path, wrong: list[str]) -> ConfigError:
    fix = "the keys are explained in kgeval help layouts; kgeval layout show generic prints a complete file"
    return ConfigError(f"{path}: " + "; ".join(wrong), fix=fix)


def _contradictions(profile: Profile) -> list[str]:
    """What cannot be meant: no entities, no names, a scope of two kinds, a signal that is none."""
    faults = []
    if not profile.entity_labels:
        faults.append('entity_labels: is empty (["*"] means every label that is not excluded)')
    if not profile.name_keys:
        faults.append("name_keys: is empty (the property that holds an entity's name)")
    if profile.scope_label and profile.scope_property:
        faults.append("scope_label, scope_property: only one of the two can part the graphs")
    faults += [f"detect: '{signal}' is no signal" for signal in profile.detect.signals() if not SIGNAL.match(signal)]
    return faults
