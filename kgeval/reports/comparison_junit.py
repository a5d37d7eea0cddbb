"""A comparison as JUnit XML, for the test view of a CI system. Holds names and figures, and no text of a question or an answer."""

from __future__ import annotations

from xml.etree.ElementTree import Element, SubElement

from kgeval.records import ComparisonReport, PairResult
from kgeval.reports.document import as_cell
from kgeval.reports.junit import add_case, add_gate, add_outcome, written, xml_text
from kgeval.reports.views.comparison import checks
from kgeval.reports.views.pairs import PairView, lost, sentence, verdict, view_of


def render(report: ComparisonReport) -> str:
    """A testcase for each threshold: failed = missed, error = unanswered, as the exit code has it; and one for each pair, overall on all
    questions: it passes whoever is better, with its figures as properties; error = it has no result. A stopped run is an error."""
    view = view_of(report)
    root = Element("testsuites", {"name": "kgeval compare", "time": f"{max(0.0, report.run.seconds):.3f}"})
    if not report.complete:
        suite = SubElement(root, "testsuite", {"name": "run"})
        why = report.notes[0] if report.notes else "not complete"
        add_outcome(add_case(suite, "run", "the run is complete"), "error", "incomplete", why)
    if report.gates:
        suite = SubElement(root, "testsuite", {"name": "gates"})
        for gate in report.gates:
            add_gate(suite, gate.of or "gates", gate)
    _pairs(SubElement(root, "testsuite", {"name": "pairs"}), view)
    _checks(root, report)
    return written(root, report.run)


def _pairs(suite: Element, view: PairView) -> None:
    properties = SubElement(suite, "properties")
    told = (("kgeval", view.report.run.kgeval), ("signature", view.report.signature), ("verdict", " ".join(verdict(view))))
    for name, value in told:
        SubElement(properties, "property", {"name": name, "value": xml_text(value, longest=2000)})
    for one in view.first():
        case = add_case(suite, "pairs", f"{one.system_a} against {one.system_b}")
        listed = SubElement(case, "properties")
        for name, figure in _figures(one).items():
            if figure is not None:
                SubElement(listed, "property", {"name": name, "value": xml_text(str(figure))})
        if one.rates is None:
            add_outcome(case, "error", "unscored", f"no question has a result: {lost(one) or 'not judged'}")
        else:
            SubElement(case, "system-out").text = xml_text(sentence(one, view.stop(one.system_a, one.system_b)), longest=600)


def _checks(root: Element, report: ComparisonReport) -> None:
    """A case for each check beside the comparison, its rows and sentences as text: none of them fails, as none changes the exit code."""
    tables = list(checks(report))
    if not tables:
        return
    suite = SubElement(root, "testsuite", {"name": "checks"})
    for table in tables:
        cells = [[(name, as_cell(cell).text) for name, cell in zip(table.head, row, strict=True)] for row in table.rows]
        rows = ["; ".join(f"{name}: {text}" for name, text in row if text) for row in cells]
        text = " | ".join(filter(None, [*rows, table.hint]))
        SubElement(add_case(suite, "checks", table.title), "system-out").text = xml_text(text, longest=4000)


def _figures(one: PairResult) -> dict[str, object]:
    rates = one.rates.model_dump() if one.rates else {}
    return {
        **rates, "relative": one.relative.value, "low": one.relative.low, "high": one.relative.high, "p": one.p, "p_holm": one.p_holm,
        "gap": one.gap.value, "effect": one.effect, "superiority": one.superiority, "detectable": one.detectable, "needed": one.needed,
        "n": one.n, "n_scored": one.n_scored, "results": one.results, "discarded": one.discarded, "trials": one.trials,
        "always_valid": "true" if one.always_valid else None,
    }
