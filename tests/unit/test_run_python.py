"""`kgeval.run`: stages are functions with options, each with a line that is the same command; what fails or is interrupted in one."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import click
import pytest

import kgeval
from kgeval.cli.derive import given_of, options_from
from kgeval.cli.main import cli
from kgeval.config import AuditOptions, BatchOptions, ModelOptions, Section, read
from kgeval.config.session import SessionOptions
from kgeval.config.words import options_in, values_of
from kgeval.errors import ConfigError, UsageError
from kgeval.records import StageState
from kgeval.workflows import audit, workers
from kgeval.workflows.pipeline.kinds import KINDS
from kgeval.workflows.pipeline.ledger import FILE, read_ledger
from kgeval.workflows.pipeline.plan import RunRequest, stages_of
from kgeval.workflows.pipeline.stages import Stage
from kgeval.workflows.workers import run_local

CONFIG = """
[answers]
files = ["a.jsonl", "b.jsonl"]
[metrics]
names = ["lexical"]
[run]
folder = "out"
"""
# something of everything that a stage can be said
EVERYTHING = """
[graph]
name = "g"
[source]
documents = ["docs"]
[gold]
file = "gold.json"
sample = 20
[audit]
examples = 7
settings = { "super-node.min_degree" = 3 }
[score]
trials = 3
[questions]
kinds = ["hops=3"]
[[systems]]
name = "vector"
spec = "vector"
[[systems]]
name = "closed"
spec = "closed-book"
[[ablations]]
system = "vector"
setting = "k"
values = [1, 2]
[compare]
repeats = 1
[model.judge]
name = "j"
[metrics]
names = ["lexical"]
[[matrix.datasets]]
name = "novels"
documents = ["docs"]
questions = "q.jsonl"
[[matrix.datasets]]
name = "other"
files = ["graph.json"]
layout = "neo4j-graphrag"
[matrix]
corpus = [0.5, 1.0]
[[matrix.variants]]
name = "small"
options = { extractor = "rules", cooccurrence = true, chunk_size = 600, no_merge_across_types = true, remove = ["a", "b"] }
[run.options.audit]
check = ["isolated-entity", "names"]
setting = ["super-node.min_degree=50", "duplicate-name.x=a=b"]
threshold = "isolated-entity<=0.05"
fail_on = "error"
embed_anew = true
redact = true
timeout = 30
[run.options.scores]
trials = 2
threshold = ["token_f1>=0.1", "a:x<=3,b:y>=0"]
limit = 5
filter_hops = [1, 2]
map = ["answer=response", "contexts=docs[].text"]
cost_limit = 1.5
batch = true
batch_poll = 2.5
embedding_model = "some"
[run.options.questions]
template = true
no_references = true
n = 5
timeout = 30.5
chunks = "c.jsonl"
[run.options.check]
check = "leak,duplicate"
set = ["name_keys=title"]
duplicate_threshold = 0.8
[run.options.coverage]
cypher = true
[run.options.completeness]
levels = "exact"
format = "json"
[run.options.import]
as = "json"
max_bad_rows = 0.5
[run.options.answers]
extractive = true
setting = ["k=3", "vector:k=4"]
retry_errors = true
[run.options.compare]
trials = 5
system = "other=http:http://localhost:1"
stop_when_sure = true
threshold = "vector:low>=-0.05"
aspects = ["overall,style", "correctness"]
temperature = 0
[run.options.accuracy]
half_width = [0.05, 0.1]
embed = true
threshold = "accuracy>=0.8"
[run.options.contamination]
known = "a,b"
right_from = 0.7
[run.options.matrix]
seed = 3
[run.options.report]
title = "All of it"
baseline = ["old.json"]
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the answers of two systems."""
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith(("KGEVAL_", "NEO4J_", "OPENAI_"))]:
        monkeypatch.delenv(name)
    (tmp_path / "kgeval.toml").write_text(CONFIG)
    for system in ("a", "b"):
        rows = [{"question_id": f"q{n}", "question": f"Who was {n}?", "answer": f"Ann {system}", "reference": "Ann a"} for n in range(4)]
        (tmp_path / f"{system}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return tmp_path


def states(folder: str = "out") -> dict[str, StageState]:
    return {stage.id: stage.state for stage in read_ledger(Path(folder) / FILE).stages}


@pytest.mark.long
def test_a_run_gives_the_states_of_its_stages_and_the_report() -> None:
    plan = kgeval.run(dry_run=True)
    assert [(stage.id, stage.state) for stage in plan.stages] == [("scores", "would run"), ("report", "would run")]
    assert plan.stages[0].asks is not None and "nothing was sent" in plan.stages[0].asks and not Path("out").exists()
    result = kgeval.run()
    assert (result.exit_code, result.folder) == (0, Path("out"))
    assert [(stage.id, stage.exit_code) for stage in result.stages] == [("scores", 0), ("report", 0)]
    assert {figure.of for figure in result.report.figures} >= {"a", "b"}
    assert result.to_pandas()["state"].tolist() == ["done", "done"] and "<iframe" in result._repr_html_()
    log = Path("out/logs/scores.log")
    assert log.stat().st_mode & 0o777 == 0o600
    assert all(part in log.read_text() for part in ("a.jsonl: read as kgeval answers, rows: 4", "wrote out/scores.html", "token_f1"))
    before = Path("out/scores.json").read_bytes()
    assert [stage.state for stage in kgeval.run().stages] == ["done", "done"] and Path("out/scores.json").read_bytes() == before
    assert kgeval.run(stages="scores", again="scores").report is None, "only the scores were asked for"


@pytest.mark.long
def test_scores_by_several_workers_are_those_of_one(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def rows() -> list[str]:
        return (here / "out/scores/results.jsonl").read_text().splitlines()

    shards: list[int] = []
    monkeypatch.setattr(workers, "run_local", lambda given, **how: (shards.append(len(given)), run_local(given, **how))[1])
    kgeval.run()
    one = rows()
    (here / "kgeval.toml").write_text(f'{CONFIG}[run.options.scores]\nexecutor = "local"\nworkers = 2\n')
    assert kgeval.run().exit_code == 0 and shards == [2] and rows() == one and len(one) > 8


@pytest.mark.long
def test_a_missed_gate_is_the_runs(here: Path) -> None:
    (here / "kgeval.toml").write_text(f'{CONFIG}[run.options.scores]\nthreshold = "token_f1>=0.9"\n')
    result = kgeval.run()
    assert result.exit_code == 1 and {gate.met for gate in result.gates} == {True, False}
    with pytest.raises(kgeval.GateError, match="a gate is missed: scores"):
        result.raise_for_gates()


@pytest.mark.long
def test_a_variable_of_the_command_counts_and_what_is_said_counts_before_it(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KGEVAL_SCORE_TRIALS", "2")
    monkeypatch.setenv("KGEVAL_SCORE_FILTER_ID", "q1 q2")
    monkeypatch.setenv("KGEVAL_SCORE_NO_VERDICTS", "yes")
    monkeypatch.setenv("KGEVAL_SCORE_QUIET", "no")
    arguments = _arguments(kgeval.run())
    assert (arguments["trials"], arguments["ids"], arguments["no_verdicts"]) == (2, ["q1", "q2"], True)
    assert "token_f1" in Path("out/logs/scores.log").read_text()
    (here / "kgeval.toml").write_text(f"{CONFIG}[run.options.scores]\ntrials = 3\n")
    assert _arguments(kgeval.run())["trials"] == 3
    monkeypatch.setenv("KGEVAL_SCORE_SEED", "many")
    with pytest.raises(ConfigError, match=r"run\.options\.scores: --seed: no whole number"):
        kgeval.run()


def _arguments(result: Any) -> dict[str, Any]:
    assert result.exit_code == 0
    found: dict[str, Any] = json.loads(Path("out/scores.json").read_text())["run"]["arguments"]
    return found


def test_what_is_wrong_with_the_flags_of_all_stages_is_said_at_once(here: Path) -> None:
    (here / "kgeval.toml").write_text(
        f'{CONFIG}[run.options.scores]\ntrails = 3\ntrials = "x"\nno_verdicts = 2\nquestions = true\nagainst = ["a", "b"]\n'
        "[run.options.report]\nfail_on = 3\n",
    )
    with pytest.raises(ConfigError) as caught:
        kgeval.run()
    text = str(caught.value)
    for part in (
        "6 faults", "run.options.scores: no such option: --trails (did you mean --trials?)", "--trials: no whole number",
        "--no-verdicts takes no value", "--questions needs a value", "--against takes one value", "run.options.report: --fail-on",
    ):
        assert part in text, (part, text)
    with pytest.raises(UsageError, match=r"foldr: unknown \(did you mean folder\?\)"):
        kgeval.run(foldr="x")


@pytest.mark.long
def test_what_nobody_foresaw_fails_its_stage_and_the_others_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("what nobody foresaw")

    with monkeypatch.context() as patch:
        patch.setattr("kgeval.workflows.score.prepare", broken)
        assert kgeval.run(folder="never").exit_code == 2
        assert states("never") == {"scores": "failed", "report": "not_run"}
        log = Path("never/logs/scores.log").read_text()
        assert "Traceback" in log and "ZeroDivisionError: what nobody foresaw" in log
    (Path("kgeval.toml")).write_text(CONFIG + '[questions]\nfile = "a.jsonl"\n')
    monkeypatch.setattr("kgeval.workflows.score.prepare", broken)
    result = kgeval.run()
    assert [(stage.id, stage.state) for stage in result.stages][:2] == [("check", "done"), ("scores", "failed")]
    assert result.stages[-1].state == "incomplete" and result.report is not None, "the report is made of what there is"


@pytest.mark.long
@pytest.mark.parametrize("stumbles", [False, True])
def test_an_interrupted_stage_ends_the_run_and_the_next_one_goes_on(stumbles: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = kgeval.run(folder="whole")

    def interrupted(*_: object) -> None:
        try:
            raise KeyboardInterrupt
        finally:
            if stumbles:
                raise BufferError("of a library that was interrupted")

    with monkeypatch.context() as patch:
        patch.setattr("kgeval.workflows.score.prepare", interrupted)
        with pytest.raises(KeyboardInterrupt):
            kgeval.run()
    (stage,) = read_ledger(Path("out") / FILE).stages
    assert (stage.state, stage.exit_code) == ("interrupted", 130)
    assert Path("out/logs/scores.log").read_text() == "interrupted\n"
    assert kgeval.run(dry_run=True).stages[0].state == "would go on"
    assert [stage.state for stage in kgeval.run().stages] == [stage.state for stage in whole.stages] == ["done", "done"]


# `kgeval run` whose stage of scores waits until a signal comes
WAITING = """
import sys, time
from kgeval.workflows import score

