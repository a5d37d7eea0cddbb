"""Two or more systems compared by a judge: which is better and by how much, what weakens that, then every figure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from kgeval.format import bracketed, chance, figure, joined, number, plural, share, signed, visible
from kgeval.records import AlignmentCount, ComparisonReport, Estimated, JudgeReport, PairResult, Quantiles, Ranking, Rates
from kgeval.reports import plots_comparison as plots
from kgeval.reports.document import Block, Card, Cards, Cell, Details, Document, Figure, Forms, Items, Raw, Section, Table, Text, columns
from kgeval.reports.measures import questions_needed
from kgeval.reports.page import filled_pairs
from kgeval.reports.usage import usage
from kgeval.reports.views.pairs import (
    ALL,
    FEW,
    OVERALL,
    TOO_FEW,
    Group,
    PairView,
    between,
    ends,
    lost,
    pair_name,
    points,
    scored,
    starred,
    verdict,
    view_of,
    word,
)
from kgeval.reports.views.parts import gate_tally, gates_section
from kgeval.reports.views.stats import DRIFT, SELECTION, drift_lines, drift_rows

MOST_OPENED = 100  # questions of the drill-down on the page
MOST_PAIRS = 60  # pairs with boxes and all their figures
MOST_LINES = 6  # pairs with a plot over trials
MOST_ASPECTS = 3  # pairs that a terminal shows by aspect and group
MOST_MATRIX = 50  # systems in a heat map that stands open
MOST_FOLDED = 20  # systems in a folded one
MOST_NOTES = 8  # systems up to which n and interval stand in the cells of a heat map
TRIALS = {"regenerate": "in each, the systems answer again", "rejudge": "the answers stay, the judge is asked again"}
PROCEDURES = {
    "scores": "points for both answers in both orders", "single": "points for one answer at a time",
    "pairwise-choice": "a winner in both orders", "differential": "points for what only one answer says",
    "biased": "a winner, one order, one call, lengths as they are",
}
PAIR = "Pair, A vs B"
RATES = ("A wins, ties, B wins", "Relative win rate")
WORDS = frozenset({0, 1})
Row = tuple[str | Cell, ...]


def document(report: ComparisonReport) -> Document:
    """The verdict, what weakens it, the pairs; on a page all figures with their pictures, and questions to read."""
    view = view_of(report)
    judges = [word(model.name) for model in report.run.models if model.role == "judge"]
    least = min((pair.n_scored for pair in view.first()), default=0)
    sizes = [plural(len(view.pairs), "pair"), f"at least {plural(least, 'question')} a pair", *(f"judge {name}" for name in judges)]
    names = [word(system) for system in view.systems]
    weak = list(weak_points(report))
    lacking = tuple(f"{system}: lacks " for system, questions in report.missing.items() if questions)  # said among the weak points
    seed = "" if report.run.seed is None else f", seed {report.run.seed}"
    return Document(
        "Comparison", "compare", list(_sections(view, weak)), about=", ".join(sizes), lead=verdict(view),
        tally=list(gate_tally(report.gates)),
        name=joined(names) if 0 < len(names) <= 4 else plural(len(names), "system"),
        notes=[note for note in report.notes if note.removeprefix("judge: ") not in weak and not note.startswith(lacking)],
        foot=[
            f"Procedure: {stamp(view)}.", f"Signature: {word(report.signature, 300)}",
            f"kgeval {word(report.run.kgeval)}{seed}, {word(report.run.started)}, {report.run.seconds:.1f} s", *usage(report.run),
        ],
        more="Boxes, heat maps, judge, questions opened: add -o comparison.html",
    )


def weak_points(report: ComparisonReport) -> Iterator[str]:
    """What makes the verdict less sure than it looks, the gravest first."""
    from kgeval.comparison.results.build import STOPPED, TOO_MANY, cautions
    from kgeval.comparison.results.judge import MANY_FLIPS

    yield from (note for note in report.notes if note == STOPPED or note.endswith(TOO_MANY))
    yield from cautions(report)
    flips = report.judge[0].flips if report.judge else None
    if flips is not None and flips > MANY_FLIPS and not any("flips" in note or "turns round" in note for note in report.judge[0].notes):
        yield f"verdict flips when the order is swapped, in {share(flips)} of the question-trials"
    if report.drift is not None and report.drift.moved:
        yield "the judge moved: on the anchors it does not judge as it did in the baseline"
    if any(rate.selection_p is not None and rate.selection_p < 0.05 for rate in report.corrected):
        yield "the questions that people labelled are no random part of the judged ones: no correction by their labels holds"
    yield from (
        f"{word(system)} lacks {plural(len(questions), 'question')}, left out of its pairs"
        for system, questions in report.missing.items() if questions
    )


def stamp(view: PairView) -> str:
    """What stands below every figure: the procedure, the trials and the kind of interval."""
    report = view.report
    most = max((pair.trials for pair in report.pairs), default=1)
    grouped = {one.groups.unit for one in report.outcomes if one.groups.groups < one.groups.questions}
    over = joined([f"{word(unit)}s" for unit in sorted(grouped)]) or "questions"
    kind = f"95 %, over {over}" + ("; pairs stopped when sure: confidence sequence, always valid" if view.stops else "")
    asked = f"; {plural(report.requests, 'different request')}" if report.requests else ""
    return f"{PROCEDURES[report.procedure]}; {plural(most, 'trial')} ({TRIALS[report.trial_kind]}){asked}; intervals: {kind}"


def _sections(view: PairView, weak: Sequence[str]) -> Iterator[Section]:
    report, below = view.report, Text(f"{stamp(view)}.", style="hint", forms="page")

    def stamped(
        title: str, id_: str, blocks: Iterable[Block], *, hint: str = "", forms: Forms = "all", folded: bool = False,
        stamp: bool = True,
    ) -> Section:
        given, above = list(blocks), [Text(hint, style="hint", forms="page")] if hint else []
        known = not all(block.empty for block in given)
        return Section(title, [*above, *given, *([below] if stamp else [])] if known else [], id=id_, folded=folded, forms=forms)

    if weak:
        lacking = [
            Details(f"Questions that {word(system)} lacks", [Items(Cell(id_, user=True) for id_ in questions)])
            for system, questions in report.missing.items() if questions
        ]
        yield Section("What weakens this result", [Items(weak, longest=400), *lacking], id="weak")
    yield stamped("Pairs", "result", _pairs(view))
    yield gates_section(report.gates)
    all_and_rest = [(pair, view.result(pair.system_a, pair.system_b)) for pair in (report.known.pairs if report.known else [])]
    yield Section("With and without what the model knows", [Table((PAIR, "All questions", "Without the known", "n", "n without"), [
        (pair_name(pair), *(f"{signed(one.relative.value)} {between(one.relative)}".rstrip() if one else "-" for one in (pair, rest)),
         *(number(one.n_scored) if one else "-" for one in (pair, rest))) for pair, rest in all_and_rest
    ], short=15, long=30)], id="known", hint=(
        "Relative win rate with its 95% CI. All other figures of this report are without the known questions."
    ))
    yield stamped("By data set", "datasets", [_datasets(view)], forms="page", hint=(
        "Overall, data set by data set. The bars show A's wins, ties and B's wins, from the left; the boxes A's win rate (above) and B's "
        "(below) over trials."
    ))
    yield Section("Relative win rate by aspect and group", list(_groups(view)), id="groups", forms="brief")
    yield stamped("Ranking", "ranking", _ranking(report.ranking) if report.ranking else [])
    yield stamped("The judge", "judge", _judge(report) if report.judge else [], folded=True, hint=(
        "What the judge's own verdicts say of it. Verdict flips when the order is swapped: question-trials that A wins in one order "
        "and B in the other. Same again: repeats of one order with the same winner. Tie within: points by which the judge's own noise "
        "moves a question from one order to the other; a smaller difference is a tie."
    ))
    meanings = "; ".join(f"{name}: {PROCEDURES.get(name, 'another procedure')}" for name in report.contrast)
    yield stamped("Judge bias", "biases", [_contrast(view)], stamp=False, hint=(  # its rows are other procedures, too
        f"The same pairs under other procedures. {meanings}. Where an interval under another procedure leaves 0 and this one's does "
        "not, that procedure would have reported a gain that this one does not find."
    ))
    yield stamped("Checks", "checks", checks(report))
    yield stamped("Over trials", "trials", _trials(view), forms="page", hint=(
        "Win rates: A above, B below, 0 % to 100 %. A box holds the middle half of the trials, its upright line is the median, whiskers "
        "reach to the farthest trial within 1.5 times the box, dots are outliers. Boxes show the spread of trials, not of questions: the "
        "interval above is wider, and it is the one that counts."
    ))
    yield Section("Win rate trial by trial", list(_lines(view)), id="lines", wide=True, forms="page", hint=(
        "Percent of questions by trial: A wins (green), B wins (orange). A line that climbs or falls means that trials are not alike."
    ))
    first = "Row minus column: green where the row is better, orange where the column is." if len(view.systems) > 2 else (
        "A minus B: green where A is better, orange where B is."
    )
    yield stamped("Heat maps of the relative win rate", "maps", maps(view), forms="page", hint=(
        f"{first} *: p at most 0.05 after Holm's correction for everything in this report; overall on all questions: for all pairs. "
        f"{TOO_FEW.capitalize()}: under {FEW} questions; no shade, no star, nothing is concluded. Means of data sets give each data set "
        "the same weight."
    ))
    yield Section("Bringing lengths together", [_alignment(report)], id="alignment", forms="long", folded=True, hint=(
        "Question-trials. Equal: near enough as they were; adjusted: the system answered again with a target length; forced: words were "
        "added; discarded: still too far apart, not judged. Gap: median difference in words. Kept: share of claims of the free answers "
        "that the aligned ones still make."
    ))
    yield Section("Tokens and time", [_cost(view)], id="cost", forms="long", folded=True, hint=(
        "Means of the free answers, before their lengths were brought together. Win rate: over all opponents, ties count half. A dash: "
        "the answers do not tell."
    ))
    yield stamped("All figures", "figures", _figures(view), forms="page", hint=(
        "A better: chance that A is better on a question, ties half. Needs: questions for the difference seen. Wilcoxon, on points, is not "
        "corrected; p (Holm) is: overall on all questions among all pairs, everything else among all figures of this report."
    ))
    left = f" {number(report.drill_left_out)} judged questions of pairs are not in this report." if report.drill_left_out else ""
    yield Section("Questions, opened", list(_drill(report)), id="drill", forms="page", hint=(
        "The most telling ones first: by turns the clearest and those that trials disagree on. Read some before you believe a rate." + left
    ))
    grades = [
        Details(aspect, [Table(("Grade", "Given for"), [(str(grade), mark) for grade, mark in enumerate(marks)], words=WORDS)])
        for aspect, marks in report.grades.items()
    ]
    if settings := list(filled_pairs(report.settings)):
        grades.append(Details("Settings: what the signature stands for", [Table(("Setting", "Value"), settings, words=WORDS)]))
    yield Section("Grades", grades, id="grades", forms="page", hint="What the judge was asked to give points for.")


def _rates(pair: PairResult | None) -> Row:
    """How often A wins, neither, B wins, and the relative win rate with its interval (RATES)."""
    if pair is None or pair.rates is None:
        why = f": {lost(pair)}" if pair is not None and lost(pair) else ""
        return ("-", f"no result{why}")
    rates, relative = pair.rates, pair.relative
    dot = plots.relative_dot(relative.value, relative.low, relative.high)
    return (
        Cell(", ".join(map(share, (rates.win, rates.tie, rates.loss))), svg=plots.rates_bar(rates)),
        Cell(signed(relative.value), note=ends(pair), svg=dot),
    )


def _pairs(view: PairView) -> Iterator[Block]:
    pairs = list(view.first())
    yield Text(
        "Overall, on all questions. A question counts once, however many trials it has. The bar: A's wins, ties and B's wins, from the "
        "left. Relative win rate: A's wins minus B's, -100 % to +100 %, with its 95% CI over questions. p: sign flips of the questions' "
        "means, corrected for all pairs (Holm). Finds: the smallest relative win rate that this sample finds with 80 % power."
        + (" A pair that was stopped when sure has no p: its interval is the confidence sequence, which is always valid."
           if view.report.stopped else ""),
        style="hint", forms="page",
    )
    if len(pairs) == 1 and (rates := pairs[0].rates):
        a, b = word(pairs[0].system_a), word(pairs[0].system_b)
        yield Cards([
            Card("Relative win rate", signed(pairs[0].relative.value), f"95% CI {ends(pairs[0])}" if ends(pairs[0]) else ""),
            Card("A wins", share(rates.win), a), Card("Ties", share(rates.tie)), Card("B wins", share(rates.loss), b),
        ], forms="page")
    yield Table((PAIR, *RATES, "p (Holm)", "Points", "Finds", "Scored"), [
        (pair_name(pair), *_rates(pair), chance(pair.p_holm),
         Cell(points(pair.gap.value), note=between(pair.gap, points)), share(pair.detectable), Cell(scored(pair), note=lost(pair)))
        for pair in pairs
    ], words=frozenset({0, 6}), short=15, long=30)
    if not pairs:
        yield Text("There is no pair in this report.")


def _datasets(view: PairView) -> Table:
    """Boxes by data set [Z figure 10]."""
    return Table(("Data set", PAIR, *RATES, "Win rates over trials", "Scored"), [
        (group.value or "", pair_name(pair), *_rates(pair), Cell("", svg=plots.boxes(pair)), scored(pair))
        for group in view.groups if group.by == "dataset" for a, b in view.pairs[:MOST_PAIRS]
        if (pair := view.result(a, b, OVERALL, group)) is not None
    ], words=frozenset({0, 1, 4, 5}))


def _groups(view: PairView) -> Iterator[Block]:
    """Each pair: the aspects on all questions, then overall by group, then the rest. A terminal shows few pairs only."""
    for a, b in view.pairs[:MOST_PAIRS]:
        pairs = [(aspect, group, view.result(a, b, aspect, group)) for aspect in view.aspects for group in view.groups]
        pairs.sort(key=lambda one: (one[1] != ALL) + 2 * (one[0] != OVERALL and one[1] != ALL))
        rows = [
            (", ".join([aspect] if group == ALL else [group.title] if aspect == OVERALL else [aspect, group.title]),
             Cell(signed(pair.relative.value), note=ends(pair)), chance(pair.p_holm), scored(pair))
            for aspect, group, pair in pairs if pair is not None
        ]
        forms: Forms = "brief" if len(view.pairs) <= MOST_ASPECTS else "md"
        head = ("", "Relative win rate (95% CI)", "p (Holm)", "Scored")
        yield Details(f"{word(a)} vs {word(b)}", [Table(head, rows, words=frozenset({0, 3}), long=60)], forms=forms)


def _ranking(ranking: Ranking) -> Iterator[Block]:
    if not ranking.rankable:
        yield Text(f"Not rankable: {word(ranking.reason or 'no reason given', 500)}", style="lead")
    else:
        yield Text(
            "Strength: Bradley-Terry with ties; a difference of 1 means odds of 2.7 to 1, and 0 is the mean of all systems. Places: those "
            "that the interval leaves open.", style="hint", forms="page",
        )
        if ranking.reason:
            yield Text(word(ranking.reason, 500), style="hint")
    yield columns(ranking.systems, {
        "System": lambda place: place.system,
        "Rank": lambda place: number(place.rank),
        "Strength (95% CI)": lambda place: Cell(points(place.strength.value), note=between(place.strength, points)),
        "Places": lambda place: " to ".join(
            str(end) for end in dict.fromkeys((place.rank_low, place.rank_high)) if end is not None
        ) or "-",
        "Average win rate": lambda place: share(place.average_win_rate),
    }, short=15, long=30)


def _judge(report: ComparisonReport) -> Iterator[Block]:
    yield _judge_table(report.judge)
    yield from _judge_details(report.judge)
    for procedure, judges in report.contrast_judge.items():
        yield Details(f"Under the procedure {procedure}", [_judge_table(judges), *_judge_details(judges)])


def _judge_table(judges: Sequence[JudgeReport]) -> Table:
    def rate(one: Estimated) -> Cell:
        return Cell(signed(one.value), note=between(one))

    return columns(judges, {
        PAIR: pair_name,
        "Calls": lambda judge: number(judge.calls),
        "First place wins": lambda judge: Cell(share(judge.first_wins.value), note=between(judge.first_wins, share)),
        "A wins standing first, second": lambda judge: "-" if judge.ab_win is None else f"{share(judge.ab_win)}, {share(judge.ba_win)}",
        "Verdict flips": lambda judge: share(judge.flips),
        "Ties": lambda judge: share(judge.ties),
        "Same again": lambda judge: share(judge.self_agreement),
        "Tie within": lambda judge: "-" if judge.tie_band is None else f"{figure(judge.tie_band, digits=2)} points",
        "Relative, raw": lambda judge: rate(judge.raw),
        "At equal lengths": lambda judge: rate(judge.length_controlled),
        "Each 100 words longer": lambda judge: rate(judge.length_slope),
    }, short=MOST_ASPECTS + 1, long=30)


def _judge_details(judges: Sequence[JudgeReport]) -> Iterator[Block]:
    """What each judge's table leaves out, where there is more."""
    for judge in judges[:MOST_PAIRS]:
        blocks: list[Block] = [
            columns(judge.length_bins, {
                "Words apart": lambda part: f"{number(part.low)} to {number(part.high)}",
                "": lambda part: Cell("", svg="" if part.longer_wins is None else plots.rates_bar(
                    Rates(win=part.longer_wins, tie=part.ties or 0.0, loss=part.shorter_wins or 0.0),
                )),
                "Longer wins": lambda part: share(part.longer_wins),
                "Ties": lambda part: share(part.ties),
                "Shorter wins": lambda part: share(part.shorter_wins),
                "Question-trials": lambda part: number(part.n),
            }, words=WORDS, title="Who wins where one answer is longer"),
            columns(judge.style, {
                "Form": lambda part: part.name,
                "Slope": lambda part: points(part.slope.value),
                "95% CI": lambda part: between(part.slope, points) or "-",
                "For": lambda part: part.scale,
            }, words=frozenset({0, 3}), title="How form goes with winning", hint=(
                "Slope of a logistic regression; above 0: more of it wins."
            )),
            Items(judge.notes),
        ]
        if not all(block.empty for block in blocks):
            yield Details(f"Length, form and notes: {pair_name(judge)}", blocks)


