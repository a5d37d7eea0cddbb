"""Scores of answers: who is best and whether that is certain, what to fix first, then the figures by metric, question, cost and system."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from kgeval.format import bracketed, chance, figure, joined, money, number, percent, plural, seconds, times, visible
from kgeval.overview.group_verdict import PairGroups, group_name, heading, pairs_of, paragraphs, short_lines
from kgeval.overview.score_figures import wrong_step_questions
from kgeval.overview.score_verdict import (
    BY_WORDS,
    LEAST,
    LEAST_DIFFER,
    ScoreTables,
    confidence,
    is_significant,
    outcome,
    standing,
    to_fix,
    word,
)
from kgeval.records import (
    CONTEXT_LENGTHS,
    LEVELS_OF_X,
    BothMeans,
    By,
    CostSummary,
    GroupCost,
    GroupGain,
    Mean,
    PairedGain,
    Quantiles,
    ReasoningSummary,
    ScoreReport,
    WorstRow,
)
from kgeval.reports.document import (
    Block,
    Card,
    Cards,
    Cell,
    Details,
    Document,
    Figure,
    Forms,
    Items,
    Section,
    Table,
    Text,
    as_cell,
)
from kgeval.reports.measures import causes
from kgeval.reports.pictures import paths_of
from kgeval.reports.usage import usage_line
from kgeval.reports.views.parts import fix_first, gate_tally, gates_section, version_line

Row = Sequence[str | Cell]
FIXED = 5  # of what to fix first
SYSTEMS = 8  # systems with a card
ACROSS = 8  # metrics in one table of hops
FOLDED = 20  # groups by a metric that is not the verdict's: with 30 metrics and 100 documents a page would be too long
WORST = 100  # rows with the lowest values on the page
NONE = Cell("-")
_READING = re.compile(r": read as [^()]{1,80}, rows: [\d,]+\Z")
_COSTS = ("input_tokens", "output_tokens", "total_tokens", "calls", "cost", "latency_s", "seconds")
_STAGES = ("retrieval", "entry", "expand", "rerank", "generate")
_AMOUNTS = {"total_tokens": "tokens per answer", "latency_s": "seconds per answer", "cost": "US dollars per answer"}
_OfSystem = TypeVar("_OfSystem", bound=CostSummary | ReasoningSummary)


def document(report: ScoreReport) -> Document:
    """The verdict, what to fix first, gates and scores; the rest is folded in Markdown. Distributions and definitions are on the page."""
    tables = ScoreTables.of(report)
    nothing = "Nothing in these figures asks for it." if tables.headline else "Nothing was scored, so there is nothing to judge."
    fixes = list(fix_first(to_fix(tables), FIXED, nothing))
    makers = (  # in the order of a decision
        _figures, lambda tables: gates_section(tables.report.gates), _scores, _known, _leaderboard, _pays, _types, _groups, _contexts,
        _failures, _repeats, _cost, _planes, _reasoning, _gains, _audit, _worst, _metrics, _signatures, _answers,
    )
    info = tables.info.get(tables.headline or "")
    judges = [f"judge {word(one.name)}" for one in report.run.models if one.role == "judge"]
    models = ", ".join(f"{word(one.name)} ({one.role})" for one in report.run.models)
    seed = "" if report.run.seed is None else f", seed {report.run.seed}"
    return Document(
        "Scores", "score", [Section("What to fix first", fixes, id="fix"), *(make(tables) for make in makers)],
        name=joined([word(system) for system in tables.systems]) if 0 < len(tables.systems) <= 4 else plural(len(tables.systems), "system"),
        about=", ".join([plural(sum(one.answers for one in report.systems), "answer"), plural(len(tables.metrics), "metric"), *judges]),
        lead=[*outcome(tables), *short_lines(tables), *([f"{word(info.metric)}: {info.summary}"] if info and info.summary else [])],
        tally=list(gate_tally(report.gates)),
        notes=[note for note in report.notes if not is_reading(note)],
        foot=[usage_line(report.run)] if report.run.model_use else [f"Models: {models}."] if models else [],
        more="Distributions, definitions, all groups and worst rows: add -o report.html",
        end=f"{version_line(report.run)}{seed}, {report.run.seconds:.1f} s",
    )


def is_reading(note: str) -> bool:
    """Whether a note says no more than as what a file was read, and how many rows."""
    return _READING.search(note) is not None


def scored(mean: Mean) -> str:
    """`96/100`, and how many questions the metric has no meaning for."""
    return f"{number(mean.n_scored)}/{number(mean.n)}" + (f", {number(mean.not_applicable)} n/a" if mean.not_applicable else "")


def difference(value: float | None, low: float | None, high: float | None) -> str:
    """`+0.120 [+0.051, +0.190]`; "-" for None."""
    def signed(end: float) -> str:
        return figure(end, sign=True)

    return "-" if value is None else f"{signed(value)} {bracketed(low, high, signed)}".rstrip()


def _cell(mean: Mean | None, *, lower: bool = False, best: bool = False) -> Cell:
    """A mean with its interval, `0.712 [0.671, 0.752]`, over `96/100`; the shade is how good it is."""
    if mean is None:
        return NONE
    shade = 0 if mean.mean is None or not 0 <= mean.mean <= 1 else round(10 * (1 - mean.mean if lower else mean.mean))
    return Cell(f"{figure(mean.mean)} {bracketed(mean.low, mean.high)}".rstrip(), scored(mean), shade=shade, best=best)


def _section(title: str, id_: str, hint: str, blocks: Sequence[Block], *, folded: bool = True, forms: Forms = "all") -> Section:
    """A section with its hint in the longer forms; without anything where no table has a row."""
    filled = [block for block in blocks if not isinstance(block, Table) or block.rows]
    hints = [Text(hint, style="hint", forms="long")] if filled and hint else []
    return Section(title, [*hints, *filled], id=id_, folded=folded, forms=forms)


def _across(
    title: str, head: str, records: Sequence[_OfSystem], names: Mapping[str, str], cell: Callable[[_OfSystem, str], Cell],
    forms: Forms = "all",
) -> Table:
    """A row a name, shown as its title; a column a system. Rows in which no system has a figure are left out."""
    rows = []
    for name, label in names.items():
        cells = [cell(one, name) for one in records]
        if any(one.text != "-" for one in cells):
            rows.append([Cell(label), *cells])
    return Table((head, *(one.system for one in records)), rows, title=title, short=8, long=12, forms=forms)


def _names(names: Iterable[str]) -> dict[str, str]:
    """Names that stand for themselves, short ones first: 9 before 10."""
    return {name: name for name in sorted(set(names), key=lambda name: (len(name), name))}


def _metric(tables: ScoreTables, metric: str) -> Cell:
    """A metric's name, with what it is on hover."""
    return Cell(metric, what=tables.info[metric].summary if metric in tables.info else "")


