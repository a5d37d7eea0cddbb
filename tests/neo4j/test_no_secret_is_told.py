"""Every command with -vv, with marked secrets in the environment, in addresses, in kgeval.toml and in what endpoints say: none of
them is on the screen, in a file, in a manifest, in a journal or in an error."""

from __future__ import annotations

import json
import re
import sqlite3
import threading
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import click
import pytest
from report_page import unpacked

from kgeval.cli.main import cli, run
from kgeval.graph.connect import Address
from kgeval.llm.fake import FakeServer

MARK = "Zq9mark"
EXAMPLE = Path(__file__).parents[1] / "graphs" / "example-report.json"
GRAPH = """
CREATE (d:Document:small {id: 'd', title: 'D'}), (c:Chunk:small {id: 'c', index: 0, text: 'Ada met Bob in Ulm.'})-[:FROM_DOCUMENT]->(d),
  (a:__Entity__:Person:small {id: 'a', name: 'Ada', name_key: 'ada', type: 'Person'})-[:FROM_CHUNK]->(c),
  (b:__Entity__:Person:small {id: 'b', name: 'Bob', name_key: 'bob', type: 'Person'})-[:FROM_CHUNK]->(c),
  (a)-[:MET {predicate: 'met', chunk_ids: ['c']}]->(b), (:__KgevalGraph__:small {name: 'small', status: 'ready'})
"""
TOML = f"""
schema_version = "1"
[graph]
uri = "bolt://neo4j:{MARK}1@127.0.0.1:1?key={MARK}2"
[model.judge]
name = "m"
base_url = "http://user:{MARK}3@127.0.0.1:1/v1?key={MARK}4"
[model.reader]
name = "m"
base_url = "http://user:{MARK}5@127.0.0.1:1/v1"
[model.generator]
name = "m"
base_url = "http://127.0.0.1:1/v1?key={MARK}6"
[model.extractor]
name = "m"
base_url = "nonsense://user:{MARK}7@127.0.0.1:1/v1?key={MARK}8"
"""
OUT = "-o {out}.json -o {out}.html"
MODEL = "--model m --max-retries 0 --max-reasks 0 --no-progress"
SMALL = "--graph small --no-progress"
# A small job of each command; one that costs minutes or leaves traces fails early. A new command is added here.
JOBS = {
    "build": f"docs --graph made {MODEL} -o {{out}}.json", "build merges list": "--graph small", "build merges redo": "x --graph small",
    "build merges undo": "x --graph small", "import": "none.graphml --graph made",
    "audit": f"{SMALL} --check isolated-entity --no-structure {OUT}", "profile": f"--graph small {OUT}",
    "audit diff": f"{EXAMPLE} {EXAMPLE} {OUT}",
    "accuracy": f"{SMALL} {MODEL} -n 1 {OUT}", "completeness": f"{SMALL} --facts facts.jsonl {MODEL} {OUT}",
    "layout check": "kgeval --graph small", "layout detect": "--graph small", "layout init": "--graph small -o {out}.toml",
    "layout list": "", "layout show": "kgeval", "checks list": "", "checks show": "isolated-entity",
    "cypher list": "", "cypher show": "isolated-entity --graph small", "cypher run": "isolated-entity --graph small",
    "questions check": f"q.jsonl {MODEL} --no-embeddings -o {{out}}.jsonl", "questions classify": f"q.jsonl {MODEL} -o {{out}}.jsonl",
    "questions confirm": "q.jsonl --sheet {out}.csv", "questions coverage": f"q.jsonl --graph small {OUT}",
    "questions generate": f"{SMALL} --kind node=1 --no-embeddings {MODEL} -o {{out}}.jsonl", "questions kinds": "",
    "questions profiles": "", "questions sample": "--graph small -n 1 -o {out}.jsonl", "questions stats": f"q.jsonl {OUT}",
    "answer": f"q.jsonl --system closed-book {MODEL} -o {{out}}.jsonl", "system index": "none --folder x", "system install": "none",
    "system list": "", "system remove": "none", "system show": "lightrag",
    "contamination": f"q.jsonl --answers a.jsonl --closed-book a {MODEL} {OUT}",
    "score": f"a.jsonl --metrics faithfulness,token_f1 {MODEL} {OUT} -o {{out}}.jsonl",
    "compare": f"a.jsonl b.jsonl --trials 1 {MODEL} {OUT} -o {{out}}.jsonl", "metrics correlate": f"none.jsonl {OUT}", "metrics list": "",
    "metrics sensitivity": f"a.jsonl --metrics token_f1 --no-progress {OUT}", "metrics show": "faithfulness",
    "annotate agreement": f"none.jsonl {OUT}", "annotate read": "none.csv --key none.json -o {out}.jsonl",
    "annotate sheet": "a.jsonl b.jsonl -o {out} --key {out}.json", "stats aa": "none.jsonl", "stats correct": "none.jsonl",
    "stats drift": "none.jsonl --anchors none.jsonl", "stats judge": "none.jsonl", "stats paired": "none.jsonl",
    "stats power": "none.jsonl", "stats rank": "none.jsonl", "stats sequential": "none.jsonl", "merge-shards": "none.jsonl -o {out}.jsonl",
    "run": "run.toml --folder {out}", "report": f"{EXAMPLE} {OUT}", "report score-matrix": f"none {OUT}", "init": ". -o {out}.toml",
    "trust": "marked.toml", "doctor": "--graph small", "server logs": "--home home", "server remove": "--home home",
    "server start": "--home home --port 0", "server status": "--home home", "server stop": "--home home",
    "cache batches cancel": "", "cache batches list": "",
    "cache clear": "--dry-run", "cache recover": "--journal none.sqlite", "cache show": "0123", "cache stats": "",
    "schema check": "question q.jsonl", "schema list": "", "schema show": "question", "help": "models",
}


