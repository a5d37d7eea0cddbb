"""One report over all of a run: verdict, what to fix first, rubric, change against a baseline, and the parts of the report of [M]."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from urllib.parse import quote

from kgeval.format import NONE, money, number, percent, plural
from kgeval.overview.costs import total
from kgeval.overview.findings import amount, failed
from kgeval.overview.kinds import TITLES
from kgeval.overview.rubric import DIMENSIONS, PASS
from kgeval.overview.wording import place_of, value_of
from kgeval.records import (
    ModelUse,
    OverviewChange,
    OverviewCost,
    OverviewDiff,
    OverviewFigure,
    OverviewReport,
    OverviewSource,
    Part,
    Rubric,
)
from kgeval.reports.document import Block, Card, Cards, Cell, Details, Document, Forms, Items, Section, Table, Text, Tone
from kgeval.reports.views.parts import fix_first, gates_section, version_line

CHANGES = {
    "worse": "worse", "better": "better", "noise": "within noise", "few": "too few questions or documents", "changed": "changed",
    "not_comparable": "not comparable", "new": "new", "gone": "gone", "same": "the same",
}
INTERVALS = (
    "Brackets: 95 % interval. n: what a figure is over; where not all of it has a value, how many do. A figure without an interval was "
    "counted over everything, or its source gives none."
)
MOST = 10  # of what to fix first
FIRST = ("worse", "better", "noise", "few", "changed", "not_comparable")
REST = ("new", "gone", "same")


def document(report: OverviewReport) -> Document:
    """The verdict and what to fix first in every form; on a terminal no more than rubric, changes and cost."""
    missing = [*report.not_measured, *report.notes]
    sections = [
        Section("What to fix first", list(_first(report)), id="fix"),
        *([Section("Against the baseline", list(_baseline(report.diff)), id="diff")] if report.diff else []),
        Section("Rubric", list(_rubric(report.rubrics)), id="rubric"),
        *(replace(section, forms="long") for section in _parts(report)),
        Section("What the scores rest on", [rubric_figures(report.rubrics)] if report.rubrics else [], forms="long"),
        Section("Asked of models", costs(report.cost), forms="short"),
        Section("Not measured, and notes", [Items(missing, short=5)] if missing else [], forms="short"),
    ]
    sizes = f"{plural(len(report.sources), 'report')}, {plural(len(report.figures), 'figure')}"
    return Document(
        "Report over a run", "report", sections, name=report.title or "", about=sizes, lead=report.verdict,
        tally=list(_tally(report)), more="All figures: add -o report.html",
        end=version_line(report.run),
    )


def _tally(report: OverviewReport) -> Iterator[tuple[Tone, str]]:
    if not report.complete:
        yield "open", "not complete"
    tones: tuple[Tone, ...] = ("error", "warning")
    for severity in tones:
        if count := sum(priority.severity == severity for priority in report.priorities):
            yield severity, f"{plural(count, severity)} to fix"
    if report.diff:
        worse, better = (sum(change.verdict == verdict for change in report.diff.changes) for verdict in ("worse", "better"))
        yield "error" if worse else "skipped", f"{number(worse)} worse"
        yield "passed" if better else "skipped", f"{number(better)} better than the baseline"


def _first(report: OverviewReport) -> Iterator[Block]:
    pages = {source.file: address(source.page) for source in report.sources if source.page}
    return fix_first(report.priorities, MOST, "Nothing that these reports measure asks for it.", pages)


def _baseline(diff: OverviewDiff) -> Iterator[Block]:
    words = {True: "the judge moved", False: "the judge is the same", None: "whether the judge moved is not known"}
    lines = []
    for judge in diff.judge:
        people = "" if judge.agreement_before is None or judge.agreement_after is None else (
            f"; agreement with people {percent(judge.agreement_before)} then, {percent(judge.agreement_after)} now"
        )
        lines.append(f"{words[judge.moved]}: {judge.why}{people}")
    yield Items([*lines, *diff.notes], forms="long")
    yield Text(
        "Better and worse: the 95 % interval of the difference leaves 0 out, or everything was counted. The interval is made of both runs' "
        "intervals as if they were independent; over the same questions it is wider than it need be. With many figures, one in 20 moves by "
        "chance.", style="hint", forms="page",
    )
    yield changes(diff, ("worse", "better", "noise", "few"), short=15, forms="short")
    yield changes(diff, (*FIRST, "new", "gone"), long=25, forms="md")
    yield changes(diff, FIRST, forms="page")
    yield Items(diff.findings_new, title="Checks that fail now and did not:", long=20, forms="long")
    yield Items(diff.findings_gone, title="Checks that failed and do no more:", long=20, forms="long")
    yield Text(f"{number(sum(change.verdict == 'same' for change in diff.changes))} figures are the same.", forms="md")
    rest = [change for change in diff.changes if change.verdict in REST]
    if rest:
        yield Details(f"New, gone and unchanged figures ({number(len(rest))})", [changes(diff, REST, forms="page")])
    files = f"{plural(len(diff.files), 'file')}: {', '.join(diff.files[:3])}{', ...' if len(diff.files) > 3 else ''}"
    yield Text(f"Baseline: {files}; kgeval {', '.join(diff.kgeval)}.", style="hint", forms="page")


def _rubric(given: Sequence[Rubric]) -> Iterator[Block]:
    if not given:
        return
    yield Text(
        f"Five scores of 1 to 5; the mean passes at {PASS}. Each rests on the figures below by bands that are stated there. A dimension "
        "without a figure is not measured: it is neither 1 nor 5. Where what is not measured could turn the outcome, it is open. The score "
        "of the graph is that of the graph at this place, whether a system uses it or not.", style="hint", forms="page",
    )
    if len(given) == 1:
        yield Cards([
            Card(DIMENSIONS[score.dimension], "" if score.score is None else f"{score.score:.1f}",
                 "not measured" if score.score is None else f"of 5, from {plural(len(score.figures), 'figure')}")
            for score in given[0].scores
        ], forms="page")
    yield rubric(given)


def _parts(report: OverviewReport) -> list[Section]:
    """The parts of the template of [M], those of the evaluation in its order, then what they cost and rest on."""
    def table(part: Part, title: str, of: str = "System") -> list[Table]:
        return by_system(title, [figure for figure in report.figures if figure.part == part], of)

    return [
        _system(report), _scope(report, table("scope", "Questions", "File")), _graph(report),
        _part("retrieval", "Retrieval", [], [*table("retrieval", "Retrieval"), *table("latency", "Latency")]),
        _part("answers", "Answers", [], table("answers", "Answers")),
        _part("grounding", "Hallucination and grounding", [], table("grounding", "Hallucination and grounding")),
        _part("reasoning", "Reasoning depth", [], table("reasoning", "Reasoning depth")),
        _part("baseline", "Against baselines, and what changes do", _says(report, ("contamination", "matrix")),
              table("baseline", "Against baselines", "Systems"), "No baseline was measured."),
        _part("significance", "Significance", [*_says(report, ("comparison", "agreement")), INTERVALS],
              table("comparison", "Comparison and judge", "Systems")),
        _weaknesses(report),
        _part("cost", "Cost", [], [*costs(report.cost), *table("cost", "Cost of answers and of building")],
              "No model was asked, as far as the reports tell."),
        _part("sources", "Reports behind this one", [], [sources(report.sources)] if report.sources else [], ""),
    ]


def _part(id_: str, title: str, lines: Sequence[str], found: Sequence[Block], nothing: str = "Not measured.") -> Section:
    """`nothing`: what is said where there are neither lines nor anything found."""
    if not lines and not found and nothing:
        lines = [nothing]
    return Section(title, [*([Items(lines, long=20)] if lines else []), *found], id=f"part-{id_}")


def _system(report: OverviewReport) -> Section:
    """1: what was evaluated."""
    about_systems = ("answers", "retrieval", "grounding")
    systems = list(dict.fromkeys(figure.of for figure in report.figures if figure.of and figure.part in about_systems))
    graphs = list(dict.fromkeys(finding.graph for finding in report.findings if finding.graph))
    none = "No system's answers were scored: only the rest was looked at."
    lines = [f"{plural(len(systems), 'system')}: {', '.join(systems)}." if systems else none]
    lines += [f"{plural(len(graphs), 'graph')}: {', '.join(graphs)}."] if graphs else []
    models = list(dict.fromkeys((cost.kind, cost.use.stage, cost.use.model) for cost in report.cost))
    rows = [(TITLES.get(kind, kind), stage, model) for kind, stage, model in models]  # type: ignore[call-overload]
    found = [_table("Models", ("Report", "Stage", "Model"), rows, 3)] if rows else []
    return _part("system", "System", [*lines, *_says(report, ("build",))], found)


def _scope(report: OverviewReport, found: Sequence[Block]) -> Section:
    """2: data sets, places, questions."""
    places = [place_of(place) for place in dict.fromkeys(source.place for source in report.sources) if place_of(place)]
    lines = [f"{plural(len(places), 'place')}: {'; '.join(places)}."] if places else []
    lines += _says(report, ("questions", "check", "coverage", "answers"))
    return _part("scope", "Scope", lines or ["Nothing is told of questions."], found)


def _graph(report: OverviewReport) -> Section:
    """3: the graph's figures, its failed checks."""
    checks = {finding.rule_id for finding in report.findings}
    rows = [figure for figure in report.figures if figure.part == "graph" and figure.name not in checks]
    lines = _says(report, ("audit", "completeness", "accuracy"))
    bad = failed(report.findings)
    several = len({(finding.place, finding.graph) for finding in bad}) > 1
    checks_failed = [
        (finding.severity, f"{finding.title} ({finding.rule_id})", amount(finding, share=False), percent(finding.share),
         place_of(finding.place, finding.graph) if several else "")
        for finding in bad
    ]
    table = _table("Failed checks", ("Severity", "Check", "Found", "Share", "Where"), checks_failed, 2).filled(keep=range(4))
    found = [*by_system("Figures of the graph", rows), *([table] if bad else [])]
    open_ends = [finding for finding in report.findings if finding.status in ("skipped", "incomplete", "error")]
    if open_ends:
        lines.append(f"{plural(len(open_ends), 'check')} could not be answered, and are no pass: " + ", ".join(
            dict.fromkeys(finding.rule_id for finding in open_ends)) + ".")
    return _part("graph", "Quality of the graph", lines, found)


