"""Reports as JUnit XML, for the test view of a CI system: each kind gives its suites of cases, and one function writes them.

Holds names and figures, and no text of a question or an answer; of a graph only the names of hits that a ratchet does not know.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Literal
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from kgeval.auditing.diff import parts_of, silent, unanswered_at, unpaired, worse_at
from kgeval.auditing.gates import RATCHET
from kgeval.auditing.gates.rows import decides
from kgeval.auditing.rulebook import load_rules
from kgeval.format import bracketed, figure, first_of, number, visible
from kgeval.overview.findings import amount, listed, taken_out
from kgeval.overview.gates import told_by_checks
from kgeval.overview.score_verdict import ScoreTables
from kgeval.overview.score_verdict import verdict as verdict_on_scores
from kgeval.overview.wording import place_of, reached
from kgeval.records import (
    SEVERITIES,
    AuditDiff,
    AuditReport,
    ComparisonReport,
    FindingChange,
    Gate,
    MetricSummary,
    OverviewFinding,
    OverviewReport,
    OverviewStage,
    PairResult,
    RunManifest,
    ScoreReport,
    Severity,
)
from kgeval.reports.document import as_cell
from kgeval.reports.measures import causes
from kgeval.reports.views import audit_diff as diffs
from kgeval.reports.views.comparison import checks
from kgeval.reports.views.pairs import PairView, lost, sentence, view_of
from kgeval.reports.views.pairs import verdict as verdict_on_pairs

MOST_NAMES = 5  # new hits of a check
# XML 1.0 cannot hold these even escaped: with one of them no CI system would read the file at all
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True)
class Case:
    """A testcase. `of`: its class name; `text`: what it came to, of which a case that passed shows `longest` characters; `kind`: of a
    failure or an error; `more`: further lines of it; `figures`: its properties, those that are None left out."""

    of: str
    name: str
    text: str = ""
    outcome: Literal["passed", "failure", "error", "skipped"] = "passed"
    kind: str = ""
    more: Iterable[str] = ()
    figures: Mapping[str, object] | None = None
    longest: int = 200


@dataclass(frozen=True)
class Suite:
    """A testsuite with its properties."""

    name: str
    cases: Sequence[Case]
    about: Mapping[str, object] | None = None


def written(command: str, run: RunManifest, suites: Iterable[Suite]) -> str:
    """The file: cases counted, suites stamped."""
    root = Element("testsuites", {"name": f"kgeval {command}", "time": f"{max(0.0, run.seconds):.3f}"})
    stamp = _stamp(run.started)
    for suite in suites:
        element = SubElement(root, "testsuite", {"name": xml_text(suite.name)})
        _properties(element, suite.about)
        for case in suite.cases:
            _add(element, case)
        _count(element)
        element.attrib.update({"time": "0.000", **({"timestamp": stamp} if stamp else {})})
    _count(root)
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _properties(of: Element, figures: Mapping[str, object] | None) -> None:
    if figures is not None:
        listed = SubElement(of, "properties")
        for name, value in figures.items():
            if value is not None:
                SubElement(listed, "property", {"name": name, "value": xml_text(str(value), longest=2000)})


def _add(suite: Element, case: Case) -> None:
    element = SubElement(suite, "testcase", {"classname": xml_text(case.of), "name": xml_text(case.name), "time": "0.000"})
    _properties(element, case.figures)
    if case.outcome == "passed":
        if case.text:
            SubElement(element, "system-out").text = xml_text(case.text, longest=case.longest)
        return
    message = xml_text(case.text, longest=600)
    outcome = SubElement(element, case.outcome, {**({"type": case.kind} if case.kind else {}), "message": message})
    if case.kind:
        outcome.text = "\n".join([message, *(xml_text(line, longest=600) for line in case.more)])


def _count(of: Element) -> None:
    cases = list(of.iter("testcase"))
    of.set("tests", str(len(cases)))
    for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        of.set(name, str(sum(case.find(tag) is not None for case in cases)))


def xml_text(text: str, *, longest: int = 200) -> str:
    """One line; hidden characters written out; what XML cannot hold at all is left out."""
    return _NO_XML.sub("", visible(text, longest=longest))


def _stamp(started: str) -> str:
    """Date and time as JUnit's schema wants it, without a zone; "" for what is no date."""
    try:
        return datetime.fromisoformat(started).replace(tzinfo=None, microsecond=0).isoformat()
    except ValueError:
        return ""


def _gate(of: str, gate: Gate, more: Iterable[str] = ()) -> Case:
    """Failed = missed, error = not answered, as the exit code has it; one that does not decide passes and says what it came to. `more`:
    what misses it, line by line."""
    case = partial(Case, of, gate.wanted)
    why = f"{reached(gate)}: {gate.reason}" if gate.reason else reached(gate)
    if gate.met or not gate.decides:
        return case(why if gate.met else f"not met, reported only: {why}")
    if gate.met is None:
        return case(why, "error", "not answered")
    return case(why if gate.reason else f"{why}, wanted {gate.limit}", "failure", "missed", more)


