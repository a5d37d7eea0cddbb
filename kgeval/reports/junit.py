"""Scores as JUnit XML, for the test view of a CI system. Holds names and figures, and no text of a question or an answer."""

from __future__ import annotations

import re
from datetime import datetime
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from kgeval.format import beyond, bracketed, figure, number, visible
from kgeval.overview.score_verdict import ScoreTables, verdict
from kgeval.records import Gate, Mean, MetricSummary, RunManifest, ScoreReport
from kgeval.reports.measures import causes

_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_NAME = 200


def render(report: ScoreReport) -> str:
    """One testsuite a system. A gate is a testcase: failed = missed, error = unanswered, as the exit code has it.

    Every metric is a testcase too, with its figures as properties: it passes whatever its value is; error = more rows failed than were
    scored, skipped = it has no meaning for this system. A run that was stopped is an error in a suite of its own.
    """
    tables = ScoreTables.of(report)
    root = Element("testsuites", {"name": "kgeval score", "time": f"{max(0.0, report.run.seconds):.3f}"})
    if not report.complete:
        suite = SubElement(root, "testsuite", {"name": "run"})
        add_outcome(add_case(suite, "run", "the run is complete"), "error", "incomplete", "the run was stopped before its end")
    for system in tables.systems:
        _suite(SubElement(root, "testsuite", {"name": xml_text(system)}), tables, system)
    return written(root, report.run)


def written(root: Element, run: RunManifest) -> str:
    """The finished file: cases counted, suites stamped."""
    stamp = _stamp(run.started)
    for suite in root:
        _count(suite, [case for case in suite if case.tag == "testcase"])
        suite.attrib.update({"time": "0.000", **({"timestamp": stamp} if stamp else {})})
    _count(root, list(root.iter("testcase")))
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _suite(suite: Element, tables: ScoreTables, system: str) -> None:
    properties = SubElement(suite, "properties")
    run = tables.report.run
    for name, value in (("kgeval", run.kgeval), ("command", run.command), ("verdict", " ".join(verdict(tables)))):
        SubElement(properties, "property", {"name": name, "value": xml_text(value, longest=2000)})
    for gate in tables.report.gates:
        if gate.of == system:
            add_gate(suite, f"{system}.gates", gate)
    for metric in tables.metrics:
        found = tables.summaries.get((system, metric))
        if found is not None:
            _metric(suite, found, tables)


def add_gate(suite: Element, of: str, gate: Gate) -> Element | None:
    """A gate as a testcase: failed = missed, error = not answered, as the exit code has it; one that does not decide passes and says what
    it came to. Returns the failure of one that is missed."""
    case = add_case(suite, of, gate.wanted)
    value = "no value" if gate.value is None else beyond(gate.value, gate.limit)
    why = f"{value}: {gate.reason}" if gate.reason else value
    if gate.met or not gate.decides:
        SubElement(case, "system-out").text = xml_text(why if gate.met else f"not met, reported only: {why}")
    elif gate.met is None:
        add_outcome(case, "error", "not answered", why)
    else:
        return add_outcome(case, "failure", "missed", why if gate.reason else f"{value}, wanted {gate.limit}")
    return None


def _metric(suite: Element, one: MetricSummary, tables: ScoreTables) -> None:
    mean, case = one.overall, add_case(suite, f"{one.system}.metrics", one.metric)
    info = tables.info.get(one.metric)
    figures = {
        "mean": mean.mean, "low": mean.low, "high": mean.high, "n": mean.n, "n_scored": mean.n_scored,
        "not_applicable": mean.not_applicable, "bound_low": mean.bound_low, "bound_high": mean.bound_high,
        "mean_of_types": one.by_type_mean, "signature": info.signature if info else None,
    }
    properties = SubElement(case, "properties")
    for name, value in figures.items():
        if value is not None:
            SubElement(properties, "property", {"name": name, "value": xml_text(str(value))})
    failed = sum(mean.failures.values())
    if _nothing_to_score(mean):
        SubElement(case, "skipped", {"message": _meaningless(mean)})
    elif failed > mean.n_scored:
        why = f"{number(failed)} rows failed, {number(mean.n_scored)} were scored: {causes(mean.failures)}"
        add_outcome(case, "error", "unscored", why)
    else:
        told = f"{figure(mean.mean)} {bracketed(mean.low, mean.high)}".strip()
        SubElement(case, "system-out").text = xml_text(f"{told}; {mean.n_scored} of {mean.n} questions scored")


def _nothing_to_score(mean: Mean) -> bool:
    return mean.n_scored == 0 and not mean.failures


def _meaningless(mean: Mean) -> str:
    return f"the metric has no meaning for any of {number(mean.n)} questions"


def add_case(suite: Element, of: str, name: str) -> Element:
    """A testcase: what it is of, and its own name."""
    return SubElement(suite, "testcase", {"classname": xml_text(of), "name": xml_text(name), "time": "0.000"})


def add_outcome(case: Element, tag: str, kind: str, message: str) -> Element:
    """Why the case did not pass, as it stands in the case. `tag`: failure, error or skipped."""
    outcome = SubElement(case, tag, {"type": kind, "message": xml_text(message, longest=600)})
    outcome.text = xml_text(message, longest=600)
    return outcome


def _count(of: Element, cases: list[Element]) -> None:
    of.set("tests", str(len(cases)))
    for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        of.set(name, str(sum(case.find(tag) is not None for case in cases)))


def xml_text(text: str, *, longest: int = _NAME) -> str:
    """One line; hidden characters written out; what XML cannot hold at all is left out."""
    return _NO_XML.sub("", visible(text, longest=longest))


def _stamp(started: str) -> str:
    """Date and time as JUnit's schema wants it, without a zone; "" for what is no date."""
    try:
        return datetime.fromisoformat(started).replace(tzinfo=None, microsecond=0).isoformat()
    except ValueError:
        return ""
