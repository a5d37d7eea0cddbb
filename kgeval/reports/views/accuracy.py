"""Accuracy by sampling: estimates with their intervals, labels, what is contradicted."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from kgeval.auditing.accuracy.report import best
from kgeval.format import interval, joined, labels_of, number, percent, plural, visible
from kgeval.format import share as share_of
from kgeval.records import AccuracyKind, AccuracyReport, Estimate, ItemVerdict
from kgeval.reports.document import Block, Cell, Details, Document, Figure, Items, Section, Table, Text, Tone
from kgeval.reports.measures import causes, counted, estimated, items_needed, over
from kgeval.reports.page import MOST_ROWS
from kgeval.reports.usage import usage
from kgeval.reports.views.parts import cut_at, drawn, findings_section, foot, gate_tally, gates_section, server_of

SUBJECTS: dict[AccuracyKind, str] = {
    "relations": "relations that their passages entail", "entities": "entities that are real and of the right type",
    "duplicates": "reported duplicates that are the same",
}
LABELS: dict[str, str] = {
    "contradicted": "Contradicted by their passages", "not_an_entity": "Not an entity", "wrong_type": "Wrong type",
    "different": "Not the same", "not_stated": "Not stated in their passages", "entailed": "Entailed", "right": "Right", "same": "The same",
}
BAD = ("contradicted", "not_an_entity", "wrong_type", "different")
GOOD = ("entailed", "right", "same")
UNSCORED = "Unscored"


def document(report: AccuracyReport) -> Document:
    """The estimates, by type, document and class, what the passages contradict, the sample; on the page every item with its passages."""
    tally: list[tuple[Tone, str]] = []
    for pile in piles(report):
        tone: Tone = "error" if pile.bad else "passed" if pile.label in GOOD else "skipped" if pile.label else "open"
        tally.append((tone, f"{number(len(pile.items))} {_lower(pile.title)}"))
    sections = [
        gates_section(report.gates), Section("Estimates", list(_estimates(report)), id="estimates"), _split("By type", report.by_type),
        *([replace(_split("By type and document", report.by_stratum), forms="long")] if report.by_stratum else []),
        *([_split("Consistency by type", report.consistent_by_type, "consistent")] if report.consistent_by_type else []),
        _split("By class", report.by_class), replace(_split("By document", report.by_document), forms="long"),
        *_brief(report), *_items(report),
        Section("The sample", list(_sample(report)), id="sample"), _calibration(report), findings_section(report.findings),
    ]
    return Document(
        f"Accuracy of {report.kind}", f"accuracy of {report.kind}", sections, name=report.graph or "whole database",
        about=f"layout {visible(report.layout.name, longest=40)}", server=server_of(report),
        lead=[verdict(report)], tally=[*gate_tally(report.gates), *tally], notes=report.notes, foot=usage(report.run),
        more="All sampled items with their passages: add -o report.html", end=foot(report.run, report.layout.name),
    )


def _estimates(report: AccuracyReport) -> Iterator[Block]:
    if not report.estimates:
        return
    yield Text(
        "A share of what the sample was drawn from, with its 95 % interval. A judge alone makes mistakes of its own: its estimate is "
        "uncorrected. Bounds: all unscored items wrong, or all right.", style="hint", forms="page",
    )
    yield Table(("Estimate", "share", "95 %", "n", "scored", ""), [_row(name_of(estimate), estimate) for estimate in report.estimates])
    methods = [visible(method, longest=200) for method in dict.fromkeys(estimate.method for estimate in report.estimates)]
    yield Text(f"by {'; '.join(methods)}", style="hint", forms="short")
    made = [
        (name_of(estimate), estimate.method, "" if estimate.clusters is None else number(estimate.clusters), bounds(estimate),
         causes(estimate.failures))
        for estimate in report.estimates
    ]
    yield Table(("Estimate", "Method", "Clusters", "Bounds", "Unscored"), made, words=frozenset({0, 1, 4}), forms="long")


def _row(name: str | Cell, estimate: Estimate) -> tuple[str | Cell, ...]:
    between = interval(estimate.low, estimate.high) or "-"
    return name, share_of(estimate.value), between, number(estimate.n), number(estimate.n_scored), drawn(estimate)


def _split(title: str, rows: Sequence[Estimate], share: str = "accuracy") -> Section:
    cells = [_row(Cell(row.of, user=True), row) for row in rows]
    table = Table(("", share, "95 %", "n", "scored", ""), cells, short=5, long=10)
    return Section(split_title(title, rows), [table] if rows else [])


def _brief(report: AccuracyReport) -> Iterator[Section]:
    """What is wrong, for the short forms; Markdown shows a passage with it."""
    for pile in piles(report):
        if pile.bad:
            names = [Cell(item.text or item.item.name, user=True) for item in pile.items]
            passages = [next((one.text for one in report.passages_of(item)), "") for item in pile.items]
            judged = [replace(name, note=visible(text, longest=240)) if text else name for name, text in zip(names, passages, strict=True)]
            lists = [Items(names, short=5, forms="short"), Items(judged, long=10, forms="md")]
            yield Section(f"{pile.title} ({number(len(pile.items))})", lists, forms="brief")


def _items(report: AccuracyReport) -> Iterator[Section]:
    """Every sampled item with its passages, errors first and open."""
    for at, pile in enumerate(piles(report)):
        given = [_item(report, item, pile, open_=pile.bad and place < 5) for place, item in enumerate(pile.items[:MOST_ROWS])]
        few = given if pile.bad else given[:5]
        rest = [Details(f"{number(len(given) - len(few))} more", given[len(few):])] if given[len(few):] else []
        differ = len(disputed(report))
        hint = f"People and the judge differ on {number(differ)} of these items; the label of people counts." if differ and not at else ""
        blocks = [*few, *rest, *cut_at(MOST_ROWS, len(pile.items))]
        yield Section(f"{pile.title} ({number(len(pile.items))})", blocks, hint=hint, id=f"pile-{at + 1}", forms="page")


def _item(report: AccuracyReport, item: ItemVerdict, pile: Pile, *, open_: bool) -> Details:
    chips = [*([item.item.type] if item.item.type else []), *item.flags]
    chips += [f"people: {item.human}"] if item.human else []
    chips += [f"judge: {item.label}"] if item.human and item.label else []
    chips += [item.consistency] if item.consistency else []
    passages = report.passages_of(item)
    quoted = []
    for passage in passages[:5]:
        place = ", ".join(filter(None, [passage.document, f"chunk {passage.chunk_id}" if passage.chunk_id else ""]))
        quoted.append(Text(f"{passage.text} ({place})" if place else passage.text))
    facts = [item.item.kind + (f" {item.item.element_id}" if item.item.element_id else "")]
    facts += [f"stands for {number(item.weight)} {report.kind}"] if item.weight is not None else []
    facts += [f"call {item.call}"] if item.call else []
    return Details(item.text or item.item.name, [
        *([Text(item.reason, style="lead")] if item.reason else []), *(quoted or [Text("No passage.")]),
        *cut_at(5, len(passages), "passages"), Text(" · ".join(facts), style="hint"),
    ], open=open_, tone="error" if pile.bad else "open" if item.status != "scored" else "passed", chips=chips)


def _sample(report: AccuracyReport) -> Iterator[Block]:
    flags = [f"{number(n)} {visible(name, longest=40)}" for name, n in sorted(report.flags.items()) if n]
    flagged = f" Of the entailed ones: {joined(flags)}." if flags else ""
    labels = f"Sample: {counted(report.labels)}.{flagged}" if report.labels else ""
    yield Items([line for line in (labels, unscored_line(report), *design_lines(report)) if line], short=20)
    needed = needed_lines(report)
    figures = [(f"items needed for {width}", items_needed(n)) for width, n in needed]
    if needed:
        yield Text(f"Items needed: {', '.join(f'{items_needed(n)} for {width}' for width, n in needed)}", forms="short")
    for name, table in (("Judge and people", report.agreement), ("Pairs", report.duplicates)):
        rows = agreement_rows(table)
        figures += [(f"{_lower(name)}: {key}", value) for key, value in rows]
        if rows:
            yield Text(f"{name}: " + ", ".join(f"{key} {value}" for key, value in rows), forms="short")
    if figures:
        hint = "Items needed: sample size for an interval of this half-width, at the accuracy and clustering found here."
        yield Table(("Figure", "Value"), figures, hint=hint if needed else "", forms="long")
    if report.design.strata:
        strata = [(Cell(name, user=True), number(n)) for name, n in sorted(report.design.strata.items())]
        yield Table(("Stratum", "items drawn"), strata, forms="page")


def _calibration(report: AccuracyReport) -> Section:
    from kgeval.reports.plots import calibration

    bins = [one for one in report.calibration if one.n]
    points = [(one.confidence, one.accuracy, one.n) for one in bins if one.confidence is not None and one.accuracy is not None]
    rows = [(f"{number(one.low)} to {number(one.high)}", number(one.n), share_of(one.confidence), share_of(one.accuracy)) for one in bins]
    table = Table(("Confidence", "n", "Mean confidence", "Judged accuracy"), rows)
    plot = Figure(
        calibration(points, name="calibration") or "", "Stored confidence against judged accuracy",
        "A graph whose stored confidence can be trusted lies on the dotted line.", data=table,
    )
    return Section("Calibration", [plot] if bins else [], id="calibration", forms="page")


@dataclass(frozen=True)
class Pile:
    """The sampled items of one label. `bad`: an error of the graph."""

    label: str
    title: str
    items: list[ItemVerdict]
    bad: bool


def headline(report: AccuracyReport) -> Estimate | None:
    """The estimate to print first: the most trustworthy one of what the report estimates first."""
    return best(report.estimates, report.estimates[0].of) if report.estimates else None


def verdict(report: AccuracyReport) -> str:
    """The outcome in one or two sentences; says whose labels they are and what the estimate is over."""
    first = headline(report)
    if first is None:
        return f"No estimate: none of {plural(report.design.drawn, 'sampled item')} has a label."
    others = [
        f"{number(len(pile.items))} {_lower(visible(pile.title, longest=60))}"
        for pile in piles(report) if pile.label and pile.label not in GOOD
    ]
    tail = f"In the sample: {joined(others)}." if others else "No labelled item of the sample is wrong."
    return f"Accuracy {estimated(first)}: {SUBJECTS[report.kind]} ({labels_of(first)}; {over(first)}). {tail}"


def _lower(title: str) -> str:
    """A heading in the middle of a sentence."""
    return title[:1].lower() + title[1:]


def bounds(estimate: Estimate) -> str:
    """What the share would be if all unscored items were wrong, or right; "" where every item is scored."""
    if estimate.n == estimate.n_scored or estimate.bound_low is None or estimate.bound_high is None:
        return ""
    return f"{percent(estimate.bound_low)} to {percent(estimate.bound_high)}"


def name_of(estimate: Estimate) -> str:
    """What an estimate is of, and whose labels it rests on: `accuracy (judge alone, uncorrected)`; of corrections, which one."""
    corrected = estimate.labelled_by == "judge corrected by people"
    ways = [labels_of(estimate), *(visible(word, longest=40) for word in estimate.method.replace(",", " ").split()[:1] if corrected)]
    return f"{visible(estimate.of.replace('_', ' '), longest=60)} ({', '.join(ways)})"


def split_title(title: str, rows: Sequence[Estimate]) -> str:
    """The title of a split with whose labels it rests on: people may have labelled the whole and the judge each type."""
    given = list(dict.fromkeys(labels_of(row) for row in rows))
    return f"{title} ({given[0]})" if len(given) == 1 else title


def design_lines(report: AccuracyReport) -> list[str]:
    """How the sample was drawn, in sentences."""
    design = report.design
    lines = [
        f"{visible(design.method, longest=300)}, seed {design.seed}: {number(design.drawn)} of {number(design.population)} "
        f"{report.kind} drawn (wanted: {number(design.wanted)}) in {number(design.clusters_drawn)} of {plural(design.clusters, 'cluster')}."
    ]
    if design.without_source:
        lines.append(f"{number(design.without_source)} without a source passage could not be judged; the estimates do not speak for them.")
    if design.wanted > design.drawn:
        lines.append("Fewer were drawn than wanted: there are no more.")
    return lines


def piles(report: AccuracyReport) -> list[Pile]:
    """The items by label, errors first, then what is not stated, unscored items, and what is right. A person's label counts first."""
    table: dict[str, list[ItemVerdict]] = {}
    for item in report.items:
        table.setdefault(label_of(item), []).append(item)
    order = [*LABELS, ""]
    place = {**dict.fromkeys(BAD, 0), "": 2, **dict.fromkeys(GOOD, 3)}
    names = sorted(table, key=lambda name: (place.get(name, 1), order.index(name) if name in order else len(order), name))
    return [Pile(name, LABELS.get(name, name.replace("_", " ")) if name else UNSCORED, table[name], name in BAD) for name in names]