def leaves() -> Iterator[tuple[str, click.Command]]:
    """All that can be called."""
    def walk(command: click.Command, name: str, context: click.Context) -> Iterator[tuple[str, click.Command]]:
        inner = command.list_commands(context) if isinstance(command, click.Group) else ()
        if name and (not inner or command.invoke_without_command):  # type: ignore[attr-defined]
            yield name, command
        for word in inner:
            child = command.get_command(context, word)  # type: ignore[attr-defined]
            assert child is not None
            yield from walk(child, f"{name} {word}".strip(), click.Context(child, parent=context, info_name=word))

    return walk(cli, "", click.Context(cli))


class Echo(BaseHTTPRequestHandler):
    """An endpoint that says what it was sent, as some gateways do."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        error = {"message": f"bad request by {dict(self.headers)}", "code": self.headers.get("Authorization")}
        said = json.dumps({"error": error}).encode()
        self.send_response(400)
        self.send_header("Content-Length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)

    do_GET = do_POST

    def log_message(self, *_: object) -> None:
        """Says nothing."""


@pytest.fixture
def echo() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Echo) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/v1"
        server.shutdown()
        thread.join()


@pytest.fixture
def world(draw: Callable[[str], None], address: Address, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Small files, and every secret that kgeval reads marked; Neo4j's password is that of the server."""
    draw(GRAPH)
    work = tmp_path / "work"
    (work / "docs").mkdir(parents=True)
    (work / "docs" / "a.txt").write_text("Ada met Bob in Ulm.")
    asked = {"id": "q", "question": "Whom did Ada meet?", "reference": "Bob."}
    rows = {
        "q": {**asked, "evidence": [{"text": "Ada met Bob.", "chunk_id": "c"}]}, "facts": {"id": "f", "fact": "Ada met Bob."},
        "a": {**asked, "answer": "Bob.", "contexts": ["Ada met Bob."], "system": "a"},
        "b": {**asked, "answer": "Ada met Bob.", "contexts": ["Ada."], "system": "b"},
    }
    for name, row in rows.items():
        (work / f"{name}.jsonl").write_text(json.dumps(row) + "\n")
    (work / "run.toml").write_text(
        'schema_version = "1"\n[questions]\nfile = "q.jsonl"\n[answers]\nfiles = ["a.jsonl", "b.jsonl"]\n[metrics]\nnames = ["lexical"]\n',
    )
    (work / "marked.toml").write_text(TOML)
    monkeypatch.chdir(work)
    for name, value in {
        "OPENAI_API_KEY": f"{MARK}-openai", "AURA_CLIENT_ID": f"{MARK}-aura-id", "AURA_CLIENT_SECRET": f"{MARK}-aura-secret",
        "CLIENT_SECRET": f"{MARK}-secret", "KGEVAL_FAKE_KEY": f"{MARK}-fake", "NEO4J_URI": address.uri, "NEO4J_USERNAME": address.username,
        "NEO4J_PASSWORD": address.password, "KGEVAL_CACHE_DIR": str(tmp_path / "cache"), "XDG_STATE_HOME": str(tmp_path / "state"),
        "HTTPS_PROXY": f"http://user:{MARK}-proxy@127.0.0.1:1", "NO_PROXY": "127.0.0.1,localhost",
    }.items():
        monkeypatch.setenv(name, value)
    return tmp_path


