"""Everything that kgeval.toml describes, from graph to report, as one task: its stages are the other workflows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kgeval.config import RunOptions, environment
from kgeval.errors import GateError
from kgeval.llm.plan import AnyPlan, Plan
from kgeval.workflows.pipeline.execute import USABLE, RunSettings, carry_out, chosen, exit_code, log_of, states_of
from kgeval.workflows.pipeline.ledger import Ledger, alone
from kgeval.workflows.pipeline.stages import Stage
from kgeval.workflows.result import Result
from kgeval.workflows.session import Session

if TYPE_CHECKING:
    import pandas as pd

    from kgeval.records import OverviewReport, StageRun
    from kgeval.workflows.pipeline.perform import Around

LAST = 5  # lines of the log of a stage that failed


@dataclass(frozen=True)
class RunResult(Result):
    """What a run came to. `report`: the OverviewReport at its end; None where that was not made. `folder`: everything is below it.
    `stages`: the last state of each stage, with exit code, seconds, calls and cost."""

    folder: Path = Path()
    stages: tuple[StageRun, ...] = ()

    @property
    def exit_code(self) -> int:
        """As the command's: 2 a stage failed, else 3 one is incomplete, else 1 a gate is missed, else 0."""
        return exit_code([stage.state for stage in self.stages])

    @property
    def gates(self) -> list[Any]:
        """The gates of all reports of the run, as the report at its end has them."""
        return [] if self.report is None else list(self.report.gates)

    def raise_for_gates(self) -> None:
        """Raises: GateError naming the stages with a gate that is missed."""
        if missed := [stage.id for stage in self.stages if stage.state == "missed"]:
            raise GateError(f"a gate is missed: {', '.join(missed)}")

    def to_pandas(self) -> pd.DataFrame:
        """A row a stage: id, kind, state, exit_code, seconds, calls, cost, reason, command."""
        import pandas as pd

        columns = ("id", "kind", "state", "exit_code", "seconds", "calls", "cost", "reason", "command")
        return pd.DataFrame([{name: getattr(stage, name) for name in columns} for stage in self.stages], columns=list(columns))

    def _repr_html_(self) -> str:
        return super()._repr_html_() if self.report is not None else f"<pre>{escape(str(self))}</pre>"

    def __str__(self) -> str:
        return "\n".join(f"{stage.id}: {stage.state.replace('_', ' ')}{_why(stage)}" for stage in self.stages)


@dataclass(frozen=True)
class StagePlan:
    """What a run would do with a stage. `state`: "up to date", "would run" or "would go on"; `command`: its line; `asks`: what it would ask
    of models, or what it waits for to be known; None where nobody asked for that, or it asks nothing. `calls`: low to high, where known."""

    id: str
    state: str
    command: str
    asks: str | None = None
    calls: tuple[int, int] | None = None

    def __str__(self) -> str:
        lines = [f"{self.state:12}  {self.id}", self.command, *(self.asks or "").splitlines()]
        return f"\n{'':14}".join(lines)


@dataclass(frozen=True)
class RunPlan(AnyPlan):
    """What a run would do, stage by stage. Nothing was sent or written."""

    stages: tuple[StagePlan, ...]

    @property
    def calls(self) -> tuple[int, int]:
        """Calls of models to make, low to high; without those of stages that wait for others to be known."""
        ranges = [stage.calls for stage in self.stages if stage.calls is not None]
        return sum(low for low, _ in ranges), sum(high for _, high in ranges)

    def to_pandas(self) -> pd.DataFrame:
        """A row a stage: id, state, command, what it asks in words, calls (None where they are not known)."""
        import pandas as pd

        rows = [(stage.id, stage.state, stage.command, stage.asks, *(stage.calls or (None, None))) for stage in self.stages]
        return pd.DataFrame(rows, columns=["stage", "state", "command", "asks", "calls_low", "calls_high"])

    def __str__(self) -> str:
        return "\n".join(map(str, self.stages))


@dataclass(frozen=True)
class StageEvent:
    """A stage begins (`done` is None) or is over: the `number`-th of `total`. `what`: came of it. `last`: lines of the log, of one that
    failed."""

    stage: Stage
    done: StageRun | None
    what: str
    number: int
    total: int
    last: tuple[str, ...] = ()

    def __str__(self) -> str:
        if self.done is None:
            return f"{self.stage.id}: {self.stage.line}"
        seconds = f" in {self.done.seconds:.1f} s" if self.done.seconds is not None and self.what != "up to date" else ""
        return f"[{self.number}/{self.total}] {self.stage.id}: {self.what}{seconds}{_why(self.done, self.what)}"


def _why(done: StageRun, what: str = "") -> str:
    return f" ({done.reason})" if done.reason and done.reason not in what else ""


