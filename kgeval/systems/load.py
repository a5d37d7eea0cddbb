"""A system under load: so many questions always in flight, answers a second and latency once it is warm, and what the machine did.

A closed loop: each place sends the next question when its answer has come, as callers of a service do who wait for answers. Nothing is said
of a queue that grows whatever the system does (an open loop).
"""

from __future__ import annotations

import os
import threading
import time
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil
from statistics import mean, stdev

from kgeval.llm.account import too_many
from kgeval.llm.pool import Pool
from kgeval.records import Answer, Estimated, LoadLevel, LoadLimit, Quantiles, Question
from kgeval.stats.intervals import quantile, quantile_interval
from kgeval.systems.engine import answered
from kgeval.systems.system import Ask, System
from kgeval.tables.answers import stopped

SLICES = 10
LEAST = 2 * SLICES  # answers for an interval: with fewer, slices hold one or none
WARM = 2  # answers for each place, at least: the first of each opens connections and fills caches
BUSY = 0.9  # of the cores, or of the one that a Python process has


@dataclass(frozen=True)
class Request:
    """One question: when it was sent and answered (seconds of one clock), why it failed, seconds to the first token, and what processor
    time (of this process; of the machine: busy and in all) had been taken when the answer came."""

    sent: float
    came: float
    error: str | None
    ttft: float | None
    process: float
    machine: tuple[float, float] | None


def warm_up_of(in_flight: int, given: int) -> int:
    """Questions before the measured ones at a level."""
    return max(given, WARM * in_flight)


def load_asks(
    questions: Sequence[Question], levels: Sequence[int], measured: int, warm_up: int, times: Counter[str],
) -> Iterator[tuple[int, list[Ask]]]:
    """What a system is asked at each level: the questions by turns, from the first one on. Each time that a question comes again it is
    another trial, so that no journal and no cache of answers has it. `times`: how often each question was asked so far; one for all
    systems, since two of them may send a model the same."""
    for in_flight in levels:
        asks = []
        for number in range(warm_up_of(in_flight, warm_up) + measured):
            question = questions[number % len(questions)]
            times[question.id] += 1
            asks.append(Ask(question.id, question.question, trial=times[question.id]))
        yield in_flight, asks


def measure(
    system: System, asks: Sequence[Ask], in_flight: int, warm_up: int, *, max_error_rate: float, heard: Callable[[Answer], None],
) -> tuple[LoadLevel, str | None]:
    """Asks all with so many in flight. The level; and why it stopped before its end: too many failed, or no more may be asked.
    `heard`: gets each answer, one at a time.

    Raises: what ends a run.
    """
    failed = 0
    why: str | None = None
    over, turn = threading.Event(), threading.Lock()
    requests: list[Request] = []

    def work(ask: Ask) -> None:
        nonlocal failed, why
        if over.is_set():
            return
        sent = time.perf_counter()
        answer = answered(system, ask)
        came = time.perf_counter()
        request = Request(sent, came, answer.error, answer.ttft_s, time.process_time(), machine_time())
        # as they come and not in their order: one that hangs must not hide that all others fail
        with turn:
            if stopped(answer.error):  # was not asked: neither an answer nor an error of the system
                why = why or answer.error
            else:
                requests.append(request)
                heard(answer)
                failed += answer.error is not None
                if why is None and too_many(failed, len(requests), max_error_rate):
                    why = _failures(failed, len(requests), in_flight)
            if why is not None:
                over.set()

    pool = Pool(in_flight, window=len(asks))  # all at once: a slow answer must not hold the others up
    try:
        for _ in pool.run(work, asks):
            pass
    finally:
        over.set()
        pool.close()
    if why is None and failed > max_error_rate * len(requests):
        why = _failures(failed, len(requests), in_flight)
    return level_of(requests, in_flight, len(asks), warm_up), why


def _failures(failed: int, done: int, in_flight: int) -> str:
    return f"error_rate: {failed} of {done} answers failed with {in_flight} in flight"


