"""The one report as parts with tables of texts: the same in every form. The parts answer the report template of [M]."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from kgeval.format import beyond, number, percent, plural
from kgeval.overview.findings import failed
from kgeval.overview.kinds import TITLES
from kgeval.overview.wording import place_of
from kgeval.records import OverviewReport, Part
from kgeval.reports import overview_tables as tables
from kgeval.reports.overview_tables import Table

INTERVALS = (
    "Brackets: 95 % interval. n: what a figure is over; where not all of it has a value, how many do. A figure without an interval was "
    "counted over everything, or its source gives none."
)


@dataclass(frozen=True)
class Section:
    """One part: its anchor, heading, sentences, tables. `number`: of the template of [M]; null: not in it."""

    id: str
    title: str
    lines: Sequence[str] = ()
    tables: Sequence[Table] = field(default_factory=tuple)
    number: int | None = None


def sections(report: OverviewReport) -> list[Section]:
    """All parts after the verdict, the list of what to mend and the rubric."""
    makers: tuple[Callable[[OverviewReport], Section], ...] = (
        _system, _scope, _graph, _figures("retrieval", "Retrieval", 4), _figures("answers", "Answers", 5),
        _figures("grounding", "Hallucination and grounding", 6), _figures("reasoning", "Reasoning depth", 7), _baselines, _significance,
        _weaknesses, _cost, _sources,
    )
    return [maker(report) for maker in makers]


def _figures(part: Part, title: str, at: int) -> Callable[[OverviewReport], Section]:
    def made(report: OverviewReport) -> Section:
        rows = [one for one in report.figures if one.part == part]
        extra = [one for one in report.figures if one.part == "latency"] if part == "retrieval" else []
        found = [*tables.by_system(title, rows), *tables.by_system("Latency", extra)]
        return Section(part, title, [] if found else ["Not measured."], found, at)

    return made


def _system(report: OverviewReport) -> Section:
    """1: what was evaluated."""
    systems = _systems(report)
    graphs = list(dict.fromkeys(one.graph for one in report.findings if one.graph))
    none = "No system's answers were scored: only the rest was looked at."
    lines = [f"{plural(len(systems), 'system')}: {', '.join(systems)}." if systems else none]
    lines += [f"{plural(len(graphs), 'graph')}: {', '.join(graphs)}."] if graphs else []
    models = list(dict.fromkeys((one.kind, one.use.stage, one.use.model) for one in report.cost))
    rows = [(TITLES.get(kind, kind), stage, model) for kind, stage, model in models]  # type: ignore[call-overload]
    found = [Table("Models", ("Report", "Stage", "Model"), rows, 3)] if rows else []
    return Section("system", "System", [*lines, *_says(report, ("build",))], found, 1)


def _systems(report: OverviewReport) -> list[str]:
    return list(dict.fromkeys(one.of for one in report.figures if one.of and one.part in ("answers", "retrieval", "grounding")))


def _scope(report: OverviewReport) -> Section:
    """2: data sets, places, questions."""
    places = [place_of(place) for place in dict.fromkeys(one.place for one in report.sources) if place_of(place)]
    lines = [f"{plural(len(places), 'place')}: {'; '.join(places)}."] if places else []
    lines += _says(report, ("questions", "check", "coverage", "answers"))
    rows = [one for one in report.figures if one.part == "scope"]
    return Section("scope", "Scope", lines or ["Nothing is told of questions."], tables.by_system("Questions", rows, "File"), 2)


def _graph(report: OverviewReport) -> Section:
    """3: the graph's figures, its failed checks."""
    checks = {one.rule_id for one in report.findings}
    rows = [one for one in report.figures if one.part == "graph" and one.name not in checks]
    lines = _says(report, ("audit", "completeness", "accuracy"))
    bad = failed(report.findings)
    several = len({(one.place, one.graph) for one in bad}) > 1
    table = Table(
        "Failed checks", ("Severity", "Check", "Found", "Share", *(("Where",) if several else ())),
        [
            (one.severity, f"{one.title} ({one.rule_id})", f"{number(one.count or 0)} of {number(one.total or 0)} {one.total_of}",
             percent(one.share), *((place_of(one.place, one.graph),) if several else ()))
            for one in bad
        ], 2,
    )
    found = [*tables.by_system("Figures of the graph", rows), *([table] if bad else [])]
    open_ends = [one for one in report.findings if one.status in ("skipped", "incomplete", "error")]
    if open_ends:
        lines.append(f"{plural(len(open_ends), 'check')} could not be answered, and are no pass: " + ", ".join(
            dict.fromkeys(one.rule_id for one in open_ends)) + ".")
    return Section("graph", "Quality of the graph", lines if lines or found else ["Not measured."], found, 3)


def _baselines(report: OverviewReport) -> Section:
    """8: systems against each other, the closed book, what one change does."""
    rows = [one for one in report.figures if one.part == "baseline"]
    found = tables.by_system("Against baselines", rows, "Systems")
    lines = _says(report, ("contamination", "matrix"))
    none = [] if lines or found else ["No baseline was measured."]
    return Section("baseline", "Against baselines, and what changes do", lines or none, found, 8)


def _significance(report: OverviewReport) -> Section:
    """9: comparisons, the judge, and what the intervals mean."""
    rows = [one for one in report.figures if one.part == "comparison"]
    lines = [*_says(report, ("comparison", "agreement")), INTERVALS]
    return Section("significance", "Significance", lines, tables.by_system("Comparison and judge", rows, "Systems"), 9)


def _weaknesses(report: OverviewReport) -> Section:
    """10: what is not measured, what is missing, what gates say."""
    lines = [*(f"Not measured: {line}." for line in report.not_measured), *(f"Note: {line}." for line in report.notes)]
    stages = [(one.id, one.state.replace("_", " "), one.reason or "") for one in report.stages]
    gates = [
        (one.name, place_of(one.place, one.of) or "-", one.limit, "-" if one.value is None else beyond(one.value, one.limit),
         {True: "met", False: "missed"}.get(one.met, "unanswered"))  # type: ignore[arg-type]
        for one in report.gates
    ]
    found = [
        *([Table("Stages without a whole result", ("Stage", "State", "Why"), stages, 3)] if stages else []),
        *([Table("Gates", ("Gate", "Of", "Limit", "Value", "Outcome"), gates, 2)] if gates else []),
    ]
    return Section("weaknesses", "Weaknesses and gaps", lines or ["Nothing is missing of what this report asks for."], found, 10)


def _cost(report: OverviewReport) -> Section:
    """Cost, tokens and time, of the run and of the answers."""
    rows = [one for one in report.figures if one.part == "cost"]
    found = [*tables.costs(report.cost), *tables.by_system("Cost of answers and of building", rows)]
    return Section("cost", "Cost", [] if found else ["No model was asked, as far as the reports tell."], found)


def _sources(report: OverviewReport) -> Section:
    """What was read."""
    return Section("sources", "Reports behind this one", [], [tables.sources(report.sources)] if report.sources else [])


def _says(report: OverviewReport, kinds: Sequence[str]) -> list[str]:
    """Sources' own sentences, with their place where there are several."""
    several = len({one.place for one in report.sources}) > 1
    lines: Iterator[str] = (
        (f"{place_of(one.place)}: " if several and place_of(one.place) else "") + line
        for kind in kinds for one in report.sources if one.kind == kind for line in one.says
    )
    return list(dict.fromkeys(lines))