def _levels(names: Iterable[str]) -> dict[str, str]:
    """Levels with their titles: those of GraphRAG-Bench in their order, then others."""
    given = list(dict.fromkeys(names))
    order = [*(level for level in LEVELS_OF_X if level in given), *(level for level in given if level not in LEVELS_OF_X)]
    return {level: level.replace("_", " ").capitalize() for level in order}


def _figures(tables: ScoreTables) -> Section:
    """The systems by the verdict's metric, with the difference from the baseline where there is one, and what an answer takes."""
    metric, cards = tables.headline or "", []
    costs = {one.system: one for one in tables.report.costs}
    place = standing(tables, metric)
    for system in tables.systems[:SYSTEMS]:
        if (mean := tables.mean(system, metric)) is None:
            continue
        tokens, took, cost = (_per_answer(costs.get(system), field) for field in _AMOUNTS)
        amounts = [f"{number(round(tokens))} tokens"] if tokens is not None else []
        amounts += [f"{seconds(took)} s"] if took is not None else []
        amounts += [money(cost)] if cost is not None else []
        parts = [", ".join(filter(None, [word(metric), confidence(mean.low, mean.high), f"{scored(mean)} scored"]))]
        parts += [
            f"{figure(gain.mean, sign=True)} compared with {word(gain.baseline)}" for gain in tables.report.gains
            if (gain.metric, gain.system) == (metric, system) and gain.mean is not None
        ][:2]
        parts += [f"An answer takes {joined(amounts)}"] if amounts else []
        best = place is not None and place.clear and place.order[0][0] == system
        value = "" if mean.mean is None else figure(mean.mean)
        cards.append(Card(system, value, ". ".join(parts) + ".", tone="passed" if best else "", band="best" if best else ""))
    return Section("Key figures", [Cards(cards)] if cards else [], id="figures", forms="page")


def _scores(tables: ScoreTables) -> Section:
    """Metrics by systems: the mean with its interval, how many of the questions were scored; then the parts of metrics."""
    rows = []
    for metric in tables.metrics:
        place, lower = standing(tables, metric), tables.lower(metric)
        first = place.order[0][0] if place and place.clear else None
        means = (_cell(tables.mean(system, metric), lower=lower, best=system == first) for system in tables.systems)
        rows.append((_metric(tables, metric), *means))
    overall = [one.overall for one in tables.report.summaries]
    lower_ones = [word(metric) for metric in tables.metrics if tables.lower(metric)]
    hints = [
        "Mean over questions [95% CI], and how many of the questions were scored.",
        "* = a clear difference from all other systems." if len(tables.systems) > 1 else "",
        f"Lower is better: {joined(lower_ones)}." if lower_ones else "",
        "n/a: the metric has no meaning for so many questions." if any(mean.not_applicable for mean in overall) else "",
        "No interval: all values are the same." if any(mean.low is not None and mean.low == mean.high for mean in overall) else "",
    ]
    parts = [
        (f"{metric}: {part}", *(
            number(round(one.aspects[part], 4)) if (one := tables.summaries.get((system, metric))) and part in one.aspects else "-"
            for system in tables.systems
        )) for metric, part in dict.fromkeys((one.metric, part) for one in tables.report.summaries for part in one.aspects)
    ]
    return Section("Scores", [
        Text(" ".join(filter(None, hints)), style="hint"), Text("The stronger the shade, the better.", style="hint", forms="page"),
        Table(("metric", *tables.systems), rows, short=40, long=40),
        *([Details(f"Parts of metrics, means ({number(len(parts))})", [Table(("part", *tables.systems), parts)])] if parts else []),
    ] if rows and tables.systems else [], id="scores")