def _weaknesses(report: OverviewReport) -> Section:
    """10: what is not measured, what is missing, what gates say."""
    lines = [*(f"Not measured: {line}." for line in report.not_measured), *(f"Note: {line}." for line in report.notes)]
    stages = [(stage.id, stage.state.replace("_", " "), stage.reason or "") for stage in report.stages]
    gates = gates_section([gate.model_copy(update={"of": place_of(gate.place, gate.of) or None}) for gate in report.gates])
    found = [
        *([_table("Stages without a whole result", ("Stage", "State", "Why"), stages, 3)] if stages else []),
        *(replace(block, title="Gates") if isinstance(block, Table) else block for block in gates.blocks),
    ]
    return _part("weaknesses", "Weaknesses and gaps", lines or ["Nothing is missing of what this report asks for."], found)


def _says(report: OverviewReport, kinds: Sequence[str]) -> list[str]:
    """Sources' own sentences, with their place where there are several."""
    several = len({source.place for source in report.sources}) > 1
    lines: Iterator[str] = (
        (f"{place_of(source.place)}: " if several and place_of(source.place) else "") + line
        for kind in kinds for source in report.sources if source.kind == kind for line in source.says
    )
    return list(dict.fromkeys(lines))


def by_system(title: str, figures: Sequence[OverviewFigure], of: str = "System") -> list[Table]:
    """One row a figure: what, of whom, where, value with interval, n, signature and note. Columns that nothing fills are left out."""
    rows = [
        (figure.title + (" (less is better)" if figure.better == "lower" else ""), figure.of or "", place_of(figure.place),
         value_of(figure.value, figure.low, figure.high, figure.unit), _n(figure), figure.signature or "", figure.note or "")
        for figure in figures
    ]
    heads = ("Figure", of, "Where", "Value", "n", "Signature", "Note")
    return [_table(title, heads, rows, 3).filled(keep=(0, 3))] if rows else []