def prepare(*_):
    print("ready", flush=True)
    time.sleep(60)

score.prepare = prepare
from kgeval.__main__ import main
sys.argv = ["kgeval", "run"]
main()
"""


@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_what_ends_the_process_in_a_stage_is_written_down_and_the_same_command_goes_on(number: signal.Signals) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", WAITING], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert process.stdout is not None and process.stdout.readline() == "ready\n"
    process.send_signal(number)
    _, said = process.communicate(timeout=50)
    if number == signal.SIGKILL:
        assert (process.returncode, states()) == (-number, {"scores": "running"})
    else:
        assert process.returncode == 130 and said.splitlines()[-1] == "interrupted", said
        assert states() == {"scores": "interrupted"}
    assert kgeval.run(dry_run=True).stages[0].state == "would go on"
    assert kgeval.run().exit_code == 0 and states() == {"scores": "done", "report": "done"}


@pytest.mark.long
def test_a_run_in_a_thread_holds_its_folder(here: Path) -> None:
    """Two runs in one process do not share a folder, as two processes do not."""
    refused: list[UsageError] = []

    def second(event: object) -> None:
        if not refused:
            with pytest.raises(UsageError, match="another run works there") as caught:
                kgeval.run()
            refused.append(caught.value)

    from kgeval.config import RunOptions
    from kgeval.workflows import run
    from kgeval.workflows.session import Session

    config, _ = read(here / "kgeval.toml")
    thread = threading.Thread(target=lambda: run.run(Session("run", config=config), RunOptions(), hear=second))
    thread.start()
    thread.join()
    assert len(refused) == 1 and states() == {"scores": "done", "report": "done"}


def test_the_printed_line_of_every_stage_is_the_command_with_the_same_options(here: Path) -> None:
    (here / "all.toml").write_text(EVERYTHING)
    (here / "out").mkdir()
    for name in ("gold.json", "q.jsonl", "graph.json", "old.json", "c.jsonl"):
        (here / name).touch()
    config, faults = read(here / "all.toml")
    assert faults == []
    common = {"journal": Path("j"), "cache_dir": Path("c"), "max_concurrency": 4}
    found = stages_of(RunRequest(config, Path("all.toml"), Path("out"), {"home": Path("h")}, common))
    assert {stage.kind.name for stage in found} == set(KINDS)
    for stage in found:
        assert stage.wrong() == [], stage.line
        params = parsed(stage.words)
        if stage.kind.name == "audit":
            expected: Section | audit.AuditRequest = audit.audit_request(config, given_of(AuditOptions, params))
        else:
            section = getattr(config, stage.kind.section) if stage.kind.section else None
            expected = options_from(stage.kind.options, params, section)
        assert stage.options(config) == expected, stage.line
        for own in (ModelOptions, BatchOptions):
            if own in stage.kind.classes:
                assert options_from(own, params) == own.model_validate(values_of(own, stage.chosen)), stage.line
        check_session(stage, params)


def check_session(stage: Stage, params: dict[str, Any]) -> None:
    """What the command is told of its session is what the stage's session has."""
    for name, value in stage.chosen.items():
        if name in SessionOptions.model_fields and name in stage.kind.session:
            said: Any = params.get(name, params.get("output"))
            if name == "layout_keys":
                said = dict(text.split("=") for text in said)
            elif name == "outputs":
                said = tuple(map(str, said if isinstance(said, tuple) else [said]))
                value = tuple(str(Path(text)) for text in value)
            assert said == value, (stage.line, name)


