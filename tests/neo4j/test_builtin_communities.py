"""The built-in system `communities`: summaries made once, map and reduce, what it costs, and what it refuses."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import networkx as nx
import pytest
from builtin_world import ask, tools

from kgeval.cli.main import run
from kgeval.errors import IncompleteError, LayoutError, UsageError
from kgeval.graph.connect import Address, Graph
from kgeval.llm.asker import Dry
from kgeval.llm.calls import Endpoint, Limits
from kgeval.llm.fake import Chat, FakeServer
from kgeval.llm.session import Models, open_models
from kgeval.systems.builtin import BuiltinTools, open_builtin
from kgeval.systems.builtin.communities import packed, read_communities
from kgeval.systems.builtin.readers import NOT_FOUND
from kgeval.systems.builtin.settings import defaults

Draw = Callable[[str], None]
# three cliques in a row, each joined to the next by one relation; and one that knows nobody
CLIQUES = {"harbour": ["Ada", "Bob", "Cy", "Dot"], "mill": ["Eve", "Fay", "Gus"], "school": ["Hal", "Ivy"]}
PAIRS = [pair for names in CLIQUES.values() for pair in combinations(names, 2)] + [("Dot", "Eve"), ("Gus", "Hal")]
NAMES = [name for names in CLIQUES.values() for name in names]
TOWN = "CREATE " + ", ".join(
    [f"({name}:__Entity__ {{id: '{name}', name: '{name}', type: 'Person'}})" for name in [*NAMES, "Zoe"]]
    + [f"({one})-[:KNOWS {{predicate: 'knows'}}]->({other})" for one, other in PAIRS]
)


def model(chat: Chat) -> Any:
    """Sums up by saying who knows whom; finds a point in each summary that has a name of the question; answers with all it is shown."""
    shown = dict(re.findall(r'<data name="(\w+)">\n(.*?)\n</data>', chat.subject, re.DOTALL))
    fields = set((chat.schema or {}).get("properties", {}))
    if "summary" in fields:
        return {"summary": f"People: {json.loads(shown['facts'])}"}
    if "points" in fields:
        asked = re.findall(r"[A-Z]\w+", json.loads(shown["question"]))
        summaries = [json.loads(line) for line in shown["summaries"].splitlines()]
        summaries = summaries[0] if isinstance(summaries[0], list) else summaries
        hits = [(text, sum(name in text for name in asked)) for text in summaries]
        return {"points": [{"text": text, "score": 40 * n} for text, n in hits]}
    return {"answer": " / ".join(map(str, json.loads(shown["contexts"]))) if shown["contexts"].startswith("[") else shown["contexts"]}


@contextmanager
def opened(graph: Graph, folder: Path, server: FakeServer, *, dry: bool = False, **limits: Any) -> Iterator[tuple[BuiltinTools, Models]]:
    endpoint = Endpoint(model="m", base_url=server.base_url)
    with open_models(endpoint, Limits(**limits), role="reader", journal=folder / "j.sqlite") as models:
        asker = Dry(models) if dry else None
        with tools(graph, folder, models=models, asker=asker) as made:
            yield made, models


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")


def test_communities_are_those_that_networkx_finds_and_have_their_own_facts(graph: Graph, draw: Draw, tmp_path: Path) -> None:
    draw(TOWN)
    from kgeval.graph.entry import EntryReader

    with tools(graph, tmp_path) as made:
        assert made.graph is not None and made.layout is not None
        found = list(read_communities(EntryReader(made.graph, made.layout), defaults("communities")))
    theirs = [group for group in nx.community.louvain_communities(nx.Graph(PAIRS), seed=1) if len(group) > 1]
    assert sorted(one.size for one in found) == sorted(map(len, theirs))
    assert [one.size for one in found] == sorted((one.size for one in found), reverse=True), "the largest first"
    for one in found:
        said = set(re.findall(r"(\w+) knows (\w+)\.", one.facts))
        people = {name for pair in said for name in pair}
        assert people in [set(group) for group in theirs]
        assert {tuple(sorted(pair)) for pair in said} == {tuple(sorted(pair)) for pair in PAIRS if set(pair) <= people}


def test_summaries_are_made_once_and_every_question_is_put_to_all_of_them(graph: Graph, draw: Draw, tmp_path: Path) -> None:
    draw(TOWN)
    with FakeServer(model) as server:
        with opened(graph, tmp_path, server) as (made, models):
            system = open_builtin("communities", {}, made)
            summed = server.stats().requests
            assert summed == 3
            one = ask("What do Ada and Bob and Eve do?")
            answer = system.answer(one)
            assert server.stats().requests == summed + 2, "one call looks through all summaries, one answers"
            scores = [one.score for one in answer.contexts or []]
            assert scores == sorted(scores, reverse=True) and scores[0] == 80.0
            assert "Ada knows Bob." in (answer.contexts or [])[0].text and "knows" in answer.answer
            assert (answer.calls, answer.input_tokens, answer.output_tokens) == (2, *spent(models, answer_calls(server, 2)))
            assert answer.latency_s is not None and answer.stages is not None and answer.stages.generate is not None
            assert answer.latency_s == pytest.approx((answer.stages.retrieval or 0) + answer.stages.generate)
            for again, asked in ((replace(one, trial=2), 2), (replace(one, trial=3, sampled=True), 1)):
                before = server.stats().requests
                assert system.answer(again).contexts == answer.contexts
                assert server.stats().requests == before + asked, "under load all is asked anew; in trials the reader alone"
            nobody = system.answer(ask("What of it?"))
            assert (nobody.answer, nobody.contexts, nobody.calls) == (NOT_FOUND, [], 1)
        before = server.stats().requests
        with opened(graph, tmp_path, server) as (made, _):
            again = open_builtin("communities", {}, made)
            assert again.signature == system.signature and "communities=3@" in again.signature
            assert again.answer(ask("What do Ada and Bob and Eve do?")).answer == answer.answer
        assert server.stats().requests == before, "all of it was in the journal"


def answer_calls(server: FakeServer, last: int) -> list[Any]:
    return list(server.requests)[-last:]


def spent(models: Models, requests: list[Any]) -> tuple[int, int]:
    use = [one for one in models.asked().use if one.stage in ("points-of-communities", "answer-from-contexts")]
    assert sum(one.calls for one in use) == len(requests)
    return sum(one.input_tokens for one in use), sum(one.output_tokens for one in use)


def test_small_parts_are_asked_one_by_one_and_a_small_budget_keeps_the_best(graph: Graph, draw: Draw, tmp_path: Path) -> None:
    draw(TOWN)
    assert list(packed(["a b", "c d", "e f"], 4)) == [("a b", "c d"), ("e f",)]
    assert list(packed(["a b c d e f", "g"], 2)) == [("a b c d e f",), ("g",)]
    with FakeServer(model) as server, opened(graph, tmp_path, server) as (made, _):
        system = open_builtin("communities", {"communities": 2, "l_max": 40}, made)
        assert server.stats().requests == 2
        answer = system.answer(ask("What do Ada, Bob and Eve do?"))
        assert answer.system == "communities@l_max=40,communities=2"
        assert answer.extra["context_tokens"] <= 40


def test_a_summary_or_a_map_that_fails_is_no_answer_from_the_others(graph: Graph, draw: Draw, tmp_path: Path) -> None:
    draw(TOWN)
    bad = {"summary": True}

    def failing(chat: Chat) -> Any:
        fields = set((chat.schema or {}).get("properties", {}))
        if "summary" in fields and bad["summary"] and "Eve" in chat.subject:
            return "no JSON"
        return "no JSON" if "points" in fields else model(chat)

    with FakeServer(failing) as server, opened(graph, tmp_path, server, max_reasks=0, max_retries=0) as (made, _):
        with pytest.raises(IncompleteError, match="1 of 3 summaries could not be made"):
            open_builtin("communities", {}, made)
        before, bad["summary"] = server.stats().requests, False
        system = open_builtin("communities", {}, made)
        assert server.stats().requests == before + 1, "those that were made are in the journal"
        answer = system.answer(ask("What do Ada and Bob do?"))
        assert (answer.answer, bool(answer.error), answer.contexts) == ("", True, None)


@pytest.mark.parametrize("more", [{"communities": 5}, {"communities": 3, "map_tokens": 900}])
def test_a_dry_run_asks_nothing_and_its_bounds_hold(graph: Graph, draw: Draw, tmp_path: Path, more: dict[str, int]) -> None:
    draw(TOWN)

    def wordy(chat: Chat) -> Any:
        reply = model(chat)
        return {"summary": reply["summary"] + " x" * 440} if "summary" in reply else reply  # two of them are above 900 tokens

    with FakeServer(wordy) as server:
        with opened(graph, tmp_path, server, dry=True) as (made, _):
            system = open_builtin("communities", more, made)
            system.answer(ask("What do Ada and Bob do?"))
            assert isinstance(made.asker, Dry)
            stages = {stage.stage: stage for stage in made.asker.stages()}
            assert server.stats().requests == 0
        with opened(graph, tmp_path, server) as (made, _):
            open_builtin("communities", more, made).answer(ask("What do Ada and Bob do?"))
        asked = server.stats().requests
    low, high = sum(stage.calls_low for stage in stages.values()), sum(stage.calls_high for stage in stages.values())
    assert low <= asked <= high and {"sum-up-community", "points-of-communities", "answer-from-contexts"} == set(stages)


def test_what_it_needs_is_said(graph: Graph, draw: Draw, tmp_path: Path) -> None:
    draw("CREATE (:__Entity__ {id: 'a', name: 'Ada', type: 'Person'}), (:__Entity__ {id: 'b', name: 'Bob', type: 'Person'})")
    with tools(graph, tmp_path) as made, pytest.raises(UsageError, match="communities needs a model"):
        open_builtin("communities", {}, made)
    with FakeServer(model) as server, opened(graph, tmp_path, server) as (made, _), pytest.raises(LayoutError, match="no two entities"):
        open_builtin("communities", {}, made)
    draw("MATCH (n) SET n.name = reduce(s = n.name, i IN range(1, 99) | s + ' word' + i) WITH collect(n) AS n "
         "UNWIND [0] AS i WITH n[0] AS a, n[1] AS b CREATE (a)-[:KNOWS]->(b)")
    with FakeServer(model) as server, opened(graph, tmp_path, server) as (made, _), pytest.raises(UsageError, match="within facts=100"):
        open_builtin("communities", {"facts": 100}, made)


@pytest.mark.both_lines
@pytest.mark.long
def test_at_the_command_line_it_is_planned_then_answers_and_costs_nothing_again(
    graph: Graph, draw: Draw, address: Address, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:
    draw(TOWN)
    monkeypatch.chdir(tmp_path)
    for name, value in {"URI": address.uri, "USERNAME": address.username, "PASSWORD": address.password}.items():
        monkeypatch.setenv(f"NEO4J_{name}", value)
    (tmp_path / "q.jsonl").write_text(json.dumps({"id": "q1", "question": "What do Ada and Bob do?"}) + "\n")
    with FakeServer(model) as server:
        words = ["answer", "q.jsonl", "--layout", "kgeval", "--system", "communities", "--model", "m", "--base-url", server.base_url]
        words += ["--journal", "j.sqlite", "--no-progress", "-o", "a.jsonl"]
        assert run([*words, "--dry-run"]) == 0
        assert "sum-up-community" in capsys.readouterr().out and server.stats().requests == 0
        assert run(words) == 0
        row = json.loads((tmp_path / "a.jsonl").read_text())
        assert row["system"] == "communities" and row["calls"] == 2 and "Ada knows Bob." in row["contexts"][0]["text"]
        before = server.stats().requests
        assert run([*words[:-1], "b.jsonl"]) == 0 and server.stats().requests == before
        assert run([*words[:-2], "--load", "1", "--max-calls", "1"]) == 3 and server.stats().requests == before + 1
        assert "under load nothing is kept" in capsys.readouterr().err
        assert run([*words, "--index-record", "i.json"]) == 2
        assert "communities builds no index" in capsys.readouterr().err