def _known(tables: ScoreTables) -> Section:
    """Every mean on all questions, and without those that a model answers without any text."""
    known, rows = tables.report.known, list[Row]()
    for one in known.scores if known is not None else ():
        both, lower = (one.overall.mean, one.without.mean), tables.lower(one.metric)
        change = figure(both[1] - both[0], sign=True) if both[0] is not None and both[1] is not None else "-"
        means = (_cell(mean, lower=lower) for mean in (one.overall, one.without))
        rows.append((_metric(tables, one.metric), word(one.system), *means, change))
    table = Table(("metric", "system", "all questions", "without the known", "change"), rows, words=frozenset({0, 1}), short=20, long=40)
    hint = "All other figures of this report are without the known questions. What a model knows by itself says nothing of retrieval."
    return _section("With and without what the model knows", "known", hint, [table], folded=False)


def _answers(tables: ScoreTables) -> Section:
    """What each system handed in, and how the files were read: a terminal has seen that before the run."""
    rows = [
        (one.system, *map(number, (one.answers, one.errors, one.empty, one.questions_missing, one.trials))) for one in tables.report.systems
    ]
    heads = ("system", "answers", "errors", "empty", "questions without answer", "repetitions")
    hint = "An empty answer scores 0 on correctness, never 1. Systems that answered different questions are compared with care."
    readings = [note for note in tables.report.notes if is_reading(note)]
    return _section("Answers read", "answers", hint, [Table(heads, rows), *([Items(readings)] if readings else [])], forms="long")


def _leaderboard(tables: ScoreTables) -> Section:
    """Systems by rank; the mean over the types and the mean over questions stand side by side, each under its name."""
    blocks = []
    for dataset, metric in dict.fromkeys((row.dataset, row.metric) for row in tables.report.leaderboard):
        rows = [row for row in tables.report.leaderboard if (row.dataset, row.metric) == (dataset, metric)]
        levels = _levels(sorted({level for row in rows for level in row.levels}))
        lines: list[Row] = []
        of_datasets = tables.groups.get("dataset", {}).get(metric, {})
        for row in sorted(rows, key=lambda row: row.rank):
            mean = of_datasets.get(dataset, {}).get(row.system) if dataset is not None else None
            if dataset is None and not of_datasets:  # with datasets, the mean of the questions without one is not in the report
                mean = tables.mean(row.system, metric)
            average = Cell(figure(row.average), "" if row.complete else f"{len(row.levels)} types only")
            means = (figure(mean.mean if mean else None), *(figure(row.levels.get(level)) for level in levels))
            lines.append((row.system, number(row.rank), average, *means))
        heads = ("system", "rank", "mean of types", "mean of questions", *levels.values())
        blocks.append(Table(heads, lines, title=metric + (f", dataset {dataset}" if dataset else ""), long=20))
    hint = (
        "Mean of types: unweighted mean of the types' means, the average that GraphRAG-Bench ranks by. "
        "Mean of questions: every question counts the same."
    )
    return _section("Leaderboard", "leaderboard", hint, blocks, folded=False)


def _types(tables: ScoreTables) -> Section:
    """A table a level: metrics by systems, of the metrics that have scores there; figures alone on a terminal."""
    by_metric, blocks = tables.groups.get("level", {}), []
    for level, title in _levels(level for values in by_metric.values() for level in values).items():
        rows = []
        for metric in tables.metrics:
            means = by_metric.get(metric, {}).get(level, {})
            if any(mean.n > mean.not_applicable for mean in means.values()):
                rows.append([_metric(tables, metric), *(_cell(means.get(system), lower=tables.lower(metric)) for system in tables.systems)])
        bare = [[Cell(cell.text.split(" [")[0]) for cell in row] for row in rows]
        blocks += [Table(("metric", *tables.systems), bare, title=title, short=10, forms="short")]
        blocks += [Table(("metric", *tables.systems), rows, title=title, long=12, forms="long")]
    return _section("By question type", "types", "Means over the questions of one type, as in GraphRAG-Bench (there in percent).", blocks)