def scores(report: ScoreReport) -> str:
    """One testsuite a system. A gate is a testcase: failed = missed, error = unanswered, as the exit code has it.

    Every metric is a testcase too, with its figures as properties: it passes whatever its value is; error = more rows failed than were
    scored, skipped = it has no meaning for this system. A run that was stopped is an error in a suite of its own.
    """
    tables, run = ScoreTables.of(report), report.run
    about = {"kgeval": run.kgeval, "command": run.command, "verdict": " ".join(verdict_on_scores(tables))}
    stopped = Case("run", "the run is complete", "the run was stopped before its end", "error", "incomplete")
    suites = [] if report.complete else [Suite("run", [stopped])]
    for system in tables.systems:
        gates = [_gate(f"{system}.gates", gate) for gate in report.gates if gate.of == system]
        summaries = [tables.summaries[system, metric] for metric in tables.metrics if (system, metric) in tables.summaries]
        suites.append(Suite(system, [*gates, *(_metric(summary, tables) for summary in summaries)], about))
    return written("score", run, suites)


def _metric(summary: MetricSummary, tables: ScoreTables) -> Case:
    mean, info = summary.overall, tables.info.get(summary.metric)
    case = partial(Case, f"{summary.system}.metrics", summary.metric, figures={
        "mean": mean.mean, "low": mean.low, "high": mean.high, "n": mean.n, "n_scored": mean.n_scored,
        "not_applicable": mean.not_applicable, "bound_low": mean.bound_low, "bound_high": mean.bound_high,
        "mean_of_types": summary.by_type_mean, "signature": info.signature if info else None,
    })
    failed = sum(mean.failures.values())
    if mean.n_scored == 0 and not mean.failures:
        return case(f"the metric has no meaning for any of {number(mean.n)} questions", "skipped")
    if failed > mean.n_scored:  # a mean over less than half of what was asked is no answer
        why = f"{number(failed)} rows failed, {number(mean.n_scored)} were scored: {causes(mean.failures)}"
        return case(why, "error", "unscored")
    told = f"{figure(mean.mean)} {bracketed(mean.low, mean.high)}".strip()
    return case(f"{told}; {mean.n_scored} of {mean.n} questions scored")


def audit(report: AuditReport) -> str:
    """One testsuite a group of checks. Failure: failed with the severity of --fail-on or a worse one (warning, where that was not given);
    a milder one passes and says so. Error: timed out or refused. Skipped: cannot be answered here, or all hits are waived or known. Gates
    stand in a suite of their own. How many hits are waived or known is a property of the case."""
    limit = _fails_from(report, otherwise="warning")
    gates = [_gate("gates", gate, _new_hits(report) if gate.name == RATCHET else ()) for gate in report.gates]
    findings = [listed(finding, report.graph, "") for finding in report.findings]
    groups = [
        Suite(group, [_check(finding, limit) for finding in findings if finding.group == group])
        for group in dict.fromkeys(finding.group for finding in findings)
    ]
    return written("audit", report.run, [*([Suite("gates", gates)] if gates else []), *groups])


def _check(finding: OverviewFinding, limit: Severity) -> Case:
    name = " ".join(filter(None, [finding.rule_id, place_of(finding.place, finding.graph)]))
    taken = {"suppressed": finding.suppressed, "known": finding.known} if finding.suppressed or finding.known else None
    case = partial(Case, finding.group, name, figures=taken)
    hits = ", ".join([amount(finding), *taken_out(finding)])
    if finding.status == "skipped":
        return case("cannot be answered here", "skipped")
    if finding.status in ("incomplete", "error"):
        return case("the check timed out" if finding.status == "incomplete" else "the query failed", "error", finding.status)
    if finding.status == "failed" and decides(finding.severity, limit):
        return case(f"{finding.title}: {hits}", "failure", finding.severity)
    if finding.count and finding.count == finding.suppressed + finding.known:
        return case(f"nothing but what is waived or known: {hits}", "skipped")
    return case(f"{finding.status} ({finding.severity}): {hits}")


def _fails_from(report: AuditReport, *, otherwise: Severity) -> Severity:
    """The severity of --fail-on; `otherwise` where it was not given."""
    given = report.run.arguments.get("fail_on")
    return given if given in SEVERITIES else otherwise


def _new_hits(report: AuditReport) -> Iterator[str]:
    """The first new hits of each check that fails the ratchet, a line a check, as far as the report lists them."""
    least = _fails_from(report, otherwise="info")
    for finding in report.findings:
        if finding.status == "failed" and finding.rule_id in load_rules() and decides(finding.severity, least):
            new = [example for example in finding.examples if example.waived is None and not example.known]
            if new:
                names = [" | ".join(visible(item.name or item.key, longest=60) for item in example.items) for example in new]
                yield f"{finding.rule_id}: {first_of(names, MOST_NAMES, '; ')}"


