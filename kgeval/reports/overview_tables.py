"""Figures as tables of texts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from kgeval.format import money, number
from kgeval.overview.bands import DIMENSIONS
from kgeval.overview.costs import total
from kgeval.overview.kinds import TITLES
from kgeval.overview.wording import NONE, place_of, value_of
from kgeval.records import OverviewChange, OverviewCost, OverviewDiff, OverviewFigure, OverviewSource, Rubric

CHANGES = {
    "worse": "worse", "better": "better", "noise": "within noise", "few": "too few questions", "changed": "changed",
    "not_comparable": "not comparable", "new": "new", "gone": "gone", "same": "the same",
}


@dataclass(frozen=True)
class Table:
    """A table of texts. `words`: how many columns at the left are words; the others are figures. `links`: row -> address of its first
    cell. `classes`: row -> a word for its colour."""

    title: str
    head: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    words: int = 1
    links: dict[int, str] = field(default_factory=dict)
    classes: dict[int, str] = field(default_factory=dict)


def by_system(title: str, figures: Iterable[OverviewFigure], of: str = "System") -> list[Table]:
    """One row a figure: what, of whom, where, value with interval, n, signature and note. Columns that nothing fills are left out."""
    given = list(figures)
    if not given:
        return []
    columns: list[tuple[str, list[str], bool]] = [
        ("Figure", [_titled(one) for one in given], True), (of, [one.of or "" for one in given], True),
        ("Where", [place_of(one.place) for one in given], True),
        ("Value", [value_of(one.value, one.low, one.high, one.unit) for one in given], False), ("n", [_n(one) for one in given], False),
        ("Signature", [one.signature or "" for one in given], False), ("Note", [one.note or "" for one in given], False),
    ]
    kept = [column for column in columns if any(column[1]) or column[0] in ("Figure", "Value")]
    rows = list(zip(*(cells for _, cells, _ in kept), strict=True))
    return [Table(title, tuple(head for head, _, _ in kept), rows, sum(words for _, _, words in kept))]


def _titled(one: OverviewFigure) -> str:
    return one.title + (" (less is better)" if one.better == "lower" else "")


def _n(one: OverviewFigure) -> str:
    """`96`, or `90 of 96` where not all have a value."""
    if one.n is None:
        return ""
    return number(one.n) if one.n_scored in (None, one.n) else f"{number(one.n_scored or 0)} of {number(one.n)}"


def rubric(rubrics: Sequence[Rubric]) -> Table | None:
    """A row a system and place, a column a dimension."""
    if not rubrics:
        return None
    rows = []
    for one in rubrics:
        scores = {score.dimension: score for score in one.scores}
        cells = (NONE if scores[name].score is None else f"{scores[name].score:.1f}" for name in DIMENSIONS)
        outcome = {True: "passes", False: "does not pass"}.get(one.passed, "open")  # type: ignore[arg-type]
        mean = NONE if one.mean is None else f"{one.mean:.1f} ({one.measured} of {len(DIMENSIONS)})"
        rows.append((place_of(one.place, one.system) or "the graph", *cells, mean, outcome))
    heads = tuple(title.split(":")[0] for title in DIMENSIONS.values())
    return Table("Rubric, 1 to 5", ("System", *heads, "Mean of measured", "Outcome"), rows)


def rubric_figures(rubrics: Sequence[Rubric]) -> Table | None:
    """What each score rests on: figure, value, score, bands and whose they are."""
    rows = []
    for one in rubrics:
        for score in one.scores:
            who, what = place_of(one.place, one.system) or "the graph", DIMENSIONS[score.dimension].split(":")[0]
            if score.score is None:
                rows.append((who, what, score.reason or "", NONE, NONE, NONE, "", ""))
            for part in score.figures:
                ends = "" if part.score_low in (None, part.score_high) else f" ({part.score_low} to {part.score_high})"
                rows.append((
                    who, what, part.title, value_of(part.value, part.low, part.high, "share"), number(part.n) if part.n is not None else "",
                    f"{part.score}{ends}", part.bands, part.bands_by,
                ))
    heads = ("System", "Dimension", "Figure", "Value", "n", "Score (at the interval's ends)", "Bands", "Whose bands")
    return Table("What the scores rest on", heads, rows, 3) if rows else None


def changes(diff: OverviewDiff, *, only: Sequence[str] = ()) -> Table | None:
    """Figures against the baseline's, worse first. `only`: verdicts."""
    order = list(CHANGES)
    rows = sorted((one for one in diff.changes if not only or one.verdict in only), key=lambda one: order.index(one.verdict))
    if not rows:
        return None
    cells = [
        (CHANGES[one.verdict], one.title, place_of(one.place, one.of), value_of(one.before, None, None, one.unit),
         value_of(one.after, None, None, one.unit), _difference(one), _both_n(one))
        for one in rows
    ]
    classes = {at: {"worse": "error", "better": "passed"}.get(one.verdict, "") for at, one in enumerate(rows)}
    return Table("Against the baseline", ("Verdict", "Figure", "Of", "Before", "After", "Difference", "n"), cells, 3, classes=classes)


def _difference(one: OverviewChange) -> str:
    if one.difference is None:
        return NONE
    if one.unit in ("share", "difference", "number"):
        return value_of(one.difference, one.low, one.high, "difference")
    return ("+" if one.difference > 0 else "") + number(one.difference)


def _both_n(one: OverviewChange) -> str:
    sides = [NONE if n is None else number(n) for n in (one.n_before, one.n_after)]
    return sides[1] if sides[0] == sides[1] else " then, ".join(sides) + " now"


def costs(given: Sequence[OverviewCost]) -> list[Table]:
    """Use of models by report and stage, and in all."""
    if not given:
        return []
    rows = [(TITLES.get(one.kind, one.kind), place_of(one.place), one.use.stage, one.use.model, *_use(one)) for one in given]  # type: ignore[call-overload]
    whole = _use(OverviewCost(kind="", use=total(given)))
    unknown = any(one.use.cost is None and one.use.calls for one in given) and total(given).cost is not None
    rows.append(("In all", "", "", "", *whole[:-1], whole[-1] + (" and what has no known price" if unknown else "")))
    heads = ("Report", "Where", "Stage", "Model", "Calls", "From the journal", "Tokens in", "Tokens out", "Cost")
    return [Table("Asked of models", heads, rows, 4)]


def _use(one: OverviewCost) -> tuple[str, ...]:
    use = one.use
    return (*(number(value) for value in (use.calls, use.from_journal, use.input_tokens, use.output_tokens)), money(use.cost))


def sources(given: Sequence[OverviewSource]) -> Table:
    """What was read, with a link to each report's own page."""
    rows = [
        (TITLES[one.kind], place_of(one.place), one.file, "complete" if one.complete else f"not complete: {one.reason}",
         f"{one.started}, kgeval {one.kgeval}" + ("" if one.seed is None else f", seed {one.seed}"), one.sha256[:16])
        for one in given
    ]
    links = {at: one.page for at, one in enumerate(given) if one.page}
    return Table("Reports", ("Report", "Where", "File", "State", "Made", "SHA-256 (first 16)"), rows, 6, links)


