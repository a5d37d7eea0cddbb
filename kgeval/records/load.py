"""How many answers a second a system gives, and how long each takes, with so many questions in flight."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from kgeval.records.base import Cause, Public, Record
from kgeval.records.comparison_judge import Estimated
from kgeval.records.manifest import RunReport
from kgeval.records.scores import Quantiles

LoadLimit = Literal["machine", "process", "rates", "budget"]


class LoadLevel(Record):
    """One system with `in_flight` questions at a time, always so many: the next is sent when an answer comes.

    `asked`: questions, `warm_up` of them not measured. The window of `seconds` begins when the warm-up's answers are there and ends when
    the last question is sent. `per_second`: answers without an error that came in it, `answered` of them; its 95 % interval is Student's t
    over ten equal slices of the window. Latency is from sending a question to its answer, over the `n_latency` without an error that were
    sent in the window, whenever they came; `p50`, `p95`, `p99` by nearest rank, their 95 % intervals by the binomial ranks around it.
    `ttft_s`: seconds to the first token, over answers that tell. `errors`: of questions sent in the window, by cause.

    `process_cores`: processor seconds that kgeval's own process took a second; `machine_busy`: share of all cores of the machine that was
    busy; null: not known. `limits`: what may have been the limit in place of the system: `machine`: its cores were busy; `process`:
    kgeval's own process was; `rates`: --rpm or --tpm was reached; `budget`: calls waited for others, because --cost-limit did not hold all
    of them at the highest price that they can have.
    """

    in_flight: int
    asked: int
    warm_up: int
    answered: int
    seconds: float
    per_second: Estimated = Field(default_factory=Estimated)
    n_latency: int = 0
    mean: float | None = None
    p50: Estimated = Field(default_factory=Estimated)
    p95: Estimated = Field(default_factory=Estimated)
    p99: Estimated = Field(default_factory=Estimated)
    slowest: float | None = None
    ttft_s: Quantiles | None = None
    errors: dict[Cause, int] = Field(default_factory=dict)
    process_cores: float | None = None
    machine_busy: float | None = None
    limits: list[LoadLimit] = Field(default_factory=list)


class LoadedSystem(Record):
    """One system at all levels, the fewest questions in flight first. `stopped`: why later levels were not measured, in kgeval's own
    words."""

    system: Public
    variant: Public | None = None
    signature: Public
    levels: list[LoadLevel] = Field(default_factory=list)
    stopped: Public | None = None


class LoadReport(RunReport):
    """Throughput and latency under load. `questions`: different ones, asked by turns; `cores`: of the machine that asked. `complete` false:
    a level was not measured to its end."""

    complete: bool = True
    questions: int
    cores: int
    systems: list[LoadedSystem] = Field(default_factory=list)
    notes: list[str] = Field(default_factory=list)