def _contrast(view: PairView) -> Table:
    """Each pair under the main procedure, and under the others, seen from the same side."""
    others = {name: view_of(view.report.model_copy(update={"pairs": pairs})) for name, pairs in view.report.contrast.items()}
    return Table((PAIR, "Procedure", *RATES, "p (Holm)", "Scored"), [
        (pair_name(pair), procedure, *_rates(result), chance(result.p_holm if result else None), "-" if result is None else scored(result))
        for pair in (list(view.first())[:MOST_PAIRS] if others else ()) for procedure, result in {
            f"{view.report.procedure} (this)": pair,
            **{name: other.result(pair.system_a, pair.system_b) for name, other in others.items()},
        }.items()
    ], words=frozenset({0, 1, 5}), short=30, long=60)


def checks(report: ComparisonReport) -> list[Table]:
    """What stands beside a comparison: where it stopped, A/A, labels of people, the judge on anchors. Lines below a table are its hint."""
    tables = [
        columns(report.stopped, {
            "Pair": pair_name,
            "decision": lambda stop: {
                "a": f"{stop.system_a} is better", "b": f"{stop.system_b} is better",
            }.get(stop.decision, stop.decision),
            "questions": lambda stop: f"{number(stop.questions)} of {number(stop.of_questions)}",
            "judge calls": lambda stop: f"{number(stop.calls)} of {number(stop.of_calls)}",
            "95 %, always valid": lambda stop: bracketed(stop.low, stop.high, signed) or "-",
            "tie region": lambda stop: share(stop.tie_region),
        }, title="Stopped when sure", words=WORDS),
        columns(report.self_checks, {
            "System": lambda check: check.system,
            "relative": lambda check: signed(check.relative.value),
            "95% CI": lambda check: between(check.relative) or "-",
            "questions": lambda check: number(check.n),
            "outcome": lambda check: {True: "no difference", False: "differs", None: "no interval"}[check.passed],
        }, title="A/A: a second run against the first", words=frozenset({0, 4})),
        columns(report.corrected, {
            "Pair": pair_name,
            "method": lambda rate: rate.method,
            "relative": lambda rate: signed(rate.relative.value),
            "95% CI": lambda rate: between(rate.relative) or "-",
            "labelled": lambda rate: f"{number(rate.labels)} of {number(rate.n)}",
            "p selection": lambda rate: chance(rate.selection_p),
            "why not": lambda rate: rate.reason or "",
        }, title="Corrected by labels of people", hint=SELECTION, words=frozenset({0, 1, 6})),
        *([Table(("Figure", "value", "95% CI"), drift_rows(report.drift), title=DRIFT, hint=" ".join(drift_lines(report.drift)))]
          if report.drift is not None else []),
    ]
    return [table for table in tables if not table.empty]