def level_of(requests: Sequence[Request], in_flight: int, asked: int, warm_up: int) -> LoadLevel:
    """The figures of a level from its requests."""
    arrivals = sorted(request.came for request in requests)
    if len(arrivals) <= warm_up:
        return LoadLevel(in_flight=in_flight, asked=asked, warm_up=warm_up, answered=0, seconds=0.0)
    # until the last question is sent, every place has one in flight: what comes later is no load of this level
    start, end = arrivals[warm_up - 1], max(request.sent for request in requests)
    came = sorted(request.came for request in requests if request.error is None)
    inside = came[bisect_right(came, start) : bisect_right(came, end)]
    sent = [request for request in requests if request.sent >= start]
    seconds = sorted(request.came - request.sent for request in sent if request.error is None)
    first = sorted(request.ttft for request in sent if request.error is None and request.ttft is not None)
    errors = Counter(request.error.partition(":")[0] for request in sent if request.error is not None)
    cores, busy = _processors(requests, start, end)
    return LoadLevel(
        in_flight=in_flight, asked=asked, warm_up=warm_up, answered=len(inside), seconds=round(max(0.0, end - start), 6),
        per_second=_rate(inside, start, end), n_latency=len(seconds), mean=mean(seconds) if seconds else None,
        p50=_quantile(seconds, 0.5), p95=_quantile(seconds, 0.95), p99=_quantile(seconds, 0.99), slowest=seconds[-1] if seconds else None,
        ttft_s=None if not first else Quantiles(
            n=len(first), mean=mean(first), **{f"p{part}": first[ceil(part * len(first) / 100) - 1] for part in (50, 95, 99)},
        ),
        errors=dict(errors.most_common()), process_cores=cores, machine_busy=busy, limits=_limits(cores, busy),
    )


def _rate(came: Sequence[float], start: float, end: float) -> Estimated:
    """Answers a second with their interval: Student's t over slices, since answers that come one after the other are not independent."""
    if end <= start:
        return Estimated()
    rate, width = len(came) / (end - start), (end - start) / SLICES
    if len(came) < LEAST:
        return Estimated(value=rate)
    edges = [bisect_right(came, start + number * width) for number in range(1, SLICES)]
    counts = [after - before for before, after in zip([0, *edges], [*edges, len(came)], strict=True)]
    half = quantile(df=SLICES - 1) * stdev(counts) / SLICES**0.5 / width
    return Estimated(value=rate, low=max(0.0, rate - half), high=rate + half)


def _quantile(ordered: Sequence[float], share: float) -> Estimated:
    if not ordered:
        return Estimated()
    low, high = quantile_interval(ordered, share)
    return Estimated(value=ordered[ceil(share * len(ordered)) - 1], low=low, high=high)


def machine_time() -> tuple[float, float] | None:
    """Processor seconds of the whole machine so far: busy, and in all. None where the system does not say."""
    import psutil

    try:
        times = psutil.cpu_times()
    except (OSError, RuntimeError, psutil.Error):
        return None
    total = float(sum(times[:8]))  # guest time, after these, is in user time already
    return total - times.idle - getattr(times, "iowait", 0.0), total


def _processors(requests: Sequence[Request], start: float, end: float) -> tuple[float | None, float | None]:
    """Cores that this process used, and the share of the machine's that was busy, from the first answer of the window to its last."""
    inside = sorted((request for request in requests if start <= request.came <= end), key=lambda request: request.came)
    if len(inside) < 2 or inside[-1].came <= inside[0].came:
        return None, None
    first, last = inside[0], inside[-1]
    cores = round((last.process - first.process) / (last.came - first.came), 3)
    if first.machine is None or last.machine is None or last.machine[1] <= first.machine[1]:
        return cores, None
    return cores, round((last.machine[0] - first.machine[0]) / (last.machine[1] - first.machine[1]), 3)


def _limits(cores: float | None, busy: float | None) -> list[LoadLimit]:
    limits: list[LoadLimit] = []
    if busy is not None and busy >= BUSY:
        limits.append("machine")
    if cores is not None and cores >= BUSY:
        limits.append("process")
    return limits


def cores_here() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
