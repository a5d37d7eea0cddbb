"""Reports as CSV, for spreadsheets and programs: the hits of an audit, graphs side by side, the pairs of a comparison, of scores.

Null is an empty cell. No text is taken for a formula by a spreadsheet, nor steers a terminal.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from itertools import chain

from kgeval.overview.group_verdict import key_of
from kgeval.records import AuditReport, ComparisonReport, GraphsReport, GroupCost, PairedGain, PairResult, ScoreReport
from kgeval.reports.listing import showing
from kgeval.tables.output import write_cells

_HITS = ("check", "severity", "status", "hit", "counts", "kind", "type", "name", "key", "element_id", "why", "waived", "known", "cypher")
_COLUMNS = (
    "procedure", "system_a", "system_b", "aspect", "by", "value", "mean_of_datasets", "n", "n_scored", "results", "discarded", "failed",
    "trials", "win", "tie", "loss", "relative", "low", "high", "always_valid", "p", "p_holm", "wilcoxon_p", "gap", "gap_low", "gap_high",
    "effect", "superiority", "detectable", "needed", "needed_above", "groups", "effective", "outcome", "trial_kind", "signature",
)
_GAINS = ("n", "differ", "mean", "low", "high", "p", "p_holm", "effect", "sd", "mcnemar_p", "only_system", "only_baseline")
_TOOK = ("context_tokens", "prompt_tokens", "seconds", "relevance")


def audit(report: AuditReport) -> str:
    """One row for each thing of each example: those of one hit share its number and repeat what is said of the whole hit. `counts`: how
    many of the check's hits it stands for. `cypher`: what shows the thing in Neo4j Browser. A check without examples has no row. With
    `--examples 0` they are all."""
    return _csv(_HITS, (
        (finding.rule_id, finding.severity, finding.status, at, example.counts, item.kind, item.type, item.name, item.key, item.element_id,
         example.why, example.waived, "yes" if example.known else "", showing(item))
        for finding in report.findings for at, example in enumerate(finding.examples, 1) for item in example.items
    ))


def graphs(report: GraphsReport) -> str:
    """A row a figure or a check, a column a graph. `kind`: figure, or count, total, share, suppressed, known, status of a check."""
    kinds = ("count", "total", "share", "suppressed", "known", "status")
    rows = [("figure", row.id, *map(_number, row.values)) for row in report.figures]
    rows += [(kind, row.rule_id, *(_number(getattr(cell, kind)) for cell in row.cells)) for row in report.checks for kind in kinds]
    return _csv(("kind", "id", *report.names), rows)


def comparison(report: ComparisonReport) -> str:
    """A row a pair, aspect and group of questions; the contrast procedures follow below. `outcome`: what is concluded of the pair, in the
    row that it is about (overall, all questions)."""
    concluded = {(one.system_a, one.system_b): one.conclusion for one in report.outcomes}

    def outcome(procedure: str, one: PairResult) -> str:
        about = procedure == report.procedure and (one.aspect, one.by, one.mean_of_datasets) == ("overall", "all", False)
        return concluded.get((one.system_a, one.system_b), "") if about else ""

    return _csv(_COLUMNS, (
        [*_row(procedure, one), outcome(procedure, one), report.trial_kind, report.signature]
        for procedure, pairs in ((report.procedure, report.pairs), *report.contrast.items()) for one in pairs
    ))


def scores(report: ScoreReport) -> str:
    """A row a difference between two systems: over all questions, then by level and hops, with what both took on the same questions
    (`prompt_tokens` of the system, `baseline_prompt_tokens`, ...). Scores row by row are a file of results: -o scores.csv."""
    took = {key_of(one): one for one in report.costs_by_group}

    def row(gain: PairedGain, group: Sequence[str | None], detectable: float | None, cost: GroupCost | None) -> Sequence[object]:
        means = [getattr(cost, name, None) for name in _TOOK]
        return (
            gain.metric, gain.system, gain.baseline, *group, *(getattr(gain, name) for name in _GAINS), detectable,
            *(getattr(mean, side, None) for mean in means for side in ("system", "baseline")),
        )

    names = [name for took in _TOOK for name in (took, f"baseline_{took}")]
    return _csv(("metric", "system", "baseline", "by", "value", "dataset", *_GAINS, "detectable", *names), [
        *(row(gain, ("all", "", None), getattr(gain, "detectable", None), None) for gain in report.gains),
        *(row(gain, (gain.by, gain.value, gain.dataset), gain.detectable, took.get(key_of(gain))) for gain in report.gains_by_group),
    ])


def _row(procedure: str, one: PairResult) -> list[object]:
    rates = one.rates
    place = (one.system_a, one.system_b, one.aspect, one.by, one.value or "")
    return [
        procedure, *place, str(one.mean_of_datasets).lower(), one.n, one.n_scored, one.results, one.discarded,
        sum(one.failures.values()), one.trials, *((rates.win, rates.tie, rates.loss) if rates else ("", "", "")), *_ends(one.relative),
        str(one.always_valid).lower(), one.p, one.p_holm, one.wilcoxon_p, *_ends(one.gap), one.effect, one.superiority, one.detectable,
        one.needed, one.needed_above, one.groups, one.effective,
    ]


def _ends(one: object) -> list[float | None]:
    return [getattr(one, name) for name in ("value", "low", "high")]


def _csv(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    out = io.StringIO()
    write_cells(out, chain([head], rows))
    return out.getvalue()


def _number(value: float | str | None) -> float | str | None:
    return int(value) if isinstance(value, float) and value.is_integer() else value
