"""Systems under load: answers a second and latency by how many questions are in flight, where more bring nothing, and the limit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise

from kgeval.format import bracketed, joined, number, plural, seconds, share, visible
from kgeval.records import Estimated, LoadedSystem, LoadLimit, LoadReport
from kgeval.reports.document import Cell, Document, Figure, Section, Table
from kgeval.reports.measures import causes
from kgeval.reports.plots_crossed import Line, Point, curves
from kgeval.reports.usage import usage

LIMITS: Mapping[LoadLimit, str] = {"machine": "machine", "process": "kgeval's process", "rates": "rate set here", "budget": "cost limit"}
MEANING = (
    "So many questions are always in flight: the next is sent when an answer comes. Measured from the end of the warm-up to the last "
    "question sent. Answers a second: those without an error that came in that time, with a 95% CI by Student's t over ten equal slices. "
    "Latency: from sending to the answer, of questions sent in that time, by nearest rank, with 95% CIs by binomial ranks (-: too few). "
    "Cores: what kgeval's own process took; machine: share of all its cores that was busy. From 90 % on they are named as the limit."
)


def document(report: LoadReport) -> Document:
    """What each system came to and what held it back, the table of all levels, curves."""
    return Document(
        "Load", "answer --load", [
            Section("Answers a second and latency", [_table(report)], id="load", hint=MEANING),
            Section("Against the questions in flight", list(_plots(report)), id="plots", wide=True, forms="page"),
        ],
        about=f"{plural(len(report.systems), 'system')}, {plural(report.questions, 'different question')}, {plural(report.cores, 'core')}",
        lead=lead(report), notes=report.notes, foot=usage(report.run),
        more="Curves: add -o load.html",
    )


def lead(report: LoadReport) -> list[str]:
    """What every system came to."""
    return [line for system in report.systems for line in _lead(system, report)]


def _lead(system: LoadedSystem, report: LoadReport) -> Iterator[str]:
    """The level with the most answers a second, from where on more in flight bring none, and limits that are not the system's."""
    name, levels = visible(system.system, longest=60), [level for level in system.levels if level.per_second.value is not None]
    if system.stopped:
        yield f"{name}: stopped: {visible(system.stopped, longest=120)}."
    if not levels:
        yield f"{name}: nothing could be measured."
        return
    best = max(levels, key=lambda level: level.per_second.value or 0.0)
    if not (best.answered or best.n_latency):
        yield f"{name}: no answer without an error came."
        return
    quantiles = (("median", best.p50), ("p95", best.p95), ("p99", best.p99))
    latency = joined([f"{name} {seconds(one.value)} s" for name, one in quantiles if one.value is not None])
    yield f"{name}: {_rate(best.per_second)} answers a second with {number(best.in_flight)} in flight; {latency}."
    for before, after in pairwise(levels):
        if not _more(before.per_second, after.per_second):
            slower = f", and the median answer takes {seconds(after.p50.value)} s instead of {seconds(before.p50.value)} s"
            few, many = number(before.in_flight), number(after.in_flight)
            yield f"{name}: with {many} in flight not surely more answers a second than with {few}{slower}."
            break
    for limit, text in {
        "machine": f"the machine was the limit: its {plural(report.cores, 'core')} were busy, with this and all else that runs there, so "
                   "that these figures are no limit of the system",
        "process": "kgeval's own process was busy: of a system outside of it more may come from a faster core; of a built-in one this is "
                   "its own work too",
        "rates": "the limit was the rate that is set here (--rpm, --tpm), not the system",
        "budget": "calls waited here, since the cost limit lets only so many be sent at a time: these figures are not the system's (raise "
                  "--cost-limit, or set max_completion_tokens)",
    }.items():
        if touched := [number(level.in_flight) for level in levels if limit in level.limits]:
            yield f"{name}, {joined(touched)} in flight: {text}."


def _more(before: Estimated, after: Estimated) -> bool:
    """Whether the intervals are apart; without one, by the values."""
    least = after.value if after.low is None else after.low
    most = before.value if before.high is None else before.high
    return (least or 0.0) > (most or 0.0)


def _rate(one: Estimated) -> str:
    return f"{number(one.value or 0.0)} {bracketed(one.low, one.high, number)}".rstrip()


def _table(report: LoadReport) -> Table:
    def quantile(one: Estimated) -> str:
        ends = "" if one.low is None and one.high is None else f" [{seconds(one.low)}, {seconds(one.high)}]"
        return f"{seconds(one.value)}{ends}"

    streams = any(level.ttft_s is not None and level.ttft_s.p50 is not None for system in report.systems for level in system.levels)
    first = ["first token p50 s"] if streams else []
    head = ("system", "in flight", "answers/s", "p50 s", "p95 s", "p99 s", *first, "measured", "errors", "cores", "machine", "limit")
    return Table(head, [
        (
            Cell(system.system, user=True), number(level.in_flight), "-" if level.per_second.value is None else _rate(level.per_second),
            *(quantile(one) for one in (level.p50, level.p95, level.p99)),
            *(seconds(level.ttft_s.p50 if level.ttft_s else None) for _ in first),
            f"{number(level.answered)} in {seconds(level.seconds)} s", causes(level.errors) or "0", number(level.process_cores),
            share(level.machine_busy), ", ".join(LIMITS[limit] for limit in level.limits) or "-",
        ) for system in report.systems for level in system.levels
    ], words=frozenset({0, len(head) - 1}), short=40)


def _plots(report: LoadReport) -> Iterator[Figure]:
    for name, title in (("per_second", "answers a second"), ("p50", "seconds, median"), ("p95", "seconds, p95")):
        lines: dict[Line, list[Point]] = {
            (system.system,): [
                (float(level.in_flight), one.value, one.low, one.high)
                for level in system.levels if (one := getattr(level, name)).value is not None
            ] for system in report.systems
        }
        yield from curves(lines, title=title.capitalize(), x="questions in flight", y=title, name=f"load-{name}")
