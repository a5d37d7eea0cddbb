"""`import kgeval` on a real graph: with an open driver, an address or a session, in threads, in a running event loop, and interrupted."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import neo4j
import pandas as pd
import pytest

import kgeval
from kgeval.cli.main import run
from kgeval.errors import ConnectError, LayoutError, QueryError, UsageError
from kgeval.graph.connect import Address, Graph
from kgeval.graph.reading import ReadingDriver
from kgeval.graph.sessions import reading, writing
from kgeval.llm.fake import FakeServer

SAMPLE = Path(kgeval.__file__).parent / "sample"


@pytest.fixture(scope="module")
def sample(address: Address, connection: Graph) -> Iterator[None]:
    """The sample graph, and half of it as another graph."""
    connection.write("MATCH (n) CALL (n) { DETACH DELETE n }")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NEO4J_PASSWORD", address.password)
        patch.setenv("NEO4J_USERNAME", address.username)
        for name in ("velmouth", "other"):
            assert run(["import", str(SAMPLE / "graph.json"), "--uri", address.uri, "--graph", name]) == 0
    yield


@pytest.fixture
def driver(address: Address, sample: None) -> Iterator[neo4j.Driver]:
    with neo4j.GraphDatabase.driver(address.uri, auth=(address.username, address.password)) as opened:
        yield opened


@pytest.fixture(autouse=True)
def secrets(address: Address, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NEO4J_PASSWORD", address.password)
    monkeypatch.setenv("NEO4J_USERNAME", address.username)


def told(report: Any) -> tuple[Any, Any]:
    """Figures and findings; GDS adds up in any order, so that the last digits of a mean differ from run to run."""
    figures = {name: round(value, 12) if isinstance(value, float) else value for name, value in report.structure.items()}
    return figures, [one.model_dump(exclude={"seconds"}) for one in report.findings]


@pytest.mark.both_lines
@pytest.mark.long
def test_a_driver_gives_what_the_command_gives_and_stays_open(driver: neo4j.Driver, address: Address, tmp_path: Path) -> None:
    before = driver.execute_query("MATCH (n) OPTIONAL MATCH (n)-[r]->() RETURN count(DISTINCT n) AS n, count(r) AS r").records
    result = kgeval.audit(driver, graph="velmouth", examples=2, fail_on="error")
    file = tmp_path / "r.json"
    assert run(["audit", "--uri", address.uri, "--graph", "velmouth", "--examples", "2", "--fail-on", "error", "-q", "-o", str(file)]) == 1
    by_command = type(result.report).model_validate_json(file.read_text(encoding="utf-8"))
    assert told(result.report) == told(by_command)
    assert (result.exit_code, [gate.met for gate in result.gates]) == (1, [False])
    assert result.report.run.arguments["examples"] == by_command.run.arguments["examples"] == 2
    after = driver.execute_query("MATCH (n) OPTIONAL MATCH (n)-[r]->() RETURN count(DISTINCT n) AS n, count(r) AS r").records
    assert after == before
    assert len(result.to_pandas()) == len(result.findings)


@pytest.mark.parametrize("way", ["reading", "writing", "gds"])
def test_what_the_database_lacks_is_no_warning_in_the_log_of_the_driver_s_owner(
    way: str, driver: neo4j.Driver, caplog: pytest.LogCaptureFixture,
) -> None:
    query = f"MATCH (n:NeverWritten_{way}) RETURN n.never_written_{way}"
    driver.execute_query(query)
    assert "never_written" in caplog.text, "the driver logs it by itself"
    caplog.clear()
    if way == "gds":
        ReadingDriver(driver, lambda: None, 10.0).execute_query(query)
    else:
        with (reading if way == "reading" else writing)(driver, None) as session:
            session.run(query).consume()
    assert caplog.text == ""


@pytest.mark.long
def test_one_session_serves_several_tasks_and_graphs_stand_side_by_side(address: Address, sample: None, tmp_path: Path) -> None:
    with kgeval.connect(address.uri) as session:
        first = kgeval.audit(session, graph="velmouth", checks="isolated-entity", no_structure=True)
        again = kgeval.audit(session, graph="other", checks=["isolated-entity"], no_structure=True)
        assert first.findings[0].count == again.findings[0].count
        plan = kgeval.audit(session, graph="velmouth", dry_run=True, memory_limit="1GB")
        assert "layout kgeval" in str(plan) and session.graph.memory_limit is None
        kgeval.audit(session, graph="other", checks="isolated-entity", memory_limit="1GB")
        assert session.graph.memory_limit is None, "the next task has its own"
        file = first.save(tmp_path / "first.json")
        both = kgeval.audit(session, graph=[str(file), "other"], checks="isolated-entity", no_structure=True)
        assert both.report.names == ["velmouth", "other"] and both.exit_code == 0
        assert list(both.to_pandas().columns)[-2:] == ["velmouth", "other"]
        assert session.graph.read("RETURN 1 AS one") == [{"one": 1}], "audits leave the caller's session open"
    assert "graph" not in session.__dict__


@pytest.mark.long
def test_what_is_accepted_is_written_and_read_again(
    driver: neo4j.Driver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture,
) -> None:
    debt = tmp_path / "debt.json"
    kgeval.audit(driver, graph="velmouth", no_structure=True, write_ratchet=debt)
    kgeval.audit(driver, graph="velmouth", no_structure=True, ratchet=debt).raise_for_gates()

    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("kgeval.tables.output.os.fsync", full)
    lost = kgeval.audit(driver, graph="velmouth", checks="isolated-entity", no_structure=True, write_ratchet=tmp_path / "other.json")
    assert lost.findings and "No space left" in str(lost.fault) and "No space left" in caplog.text


@pytest.mark.long
def test_it_works_inside_a_running_event_loop_and_in_threads(driver: neo4j.Driver, address: Address) -> None:
    def audited(connection: Any, name: str) -> Any:
        return told(kgeval.audit(connection, graph=name, no_structure=True).report)

    async def inside() -> Any:
        return audited(driver, "velmouth")

    expected = asyncio.run(inside())
    with ThreadPoolExecutor(2) as pool:  # one driver in both; each its own
        assert list(pool.map(audited, [driver, driver], ["velmouth"] * 2)) == [expected] * 2
        assert list(pool.map(audited, [address.uri] * 2, ["velmouth"] * 2)) == [expected] * 2


@pytest.mark.long
def test_two_sessions_in_two_threads_do_different_tasks_at_once(address: Address, sample: None) -> None:
    def work(seed: int) -> tuple[Any, list[str]]:
        with kgeval.connect(address.uri, graph="velmouth", config=False) as session:
            made = kgeval.generate_questions(session, kinds={"hop_1": 4}, template=True, seed=seed)
            checked = kgeval.check_questions(made, connection=session, no_model=True)
            found = kgeval.audit(session, checks="isolated-entity", no_structure=True).findings
            return [one.model_dump(exclude={"seconds"}) for one in found], [one.question for one in checked]

    with ThreadPoolExecutor(2) as pool:
        both = list(pool.map(work, [1, 2]))
    assert both == [work(1), work(2)] and both[0][0] == both[1][0] and both[0][1] != both[1][1]


@pytest.mark.both_lines
@pytest.mark.long
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_interrupted_call_leaves_nothing_and_the_driver_goes_on(driver: neo4j.Driver) -> None:
    def interrupt(delay: float, over: threading.Event) -> None:
        while not over.wait(delay):
            os.kill(os.getpid(), signal.SIGINT)
            delay = 10.0  # Python drops an interrupt that falls into a finaliser: then another one is needed

    for delay in (0.1, 0.4, 0.8):
        over = threading.Event()
        thread = threading.Thread(target=interrupt, args=(delay, over))
        thread.start()
        try:
            with pytest.raises(KeyboardInterrupt):
                while True:
                    kgeval.audit(driver, graph="velmouth")
        finally:
            over.set()
            thread.join()
    assert driver.execute_query("CALL gds.graph.list() YIELD graphName RETURN graphName").records == []
    assert kgeval.audit(driver, graph="velmouth", checks="isolated-entity", no_structure=True).findings[0].status == "failed"


@pytest.mark.long
@pytest.mark.parametrize(("kind", "step"), [("recv_into", 5), ("sendall", 1)])
def test_wherever_an_interrupt_meets_the_driver_no_connection_stays_in_the_midst_of_a_message(
    kind: str, step: int, driver: neo4j.Driver, monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Half a message is read or sent, then Ctrl-C comes; what the pool gives afterwards is asked at once."""
    from neo4j._async_compat.network._bolt_socket import BoltSocketBase

    whole, main, count, at = getattr(BoltSocketBase, kind), threading.main_thread(), 0, 2

    def half(socket: Any, data: Any, *size: int) -> Any:
        nonlocal count
        count += threading.current_thread() is main
        if count != at or threading.current_thread() is not main:
            return whole(socket, data, *size)
        whole(socket, data[: (len(data) + 1) // 2], *((one + 1) // 2 for one in size))
        return signal.raise_signal(signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    met = None
    try:
        while met or at == 2:  # until it needs fewer
            count, met = 0, None
            with monkeypatch.context() as patch:
                patch.setattr(BoltSocketBase, kind, half)
                try:
                    kgeval.audit(driver, graph="velmouth", checks="false-merger", no_structure=True, concurrent_queries=1)
                except KeyboardInterrupt as interrupt:
                    met = interrupt
            assert type(met) is KeyboardInterrupt or count < at, "nothing takes an interrupt for something else"
            assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
            sessions = [driver.session() for _ in range(4)]
            begun = [session.begin_transaction() for session in sessions]
            assert [one.run("RETURN 1 AS one").single(strict=True)["one"] for one in begun] == [1, 1, 1, 1]
            for session in sessions:
                session.close()
            at += step
    finally:
        signal.signal(signal.SIGINT, before)
    assert at > 10 * step
    assert driver.execute_query("CALL gds.graph.list() YIELD graphName RETURN graphName").records == []


def test_what_fails_after_an_interrupt_that_was_caught_is_no_interrupt(driver: neo4j.Driver) -> None:
    with kgeval.connect(driver) as session:
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt:
            with pytest.raises(QueryError, match="SyntaxError"):
                session.graph.read("no Cypher")


def test_a_closed_driver_and_a_missing_graph_or_database_are_plain_errors(driver: neo4j.Driver, address: Address) -> None:
    with pytest.raises(LayoutError, match="nowhere"):
        kgeval.audit(driver, graph="nowhere")
    with pytest.raises(ConnectError, match="nodatabase"):
        kgeval.audit(driver, database="nodatabase")
    wrong, refused = ("neo4j", "wrong-password"), "refuses its user or password"
    with neo4j.GraphDatabase.driver(address.uri, auth=wrong) as other, pytest.raises(ConnectError, match=refused):
        kgeval.audit(other)
    driver.close()
    with pytest.raises(ConnectError, match="closed"):
        kgeval.audit(driver)


def test_the_manifest_of_a_driver_holds_no_secret(driver: neo4j.Driver, address: Address) -> None:
    result = kgeval.audit(driver, graph="velmouth", checks="isolated-entity", no_structure=True)
    assert address.password not in json.dumps(result.to_dict())


def test_built_in_systems_answer_over_a_driver_or_a_session_that_is_open(driver: neo4j.Driver, tmp_path: Path) -> None:
    questions = SAMPLE / "answers" / "questions.jsonl"
    with FakeServer() as server, kgeval.connect(driver, config=False) as session:
        options: dict[str, Any] = {
            "system": ["vector", "graph", {"mine": str.upper}], "extractive": True, "limit": 2, "embedding_model": "e", "graph": "velmouth",
        }
        first = kgeval.answer(
            questions, connection=driver, config=False, embedding_url=server.base_url, cache_dir=tmp_path,
            index_record=tmp_path / "{system}.json", **options,
        )
        assert first.exit_code == 0 and [(one.system, one.error) for one in first] == [
            (name, None) for name in ("vector", "graph", "mine") for _ in range(2)
        ]
        assert all(one.contexts for one in first if one.system == "vector")
        assert {path.name for path in tmp_path.glob("*.json")} == {"vector.json", "graph.json"}
        with pytest.raises(UsageError, match="embedding_model: the session has its own"):
            kgeval.answer(questions, connection=session, **options)
        again = kgeval.answer(questions, connection=session, system="closed-book", model="m", base_url=server.base_url, limit=1,
                              journal=tmp_path / "j.sqlite")
        assert len(again) == 1 and session.graph.read("RETURN 1 AS one") == [{"one": 1}]
        plan = kgeval.answer(questions, connection=session, graph="velmouth", system="graph", model="gpt-4o-mini", dry_run=True,
                             journal=tmp_path / "j.sqlite")
        assert plan.calls[1] == 16
    assert driver.execute_query("RETURN 1 AS one").records[0]["one"] == 1


@pytest.mark.both_lines
@pytest.mark.long
def test_the_examples_of_the_page_run(
    driver: neo4j.Driver, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch,
) -> None:
    page = (Path(__file__).parents[2] / "docs" / "python.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    assert len(blocks) >= 4
    opening = 'driver = neo4j.GraphDatabase.driver("bolt://localhost:7687", auth=("neo4j", "..."))\n'
    assert opening in blocks[0]
    names: dict[str, Any] = {"driver": driver}
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    with FakeServer() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        for block in blocks:
            exec(compile(block.replace(opening, ""), "docs/python.md", "exec"), names)
    assert names["plan"].calls[0] == names["compared"].report.requests > 0, "the dry run has counted the calls"
    assert Path("report.html").is_file() and "isolated-entity" in capsys.readouterr().out


@pytest.mark.long
def test_a_graph_is_built_from_files_frames_and_mappings_alike(driver: neo4j.Driver, tmp_path: Path) -> None:
    documents = [
        {"id": "a", "title": "Mill", "text": "Ann Lee built Harrow Mill in Velmouth. Ann Lee lives in Velmouth."},
        {"id": "b", "title": "Town", "text": "Velmouth lies at the Orr. Harrow Mill stands at the Orr."},
    ]
    (tmp_path / "docs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in documents))
    options: dict[str, Any] = {"extractor": "rules", "cooccurrence": True, "config": False}
    plan = kgeval.build(documents, graph="built", connection=driver, dry_run=True, **options)
    assert (plan.chunks, plan.documents, plan.calls) == (2, 2, (0, 0)) and "2 chunks of 2 documents" in str(plan)
    first = kgeval.build(documents, graph="built", connection=driver, **options)
    assert first.report.run.arguments["docs"] == ["docs"] and "kgeval-rows" not in first.rendered("json")
    assert first.report.entities > 2 and list(first.to_pandas()["created"])[:2] == [2, 2]
    for docs in (pd.DataFrame(documents), iter(documents), "docs.jsonl", ["docs.jsonl"]):
        again = kgeval.build(docs, graph="built", connection=driver, **options)
        assert not again.report.changed, "the same documents change nothing"
    assert kgeval.build(graph="built", connection=driver, remove="b", **options).report.corpus.documents == 1
    assert json.loads(first.save("index.json").read_text())["entities"] == first.report.entities
    with pytest.raises(UsageError, match="keep is for share"), kgeval.connect(driver, config=False) as session:
        kgeval.build(documents, graph="built", connection=session, extractor="rules", keep="questions.jsonl")
    with pytest.raises(UsageError, match=r"graph: the graph's name is needed, not .*chunk_size"):
        kgeval.build(documents, graph=driver, chunk_size=3)  # type: ignore[call-overload]
    assert kgeval.audit(driver, graph="built", config=False).report.graph == "built"
    kgeval.import_graph(nodes=pd.DataFrame({"id": ["a", "b"], "name": ["Ann", "Bo"]}), graph="loaded", connection=driver, config=False)
    kept = driver.execute_query("MATCH (n) UNWIND keys(n) AS key RETURN collect(DISTINCT toStringOrNull(n[key])) AS values").records[0]
    assert "nodes" in kept["values"] and not [value for value in kept["values"] if "kgeval-rows" in value]


@pytest.mark.long
def test_the_fixtures_of_the_page_guard_a_graph_in_a_suite_of_its_own(driver: neo4j.Driver, address: Address, tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "pytest.md").read_text(encoding="utf-8")
    suite = re.findall(r"^```python\n(.*?)^```", page, re.DOTALL | re.MULTILINE)[0]
    (tmp_path / "test_suite.py").write_text(suite)
    (tmp_path / "answers.jsonl").write_text('{"question": "Who?", "answer": "Ann Lee", "reference": "Ann Lee"}\n')
    environment = {**os.environ, "NEO4J_URI": address.uri, "NEO4J_PASSWORD": address.password, "NEO4J_USERNAME": address.username}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--tb=line", "-rA", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=tmp_path, check=False)
    results = {name: outcome for outcome, name in re.findall(r"^(PASSED|FAILED) \S*::(\w+)", done.stdout, re.MULTILINE)}
    assert results == {
        "test_the_graph_is_sound": "FAILED", "test_no_name_stands_twice": "FAILED", "test_answers_are_good_enough": "PASSED",
    }, done.stdout + done.stderr
    assert "gates of kgeval:\n  gate missed: fail-on no check of severity error fails (4: empty-name, duplicate-name" in done.stdout


@pytest.mark.long
def test_questions_are_made_checked_and_asked_for_scores_without_a_file(driver: neo4j.Driver, tmp_path: Path) -> None:
    options: dict[str, Any] = {"template": True, "seed": 3, "config": False}
    made = kgeval.generate_questions(driver, graph="velmouth", kinds={"hops": 3, "negative": 2}, **options)
    questions = list(made)
    assert (made.exit_code, made.messages, made.report.made, len(questions)) == (0, (), 11, 11)
    assert made.report.run.arguments["kinds"] == ["hops=3", "negative=2"] and made.report.dataset == "velmouth"
    assert list(made.to_pandas()["id"]) == [question.id for question in questions]
    with kgeval.connect(driver, graph="velmouth", config=False) as session:
        again = kgeval.generate_questions(graph=session, kinds="hops=3,negative=2", template=True, seed=3)
    assert list(again) == questions, "the same graph and seed"
    more = kgeval.generate_questions(driver, graph="velmouth", kinds={"hops": 3}, earlier=made, allow_fewer=True, **options)
    assert more.report.made and not {one.question for one in more} & {one.question for one in questions}

    checked = kgeval.check_questions(made, connection=driver, graph="velmouth", no_model=True, thresholds="unique>=0.9", config=False)
    figures = checked.to_pandas().set_index("check")
    assert (figures.loc["unique", "passed"], figures.loc["absent", "passed"]) == (9, 2)
    assert [one.id for one in checked] == [one.id for one in questions] and all(one.checks for one in checked)
    checked.raise_for_gates()
    answers = [{"question_id": one.id, "answer": one.reference or ""} for one in questions]
    scores = kgeval.score(answers, questions=checked, metrics="exact_match", config=False)
    assert {score.value for score in scores.scores if score.value is not None} == {1.0}
    assert [file.path for file in scores.report.run.inputs] == ["answers", "questions"]
    assert list(kgeval.check_questions(made.save(tmp_path / "q.jsonl"), no_model=True, config=False))


def test_what_making_questions_would_ask_is_counted_and_not_asked(driver: neo4j.Driver, monkeypatch: pytest.MonkeyPatch) -> None:
    from kgeval.llm.fake import FakeServer

    monkeypatch.setenv("OPENAI_API_KEY", "k")
    with FakeServer(lambda chat: {"question": "Who is it?", "answer": "Ann", "passages": [1]}) as server:
        options: dict[str, Any] = {
            "graph": "velmouth", "kinds": {"node": 2}, "model": "m", "base_url": server.base_url, "no_embeddings": True, "config": False,
            "journal": "j.sqlite",
        }
        plan = kgeval.generate_questions(driver, dry_run=True, **options)
        assert plan.calls[0] == 2 and server.stats().requests == 0 and "structure" in str(plan)
        made = kgeval.generate_questions(driver, **options)
        asked = server.stats().requests
        assert made.report.run.models and 2 <= asked <= plan.calls[1]
        assert (made.exit_code, made.messages) == (3, ("1 of 2 questions were made; allow_fewer takes that",)), "the second repeats it"
        assert list(kgeval.generate_questions(driver, **options)) == list(made) and server.stats().requests == asked
