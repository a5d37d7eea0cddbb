"""What the golden scripts share: where the files go, and in which form."""

from __future__ import annotations

import json
import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parents[2] / "tests" / "unit" / "goldens"


def write(name: str, packages: tuple[str, ...], cases: list[dict[str, Any]]) -> None:
    """One case a line, so that a change shows which case changed. NaN is written as the text "nan"."""
    made = {"python": platform.python_version(), **{package: version(package) for package in packages}}
    lines = ",\n".join("  " + json.dumps(_plain(case), ensure_ascii=False) for case in cases)
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / f"{name}.json").write_text(f'{{"made_with": {json.dumps(made)},\n "cases": [\n{lines}\n]}}\n', encoding="utf-8")
    print(f"{name}: {len(cases)} cases, {made}")


def case(metric: str, name: str, theirs: Any = None, **given: Any) -> dict[str, Any]:
    """A case as the files have it."""
    return {"metric": metric, "name": name, "given": given, "theirs": theirs}


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    if hasattr(value, "item"):  # numpy's numbers
        value = value.item()
    return "nan" if isinstance(value, float) and value != value else value
