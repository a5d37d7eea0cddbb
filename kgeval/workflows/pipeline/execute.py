"""Carries the stages of a run out, one after the other: what is up to date is passed over, what failed holds up only what needs it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from kgeval.config import Config, LimitsSection
from kgeval.errors import InputError, UsageError
from kgeval.limits import parse_json
from kgeval.records import StageRun, StageState
from kgeval.workflows.pipeline.ledger import Ledger, digest_of, fingerprint
from kgeval.workflows.pipeline.stages import LOGS, Stage

INTERRUPTED = 130
STATES: dict[int, StageState] = {0: "done", 1: "missed", 3: "incomplete", INTERRUPTED: "interrupted"}
USABLE = ("done", "missed", "incomplete")
Runner = Callable[[Stage, Path], int]  # a stage and the file for its messages -> exit code


@dataclass(frozen=True)
class RunSettings:
    """How a run goes. `again`: ids or kinds of stages that are done again although they are up to date. `graph`: the state of a graph of
    this name ("": of the whole database) as the database says it now; "" where it is not there."""

    config: Config
    folder: Path
    again: frozenset[str] = frozenset()
    graph: Callable[[str], str] = lambda name: ""

    def fingerprint_of(self, stage: Stage, stages: Sequence[Stage], earlier: Mapping[str, str]) -> str:
        """The stage's fingerprint. `earlier`: those of the stages before it."""
        outputs = {path for other in stages for path in other.outputs}
        read = self.graph(stage.reads) if stage.reads is not None else ""
        return fingerprint(stage, self.config, earlier=earlier, made=outputs, graph=read)

    def current(self, stage: Stage, mark: str, ledger: Ledger) -> bool:
        """True if the stage is up to date. The database is only asked where all else is as it was."""
        if {stage.id, stage.kind.name} & self.again or not ledger.alike(stage, mark):
            return False
        return ledger.fresh(stage, mark, graph=self.graph(stage.makes) if stage.makes is not None else "")


@dataclass
class RunProgress:
    """What a run has come to so far. `cost`, `calls`: asked of models in this run."""

    fingerprints: dict[str, str] = field(default_factory=dict)
    states: dict[str, StageState] = field(default_factory=dict)
    cost: float = 0.0
    calls: int = 0

    def note(self, run: StageRun | None) -> None:
        """A stage has come to its end. What needs it depends on when it was run, too: a stage that is done again is another one."""
        if run is not None:
            self.states[run.id] = run.state
            self.fingerprints[run.id] = f"{run.fingerprint}@{run.started}"


StageEvent = tuple[Stage, StageRun | None, str]  # stage, its state (None: it starts now), and what to say of it


def carry_out(stages: Sequence[Stage], ledger: Ledger, settings: RunSettings, runner: Runner) -> Iterator[StageEvent]:
    """Runs the stages in their order, with an event before and after each. After an interruption nothing more is started.

    Raises: InputError where run.json cannot be written; KeyboardInterrupt after it has written what was interrupted.
    """
    progress = RunProgress()
    for stage in stages:
        mark = settings.fingerprint_of(stage, stages, progress.fingerprints)
        lacking = [need for need in stage.needs if progress.states.get(need) not in USABLE]
        if lacking and not (stage.gathers and len(lacking) < len(stage.needs)):
            why = f"needs {', '.join(lacking)}"
            run = StageRun(**_identity(stage), state="not_run", fingerprint=mark, reason=why)
            ledger.write(run)
            progress.note(run)
            yield stage, run, f"not run: {why}"
        elif settings.current(stage, mark, ledger):
            earlier = ledger[stage.id]
            progress.note(earlier)
            yield stage, earlier, "up to date"
        else:
            yield stage, None, "starts"
            done = _run(stage, mark, ledger, settings, progress, runner)
            progress.note(done)
            yield stage, done, done.state
            if done.state == "interrupted":
                raise KeyboardInterrupt


def states_of(stages: Sequence[Stage], ledger: Ledger, settings: RunSettings) -> Iterator[tuple[Stage, str]]:
    """What a run would do: "up to date", "would run" or "would go on", for each stage. Nothing is run."""
    fingerprints: dict[str, str] = {}
    stale: set[str] = set()
    for stage in stages:
        mark, earlier = settings.fingerprint_of(stage, stages, fingerprints), ledger[stage.id]
        fingerprints[stage.id] = f"{mark}@{earlier.started if earlier is not None else None}"
        # what would run again gets a new start, which its followers' fingerprints hold: they would run, too
        if not stale & set(stage.needs) and settings.current(stage, mark, ledger):
            yield stage, "up to date"
        else:
            stale.add(stage.id)
            yield stage, "would go on" if stage.kind.resumes is not None and ledger.goes_on(stage, mark) else "would run"


def chosen(stages: Sequence[Stage], wanted: Sequence[str]) -> tuple[Stage, ...]:
    """The stages with these ids or kinds, and all that they need; all stages where nothing is named.

    Raises: UsageError naming every word that is no stage of this run.
    """
    by_id = {stage.id: stage for stage in stages}
    if wrong := [word for word in wanted if word not in by_id and not any(stage.kind.name == word for stage in stages)]:
        raise UsageError(f"no such stage: {', '.join(wrong)}", fix=f"this run has: {', '.join(by_id)}")
    kept = {stage.id for stage in stages if not wanted or stage.id in wanted or stage.kind.name in wanted}
    # from the last to the first, each before what it needs: one pass takes in needs of needs
    for stage in reversed(stages):
        if stage.id in kept:
            kept.update(stage.needs)
    return tuple(stage for stage in stages if stage.id in kept)