def _groups(tables: ScoreTables) -> Section:
    """Values of hops, kind, document and dataset by systems: a table a metric, those of other metrics than the verdict's folded on the
    page. Of hops one table for all metrics, if they are few: it shows at which depth retrieval and answers give way."""
    blocks: list[Block] = []
    others: list[Block] = []
    for by in ("hops", "kind", "document", "dataset"):
        rows = _rows_by(tables, by)
        if by == "hops" and 1 < len(rows) <= ACROSS:
            lines = [
                [Cell(f"{metric}, {depth.text} hop{'' if depth.text == '1' else 's'}"), *cells]
                for metric, found in rows.items() for depth, *cells in found
            ]
            blocks.append(Table(("metric, hops", *tables.systems), lines, title="By hops", short=12))
            continue
        for metric, found in rows.items():
            head, title = (BY_WORDS[by], *tables.systems), f"By {BY_WORDS[by]}: {metric}"
            if metric == tables.headline:
                blocks.append(Table(head, found, title=title, short=16, long=12))
            else:
                hint = f"The first {FOLDED} of {number(len(found))}; the JSON has them all." if len(found) > FOLDED else ""
                others.append(Table(head, found[:FOLDED], title=title, hint=hint))
    blocks += [Details("By the other metrics", others)] if others else []
    hint = "The same means over parts of the questions. Small groups have wide intervals, and of 20 groups that are "
    hint += "like the rest, one looks apart by chance: read them as hints."
    return _section("By hops, kind, document, dataset", "groups", hint, blocks)


def _contexts(tables: ScoreTables) -> Section:
    """The same means by how long the contexts of the answers were, the verdict's metric first, others folded."""
    found = [
        Table(("characters", *tables.systems), rows, title=metric, short=12, long=12)
        for metric, rows in _rows_by(tables, "context").items()
    ]
    blocks: list[Block] = [*found[:1], *([Details("By the other metrics", found[1:])] if found[1:] else [])]
    hint = "Answers by the characters of their contexts together (in English about four a token). A system that retrieves more for a "
    hint += "question may do so because it is harder: what falls from top to bottom is no proof that length is why."
    return _section("By length of the contexts", "contexts", hint, blocks)


def _rows_by(tables: ScoreTables, by: By) -> dict[str, list[list[Cell]]]:
    """Metric -> a row a group, a column a system: metrics with several groups, the verdict's first. One group alone is the whole."""
    several = {metric: values for metric, values in tables.groups.get(by, {}).items() if len(values) > 1}
    metrics = sorted(several, key=lambda metric: (metric != tables.headline, tables.metrics.index(metric)))
    return {metric: [
        [Cell(value, user=by == "document"), *(_cell(means.get(system), lower=tables.lower(metric)) for system in tables.systems)]
        for value, means in sorted(several[metric].items(), key=lambda pair: _place(by, *pair))
    ] for metric in metrics}


def _place(by: By, value: str, means: Mapping[str, Mean]) -> tuple[float, str]:
    """Hops by number, lengths from the shortest; other values the largest first."""
    if by == "context":
        return (CONTEXT_LENGTHS.index(value) if value in CONTEXT_LENGTHS else math.inf), value
    digits = value.rstrip("+")
    if by == "hops":
        return (float(digits) if digits.isascii() and digits.isdigit() and len(digits) < 9 else math.inf), value
    return -max((mean.n for mean in means.values()), default=0), value


def _failures(tables: ScoreTables) -> Section:
    """What could not be scored, by cause, most first; the mean with all failed rows as 0 and as 1."""
    failed = [(sum(one.overall.failures.values()), one) for one in tables.report.summaries]
    rows = [
        (one.metric, word(one.system), causes(one.overall.failures), f"{number(count)}/{number(one.overall.n)}", figure(one.overall.mean),
         bracketed(one.overall.bound_low, one.overall.bound_high) or "-")
        for count, one in sorted(failed, key=lambda pair: (-pair[0], pair[1].metric, pair[1].system)) if count
    ]
    hint = "The mean is over scored rows only. Bounds: the mean if all failed rows had scored 0, and if they had scored 1."
    heads = ("metric", "system", "causes", "failed", "mean", "bounds")
    return _section("Failed rows", "failures", hint, [Table(heads, rows, words=frozenset({0, 1, 2}), short=8, long=12)])


def _repeats(tables: ScoreTables) -> Section:
    """Spread between repeated runs and the interval over questions; the two answer different questions and are never mixed."""
    rows = []
    for one in tables.report.summaries:
        if (runs := one.repeats) is not None:
            means = ", ".join(map(figure, runs.means[:5])) + (" ..." if len(runs.means) > 5 else "")
            interval = bracketed(one.overall.low, one.overall.high) or "-"
            rows.append((one.metric, word(one.system), Cell(number(runs.runs), means), figure(runs.sd), figure(runs.se), interval))
    hint = "Between runs: how much the judging itself varies. Over questions: how much another set of questions could change the mean."
    heads = ("metric", "system", "runs", "sd between runs", "standard error", "95% CI over questions")
    return _section("Repeated runs", "repeats", hint, [Table(heads, rows, words=frozenset({0, 1}), short=8, long=12)])


