"""The budget of a whole run: what is left of it for the next stage, and what a stage has spent by its own manifest."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from kgeval.config import LimitsSection
from kgeval.run.stages import Stage


def left(limits: LimitsSection, stage: Stage, *, cost: float, calls: int) -> list[str]:
    """The flags that give a stage what is left of the run's budget; none for a stage that asks no model."""
    words: list[str] = []
    if stage.asks and limits.cost is not None:
        words += ["--cost-limit", f"{_least(stage, '--cost-limit', max(0.0, limits.cost - cost)):.6f}"]
    if stage.asks and limits.calls is not None:
        words += ["--max-calls", f"{_least(stage, '--max-calls', max(0, limits.calls - calls)):.0f}"]
    return words


def _least(stage: Stage, flag: str, left: float) -> float:
    """What is left of the run's, or what the stage itself is given, if that is less."""
    own = [float(word) for before, word in pairwise(stage.argv) if before == flag]
    return min([left, *own])


def asked(outputs: Sequence[Path]) -> tuple[int | None, float | None]:
    """Calls and USD that a stage's manifest tells; null where none of its files has one."""
    for path in outputs:
        for one in (path.with_name(path.name + ".run.json"), path.with_suffix(".run.json"), path):
            use = _use(one) if one.suffix == ".json" and one.is_file() else None
            if use is not None:
                costs = [stage.get("cost") for stage in use if isinstance(stage, dict)]
                calls = sum(stage.get("calls") or 0 for stage in use if isinstance(stage, dict))
                known = [cost for cost in costs if isinstance(cost, int | float)]
                return calls, sum(known) if known else None
    return None, None


def _use(path: Path) -> list[object] | None:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    run = found.get("run", found) if isinstance(found, dict) else None
    use = run.get("model_use") if isinstance(run, dict) else None
    return use if isinstance(use, list) else None
