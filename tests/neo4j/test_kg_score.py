"""`kgeval score --metrics kg` from the outside: triples of a model, of the file and of the stored graph, against networkx."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import networkx as nx
import pytest
from bolt_proxy import BoltProxy
from waiting import wait_until

import kgeval
from kgeval.cli.main import run
from kgeval.graph import server_info
from kgeval.graph.connect import Address, Graph
from kgeval.graph.load.pairs import PairRows, write_pair
from kgeval.graph.queries import all_queries
from kgeval.llm.fake import Chat, FakeServer
from kgeval.llm.fake.model import embed

SAMPLE = Path(kgeval.__file__).parent / "sample"
GRAPH = json.loads((SAMPLE / "graph.json").read_text(encoding="utf-8"))
PAIRS = ("context_relevancy", "factual_correctness", "faithfulness", "answer_relevancy")
MATCHING = tuple(f"kg_matching_{pair}" for pair in PAIRS)
KG = ("--metrics", "kg", "--setting", "runs=4")
Triples = Sequence[tuple[str, str, str]]


def read_aloud(chat: Chat) -> Any:
    """A model that reads "A does B." as (A, does, B), sentence by sentence, and nothing else."""
    text = json.loads(re.findall(r'<data name="text">\n(.*?)\n</data>', chat.subject, re.DOTALL)[0])
    found = stated(text)
    return {"triples": [dict(zip(("head", "relation", "tail"), one, strict=True)) for one in found], "nothing_stated": not found}


def stated(text: str) -> list[tuple[str, str, str]]:
    parts = [part.split() for part in re.split(r"[.?]", text) if len(part.split()) >= 3]
    return [(words[0], words[1], " ".join(words[2:])) for words in parts]


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with FakeServer(read_aloud) as running:
        yield running


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, address: Address) -> None:
    """No settings of the machine: no kgeval.toml, no endpoint, a cache folder of this test; the suite's Neo4j."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    monkeypatch.setenv("KGEVAL_SCORE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("KGEVAL_SCORE_MAX_RETRIES", "1")
    monkeypatch.setenv("NEO4J_URI", address.uri)
    monkeypatch.setenv("NEO4J_USERNAME", address.username)
    monkeypatch.setenv("NEO4J_PASSWORD", address.password)


def score(server: FakeServer, *arguments: object) -> int:
    words = ["score", *map(str, arguments), "--no-progress", "--embedding-url", server.base_url, "--embedding-model", "trigrams"]
    return run(words)


def model(server: FakeServer) -> tuple[str, ...]:
    return ("--model", "m", "--base-url", server.base_url)


def chats(server: FakeServer) -> list[Any]:
    return [one for one in server.requests if "chat" in one.path]