def has_option(command: click.Command, *names: str) -> bool:
    return any(set(names) & set(option.opts) for option in command.params)


def texts_of(path: Path) -> Iterator[str]:
    """All that a reader of the file can find in it: of journals what is packed, of pages what they hold."""
    if not path.read_bytes().startswith(b"SQLite format 3"):
        text = path.read_text(encoding="utf-8", errors="replace")
        yield unpacked(text) if 'id="report"' in text else text
        return
    with closing(sqlite3.connect(path)) as db:
        for (table,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            for value in (value for row in db.execute(f'SELECT * FROM "{table}"') for value in row):
                yield from [zlib.decompress(value).decode("utf-8", "replace")] if isinstance(value, bytes) else [str(value)]


def check_all(
    world: Path, password: str, capsys: pytest.CaptureFixture[str], chosen: Callable[[click.Command], bool], more: str = "",
) -> Mapping[str, int]:
    """Runs the commands; each has an end of its own, and nothing tells a secret. Their exit codes."""
    def found(text: str) -> list[str]:
        return re.findall(rf".{{0,80}}(?:{MARK}|{re.escape(password)}).{{0,40}}", text)

    marked_at_first = {path for path in world.rglob("*") if path.is_file()}
    codes: dict[str, int] = {}
    leaks: list[str] = []
    for name, command in leaves():
        if not chosen(command):
            continue
        words = ["-vv", *name.split(), *JOBS[name].replace("{out}", f"out-{name.replace(' ', '-')}").split()]
        config = ["-c", "marked.toml"] if more == "config" and has_option(command, "-c", "--config") else []
        codes[name] = run([*words, *config])
        told = capsys.readouterr()
        leaks += [f"{name}: {around}" for said in told for around in found(said)]
        assert "Traceback" not in told.err, name
    for path in sorted(path for path in world.rglob("*") if path.is_file() and path not in marked_at_first):
        leaks += [f"{path.relative_to(world)}: {around}" for text in texts_of(path) for around in found(text)]
    assert leaks == []
    return codes


def test_every_command_has_a_job() -> None:
    assert {name for name, _ in leaves()} == set(JOBS)


@pytest.mark.long
def test_of_commands_that_do_their_work_and_of_endpoints_that_repeat_what_they_were_sent(
    world: Path, address: Address, echo: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:
    with FakeServer() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        codes = check_all(world, address.password, capsys, lambda _: True)
        assert server.stats().requests > 5
    done = {name for name, code in codes.items() if code in (0, 3)}
    assert {"audit", "score", "compare", "answer", "questions generate", "build", "run", "report", "accuracy", "doctor"} - done == set()
    monkeypatch.setenv("OPENAI_BASE_URL", echo)
    monkeypatch.setenv("KGEVAL_CACHE_DIR", str(world / "cache2"))
    codes = check_all(world, address.password, capsys, lambda command: has_option(command, "--model"))
    assert len(codes) > 8 and all(codes.values())


@pytest.mark.both_lines
@pytest.mark.long
def test_of_addresses_that_hold_secrets_in_the_environment_and_in_the_configuration(
    world: Path, address: Address, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:
    def connects(command: click.Command) -> bool:
        return has_option(command, "--uri", "--base-url", "-c", "--config")

    # a query is a routing context: the server is reached, and what stands there is told nowhere
    monkeypatch.setenv("NEO4J_URI", f"{address.uri.replace('bolt', 'neo4j')}?key={MARK}")
    codes = check_all(world, address.password, capsys, lambda command: command.name in ("detect", "doctor", "audit"))
    assert codes["audit"] == 0
    monkeypatch.setenv("NEO4J_URI", f"bolt://neo4j:{MARK}@127.0.0.1:1?key={MARK}")
    for url in (f"http://user:{MARK}@127.0.0.1:1/v1?key={MARK}", f"nonsense://user:{MARK}@127.0.0.1:1/v1?key={MARK}"):
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        codes = check_all(world, address.password, capsys, connects)
    assert len(codes) > 20 and {codes["audit"], codes["score"], codes["answer"]} == {2}
    monkeypatch.delenv("NEO4J_URI")
    monkeypatch.delenv("OPENAI_BASE_URL")
    assert check_all(world, address.password, capsys, connects, "config")["audit"] == 2


@pytest.fixture(autouse=True)
def no_embedded_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no address is left, a command would start a server of its own: that takes seconds and tells nothing."""
    def refused(**_: Any) -> None:
        from kgeval.errors import ServerError

        raise ServerError("no server here", fix="name one")

    monkeypatch.setattr("kgeval.graph.server.ensure_started", refused)
