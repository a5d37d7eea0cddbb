"""`kgeval build` and `kgeval build merges` from the command line, on a real server, with a model behind real HTTP, and audited."""

from __future__ import annotations

import io
import json
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from neo4j import GraphDatabase
from waiting import wait_until

from kgeval.cli.main import run
from kgeval.config import MergesOptions
from kgeval.errors import UsageError
from kgeval.graph.connect import Address, Graph
from kgeval.llm.fake import Chat, FakeServer, Rule
from kgeval.records import IndexRecord
from kgeval.workflows.merges import decide, listed
from kgeval.workflows.session import Session

TEXT = (
    "Captain Elias Marsh commands the Northern Light. The ship belongs to the Velmouth Harbour Board in Velmouth. "
    "Elias Marsh was born in Velmouth. Greta Dorning visited Elias Marsh in Velmouth."
)
OTHER = "Greta Dorning lives in Ostrava. Greta Dorning knows Anna Holm."
SOUND = (  # checks that a builder itself could fail
    "dangling-source", "entity-without-source", "relation-without-source", "missing-index", "dangling-relation", "self-loop",
    "parallel-relation", "empty-name", "chunk-without-entities", "super-node",
)


@pytest.fixture
def cli(graph: Graph, address: Address, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., int]:
    """Runs `kgeval`, in an empty folder, on the suite's server, with a cache of its own; returns the exit code."""
    for key, value in {
        "NEO4J_URI": address.uri, "NEO4J_USERNAME": address.username, "NEO4J_PASSWORD": address.password, "OPENAI_API_KEY": "test-key",
    }.items():
        monkeypatch.setenv(key, value)
    monkeypatch.chdir(tmp_path)

    def command(*words: str) -> int:
        return run(list(words))

    return command


def rules(cli: Callable[..., int], *words: str, graph: str = "harbour") -> int:
    return cli("build", *words, "--graph", graph, "--extractor", "rules")


def put(name: str, text: str) -> str:
    Path(name).write_text(text, encoding="utf-8")
    return name


def counts(graph: Graph) -> dict[str, int]:
    return {row["l"]: row["n"] for row in graph.read("MATCH (n) UNWIND labels(n) AS l RETURN l, count(*) AS n")}


def test_a_build_says_what_it_took_and_the_same_again_costs_nothing(
    cli: Callable[..., int], graph: Graph, capsys: pytest.CaptureFixture[str]
) -> None:
    put("a.txt", TEXT)
    put("b.md", f"# Other\n\n{OTHER}")
    assert rules(cli, "a.txt", "b.md", "-o", "index.json") == 0
    shown = capsys.readouterr().out
    assert re.search(r"time \(s\) +\d+\.\d\d", shown) and "Next: kgeval audit --graph harbour" in shown
    assert [int(re.search(rf"{label} +(\d+)", shown)[1]) for label in ("input tokens", "completion tokens", "total tokens")] == [0] * 3  # type: ignore[index]
    record = IndexRecord.model_validate_json(Path("index.json").read_text())
    assert (record.corpus.documents, record.calls, record.run.command) == (2, 0, "build")
    assert [file.path for file in record.run.inputs] == ["a.txt", "b.md"]
    assert counts(graph)["__Entity__"] == record.entities > 4
    assert rules(cli, "a.txt", "b.md", "-f", "json") == 0
    again = IndexRecord.model_validate_json(capsys.readouterr().out)
    assert (again.changed, again.entities, again.relations) == ({}, record.entities, record.relations)


@pytest.mark.both_lines
@pytest.mark.long
def test_the_built_graph_passes_the_checks_that_a_builder_could_fail(
    cli: Callable[..., int], graph: Graph, capsys: pytest.CaptureFixture[str]
) -> None:
    put("a.txt", TEXT)
    put("b.txt", OTHER)
    rules(cli, "a.txt", "b.txt")
    assert counts(graph)["__KgevalMerge__"] > 0
    capsys.readouterr()
    assert cli("audit", "--graph", "harbour", "-f", "json") == 0
    report = json.loads(capsys.readouterr().out)
    assert report["layout"]["name"] == "kgeval" and report["structure"]["entities"] == counts(graph)["__Entity__"]
    status = {finding["rule_id"]: (finding["status"], finding["count"]) for finding in report["findings"]}
    assert {rule: status[rule] for rule in SOUND} == dict.fromkeys(SOUND, ("passed", 0))
    untyped = graph.read("MATCH (e:__Entity__) WHERE e.type IS NULL RETURN count(e) AS n")[0]["n"]
    assert status["missing-type"][1] == untyped
    assert "MATCH" in report["findings"][0]["query"]


