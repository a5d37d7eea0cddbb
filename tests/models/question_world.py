"""A world of ships for tests of making questions: structures by hand, a sampler that deals them, and a model that goes by the letter."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kgeval.llm.asker import Dry, Live
from kgeval.llm.calls import Endpoint, Limits
from kgeval.llm.fake import Chat, FakeServer
from kgeval.llm.session import Models, open_models
from kgeval.questions.draw_spec import Capacity, DrawSpec
from kgeval.questions.duplicates import Twins
from kgeval.questions.generate import Generation, GenerationSettings, GenerationTools
from kgeval.questions.kinds import MakingOptions, orders_of
from kgeval.records import Passage, Question, Structure, StructureNode, StructureRelation

_DATA = re.compile(r'<data name="(\w+)">\n(.*?)\n</data>', re.DOTALL)


def ship(n: int) -> StructureNode:
    return StructureNode(
        element_id=f"e{n}", key=f"ship-{n}", name=f"Ship {n}", type="Ship", description=f"A ship with {n} masts.", chunk_ids=[f"c{n}"],
    )


def passage(n: int, words: int = 0) -> Passage:
    return Passage(text=f"Ship {n} has {n} masts and tows the next." + " and so on" * words, chunk_id=f"c{n}", document=f"d{n // 10}")


def tow(n: int) -> StructureRelation:
    return StructureRelation(element_id=f"r{n}", source=f"e{n}", target=f"e{n + 1}", predicate="tows", chunk_ids=[f"c{n}"])


def fleet(kind: str, number: int, size: int, *, words: int = 0) -> Structure:
    """`size` ships in a row from ship `number` on, each towing the next."""
    return Structure(
        kind=kind, number=number, seed=7, nodes=[ship(number + at) for at in range(size)],
        relations=[tow(number + at) for at in range(size - 1)], passages=[passage(number + at, words) for at in range(size)],
    )


class Deck:
    """A sampler: structures by number, `most` of each kind."""

    def __init__(self, most: int = 1_000, *, words: int = 0, size: int = 12) -> None:
        self.most, self.words, self.size = most, words, size

    def capacity(self, wanted: DrawSpec) -> Capacity:
        return Capacity(self.most, True, f"there are {self.most} {wanted.kind}s")

    def structures(self, wanted: DrawSpec) -> Iterator[Structure]:
        for number in range(self.most):
            yield fleet(wanted.kind, number, {"node": 1, "edge": 2}.get(wanted.kind, self.size), words=self.words)


def blocks(chat: Chat) -> dict[str, Any]:
    """What a request shows between its <data> lines."""
    return {name: json.loads(body) for name, body in _DATA.findall(chat.subject) if name != "items"}


def letter(chat: Chat) -> Any:
    """Replies by the letter to all prompts of the levels and of the baseline."""
    shown, fields = blocks(chat), set((chat.schema or {}).get("properties", {}))
    if "entity" in shown:
        return {"question": f"How many masts has {shown['entity']['name']}?", "answer": "So many.", "passages": [1]}
    if "relation" in shown:
        return {"question": f"Why does {shown['relation']['subject']} tow?", "answer": "It has to.", "passages": [1, 2]}
    if "triples" in shown:
        return {"question": f"What does the fleet of {shown['triples'][0]['subject']} do?", "answer": "It tows.", "triples": [1, 3]}
    if fields == {"summary"}:
        return {"summary": "Ships tow ships."}
    if fields == {"description"}:
        return {"description": "All about ships."}
    if fields == {"users"}:
        return {"users": [{"user": f"user {u}", "tasks": [f"task {u}{t}" for t in range(5)]} for u in range(5)]}
    if fields == {"questions"}:
        return {"questions": [f"What does {shown['user']} want with {shown['task']}, part {'abcde'[n]}?" for n in range(5)]}
    return None


@dataclass
class Made:
    """What a run gave."""

    questions: list[Question]
    run: Generation

    def lines(self) -> str:
        return "\n".join(question.model_dump_json() for question in self.questions)


@contextmanager
def session(server: FakeServer, folder: Path, **limits: Any) -> Iterator[Models]:
    shared = {"max_retries": 1, "max_reasks": 0, "concurrency": 8, "max_error_rate": 1.0, **limits}
    with open_models(Endpoint("m", server.base_url), Limits(**shared), role="generator", journal=folder / "journal.db") as models:
        yield models


def made(
    models: Models, kinds: Sequence[str], n: int = 4, *, deck: Any = None, twins: Twins | None = None, tries: int = 3, graph: Any = None,
    **options: Any,
) -> Made:
    out: list[Question] = []
    settings = GenerationSettings(MakingOptions(seed=7, **options), tries=tries, dataset="ships")
    bench = GenerationTools(deck or Deck(), twins or Twins(), Live(models), models.map, graph, graph and graph.layout, "m",
                  lambda: models.stopped is not None)
    result = Made(out, Generation(orders_of(kinds, n), settings, bench, out.append))
    result.run.run()
    return result


def counted(
    models: Models, kinds: Sequence[str], n: int = 4, *, deck: Any = None, tries: int = 3, graph: Any = None, **options: Any,
) -> tuple[int, int]:
    """Calls of a dry run, low and high."""
    dry = Dry(models)
    settings = GenerationSettings(MakingOptions(seed=7, **options), tries=tries, dataset="ships")
    bench = GenerationTools(deck or Deck(), Twins(), dry, graph=graph, layout=graph and graph.layout, model="m")
    Generation(orders_of(kinds, n), settings, bench, lambda _: None).run()
    stages = dry.stages()
    return sum(stage.calls_low for stage in stages), sum(stage.calls_high for stage in stages)


class Library:
    """Stands for a graph whose chunks are documents of numbered words."""

    def __init__(self, documents: int = 7, words: int = 30) -> None:
        from kgeval.records import Layout

        self.documents, self.words = documents, words
        self.layout = Layout(name="plain", chunk_labels=["Chunk"], chunk_text_keys=["text"])

    def stream(self, _query: Any, _parameters: Any) -> Iterator[dict[str, str]]:
        for document in range(self.documents):
            for part in range(3):
                yield {"document": f"d{document}", "id": f"{document}-{part}", "text": f"Book {document}: " + "word " * self.words}
