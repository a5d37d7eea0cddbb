"""Scores of answers: who is best and whether that is certain, what to fix first, then the figures by metric, question, cost and system."""

from __future__ import annotations

import json
import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count
from typing import Any, TypeVar

from kgeval.format import (
    bracketed,
    chance,
    difference,
    figure,
    joined,
    money,
    number,
    percent,
    plural,
    plural_of,
    plus,
    seconds,
    times,
    visible,
)
from kgeval.overview.group_verdict import PairGroups, group_name, heading, pairs_of, paragraphs, short_lines
from kgeval.overview.score_verdict import (
    BY_WORDS,
    ScoreTables,
    confidence,
    standing,
    survival_name,
    to_fix,
    verdict,
    word,
)
from kgeval.overview.weak import weak_in_scores
from kgeval.records import (
    CONTEXT_LENGTHS,
    LEVELS_OF_X,
    SEVERITIES,
    BothMeans,
    By,
    ClaimTotals,
    CostSummary,
    GroupCost,
    GroupGain,
    Mean,
    MetricSummary,
    PairedGain,
    Quantiles,
    ReasoningSummary,
    ScoreReport,
    Spread,
    WithWithout,
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
    columns,
)
from kgeval.reports.measures import causes
from kgeval.reports.pictures import paths_of
from kgeval.reports.usage import usage_line
from kgeval.reports.views.parts import fix_first, gate_tally, gates_section, version_line
from kgeval.stats.grouped import LEAST_GROUPS

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
_AMOUNTS: dict[str, tuple[str, Callable[[float], str]]] = {  # what an answer takes: on an axis, in a sentence
    "total_tokens": ("tokens per answer", lambda mean: f"{number(round(mean))} tokens"),
    "latency_s": ("seconds per answer", lambda mean: f"{seconds(mean)} s"), "cost": ("US dollars per answer", money),
}
_OfSystem = TypeVar("_OfSystem", bound=CostSummary | ReasoningSummary)