def parsed(words: tuple[str, ...]) -> dict[str, Any]:
    """What the command that the words name takes from them."""
    command: click.Command = cli
    context, rest = click.Context(cli, info_name="kgeval"), list(words)
    while isinstance(command, click.Group):
        inner = command.get_command(context, rest[0])
        if inner is None and command.invoke_without_command:
            break
        assert inner is not None, words
        command, rest = inner, rest[1:]
    return command.make_context("it", rest, parent=context).params


def test_every_flag_of_a_stages_command_can_be_said_in_the_file() -> None:
    """And nothing else: what a row of the table says of its command is what the command has."""
    for kind in KINDS.values():
        command: click.Command = cli
        for word in kind.command:
            assert isinstance(command, click.Group)
            inner = command.get_command(click.Context(cli), word)
            assert inner is not None
            command = inner
        options = [param for param in command.params if isinstance(param, click.Option)]
        theirs = {opt.lstrip("-") for param in options for opt in (*param.opts, *param.secondary_opts) if opt.startswith("--")}
        if kind.name == "compare":
            theirs = {flag for flag in theirs if not flag.startswith("simulate")}  # of another task
        assert {option.flag for option in kind.flags} == theirs, kind.name


def test_flags_of_a_class_come_from_its_fields() -> None:
    class Some(Section):
        yes: bool | None = None

    assert [(option.flag, option.value) for option in options_in([Some])] == [("yes", True)]