def _cost(tables: ScoreTables) -> Section:
    """Totals with factors compared with the baseline, means per answer, seconds, tokens by type, quality per 1,000 tokens."""
    known = {one.system: one for one in tables.report.costs if one.known or one.totals or one.latency_s}
    costs = [known[name] for name in dict.fromkeys((*tables.systems, *known)) if name in known]
    fields = dict.fromkeys((*_COSTS, *sorted({field for one in costs for field in (*one.totals, *one.means)})))
    titles = {field: field.removesuffix("_s").replace("_", " ") + (" (s)" if field.endswith("_s") else "") for field in fields}
    stages = {stage: stage for stage in (*_STAGES, *sorted({name for one in costs for name in one.stages}))}
    hops = _names(hop for one in costs for hop in one.by_hops)
    metrics = {name: name for one in costs for name in one.quality_per_1k_tokens}
    levels = _levels(name for one in costs for name in one.prompt_tokens_by_level)
    quantiles = "p50 / p95 / p99"
    blocks = [
        _across("Totals", "figure", costs, titles, lambda one, name: _amount(one, name, one.totals, one.factors)),
        _across(f"Seconds per answer: {quantiles}", "part", costs, {"": "in total", "first": "to first token", **stages}, _seconds),
        _across("Per answer", "figure", costs, titles, lambda one, name: _amount(one, name, one.means, {}), "page"),
        _across(f"Seconds by hops: {quantiles}", "hops", costs, hops, lambda one, name: _quantiles(one.by_hops.get(name)), "page"),
        _across("Prompt tokens per answer, by type", "type", costs, levels, lambda one, name: _count(one.prompt_tokens_by_level, name),
                "page"),
        _across("Mean score per 1,000 tokens", "metric", costs, metrics, lambda one, name: _count(one.quality_per_1k_tokens, name), "page"),
    ]
    baselines = ", ".join(dict.fromkeys(word(one.baseline) for one in costs if one.baseline and one.factors))
    against = f" Factors (5.8 x) are compared with {baselines}, over the questions that both tell of." if baselines else ""
    hint = f"Of the answers that tell; where not all do, their number stands behind.{against} p95: of 100 answers 95 took no longer."
    return _section("Cost and speed", "cost", hint, blocks)


def _amount(one: CostSummary, field: str, values: Mapping[str, float], factors: Mapping[str, float]) -> Cell:
    if (value := values.get(field)) is None:
        return NONE
    some = f"of {number(known)}/{number(one.n)}" if (known := one.known.get(field, one.n)) < one.n else ""
    factor = times(factors.get(field)) if one.system != one.baseline else ""
    text = money(value) if field == "cost" else seconds(value) if field.endswith("_s") or field == "seconds" else number(round(value, 1))
    return Cell(text, ", ".join(filter(None, [factor, some])))


def _seconds(one: CostSummary, part: str) -> Cell:
    """Of the whole, the first token, or a stage (with its factor: the whole has it among the totals)."""
    if part in ("", "first"):
        return _quantiles(one.ttft_s if part else one.latency_s)
    return _quantiles(one.stages.get(part), one.factors.get(part))


def _quantiles(one: Quantiles | None, factor: float | None = None) -> Cell:
    if one is None or not one.n:
        return NONE
    return Cell(" / ".join(map(seconds, (one.p50, one.p95, one.p99))), ", ".join(filter(None, [times(factor), f"n {number(one.n)}"])))


def _count(values: Mapping[str, float], name: str) -> Cell:
    value = values.get(name)
    return NONE if value is None else Cell(number(round(value, 1) if abs(value) >= 100 else value))


def _per_answer(cost: CostSummary | None, field: str) -> float | None:
    if cost is not None and field == "latency_s" and cost.latency_s is not None and cost.latency_s.mean is not None:
        return cost.latency_s.mean
    return cost.means.get(field) if cost is not None else None


def _planes(tables: ScoreTables) -> Section:
    """Quality against tokens, seconds and dollars, with the numbers behind each plot."""
    from kgeval.reports.plots_scores import Point, plane

    figures, costs, metric = [], {one.system: one for one in tables.report.costs}, tables.headline or ""
    for field, title in _AMOUNTS.items():
        points, rows = [], []
        for at, system in enumerate(tables.systems, start=1):
            mean, amount = tables.mean(system, metric), _per_answer(costs.get(system), field)
            if mean is not None and mean.mean is not None and amount is not None:
                points.append(Point(at, amount, mean.mean, mean.low, mean.high))
                rows.append((system, number(at), number(round(amount, 2) if amount >= 1 else amount), figure(mean.mean)))
        if drawing := plane(points, amount=title, quality="mean score", name=f"plane-{field}"):
            numbers = Table(("System", "No.", title, "Mean"), rows)
            figures.append(Figure(drawing, title[0].upper() + title[1:], names=tables.systems, data=numbers))
    hint = f"Mean {word(metric)} with its 95% CI; the best place is high and to the left. The numbers are the systems."
    return Section("Quality and what it takes", figures, hint=hint, id="planes", wide=True, forms="page")


