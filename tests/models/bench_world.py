"""What the tests of the four levels share: structures made by hand, and a model that says what a test wants it to."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Sequence
from typing import Any

from kgeval.llm.asker import Asker, Dry
from kgeval.llm.fake import Chat
from kgeval.llm.plan import Plan
from kgeval.llm.session import Models
from kgeval.questions.generate import KindRun, QuestionAttempt, attempt
from kgeval.questions.kinds import MakingContext, MakingOptions, QuestionKind, question_profile
from kgeval.questions.making.graphrag_bench import KINDS
from kgeval.records import Passage, Structure, StructureNode, StructureRelation

KIND = {kind.name: kind for kind in KINDS}
NAMES = ("Mara", "Velmouth", "North Light", "Captain Orr", "Saint Hilda", "Tolvan", "Ebb Cove", "Old Mill", "Rooke")
PREDICATES = ("lives in", "has a harbour for", "sails under", "was born in", "stands beside", "overlooks", "hides", "belongs to")
_DATA = re.compile(r'<data name="(\w+)">\n(.*?)\n</data>', re.DOTALL)


def chain(length: int = 6, *, number: int = 0, **changes: Any) -> Structure:
    """A chain of so many relations along NAMES; each is told in a passage of its own, that of its number from c1."""
    nodes = [
        StructureNode(element_id=f"n{at}", key=name, name=name, type="PLACE", chunk_ids=[f"c{max(1, at)}"], aliases=["Vel"] * (at == 1))
        for at, name in enumerate(NAMES[: length + 1])
    ]
    relations = [
        StructureRelation(element_id=f"r{at}", source=f"n{at - 1}", target=f"n{at}", predicate=PREDICATES[at - 1], chunk_ids=[f"c{at}"])
        for at in range(1, length + 1)
    ]
    passages = [
        Passage(text=f"{NAMES[at - 1]} {PREDICATES[at - 1]} {NAMES[at]}.", chunk_id=f"c{at}", document="book")
        for at in range(1, length + 1)
    ]
    parts = {"nodes": nodes, "relations": relations, "passages": passages} | changes
    return Structure(kind="chain", number=number, seed=1, **parts)


class Writer:
    """A script for the fake server. `made`: question, answer and numbers; `untrue`: relations (their text) that no passage says;
    `verdicts`: what becomes of the answer, one a call, the last for all that follow; `refined`: null gives the question back.

    Every relation is said by the passage that holds both its ends.
    """

    def __init__(
        self, triples: Sequence[Any], *, question: str = "Where does it begin for Mara?", answer: str = "By the sea",
        untrue: Sequence[str] = (), verdicts: Sequence[tuple[bool, str]] = ((True, ""),), refined: str | None = None,
    ) -> None:
        self.made = {"question": question, "answer": answer, "triples": list(triples)}
        self.untrue, self.verdicts, self.refined = tuple(untrue), list(verdicts), refined
        self.asked: list[dict[str, Any]] = []
        self.texts: list[str] = []
        self.lock = threading.Lock()

    def __call__(self, chat: Chat) -> Any:
        blocks = {name: [json.loads(line) for line in body.split("\n")] for name, body in _DATA.findall(chat.subject)}
        with self.lock:
            self.asked.append(blocks)
            self.texts.append(chat.text)
            return self._reply(set((chat.schema or {})["properties"]), blocks)

    def _reply(self, fields: set[str], blocks: dict[str, Any]) -> Any:
        if "triples" in fields:
            return self.made
        if "items" in fields:
            return {"items": [self._verdict(item, blocks["passages"][0]) for item in blocks["items"]]}
        if "corrected" in fields:
            follows, corrected = self.verdicts[0] if len(self.verdicts) == 1 else self.verdicts.pop(0)
            return {"reason": "as the script has it", "follows": follows, "corrected": corrected}
        return {"question": self.refined or blocks["question"][0]}

    def _verdict(self, line: dict[str, Any], passages: list[dict[str, Any]]) -> dict[str, Any]:
        item = line["item"]
        told = [p["tag"] for p in passages if item["subject"] in p["text"] and item["object"] in p["text"]]
        lost = any(text in (item["relation"], item["object"]) for text in self.untrue)
        return {"tag": line["tag"], "reason": "not said" if lost else "said", "passages": told, "follows": not lost}


def made(asker: Asker, structure: Structure, kind: QuestionKind | str, **options: Any) -> QuestionAttempt:
    """What comes of a structure. `profile`: a name or a file."""
    options |= {"profile": question_profile(options["profile"])} if "profile" in options else {}
    return attempt(structure, KindRun(
        KIND[kind] if isinstance(kind, str) else kind, MakingContext(structure, MakingOptions(seed=1, **options), asker), model="m",
    ))


def planned(models: Models, structures: Sequence[Structure], kind: str) -> Plan:
    """The dry run of making a question of each structure."""
    dry = Dry(models)
    for structure in structures:
        made(dry, structure, kind)
    return Plan(dry.stages(), models.limits)
