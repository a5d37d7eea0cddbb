"""`kgeval audit diff` and `kgeval audit --baseline`: what became worse, better, new and gone, and the gate on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kgeval.cli.audit_exit import SEVERITIES
from kgeval.cli.common import F, arguments, say
from kgeval.cli.show import report_options_of, show_report
from kgeval.errors import UsageError
from kgeval.reports.display import percent

if TYPE_CHECKING:
    from kgeval.records import AuditDiff, AuditGate, AuditReport, FindingChange, Severity

FORMS = ("text", "json", "md", "html", "xml")


def fail_on_worse_option(command: F) -> F:
    """--fail-on-worse, the gate of both commands."""
    return click.option(
        "--fail-on-worse", type=click.Choice(SEVERITIES), default=None,
        help="Exit 1 if a check of this severity or above became worse, or fails and did not before.",
    )(command)


def baseline_options(command: F) -> F:
    """--baseline and --fail-on-worse of `kgeval audit`."""
    return click.option(
        "--baseline", type=click.Path(path_type=Path), metavar="REPORT.json",
        help="An earlier JSON report: what became worse, better, new, gone.",
    )(fail_on_worse_option(command))


@click.command("diff")
@click.argument("before", type=click.Path(path_type=Path), metavar="BEFORE.json")
@click.argument("after", type=click.Path(path_type=Path), metavar="AFTER.json")
@fail_on_worse_option
@report_options_of("Report file: .html .json .md .xml (JUnit)", FORMS)
def diff(before: Path, after: Path, **options: Any) -> int:
    """What changed between two audits of a graph: two JSON reports of kgeval audit, the earlier one first. Needs no database.

    Every check and every figure: worse, better, the same, new, gone, or not comparable with the reason; by type where both reports count
    by type.

    Exit codes: 0 done, 1 --fail-on-worse found something, 2 wrong input, 3 --fail-on-worse has no answer for a check.
    """
    from kgeval.auditing.diff import diff_all
    from kgeval.auditing.previous import read_audits
    from kgeval.cli.questions_stats import check_replaced
    from kgeval.manifest import Started
    from kgeval.records import AuditDiff
    from kgeval.reports.write import check_outputs

    options = {**options, "before": before, "after": after}
    started = Started("audit diff", arguments(options))
    check_outputs(options["outputs"], AuditDiff)
    check_replaced(options["outputs"], [before, after])
    sides = read_audits(before), read_audits(after)
    made = diff_all(*sides, names=(str(before), str(after)), fail_on_worse=options["fail_on_worse"])
    if len(sides[0]) == len(sides[1]) == 1:
        _warn_of_another(sides[0][0], sides[1][0], f"{before} is an audit of", f"{after} of")
    code = gate(made)
    made = made.model_copy(update={"run": started.manifest(inputs=dict.fromkeys((before, after)), exit_code=code)})
    show_report(made, options, options["outputs"])
    return code


@dataclass(frozen=True)
class Baseline:
    """The earlier reports that an audit is held against, by their file, and the gate on what became worse."""

    path: Path
    reports: Sequence[AuditReport]
    fail_on_worse: Severity | None

    def of(self, graph: str | None, *, alone: bool) -> AuditReport | None:
        """The report of the graph. The only one of the file stands for any graph if just one is audited (`alone`)."""
        if alone and len(self.reports) == 1:
            return self.reports[0]
        return next((one for one in self.reports if one.graph == graph), None)


def read_baseline(options: Mapping[str, Any], outputs: Sequence[Path]) -> Baseline | None:
    """The baseline that is asked for. Raises: UsageError, InputError, before anything is run."""
    from kgeval.auditing.previous import read_audits
    from kgeval.cli.questions_stats import check_replaced

    path = options["baseline"]
    if path is None:
        if options["fail_on_worse"]:
            raise UsageError("--fail-on-worse needs an earlier report to compare with", fix="give it with --baseline REPORT.json")
        return None
    check_replaced(list(outputs), [path])
    return Baseline(path, read_audits(path), options["fail_on_worse"])


def held_against(report: AuditReport, baseline: Baseline | None, *, alone: bool = True) -> AuditReport:
    """The report with its diff against the baseline, its notes, and what the gate on it comes to.

    `alone`: it is the only graph that is audited.
    """
    from kgeval.auditing.diff import diff as compared
    from kgeval.auditing.identity import called

    if baseline is None:
        return report
    then = baseline.of(report.graph, alone=alone)
    if then is None:
        note = f"{baseline.path} holds no audit of {called(report.graph)}: nothing to compare with"
        say(f"warning: --baseline: {note}")
        gates = [*report.gates, *_row(baseline.fail_on_worse, None, note)]
        return _with_code(report, 3 if baseline.fail_on_worse else 0, notes=[*report.notes, note], gates=gates)
    made = compared(then, report, names=(str(baseline.path), "this audit"), fail_on_worse=baseline.fail_on_worse)
    _warn_of_another(then, report, f"--baseline: {baseline.path} is an audit of", "this one of")
    code = gate(made)
    return _with_code(report, code, diff=made, gates=[*report.gates, *_row(baseline.fail_on_worse, code, "checks cannot be compared")])


def _warn_of_another(then: AuditReport, report: AuditReport, one: str, other: str) -> None:
    """Says on stderr that two audits that are compared are of different graphs."""
    from kgeval.auditing.identity import called

    if then.graph != report.graph:
        say(f"warning: {one} {called(then.graph)}, {other} {called(report.graph)}")


def _row(limit: Severity | None, code: int | None, reason: str) -> list[AuditGate]:
    """--fail-on-worse as a row among the audit's gates; none where it was not asked for. `code`: what it came to; null: no answer."""
    from kgeval.records import AuditGate

    if limit is None:
        return []
    met = {0: True, 1: False}.get(-1 if code is None else code)
    wording = f"no check of severity {limit} or above is worse than in the baseline"
    return [AuditGate(id="baseline", limit=wording, met=met, reason=reason if met is None else None)]


def _with_code(report: AuditReport, code: int, **update: object) -> AuditReport:
    run = report.run.model_copy(update={"exit_code": worst((report.run.exit_code, code))})
    return report.model_copy(update={"run": run, **update})


def worst(codes: Sequence[int]) -> int:
    """The exit code of several results: what is incomplete stands above a gate that failed."""
    return next((code for code in (130, 2, 3, 1) if code in codes), 0)


def gate(made: AuditDiff) -> int:
    """What --fail-on-worse comes to: 3 if a check or a graph has no answer, 1 if a check is worse, else 0. Says which on stderr."""
    from kgeval.auditing.diff import silent, unanswered_at, worse_at

    if made.fail_on_worse is None:
        return 0
    lost, bad = unanswered_at(made, made.fail_on_worse), worse_at(made, made.fail_on_worse)
    for one in bad:
        say(f"worse than before: {one.rule_id} ({_amounts(one)})")
    for one in lost:
        say(f"gate not answered: {one.rule_id}: {one.reason}")
    alone = silent(made, made.fail_on_worse)
    for text in alone:
        say(f"gate not answered: {text}")
    return 3 if lost or alone else 1 if bad else 0


def _amounts(one: FindingChange) -> str:
    was = _amount(one.count_before, one.share_before)
    return f"{was} before, {_amount(one.count_after, one.share_after)} now"


def _amount(count: int | None, share: float | None) -> str:
    if count is None:
        return "no answer"
    return f"{count:,} {'hit' if count == 1 else 'hits'}" + (f" ({percent(share)})" if share is not None else "")
