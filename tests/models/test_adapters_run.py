"""Adapters against the fake server: the relay that counts, the embedding server, and the commands with a stand-in for a package."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import urlsplit

import psutil
import pytest
from waiting import wait_until

from kgeval.cli.main import run
from kgeval.errors import ModelError
from kgeval.llm.embed import Embedder
from kgeval.llm.fake import Chat, FakeServer
from kgeval.llm.prices import Price
from kgeval.llm.vector_cache import VectorCache
from kgeval.records import Document, IndexRecord
from kgeval.systems.adapters import catalog, folder, launch
from kgeval.systems.adapters.embedding_server import EmbeddingServer
from kgeval.systems.adapters.environment import MARKER, Installed

KEY = "sk-the-real-key"
SCRIPTS = catalog.scripts()
CHAT = {"model": "m", "messages": [{"role": "user", "content": "Hello?"}]}
# a package of ten lines: it keeps the documents, asks the model twice a question, and fails where it is told to
STAND_IN = '''
import json, os, sys, urllib.request
from adapter_base import Built, PackageAnswer, main

class StandIn:
    def __init__(self, job):
        self.job = job
    def ask(self, path, **body):
        request = urllib.request.Request(self.job.base_url + path, json.dumps(body).encode(), {"authorization": "Bearer " + self.job.key})
        return json.loads(urllib.request.urlopen(request).read())
    def index(self, documents):
        print("a package prints what it likes")
        if any("poison" in one["text"] for one in documents):
            raise ValueError("I do not like this document")
        if any("unreadable" in one["text"] for one in documents):
            return Built(0, 0, 0, failures={"document": len(documents)}, notes=("I can read none of them",))
        if any("slow" in one["text"] for one in documents):
            open("pid", "w").write(str(os.getpid()))
            import time
            time.sleep(100)
        self.ask("/embeddings", model=self.job.embedding_model, input=[one["text"] for one in documents])
        return Built(entities=len(documents), relations=None, chunks=None)
    def answer(self, question):
        print("again")
        os.write(1, b"and below Python\\n")
        if "crash" in question:
            os._exit(7)
        if "fail" in question:
            raise KeyError("nothing found")
        for _ in range(2):
            said = self.ask("/chat/completions", model=self.job.model, messages=[{"role": "user", "content": question}])
        words = said["choices"][0]["message"]["content"]
        contexts = [{"text": one["text"], "document": one["id"]} for one in self.job.documents()]
        return PackageAnswer(words, contexts[: self.job.settings.get("top_k")])
    def close(self):
        pass

main("stand-in", StandIn)
'''


@pytest.fixture
def relayed(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The relay's module, imported as the scripts do."""
    monkeypatch.syspath_prepend(str(SCRIPTS))
    import adapter_relay

    return adapter_relay


def post(base_url: str, path: str, body: Any, key: str) -> tuple[int, dict[str, str], bytes]:
    """(status, headers, body) of a request."""
    parts = urlsplit(base_url)
    connection = HTTPConnection(parts.netloc, timeout=10)
    try:
        connection.request("POST", parts.path + path, json.dumps(body), {"authorization": f"Bearer {key}"})
        reply = connection.getresponse()
        return reply.status, dict(reply.getheaders()), reply.read()
    finally:
        connection.close()


def test_the_relay_counts_what_the_server_counts_and_lets_nobody_else_in(relayed: Any) -> None:
    with FakeServer(key=KEY) as server, relayed.Relay(relayed.Upstream(server.base_url, KEY, parameters={"temperature": 0.7})) as relay:
        assert relay.dimensions("e") == 64 and relay.counted() == relayed.RelayCounts()
        for _ in range(3):
            assert post(relay.base_url, "/chat/completions", {**CHAT, "temperature": 0}, relay.key)[0] == 200
        assert post(relay.base_url, "/embeddings", {"model": "e", "input": ["one", "two"], "dimensions": 5}, relay.key)[0] == 200
        for stranger in ("", KEY, "relay-x"):
            assert post(relay.base_url, "/chat/completions", CHAT, stranger)[0] == 401
        assert post(relay.base_url, "@elsewhere.example/steal", CHAT, relay.key)[0] == 404
        counted, asked = relay.counted(), [one.body for one in server.requests]
    assert (counted.calls, counted.input_tokens, counted.embedding_calls, counted.failed) == (3, 6, 1, 0)
    assert counted.embedding_tokens == 2 and counted.output_tokens > 0
    assert [body.get("temperature") for body in asked[1:4]] == [0.7] * 3
    assert "dimensions" not in asked[4]