def exit_code(states: Sequence[StageState]) -> int:
    """Of a run: 2 a stage failed, else 3 one is incomplete, else 1 a gate is missed, else 0."""
    if "failed" in states or "not_run" in states:
        return 2
    return 3 if "incomplete" in states else 1 if "missed" in states else 0


def _run(stage: Stage, mark: str, ledger: Ledger, settings: RunSettings, progress: RunProgress, runner: Runner) -> StageRun:
    limited = stage.with_options(**left(settings.config.limits, stage, progress), **_going_on(stage, mark, ledger))
    running = StageRun(
        **_identity(stage), state="running", fingerprint=mark, started=datetime.now(UTC).isoformat(timespec="milliseconds"),
        graph=stage.makes,
    )
    # before the work: after a kill the ledger tells that the stage was cut off, and of the graph that it may have begun
    ledger.write(running)
    clock, log = time.perf_counter(), log_of(settings.folder, stage)
    try:
        for path in stage.outputs:
            path.parent.mkdir(parents=True, exist_ok=True)
        code = runner(limited, log)
    except OSError as cause:
        where = cause.filename or settings.folder
        raise InputError(f"{stage.id}: {where}: {cause.strerror}", fix="make room, or name another folder with --folder") from cause
    state, reason = _state(code, stage, log)
    calls, cost = asked(stage.outputs) if state in USABLE else (None, None)
    progress.calls, progress.cost = progress.calls + (calls or 0), progress.cost + (cost or 0.0)
    done = running.model_copy(update={
        "state": state, "exit_code": code, "seconds": round(time.perf_counter() - clock, 2), "reason": reason, "calls": calls, "cost": cost,
        "outputs": {str(path): digest_of(path) for path in stage.outputs if path.exists()},
        "graph_state": settings.graph(stage.makes) if stage.makes is not None and state in USABLE else None,
    })
    ledger.write(done)
    return done


def _going_on(stage: Stage, mark: str, ledger: Ledger) -> dict[str, Any]:
    """The option of a stage that goes on where it was cut off; of a graph that this run made from something else, that it is replaced."""
    on = ledger.goes_on(stage, mark)
    if stage.makes is None:
        return {stage.kind.resumes: True} if on and stage.kind.resumes is not None else {}
    resumes = on and stage.kind.name == "build"  # a build goes on by itself, an import never does
    return {"replace": True} if ledger.made(stage.makes) and not resumes else {}


def left(limits: LimitsSection, stage: Stage, progress: RunProgress) -> dict[str, Any]:
    """The options that give a stage what is left of the run's budget, or what it is given itself, if that is less; none for a stage that
    asks no model."""
    budget: dict[str, Any] = {}
    if stage.kind.asks and limits.cost is not None:
        budget["cost_limit"] = min(round(max(0.0, limits.cost - progress.cost), 6), float(stage.chosen.get("cost_limit", limits.cost)))
    if stage.kind.asks and limits.calls is not None:
        budget["max_calls"] = min(max(0, limits.calls - progress.calls), int(stage.chosen.get("max_calls", limits.calls)))
    return budget


def asked(outputs: Sequence[Path]) -> tuple[int | None, float | None]:
    """Calls and USD that a stage's manifest tells; None where none of its files has one."""
    for path in outputs:
        for file in (path.with_name(path.name + ".run.json"), path.with_suffix(".run.json"), path):
            use = _use(file) if file.suffix == ".json" and file.is_file() else None
            if use is not None:
                stages = [stage for stage in use if isinstance(stage, dict)]
                # with what earlier starts of the stage's command paid
                both = [(stage.get(f"{when}calls") or 0, stage.get(f"{when}cost")) for stage in stages for when in ("", "earlier_")]
                costs = [cost for _, cost in both if isinstance(cost, int | float)]
                return sum(calls for calls, _ in both), sum(costs) if costs else None
    return None, None


def _use(path: Path) -> list[object] | None:
    try:
        value = parse_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    run = value.get("run", value) if isinstance(value, dict) else None
    use = run.get("model_use") if isinstance(run, dict) else None
    return use if isinstance(use, list) else None


def _identity(stage: Stage) -> dict[str, Any]:
    return {"id": stage.id, "kind": stage.kind.name, "place": stage.place, "command": stage.line}


def _state(code: int, stage: Stage, log: Path) -> tuple[StageState, str | None]:
    """The state that an exit code stands for. A stage whose files are not there is not done, whatever it says."""
    state = STATES.get(code, "failed")
    missing = [str(path) for path in stage.outputs if not path.exists()]
    if state in ("done", "missed") and missing:
        return "failed", f"exit code {code}, but these files are not there: {', '.join(missing)}"
    empty = [str(path) for path in stage.outputs if path.is_file() and not path.stat().st_size]
    if state in ("done", "missed") and empty:
        return "failed", f"nothing came of it: {', '.join(empty)} is empty; see {log}"
    if state == "incomplete" and missing:
        return "failed", f"exit code {code} before its files were written; see {log}"
    return state, f"exit code {code}; see {log}" if state in ("failed", "incomplete") else None


def log_of(folder: Path, stage: Stage) -> Path:
    """Where a stage's messages go."""
    return folder / LOGS / (stage.id.replace("/", "--") + ".log")
