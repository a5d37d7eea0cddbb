"""What the flags of `kgeval audit` say, read and checked before a connection is made. All faults of a flag come at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kgeval.errors import InputError, UsageError

KINDS = {bool: "yes or no", int: "whole number", float: "finite number", str: "text"}


def parse_settings(given: list[str]) -> dict[str, Any]:
    """`ID.NAME=VALUE` in the type of the setting's default; a later one wins. All faults at once."""
    from kgeval.auditing.rulebook import load_rules

    pairs = [(name.strip(), value.strip()) for name, _, value in (text.partition("=") for text in given)]
    found: dict[str, Any] = {}
    faults = []
    for name, value in pairs:
        rule_id, _, setting = name.partition(".")
        rule = load_rules().get(rule_id)
        if rule is None or setting not in rule.settings:
            faults.append(f"'{name}' is no setting")
            continue
        kind = type(rule.settings[setting])
        try:
            found[name] = _setting(kind, value)
        except ValueError:
            faults.append(f"'{name}={value}' is no {KINDS[kind]}")
    if faults:
        raise UsageError("faulty settings: " + "; ".join(faults), fix="kgeval rule show ID lists a check's settings")
    return found


def _setting(kind: type, value: Any) -> Any:
    """The value in the setting's type. Raises: ValueError."""
    import math

    if kind is bool:
        words = {"true": True, "1": True, "yes": True, "on": True, "false": False, "0": False, "no": False, "off": False}
        if str(value).casefold() not in words:
            raise ValueError(value)
        return words[str(value).casefold()]
    number = kind(value)
    if kind is not str and not (math.isfinite(number) and abs(number) < 2**62):
        raise ValueError(value)
    return number


def texts(path: Path) -> list[str]:
    """The texts of a file, or of all .txt and .md files of a folder."""
    files = [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.suffix in (".txt", ".md"))
    if not files:
        raise InputError(f"{path}: no .txt or .md files", fix="give a text file, or a folder that holds some")
    try:
        return [file.read_text(encoding="utf-8") for file in files]
    except (UnicodeDecodeError, OSError) as cause:
        raise InputError(f"{path}: {cause}", fix="the corpus must be text in UTF-8") from cause
