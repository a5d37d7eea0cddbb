"""Carrying a run out: what is up to date is passed over, what failed holds up only what needs it, and the budget is the run's."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from kgeval.config import Config, Section
from kgeval.errors import InputError, UsageError
from kgeval.workflows.pipeline.execute import RunSettings, carry_out, chosen, exit_code, states_of
from kgeval.workflows.pipeline.ledger import FILE, Ledger, alone, digest_of, read_ledger
from kgeval.workflows.pipeline.stages import MatrixPlace, Stage, StageKind


def kind(name: str, *, asks: bool = False, resumes: str | None = None, words: tuple[str, ...] = ()) -> StageKind:
    """A kind of stage that is not one of kgeval's own."""
    return StageKind(name, (name, *words), Section, role="judge" if asks else None, resumes=resumes)


class World:
    """Stages that write their outputs, and a runner that counts what it was asked to run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.config = Config()
        self.ran: list[list[str]] = []
        self.codes: dict[str, int] = {}
        self.costs: dict[str, float] = {}

    def stage(self, name: str, *needs: str, asks: bool = False, resumes: str | None = None, **more: object) -> Stage:
        outputs, row = (self.folder / f"{name}.json",), kind(name, asks=asks, resumes=resumes)
        return Stage(row, MatrixPlace(), given={"x": True}, needs=tuple(needs), outputs=outputs, **more)  # type: ignore[arg-type]

    def run(self, stage: Stage, log: Path) -> int:
        words = list(stage.words)
        self.ran.append(words)
        code = self.codes.get(words[0], 0)
        if code in (0, 1, 3):
            use = [{"calls": 2, "cost": self.costs[words[0]]}] if words[0] in self.costs else []
            (self.folder / f"{words[0]}.json").write_text(json.dumps({"run": {"model_use": use}, "n": len(self.ran)}))
        return code

    def go(self, stages: Sequence[Stage], *again: str) -> list[tuple[str, str]]:
        """Runs all and gives (stage, what came of it)."""
        orders = RunSettings(self.config, self.folder, again=frozenset(again))
        told = carry_out(stages, Ledger(self.folder), orders, self.run)
        return [(stage.id, what) for stage, done, what in told if done is not None]


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def test_a_second_run_does_nothing(world: World) -> None:
    stages = [world.stage("audit"), world.stage("report", "audit")]
    assert world.go(stages) == [("audit", "done"), ("report", "done")]
    assert world.go(stages) == [("audit", "up to date"), ("report", "up to date")]
    assert len(world.ran) == 2


def test_a_changed_input_runs_the_stage_and_what_needs_it_again(world: World) -> None:
    data = world.folder / "data.jsonl"
    data.write_text("1")
    stages = [world.stage("audit", inputs=(data,)), world.stage("other"), world.stage("report", "audit")]
    world.go(stages)
    data.write_text("2")
    assert [what for _, what in world.go(stages)] == ["done", "up to date", "done"]


def test_a_lost_or_changed_output_is_made_again(world: World) -> None:
    stages = [world.stage("audit")]
    world.go(stages)
    (world.folder / "audit.json").write_text("somebody wrote here")
    assert world.go(stages) == [("audit", "done")]
    (world.folder / "audit.json").unlink()
    assert world.go(stages) == [("audit", "done")]


def test_only_sections_that_a_stage_reads_make_it_stale(world: World) -> None:
    stages = [world.stage("audit", sections=("audit",))]
    world.go(stages)
    world.config = Config.model_validate({"limits": {"rpm": 5}})
    assert world.go(stages) == [("audit", "up to date")]
    world.config = Config.model_validate({"audit": {"examples": 7}})
    assert world.go(stages) == [("audit", "done")]


def test_what_is_done_again_makes_what_needs_it_stale(world: World) -> None:
    stages = [world.stage("audit"), world.stage("report", "audit")]
    world.go(stages)
    assert world.go(stages, "audit") == [("audit", "done"), ("report", "done")]


def test_a_failure_holds_up_only_what_needs_it(world: World) -> None:
    world.codes["build"] = 2
    stages = [world.stage("build"), world.stage("audit", "build"), world.stage("scores"), world.stage("report", "audit", "scores")]
    assert [what.partition(":")[0] for _, what in world.go(stages)] == ["failed", "not run", "done", "not run"]
    known = {stage.id: stage for stage in read_ledger(world.folder / FILE).stages}
    assert known["audit"].reason == "needs build" and known["build"].exit_code == 2
    world.codes.clear()
    assert [what for _, what in world.go(stages)] == ["done", "done", "up to date", "done"]


def test_a_missed_gate_and_an_incomplete_stage_still_give_their_report(world: World) -> None:
    world.codes |= {"audit": 1, "scores": 3}
    stages = [world.stage("audit"), world.stage("scores", resumes="resume"), world.stage("report", "audit", "scores")]
    assert [what for _, what in world.go(stages)] == ["missed", "incomplete", "done"]
    assert world.ran[1] == ["scores", "--x"]
    world.codes.clear()
    assert [what for _, what in world.go(stages)] == ["up to date", "done", "done"]
    assert world.ran[3] == ["scores", "--x", "--resume"]


def test_a_stage_that_says_it_is_done_without_its_file_is_not(world: World) -> None:
    stage = Stage(kind("audit"), MatrixPlace(), outputs=(world.folder / "elsewhere.json",))
    assert world.go([stage]) == [("audit", "failed")]


def test_an_interruption_stops_the_run_and_is_kept(world: World) -> None:
    world.codes["audit"] = 130
    with pytest.raises(KeyboardInterrupt):
        world.go([world.stage("audit"), world.stage("scores")])
    assert [words[0] for words in world.ran] == ["audit"]
    assert read_ledger(world.folder / FILE).stages[0].state == "interrupted"


def test_the_budget_is_that_of_the_whole_run(world: World) -> None:
    world.config = Config.model_validate({"limits": {"cost": 1.0, "calls": 5}})
    world.costs |= {"one": 0.75, "two": 0.5}
    world.go([world.stage("one", asks=True), world.stage("plain"), world.stage("two", asks=True), world.stage("three", asks=True)])
    assert world.ran[0][2:] == ["--cost-limit", "1.0", "--max-calls", "5"]
    assert world.ran[1][2:] == []
    assert world.ran[2][2:] == ["--cost-limit", "0.25", "--max-calls", "3"]
    assert world.ran[3][2:] == ["--cost-limit", "0.0", "--max-calls", "1"]


def test_a_list_says_what_would_run(world: World) -> None:
    stages = [world.stage("audit"), world.stage("report", "audit")]
    orders = RunSettings(world.config, world.folder)
    assert [what for _, what in states_of(stages, Ledger(world.folder), orders)] == ["would run", "would run"]
    world.go(stages)
    assert [what for _, what in states_of(stages, Ledger(world.folder), orders)] == ["up to date", "up to date"]
    (world.folder / "audit.json").unlink()
    assert [what for _, what in states_of(stages, Ledger(world.folder), orders)] == ["would run", "would run"]


def test_a_chosen_stage_brings_what_it_needs(world: World) -> None:
    stages = [world.stage("build"), world.stage("audit", "build"), world.stage("other")]
    assert [stage.id for stage in chosen(stages, ["audit"])] == ["build", "audit"]
    with pytest.raises(UsageError, match="no such stage: adit"):
        chosen(stages, ["adit"])


def test_the_exit_code_is_that_of_the_worst_stage() -> None:
    assert exit_code([]) == 0
    assert exit_code(["done", "missed"]) == 1
    assert exit_code(["missed", "incomplete"]) == 3
    assert exit_code(["incomplete", "failed"]) == 2
    assert exit_code(["done", "not_run"]) == 2


def test_a_file_that_is_no_run_is_refused(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text('{"stages": [{"id": 3}]}')
    with pytest.raises(InputError, match="not a run of kgeval"):
        Ledger(tmp_path)


def test_a_folders_digest_knows_names_and_bytes(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "x").write_text("1")
    first = digest_of(tmp_path)
    (tmp_path / "a" / "x").rename(tmp_path / "a" / "y")
    assert digest_of(tmp_path) != first
    assert digest_of(tmp_path / "nothing") == ""


def test_what_a_stage_is_not_changed_by_leaves_it_up_to_date(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.go([world.stage("audit", asks=True, unsaid={"journal": "a"})])
    monkeypatch.setenv("KGEVAL_AUDIT_JOURNAL", "elsewhere")
    monkeypatch.setenv("KGEVAL_SCORE_TRIALS", "3")
    world.config = Config.model_validate({"limits": {"concurrency": 3, "cost": 5.0}})
    assert world.go([world.stage("audit", asks=True, unsaid={"journal": "b"})]) == [("audit", "up to date")]
    assert world.ran == [["audit", "--x", "--journal", "a"]]


@pytest.mark.parametrize(("name", "asks"), [("OPENAI_BASE_URL", True), ("KGEVAL_AUDIT_EXAMPLES", False), ("NEO4J_URI", False)])
def test_a_variable_that_a_command_reads_makes_it_stale(world: World, name: str, asks: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    stages = [world.stage("audit", asks=asks, sections=("graph",))]
    monkeypatch.delenv(name, raising=False)
    world.go(stages)
    monkeypatch.setenv(name, "http://127.0.0.1:9/v1")
    assert world.go(stages) == [("audit", "done")]


def test_a_file_that_a_flag_or_a_system_names_makes_a_stage_stale_when_it_changes(world: World) -> None:
    script, grades = world.folder / "mine.py", world.folder / "grades.toml"
    script.write_text("1")
    grades.write_text("1")
    world.config = Config.model_validate({"systems": [{"name": "s", "spec": f"command:python {script}"}]})
    named = kind("audit", words=(f"--grades={grades}",))
    stage = Stage(named, MatrixPlace(), outputs=(world.folder / "audit.json",), sections=("systems",))
    world.go([stage])
    assert world.go([stage]) == [("audit", "up to date")]
    for path in (script, grades):
        path.write_text("2")
        assert world.go([stage]) == [("audit", "done")]


def test_a_file_that_another_stage_makes_is_known_by_its_stage(world: World) -> None:
    answers = world.stage("answers")
    outputs = (world.folder / "scores.json",)
    stages = [answers, Stage(kind("scores"), MatrixPlace(), (answers.outputs[0],), needs=("answers",), outputs=outputs)]
    world.go(stages)
    assert [what for _, what in world.go(stages)] == ["up to date", "up to date"]


def test_the_report_is_made_of_what_there_is(world: World) -> None:
    world.codes["scores"] = 2
    stages = [world.stage("audit"), world.stage("scores"), world.stage("report", "audit", "scores", gathers=True)]
    assert [what for _, what in world.go(stages)] == ["done", "failed", "done"]
    world.codes["audit"] = 2
    assert [what.partition(":")[0] for _, what in world.go(stages, "audit")] == ["failed", "failed", "not run"]


def test_an_empty_file_is_no_result(world: World) -> None:
    (world.folder / "q.jsonl").touch()
    stage = Stage(kind("questions"), MatrixPlace(), outputs=(world.folder / "q.jsonl",))
    assert world.go([stage]) == [("questions", "failed")]
    assert "is empty" in str(read_ledger(world.folder / FILE).stages[0].reason)


def test_a_graph_that_is_gone_is_made_again_and_one_that_changed_is_replaced(world: World) -> None:
    states = {"g": "as built"}
    build = world.stage("build", makes="g")

    def go() -> list[str]:
        orders = RunSettings(world.config, world.folder, graph=lambda name: states[name])
        return [what for _, done, what in carry_out([build], Ledger(world.folder), orders, world.run) if done is not None]

    assert [go(), go()] == [["done"], ["up to date"]]
    states["g"] = "somebody else's"
    assert [go(), go()] == [["done"], ["up to date"]]
    assert world.ran == [["build", "--x"], ["build", "--x", "--replace"]]


@pytest.mark.parametrize(("name", "words"), [("build", ["build", "--x"]), ("import", ["import", "--x", "--replace"])])
def test_a_build_that_was_cut_off_goes_on_and_an_import_begins_anew(world: World, name: str, words: list[str]) -> None:
    world.codes[name] = 2
    world.go([world.stage(name, makes="g")])
    world.codes.clear()
    assert world.go([world.stage(name, makes="g")]) == [(name, "done")]
    assert world.ran[1] == words


def test_a_graph_that_the_run_only_reads_makes_stages_stale_when_it_changes(world: World) -> None:
    states = {"": "one"}

    def go() -> list[str]:
        orders = RunSettings(world.config, world.folder, graph=lambda name: states[name])
        stages = [world.stage("audit", reads=""), world.stage("other")]
        return [what for _, done, what in carry_out(stages, Ledger(world.folder), orders, world.run) if done is not None]

    assert [go(), go()] == [["done", "done"], ["up to date", "up to date"]]
    states[""] = "two"
    assert go() == ["done", "up to date"]


def test_a_stages_own_limit_counts_where_it_is_less(world: World) -> None:
    world.config = Config.model_validate({"limits": {"cost": 5.0, "calls": 2}})
    given = {"cost_limit": 1.5, "max_calls": 9}
    stage = Stage(kind("scores", asks=True), MatrixPlace(), given=given, outputs=(world.folder / "scores.json",))
    world.go([stage])
    assert world.ran[0][-4:] == ["--cost-limit", "1.5", "--max-calls", "2"]


def test_two_runs_do_not_work_in_one_folder(tmp_path: Path) -> None:
    with alone(tmp_path / "run"), pytest.raises(UsageError, match="another run works there"), alone(tmp_path / "run"):
        pass
    with alone(tmp_path / "run"):
        pass
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="cannot be written"), alone(tmp_path / "file" / "run"):
        pass
