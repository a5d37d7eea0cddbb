"""All sections of a score report in order, and those on cost, speed and chains of reasoning."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

from kgeval.format import money, number, percent, seconds
from kgeval.records import LEVELS_OF_X, CostSummary, Mean, Quantiles, ReasoningSummary
from kgeval.reports import scores_grids as tables
from kgeval.reports.scores_grids import Cell, Grid, Section, cell
from kgeval.reports.scores_view import View, level_title, word

_FIELDS = ("input_tokens", "output_tokens", "total_tokens", "calls", "cost", "latency_s", "seconds")
_STAGES = ("retrieval", "entry", "expand", "rerank", "generate")


def sections(view: View) -> list[Section]:
    """What the report has, in the order of a decision: gates, scores, where they come from, what they cost, what is behind them."""
    makers: tuple[Callable[[View], Section | None], ...] = (
        tables.gates, tables.scores, tables.systems, tables.leaderboard, tables.types, tables.groups, tables.failures, tables.repeats,
        cost, reasoning, tables.gains, tables.audit,
    )
    return [section for make in makers if (section := make(view)) is not None]


def cost(view: View) -> Section | None:
    """Totals with factors against the baseline, means per answer, seconds, tokens by type, quality per 1,000 tokens."""
    given = {one.system: one for one in view.report.costs if one.known or one.totals or one.latency_s}
    if not given:
        return None
    systems = tuple(name for name in (*view.systems, *given) if name in given)
    rows = [given[name] for name in dict.fromkeys(systems)]
    heads = tuple(dict.fromkeys(systems))
    grids = (
        _numbers("Totals", heads, rows, lambda one: one.totals, factors=True),
        _numbers("Per answer", heads, rows, lambda one: one.means),
        _seconds(heads, rows), _by_hops(heads, rows),
        _plain("Prompt tokens per answer, by type", "type", heads, rows, lambda one: one.prompt_tokens_by_level),
        _plain("Mean score per 1,000 tokens", "metric", heads, rows, lambda one: one.quality_per_1k_tokens),
    )
    baselines = [word(name) for name in dict.fromkeys(one.baseline for one in rows if one.baseline and one.factors)]
    against = f" Factors (5.8 x) are against {', '.join(baselines)}, over the questions that both tell of." if baselines else ""
    hint = f"Of the answers that tell; where not all do, their number stands behind.{against} Seconds: nearest rank."
    return Section("cost", "Cost and speed", hint, tuple(grid for grid in grids if grid.rows))


def _numbers(
    title: str, heads: tuple[str, ...], costs: list[CostSummary], of: Callable[[CostSummary], dict[str, float]], *, factors: bool = False,
) -> Grid:
    found = {field for one in costs for field in of(one)}
    fields = [*(field for field in _FIELDS if field in found), *sorted(found - set(_FIELDS))]
    rows = tuple((_field(field), tuple(_amount(one, field, of(one), factors) for one in costs)) for field in fields)
    return Grid(title, ("figure", *heads), rows, main=factors)


def _field(name: str) -> str:
    """`input tokens`, `latency (s)`."""
    return name.removesuffix("_s").replace("_", " ") + (" (s)" if name.endswith("_s") else "")


def _amount(one: CostSummary, field: str, table: dict[str, float], factors: bool) -> Cell:
    value = table.get(field)
    if value is None:
        return Cell("-")
    known = one.known.get(field)
    some = f"of {number(known)}/{number(one.n)}" if known is not None and known < one.n else ""
    times = _times(one.factors.get(field)) if factors and one.system != one.baseline else ""
    text = money(value) if field == "cost" else seconds(value) if field.endswith("_s") or field == "seconds" else number(round(value, 1))
    return Cell(text, ", ".join(part for part in (times, some) if part))


def _times(factor: float | None) -> str:
    """`5.8 x`, `0.25 x`, `120 x`; "" where there is no factor."""
    if factor is None or not math.isfinite(factor):
        return ""
    return f"{factor:,.{0 if factor >= 100 else 1 if factor >= 1 else 2}f} x"


def _seconds(heads: tuple[str, ...], costs: list[CostSummary]) -> Grid:
    """p50, p95 and p99 of the whole, the first token, and each stage (with its factor: the whole has it among the totals)."""
    stages = [*_STAGES, *sorted({name for one in costs for name in one.stages} - set(_STAGES))]
    kinds: list[tuple[str, list[Cell]]] = [
        ("in total", [_quantiles(one.latency_s) for one in costs]), ("to first token", [_quantiles(one.ttft_s) for one in costs]),
        *((stage, [_quantiles(one.stages.get(stage), one.factors.get(stage)) for one in costs]) for stage in stages),
    ]
    return Grid("Seconds per answer: p50 / p95 / p99", ("part", *heads), _filled(kinds), over="n")


def _filled(kinds: Iterable[tuple[str, list[Cell]]]) -> tuple[tuple[str, tuple[Cell, ...]], ...]:
    return tuple((name, tuple(cells)) for name, cells in kinds if any(one.text != "-" for one in cells))


def _quantiles(one: Quantiles | None, factor: float | None = None) -> Cell:
    if one is None or not one.n:
        return Cell("-")
    text = " / ".join(seconds(value) for value in (one.p50, one.p95, one.p99))
    return Cell(text, ", ".join(part for part in (_times(factor), f"n {number(one.n)}") if part))


def _by_hops(heads: tuple[str, ...], costs: list[CostSummary]) -> Grid:
    hops = sorted({hop for one in costs for hop in one.by_hops}, key=lambda hop: (len(hop), hop))
    kinds = [(hop, [_quantiles(one.by_hops.get(hop)) for one in costs]) for hop in hops]
    return Grid("Seconds by hops: p50 / p95 / p99", ("hops", *heads), _filled(kinds), main=False)


def _plain(title: str, head: str, heads: tuple[str, ...], costs: list[CostSummary], of: Callable[[CostSummary], dict[str, float]]) -> Grid:
    found = list(dict.fromkeys(name for one in costs for name in of(one)))
    names = [*(name for name in LEVELS_OF_X if name in found), *(name for name in found if name not in LEVELS_OF_X)]
    rows = tuple((level_title(name) if head == "type" else name, tuple(_figure(of(one).get(name)) for one in costs)) for name in names)
    return Grid(title, (head, *heads), rows, main=False)


def _figure(value: float | None) -> Cell:
    return Cell("-" if value is None else number(round(value, 1) if abs(value) >= 100 else value))


def reasoning(view: View) -> Section | None:
    """Accuracy by hops, right steps, and what wrong steps lead to, with the counts behind each share."""
    given = view.report.reasoning
    if not given:
        return None
    heads = tuple(one.system for one in given)
    chains = any(one.stepwise_accuracy for one in given)
    metrics = ", ".join(dict.fromkeys(word(one.accuracy_metric) for one in given))
    rows = (
        ("steps that are right", tuple(cell(one.stepwise_accuracy) for one in given)),
        ("questions judged", tuple(Cell(number(one.questions)) for one in given)),
        ("with a wrong step", tuple(_share(one.wrong_step_share, one.with_wrong_step, one.questions) for one in given)),
        ("of these: wrong answer", tuple(_share(one.error_propagation, None, one.wrong_step_answers) for one in given)),
        ("of these: right all the same", tuple(_share(one.lucky, None, one.wrong_step_answers) for one in given)),
    )
    grids = (
        _means(f"{metrics} by hops", "hops", given, lambda one: one.accuracy_by_hop, main=not chains or "hops" not in view.groups),
        Grid("Chains of steps", ("figure", *heads), rows if chains else (), over="of"),
        _means("Right steps by relation", "relation", given, lambda one: one.by_relation),
        _means("Right steps by position in the chain", "position", given, lambda one: one.by_position),
    )
    hint = "Share of right answers by how many steps a question takes." if not chains else (
        "Error propagation: of the questions with a wrong step, the share whose answer is wrong too. Lucky: a right answer with a "
        "wrong step. Both are over the answers that could be scored; counts stand beside every share."
    )
    return Section("reasoning", "Reasoning over several hops", hint, tuple(grid for grid in grids if grid.rows))


def _means(
    title: str, head: str, given: list[ReasoningSummary], of: Callable[[ReasoningSummary], dict[str, Mean]], *, main: bool = False,
) -> Grid:
    names = sorted({name for one in given for name in of(one)}, key=lambda name: (len(name), name) if head != "relation" else (0, name))
    rows = tuple((name, tuple(cell(of(one).get(name)) for one in given)) for name in names)
    return Grid(title, (head, *(one.system for one in given)), rows, main=main, over="scored")


def _share(share: float | None, count: int | None, total: int) -> Cell:
    """A share with what it is over; the count follows from the share where the report does not have it."""
    if share is None:
        return Cell("-", f"of {number(total)}")
    return Cell(percent(share), f"{number(round(share * total) if count is None else count)} of {number(total)}")