def audit_diff(made: AuditDiff) -> str:
    """One testsuite a graph. Failure: became worse or newly fails, of the severity of --fail-on-worse or above (warning, where that was not
    given). Error: the gate has no answer for it, nor for a graph that only one file holds. Skipped: no answer on one side or both."""
    limit: Severity = made.fail_on_worse or "warning"
    gated = made.fail_on_worse is not None
    suites = []
    for part in parts_of(made):
        bad, open_ends = ({id(change) for change in changes} for changes in (worse_at(part, limit), unanswered_at(part, limit)))
        whole = [finding for finding in part.findings if finding.label is None]
        cases = [_change(change, failed=id(change) in bad, open_end=gated and id(change) in open_ends) for change in whole]
        suites.append(Suite(diffs.heading(part), cases))
    if alone := silent(made, limit) if gated else unpaired(made):
        outcome: Literal["error", "skipped"] = "error" if gated else "skipped"
        cases = [Case("graphs", text, "there is nothing to compare it with", outcome, "unpaired") for text in alone]
        suites.append(Suite("graphs", cases))
    return written("audit diff", diffs.run_of(made), suites)


def _change(change: FindingChange, *, failed: bool, open_end: bool) -> Case:
    case = partial(Case, change.group, change.rule_id)
    told = f"{diffs.WORDS[change.verdict]}: {diffs.amount(change, now=False)} before, {diffs.amount(change, now=True)} now"
    if open_end:
        return case(told, "error", change.verdict)
    if failed:
        return case(f"{change.title}: {told}", "failure", change.severity)
    return case(told, "skipped" if change.count_before is None or change.count_after is None else "passed")


def comparison(report: ComparisonReport) -> str:
    """A testcase for each threshold: failed = missed, error = unanswered, as the exit code has it; and one for each pair, overall on all
    questions: it passes whoever is better, with its figures as properties; error = it has no result. A stopped run is an error.

    The checks beside the comparison are cases with their rows and sentences as text: none fails, as none changes the exit code.
    """
    view = view_of(report)
    about = {"kgeval": report.run.kgeval, "signature": report.signature, "verdict": " ".join(verdict_on_pairs(view))}
    why = report.notes[0] if report.notes else "not complete"
    suites = [] if report.complete else [Suite("run", [Case("run", "the run is complete", why, "error", "incomplete")])]
    suites += [Suite("gates", [_gate(gate.of or "gates", gate) for gate in report.gates])] if report.gates else []
    suites.append(Suite("pairs", [_pair(one, view) for one in view.first()], about))
    beside = []
    for table in checks(report):
        cells = [[(name, as_cell(cell).text) for name, cell in zip(table.head, row, strict=True)] for row in table.rows]
        rows = ["; ".join(f"{name}: {text}" for name, text in row if text) for row in cells]
        beside.append(Case("checks", table.title, " | ".join(filter(None, [*rows, table.hint])), longest=4000))
    return written("compare", report.run, [*suites, *([Suite("checks", beside)] if beside else [])])


def _pair(pair: PairResult, view: PairView) -> Case:
    rates = pair.rates.model_dump() if pair.rates else {}
    case = partial(Case, "pairs", f"{pair.system_a} against {pair.system_b}", figures={
        **rates, "relative": pair.relative.value, "low": pair.relative.low, "high": pair.relative.high, "p": pair.p, "p_holm": pair.p_holm,
        "gap": pair.gap.value, "effect": pair.effect, "superiority": pair.superiority, "detectable": pair.detectable, "needed": pair.needed,
        "needed_above": pair.needed_above,
        "n": pair.n, "n_scored": pair.n_scored, "results": pair.results, "discarded": pair.discarded, "trials": pair.trials,
        "always_valid": "true" if pair.always_valid else None,
    })
    if pair.rates is None:
        return case(f"no question has a result: {lost(pair) or 'not judged'}", "error", "unscored")
    outcome, stop = view.outcome(pair.system_a, pair.system_b), view.stop(pair.system_a, pair.system_b)
    return case(sentence(pair, outcome, stop), longest=600)


def overview(report: OverviewReport) -> str:
    """Suites: reports (error: not complete), stages (error: not done), gates (failure: missed, error: unanswered) and, with --fail-on, the
    checks (failure: failed with that severity or a worse one)."""
    reports = [
        Case("reports", " ".join(filter(None, [source.kind, place_of(source.place), source.sha256[:8]])),
             *(() if source.complete else (source.reason or "not complete", "error", "incomplete")))
        for source in report.sources
    ]
    gates = [_gate(f"gates {place_of(gate.place, gate.of)}".strip(), gate) for gate in report.gates if not told_by_checks(gate)]
    found = [_check(finding, report.fail_on) for finding in report.findings] if report.fail_on is not None else []
    suites = [Suite("reports", reports), Suite("stages", list(map(_stage, report.stages))), Suite("gates", gates), Suite("checks", found)]
    return written("report", report.run, [suite for suite in suites if suite.cases])


def _stage(stage: OverviewStage) -> Case:
    if stage.ended:
        return Case("stages", stage.id, stage.reason or stage.state)
    return Case("stages", stage.id, stage.reason or stage.state.replace("_", " "), "error", stage.state)
