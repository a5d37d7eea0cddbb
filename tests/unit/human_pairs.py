"""The human judgements of answer pairs in ../shared/data/ragchecker-human, and how far a metric agrees with them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

PAIRS = Path(__file__).resolve().parents[3] / "shared" / "data" / "ragchecker-human" / "pairs.json"
RESULTS = Path(__file__).resolve().parents[2] / "docs" / "results-human.md"
ASPECTS = ("correctness", "completeness", "overall")


@cache
def pairs() -> list[dict[str, Any]]:
    """One entry a pair and annotator. Skips the test aloud where the data are absent."""
    if not PAIRS.is_file():
        pytest.skip("shared data is absent: ragchecker-human")
    found: list[dict[str, Any]] = json.loads(PAIRS.read_text(encoding="utf-8"))
    return found


def differences(metric: Callable[[str, str], float]) -> list[float]:
    """metric(answer, reference) of model2 minus that of model1, an entry each."""
    known: dict[tuple[str, str], float] = {}

    def of(answer: str, reference: str) -> float:
        if (answer, reference) not in known:
            known[answer, reference] = metric(answer, reference)
        return known[answer, reference]

    return [of(p["model2"]["response"], p["gt_answer"]) - of(p["model1"]["response"], p["gt_answer"]) for p in pairs()]


def spearman(difference: list[float]) -> list[float]:
    """Spearman's rho of the difference with the labels (-2..2, positive: model2 is better), by aspect."""
    from scipy.stats import spearmanr

    return [float(spearmanr([p[f"{aspect}_label"] for p in pairs()], difference).statistic) for aspect in ASPECTS]


def documented(name: str) -> list[float]:
    """The line of docs/results-human.md that begins with this name: its first figure of each aspect."""
    line = re.search(rf"^\| {re.escape(name)} \|(.*)\|$", RESULTS.read_text(encoding="utf-8"), re.MULTILINE)
    if line is None:
        raise KeyError(name)
    return [float(re.findall(r"-?\d\.\d+", cell)[0]) for cell in line[1].split("|")[: len(ASPECTS)]]