def _n(figure: OverviewFigure) -> str:
    """`96`, or `90 of 96` where not all have a value."""
    if figure.n is None:
        return ""
    return number(figure.n) if figure.n_scored in (None, figure.n) else f"{number(figure.n_scored or 0)} of {number(figure.n)}"


def rubric(rubrics: Sequence[Rubric]) -> Table:
    """A row a system and place, a column a dimension."""
    rows = []
    for rubric in rubrics:
        scores = {score.dimension: score for score in rubric.scores}
        cells = (NONE if scores[name].score is None else f"{scores[name].score:.1f}" for name in DIMENSIONS)
        outcome = {True: "passes", False: "does not pass"}.get(rubric.passed, "open")  # type: ignore[arg-type]
        mean = NONE if rubric.mean is None else f"{rubric.mean:.1f} ({rubric.measured} of {len(DIMENSIONS)})"
        rows.append((place_of(rubric.place, rubric.system) or "the graph", *cells, mean, outcome))
    heads = tuple(title.split(":")[0] for title in DIMENSIONS.values())
    return _table("", ("System", *heads, "Mean of measured", "Outcome"), rows, 1)


def rubric_figures(rubrics: Sequence[Rubric]) -> Table:
    """What each score rests on: figure, value, score, bands and whose they are."""
    rows = []
    for rubric in rubrics:
        for score in rubric.scores:
            who, what = place_of(rubric.place, rubric.system) or "the graph", DIMENSIONS[score.dimension].split(":")[0]
            if score.score is None:
                rows.append((who, what, score.reason or "", NONE, NONE, NONE, "", ""))
            for part in score.figures:
                ends = "" if part.score_low in (None, part.score_high) else f" ({part.score_low} to {part.score_high})"
                rows.append((
                    who, what, part.title, value_of(part.value, part.low, part.high, "share"), number(part.n) if part.n is not None else "",
                    f"{part.score}{ends}", part.bands, part.bands_by,
                ))
    heads = ("System", "Dimension", "Figure", "Value", "n", "Score (at the interval's ends)", "Bands", "Whose bands")
    return _table("", heads, rows, 3)