def write(path: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def scores(path: Path) -> dict[tuple[str, str], dict[str, Any]]:
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return {(row["question_id"], row["metric"]): row for row in rows if "metric" in row}


ROWS = [
    {"question_id": "q1", "question": "Who built the old mill?", "reference": "Ada built the old mill. Ada knew Charles.", "system": "s",
     "answer": "Ada built the old mill. Bob painted the old mill.",
     "contexts": [{"text": "Ada built the old mill. Rain fell often."}, {"text": "Adah knew Charles."}]},
    {"question_id": "q2", "question": "Is it so?", "reference": "Nobody can tell.", "system": "s",
     "answer": "Ada sold mills. Mills burn well.", "contexts": [{"text": "Ada built the old mill. Rain fell often."}]},
    {"question_id": "q3", "question": "What is far away?", "reference": "Mars is far away.", "system": "s", "answer": "",
     "contexts": [{"text": "Mars is far away."}]},
    {"question_id": "q4", "question": "What is near?", "system": "s", "answer": "Venus is near."},
]


def matching(given: Triples, context: Triples, tau: float = 0.7, delta: float = 0.5) -> float:
    """[D Algorithms 1 and 2] by networkx, a Dijkstra from every input entity."""
    if not given or not context:
        return 0.0
    graph = nx.MultiDiGraph()
    for side, triples in (("in", given), ("ctx", context)):
        for at, (head, _, tail) in enumerate(triples):
            graph.add_edge((side, head), (side, "relation", at), cost=0.1)
            graph.add_edge((side, "relation", at), (side, tail), cost=0.1)
    ours, theirs = ({name for one in triples for name in (one[0], one[2])} for triples in (given, context))
    for a in ours:
        for b in theirs:
            cosine = round(sum(x * y for x, y in zip(embed(a, 64), embed(b, 64), strict=True)), 6)
            if cosine >= tau:
                graph.add_edge(("in", a), ("ctx", b), cost=round(1 - cosine, 6))
    reached = 0
    for a in ours:
        costs = nx.single_source_dijkstra_path_length(graph, ("in", a), weight="cost")
        reached += min(costs.get(("ctx", b), 9.0) for b in theirs) <= delta + 1e-9
    return reached / len(ours)


def expected(row: Mapping[str, Any], **settings: float) -> dict[str, float | None]:
    """Matching of each pair, from what the model says of each text; null: the row has no such text."""
    question, answer = stated(row["question"]), stated(row["answer"])
    contexts = [one for text in row["contexts"] for one in stated(text["text"])] if "contexts" in row else None
    reference = stated(row["reference"]) if "reference" in row else None
    return {
        "kg_matching_context_relevancy": None if contexts is None else matching(question, contexts, **settings),
        "kg_matching_factual_correctness": None if reference is None else matching(answer, reference, **settings),
        "kg_matching_faithfulness": None if contexts is None else matching(answer, contexts, **settings),
        "kg_matching_answer_relevancy": matching(question, answer, **settings),
    }


@pytest.mark.both_lines
@pytest.mark.long
def test_scores_of_triples_from_a_model_the_dry_run_and_a_second_run(
    server: FakeServer, graph: Graph, tmp_path: Path, capsys: pytest.CaptureFixture[str],
) -> None:
    answers = write(tmp_path / "a.jsonl", ROWS)
    assert score(server, answers, *KG, *model(server), "--dry-run") == 0
    total = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("total"))
    assert server.stats().requests == 0
    texts = {row[key] for row in ROWS for key in ("question", "answer", "reference") if row.get(key)}
    texts |= {one["text"] for row in ROWS for one in row.get("contexts", ())}
    assert score(server, answers, *KG, *model(server), "-o", tmp_path / "one.jsonl") == 0
    asked = chats(server)
    assert len(asked) == len(texts) == int(total.split()[1])
    assert score(server, answers, *KG, *model(server), "-o", tmp_path / "two.jsonl") == 0
    assert len(chats(server)) == len(asked)
    first, second = scores(tmp_path / "one.jsonl"), scores(tmp_path / "two.jsonl")
    assert first == second
    for row in ROWS:
        for metric, value in expected(row).items():
            found = first[row["question_id"], metric]
            assert found["value"] == (None if value is None else pytest.approx(value, abs=1e-9)), (row["question_id"], metric)
            assert found["status"] == ("not_applicable" if value is None else "scored")
            community = first[row["question_id"], metric.replace("matching", "community")]
            assert community["status"] == found["status"]
    assert first["q1", "kg_matching_faithfulness"]["value"] == 1.0
    assert first["q3", "kg_matching_faithfulness"]["reason"] == "the input has no triples"
    assert graph.read(all_queries()["list-graphs"]) == []
    assert graph.read("MATCH (n) RETURN count(n) AS n") == [{"n": 0}]