def test_tokens_that_the_endpoint_does_not_tell_are_null_and_failures_are_counted(relayed: Any) -> None:
    with FakeServer(usage=False) as server, relayed.Relay(relayed.Upstream(server.base_url, "k")) as relay:
        post(relay.base_url, "/chat/completions", CHAT, relay.key)
        assert (relay.counted().input_tokens, relay.counted().calls) == (None, 1)
        relay.reset()
        assert post(relay.base_url, "/chat/completions", {"model": "m"}, relay.key)[0] == 400
        assert (relay.counted().failed, relay.counted().input_tokens) == (1, 0)
    with relayed.Relay(relayed.Upstream("http://127.0.0.1:9/v1", "k")) as relay:
        assert post(relay.base_url, "/chat/completions", CHAT, relay.key)[0] == 502
        with pytest.raises(RuntimeError, match="no vector of 'e'"):
            relay.dimensions("e")


def test_a_package_that_wants_a_stream_gets_the_whole_reply_as_one(relayed: Any) -> None:
    with FakeServer(lambda chat: "Warsaw") as server, relayed.Relay(relayed.Upstream(server.base_url, "k")) as relay:
        status, headers, body = post(relay.base_url, "/chat/completions", {**CHAT, "stream": True, "stream_options": {}}, relay.key)
        assert relay.counted().calls == 1 and relay.counted().output_tokens
    events = [line.removeprefix("data: ") for line in body.decode().splitlines() if line]
    assert status == 200 and headers["content-type"] == "text/event-stream" and events[-1] == "[DONE]"
    assert [json.loads(event)["choices"][0]["delta"].get("content") for event in events[:-1]] == ["Warsaw", None]


def test_the_key_follows_no_redirect(relayed: Any) -> None:
    seen: list[str] = []

    class Redirecting(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            seen.append(self.path)
            self.send_response(302 if self.path != "/elsewhere" else 200)
            self.send_header("location", "/elsewhere")
            self.send_header("content-length", "0")
            self.end_headers()

        do_GET = do_POST

        def log_message(self, *_: Any) -> None: ...

    server = HTTPServer(("127.0.0.1", 0), Redirecting)
    Thread(target=server.serve_forever, daemon=True).start()
    with relayed.Relay(relayed.Upstream(f"http://127.0.0.1:{server.server_address[1]}/v1", KEY)) as relay:
        assert post(relay.base_url, "/chat/completions", CHAT, relay.key)[0] == 302
    server.shutdown()
    server.server_close()
    assert seen == ["/v1/chat/completions"]


class Lengths:
    """A source of vectors that can be checked by hand: length, and one."""

    name = identity = "lengths"

    def vectors(self, texts: list[str]) -> Any:
        import numpy as np

        return np.array([[float(len(text)), 0.0] for text in texts])


class Forgetful(VectorCache):
    """A cache that keeps nothing: LanceDB, which takes seconds to load, has its own tests."""

    def get(self, keys: Any) -> dict[str, Any]:
        return {}

    def put(self, vectors: Any) -> None: ...


def test_kgevals_own_vectors_are_served_and_vectors_alone_go_there(relayed: Any, tmp_path: Path) -> None:
    embedder = Embedder(Lengths(), Forgetful(tmp_path, "lengths"), batch=8)
    with EmbeddingServer(embedder) as local, FakeServer() as server:
        upstream = relayed.Upstream(server.base_url, "k", local.base_url, local.key)
        with relayed.Relay(upstream) as relay:
            status, _, body = post(relay.base_url, "/embeddings", {"model": "e", "input": ["abc", "d"]}, relay.key)
            assert status == 200 and [one["embedding"] for one in json.loads(body)["data"]] == [[1.0, 0.0], [1.0, 0.0]]
            assert relay.dimensions("e") == 2
            assert post(relay.base_url, "/embeddings", {"model": "e", "input": []}, relay.key)[0] == 400
        assert post(local.base_url, "/embeddings", {"input": "x"}, "another")[0] == 401
        assert server.stats().requests == 0


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeServer]:
    """lightrag as installed, with the stand-in for its script; documents and questions in the current folder."""
    made = tmp_path / "systems" / "lightrag"
    (made / "bin").mkdir(parents=True)
    (made / "bin" / "python").symlink_to(Path(sys._base_executable).resolve())  # type: ignore[attr-defined]
    (made / "pyvenv.cfg").write_text(f"home = {Path(sys.base_prefix, 'bin')}\n")
    state = Installed(adapter="lightrag", version="1", python="3", requirements=(), by="pip", seconds=1, bytes=1)
    (made / MARKER).write_text(state.model_dump_json())
    scripts = tmp_path / "scripts"
    (scripts / "stand_in-1.0.dist-info").mkdir(parents=True)
    (scripts / "stand_in-1.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: stand-in\nVersion: 1.0\n")
    for name in ("adapter_base.py", "adapter_relay.py"):
        (scripts / name).symlink_to(SCRIPTS / name)
    (scripts / "adapter_lightrag.py").write_text(STAND_IN)
    monkeypatch.setattr(launch, "scripts", lambda: scripts)
    monkeypatch.setenv("KGEVAL_SYSTEMS_DIR", str(tmp_path / "systems"))
    monkeypatch.chdir(tmp_path)
    Path("documents").mkdir()
    Path("documents/one.txt").write_text("Warsaw is a city.")
    Path("documents/two.txt").write_text("Poland is a country.")
    with FakeServer(said, key=KEY) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        yield server