@pytest.mark.parametrize("given", [False, 5])
def test_what_is_no_configuration_is_refused_by_its_type(given: Any) -> None:
    with kgeval.connect(config=False) as session, pytest.raises(UsageError, match=f"config: .* not {type(given).__name__}"):
        kgeval.run(given, connection=session)
    with pytest.raises(UsageError, match="config: a file or a Config is needed"):
        kgeval.run(given)


@pytest.mark.slow
def test_a_run_without_a_report_says_so() -> None:
    result = kgeval.run(stages="scores")
    assert result.report is None
    for use in (lambda: kgeval.report(result), result.to_dict, lambda: result.save("r.json"), lambda: result.rendered("json")):
        with pytest.raises(UsageError, match="no report was made"):
            use()


@pytest.mark.parametrize("line", ['explain = "q1"', 'sweep = "tau=0.6,0.7"'])
def test_what_only_the_command_score_prints_is_refused_in_the_file(here: Path, line: str) -> None:
    (here / "kgeval.toml").write_text(f"{CONFIG}[score]\n{line}\n")
    with pytest.raises(UsageError, match=f"{line.partition(' ')[0]}: of the command kgeval score alone"):
        kgeval.score("a.jsonl")
    with pytest.raises(ConfigError, match=f"score: {line.partition(' ')[0]}: of the command kgeval score alone"):
        kgeval.run()
    assert not Path("out").exists()
