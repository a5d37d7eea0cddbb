"""Thresholds and waivers of kgeval.toml: read with every fault, and completed by flags."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kgeval.errors import ConfigError

if TYPE_CHECKING:
    from kgeval.auditing.gates import Entry
    from kgeval.config import Config


def load_config(path: Path | None) -> Config:
    """The configuration. Raises: ConfigError with every fault of the file, those of thresholds and waivers too."""
    from kgeval import config as configuration

    config, faults = configuration.read(path)
    faults = [*faults, *threshold_faults(config), *waiver_faults(config)]
    if faults:
        raise ConfigError(
            f"{path or configuration.DEFAULT_FILE}: " + "; ".join(faults),
            fix="known keys: kgeval help configuration; gates: kgeval help gates",
        )
    return config


def threshold_faults(config: Config) -> list[str]:
    """What is wrong with `[audit.thresholds]`, each with its key."""
    from kgeval.auditing.gates import read_limits

    return read_limits(_entries(config))[1]


def waiver_faults(config: Config) -> list[str]:
    """What is wrong with `[[ignore]]`, each with the rule and match that it has: a number would be another one where one is left out."""
    from kgeval.auditing.gates.waivers import waiver_faults as faults_of
    from kgeval.auditing.rulebook import load_rules

    joining = joining_checks()
    known = [*load_rules(), *joining]
    return [
        f"ignore (rule {one.rule[:60]}{f', match {one.match[:60]}' if one.match else ''}): {fault}"
        for one in config.ignore for fault in faults_of(one.rule, one.match, known, joining)
    ]


def joining_checks() -> dict[str, str]:
    """The checks that only other reports bring (--with), with their groups."""
    from kgeval.auditing.accuracy.findings import AILMENTS
    from kgeval.auditing.completeness.run import ADVICE

    return {one.rule_id: "accuracy" for kind in AILMENTS.values() for one in kind} | dict.fromkeys(ADVICE, "completeness")


def threshold_texts(config: Config, flags: Sequence[str]) -> tuple[str, ...]:
    """The thresholds in force as flags, for the manifest: those of the file whose check or figure no flag names, then the flags."""
    from kgeval.auditing.gates import entry_of
    from kgeval.stats.thresholds import split

    named = {one.id for one in map(entry_of, split(flags)) if not isinstance(one, str)}
    own = (f"{one.id}{f':{one.severity}' if one.severity else ''}{one.text}" for one in _entries(config) if one.id not in named)
    return (*own, *flags)


def _entries(config: Config) -> Iterator[Entry]:
    from kgeval.auditing.gates import Entry

    for name, value in config.audit.thresholds.items():
        where = f"audit.thresholds.{name}"
        if isinstance(value, dict):
            yield from (Entry(f"{where}.{severity}", name, severity, _text(one)) for severity, one in value.items())
        else:
            yield Entry(where, name, None, _text(value))


def _text(value: float | str) -> str:
    """As a flag has it: a number, and a text without a sign, follows `=`."""
    text = str(value).strip()
    return text if text.startswith(("<", ">", "=")) else f"={text}"