@pytest.mark.long
def test_a_projection_that_breaks_with_its_connection_or_is_gone_is_made_again(
    server: FakeServer, graph: Graph, address: Address, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    answers, metrics = write(tmp_path / "a.jsonl", ROWS[:1]), ("--metrics", "kg", "--setting", "runs=1")

    def once(word: bytes, what: Callable[[], bool]) -> Callable[[bytes], bool]:
        """Happens at the first message with this word."""
        met: list[int] = []

        def fault(data: bytes) -> bool:
            if word not in data or met:
                return False
            met.append(0)
            return what()

        return fault

    def forget_projections() -> bool:  # as a server does that is started again
        graph.tidy("CALL gds.graph.list() YIELD graphName CALL gds.graph.drop(graphName) YIELD graphName AS gone RETURN count(*)")
        return False

    where = urlsplit(address.uri)
    with BoltProxy(where.hostname or "", where.port or 0) as proxy:
        monkeypatch.setenv("NEO4J_URI", proxy.uri)
        found = []
        for number, fault in enumerate((
            None, once(b"gds.graph.project", lambda: True), once(b"dijkstra", forget_projections), once(b"leiden", forget_projections),
        )):
            proxy.expect(fault)
            assert score(server, answers, *metrics, *model(server), "-o", tmp_path / f"{number}.jsonl") == 0
            assert proxy.hurt == (number == 1)
            found.append(scores(tmp_path / f"{number}.jsonl"))
    assert all(scored == found[0] for scored in found)
    assert graph.read(all_queries()["list-graphs"]) == []


@pytest.mark.long
def test_signatures_change_with_what_a_number_depends_on_and_with_nothing_else(server: FakeServer, graph: Graph, tmp_path: Path) -> None:
    answers = write(tmp_path / "a.jsonl", ROWS[:1])
    found: dict[str, tuple[str, str]] = {}
    for name, more in {
        "plain": (), "delta": ("--setting", "delta=0.4"), "weight": ("--setting", "edge_weight=0.8"), "tau": ("--setting", "tau=0.8"),
        "model": ("--model", "other"), "other metrics": ("--metrics", "lexical"),
    }.items():
        score(server, answers, *KG, *model(server), *more, "-o", tmp_path / "x.jsonl")
        rows = scores(tmp_path / "x.jsonl")
        found[name] = (rows["q1", MATCHING[2]]["signature"], rows["q1", "kg_community_faithfulness"]["signature"])
    matching_, community = found["plain"]
    assert found["other metrics"] == found["plain"]
    assert found["delta"] == (found["delta"][0], community)
    assert found["weight"] == (matching_, found["weight"][1])
    assert len({one[0] for one in found.values()}) == 4
    assert len({one[1] for one in found.values()}) == 4


def test_triples_of_the_file_and_no_model(server: FakeServer, graph: Graph, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The answer's triples stand in the file; nobody can say what the other texts state, and that is told."""
    row = {**ROWS[0], "triples": [{"subject": "Ada", "predicate": "built", "object": "the old mill"}]}
    answers = write(tmp_path / "a.jsonl", [row, {**ROWS[2], "contexts": []}])
    assert score(server, answers, *KG, *model(server), "-o", tmp_path / "x.jsonl") == 0
    found = scores(tmp_path / "x.jsonl")["q1", "kg_matching_faithfulness"]
    assert (found["value"], found["detail"]["input_from"], found["detail"]["context_from"]) == (1.0, "file", "model")
    before = len(chats(server))
    capsys.readouterr()
    assert score(server, answers, *KG, "-o", tmp_path / "y.jsonl") == 3
    assert "no model is named: triples come from the files" in capsys.readouterr().err
    rows = scores(tmp_path / "y.jsonl")
    assert {(row["status"], row["reason"].split(":")[0]) for (q, _), row in rows.items() if q == "q1"} == {("unscored", "missing_item")}
    assert rows["q3", "kg_matching_faithfulness"]["value"] == 0.0
    assert len(chats(server)) == before


@pytest.fixture
def velmouth(graph: Graph, capsys: pytest.CaptureFixture[str]) -> Graph:
    assert run(["import", str(SAMPLE / "graph.json"), "--graph", "velmouth"]) == 0
    capsys.readouterr()
    return graph


def sample_answers(tmp_path: Path, *, texts: bool) -> tuple[Path, list[dict[str, Any]]]:
    """The sample's answers of one system. Their texts are in sentences of three words for the model; contexts by id alone or not."""
    rows = [json.loads(line) for line in (SAMPLE / "answers" / "graph.jsonl").read_text(encoding="utf-8").splitlines()]
    for row in rows:
        for one in row["contexts"]:
            one["text"] = one["text"] if texts else ""
    return write(tmp_path / "graph.jsonl", rows), rows


@pytest.mark.both_lines
@pytest.mark.long
@pytest.mark.parametrize("texts", [True, False])
def test_contexts_with_chunk_ids_come_from_the_stored_graph_at_no_cost(
    server: FakeServer, velmouth: Graph, tmp_path: Path, texts: bool,
) -> None:
    answers, rows = sample_answers(tmp_path, texts=texts)
    names = ("kg_matching_faithfulness", "kg_matching_stored")
    more = ("--questions", SAMPLE / "answers" / "questions.jsonl", "--graph", "velmouth", "--metrics", ",".join(names))
    assert score(server, answers, *more, *model(server), "-o", tmp_path / "x.jsonl") == 0
    assert len(chats(server)) == len({row["answer"] for row in rows if row["answer"]})
    found = scores(tmp_path / "x.jsonl")
    nodes = {node["id"]: node for node in GRAPH["nodes"]}
    links = [(*(nodes.get(link[end], {"name": link[end]}) for end in ("source", "target")), link) for link in GRAPH["links"]]

    def comes_from(head: dict[str, Any], link: dict[str, Any], tail: dict[str, Any], chunk: str) -> bool:
        if own := link.get("chunk_ids"):
            return chunk in own
        return chunk in head.get("chunk_ids", ()) and chunk in tail.get("chunk_ids", ())

    for row in rows:
        chunks = {one["chunk_id"] for one in row["contexts"]}
        context = [(a["name"], link["predicate"], b["name"]) for a, b, link in links if any(comes_from(a, link, b, c) for c in chunks)]
        one = found[row["question_id"], "kg_matching_faithfulness"]
        assert one["detail"]["context_triples"] == len(context), row["question_id"]
        assert one["value"] == pytest.approx(matching(stated(row["answer"]), context), abs=1e-9)
        assert one["detail"]["context_from"] == ("graph" if context else "none")
    assert {found[row["question_id"], "kg_matching_stored"]["status"] for row in rows} == {"scored"}
    assert velmouth.read(all_queries()["list-graphs"]) == []


@pytest.fixture
def embedded(address: Address, monkeypatch: pytest.MonkeyPatch) -> None:
    """The suite's server also stands for the embedded one of the user; nothing is written by another connection."""

    def checked(graph: Graph, rows: PairRows) -> int:
        assert graph.info.embedded, "written to a database that was named"
        return write_pair(graph, rows)

    monkeypatch.setattr("kgeval.graph.server.ensure_started", lambda **_: replace(address, embedded=True))
    monkeypatch.setattr("kgeval.graph.load.pairs.write_pair", checked)


@pytest.mark.long
def test_explain_prints_a_pair_and_write_back_leaves_it_to_be_seen_and_deleted(
    server: FakeServer, graph: Graph, tmp_path: Path, capsys: pytest.CaptureFixture[str],
    request: pytest.FixtureRequest,
) -> None:
    answers = write(tmp_path / "a.jsonl", ROWS)
    named = ("--metrics", "kg_matching_faithfulness", *model(server))
    assert score(server, answers, *named, "--explain", "q1", "--dry-run") == 0
    assert "total" in capsys.readouterr().out
    assert chats(server) == []
    assert score(server, answers, *named, "--explain", "q1") == 0
    printed = capsys.readouterr().out
    assert "paths (cost <= 0.5): 3 of 3 input entities" in printed
    assert "0.2000 yes  Bob -> [painted] -> the old mill -> the old mill" in printed
    assert graph.read("MATCH (n) RETURN count(n) AS n") == [{"n": 0}]
    assert score(server, answers, *named, "--explain", "q4") == 0
    assert "q4, s: not applicable: the answer tells neither texts nor ids of its contexts" in capsys.readouterr().out
    request.getfixturevalue("embedded")
    assert score(server, answers, *named, "--explain", "q1", "--write-back") == 0
    pair_id = "q1 | s | faithfulness"
    assert f"into the embedded server, as the pair '{pair_id}'" in capsys.readouterr().err
    paths = graph.read(all_queries()["view-pair"], {"id": pair_id})
    # 5 triples with two edges each; Ada ~ Ada, Ada ~ Adah, the old mill ~ the old mill
    assert len(paths) == graph.read("MATCH ()-[r:HEAD|TAIL|SIMILAR]->() RETURN count(r) AS n")[0]["n"] == 13
    docs = (Path(kgeval.__file__).parents[1] / "docs" / "metrics-kg.md").read_text(encoding="utf-8")
    shown = re.findall(r"```cypher\n(?::param[^\n]*\n)?(.*?)```", docs, re.DOTALL)
    assert len(graph.read(shown[0], {"id": pair_id})) == 13
    assert graph.write(all_queries()["delete-pair"], {"id": pair_id}) == [{"deleted": 15}]
    assert score(server, answers, *named, "--explain", "q1", "--write-back") == 0
    graph.write(shown[1])
    assert graph.read("MATCH (n) RETURN count(n) AS n") == [{"n": 0}]


@pytest.mark.long
@pytest.mark.parametrize("layout", [("--graph", "velmouth"), ("--layout", "generic")])
def test_an_audit_does_not_count_what_was_written_to_be_looked_at(
    server: FakeServer, velmouth: Graph, tmp_path: Path, embedded: None, layout: tuple[str, str],
) -> None:
    """The same report, figure by figure, with a pair in the database as without one."""
    def audited(name: str) -> dict[str, Any]:
        assert run(["audit", *layout, "--check", CHECKS, "--seed", "1", "-o", name]) == 0
        return dict(leaves(json.loads(Path(name).read_text(encoding="utf-8"))))

    before = audited("before.json")
    rows = write(tmp_path / "a.jsonl", ROWS)
    named = ("--metrics", "kg_matching_faithfulness", *model(server), "--explain", "q1", "--write-back")
    assert score(server, rows, *named) == 0
    assert velmouth.read("MATCH (n:KgevalPairEntity|KgevalPairRelation) RETURN count(n) AS n")[0]["n"] > 10
    after = audited("after.json")
    assert {name: (before.get(name), after.get(name)) for name in before | after if before.get(name) != after.get(name)} == {}
    assert "KgevalPair" not in json.dumps(list(after.values()))


CHECKS = "isolated-entity,rare-type,duplicate-name,missing-type,signature-outlier"


def leaves(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Each figure and text of a report by its place, without the run's own (time, arguments), the
    labels that the layout passes over, and the Cypher, which names them."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in inner:
        if key not in ("run", "layout", "seconds", "timings", "query", "query_hash", "cypher", "dry_run"):
            yield from leaves(part, f"{name}.{key}")
    if not isinstance(value, dict | list):
        yield name, round(value, 12) if isinstance(value, float) else value


def test_a_sweep_has_the_scores_of_every_point_and_asks_once(
    server: FakeServer, graph: Graph, tmp_path: Path, capsys: pytest.CaptureFixture[str],
) -> None:
    answers = write(tmp_path / "a.jsonl", ROWS)
    grid = ("--metrics", "kg_matching_faithfulness,token_f1", "--sweep", "tau=0.6,0.8;delta=0,0.5", *model(server))
    assert score(server, answers, *grid, "--dry-run") == 0
    total = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("total"))
    assert score(server, answers, *grid) == 0
    asked = chats(server)
    assert len(asked) == int(total.split()[1])
    lines = [line.split() for line in capsys.readouterr().out.splitlines()[1:]]
    for tau, delta, mean, n, *_ in lines:
        values = [expected(row, tau=float(tau), delta=float(delta))["kg_matching_faithfulness"] for row in ROWS]
        told = [value for value in values if value is not None]
        assert (float(mean), n) == (pytest.approx(sum(told) / len(told), abs=1e-4), "3")
    assert len(lines) == 4


def test_a_server_without_gds_is_refused_before_a_model_is_paid(
    server: FakeServer, graph: Graph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:
    told_by_server = server_info._told
    monkeypatch.setattr(server_info, "_told", lambda session: told_by_server(session)[:2])  # the version of GDS is last
    assert score(server, write(tmp_path / "a.jsonl", ROWS), *KG, *model(server)) == 2
    told = capsys.readouterr().err
    assert "no Graph Data Science plugin, and these metrics need it: kg_matching_context_relevancy" in told
    assert "Fix: install the GDS plugin" in told
    assert server.stats().requests == 0


@pytest.mark.long
def test_an_embedding_model_that_fails_gives_unscored_values_with_its_cause(server: FakeServer, graph: Graph, tmp_path: Path) -> None:
    answers = write(tmp_path / "a.jsonl", ROWS[:1])
    nobody = "http://127.0.0.1:9/v1"
    words = ["score", str(answers), *KG, *model(server), "-o", str(tmp_path / "x.jsonl"), "--no-progress", "--embedding-url", nobody]
    assert run([*words, "--embedding-model", "e"]) == 3
    found = {(row["status"], row["reason"].split(":")[0]) for row in scores(tmp_path / "x.jsonl").values()}
    assert found == {("unscored", "embedding_error")}


@pytest.mark.long
def test_an_interrupted_run_leaves_no_projection(server: FakeServer, graph: Graph, tmp_path: Path) -> None:
    rows = [{**ROWS[0], "question_id": f"q{n}"} for n in range(60)]
    answers = write(tmp_path / "a.jsonl", rows)
    command = [
        sys.executable, "-m", "kgeval", "score", str(answers), "--metrics", "kg", "--setting", "runs=1000", *model(server), "--no-progress",
        "--embedding-url", server.base_url, "--embedding-model", "trigrams",
    ]
    process = subprocess.Popen(command, cwd=tmp_path, env=dict(os.environ), stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)
    wait_until(lambda: graph.read(all_queries()["list-graphs"]))
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=200)
    assert process.returncode == 130, told.decode()
    assert b"Traceback" not in told
    assert graph.read(all_queries()["list-graphs"]) == []


def test_what_a_killed_run_left_in_gds_is_dropped_by_the_next(server: FakeServer, graph: Graph, tmp_path: Path) -> None:
    from kgeval.graph.project import graph_name

    dead = graph_name().replace(f"_{os.getpid()}_", "_1_", 1)
    edges = {"sources": [0], "targets": [1], "values": [0.5]}
    graph.read(all_queries()["pair-graph"], {"graph_name": dead, "edges": edges, "undirected": []})
    assert score(server, write(tmp_path / "a.jsonl", ROWS[:1]), *KG, *model(server)) == 0
    assert graph.read(all_queries()["list-graphs"]) == []