def _trials(view: PairView) -> Iterator[Block]:
    """Boxes of each pair, and by aspect where there are several; the numbers behind them."""
    pairs = [pair for pair in list(view.first())[:MOST_PAIRS] if pair.box_win]
    numbers = []
    yield _boxes(PAIR, [(pair_name(pair), pair) for pair in pairs])
    for first in pairs:
        parts = [(aspect, view.result(first.system_a, first.system_b, aspect)) for aspect in view.aspects]
        aspects = [(aspect, pair) for aspect, pair in parts if pair is not None and pair.box_win]
        if len(aspects) > 1:
            yield Details(f"By aspect: {pair_name(first)}", [_boxes("Aspect", aspects)])
        numbers += [
            (pair_name(first), aspect, of, *map(form, (box.low, box.q25, box.median, box.q75, box.high)),
             ", ".join(map(form, box.outliers)), number(box.n)) for aspect, pair in aspects
            for of, box, form in (
                ("A wins", pair.box_win, share), ("B wins", pair.box_loss, share), ("relative", pair.box_relative, signed),
            )
            if box is not None
        ]
    if numbers:
        head = (PAIR, "Aspect", "Of", "Low", "Q1", "Median", "Q3", "High", "Outliers", "Trials")
        yield Details("Numbers behind the boxes", [Table(head, numbers, words=frozenset(range(3)))])


