"""Fills every place of a report that a graph, a document, a gold file or a model can fill with hostile texts."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle
from typing import Any

from test_report_html import HOSTILE

TEXTS = {
    "name", "key", "text", "fact", "document", "why", "reason", "how", "label", "graph", "title", "advice", "of", "method", "stratum",
    "cluster", "id", "chunk_id", "type", "human", "judge", "embedding_model", "stage", "model", "source", "call", "element_id", "total_of",
    "control_missing", "extractor", "signature", "rule_id",
}
LISTS = {"faults", "notes", "retrieved", "documents", "flags"}
MAPS = {
    "by_type", "by_document", "by_predicate", "bridging", "strata", "labels", "flags", "needed", "agreement", "duplicates", "failures",
    "precision",
}


def poisoned(report: dict[str, Any]) -> dict[str, Any]:
    """The report with hostile texts in all these places. Numbers and closed lists of words stay."""
    return _poisoned(report, cycle(HOSTILE))


def _poisoned(value: Any, texts: Iterator[str], field: str = "") -> Any:
    if isinstance(value, dict):
        keys = {key: f"{next(texts)}{at}" if field in MAPS else key for at, key in enumerate(value)}
        return {keys[key]: _poisoned(inner, texts, key) for key, inner in value.items()}
    if isinstance(value, list):
        return [next(texts) if field in LISTS and isinstance(inner, str) else _poisoned(inner, texts) for inner in value]
    return next(texts) if field in TEXTS and isinstance(value, str) else value
