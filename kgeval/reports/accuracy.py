"""What an accuracy report says, as rows and sentences for every form: estimates with their intervals, labels, contradicted items."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kgeval.auditing.accuracy.report import best
from kgeval.records import AccuracyKind, AccuracyReport, Estimate, ItemVerdict
from kgeval.reports.display import joined, number, percent, plural, visible
from kgeval.reports.measures import causes, estimated, over, who

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
    return f"Accuracy {estimated(first)}: {SUBJECTS[report.kind]} ({who(first)}; {over(first)}). {tail}"


def _lower(title: str) -> str:
    """A heading in the middle of a sentence."""
    return title[:1].lower() + title[1:]


def bounds(one: Estimate) -> str:
    """What the share would be if all unscored items were wrong, or right; "" where every item is scored."""
    if one.n == one.n_scored or one.bound_low is None or one.bound_high is None:
        return ""
    return f"{percent(one.bound_low)} to {percent(one.bound_high)}"


def name_of(one: Estimate) -> str:
    """What an estimate is of, and whose labels it rests on: `accuracy (judge alone, uncorrected)`; of corrections, which one."""
    corrected = one.labelled_by == "judge corrected by people"
    ways = [who(one), *(visible(word, longest=40) for word in one.method.replace(",", " ").split()[:1] if corrected)]
    return f"{visible(one.of.replace('_', ' '), longest=60)} ({', '.join(ways)})"


def split_title(title: str, rows: Sequence[Estimate]) -> str:
    """The title of a split with whose labels it rests on: people may have labelled the whole and the judge each type."""
    given = list(dict.fromkeys(who(one) for one in rows))
    return f"{title} ({given[0]})" if len(given) == 1 else title


def methods(report: AccuracyReport) -> list[str]:
    """The estimators and intervals that were used, each once."""
    return [visible(method, longest=200) for method in dict.fromkeys(one.method for one in report.estimates)]


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
    names = sorted(table, key=lambda name: (_place(name), order.index(name) if name in order else len(order), name))
    return [Pile(name, LABELS.get(name, name.replace("_", " ")) if name else UNSCORED, table[name], name in BAD) for name in names]


def label_of(item: ItemVerdict) -> str:
    """A person's label, else the judge's, "" for an unscored item."""
    return item.human or (item.label or "" if item.status == "scored" else "")


def disputed(report: AccuracyReport) -> list[ItemVerdict]:
    """Items that people and the judge label differently."""
    return [item for item in report.items if item.human and item.label and item.human != item.label]


def needed_lines(report: AccuracyReport) -> list[tuple[str, int]]:
    """(half-width as a percentage, sample size), widest first."""
    pairs = sorted(report.needed.items(), key=lambda pair: (-_width(pair[0]), pair[0]))
    return [(f"± {percent(_width(width))}" if _width(width) else visible(width, longest=40), n) for width, n in pairs]


def agreement_rows(table: Mapping[str, float | int | None]) -> list[tuple[str, str]]:
    """Figures of agreement or of pairs by name, as texts; null is "no figure"."""
    def told(value: float | int | None) -> str:
        return "no figure" if value is None or not math.isfinite(value) else number(value)

    return [(visible(name.replace("_", " "), longest=80), told(value)) for name, value in table.items()]


def unscored_line(report: AccuracyReport) -> str:
    """How many sampled items have no label and why; "" where all have one."""
    one = max(report.estimates, key=lambda one: (one.labelled_by == "judge", sum(one.failures.values())), default=None)
    if one is None or one.n == one.n_scored:
        return ""
    failures = causes(one.failures) or "no cause given"
    between = bounds(one)
    told = f"; if all of them were wrong, or right: {between}" if between else ""
    return f"{plural(one.n - one.n_scored, 'item')} unscored ({failures}){told}"


def flag_line(report: AccuracyReport) -> str:
    """Flags of entailed items, "" where there are none."""
    parts = [f"{number(n)} {visible(name, longest=40)}" for name, n in sorted(report.flags.items()) if n]
    return f"Of the entailed ones: {joined(parts)}." if parts else ""


def _place(name: str) -> int:
    if name in BAD:
        return 0
    if name in GOOD:
        return 3
    return 2 if name == "" else 1


def _width(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0
