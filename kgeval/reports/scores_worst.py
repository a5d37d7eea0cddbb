"""The rows with the lowest values, and why."""

from __future__ import annotations

from collections.abc import Sequence

from kgeval.format import figure, visible
from kgeval.records import WorstRow
from kgeval.reports.scores_view import View, word


def worst_rows(view: View, *, most: int) -> Sequence[WorstRow]:
    """At most so many rows: those of the verdict's metric first, and the systems by turns, so that none fills the list."""
    seen: dict[tuple[bool, str], int] = {}
    ranked = []
    for at, row in enumerate(view.report.worst):
        key = (row.metric != view.headline, row.system)
        seen[key] = seen.get(key, 0) + 1
        ranked.append(((key[0], seen[key], at), row))
    return [row for _, row in sorted(ranked, key=lambda pair: pair[0])[:most]]


def worst_line(row: WorstRow) -> str:
    """`q12, system B, answer_accuracy 0.083: 0 of 3 claims are right. Question: ... Answer: ...`."""
    reasons = "; ".join(visible(reason, longest=120) for reason in row.reasons[:3]) or "no reason given"
    texts = "".join(
        f" {name}: {visible(text, longest=100)}" for name, text in (("Question", row.question), ("Answer", row.answer)) if text.strip()
    )
    return f"{word(row.question_id)}, {word(row.system)}, {word(row.metric)} {figure(row.value)}: {reasons}.{texts}"
