"""What was asked so far, per stage: calls, tokens, money, failures. Feeds the manifest, the progress line and the error rate."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from kgeval.llm.calls import Failure, Outcome, Task
from kgeval.llm.paid import Paid
from kgeval.records import ModelUse

# three failures among the first five items are no rate yet: a run is not ended on that (docs/models.md)
FIRST_LOOK = 20
COUNTS = (
    "calls", "from_journal", "input_tokens", "output_tokens", "earlier_calls", "earlier_input_tokens", "earlier_output_tokens",
)
# stopped by us and not failed: counting them would end a run for having been ended
NOT_COUNTED = ("budget", "error_rate", "cancelled")


@dataclass
class _Stage:
    calls: int = 0
    from_journal: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float = 0.0
    seconds: float = 0.0
    estimated: int = 0
    failures: Counter[str] = field(default_factory=Counter)


def too_many(failed: float, done: int, rate: float) -> bool:
    """Whether more failed than chance explains (three standard deviations) at the allowed rate, once there is enough to look at."""
    return done >= FIRST_LOOK and failed > done * rate + 3 * (done * rate * (1 - rate)) ** 0.5


def use_since(before: Sequence[ModelUse], now: Sequence[ModelUse]) -> list[ModelUse]:
    """What was asked after `before` of the same account, by stage; stages that asked nothing since are left out."""
    earlier = {(one.stage, one.model): one for one in before}
    rows = (_less(one, earlier[key]) if (key := (one.stage, one.model)) in earlier else one for one in now)
    return [one for one in rows if one.calls or one.from_journal or one.failures or one.earlier_calls]


def _less(one: ModelUse, before: ModelUse) -> ModelUse:
    counts = {name: getattr(one, name) - getattr(before, name) for name in COUNTS}
    cost = None if one.cost is None else round(one.cost - (before.cost or 0.0), 6)
    failures = dict(Counter(one.failures) - Counter(before.failures))
    earlier = None if one.earlier_cost is None else round(one.earlier_cost - (before.earlier_cost or 0.0), 6)
    seconds = round(one.seconds - before.seconds, 3)
    return one.model_copy(update={**counts, "cost": cost, "earlier_cost": earlier, "seconds": seconds, "failures": failures})


class Account:
    """The account of one session. Thread-safe. `paid`: keeps it for a later start of the run, where it is one."""

    def __init__(self, model: str, *, priced: bool, max_error_rate: float, paid: Paid | None = None) -> None:
        self.paid = paid
        self._model, self._priced, self._max_error_rate = model, priced, max_error_rate
        self._lock = threading.Lock()
        self._stages: dict[str, _Stage] = {}
        self.done, self.failed = 0, 0.0

    def sends(self, stage: str) -> None:
        """One request is about to be sent. Raises: IncompleteError where that cannot be kept."""
        if self.paid is not None:
            self.paid.note(stage)

    def call(
        self, stage: str, *, seconds: float, input_tokens: int = 0, output_tokens: int = 0, cost: float = 0.0, estimated: bool = False,
        noted: bool = False,
    ) -> None:
        """One request was sent. `noted`: `sends` said so."""
        if self.paid is not None:
            self.paid.add(
                stage, calls=int(not noted), seconds=seconds, input_tokens=input_tokens, output_tokens=output_tokens, cost=cost,
            )
        with self._lock:
            stage_use = self._stage(stage)
            stage_use.calls += 1
            stage_use.seconds += seconds
            stage_use.input_tokens += input_tokens
            stage_use.output_tokens += output_tokens
            stage_use.cost += cost
            stage_use.estimated += estimated

    def found(self, stage: str) -> None:
        """One request was answered by the journal."""
        with self._lock:
            self._stage(stage).from_journal += 1

    def outcome(self, task: Task, outcome: Outcome) -> None:  # type: ignore[type-arg]
        """One task is over. Numbered items count each as their share of the task."""
        failures = list(outcome.missing.values()) if task.items else []
        failures = failures or ([outcome.failure] if outcome.failure is not None else [])
        with self._lock:
            stage_use = self._stage(task.stage or task.prompt.name)
            stage_use.failures.update(failure.cause for failure in failures)
            # a task of 20 items that lacks one of them is a twentieth of a failure
            if not any(failure.cause in NOT_COUNTED for failure in failures):
                self.done += 1
                self.failed += len(failures) / max(len(task.items), 1)

    def too_many_failures(self) -> Failure | None:
        """Why the run should stop now: more failures than chance explains (three standard deviations) at the allowed rate."""
        with self._lock:
            rate = self._max_error_rate
            if not too_many(self.failed, self.done, rate):
                return None
            what = f"{self.failed:.0f} of {self.done} items failed"
            return Failure("error_rate", f"{what}, a share of {rate:g} is allowed (--max-error-rate)")

    @property
    def error_rate(self) -> float:
        """Share of items that failed, 0 to 1; those stopped by budget or interruption are not counted."""
        with self._lock:
            return self.failed / self.done if self.done else 0.0

    @property
    def cost(self) -> float:
        """USD so far."""
        with self._lock:
            return sum(stage.cost for stage in self._stages.values())

    def estimated_stages(self) -> list[str]:
        """Stages whose tokens were counted here because the endpoint gave no usage."""
        with self._lock:
            return sorted(name for name, stage in self._stages.items() if stage.estimated)

    def use(self) -> list[ModelUse]:
        """The account as records, by stage."""
        earlier = {} if self.paid is None else self.paid.earlier
        with self._lock:
            uses = {
                name: ModelUse(
                    stage=name, model=self._model, calls=stage.calls, from_journal=stage.from_journal, input_tokens=stage.input_tokens,
                    output_tokens=stage.output_tokens, cost=round(stage.cost, 6) if self._priced else None, seconds=round(stage.seconds, 3),
                    failures=dict(sorted(stage.failures.items())),
                )
                for name, stage in self._stages.items()
            }
        for name, before in earlier.items():
            paid = {part: value for part, value in before if part.startswith("earlier_")}
            now = uses.get(name) or ModelUse(stage=name, model=self._model, cost=0.0 if self._priced else None)
            uses[name] = now.model_copy(update=paid)
        return [uses[name] for name in sorted(uses)]

    def _stage(self, name: str) -> _Stage:
        return self._stages.setdefault(name, _Stage())