def _reasoning(tables: ScoreTables) -> Section:
    """Accuracy by hops, right steps, and what wrong steps lead to, with the counts behind each share."""
    places_of = {system: at for at, system in enumerate(tables.systems)}
    chains = sorted(tables.report.reasoning, key=lambda one: places_of.get(one.system, len(places_of)))
    judged = any(one.stepwise_accuracy for one in chains)
    metrics = ", ".join(dict.fromkeys(word(one.accuracy_metric) for one in chains))

    def step(one: ReasoningSummary, of: str) -> Cell:
        if of == "right":
            return _cell(one.stepwise_accuracy)
        total = one.questions if of == "wrong" else wrong_step_questions(one)
        share = {"wrong": one.wrong_step_share, "lost": one.error_propagation, "lucky": one.lucky}[of]
        if share is None:
            return Cell("-", f"of {number(total)}")
        return Cell(percent(share), f"{number(one.with_wrong_step if of == 'wrong' else round(share * total))} of {number(total)}")

    steps = {
        "right": "steps that are right", "wrong": "questions with a wrong step", "lost": "of these: wrong answer",
        "lucky": "of these: right all the same",
    }
    forms: Forms = "page" if judged and "hops" in tables.groups else "all"
    hops = _names(name for one in chains for name in one.accuracy_by_hop)
    relations = _names(name for one in chains for name in one.by_relation)
    places = _names(name for one in chains for name in one.by_position)
    blocks = [
        _across(f"{metrics} by hops", "hops", chains, hops, lambda one, name: _cell(one.accuracy_by_hop.get(name)), forms),
        _across("Chains of steps", "figure", chains, steps if judged else {}, step),
        _across("Right steps by relation", "relation", chains, relations, lambda one, name: _cell(one.by_relation.get(name)), "page"),
        _across("Right steps by position", "position", chains, places, lambda one, name: _cell(one.by_position.get(name)), "page"),
    ]
    hint = "Share of right answers by how many steps a question takes." if not judged else (
        "Error propagation: of the questions with a wrong step, the share whose answer is wrong too. Lucky: a right answer with a "
        "wrong step. Both are over the answers that could be scored."
    )
    return _section("Reasoning over several hops", "reasoning", hint, blocks)


def _gains(tables: ScoreTables) -> Section:
    """Differences between systems on the questions that both have a score for."""
    rows = []
    for gain in sorted(tables.report.gains, key=lambda gain: gain.metric != tables.headline):
        better = ((gain.mean or 0.0) > 0) is not tables.lower(gain.metric)
        became = ("better" if better else "worse") if is_significant(gain) else "no clear difference"
        rows.append((gain.metric, word(gain.system), word(gain.baseline), became, *_tested(gain)))
    hint = (
        "System minus baseline, question by question, with the 95% CI. n: questions that both have a score for. Better or worse: "
        f"the interval leaves 0 out, with {LEAST} questions or more and {LEAST_DIFFER} that differ."
    )
    if tests := sum(gain.p is not None for gain in tables.report.gains):
        hint += (
            f" p: sign-flip permutation; p Holm: corrected for {plural(tests, 'test')}, all of this table. McNemar: of right or wrong "
            "answers, with the questions for which only the system and only the baseline has a 1. d: 0.2 is small, 0.5 middling, 0.8 large."
        )
    head, lines = _without_empty(("metric", "system", "baseline", "system is", *_TESTED), rows)
    return _section("Differences between systems", "gains", hint, [Table(head, lines, words=frozenset(range(4)), short=8, long=12)])


FORMS: tuple[Forms, ...] = ("short", "long")
_TESTED = ("difference", "p", "p Holm", "McNemar", "d", "n")


def _tested(gain: PairedGain) -> Sequence[str | Cell]:
    """The figures under _TESTED."""
    only = "" if gain.only_system is None else f"{number(gain.only_system)} : {number(gain.only_baseline or 0)}"
    return (
        difference(gain.mean, gain.low, gain.high), chance(gain.p), chance(gain.p_holm), Cell(chance(gain.mcnemar_p), only),
        "-" if gain.effect is None else f"{gain.effect:+.2f}", number(gain.n),
    )


def _without_empty(head: Sequence[str], rows: Sequence[Row]) -> tuple[list[str], list[Row]]:
    """Head and rows without columns that hold nothing but -."""
    kept = [at for at in range(len(head)) if any(as_cell(row[at]).text != "-" for row in rows)]
    return [head[at] for at in kept], [[row[at] for at in kept] for row in rows]