def _boxes(name: str, rows: Iterable[tuple[str, PairResult]]) -> Table:
    return Table((name, "Win rates, 0 to 100 %", "Relative, -100 to +100 %", "Medians A, B", "Trials"), [
        (text, Cell("", svg=plots.boxes(pair)), Cell("", svg=plots.relative_box(pair.box_relative)),
         f"{share(pair.box_win.median)}, {share(pair.box_loss.median)}", number(pair.box_win.n))
        for text, pair in rows if pair.box_win and pair.box_loss
    ], words=frozenset(range(3)))


def _lines(view: PairView) -> Iterator[Block]:
    for pair in list(view.first())[:MOST_LINES]:
        if svg := plots.over_trials(pair.per_trial):
            yield Figure(svg, pair_name(pair), data=columns(pair.per_trial, {
                "Trial": lambda trial: str(trial.trial),
                "A wins": lambda trial: share(trial.rates.win),
                "Ties": lambda trial: share(trial.rates.tie),
                "B wins": lambda trial: share(trial.rates.loss),
                "Relative": lambda trial: signed(trial.relative),
                "n": lambda trial: number(trial.n),
            }))


def maps(view: PairView) -> Iterator[Block]:
    """Heat maps: of two systems, aspects by groups; of more, row against column, overall and by aspect, level and data set."""
    if len(view.systems) < 3:
        for a, b in view.pairs[:1]:
            yield Table(("", *(group.title for group in view.groups)), [
                (aspect, *(_shaded(view, view.result(a, b, aspect, group)) for group in view.groups)) for aspect in view.aspects
            ], title=f"{word(a)} minus {word(b)}, by aspect and group")
        return
    yield _matrix(view, "Overall, all questions", OVERALL, ALL, MOST_MATRIX)
    folded = [(f"Overall, {group.title}", OVERALL, group) for group in view.groups if group != ALL]
    for aspect in [aspect for aspect in view.aspects if aspect != OVERALL]:
        mean = [group for group in view.groups if group.mean and any(key[2:] == (aspect, group) for key in view.results)]
        folded += [(f"{aspect.capitalize()}, {group.title}", aspect, group) for group in (ALL, *mean[:1])]
    for title, aspect, group in folded:
        yield Details(title, [_matrix(view, title, aspect, group, MOST_FOLDED)], open=aspect == OVERALL and group.mean)


