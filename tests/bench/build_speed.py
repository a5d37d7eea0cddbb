"""How fast `kgeval build` resolves and writes, and what a second run costs. Not a test.

    python tests/bench/build_speed.py [--entities 50000] [--relations 200000] [--documents 500] [--seed 7]

Documents name random entities and state random relations (drawn with weight 1 / (rank + 10)^0.75); a reader that guesses nothing
takes them out, so that extraction costs next to nothing. Four builds in an embedded server of its own (or in KGEVAL_TEST_URI, which is
wiped): from nothing, the same again, one document changed, one document removed. Prints seconds by stage, and relations a second of the
writing. The comparison with another library's writer is writer_speed.py.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator

import numpy as np
from neo4j_server import server, wipe

from kgeval.building.run import BuildSettings, build
from kgeval.graph.connect import open_graph
from kgeval.manifest import ModelUsage
from kgeval.records import Document, IndexRecord
from kgeval.text.extract.mentions import ChunkSource, Extraction, Mention, RelationMention


class Reader:
    """Takes "e17 r3 e42." apart."""

    name = "bench"
    signature = "1"

    def asked(self) -> ModelUsage:
        return ModelUsage()

    def extract(self, sources: Iterable[ChunkSource]) -> Iterator[Extraction]:
        for source in sources:
            places: dict[str, int] = {}
            links = []
            for words in (sentence.split() for sentence in source.chunk.text.split(".")):
                if len(words) == 3:
                    ends = [places.setdefault(word, len(places)) for word in (words[0], words[2])]
                    links.append(RelationMention(ends[0], ends[1], words[1], f"{words[0]} stands in relation {words[1]} to {words[2]}."))
            mentions = [Mention(f"Entity {word}", f"Type{hash_of(word) % 20}", f"What is said of {word}.") for word in places]
            yield Extraction(source.chunk.id, tuple(mentions), tuple(links))


def hash_of(word: str) -> int:
    """The number in "e17"."""
    return int(word.strip("er"))


def documents(entities: int, relations: int, count: int, seed: int) -> list[Document]:
    """Texts that state every relation once; no relation twice, no self-relation."""
    rng = np.random.default_rng(seed)
    weights = 1 / (np.arange(entities) + 10) ** 0.75
    found: dict[tuple[int, int, int], None] = {(at, (at + 1) % entities, 0): None for at in range(entities)}  # every entity is named
    while len(found) < relations:
        ends = rng.choice(entities, size=(relations, 2), p=weights / weights.sum())
        for (a, b), kind in zip(ends.tolist(), rng.integers(0, 10, relations).tolist(), strict=True):
            if a != b and len(found) < relations:
                found[a, b, kind] = None
    order = rng.permutation(len(found))
    rows = list(found)
    texts: list[list[str]] = [[] for _ in range(count)]
    for at in order.tolist():
        a, b, kind = rows[at]
        texts[at % count].append(f"e{a} r{kind} e{b}.")
    return [Document(id=f"d{at:05}", text=" ".join(text)) for at, text in enumerate(texts)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("entities", 50_000), ("relations", 200_000), ("documents", 500), ("seed", 7)):
        parser.add_argument(f"--{name}", type=int, default=default)
    asked = parser.parse_args()
    given = documents(asked.entities, asked.relations, asked.documents, asked.seed)
    changed = given[0].model_copy(update={"text": given[0].text.replace(" r1 ", " r2 ")})
    with server() as address, open_graph(address) as graph:
        wipe(graph)
        for name, part, more in (
            ("from nothing", given, {}), ("the same again", given, {}), ("one document changed", [changed], {}),
            ("one document removed", [], {"remove": (given[1].id,)}),
        ):
            record = build(graph, part, Reader() if part else None, BuildSettings("bench", **more))
            show(name, record)
        wipe(graph)
    return 0 if record.relations else 1


def show(name: str, record: IndexRecord) -> None:
    """One run: seconds by stage, what was written, relations a second of the writing."""
    created = record.changed.get("relations created", 0)
    print(f"{name}: {record.seconds:.1f} s, {record.entities:,} entities, {record.relations:,} relations, {record.corpus.chunks:,} chunks")
    print("  " + ", ".join(f"{stage} {seconds:.2f}" for stage, seconds in record.stages.items()))
    print("  " + json.dumps(record.changed))
    if created and record.stages["write"]:
        rows = created + record.changed.get("mentions created", 0)
        print(f"  {created / record.stages['write']:,.0f} relations a second with all else that was written "
              f"({rows / record.stages['write']:,.0f} with the links from entities to chunks)")


if __name__ == "__main__":
    sys.exit(main())
