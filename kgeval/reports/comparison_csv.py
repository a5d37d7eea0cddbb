"""The pairs of a comparison as CSV, a row a pair, aspect and group of questions; for spreadsheets and programs."""

from __future__ import annotations

import csv
import io

from kgeval.files.sheets import formula_safe
from kgeval.records import ComparisonReport, PairResult
from kgeval.reports.comparison_view import group_of

_COLUMNS = (
    "procedure", "system_a", "system_b", "aspect", "by", "value", "mean_of_datasets", "n", "n_scored", "results", "discarded", "failed",
    "trials", "win", "tie", "loss", "relative", "low", "high", "always_valid", "p", "p_holm", "wilcoxon_p", "gap", "gap_low", "gap_high",
    "effect", "superiority", "detectable", "needed", "trial_kind", "signature",
)


def render(report: ComparisonReport) -> str:
    """The table with its head; the contrast procedures follow below. Null is an empty cell."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for procedure, pairs in ((report.procedure, report.pairs), *report.contrast.items()):
        for one in pairs:
            writer.writerow([*_row(procedure, one), report.trial_kind, report.signature])
    return out.getvalue()


def _row(procedure: str, one: PairResult) -> list[object]:
    rates = one.rates
    place = (one.system_a, one.system_b, one.aspect, one.by, group_of(one).value or "")
    return [
        procedure, *map(formula_safe, place), str(one.mean_of_datasets).lower(), one.n, one.n_scored, one.results, one.discarded,
        sum(one.failures.values()), one.trials, *((rates.win, rates.tie, rates.loss) if rates else ("", "", "")), *_ends(one.relative),
        str(one.always_valid).lower(), one.p, one.p_holm, one.wilcoxon_p, *_ends(one.gap), one.effect, one.superiority, one.detectable,
        one.needed,
    ]


def _ends(one: object) -> list[float | None]:
    return [getattr(one, name) for name in ("value", "low", "high")]