def _matrix(view: PairView, title: str, aspect: str, group: Group, most: int) -> Table:
    systems = view.systems[:most]
    cut = f" (the first {most} of {number(len(view.systems))} systems; the JSON has all)" if len(view.systems) > most else ""
    notes = len(systems) <= MOST_NOTES
    rows = [
        (row, *("" if row == column else _shaded(view, view.result(row, column, aspect, group), notes) for column in systems))
        for row in systems
    ]
    return Table(("", *systems), rows, title=title + cut)


def _shaded(view: PairView, pair: PairResult | None, notes: bool = True) -> Cell:
    """Shaded by its value; under FEW questions without shade and star, and said to be too few."""
    if pair is None or pair.relative.value is None:
        return Cell("-")
    few = pair.n_scored < FEW
    count = f"n {number(pair.n_scored)}" + (f", {TOO_FEW}" if few else "")
    note = " ".join(filter(None, [ends(pair), count])) if notes else TOO_FEW if few else ""
    shade = 0 if few else max(-10, min(10, round(pair.relative.value * 12.5)))  # 80 % and more: the strongest shade
    return Cell(signed(pair.relative.value), note=note, shade=shade, best=starred(pair, view.outcome(pair.system_a, pair.system_b)))


def _alignment(report: ComparisonReport) -> Table:
    def gap(one: Quantiles | None) -> Cell:
        median, p95 = (one.p50, one.p95) if one else (None, None)
        return Cell(number(median), note="" if p95 is None else f"p95 {number(p95)}")

    def kept(one: AlignmentCount) -> Cell:
        checked = ", ".join(filter(None, [between(one.kept_meaning, share), f"n {number(one.meaning_checked)}"]))
        return Cell(share(one.kept_meaning.value), note=checked if one.meaning_checked else "")

    return columns(report.alignment, {
        PAIR: pair_name,
        "Level": lambda one: one.level or "all",
        "n": lambda one: number(one.n),
        "Equal": lambda one: number(one.equal),
        "Adjusted": lambda one: number(one.adjusted),
        "At attempt": lambda one: ", ".join(f"{attempt}: {number(count)}" for attempt, count in sorted(one.attempts.items())),
        "Forced": lambda one: number(one.forced),
        "Discarded": lambda one: Cell(number(one.discarded), note=share(one.discarded / one.n) if one.n else ""),
        "Failed": lambda one: number(one.failed),
        "Gap before": lambda one: gap(one.gap_before),
        "Gap after": lambda one: gap(one.gap_after),
        "Kept": kept,
    }, words=WORDS, long=60)


