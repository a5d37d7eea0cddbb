"""Settings of metrics from what people write: names, ranges, and what each one is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from math import isfinite

from kgeval.errors import UsageError, did_you_mean
from kgeval.metrics.definition import MetricSettings

SettingValue = str | float | int | bool


@dataclass(frozen=True)
class SettingOption:
    """A setting for people. `low`, `high`: range of a number; `choices`: of a word."""

    what: str
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()


OPTIONS: Mapping[str, SettingOption] = {
    "accuracy_weight": SettingOption("weight of factual correctness in answer_accuracy; the rest is semantic similarity", 0, 1),
    "relevant_from": SettingOption("rating (0, 0.5, 1) from which a context counts as relevant", 0, 1),
    "tau": SettingOption("cosine from which two entities are joined by SIMILAR", 0, 1),
    "delta": SettingOption("largest cost of a path that still matches", 0, 100),
    "edge_cost": SettingOption("cost of head-relation and relation-tail", 0, 100),
    "edge_weight": SettingOption("weight of head-relation and relation-tail for communities", 0, 100),
    "undirected": SettingOption("walk relations and SIMILAR both ways when matching"),
    "community": SettingOption("algorithm of the communities", choices=("leiden", "louvain")),
    "runs": SettingOption("partitions that the community score is averaged over", 1, 1000),
    "community_seed": SettingOption("seed of the partitions into communities", 0, 2**31 - 1),
    "candidates": SettingOption("triples of the stored graph shown to the judge in one call, at most", 1, 1000),
    "query_timeout": SettingOption("seconds a query to the stored graph may take", 0.01, 86_400),
    "ordered": SettingOption("compare the rows of Cypher results in their order"),
    "bleu_tokenizer": SettingOption("how bleu cuts words: European, any Unicode, Chinese, letters", choices=("13a", "intl", "zh", "char")),
    "bertscore_model": SettingOption("model of bertscore: a name of the hub or a folder (other languages: bert-base-multilingual-cased)"),
}
_WORDS = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}


def make_settings(given: Mapping[str, SettingValue]) -> MetricSettings:
    """The default settings with `given` put in.

    Raises: UsageError naming every unknown name and every value out of its range.
    """
    values: dict[str, SettingValue] = {}
    faults = []
    defaults = {field.name: field.default for field in fields(MetricSettings)}
    for name, value in given.items():
        if name not in OPTIONS:
            faults.append(f"'{name}': no such setting{did_you_mean(name, OPTIONS)}")
            continue
        try:
            values[name] = _converted(value, OPTIONS[name], defaults[name])
        except ValueError as cause:
            faults.append(f"{name} = '{value}': {cause}")
    if faults:
        raise UsageError("faulty settings: " + "; ".join(faults), fix=f"settings are {', '.join(OPTIONS)}")
    return replace(MetricSettings(), **values)  # type: ignore[arg-type]


def _converted(value: SettingValue, option: SettingOption, default: object) -> SettingValue:
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
    if isinstance(default, str):
        if not str(value).strip():
            raise ValueError("is empty")
        return str(value).strip()
    return _number(value, option, whole=isinstance(default, int))


def _number(value: SettingValue, option: SettingOption, *, whole: bool) -> float | int:
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