def stages_in(session: Session, options: RunOptions, faults: Sequence[str] = ()) -> tuple[Stage, ...]:
    """The stages that are wanted, and what they need. `faults`: of the configuration file.

    Raises: ConfigError with every fault of the file, of what it names, and of the options of every stage; UsageError for stages that are
    not there; InputError for a file of known questions that is none.
    """
    from kgeval.tables.known_questions import read_known
    from kgeval.workflows.pipeline.check import check
    from kgeval.workflows.pipeline.plan import RunRequest, stages_of

    if options.without_known is not None:
        read_known(options.without_known)  # before other stages are paid, it is the file that scores will want
    common = {name: value for name in ("journal", "cache_dir", "max_concurrency") if (value := getattr(options, name)) is not None}
    stages = stages_of(RunRequest(
        session.config, session.config_file, folder_of(session, options), _connection(session), common,
        options.without_known or session.config.run.without_known,
    ))
    check(session.config, stages, faults, session.config_file)
    return chosen(stages, options.stages)


def folder_of(session: Session, options: RunOptions) -> Path:
    """Where everything is written."""
    return options.folder or session.config.run.folder


def _connection(session: Session) -> dict[str, Any]:
    """What stages are said of the connection: what is neither in the environment nor in the file, and can be said in a command."""
    from kgeval.graph.connect import check_uri

    if session.home is not None:
        return {"home": session.home}
    if not isinstance(session.connection, str):
        return {}
    check_uri(session.connection)  # it stands in the command of each stage
    given = {"uri": session.connection, "username": session.username, "database": session.database}
    return {name: value for name, value in given.items() if value is not None and value != environment(f"NEO4J_{name.upper()}")}


def plan(session: Session, options: RunOptions, *, faults: Sequence[str] = (), ask: bool = True) -> Iterator[StagePlan]:
    """What a run would do, stage by stage. `ask`: also what the next stages would ask of models, where their files are there already.
    Nothing is sent or written. Raises: as `run`, before anything is started."""
    stages = stages_in(session, options, faults)
    ledger = Ledger(folder_of(session, options))
    graphs: list[str] = []  # stages that would make a graph
    for stage, state in states_of(stages, ledger, _orders(session, options, stages)):
        waits = state != "up to date" and ask and stage.kind.asks
        asks = _asks(stage, session, graphs) if waits else None
        calls = asks.calls if isinstance(asks, Plan) else None
        yield StagePlan(stage.id, state, stage.line, None if asks is None else str(asks), calls)
        if state != "up to date" and stage.makes is not None:
            graphs.append(stage.id)


def _asks(stage: Stage, session: Session, graphs: Sequence[str]) -> Plan | str:
    """What the stage's own dry run says; or why it cannot say anything yet. `graphs`: stages that make its graph first."""
    from kgeval.workflows.pipeline.perform import planned

    missing = [f"the graph of {graph}" for graph in graphs if graph in stage.needs]
    outputs = set(map(str, stage.outputs))
    missing += [word for word in stage.words if word.endswith((".jsonl", ".json")) and not Path(word).exists() and word not in outputs]
    return f"its calls are known once {', '.join(missing)} is there" if missing else planned(stage, session)


def run(
    session: Session, options: RunOptions, *, faults: Sequence[str] = (), hear: Callable[[StageEvent], None] | None = None,
    watch: Callable[[str], None] | None = None, around: Around | None = None, stopped: Callable[[], bool] = lambda: False,
) -> RunResult:
    """Carries out what the session's configuration describes. A stage that fails holds up only those that need it.

    `hear`: is called before and after each stage; else the session's `say`. `watch`, `around`, `stopped`: as pipeline.perform has them.
    Raises: ConfigError, UsageError, ConnectError before anything is started; InputError where the folder cannot be written;
    KeyboardInterrupt after it was written what was interrupted: the same call goes on.
    """
    from kgeval.workflows.pipeline.graphs import check_graphs
    from kgeval.workflows.pipeline.perform import Performer

    stages, folder = stages_in(session, options, faults), folder_of(session, options)
    hear = hear or (lambda event: session.say(str(event)))
    with alone(folder):
        ledger, orders = Ledger(folder), _orders(session, options, stages)
        check_graphs(stages, ledger, session)
        performer = Performer(session, watch, stopped=stopped)
        states: dict[str, StageRun] = {}
        for stage, done, what in carry_out(stages, ledger, orders, replace(performer, around=around) if around else performer):
            if done is not None:
                states[stage.id] = done
            last = _last_lines(log_of(folder, stage)) if done is not None and done.state == "failed" else ()
            hear(StageEvent(stage, done, what, len(states), len(stages), last))
    made = states.get("report")
    report = _read_report(folder / "report.json") if made is not None and made.state in USABLE else None
    return RunResult(report, folder=folder, stages=tuple(states.values()), redact=session.config.report.redact)


def _orders(session: Session, options: RunOptions, stages: Sequence[Stage]) -> RunSettings:
    from kgeval.workflows.pipeline.graphs import states_now

    return RunSettings(session.config, folder_of(session, options), again=frozenset(options.again), graph=states_now(stages, session))


def _last_lines(log: Path) -> tuple[str, ...]:
    return tuple(log.read_text(encoding="utf-8", errors="replace").splitlines()[-LAST:]) if log.is_file() else ()


def _read_report(path: Path) -> OverviewReport:
    from kgeval.records import OverviewReport
    from kgeval.tables import read_json

    return OverviewReport.model_validate(read_json(path))