def label_of(item: ItemVerdict) -> str:
    """A person's label, else the judge's, "" for an unscored item."""
    return item.human or (item.label or "" if item.status == "scored" else "")


def disputed(report: AccuracyReport) -> list[ItemVerdict]:
    """Items that people and the judge label differently."""
    return [item for item in report.items if item.human and item.label and item.human != item.label]


def needed_lines(report: AccuracyReport) -> list[tuple[str, int | None]]:
    """(half-width as a percentage, sample size or null for too many), widest first."""
    pairs = sorted(report.needed.items(), key=lambda pair: (-_width(pair[0]), pair[0]))
    return [(f"± {percent(_width(width))}" if _width(width) else visible(width, longest=40), n) for width, n in pairs]


def agreement_rows(table: Mapping[str, float | int | None]) -> list[tuple[str, str]]:
    """Figures of agreement or of pairs by name, as texts; null is "no figure"."""
    def told(value: float | int | None) -> str:
        return "no figure" if value is None or not math.isfinite(value) else number(value)

    return [(visible(name.replace("_", " "), longest=80), told(value)) for name, value in table.items()]


def unscored_line(report: AccuracyReport) -> str:
    """How many sampled items have no label and why; "" where all have one."""
    one = max(report.estimates, key=lambda estimate: (estimate.labelled_by == "judge", sum(estimate.failures.values())), default=None)
    if one is None or one.n == one.n_scored:
        return ""
    failures = causes(one.failures) or "no cause given"
    between = bounds(one)
    told = f"; if all of them were wrong, or right: {between}" if between else ""
    return f"{plural(one.n - one.n_scored, 'item')} unscored ({failures}){told}"


def _width(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0
