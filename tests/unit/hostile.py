"""Fills every place of a report that a graph, a document, a gold file or a model can fill with hostile texts."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
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


def poisoned_alike(
    value: Any, bad: Sequence[str], *, keys: Collection[str] = (), keep: Collection[str] = (), words: Collection[str] = (),
) -> Any:
    """The value with a hostile text for every text, and for every key of the maps in the fields `keys`: the same one for the same text, so
    that rows still meet. Texts of the fields `keep`, and the words `words`, stay as they are."""
    known: dict[str, str] = {}

    def text(good: str) -> str:
        at = len(known)
        return known.setdefault(good, bad[at % len(bad)] + (str(at) if at >= len(bad) else ""))

    def walk(value: Any, field: str = "") -> Any:
        if isinstance(value, dict):
            return {text(key) if field in keys else key: walk(inner, "" if field in keys else key) for key, inner in value.items()}
        if isinstance(value, list | tuple):
            return [walk(inner, field) for inner in value]
        return text(value) if isinstance(value, str) and field not in keep and value not in words else value

    return walk(value)