def document(report: ScoreReport) -> Document:
    """The verdict, what to fix first, gates and scores; the rest is folded in Markdown. Distributions and definitions are on the page."""
    tables = ScoreTables.of(report)
    nothing = "Nothing in these figures asks for it." if tables.headline else "Nothing was scored, so there is nothing to judge."
    fixes = list(fix_first(sorted(
        [*to_fix(tables), *weak_in_scores(report)], key=lambda row: SEVERITIES.index(row.severity),
    ), FIXED, nothing))
    makers = (  # in the order of a decision
        _figures, lambda tables: gates_section(tables.report.gates), _scores, _survived, _claims, _known, _leaderboard, _pays, _types,
        _groups, _contexts,
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
        lead=[*verdict(tables), *short_lines(tables), *([f"{word(info.metric)}: {info.summary}"] if info and info.summary else [])],
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


def _cell(mean: Mean | None, *, lower: bool = False, best: bool = False) -> Cell:
    """A mean with its interval, `0.712 [0.671, 0.752]`, over `96/100`; the shade is how good it is."""
    if mean is None:
        return NONE
    shade = 0 if mean.mean is None or not 0 <= mean.mean <= 1 else round(10 * (1 - mean.mean if lower else mean.mean))
    return Cell(f"{figure(mean.mean)} {bracketed(mean.low, mean.high)}".rstrip(), scored(mean), shade=shade, best=best)


def _section(title: str, id_: str, hint: str, blocks: Sequence[Block], *, folded: bool = True, forms: Forms = "all") -> Section:
    """A section with its hint in the longer forms, where any block has something to show."""
    hints = [Text(hint, style="hint", forms="long")] if hint and not all(block.empty for block in blocks) else []
    return Section(title, [*hints, *blocks], id=id_, folded=folded, forms=forms)


def _of_systems(head: str, tables: ScoreTables, rows: Sequence[Row], **more: Any) -> Table:
    """A column a system."""
    return Table((head, *tables.systems), rows, **more)


def _means(tables: ScoreTables, metric: str, means: Mapping[str, Mean]) -> list[Cell]:
    """The mean of each system, as cells."""
    return [_cell(means.get(system), lower=tables.lower(metric)) for system in tables.systems]


def _folded(tables: Sequence[Table]) -> list[Details]:
    """Those of other metrics than the verdict's."""
    return [Details("By the other metrics", tables)] if tables else []


def _across(
    title: str, head: str, records: Sequence[_OfSystem], names: Mapping[str, str], cell: Callable[[_OfSystem, str], Cell],
    forms: Forms = "all",
) -> Table:
    """A row a name, shown as its title; a column a system. Rows in which no system has a figure are left out."""
    rows = [[Cell(label), *(cell(one, name) for one in records)] for name, label in names.items()]
    known = [row for row in rows if any(one.text != "-" for one in row[1:])]
    return Table((head, *(one.system for one in records)), known, title=title, short=8, long=12, forms=forms)


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
        takes = [
            text(amount) for field, (_, text) in _AMOUNTS.items() if (amount := _per_answer(costs.get(system), field)) is not None
        ]
        gains = [gain for gain in tables.report.gains if (gain.metric, gain.system) == (metric, system) and gain.mean is not None]
        parts = [
            ", ".join(filter(None, [word(metric), confidence(mean.low, mean.high), f"{scored(mean)} scored"])),
            *(f"{plus(gain.mean)} compared with {word(gain.baseline)}" for gain in gains[:2]),
            *([f"An answer takes {joined(takes)}"] if takes else []),
        ]
        best = place is not None and place.clear and place.order[0][0] == system
        value = "" if mean.mean is None else figure(mean.mean)
        cards.append(Card(system, value, ". ".join(parts) + ".", tone="passed" if best else "", band="best" if best else ""))
    return Section("Key figures", [Cards(cards)], id="figures", forms="page")


def _unit_hint(tables: ScoreTables) -> str:
    """What intervals are over where questions come in groups, and why some have none."""
    unit, means = tables.report.drawn, [one.overall for one in tables.report.summaries if one.overall.groups is not None]
    if not means:
        return ""
    few = f" No interval: fewer than {LEAST_GROUPS} {plural_of(unit)}." if any(mean.low is None for mean in means) else ""
    return f"Intervals are over {plural_of(unit)}, not over questions.{few}"


def _n(gain: PairedGain, unit: str) -> Cell:
    """`120` over `12 documents, as sure as 31`."""
    if gain.groups is None:
        return Cell(number(gain.n))
    sure = "" if gain.effective is None else f", as sure as {number(round(gain.effective))}"
    return Cell(number(gain.n), f"{plural(gain.groups, unit)}{sure}")


def _scores(tables: ScoreTables) -> Section:
    """Metrics by systems: the mean with its interval, how many of the questions were scored; then the parts of metrics."""
    rows = []
    for metric in tables.metrics:
        place, lower = standing(tables, metric), tables.lower(metric)
        best = place.order[0][0] if place and place.clear else None
        means = [_cell(tables.mean(system, metric), lower=lower, best=system == best) for system in tables.systems]
        rows.append((_metric(tables, metric), *means))
    overall = [one.overall for one in tables.report.summaries]
    lower_ones = [word(metric) for metric in tables.metrics if tables.lower(metric)]
    hints = [
        "Mean over questions [95% CI], and how many of the questions were scored.",
        "* = better than all other systems (see Differences between systems)." if len(tables.systems) > 1 else "",
        f"Lower is better: {joined(lower_ones)}." if lower_ones else "",
        "n/a: the metric has no meaning for so many questions." if any(mean.not_applicable for mean in overall) else "",
        _unit_hint(tables),
    ]
    aspects = {(system, metric): one.aspects for (system, metric), one in tables.summaries.items()}
    parts = [
        (f"{metric}: {part}", *(
            number(None if (value := aspects.get((system, metric), {}).get(part)) is None else round(value, 4)) for system in tables.systems
        )) for metric, part in dict.fromkeys((one.metric, part) for one in tables.report.summaries for part in one.aspects)
    ]
    return Section("Scores", [
        Text(" ".join(filter(None, hints)), style="hint"), Text("The stronger the shade, the better.", style="hint", forms="page"),
        _of_systems("metric", tables, rows, short=40, long=40),
        *([Details(f"Parts of metrics, means ({number(len(parts))})", [_of_systems("part", tables, parts)])] if parts else []),
    ] if rows and tables.systems else [], id="scores")


def _survived(tables: ScoreTables) -> Section:
    """What a best system has to survive, against each other one."""
    words = {True: "yes", False: "no", None: "not tried"}
    table = columns(tables.report.survived, {
        "system": lambda one: word(one.system),
        "stands": lambda one: survival_name(one.check, tables.report.drawn),
        "against": lambda one: word(one.other),
        "stands so": lambda one: words[one.passed],
        "figures": lambda one: one.because,
    }, words=frozenset(range(5)), short=10, long=40)
    hint = f"A system is called best by {word(tables.headline or '')} only where nothing here speaks against it."
    return _section("What the best system survives", "survived", hint, [table], forms="long")


def _claims(tables: ScoreTables) -> Section:
    """The claims that every metric over claims is a view of: of all answers of a system, and of the questions where systems differ most."""
    shown: dict[str, Callable[[ClaimTotals], str | Cell]] = {
        "right": lambda one: number(one.right), "wrong": lambda one: number(one.wrong),
        "extra, grounded": lambda one: number(one.extra_grounded), "extra, ungrounded": lambda one: number(one.extra_ungrounded),
        "extra, not known": lambda one: number(one.extra_unknown), "missing": lambda one: number(one.missing),
    }
    totals = columns(tables.report.claims, {
        "system": lambda one: word(one.system), "answers": lambda one: number(one.answers), **shown,
    }, title="All answers")
    rows = columns(tables.report.claim_rows, {
        "question": lambda one: Cell(one.question_id, user=True), "system": lambda one: word(one.system),
        word(tables.headline or "value"): lambda one: figure(one.value), **shown,
    }, title="Questions where the systems differ most", words=frozenset({0, 1}), forms="long")
    hint = (
        "Right, wrong: claims of the answer that the reference states, contradicts. Extra: the reference says nothing of them; grounded: "
        "the contexts state them. Missing: claims of the reference that the answer lacks. F1 counts extra claims as faults, faithfulness "
        "does not, completeness counts right and missing ones alone: that is why such metrics differ."
    )
    return _section("Claims", "claims", hint, [totals, rows])


def _known(tables: ScoreTables) -> Section:
    """Every mean on all questions, and without those that a model answers without any text."""
    def change(one: WithWithout) -> str:
        return "-" if one.overall.mean is None or one.without.mean is None else plus(one.without.mean - one.overall.mean)

    known = tables.report.known
    table = columns(known.scores if known else [], {
        "metric": lambda one: _metric(tables, one.metric),
        "system": lambda one: word(one.system),
        "all questions": lambda one: _cell(one.overall, lower=tables.lower(one.metric)),
        "without the known": lambda one: _cell(one.without, lower=tables.lower(one.metric)),
        "change": change,
    }, words=frozenset({0, 1}), short=20, long=40)
    hint = "All other figures of this report are without the known questions. What a model knows by itself says nothing of retrieval."
    return _section("With and without what the model knows", "known", hint, [table], folded=False)


def _answers(tables: ScoreTables) -> Section:
    """What each system handed in, and how the files were read: a terminal has seen that before the run."""
    table = columns(tables.report.systems, {
        "system": lambda one: one.system,
        "answers": lambda one: number(one.answers),
        "errors": lambda one: number(one.errors),
        "empty": lambda one: number(one.empty),
        "questions without answer": lambda one: number(one.questions_missing),
        "repetitions": lambda one: number(one.trials),
    })
    hint = "An empty answer scores 0 on correctness, never 1. Systems that answered different questions are compared with care."
    readings = [note for note in tables.report.notes if is_reading(note)]
    return _section("Answers read", "answers", hint, [table, Items(readings)], forms="long")


def _leaderboard(tables: ScoreTables) -> Section:
    """Systems by rank; the mean over the types and the mean over questions stand side by side, each under its name."""
    blocks = []
    for dataset, metric in dict.fromkeys((row.dataset, row.metric) for row in tables.report.leaderboard):
        rows = [row for row in tables.report.leaderboard if (row.dataset, row.metric) == (dataset, metric)]
        levels = _levels(sorted({level for row in rows for level in row.levels}))
        of_datasets = tables.groups.get("dataset", {}).get(metric, {})
        means = of_datasets.get(dataset, {}) if dataset is not None else {}
        if dataset is None and not of_datasets:  # with datasets, the mean of the questions without one is not in the report
            means = {row.system: mean for row in rows if (mean := tables.mean(row.system, metric))}
        blocks.append(Table(("system", "rank", "mean of types", "mean of questions", *levels.values()), [
            (row.system, number(row.rank), Cell(figure(row.average), "" if row.complete else f"{len(row.levels)} types only"),
             figure(means[row.system].mean if row.system in means else None), *(figure(row.levels.get(level)) for level in levels))
            for row in sorted(rows, key=lambda row: row.rank)
        ], title=metric + (f", dataset {dataset}" if dataset else ""), long=20))
    hint = (
        "Mean of types: unweighted mean of the types' means, the average that GraphRAG-Bench ranks by. "
        "Mean of questions: every question counts the same."
    )
    return _section("Leaderboard", "leaderboard", hint, blocks, folded=False)


def _types(tables: ScoreTables) -> Section:
    """A table a level: metrics by systems, of the metrics that have scores there; figures alone on a terminal."""
    by_metric, blocks = tables.groups.get("level", {}), list[Table]()
    for level, title in _levels(level for values in by_metric.values() for level in values).items():
        of_level = {metric: by_metric.get(metric, {}).get(level, {}) for metric in tables.metrics}
        rows = [
            [_metric(tables, metric), *_means(tables, metric, means)] for metric, means in of_level.items()
            if any(mean.n > mean.not_applicable for mean in means.values())
        ]
        bare = [[Cell(cell.text.split(" [")[0]) for cell in row] for row in rows]
        blocks += [
            _of_systems("metric", tables, bare, title=title, short=10, forms="short"),
            _of_systems("metric", tables, rows, title=title, long=12, forms="long"),
        ]
    return _section("By question type", "types", "Means over the questions of one type, as in GraphRAG-Bench (there in percent).", blocks)


def _groups(tables: ScoreTables) -> Section:
    """Values of hops, kind, document and dataset by systems: a table a metric, those of other metrics than the verdict's folded on the
    page. Of hops one table for all metrics, if they are few: it shows at which depth retrieval and answers give way."""
    blocks: list[Block] = []
    others: list[Table] = []
    for by in ("hops", "kind", "document", "dataset"):
        rows = _rows_by(tables, by)
        if by == "hops" and 1 < len(rows) <= ACROSS:
            blocks.append(_of_systems("metric, hops", tables, [
                [Cell(f"{metric}, {depth.text} hop{'' if depth.text == '1' else 's'}"), *cells]
                for metric, found in rows.items() for depth, *cells in found
            ], title="By hops", short=12))
            continue
        for metric, found in rows.items():
            if metric == tables.headline:
                blocks.append(_of_systems(BY_WORDS[by], tables, found, title=f"By {BY_WORDS[by]}: {metric}", short=16, long=12))
            else:
                hint = f"The first {FOLDED} of {number(len(found))}; the JSON has them all." if len(found) > FOLDED else ""
                others.append(_of_systems(BY_WORDS[by], tables, found[:FOLDED], title=f"By {BY_WORDS[by]}: {metric}", hint=hint))
    hint = "The same means over parts of the questions. Small groups have wide intervals, and of 20 groups that are "
    hint += "like the rest, one looks apart by chance: read them as hints."
    return _section("By hops, kind, document, dataset", "groups", hint, [*blocks, *_folded(others)])


def _contexts(tables: ScoreTables) -> Section:
    """The same means by how long the contexts of the answers were, the verdict's metric first, others folded."""
    found = [
        _of_systems("characters", tables, rows, title=metric, short=12, long=12) for metric, rows in _rows_by(tables, "context").items()
    ]
    hint = "Answers by the characters of their contexts together (in English about four a token). A system that retrieves more for a "
    hint += "question may do so because it is harder: what falls from top to bottom is no proof that length is why."
    return _section("By length of the contexts", "contexts", hint, [*found[:1], *_folded(found[1:])])


def _rows_by(tables: ScoreTables, by: By) -> dict[str, list[list[Cell]]]:
    """Metric -> a row a group, a column a system: metrics with several groups, the verdict's first. One group alone is the whole."""
    several = {metric: values for metric, values in tables.groups.get(by, {}).items() if len(values) > 1}
    metrics = sorted(several, key=lambda metric: (metric != tables.headline, tables.metrics.index(metric)))
    return {metric: [
        [Cell(value, user=by == "document"), *_means(tables, metric, means)]
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
    failed = [one for one in tables.report.summaries if sum(one.overall.failures.values())]
    table = columns(sorted(failed, key=lambda one: (-sum(one.overall.failures.values()), one.metric, one.system)), {
        "metric": lambda one: one.metric,
        "system": lambda one: word(one.system),
        "causes": lambda one: causes(one.overall.failures),
        "failed": lambda one: f"{number(sum(one.overall.failures.values()))}/{number(one.overall.n)}",
        "mean": lambda one: figure(one.overall.mean),
        "bounds": lambda one: bracketed(one.overall.bound_low, one.overall.bound_high) or "-",
    }, words=frozenset({0, 1, 2}), short=8, long=12)
    hint = "The mean is over scored rows only. Bounds: the mean if all failed rows had scored 0, and if they had scored 1."
    return _section("Failed rows", "failures", hint, [table])


def _repeats(tables: ScoreTables) -> Section:
    """Spread between repeated runs and the interval over questions; the two answer different questions and are never mixed."""
    table = columns([(one, one.repeats) for one in tables.report.summaries if one.repeats is not None], {
        "metric": lambda row: row[0].metric,
        "system": lambda row: word(row[0].system),
        "runs": lambda row: Cell(number(row[1].runs), ", ".join(map(figure, row[1].means[:5])) + (" ..." if row[1].means[5:] else "")),
        "sd between runs": lambda row: figure(row[1].sd),
        "standard error": lambda row: figure(row[1].se),
        "95% CI over questions": lambda row: bracketed(row[0].overall.low, row[0].overall.high) or "-",
    }, words=frozenset({0, 1}), short=8, long=12)
    hint = "Between runs: how much the judging itself varies. Over questions: how much another set of questions could change the mean."
    return _section("Repeated runs", "repeats", hint, [table])


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
        _across("Prompt tokens per answer, by type", "type", costs, levels, lambda one, name: _count(one.prompt_tokens_by_level.get(name)),
                "page"),
        _across("Mean score per 1,000 tokens", "metric", costs, metrics, lambda one, name: _count(one.quality_per_1k_tokens.get(name)),
                "page"),
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


def _count(value: float | None) -> Cell:
    return Cell(number(round(value, 1) if value is not None and abs(value) >= 100 else value))


def _per_answer(cost: CostSummary | None, field: str) -> float | None:
    if cost is not None and field == "latency_s" and cost.latency_s is not None and cost.latency_s.mean is not None:
        return cost.latency_s.mean
    return cost.means.get(field) if cost is not None else None


def _planes(tables: ScoreTables) -> Section:
    """Quality against tokens, seconds and dollars, with the numbers behind each plot."""
    from kgeval.reports.plots_scores import Point, plane

    figures, costs, metric = [], {one.system: one for one in tables.report.costs}, tables.headline or ""
    for field, (title, _) in _AMOUNTS.items():
        known = [(at, tables.mean(name, metric), _per_answer(costs.get(name), field)) for at, name in enumerate(tables.systems, start=1)]
        points = [
            Point(at, amount, mean.mean, mean.low, mean.high) for at, mean, amount in known
            if mean is not None and mean.mean is not None and amount is not None
        ]
        if drawing := plane(points, amount=title, quality="mean score", name=f"plane-{field}"):
            figures.append(Figure(drawing, title[0].upper() + title[1:], names=tables.systems, data=columns(points, {
                "System": lambda point: tables.systems[point.number - 1],
                "No.": lambda point: number(point.number),
                title: lambda point: number(round(point.amount, 2) if point.amount >= 1 else point.amount),
                "Mean": lambda point: figure(point.mean),
            })))
    hint = f"Mean {word(metric)} with its 95% CI; the best place is high and to the left. The numbers are the systems."
    return Section("Quality and what it takes", figures, hint=hint, id="planes", wide=True, forms="page")


def _reasoning(tables: ScoreTables) -> Section:
    """Accuracy by hops, right steps, and what wrong steps lead to, with the counts behind each share."""
    places = {system: at for at, system in enumerate(tables.systems)}
    chains = sorted(tables.report.reasoning, key=lambda one: places.get(one.system, len(places)))
    judged = any(one.stepwise_accuracy for one in chains)
    metrics = ", ".join(dict.fromkeys(word(one.accuracy_metric) for one in chains))

    def part(share: float | None, total: int, count: int | None = None) -> Cell:
        """A share with what it is of; `count`: where it is known better than the share times the total."""
        if share is None:
            return Cell("-", f"of {number(total)}")
        return Cell(percent(share), f"{number(round(share * total) if count is None else count)} of {number(total)}")

    steps: dict[str, Callable[[ReasoningSummary], Cell]] = {
        "steps that are right": lambda one: _cell(one.stepwise_accuracy),
        "questions with a wrong step": lambda one: part(one.wrong_step_share, one.questions, one.with_wrong_step),
        "of these: wrong answer": lambda one: part(one.error_propagation, one.wrong_step_answers),
        "of these: right all the same": lambda one: part(one.lucky, one.wrong_step_answers),
    }
    blocks = [
        _across(f"{metrics} by hops", "hops", chains, _names(name for one in chains for name in one.accuracy_by_hop),
                lambda one, name: _cell(one.accuracy_by_hop.get(name)), "page" if judged and "hops" in tables.groups else "all"),
        _across("Chains of steps", "figure", chains, {name: name for name in steps if judged}, lambda one, name: steps[name](one)),
        _across("Right steps by relation", "relation", chains, _names(name for one in chains for name in one.by_relation),
                lambda one, name: _cell(one.by_relation.get(name)), "page"),
        _across("Right steps by position", "position", chains, _names(name for one in chains for name in one.by_position),
                lambda one, name: _cell(one.by_position.get(name)), "page"),
    ]
    hint = "Share of right answers by how many steps a question takes." if not judged else (
        "Error propagation: of the questions with a wrong step, the share whose answer is wrong too. Lucky: a right answer with a "
        "wrong step. Both are over the answers that could be scored."
    )
    return _section("Reasoning over several hops", "reasoning", hint, blocks)


def _gains(tables: ScoreTables) -> Section:
    """Differences between systems on the questions that both have a score for."""
    def became(gain: PairedGain) -> str:
        return BECAME.get(gain.conclusion or "", gain.conclusion or "-")

    table = Table(("metric", "system", "baseline", "system is", *_TESTED), [
        (gain.metric, word(gain.system), word(gain.baseline), became(gain), *_tested(gain, tables.report.drawn))
        for gain in sorted(tables.report.gains, key=lambda gain: gain.metric != tables.headline)
    ], words=frozenset(range(4)), short=8, long=12)
    hint = (
        "System minus baseline, question by question, with the 95% CI. n: questions that both have a score for. Better or worse: "
        "the interval leaves 0 out, p Holm is 0.05 or less, and what is missing could not turn it."
    )
    tested = [gain.metric == tables.headline for gain in tables.report.gains if gain.p is not None]
    if tested:
        families = [
            plural(n, "test") + name
            for n, name in ((sum(tested), f" by {word(tables.headline or '')}"), (len(tested) - sum(tested), " by the other metrics")) if n
        ]
        apart = ", each for themselves" if len(families) > 1 else ""
        hint += (
            f" p: sign-flip permutation; p Holm: corrected for {joined(families)}{apart}. McNemar: of right or wrong answers, with "
            "the questions for which only the system and only the baseline has a 1. d: 0.2 is small, 0.5 middling, 0.8 large."
        )
    return _section("Differences between systems", "gains", hint, [table.filled()])


BECAME = {"a better": "better", "b better": "worse"}
FORMS: tuple[Forms, ...] = ("short", "long")
_TESTED = ("difference", "p", "p Holm", "McNemar", "d", "n")


def _tested(gain: PairedGain, unit: str) -> Sequence[str | Cell]:
    """The figures under _TESTED."""
    only = "" if gain.only_system is None else f"{number(gain.only_system)} : {number(gain.only_baseline or 0)}"
    return (
        difference(gain.mean, gain.low, gain.high), chance(gain.p), chance(gain.p_holm), Cell(chance(gain.mcnemar_p), only),
        "-" if gain.effect is None else f"{gain.effect:+.2f}", _n(gain, unit),
    )


def _pays(tables: ScoreTables) -> Section:
    """At which types and depths one system is better than another, and what it costs: the paragraph, the tests behind it, what answers took
    and how relevant their contexts were on the same questions; the tests of the other metrics on the page."""
    pairs = pairs_of(tables, tables.headline)
    unit = tables.report.drawn
    tests = [replace(_pays_tests(pairs, unit, finds=form == "long"), forms=form) for form in FORMS] if pairs else []
    metrics = dict.fromkeys(row.metric for row in tables.report.gains_by_group if row.metric != tables.headline)
    others = [replace(_pays_tests(pairs_of(tables, metric), unit), long=FOLDED) for metric in metrics]
    hint = (
        "System minus baseline within one type of question or number of hops. Wins, loses: the interval leaves 0 out, "
        "p is 0.05 or less after Holm's correction for all tests of the metric, and what is missing could not turn it. "
        "Open: nothing can be said, which is not the same as no difference. Finds: the smallest difference that would be seen in 4 of 5 "
        "such samples after the correction."
    )
    return Section(heading(tables), [
        *(Text(text) for text in paragraphs(tables) if tests), *([Text(hint, style="hint", forms="long")] if tests or others else []),
        *tests, _pays_costs(tables), *_folded(others),
    ], id="pays")


def _pays_tests(pairs: Sequence[PairGroups], unit: str, *, finds: bool = True) -> Table:
    """A row a group and pair by one metric, fields and groups in their order. `finds`: with what would be found; a terminal is narrow."""
    return Table(("group", "systems", "outcome", *_TESTED, "finds"), [
        (_group(row), f"{word(pair.system)} - {word(pair.baseline)}" if len(pairs) > 1 else "-", pair.outcome(row), *_tested(row, unit),
         figure(row.detectable if finds else None)) for pair in pairs for row in pair.rows
    ], title=f"Tests by {pairs[0].metric}{_of_pair([(pair.system, pair.baseline) for pair in pairs], ' - ')}", words=frozenset(range(3)),
       short=12, long=40).filled()


def _of_pair(pairs: Sequence[tuple[str, str]], between: str) -> str:
    """`: graph - vector` for a title, where there is one pair: a column of its own would say the same in every row."""
    return f": {word(pairs[0][0])}{between}{word(pairs[0][1])}" if len(pairs) == 1 else ""


def _group(row: GroupGain | GroupCost) -> str:
    """`complex reasoning`, or with the dataset that it is of."""
    return group_name(row.by, row.value) + (f", {word(row.dataset)}" if row.dataset is not None else "")


def _pays_costs(tables: ScoreTables) -> Table:
    """What both took on the same questions: `5,200 : 900`, and how many times as much."""
    def cell(known: BothMeans | None, form: Callable[[float], str], factor: bool = True) -> Cell:
        if known is None:
            return NONE
        much = times(known.system / known.baseline) if factor and known.baseline else ""
        return Cell(f"{form(known.system)} : {form(known.baseline)}", ", ".join(filter(None, [much, f"n {number(known.n)}"])))

    pairs = sorted({(row.system, row.baseline) for row in tables.report.costs_by_group})
    return columns(tables.report.costs_by_group, {
        "group": _group,
        "systems": lambda row: f"{word(row.system)} : {word(row.baseline)}" if len(pairs) > 1 else "-",
        "prompt tokens": lambda row: cell(row.prompt_tokens, lambda mean: number(round(mean))),
        "context tokens": lambda row: cell(row.context_tokens, lambda mean: number(round(mean))),
        "seconds": lambda row: cell(row.seconds, seconds),
        "context relevance": lambda row: cell(row.relevance, figure, factor=False),
    }, title=f"What it takes, on the same questions{_of_pair(pairs, ' : ')}", words=frozenset({0, 1}), short=8, long=20).filled()


def _audit(tables: ScoreTables) -> Section:
    """Questions that touch what the audit flagged, and the others."""
    table = columns(sorted(tables.report.joined, key=lambda one: (one.metric != tables.headline, one.rule is not None)), {
        "metric": lambda one: one.metric,
        "system": lambda one: word(one.system),
        "rule": lambda one: "any rule" if one.rule is None else word(one.rule),
        "touched": lambda one: Cell(figure(one.touched.mean), scored(one.touched)),
        "untouched": lambda one: Cell(figure(one.untouched.mean), scored(one.untouched)),
        "difference": lambda one: difference(one.difference, one.low, one.high),
    }, words=frozenset(range(3)), short=8, long=12)
    hint = (
        "Questions whose path or evidence touches an entity or relation that the audit flagged, and the others; the difference is "
        "touched minus untouched with its 95% CI. Rules are tested one by one: of 20 without effect, one looks "
        "worse or better by chance. A difference is no proof of cause: flagged parts may hold harder questions."
    )
    return _section("Scores and the graph's faults", "audit", hint, [table])


def _metrics(tables: ScoreTables) -> Section:
    """Each metric with the distribution of its values in every system, what it is and what its number depends on."""
    from kgeval.reports.plots_scores import distribution

    def name(one: MetricSummary) -> Cell:
        failed, bounds = causes(one.overall.failures), bracketed(one.overall.bound_low, one.overall.bound_high)
        return Cell(one.system, f"failed: {failed}" + (f"; bounds {bounds}" if bounds else "") if failed else "")

    def interval(mean: Mean) -> Cell:
        value, low, high = (end if end is not None and math.isfinite(end) else None for end in (mean.mean, mean.low, mean.high))
        return Cell("", range=(value, low, high) if value is not None else None)

    def quartiles(spread: Spread) -> str:
        ends = [figure(end) for end in (spread.q25, spread.median, spread.q75)]
        return "" if set(ends) == {"-"} else " / ".join(ends)

    blocks: list[Block] = []
    for metric in tables.metrics:
        info = tables.info.get(metric)
        blocks.append(columns([one for system in tables.systems if (one := tables.summaries.get((system, metric)))], {
            "system": name,
            "mean": lambda one: figure(one.overall.mean),
            "95% CI": lambda one: bracketed(one.overall.low, one.overall.high) or "-",
            "scored": lambda one: scored(one.overall),
            "interval": lambda one: interval(one.overall),
            "distribution": lambda one: Cell("", svg=distribution(one.spread, one.overall.mean)),
            "quartiles": lambda one: quartiles(one.spread),
        }, title=metric + (" (lower is better)" if tables.lower(metric) else ""), hint=info.summary if info else ""))
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
    return _section("Metrics and signatures", "", "", [columns(list(tables.info.values())[:60], {
        "Metric": lambda one: one.metric,
        "What it is": lambda one: one.summary,
        "Source": lambda one: one.source,
        "Signature": lambda one: Cell(one.signature, user=True),
    })], forms="md")


def _worst(tables: ScoreTables) -> Section:
    """The rows with the lowest values, and why: those of the verdict's metric first, and the systems by turns, so that none fills the
    list."""
    turns: dict[tuple[bool, str], Iterator[int]] = defaultdict(count)

    def turn(row: WorstRow) -> tuple[bool, int]:
        other = row.metric != tables.headline
        return other, next(turns[other, row.system])

    rows = sorted(tables.report.worst, key=turn)
    left = f"{WORST} of {number(len(rows))}; the JSON has them all." if len(rows) > WORST else ""
    hint = "Rows with the lowest values (the highest where lower is better), the systems by turns: read some before you believe a mean."
    opened = enumerate(zip(rows[:WORST], paths_of(rows[:WORST]), strict=True))
    return _section("Worst rows", "worst", hint, [
        *(_opened(row, path, at < 3) for at, (row, path) in opened), *([Text(left, style="hint", forms="page")] if left else []),
        Items([_line(row) for row in rows], short=3, long=10, longest=900, forms="brief"),
    ])


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