def _pays(tables: ScoreTables) -> Section:
    """At which types and depths one system is better than another, and what it costs: the paragraph, the tests behind it, what answers took
    and how relevant their contexts were on the same questions; the tests of the other metrics on the page."""
    pairs = pairs_of(tables, tables.headline)
    tests = [replace(_pays_tests(pairs, finds=form == "long"), forms=form) for form in FORMS] if pairs else []
    costed = sorted({(row.system, row.baseline) for row in tables.report.costs_by_group})
    head, costs = _without_empty(
        ("group", "systems", "prompt tokens", "context tokens", "seconds", "context relevance"), _pays_costs(tables, len(costed) > 1),
    )
    others = []
    for metric in dict.fromkeys(row.metric for row in tables.report.gains_by_group):
        if metric != tables.headline:
            others.append(replace(_pays_tests(pairs_of(tables, metric)), long=FOLDED))
    hint = (
        "System minus baseline within one type of question or number of hops. Wins, loses: the interval leaves 0 out, with "
        f"{LEAST} questions or more and {LEAST_DIFFER} that differ, and p under 0.05 after Holm's correction for all tests of the metric. "
        "Open: nothing can be said, which is not the same as no difference. Finds: the smallest difference that would be seen in 4 of 5 "
        "such samples after the correction."
    )
    blocks: list[Block] = [Text(text) for text in paragraphs(tables)] if tests else []
    blocks += [Text(hint, style="hint", forms="long")] if tests or others else []
    blocks += tests
    if costs:
        took = f"What it takes, on the same questions{_of_pair(costed, ' : ')}"
        blocks.append(Table(head, costs, title=took, words=frozenset({0, 1} if len(costed) > 1 else {0}), short=8, long=20))
    blocks += [Details("By the other metrics", others)] if others else []
    return Section(heading(tables), blocks, id="pays")


def _pays_tests(pairs: Sequence[PairGroups], *, finds: bool = True) -> Table:
    """A row a group and pair by one metric, fields and groups in their order. `finds`: with what would be found; a terminal is narrow."""
    several = len(pairs) > 1
    rows = [
        (_group(row), f"{word(pair.system)} - {word(pair.baseline)}" if several else "-", pair.outcome(row), *_tested(row),
         figure(row.detectable if finds else None)) for pair in pairs for row in pair.rows
    ]
    head, lines = _without_empty(("group", "systems", "outcome", *_TESTED, "finds"), rows)
    title = f"Tests by {pairs[0].metric}{_of_pair([(pair.system, pair.baseline) for pair in pairs], ' - ')}"
    return Table(head, lines, title=title, words=frozenset(range(3 if several else 2)), short=12, long=40)


def _of_pair(pairs: Sequence[tuple[str, str]], between: str) -> str:
    """`: graph - vector` for a title, where there is one pair: a column of its own would say the same in every row."""
    return f": {word(pairs[0][0])}{between}{word(pairs[0][1])}" if len(pairs) == 1 else ""


def _group(row: GroupGain | GroupCost) -> str:
    """`complex reasoning`, or with the dataset that it is of."""
    return group_name(row.by, row.value) + (f", {word(row.dataset)}" if row.dataset is not None else "")


def _pays_costs(tables: ScoreTables, several: bool) -> list[Row]:
    """`5,200 : 900`, and how many times as much."""
    def cell(known: BothMeans | None, form: Callable[[float], str], factor: bool = True) -> Cell:
        if known is None:
            return NONE
        much = times(known.system / known.baseline) if factor and known.baseline else ""
        return Cell(f"{form(known.system)} : {form(known.baseline)}", ", ".join(filter(None, [much, f"n {number(known.n)}"])))

    def tokens(mean: float) -> str:
        return number(round(mean))

    return [
        (
            _group(row), f"{word(row.system)} : {word(row.baseline)}" if several else "-", cell(row.prompt_tokens, tokens),
            cell(row.context_tokens, tokens), cell(row.seconds, seconds), cell(row.relevance, figure, factor=False),
        ) for row in tables.report.costs_by_group
    ]


def _audit(tables: ScoreTables) -> Section:
    """Questions that touch what the audit flagged, and the others."""
    rows: list[Row] = [
        (one.metric, word(one.system), "any rule" if one.rule is None else word(one.rule),
         *(Cell(figure(mean.mean), scored(mean)) for mean in (one.touched, one.untouched)), difference(one.difference, one.low, one.high))
        for one in sorted(tables.report.joined, key=lambda one: (one.metric != tables.headline, one.rule is not None))
    ]
    hint = (
        "Questions whose path or evidence touches an entity or relation that the audit flagged, and the others; the difference is "
        "touched minus untouched with its 95% CI. Rules are tested one by one: of 20 without effect, one looks "
        "worse or better by chance. A difference is no proof of cause: flagged parts may hold harder questions."
    )
    heads = ("metric", "system", "rule", "touched", "untouched", "difference")
    return _section("Scores and the graph's faults", "audit", hint, [Table(heads, rows, words=frozenset(range(3)), short=8, long=12)])