def _cost(view: PairView) -> Table:
    fields = {"tokens": "Tokens", "seconds": "Seconds", "calls": "Model calls", "cost": "US dollars", "words": "Words"}
    return Table(("System", "Win rate", *fields.values(), "Answers"), [
        (use.system, share(view.win_rate(use.system)), *(
            Cell(number(getattr(use, name)), note=f"n {number(use.known[name])}" if name in use.known else "") for name in fields
        ), number(use.answers)) for use in view.report.systems
    ], long=30)


def _figures(view: PairView) -> Iterator[Block]:
    pairs = list(view.first())
    for first in pairs[:MOST_PAIRS]:
        results = [
            (aspect, group, pair) for aspect in view.aspects for group in view.groups
            if (pair := view.result(first.system_a, first.system_b, aspect, group)) is not None
        ]
        head = (
            "Aspect", "Group", "Scored", "Results", *RATES, "p", "p (Holm)", "Wilcoxon", "Points", "d", "A better", "Finds", "Needs",
        )
        yield Details(pair_name(first), [Table(head, [
            (aspect, group.title, Cell(scored(pair), note=lost(pair)), Cell(number(pair.results), note=plural(pair.trials, "trial")),
             *_rates(pair), chance(pair.p), chance(pair.p_holm), chance(pair.wilcoxon_p),
             Cell(points(pair.gap.value), note=between(pair.gap, points)), figure(pair.effect, digits=2), share(pair.superiority),
             share(pair.detectable), questions_needed(pair)) for aspect, group, pair in results
        ], words=frozenset({0, 1, 2}))])
    if len(pairs) > MOST_PAIRS:
        yield Text(f"The first {MOST_PAIRS} of {number(len(pairs))} pairs; the JSON has every figure.", style="hint")