def said(chat: Chat) -> str:
    return f"About: {chat.text}"


def kgeval(*words: str) -> int:
    return run([*words])


INDEX = ("system", "index", "lightrag", "--documents", "documents", "--folder", "ix", "--model", "m", "--embedding-model", "e")


def asked(*questions: str, more: tuple[str, ...] = ()) -> tuple[int, list[dict[str, Any]]]:
    """(exit code, answers) to the questions."""
    rows = [{"id": f"q{at}", "question": question} for at, question in enumerate(questions)]
    Path("q.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    Path("a.jsonl").unlink(missing_ok=True)
    code = kgeval("answer", "q.jsonl", "--system", "lightrag:mix", "--folder", "ix", "-o", "a.jsonl", "--no-progress", *more)
    lines = Path("a.jsonl").read_text().splitlines() if Path("a.jsonl").exists() else []
    return code, [row for row in map(json.loads, lines) if "question_id" in row]


@pytest.mark.long
def test_documents_are_indexed_and_questions_answered_through_the_adapter(world: FakeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")  # where nobody listens: what is on this machine is not asked through a proxy
    assert kgeval(*INDEX, "--preset", "xiang", "--setting", "top_k=1", "-o", "index.json") == 0
    record = IndexRecord.model_validate_json(Path("index.json").read_text())
    assert (record.entities, record.relations, record.corpus.chunks, record.corpus.documents) == (2, None, None, 2)
    assert (record.calls, record.input_tokens, record.cost) == (0, 0, 0) and record.use[1].calls == 1
    assert record.configuration["settings"]["max_entity_tokens"] == 4000 and record.variant == "xiang"  # type: ignore[index, call-overload]
    assert record.configuration["knowledge_type"] == "Textual knowledge graph"
    world.reset()
    code, answers = asked("Where?", "When?")
    assert code == 0 and [one["answer"] for one in answers] == ["About: Where?", "About: When?"]
    assert [one["calls"] for one in answers] == [2, 2] and world.stats().requests == 4
    assert {one.body["temperature"] for one in world.requests} == {0.7}
    assert [one["contexts"] for one in answers] == [[{"text": "Warsaw is a city.", "document": "one.txt"}]] * 2
    assert {one["system"] for one in answers} == {"lightrag:mix"}
    holds = [path for path in Path().rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]
    assert holds == []


@pytest.mark.long
def test_a_signature_changes_with_settings_and_index_not_with_the_place(world: FakeServer) -> None:
    def signature(*more: str) -> str:
        signatures = {one["signature"] for one in asked("Where?", more=more)[1]}
        assert len(signatures) == 1
        return signatures.pop()

    assert kgeval(*INDEX) == 0
    first = signature()
    assert signature("--setting", "top_k=2") != first
    Path("ix").rename("moved")
    Path("ix").symlink_to("moved")
    assert signature() == first
    Path("ix").unlink()
    assert kgeval(*INDEX, "--setting", "chunk_token_size=300") == 0
    assert signature() != first


@pytest.mark.long
def test_what_a_package_raises_is_one_questions_failure(world: FakeServer) -> None:
    assert kgeval(*INDEX) == 0
    code, answers = asked("Where?", "Do fail!", "When?", more=("--max-error-rate", "0.5"))
    assert code == 0 and [bool(one.get("error")) for one in answers] == [False, True, False]
    assert "KeyError: 'nothing found'" in answers[1]["error"] and answers[1]["answer"] == ""


@pytest.mark.long
def test_a_package_that_takes_its_process_down_is_started_again(world: FakeServer) -> None:
    assert kgeval(*INDEX) == 0
    code, answers = asked("Where?", "Please crash!", "When?", more=("--max-error-rate", "0.5"))
    assert code == 0 and [bool(one.get("error")) for one in answers] == [False, True, False]


@pytest.mark.long
def test_an_index_step_that_takes_too_long_is_ended(world: FakeServer, capsys: pytest.CaptureFixture[str]) -> None:
    Path("documents/three.txt").write_text("slow")
    assert kgeval(*INDEX, "--time-limit", "1") == 3
    assert "not done after 1 s" in capsys.readouterr().err


@pytest.mark.long
def test_an_index_step_ends_when_the_command_that_started_it_is_killed(world: FakeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody would read what it goes on to pay for."""
    Path("documents/three.txt").write_text("slow")
    starter = "import os, subprocess, sys; subprocess.Popen(sys.argv[1:], start_new_session=True); sys.stdin.read(); os._exit(0)"
    card = folder.IndexCard(adapter="lightrag", model="m", embedding_model="e")
    folder.prepare(Path("ix"), card, [Document(id="a", text="slow")], replace=False)
    environ = launch.variables(catalog.adapter("lightrag"))
    command = [sys.executable, "-c", starter, *launch.argv(catalog.adapter("lightrag"), "index")]
    with subprocess.Popen(command, env=environ, cwd="ix", stdin=subprocess.PIPE, stderr=subprocess.DEVNULL):
        wait_until(lambda: Path("ix/pid").exists() and Path("ix/pid").read_text() != "")
        pid = int(Path("ix/pid").read_text())
        assert psutil.pid_exists(pid)
    wait_until(lambda: not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)


def test_a_folder_keeps_its_index_until_all_that_a_new_one_needs_is_there(
    world: FakeServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:
    assert kgeval(*INDEX) == 0
    monkeypatch.setattr("kgeval.llm.embed.open_embedder", no_embedder)
    assert kgeval(*INDEX, "--replace", "--embed-locally") == 2
    assert kgeval(*INDEX, "--replace", "-o", "nowhere/index.json") == 2
    assert "nowhere" in capsys.readouterr().err
    assert asked("Where?")[0] == 0


def no_embedder(name: str) -> None:
    raise ModelError(f"there is no model {name}")


def test_an_index_of_which_every_document_failed_is_no_index_to_ask(world: FakeServer, capsys: pytest.CaptureFixture[str]) -> None:
    Path("documents/three.txt").write_text("unreadable")
    assert kgeval(*INDEX, "-o", "index.json") == 3
    shown = capsys.readouterr().out
    assert "0 of 3 documents indexed" in shown and "I can read none of them" in shown and "Next:" not in shown
    assert json.loads(Path("index.json").read_text())["failures"] == {"document": 3}
    assert asked("Where?")[0] == 2 and "did not finish" in capsys.readouterr().err


def test_an_answers_cost_is_null_where_a_part_of_it_is_not_known() -> None:
    dear, cheap = Price(2.0, 10.0), Price(1.0, 0.0)
    assert launch.Prices(dear, cheap, local=False).cost(1_000_000, 100_000, 500_000) == 3.5
    assert launch.Prices(dear, None, local=True).cost(1_000_000, 0, 500_000) == 2.0
    assert launch.Prices(dear, None, local=False).cost(1_000_000, 0, 0) == 2.0
    for prices, tokens in ((launch.Prices(dear, None, False), (1, 1, 1)), (launch.Prices(None, cheap, False), (1, 1, 1)),
                           (launch.Prices(dear, cheap, False), (1, None, 1)), (launch.Prices(dear, cheap, False), (1, 1, None))):
        assert prices.cost(*tokens) is None


def test_an_index_step_that_fails_says_why_and_leaves_nothing_to_ask(world: FakeServer, capsys: pytest.CaptureFixture[str]) -> None:
    Path("documents/three.txt").write_text("poison")
    assert kgeval(*INDEX) == 3
    assert "I do not like this document" in capsys.readouterr().err
    assert asked("Where?")[0] == 2
    assert "did not finish" in capsys.readouterr().err
    Path("documents/three.txt").unlink()
    assert kgeval(*INDEX) == 2
    assert kgeval(*INDEX, "--replace") == 0


ANSWER = ("answer", "q.jsonl", "-o", "a.jsonl", "--system")
NEW = ("--folder", "new", "--model", "m", "--embedding-model", "e")
REFUSED = [
    ((*ANSWER, "lightrag:deep", "--folder", "ix"), "has no mode deep"),
    ((*ANSWER, "lightrag"), "needs the folder of its index"),
    ((*ANSWER, "lightrag", "--folder", "ix", "--setting", "chunk_token_size=3"), "belongs to the index"),
    ((*ANSWER, "graphrag", "--folder", "ix"), "index of lightrag"),
    (("system", "index", "hipporag", "--documents", "documents", *NEW), "not installed"),
    (("system", "index", "lightrag", *NEW), "no documents"),
    (("system", "index", "lightrag", "--documents", "documents", "--folder", "new"), "--model and --embedding-model"),
    (("system", "show", "lightrug"), "did you mean lightrag"),
    (("system", "remove", "lightrag"), "would be deleted"),
]


def test_what_does_not_fit_is_refused_with_the_way_out(world: FakeServer, capsys: pytest.CaptureFixture[str]) -> None:
    assert kgeval(*INDEX) == 0
    Path("q.jsonl").write_text('{"id": "q", "question": "Where?"}\n')
    for words, message in REFUSED:
        capsys.readouterr()
        assert kgeval(*words) == 2, words
        shown = capsys.readouterr().err
        assert message in shown and "Fix:" in shown


def test_the_page_on_systems_by_file_shows_a_conversion_that_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (Path(__file__).parents[2] / "docs" / "systems-by-file.md").read_text(encoding="utf-8")
    space: dict[str, Any] = {}
    exec(page.partition("```python\n")[2].partition("```")[0], space)
    monkeypatch.chdir(tmp_path)
    Path("q.jsonl").write_text('{"id": "q1", "question": "Where?"}\n{"id": "q2", "question": "When?"}\n')
    space["write"]("raptor.jsonl", [
        {"id": "q1", "prediction": "There.", "docs": ["a node", "another"], "time": 0.5, "prompt_tokens": 9},
        {"id": "q2", "question": "When?", "output": "Then.", "nodes": ["a node"]},
    ])
    assert kgeval("answer", "q.jsonl", "--system", "raptor=file:raptor.jsonl", "-o", "a.jsonl", "--no-progress") == 0
    answers = [json.loads(line) for line in Path("a.jsonl").read_text().splitlines() if "question_id" in line]
    assert [(one["answer"], len(one["contexts"]), one.get("latency_s")) for one in answers] == [("There.", 2, 0.5), ("Then.", 1, None)]


def test_an_environment_is_made_listed_and_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:
    """With a package of no size, from a file: nothing is fetched."""
    wheel = tmp_path / "tiny_rag-1.2-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as file:
        file.writestr("tiny_rag-1.2.dist-info/METADATA", "Metadata-Version: 2.1\nName: tiny-rag\nVersion: 1.2\n")
        file.writestr("tiny_rag-1.2.dist-info/WHEEL", "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        file.writestr("tiny_rag-1.2.dist-info/RECORD", "")
    beside = Path(sys.executable).parent  # uv, where make has put it, is many times faster than venv and pip
    monkeypatch.setenv("PATH", f"{beside}{os.pathsep}{os.environ['PATH']}")
    info = catalog.adapter("lightrag").model_copy(update={"distribution": "tiny-rag", "requirements": (), "alone": (str(wheel),)})
    monkeypatch.setattr(catalog, "adapter", lambda name: info)
    monkeypatch.setattr(catalog, "catalog", lambda: {"lightrag": info})
    monkeypatch.setenv("KGEVAL_SYSTEMS_DIR", str(tmp_path / "systems"))
    assert kgeval("system", "install", "lightrag") == 0
    assert "lightrag 1.2 is installed" in capsys.readouterr().out
    assert kgeval("system", "list", "-f", "json") == 0
    assert json.loads(capsys.readouterr().out)[0]["installed"]["version"] == "1.2"
    assert kgeval("system", "remove", "lightrag", "--yes") == 0
    assert not (tmp_path / "systems" / "lightrag").exists()
    broken = info.model_copy(update={"alone": (str(tmp_path / "none.whl"),)})
    monkeypatch.setattr(catalog, "adapter", lambda name: broken)
    assert kgeval("system", "install", "lightrag") == 2
    assert "the installer failed" in capsys.readouterr().err and not (tmp_path / "systems" / "lightrag").exists()