def changes(diff: OverviewDiff, only: Sequence[str], *, forms: Forms, short: int = 15, long: int = 500) -> Table:
    """Figures against the baseline's, worse first. `only`: verdicts."""
    order = list(CHANGES)
    tones: dict[str, Tone] = {"worse": "error", "better": "passed"}
    rows = [
        (Cell(CHANGES[change.verdict], tone=tones.get(change.verdict, "")), change.title, place_of(change.place, change.of),
         value_of(change.before, None, None, change.unit), value_of(change.after, None, None, change.unit), _difference(change),
         _both_n(change))
        for change in sorted(diff.changes, key=lambda change: order.index(change.verdict)) if change.verdict in only
    ]
    head = ("Verdict", "Figure", "Of", "Before", "After", "Difference", "n")
    return Table(head, rows, words=frozenset(range(3)), short=short, long=long, forms=forms)


def _difference(change: OverviewChange) -> str:
    if change.difference is None:
        return NONE
    if change.unit in ("share", "difference", "number"):
        return value_of(change.difference, change.low, change.high, "difference")
    return ("+" if change.difference > 0 else "") + number(change.difference)


def _both_n(change: OverviewChange) -> str:
    sides = [NONE if n is None else number(n) for n in (change.n_before, change.n_after)]
    return sides[1] if sides[0] == sides[1] else " then, ".join(sides) + " now"


def costs(given: Sequence[OverviewCost]) -> list[Block]:
    """Use of models by report and stage, and in all."""
    if not given:
        return []
    rows = [(TITLES.get(one.kind, one.kind), place_of(one.place), one.use.stage, one.use.model, *_use(one.use)) for one in given]  # type: ignore[call-overload]
    whole = _use(total(given))
    unknown = any(one.use.cost is None and one.use.calls for one in given) and total(given).cost is not None
    rows.append(("In all", "", "", "", *whole[:-1], whole[-1] + (" and what has no known price" if unknown else "")))
    heads = ("Report", "Where", "Stage", "Model", "Calls", "From the journal", "Tokens in", "Tokens out", "Cost")
    return [_table("", heads, rows, 4)]


def _use(use: ModelUse) -> tuple[str, ...]:
    use = use.in_all
    return (*(number(value) for value in (use.calls, use.from_journal, use.input_tokens, use.output_tokens)), money(use.cost))


def sources(given: Sequence[OverviewSource]) -> Table:
    """What was read, with a link to each report's own page."""
    rows = [
        (Cell(TITLES[one.kind], link=address(one.page) if one.page else ""), place_of(one.place), one.file,
         "complete" if one.complete else f"not complete: {one.reason}",
         f"{one.started}, kgeval {one.kgeval}" + ("" if one.seed is None else f", seed {one.seed}"), one.sha256[:16])
        for one in given
    ]
    return _table("", ("Report", "Where", "File", "State", "Made", "SHA-256 (first 16)"), rows, 6)


def address(path: str) -> str:
    """A path as a relative address: never one with a scheme of its own."""
    return path if path.startswith("./") and quote(path) == path else "./" + quote(path.replace("\\", "/"), errors="replace")


def _table(title: str, head: Sequence[str], rows: Sequence[Sequence[str | Cell]], words: int) -> Table:
    """A table whose first `words` columns hold words."""
    return Table(head, rows, title=title, words=frozenset(range(words)), short=15, long=25)