def _drill(report: ComparisonReport) -> Iterator[Block]:
    for one in report.drill[:MOST_OPENED]:
        level = f", level {one.level}" if one.level else ""
        sides = [
            (system, None if words is None else number(words), None if answer is None else _text(answer))
            for system, answer, words in ((one.system_a, one.answer_a, one.words_a), (one.system_b, one.answer_b, one.words_b))
        ]
        rows: list[Row] = []
        for call in one.calls:
            won = {"a": one.system_a, "b": one.system_b, "tie": "tie"}.get(call.winner or "", "-")
            for aspect in dict.fromkeys([*call.points, *call.reasons]):
                given = zip(call.points.get(aspect, (None, None)), call.reasons.get(aspect, ("", "")), strict=True)
                rows.append((
                    f"trial {call.trial}, repeat {call.repeat}", call.first or "alone", won, aspect,
                    *(Cell(figure(value, digits=1), note=reason) for value, reason in given),
                ))
        head = ("Call", "First", "Winner", "Aspect", f"Points of {word(one.system_a)}", f"Points of {word(one.system_b)}")
        yield Details(
            one.question or one.question_id,
            [Text(f"Question {word(one.question_id, 120)}{level}, trial {one.trial}; relative: over all trials of the question", "hint"),
             Raw("answers.html.j2", {"sides": sides}), Table(head, rows, words=frozenset(range(6)))],
            tone="open", amount=f"{pair_name(one)} {signed(one.relative)}",
        )
    if len(report.drill) > MOST_OPENED:
        yield Text(f"{MOST_OPENED} of {number(len(report.drill))}; the JSON has them all.", style="hint")


def _text(text: str, longest: int = 6_000) -> str:
    """A text from outside with its lines kept; hidden characters become visible ones."""
    lines = text[:longest].replace("\r\n", "\n").split("\n")
    kept = "\n".join(visible(line, longest=longest) if line.strip() else "" for line in lines)
    return kept if len(text) <= longest else f"{kept}... ({len(text):,} characters)"