def _metrics(tables: ScoreTables) -> Section:
    """Each metric with the distribution of its values in every system, what it is and what its number depends on."""
    from kgeval.reports.plots_scores import distribution

    blocks: list[Block] = []
    for metric in tables.metrics:
        info, rows = tables.info.get(metric), []
        for one in (summary for system in tables.systems if (summary := tables.summaries.get((system, metric)))):
            mean, spread = one.overall, one.spread
            failed, bounds = causes(mean.failures), bracketed(mean.bound_low, mean.bound_high)
            quartiles = [figure(end) for end in (spread.q25, spread.median, spread.q75)]
            value, low, high = (end if end is not None and math.isfinite(end) else None for end in (mean.mean, mean.low, mean.high))
            rows.append((
                Cell(one.system, f"failed: {failed}" + (f"; bounds {bounds}" if bounds else "") if failed else ""), figure(mean.mean),
                bracketed(mean.low, mean.high) or "-", scored(mean), Cell("", range=(value, low, high) if value is not None else None),
                Cell("", svg=distribution(spread, mean.mean)), "" if set(quartiles) == {"-"} else " / ".join(quartiles),
            ))
        heads = ("system", "mean", "95% CI", "scored", "interval", "distribution", "quartiles")
        title = metric + (" (lower is better)" if tables.lower(metric) else "")
        blocks.append(Table(heads, rows, title=title, hint=info.summary if info else ""))
        if info:
            stands = [f"It stands for: {json.dumps(info.parameters, ensure_ascii=False, sort_keys=True)}"] if info.parameters else []
            lines = [f"Definition: {info.definition}", f"Source: {info.source}", f"Signature: {info.signature}", *stands]
            blocks.append(Details(f"Definition and signature of {metric}", [Items(lines, longest=1500)]))
    hint = (
        "All on one line from 0 to 1. Interval: the dot is the mean, the bar its 95% CI. Distribution: bars count questions by value, the "
        "thin upright line is the mean; below, the box holds the middle half of the values, with the median."
    )
    return _section("Metric by metric", "metrics", hint, blocks, forms="page")


def _signatures(tables: ScoreTables) -> Section:
    rows = [(one.metric, one.summary, one.source, Cell(one.signature, user=True)) for one in list(tables.info.values())[:60]]
    return _section("Metrics and signatures", "", "", [Table(("Metric", "What it is", "Source", "Signature"), rows)], forms="md")


def _worst(tables: ScoreTables) -> Section:
    """The rows with the lowest values, and why: those of the verdict's metric first, and the systems by turns, so that none fills the
    list."""
    taken: dict[tuple[bool, str], int] = {}
    ranked = []
    for row in tables.report.worst:
        key = (row.metric != tables.headline, row.system)
        taken[key] = taken.get(key, 0) + 1
        ranked.append((key[0], taken[key], row))
    rows = [row for _, _, row in sorted(ranked, key=lambda entry: entry[:2])]
    left = f"{WORST} of {number(len(rows))}; the JSON has them all." if len(rows) > WORST else ""
    hint = "Rows with the lowest values (the highest where lower is better), the systems by turns: read some before you believe a mean."
    opened = enumerate(zip(rows[:WORST], paths_of(rows[:WORST]), strict=True))
    blocks: list[Block] = [
        *(_opened(row, path, at < 3) for at, (row, path) in opened), *([Text(left, style="hint", forms="page")] if left else []),
        *([Items(map(_line, rows), short=3, long=10, longest=900, forms="brief")] if rows else []),
    ]
    return _section("Worst rows", "worst", hint, blocks)


def _line(row: WorstRow) -> str:
    """`q12, system B, answer_accuracy 0.083: 0 of 3 claims are right. Question: ... Answer: ...`."""
    reasons = "; ".join(visible(reason, longest=120) for reason in row.reasons[:3]) or "no reason given"
    reasons += "" if reasons.endswith((".", "?", "!")) else "."
    given = (("Question", row.question), ("Answer", row.answer))
    texts = [f" {name}: {visible(text, longest=100)}" for name, text in given if text.strip()]
    return f"{word(row.question_id)}, {word(row.system)}, {word(row.metric)} {figure(row.value)}: {reasons}{''.join(texts)}"


def _opened(row: WorstRow, path: Figure | None, open_: bool) -> Details:
    texts = (("The answer", row.answer), ("The reference", row.reference))
    return Details(row.question or row.question_id, [
        Items(row.reasons[:20]), *(Items([text], title=f"{title}:", longest=1500) for title, text in texts if text is not None),
        *([path] if path is not None else []), Text(f"question {visible(row.question_id, longest=120)}", style="hint"),
    ], open=open_, tone="info", amount=f"{word(row.system)} {figure(row.value)}", chips=[row.metric])
