"""Settings of metrics from what people write: names, ranges, and what each one is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from math import isfinite

from kgeval.errors import UsageError, did_you_mean
from kgeval.metrics.definition import Settings

SettingValue = str | float | int | bool


@dataclass(frozen=True)
class Option:
    """A setting for people. `low`, `high`: range of a number; `choices`: of a word."""

    what: str
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()


OPTIONS: Mapping[str, Option] = {
    "accuracy_weight": Option("weight of factual correctness in answer_accuracy; the rest is semantic similarity", 0, 1),
    "relevant_from": Option("rating (0, 0.5, 1) from which a context counts as relevant", 0, 1),
    "tau": Option("cosine from which two entities are joined by SIMILAR", 0, 1),
    "delta": Option("largest cost of a path that still matches", 0, 100),
    "edge_cost": Option("cost of head-relation and relation-tail", 0, 100),
    "edge_weight": Option("weight of head-relation and relation-tail for communities", 0, 100),
    "undirected": Option("walk relations and SIMILAR both ways when matching"),
    "community": Option("algorithm of the communities", choices=("leiden", "louvain")),
    "runs": Option("partitions that the community score is averaged over", 1, 1000),
    "seed": Option("seed of partitions", 0, 2**31 - 1),
    "candidates": Option("triples of the stored graph shown to the judge in one call, at most", 1, 1000),
    "query_timeout": Option("seconds a query to the stored graph may take", 0.01, 86_400),
    "ordered": Option("compare the rows of Cypher results in their order"),
}
_WORDS = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}


def make_settings(given: Mapping[str, SettingValue]) -> Settings:
    """The default settings with `given` put in.

    Raises: UsageError naming every unknown name and every value out of its range.
    """
    found: dict[str, SettingValue] = {}
    faults = []
    defaults = {field.name: field.default for field in fields(Settings)}
    for name, value in given.items():
        if name not in OPTIONS:
            faults.append(f"'{name}': no such setting{did_you_mean(name, OPTIONS)}")
            continue
        try:
            found[name] = _converted(value, OPTIONS[name], defaults[name])
        except ValueError as cause:
            faults.append(f"{name} = '{value}': {cause}")
    if faults:
        raise UsageError("faulty settings: " + "; ".join(faults), fix=f"settings are {', '.join(OPTIONS)}")
    return replace(Settings(), **found)  # type: ignore[arg-type]


def parse_pairs(given: list[str]) -> dict[str, SettingValue]:
    """`NAME=VALUE` each; a later one wins. Raises: UsageError for one without a sign of equality."""
    wrong = [text for text in given if "=" not in text]
    if wrong:
        raise UsageError("faulty settings: " + ", ".join(f"'{text}'" for text in wrong), fix="write NAME=VALUE, for example tau=0.8")
    pairs = (text.partition("=") for text in given)
    return {name.strip(): value.strip() for name, _, value in pairs}


def _converted(value: SettingValue, option: Option, default: object) -> SettingValue:
    """The value in the type of the default. Raises: ValueError with the words for people."""
    if isinstance(default, bool):
        word = str(value).lower()
        if word not in _WORDS:
            raise ValueError("is neither true nor false")
        return _WORDS[word]
    if option.choices:
        if value not in option.choices:
            raise ValueError(f"is none of {', '.join(option.choices)}")
        return value
    return _number(value, option, whole=isinstance(default, int))


def _number(value: SettingValue, option: Option, *, whole: bool) -> float | int:
    if isinstance(value, bool):  # TOML has true, and float(True) is 1
        raise ValueError("is no number")
    try:
        number = float(value)
    except ValueError as cause:
        raise ValueError("is no number") from cause
    low, high = option.low, option.high
    if not isfinite(number) or (low is not None and number < low) or (high is not None and number > high):
        raise ValueError(f"is not between {low:g} and {high:g}")
    if whole and number != int(number):
        raise ValueError("is no whole number")
    return int(number) if whole else number
