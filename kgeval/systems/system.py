"""What a system under test is, what it is opened with, and what it is shown of a question."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol, Self, runtime_checkable

from pydantic import JsonValue

from kgeval.llm.calls import Limits
from kgeval.llm.plan import PlannedStage
from kgeval.records import Answer

if TYPE_CHECKING:
    from kgeval.llm.prices import Price
    from kgeval.llm.shared import Shared
    from kgeval.systems.builtin.tools import BuiltinTools
    from kgeval.systems.spec import SystemSpec


@dataclass(frozen=True)
class Ask:
    """One question to a system. Nothing that is known of the right answer is in it.

    `trial`: which repetition (None: there is one). `target_words`: the answer shall have about so many words
    (generate-adjust of the comparison), `attempt`: which try at it, from 1; `previous`: the answer before. `sampled`: other
    answers to the same question are asked for too, to see how they differ: one at temperature 0 would come again and again. """

    question_id: str
    question: str
    trial: int | None = None
    target_words: int | None = None
    attempt: int | None = None
    previous: str | None = None
    sampled: bool = False


# What systems outside this process, and functions of the user's, are shown of it: their protocol, and nothing else.
SHOWN = ("question_id", "question", "trial", "target_words", "attempt", "previous")


class System(Protocol):
    """A system under test, open. `name`: Answer.system, with its variant ("graph@hops=2"); `variant`: what differs from
    its defaults.

    `signature`: changes with everything that its answers depend on (settings, model, index, prompts). `adjusts`: it can
    be asked for a length. `parallel`: questions that it takes at a time, at most. """

    name: str
    variant: str | None
    signature: str
    adjusts: bool
    parallel: int

    def answer(self, ask: Ask) -> Answer:
        """The answer; one that failed has `error` and an empty text. Called from several threads where `parallel` > 1.

        Raises: what ends a run (ModelError, ConnectError, UsageError), never because one question failed.
        """

    def close(self) -> None:
        """Ends processes, closes connections and files. May be called twice."""

    def __enter__(self) -> System: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None,
    ) -> None: ...


class ClosedAtEnd:
    """Base of systems: closed at the end of a `with` block."""

    def close(self) -> None:
        """Nothing, where a system holds nothing open."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None,
    ) -> None:
        self.close()


def name_with(base: str, variant: str | None) -> str:
    """A system's name: "graph", or with what differs from its usual settings "graph@hops=2"."""
    return f"{base}@{variant}" if variant else base


@dataclass(frozen=True)
class Opening:
    """What systems are opened with. `settings`: of this one; `variant`: what differs from them in an ablation.
    `timeout`: seconds a question; `processes`: of a command (of a function: calls), at a time; `function`: the one that
    is the system. `limits`: retries, concurrency and costs of an endpoint; `shared`: budget and rates of the command;
    `price`: of a model at an address, where it is known. `tools`: makes what built-in systems need, when one is opened.
    `folder`: an adapter's index. `environment`: all that a command's process gets (None: this one's).

    `questions`, `asked`, `maps`, `allow_*`, `max_bad_rows`, `trials`: for a file of answers: the file that is asked,
    for joining rows without ids; the ids of the questions that are asked; as --map. `dry`: nothing is started or sent.
    `say`: is told what takes long. """

    settings: Mapping[str, JsonValue] = field(default_factory=dict)
    variant: str | None = None
    timeout: float = 300.0
    processes: int = 1
    function: Callable[..., Any] | None = None
    limits: Limits = field(default_factory=Limits)
    shared: Shared | None = None
    price: Callable[[str, str], Price | None] = lambda model, url: None
    tools: Callable[[SystemSpec], BuiltinTools] | None = None
    folder: Path | None = None
    environment: Mapping[str, str] | None = None
    questions: Path = Path("-")
    asked: Callable[[], Iterable[str]] = tuple
    maps: Mapping[str, str] = field(default_factory=dict)
    allow_missing: bool = False
    allow_duplicates: bool = False
    max_bad_rows: float = 0.0
    trials: int = 1
    dry: bool = False
    say: Callable[[str], None] = lambda text: None


@runtime_checkable
class Plans(Protocol):
    """A System that can tell what questions would take without sending any."""

    def plan(self, asks: Iterable[Ask]) -> PlannedStage:
        """Calls, tokens and cost of these questions."""


@runtime_checkable
class Tells(Protocol):
    """A System that has something to say about a run: what was odd in its replies, how its files were read."""

    notes: list[str]
