"""`kgeval questions generate` from the outside, on a real Neo4j with a model behind real HTTP: files, counts, exit codes, bad input."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "models"))
from question_world import blocks, letter
from waiting import HoldingModel, wait_until

from kgeval.cli.main import run
from kgeval.graph.connect import Address, Graph
from kgeval.graph.layouts import bind, load_profile
from kgeval.llm.fake import Chat, FakeServer
from kgeval.questions.making.summary import excerpts
from kgeval.records import GenerationReport

FLEET = """
CREATE (d:Document:sea {id: 'log'}) WITH d UNWIND range(0, 29) AS n
CREATE (c:Chunk:sea {id: 'c' + n, index: n, text: 'Ship ' + n + ' tows the next.'})-[:FROM_DOCUMENT]->(d)
CREATE (e:__Entity__:Ship:sea {id: 'ship-' + n, name: 'Ship ' + n, name_key: 'ship ' + n, type: 'Ship', description: n + ' masts'})
CREATE (e)-[:FROM_CHUNK]->(c)
WITH collect(e) AS ships UNWIND range(0, 28) AS n WITH ships[n] AS a, ships[n + 1] AS b, n
CREATE (a)-[:TOWS {predicate: 'tows', chunk_ids: ['c' + n]}]->(b)
"""


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with FakeServer(letter, dimensions=64) as running:
        yield running


@pytest.fixture
def cli(
    draw: Callable[[str], None], address: Address, server: FakeServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path,
) -> Callable[..., int]:
    """Runs the command in an empty folder, with caches of its own; returns the exit code."""
    draw(FLEET)
    for name, value in {
        "NEO4J_URI": address.uri, "NEO4J_USERNAME": address.username, "NEO4J_PASSWORD": address.password, "OPENAI_API_KEY": "test-key",
        "OPENAI_BASE_URL": server.base_url, "KGEVAL_QUESTIONS_GENERATE_CACHE_DIR": str(tmp_path / "cache"),
        "KGEVAL_QUESTIONS_GENERATE_MODEL": "m", "KGEVAL_QUESTIONS_GENERATE_MAX_RETRIES": "0",
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)

    def command(*words: object) -> int:
        return run(["questions", "generate", *map(str, words), "--no-embeddings", "--no-progress"])

    return command


def lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path(name).read_text(encoding="utf-8").splitlines()]


def total(out: str) -> str:
    return next(line for line in out.splitlines() if line.startswith("total"))


@pytest.mark.long
def test_the_dry_run_counts_the_calls_and_the_same_command_again_costs_nothing(
    cli: Callable[..., int], server: FakeServer, capsys: pytest.CaptureFixture[str],
) -> None:
    command = ("--graph", "sea", "--kind", "node=5,edge=4,summary=7", "--seed", 3, "-o", "q.jsonl")
    assert cli(*command, "--dry-run") == 0
    assert total(capsys.readouterr().out).split()[1:4] == ["14", "to", "35"], "5 + 4, and 1 document, 1, 1, and 2 for 7 questions"
    assert server.stats().requests == 0 and not Path("q.jsonl").exists()
    assert cli(*command) == 0
    out = capsys.readouterr().out
    assert server.stats().requests == 14 and "q.run.json" in out and "q.jsonl" in out
    first = Path("q.jsonl").read_bytes()
    assert cli(*command) == 0
    assert server.stats().requests == 14 and Path("q.jsonl").read_bytes() == first
    capsys.readouterr()
    assert cli(*command, "--dry-run") == 0
    assert total(capsys.readouterr().out).split()[1:3] == ["0", "14"]
    assert cli(*command[:-1], "other.jsonl", "--seed", 4) == 0
    assert Path("other.jsonl").read_bytes() != first


def test_questions_and_report_say_where_they_come_from(cli: Callable[..., int]) -> None:
    assert cli("--graph", "sea", "--kind", "edge=3", "-o", "q.jsonl", "--profile", "narrative", "-q") == 0
    question = lines("q.jsonl")[0]
    assert question["dataset"] == "sea" and question["document"] == "log" and question["hops"] == question["triples_needed"] == 1
    assert [ref.get("kind", "entity") for ref in question["structure"]] == ["entity", "entity", "relation"]
    assert {p["chunk_id"] for p in question["evidence"]} <= {f"c{n}" for n in range(30)} and len(question["evidence"]) == 2
    report = GenerationReport.model_validate_json(Path("q.run.json").read_text())
    assert (report.graph, report.layout, report.profile, report.made) == ("sea", "kgeval", "narrative", 3)
    assert report.run.models[0].role == "generator" and "en/ask-edge" in report.run.prompt_hashes and report.run.server is not None
    assert Path("q.jsonl").stat().st_mode & 0o077 == 0


def test_fewer_than_asked_is_incomplete_unless_that_is_allowed(cli: Callable[..., int], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli("--graph", "sea", "--kind", "node=40", "-o", "q.jsonl") == 3
    said = capsys.readouterr()
    assert "30 of 40 questions were made" in said.err and "10 fewer than asked" in said.out and len(lines("q.jsonl")) == 30
    assert cli("--graph", "sea", "--kind", "node=40", "-o", "q.jsonl", "--allow-fewer", "-q") == 0
    assert GenerationReport.model_validate_json(Path("q.run.json").read_text()).kinds[0].why


def test_a_subgraph_of_too_small_a_graph_says_what_the_graph_can_give(cli: Callable[..., int], server: FakeServer,
                                                                      capsys: pytest.CaptureFixture[str]) -> None:
    assert cli("--graph", "sea", "--kind", "subgraph=1", "-o", "q.jsonl") == 3
    assert "29" in capsys.readouterr().out and server.stats().requests == 0 and lines("q.jsonl") == []


def test_a_budget_ends_the_run_with_what_there_is_and_the_same_command_goes_on(
    cli: Callable[..., int], server: FakeServer, capsys: pytest.CaptureFixture[str],
) -> None:
    command = ("--graph", "sea", "--kind", "node=20", "-o", "q.jsonl")
    assert cli(*command, "--max-calls", 12) == 3
    assert len(lines("q.jsonl")) == 12 and "the same command goes on" in capsys.readouterr().err
    report = GenerationReport.model_validate_json(Path("q.run.json").read_text())
    assert not report.complete and report.kinds[0].failed == {"budget": 4} and report.run.exit_code == 3
    assert cli(*command) == 0 and server.stats().requests == 20 and len(lines("q.jsonl")) == 20


@pytest.mark.long
def test_ctrl_c_writes_what_was_made_so_far(cli: Callable[..., int], tmp_path: Path) -> None:
    holding = HoldingModel(8, letter)
    with FakeServer(holding) as slow:
        command = [
            sys.executable, "-m", "kgeval", "questions", "generate", "--graph", "sea", "--kind", "node=30", "-o", "q.jsonl", "-j", "2",
            "--no-embeddings", "--no-progress", "--base-url", slow.base_url,
        ]
        process = subprocess.Popen(command, cwd=tmp_path, env=dict(os.environ), stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)
        wait_until(lambda: holding.waiting == 2)
        process.send_signal(signal.SIGINT)
        error = process.communicate(timeout=200)[1].decode()
        assert process.returncode == 130, error
        kept = lines("q.jsonl")
        assert 0 < len(kept) < 30 and f"stopped after {len(kept)} questions" in error and "the same command goes on" in error
        assert not GenerationReport.model_validate_json(Path("q.run.json").read_text()).complete
        before = slow.stats().requests
        holding.release()
        assert subprocess.run(command, cwd=tmp_path, env=dict(os.environ), capture_output=True, timeout=200, check=False).returncode == 0
        assert lines("q.jsonl")[: len(kept)] == kept and 30 - before <= slow.stats().requests - before <= 30 - len(kept)


@pytest.mark.long
@pytest.mark.usefixtures("cli")
def test_kinds_without_a_model_need_none_and_load_no_torch(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("KGEVAL_QUESTIONS_GENERATE_MODEL")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    command = (
        "import sys; from kgeval.cli.main import run; code = run(sys.argv[1:]); "
        "print(code, [name for name in ('torch', 'openai', 'lancedb', 'sentence_transformers') if name in sys.modules])"
    )
    words = ["questions", "generate", "--graph", "sea", "--kind", "hops=2", "--template", "-o", "q.jsonl", "-q", "--allow-fewer"]
    done = subprocess.run([sys.executable, "-c", command, *words], cwd=tmp_path, capture_output=True, text=True, timeout=200, check=False)
    assert done.stdout.splitlines()[-1] == "0 []", done.stderr
    made = lines("q.jsonl")
    assert made and all(question["made_by"]["prompt"].startswith("template") and "model" not in question["made_by"] for question in made)


def test_words_alone_do_not_find_what_embeddings_find(cli: Callable[..., int]) -> None:
    def alike(chat: Chat) -> Any:
        word = chr(97 + int(blocks(chat)["entity"]["name"].split()[1]))
        return {"question": f"what does the old ship tow in the long night of the north, {word}?", "answer": "So many.", "passages": [1]}

    with FakeServer(alike, dimensions=64) as server:
        words = ["--graph", "sea", "--kind", "node=3", "--base-url", server.base_url, "-o", "q.jsonl", "-q"]
        assert cli(*words) == 0 and len(lines("q.jsonl")) == 3
        near = ["--no-progress", "--embedding-url", server.base_url, "--embedding-model", "e", "--duplicate-threshold", "0.8"]
        assert run(["questions", "generate", *words, *near]) == 3 and len(lines("q.jsonl")) == 1
        assert [entry.path.rpartition("/")[2] for entry in server.requests].count("embeddings") >= 1
        report = GenerationReport.model_validate_json(Path("q.run.json").read_text())
        dropped = report.kinds[0].duplicates
        assert dropped["embedding"] > 0 and sum(dropped.values()) == report.kinds[0].structures - 1


def test_earlier_questions_do_not_come_again(cli: Callable[..., int], server: FakeServer) -> None:
    assert cli("--graph", "sea", "--kind", "node=6", "-o", "one.jsonl", "-q") == 0
    assert cli("--graph", "sea", "--kind", "node=6", "-o", "two.jsonl", "-q", "--earlier", "one.jsonl") == 0
    one, two = ({question["question"] for question in lines(name)} for name in ("one.jsonl", "two.jsonl"))
    assert len(one) == len(two) == 6 and not one & two
    assert GenerationReport.model_validate_json(Path("two.run.json").read_text()).kinds[0].duplicates == {"exact": 6}


def test_a_graph_without_chunks_gives_questions_from_descriptions_and_says_so(
    cli: Callable[..., int], graph: Graph, server: FakeServer, capsys: pytest.CaptureFixture[str],
) -> None:
    graph.write("MATCH (c) WHERE c:Chunk OR c:Document DETACH DELETE c")
    assert cli("--graph", "sea", "--kind", "node=2", "--no-references", "-o", "q.jsonl") == 0
    assert "the graph has no chunks" in capsys.readouterr().err
    assert all("evidence" not in question and "reference" not in question for question in lines("q.jsonl"))
    assert cli("--graph", "sea", "--kind", "node,summary,fact_retrieval", "-o", "q.jsonl") == 2
    error = capsys.readouterr().err
    assert "these kinds need them: fact_retrieval, summary" in error or "these kinds need them: summary, fact_retrieval" in error
    assert server.stats().requests == 2


def test_chunk_texts_may_come_from_a_file(cli: Callable[..., int], graph: Graph) -> None:
    graph.write("MATCH (c:Chunk) REMOVE c.text")
    Path("chunks.jsonl").write_text("".join(json.dumps({"id": f"c{n}", "text": f"Text {n}."}) + "\n" for n in range(30)))
    assert cli("--graph", "sea", "--kind", "node=2", "--chunks", "chunks.jsonl", "-o", "q.jsonl", "-q") == 0
    assert all(question["evidence"][0]["text"].startswith("Text ") for question in lines("q.jsonl"))


def test_a_graph_with_one_entity_gives_its_one_question(cli: Callable[..., int], graph: Graph) -> None:
    graph.write("MATCH (e:__Entity__) WHERE e.name <> 'Ship 3' DETACH DELETE e")
    assert cli("--graph", "sea", "--kind", "node=2,edge=1,summary=1", "-o", "q.jsonl", "-q") == 3
    assert [question["level"] for question in lines("q.jsonl")] == ["node", "summary"]


def test_the_questions_go_to_stdout_where_no_file_is_named(cli: Callable[..., int], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli("--graph", "sea", "--kind", "node=2") == 0
    said = capsys.readouterr()
    assert [json.loads(line)["level"] for line in said.out.splitlines()] == ["node", "node"] and "asked" in said.err


def test_a_sheet_is_written_beside_and_taken_back(cli: Callable[..., int], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli("--graph", "sea", "--kind", "node=2", "-o", "q.jsonl", "--sheet", "s.csv", "-q") == 0
    assert cli("--graph", "sea", "--kind", "node=2", "-o", "q.jsonl", "--sheet", "s.csv", "-q") == 2
    text = Path("s.csv").read_text().replace(",,How many", ",keep,How many")
    Path("s.csv").write_text(text)
    assert run(["questions", "confirm", "q.jsonl", "s.csv", "-o", "kept.jsonl"]) == 0
    assert [question["checks"][-1]["name"] for question in lines("kept.jsonl")] == ["confirmed"] * 2


def test_kgeval_toml_gives_the_defaults(cli: Callable[..., int], monkeypatch: pytest.MonkeyPatch, server: FakeServer) -> None:
    monkeypatch.delenv("KGEVAL_QUESTIONS_GENERATE_MODEL")
    Path("kgeval.toml").write_text(
        "[graph]\nname = 'sea'\n[model.generator]\nname = 'writer'\n[questions]\nkinds = ['node=2']\nanswers = false\nprofile = 'medical'\n"
    )
    assert cli("-o", "q.jsonl", "-q") == 0
    made = [(q["made_by"]["model"], q["made_by"]["profile"], "reference" in q) for q in lines("q.jsonl")]
    assert made == [("writer", "medical", False)] * 2


def test_a_profile_of_ones_own_is_counted_and_a_changed_one_is_asked_anew(
    cli: Callable[..., int], server: FakeServer, capsys: pytest.CaptureFixture[str],
) -> None:
    Path("mine.toml").write_text('styles = ["short", "long"]\n')
    command = ("--graph", "sea", "--kind", "node=4", "--seed", 3, "-o", "q.jsonl", "--profile", "mine.toml")
    assert cli(*command, "--dry-run") == 0
    assert total(capsys.readouterr().out).split()[1] == "4"
    assert cli(*command) == 0
    assert server.stats().requests == 4
    made = lines("q.jsonl")
    assert sorted(question["extra"]["asked_as"]["style"] for question in made) == ["long", "long", "short", "short"]
    report = GenerationReport.model_validate_json(Path("q.run.json").read_text())
    assert report.profile == made[0]["made_by"]["profile"] and report.profile.startswith("mine@")
    assert any(Path(one.path).name == "mine.toml" for one in report.run.inputs)
    assert cli(*command) == 0 and server.stats().requests == 4
    Path("mine.toml").write_text('styles = ["short", "longer"]\n')
    assert cli(*command) == 0 and server.stats().requests == 6, "two of the four are worded differently"
    Path("mine.toml").write_text("styles = 3\nfacts = []\n")
    assert cli(*command) == 2
    said = capsys.readouterr().err
    assert "mine.toml: " in said and "styles: " in said and "facts: " in said and server.stats().requests == 6


def test_faulty_words_cost_nothing_and_say_the_way_out(
    cli: Callable[..., int], server: FakeServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:
    Path("old.jsonl").write_text('{"id": "1", "question": "Who?"}\n')
    Path("old.csv").write_text("id,label\n")
    cases: list[tuple[tuple[object, ...], str]] = [
        ((), "no kind of question is named"), (("--kind", "nodes"), "did you mean node"), (("--kind", "node", "-o", "q.csv"), "as .jsonl"),
        (("--kind", "node", "--sheet", "old.csv"), "may hold decisions"),
        (("--kind", "node", "--sheet", "old.csv/s.csv"), "old.csv"),
        (("--kind", "node", "--sheet", "s.txt"), "as .csv"), (("--kind", "node", "--template"), "none of these kinds has a template"),
        (("--kind", "node", "--earlier", "old.jsonl", "-o", "old.jsonl"), "would replace a file that is read"),
        (("--kind", "node", "--base-url", "http://example.invalid/v1", "--cost-limit", "1"), "no price is known"),
    ]
    for words, said in cases:
        assert cli("--graph", "sea", *words) == 2, words
        error = capsys.readouterr().err
        assert said in error and "Fix:" in error, (words, error)
    monkeypatch.delenv("KGEVAL_QUESTIONS_GENERATE_MODEL")
    assert cli("--graph", "sea", "--kind", "node,hop_1") == 2
    error = capsys.readouterr().err
    assert "these kinds need one: node, hop_1" in error and "--template makes hop_1 without one" in error
    assert server.stats().requests == 0


def test_documents_are_read_in_the_order_of_their_chunks(graph: Graph, draw: Callable[[str], None]) -> None:
    draw("""UNWIND ['b', 'a'] AS d CREATE (doc:Document {id: d}) WITH doc, d UNWIND [10, 9, 2] AS n
        CREATE (:Chunk {id: d + n, index: n, text: d + n})-[:FROM_DOCUMENT]->(doc)""")
    graph.write("CREATE (:Chunk {id: 'x', index: 1, text: 'x'}), (:Chunk {id: 'y', index: 0}), (:__Entity__ {name: 'E'})")
    found = list(excerpts(graph, bind(graph, load_profile("kgeval").layout, None)))
    told = {one.document: one.beginning.split() for one in found}
    assert told == {"a": ["a2", "a9", "a10"], "b": ["b2", "b9", "b10"], None: ["x"]} and list(told) == ["a", "b", None]


def checking(chat: Chat) -> Any:
    """As `letter`; asked from the evidence it knows the answer, without it does not, and finds one."""
    fields = set((chat.schema or {}).get("properties", {}))
    if fields == {"reason", "answered", "answer"}:
        found = "passages" in blocks(chat)
        return {"reason": "So it says.", "answered": found, "answer": "so many" if found else ""}
    if fields == {"reason", "label"}:
        return {"reason": "It is another.", "label": "incorrect"}
    one = {"reason": "It says one.", "answers": ["So many."], "specific": True}
    return one if fields == set(one) else letter(chat)


@pytest.mark.long
def test_check_adds_the_checks_that_makers_did_not_do_and_its_dry_run_bounds_the_calls(
    cli: Callable[..., int], capsys: pytest.CaptureFixture[str],
) -> None:
    with FakeServer(checking) as server:
        command = ("--graph", "sea", "--kind", "node=3,hops=1", "--template", "--check-all", "--allow-fewer", "-o", "q.jsonl",
                   "--base-url", server.base_url)
        assert cli(*command, "--dry-run") == 0
        rows = {row.split()[0]: row for row in capsys.readouterr().out.splitlines() if row.strip()}
        hops = 3  # known already, as templates make them: counted exactly; 3 of a model are not there yet
        for name in ("closed_book", "unique_wording"):
            assert rows[name].split()[1:4] == [str(hops), "to", str(hops + 3)]
        assert cli(*command) == 0
        captured, asked = capsys.readouterr(), server.stats().requests
        assert "checks passed: answerable 3 of 6, closed_book 6 of 6, unique_wording 6 of 6" in captured.err
        assert any("closed_book 6 of 6" in note for note in json.loads(Path("q.run.json").read_text())["notes"])
        first = {row["kind"]: {check["name"]: check.get("passed") for check in row["checks"]} for row in lines("q.jsonl")}
        assert first["node"] == {
            "leak": True, "answerable": True, "closed_book": True, "unique": None, "unique_wording": True,
            "not_in_one_passage": None, "no_shortcut": None, "absent": None,
        }
        assert first["hop_2"]["unique"] is True and first["hop_2"]["no_shortcut"] is True, "the maker's own proofs stay"
        before = Path("q.jsonl").read_bytes()
        assert cli(*command) == 0 and server.stats().requests == asked and Path("q.jsonl").read_bytes() == before
        assert cli(*command, "--max-calls", 4, "--cache-dir", "new") == 3 and len(lines("q.jsonl")) == 6
        assert any("budget" in check.get("reason", "") for row in lines("q.jsonl") for check in row["checks"])


def test_a_check_without_a_model_does_what_words_and_the_graph_can(
    cli: Callable[..., int], server: FakeServer, monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("KGEVAL_QUESTIONS_GENERATE_MODEL")
    assert cli("--graph", "sea", "--kind", "hops=1", "--template", "--check-all", "--allow-fewer", "-o", "q.jsonl") == 0
    names = {"unique", "unique_wording", "not_in_one_passage", "leak", "no_shortcut", "absent"}
    assert all(set(checks) == names for row in lines("q.jsonl") if (checks := {check["name"]: check for check in row["checks"]}))
    assert not server.stats().requests
