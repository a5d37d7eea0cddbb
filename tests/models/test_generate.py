"""The run that makes questions, against a real server: what is asked, kept, counted, and what a dry run says of it beforehand."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from question_world import Deck, Library, blocks, counted, letter, made, session

from kgeval.llm.fake import Chat, FakeServer, Rule
from kgeval.llm.prompts import load_prompt
from kgeval.questions.duplicates import Twins, text_fingerprint
from kgeval.questions.making import graph_text

LEVELS = ("node", "edge", "subgraph")


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with FakeServer(letter) as running:
        yield running


def test_each_question_comes_from_one_structure_and_says_how_it_was_made(server: FakeServer, tmp_path: Path) -> None:
    with session(server, tmp_path) as models:
        result = made(models, LEVELS, 3)
    node, edge, subgraph = (result.questions[at] for at in (1, 4, 7))
    assert [q.level for q in result.questions] == [level for level in LEVELS for _ in range(3)]
    assert (node.question, node.reference, node.dataset, node.kind) == ("How many masts has Ship 1?", "So many.", "ships", "node")
    assert [ref.key for ref in node.structure] == ["ship-1"] and [p.chunk_id for p in node.evidence] == ["c1"] and node.document == "d0"
    assert (node.hops, edge.hops, edge.triples_needed, subgraph.hops, subgraph.triples_needed) == (None, 1, 1, 3, 2)
    assert [p.chunk_id for p in subgraph.evidence] == ["c1", "c3"] and len(subgraph.structure) == 12 + 11
    assert subgraph.points == ["Ship 1: tows: Ship 2", "Ship 3: tows: Ship 4"]
    by = subgraph.made_by
    assert by is not None and (by.seed, by.kind, by.structure, by.number, by.model) == (7, "subgraph", "subgraph", 1, "m")
    assert by.prompt == ", ".join(f"{name}@{load_prompt(name).hash}" for name in ("sum-up-passages", "ask-subgraph"))
    assert len({q.id for q in result.questions}) == 9 and all(q.id.startswith(f"{q.level}-") for q in result.questions)


def test_the_same_run_again_costs_nothing_and_gives_the_same_whatever_is_in_flight(server: FakeServer, tmp_path: Path) -> None:
    with session(server, tmp_path / "a", concurrency=8) as models:
        first = made(models, LEVELS, 20).lines()
        asked = server.stats().requests
        assert made(models, LEVELS, 20).lines() == first and server.stats().requests == asked
    with session(server, tmp_path / "b", concurrency=1) as models:
        assert made(models, LEVELS, 20).lines() == first
    assert server.stats().requests == 2 * asked == 2 * (20 + 20 + 40)


@pytest.mark.long
@pytest.mark.parametrize("n", [1, 5, 20])
def test_a_dry_run_counts_what_is_asked_where_every_structure_gives_a_question(server: FakeServer, tmp_path: Path, n: int) -> None:
    kinds = (*LEVELS, "summary")
    with session(server, tmp_path) as models:
        low, high = counted(models, kinds, n, graph=Library())
        assert server.stats().requests == 0
        result = made(models, kinds, n, graph=Library())
        assert [tally.made for tally in result.run.tallies] == [n] * 4
        pairs = -(-n // 5)
        assert server.stats().requests == low == n + n + 2 * n + (7 + 1 + 1 + pairs)
        assert high == 3 * 4 * n + (7 + 1 + 1 + min(25, -(-3 * n // 5)))
        assert counted(models, kinds, n, graph=Library()) == (0, 0)


@pytest.mark.long
def test_a_dry_run_counts_kinds_that_ask_several_times_in_a_row(tmp_path: Path) -> None:
    kinds = ("fact_retrieval", "complex_reasoning", "contextual_summarize")
    relations = {"bench-fact": 3, "bench-reasoning": 5, "bench-summary": 8}

    def bench(chat: Chat) -> Any:
        shown, fields = blocks(chat), set((chat.schema or {}).get("properties", {}))
        if "triples" in shown:
            most = next(last for name, last in relations.items() if load_prompt(name).system in chat.text)
            return {"question": f"What is {chat.hash}?", "answer": "By the sea", "triples": list(range(1, most))}
        if chat.items:
            return {"items": [{"tag": n, "reason": "r", "follows": True, "passages": list(chat.sources)[:1]} for n in chat.items]}
        return {"question": shown["question"]} if "segment" in shown else dict.fromkeys(fields, "") | {"follows": True}

    with FakeServer(bench) as server, session(server, tmp_path) as models:
        for n in (2, 18):
            low, high = counted(models, kinds, n)
            before = server.stats().requests
            result = made(models, kinds, n)
            assert [tally.made for tally in result.run.tallies] == [n] * 3, [tally.count() for tally in result.run.tallies]
            assert server.stats().requests - before == low <= high
            assert counted(models, kinds, n) == (0, 0)


def test_passages_that_are_too_long_for_a_prompt_are_summed_up_in_parts(server: FakeServer, tmp_path: Path) -> None:
    deck = Deck(words=150, size=60)  # 60 passages of about 460 tokens: 17 fit into a call of 8,000
    with session(server, tmp_path) as models:
        low, _ = counted(models, ["subgraph"], 2, deck=deck)
        result = made(models, ["subgraph"], 2, deck=deck)
    shown = [blocks(chat_of(entry)) for entry in server.requests]
    sizes = [len(block["passages"]) for block in shown if "passages" in block]
    assert low == server.stats().requests == 2 * (len(sizes) // 2 + 1) and sum(sizes) == 120 and len(sizes) == 8
    assert all(len(block["summary"]) == 4 for block in shown if "summary" in block) and len(result.questions) == 2


@pytest.mark.long
@pytest.mark.parametrize(("size", "rounds"), [(6, 1), (7, 2), (60, 2), (250, 3)])
def test_of_a_subgraph_with_many_texts_none_is_left_out_and_every_call_is_foretold(
    size: int, rounds: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(graph_text, "GROUP_TOKENS", 20)  # a passage a group
    marks, asked = re.compile(r"Ship (\d+) has"), list[dict[str, Any]]()

    def marking(chat: Chat) -> Any:
        shown = blocks(chat)
        asked.append(shown)
        if "summaries" in shown or "passages" in shown:
            return {"summary": " ".join(shown.get("summaries") or [" ".join(marks.findall(p["text"])) for p in shown["passages"]])}
        return letter(chat)

    with FakeServer(marking) as server, session(server, tmp_path) as models:
        deck = Deck(size=size)
        low, high = counted(models, ["subgraph"], 1, deck=deck, tries=1)
        result = made(models, ["subgraph"], 1, deck=deck, tries=1)
        assert low == high == server.stats().requests == len(asked)
        assert result.questions[0].extra["summed_up"] == {"passages": size, "left_out": 0, "rounds": rounds}
        shown = next(block["summary"] for block in asked if "summary" in block)
        assert len(shown) <= 6 and sorted(map(int, " ".join(shown).split())) == list(range(size)), "each text is in a summary"
        assert all(len(block["summaries"]) <= graph_text.SUMMARIES_A_CALL for block in asked if "summaries" in block)
        assert counted(models, ["subgraph"], 1, deck=deck, tries=1) == (0, 0)
        cut = made(models, ["subgraph"], 1, deck=deck, tries=1, max_passages=5)
        assert cut.questions[0].extra["summed_up"] == {"passages": 5, "left_out": size - 5, "rounds": 1}
        assert (cut.run.tallies[0].cut, cut.run.tallies[0].passages_left_out) == (1, size - 5)
        assert server.stats().requests == low + 1, "what was summed up is in the journal"


def chat_of(entry: Any) -> Chat:
    return Chat(entry.body)


def test_no_more_is_asked_than_the_dry_run_allows_however_many_are_turned_down(tmp_path: Path) -> None:
    draws = random.Random(3)

    def moody(chat: Chat) -> Any:
        reply = letter(chat)
        if "question" in reply and draws.random() < 0.6:
            return {**reply, **draws.choice(({"question": ""}, {"question": "What does passage 3 say?"}, {"answer": " "},
                                             {"passages": [99], "triples": [99]}, {"passages": [], "triples": [1]}))}
        return reply

    with FakeServer(moody) as server, session(server, tmp_path) as models:
        low, high = counted(models, LEVELS, 10)
        result = made(models, LEVELS, 10)
        asked = server.stats().requests
        assert low < asked <= high
        for tally in result.run.tallies:
            assert tally.made + tally.rejected.total() == tally.structures <= 30
            assert set(tally.rejected) <= {"empty", "declined", "material", "wrong_number", "no_evidence", "too_few_relations"}
        assert counted(models, LEVELS, 10) == (0, 0), "what was turned down is known, and so is what came after it"
        assert made(models, LEVELS, 10).lines() == result.lines() and server.stats().requests == asked


def test_a_run_that_a_budget_ended_keeps_what_it_has_and_the_next_one_pays_the_rest(server: FakeServer, tmp_path: Path) -> None:
    with session(server, tmp_path, max_calls=50) as models:
        result = made(models, LEVELS, 30)
        assert models.stopped is not None and models.exit_code == 3
    first, second, third = result.run.tallies
    assert (first.made, third.made, third.structures) == (30, 0, 0) and 0 < second.made < 30
    assert set(second.failed) == {"budget"} and first.count().why is None and second.count().why == "nothing more was asked"
    with session(server, tmp_path) as models:
        low, _ = counted(models, LEVELS, 30)
        whole = made(models, LEVELS, 30)
    assert low == 120 - 50 and server.stats().requests == 120
    assert whole.lines().startswith(result.lines()[:10_000]) and len(whole.questions) == 90


def test_the_questions_of_former_waves_are_shown_to_the_next_the_newest_last(server: FakeServer, tmp_path: Path) -> None:
    with session(server, tmp_path) as models:
        made(models, ["node"], 60, earlier=("Old?",))
    shown: dict[str, list[str]] = {}
    for entry in server.requests:
        block = blocks(chat_of(entry))
        shown[block["entity"]["name"]] = block["earlier"]
    ask = "How many masts has Ship {}?".format
    assert all(shown[f"Ship {n}"] == ["Old?"] for n in range(16))
    assert all(shown[f"Ship {n}"] == ["Old?", *map(ask, range(16))] for n in range(16, 32))
    assert shown["Ship 48"] == [ask(n) for n in range(18, 48)]


def test_repeats_are_dropped_counted_and_made_up_for_by_other_structures(tmp_path: Path) -> None:
    def often(chat: Chat) -> Any:
        reply = letter(chat)
        number = int(blocks(chat)["entity"]["name"].split()[1])
        texts = {1: "Old one?", 2: "How many masts has Ship 0?", 3: "how many masts has ship 0"}
        return {**reply, "question": texts.get(number, reply["question"])}

    with FakeServer(often) as server, session(server, tmp_path) as models:
        result = made(models, ["node"], 6, twins=Twins(earlier=[text_fingerprint("Old one?")]))
    tally = result.run.tallies[0]
    assert [q.question[-2] for q in result.questions] == ["0", "4", "5", "6", "7", "8"]
    assert dict(tally.duplicates) == {"exact": 2, "normalised": 1} and tally.structures == 9


def test_a_graph_that_has_no_more_says_what_it_has(server: FakeServer, tmp_path: Path) -> None:
    with session(server, tmp_path) as models:
        assert counted(models, ["edge"], 20, deck=Deck(5)) == (5, 5)
        result = made(models, ["edge"], 20, deck=Deck(5))
    count = result.run.tallies[0].count()
    assert (count.asked, count.made, count.why) == (20, 5, "there are 5 edges")


def test_what_the_graph_can_give_is_said_before_anything_is_made() -> None:
    """A wish for more than there is ran for minutes, and the reason came at the end."""
    from kgeval.questions.generate import Generation, GenerationSettings, GenerationTools
    from kgeval.questions.kinds import MakingOptions, orders_of

    said: list[str] = []

    class Timed(Deck):
        def structures(self, wanted: Any) -> Iterator[Any]:
            said.append("drawn")
            return iter(())

    def run(n: int) -> list[str]:
        said.clear()
        settings = GenerationSettings(MakingOptions(seed=7, template=True))
        Generation(orders_of(["hops"], n), settings, GenerationTools(Timed(12), Twins(), say=said.append), lambda _: None).run()
        return said

    words = [f"hop_{hops}: 3,000 are asked for, and the graph can give 12 at most: there are 12 paths" for hops in (1, 2, 3)]
    assert run(3000) == [*words, *["drawn"] * 3]
    assert run(12) == ["drawn"] * 3


def test_tries_are_the_structures_of_a_question_that_cost_a_call(tmp_path: Path) -> None:
    rules = [Rule(prompt="ask-node", reply={"question": "?", "answer": "x", "passages": [1]})]
    with FakeServer(rules) as server, session(server, tmp_path) as models:
        result = made(models, ["node"], 4, tries=2)
    tally = result.run.tallies[0]
    assert tally.structures == server.stats().requests == 8 and tally.count().why == "8 structures were tried, --tries 2 allows no more"
    assert tally.count().examples == {"empty": "the reply has no question"}


def test_calls_that_fail_are_counted_by_cause_and_other_structures_take_their_place(tmp_path: Path) -> None:
    rules = {"Ship 2": Rule(fault="refusal"), "Ship 3": Rule(status=400)}

    def failing(chat: Chat) -> Any:
        return rules.get(blocks(chat)["entity"]["name"]) or letter(chat)

    with FakeServer(failing) as server, session(server, tmp_path) as models:
        result = made(models, ["node"], 6)
    tally = result.run.tallies[0]
    assert tally.made == 6 and tally.structures == 8 and tally.failed.total() == 2 and tally.failed["refused"] == 1


def test_an_interruption_keeps_what_is_done_in_its_wave(server: FakeServer, tmp_path: Path) -> None:
    class Stopping(Deck):
        def structures(self, wanted: Any) -> Iterator[Any]:
            for structure in super().structures(wanted):
                if structure.number == 20:
                    raise KeyboardInterrupt
                yield structure

    with session(server, tmp_path) as models:
        out: list[Any] = []
        with pytest.raises(KeyboardInterrupt):
            _ = made_into(models, out, Stopping())
    assert len(out) == 16


def made_into(models: Any, out: list[Any], deck: Deck) -> None:
    from kgeval.llm.asker import Live
    from kgeval.questions.generate import Generation, GenerationSettings, GenerationTools
    from kgeval.questions.kinds import MakingOptions, orders_of

    bench = GenerationTools(deck, Twins(), Live(models), models.map, model="m")
    Generation(orders_of(["node"], 40), GenerationSettings(MakingOptions(seed=7)), bench, out.append).run()


def test_without_answers_none_is_kept_and_without_texts_the_description_is_enough(server: FakeServer, tmp_path: Path) -> None:
    class Bare(Deck):
        def structures(self, wanted: Any) -> Iterator[Any]:
            for structure in super().structures(wanted):
                nodes = [structure.nodes[0].model_copy(update={"description": None})] if structure.number == 1 else structure.nodes
                yield structure.model_copy(update={"passages": [], "nodes": nodes})

    with session(server, tmp_path) as models:
        result = made(models, ["node"], 3, deck=Bare(), answers=False)
    tally = result.run.tallies[0]
    assert [(q.reference, q.evidence, q.checks) for q in result.questions] == [(None, [], [])] * 3
    assert dict(tally.rejected) == {"no_content": 1} and tally.asked == 3, "nothing is asked where there is nothing to ask about"


def test_a_question_that_says_its_answer_is_turned_down(tmp_path: Path) -> None:
    reply = {"question": "Has Ship 1 three masts?", "answer": "three masts", "passages": [1]}
    with FakeServer(lambda _: reply) as server, session(server, tmp_path) as models:
        assert dict(made(models, ["node"], 1).run.tallies[0].rejected) == {"leak": 3}


def test_the_baseline_asks_users_in_turn_and_has_no_evidence(server: FakeServer, tmp_path: Path) -> None:
    with session(server, tmp_path) as models:
        result = made(models, ["summary"], 130, graph=Library(3), tries=1)
    tally = result.run.tallies[0]
    assert len(result.questions) == 125 and tally.count().why == "this kind gives 125 questions at most"
    first = result.questions[0]
    assert first.question == "What does user 0 want with task 00, part a?"
    assert (first.reference, first.evidence, first.structure) == (None, [], [])
    assert result.questions[5].extra == {"user": "user 1", "task": "task 10"} and first.made_by is not None
    assert first.made_by.structure is None and first.made_by.prompt is not None and first.made_by.prompt.startswith("sum-up-document@")


@pytest.mark.parametrize(("prompt", "reply", "cause"), [
    ("describe-dataset", {"description": " "}, "empty"), ("name-users", {"users": []}, "empty"),
    ("name-users", {"users": [{"user": " ", "tasks": ["x"]}, {"user": "u", "tasks": []}]}, "empty"),
    ("sum-up-document", {"summary": ""}, "empty"),
])
def test_a_baseline_that_cannot_be_prepared_says_why_once(tmp_path: Path, prompt: str, reply: Any, cause: str) -> None:
    begins = load_prompt(prompt).system[:60]
    with FakeServer(lambda chat: reply if begins in chat.text else letter(chat)) as server, session(server, tmp_path) as models:
        result = made(models, ["summary"], 10, graph=Library(2))
    tally = result.run.tallies[0]
    assert not result.questions and dict(tally.rejected) == {cause: 1} and tally.why


def test_a_graph_without_documents_has_no_baseline(server: FakeServer, tmp_path: Path) -> None:
    with session(server, tmp_path) as models:
        assert counted(models, ["summary"], 5, graph=Library(0)) == (0, 0)
        assert dict(made(models, ["summary"], 5, graph=Library(0)).run.tallies[0].rejected) == {"no_documents": 1}