def test_standard_input_is_a_document_and_bad_ones_are_passed_over(
    cli: Callable[..., int], graph: Graph, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Stdin:
        buffer = io.BytesIO(TEXT.encode())

        @staticmethod
        def isatty() -> bool:
            return False

    monkeypatch.setattr(sys, "stdin", Stdin)
    put("empty.txt", "")
    assert rules(cli, "-", "empty.txt", "missing.txt") == 0
    out, err = capsys.readouterr()
    assert "documents passed over: 2" in out and "empty.txt" in err and "missing.txt" in err
    assert graph.read("MATCH (d:Document) RETURN d.id AS id") == [{"id": "stdin"}]
    assert rules(cli, "missing.txt") == 2


def test_remove_takes_a_document_out_and_names_unknown_ones(
    cli: Callable[..., int], graph: Graph, capsys: pytest.CaptureFixture[str]
) -> None:
    put("a.txt", TEXT)
    put("b.txt", OTHER)
    rules(cli, "a.txt", "b.txt")
    assert cli("build", "--graph", "harbour", "--remove", "b.txt") == 0
    assert graph.read("MATCH (d:Document) RETURN d.id AS id") == [{"id": "a.txt"}]
    assert graph.read("MATCH (e:__Entity__ {name: 'Ostrava'}) RETURN count(e) AS n") == [{"n": 0}]
    assert cli("build", "--graph", "harbour", "--remove", "b.txt") == 2
    assert "documents there: a.txt" in capsys.readouterr().err


@pytest.mark.parametrize(("words", "says"), [
    (["a.txt", "--triples", "t.csv"], "--triples is for --extractor triples-file"), ([], "nothing to update"),
    (["a.txt", "--gleanings", "2"], "--gleanings is for"), (["a.txt", "--extraction-prompt", "kasiak_compat"], "-prompt is for"),
    (["a.txt", "--chunk-overlap", "600"], "must be below"),
    (["a.txt", "--resolve", "exact,magic"], "magic is no level"), (["a.txt", "-o", "a.txt/index.json"], "a.txt is no folder"),
    (["a.txt", "-o", "."], "is a folder"),
])
def test_options_that_do_not_fit_are_refused(
    cli: Callable[..., int], graph: Graph, capsys: pytest.CaptureFixture[str], words: list[str], says: str
) -> None:
    put("a.txt", TEXT)
    assert rules(cli, *words) == 2
    assert says in capsys.readouterr().err
    assert counts(graph) == {}


def test_imports_and_builds_do_not_write_each_others_graphs(
    cli: Callable[..., int], graph: Graph, capsys: pytest.CaptureFixture[str]
) -> None:
    put("a.txt", TEXT)
    put("t.csv", "subject,predicate,object\na,b,c\n")
    assert cli("import", "t.csv", "--graph", "harbour", "--no-progress") == 0
    assert rules(cli, "a.txt") == 2
    assert "loaded by kgeval import (t.csv)" in capsys.readouterr().err
    assert rules(cli, "a.txt", "--replace") == 0
    assert graph.read("MATCH (e {name: 'a'}) RETURN count(e) AS n") == [{"n": 0}]
    for more in ((), ("--append",)):
        assert cli("import", "t.csv", "--graph", "harbour", "--no-progress", *more) == 2
        assert "built from documents" in capsys.readouterr().err
    assert cli("import", "t.csv", "--graph", "harbour", "--no-progress", "--replace") == 0
    assert {label: n for label, n in counts(graph).items() if label != "harbour"} == {"__Entity__": 2, "__KgevalGraph__": 1}
    mark = graph.read("MATCH (g:__KgevalGraph__) RETURN properties(g) AS g")[0]["g"]
    assert not mark.keys() & {"run", "chunk_size", "extractor", "resolve", "entities"}


def test_merges_are_listed_undone_and_redone(
    cli: Callable[..., int], graph: Graph, address: Address, capsys: pytest.CaptureFixture[str],
) -> None:
    put("a.txt", TEXT)
    rules(cli, "a.txt")
    capsys.readouterr()
    assert cli("build", "merges", "list", "--graph", "harbour", "-f", "json", "--name", "marsh") == 0
    (merge,) = json.loads(capsys.readouterr().out)
    assert {merge["kept"], merge["merged"]} == {"Elias Marsh", "Captain Elias Marsh"}
    before = counts(graph)["__Entity__"]
    assert cli("build", "merges", "undo", merge["id"], "--graph", "harbour") == 0
    assert rules(cli, "a.txt") == 0
    assert counts(graph)["__Entity__"] == before + 1
    capsys.readouterr()
    assert cli("build", "merges", "list", "--graph", "harbour", "--status", "undone") == 0
    assert f"{merge['id']}  alias" in capsys.readouterr().out
    assert cli("build", "merges", "redo", merge["id"], "--graph", "harbour") == 0
    assert counts(graph)["__Entity__"] == before
    with GraphDatabase.driver(address.uri, auth=(address.username, address.password)) as driver:
        session = Session("merges", driver, graph_name="harbour")
        assert decide(session, [merge["id"], merge["id"]], "undone").report.entities == before + 1
        assert [each.id for each in listed(session, MergesOptions(name="MARSH", status="undone"))] == [merge["id"]]
        assert listed(session, MergesOptions(level="embedding")) == []
        with pytest.raises(UsageError, match="m-0, m-1"):
            decide(session, ["m-0", "m-1"], "undone")
    assert cli("build", "merges", "undo", "m-0", "--graph", "harbour") == 2
    assert cli("build", "merges", "list", "--graph", "nobody") == 2


def reads(chat: Chat) -> Any:
    """A model that knows every "X knows Y" of the text."""
    text = json.loads(re.search(r'<data name="text">\n(.*)\n</data>', chat.text)[1])  # type: ignore[index]
    pairs = re.findall(r"(\w+) knows (\w+)", text)
    names = sorted({name for pair in pairs for name in pair})
    about = {"type": "Person", "description": "Somebody of the text.", "aliases": []}
    return {
        "entities": [{"number": at, "name": name, **about} for at, name in enumerate(names)],
        "relations": [{"source": names.index(a), "target": names.index(b), "predicate": "knows", "description": ""} for a, b in pairs],
    }


KNOWS = {"one.txt": "Ada knows Ole.", "two.txt": "Ole knows Una. Una knows Ada.", "three.txt": "Ada knows Vik."}


def model(cli: Callable[..., int], server: FakeServer, *more: str) -> int:
    at = ("--model", "m", "--base-url", server.base_url, "--journal", "j.db", "--no-progress")
    return cli("build", *KNOWS, "--graph", "people", *at, *more)


def test_a_model_builds_with_exact_dry_run_journal_and_recorded_cost(
    cli: Callable[..., int], graph: Graph, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, text in KNOWS.items():
        put(name, text)
    put("prices.toml", "")
    with FakeServer(reads) as server:
        assert model(cli, server, "--dry-run") == 0
        assert "would extract 3 chunks of 3 documents" in capsys.readouterr().out
        assert (server.stats().requests, counts(graph)) == (0, {})
        assert model(cli, server, "-f", "json") == 0
        record = IndexRecord.model_validate_json(capsys.readouterr().out)
        assert (record.calls, record.entities, record.relations, server.stats().requests) == (3, 4, 4, 3)
        assert record.input_tokens > 0 and record.output_tokens > 0 and record.run.models[0].name == "m"
        mark = graph.read("MATCH (g:__KgevalGraph__) RETURN properties(g) AS g")[0]["g"]
        assert (mark["input_tokens"], mark["model"], mark["calls"]) == (record.input_tokens, "m", 3)
        assert model(cli, server, "--replace") == 0
        assert server.stats().requests == 3
        assert model(cli, server, "--gleanings", "1") == 2
        assert "gleanings 0 there, 1 now" in capsys.readouterr().err


def test_kasiak_s_extraction_builds_a_graph_with_its_pronouns_and_is_another_setting(
    cli: Callable[..., int], graph: Graph, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, text in KNOWS.items():
        put(name, text)
    reply = {
        "entities": [{"id": "Ada", "type": "Person"}, {"id": "She", "type": "Person"}],
        "relationships": [{"source": "She", "target": "Ada", "label": "KNOWS"}],
    }
    with FakeServer(lambda _: Rule(reply=reply)) as server:
        assert model(cli, server, "--extraction-prompt", "kasiak_compat") == 0
        assert server.stats().requests == 3
        assert model(cli, server, "--extraction-prompt", "kasiak_compat", "--gleanings", "1") == 2
        assert "has no schema and one round" in capsys.readouterr().err
        assert model(cli, server) == 2
        assert "prompts en/extract-kasiak@" in capsys.readouterr().err
    names = graph.read("MATCH (e:__Entity__) RETURN e.name AS name ORDER BY name")
    assert [row["name"] for row in names] == ["Ada", "She"], "kgeval's own prompt would leave the pronoun out"


def test_a_budget_that_ends_a_build_saves_what_was_done_and_the_next_run_goes_on(
    cli: Callable[..., int], graph: Graph, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, text in KNOWS.items():
        put(name, text)
    with FakeServer(reads) as server:
        assert model(cli, server, "--max-calls", "0") == 3
        assert "nothing was written" in capsys.readouterr().err and counts(graph) == {}
        assert model(cli, server, "--max-calls", "2", "-j", "1") == 3
        assert re.search(r"budget +1", capsys.readouterr().out)
        assert (counts(graph)["Document"], server.stats().requests) == (3, 2)
        assert model(cli, server) == 0
        assert (counts(graph)["__Entity__"], server.stats().requests) == (4, 3)


@pytest.mark.long
def test_a_build_that_is_killed_while_it_writes_ends_in_the_same_graph(
    cli: Callable[..., int], graph: Graph, address: Address, capsys: pytest.CaptureFixture[str]
) -> None:
    people = [f"Person{chr(97 + n % 26)}{chr(97 + n // 26)}" for n in range(300)]
    put("long.txt", " ".join(f"{a} Ash visited {b} Oak in Velmouth." for a, b in pairwise(people)))
    words = ["build", "long.txt", "--graph", "harbour", "--extractor", "rules", "--transaction-rows", "50"]
    command = [sys.executable, "-m", "kgeval", *words]

    def fingerprint() -> Any:
        return graph.read("""
            MATCH (n:harbour) OPTIONAL MATCH (n)-[r]->(m) WITH n, r, m ORDER BY n.id, type(r), m.id
            RETURN count(DISTINCT n) AS nodes, count(r) AS relations, collect([n.id, n.name, type(r), r.weight, m.id]) AS all""")

    assert rules(cli, "long.txt") == 0
    whole, killed = fingerprint(), 0
    for written in (1, 300):
        graph.write("MATCH (n) DETACH DELETE n")
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_until(lambda: graph.read("RETURN COUNT { (n) } >= $written AS so", {"written": written})[0]["so"])  # noqa: B023
        process.send_signal(signal.SIGKILL)
        process.wait()
        killed += graph.read("MATCH (g:__KgevalGraph__) RETURN g.status AS s") == [{"s": "loading"}]
        assert rules(cli, "long.txt", "--transaction-rows", "50") == 0
        assert fingerprint() == whole
    assert killed > 0


def test_your_own_triples_become_a_graph_with_the_documents_as_sources(cli: Callable[..., int], graph: Graph) -> None:
    put("a.txt", TEXT)
    put("t.csv", "subject,subject_type,predicate,object\nElias Marsh,Person,commands,Northern Light\n")
    assert cli("build", "a.txt", "--graph", "own", "--extractor", "triples-file", "--triples", "t.csv") == 0
    put("t.csv", "subject,subject_type,predicate,object\nElias Marsh,Person,commands,Northern Light\nElias Marsh,Person,born in,Velmouth\n")
    assert cli("build", "a.txt", "--graph", "own", "--extractor", "triples-file", "--triples", "t.csv") == 0
    rows = graph.read("MATCH (a:own:Person)-[r]->(b:own) WHERE r.chunk_ids IS NOT NULL RETURN type(r) AS t, b.name AS b ORDER BY t")
    assert rows == [{"t": "BORN_IN", "b": "Velmouth"}, {"t": "COMMANDS", "b": "Northern Light"}]


