"""What the tests of the built-in systems share: a drawn graph, tools without any model, asks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kgeval.graph.connect import Graph
from kgeval.graph.layouts import bind, load_profile
from kgeval.llm.embed import open_embedder
from kgeval.llm.fake import FakeServer
from kgeval.systems.builtin import BuiltinTools
from kgeval.systems.system import Ask

# Ada works at Acme (c1), Acme is in Berlin (c2), Berlin is in Germany (c2); Bob lives alone with a dog (c3); Zoe has no relation
TOWN = """
CREATE (d:Document {id: 'd1'}), (d2:Document {id: 'd2'}),
  (c1:Chunk {id: 'c1', text: 'Ada Quill works at Acme.'})-[:FROM_DOCUMENT]->(d),
  (c2:Chunk {id: 'c2', text: 'Acme is located in Berlin. Berlin is in Germany.'})-[:FROM_DOCUMENT]->(d),
  (c3:Chunk {id: 'c3', text: 'Bob Tarn owns Rex.'})-[:FROM_DOCUMENT]->(d2),
  (a:__Entity__ {id: 'a', name: 'Ada Quill', type: 'Person'}), (b:__Entity__ {id: 'b', name: 'Acme', type: 'Company'}),
  (e:__Entity__ {id: 'e', name: 'Berlin', type: 'Place'}), (g:__Entity__ {id: 'g', name: 'Germany', type: 'Place'}),
  (p:__Entity__ {id: 'p', name: 'Bob Tarn', type: 'Person'}), (x:__Entity__ {id: 'x', name: 'Rex', type: 'Dog'}),
  (z:__Entity__ {id: 'z', name: 'Zoe Lund', type: 'Person'}),
  (a)-[:WORKS_AT {predicate: 'works at', chunk_ids: ['c1']}]->(b), (b)-[:LOCATED_IN {predicate: 'located in', chunk_ids: ['c2']}]->(e),
  (e)-[:IS_IN {predicate: 'is in'}]->(g), (p)-[:OWNS {predicate: 'owns', chunk_ids: ['c3']}]->(x),
  (a)-[:FROM_CHUNK]->(c1), (b)-[:FROM_CHUNK]->(c1), (b)-[:FROM_CHUNK]->(c2), (e)-[:FROM_CHUNK]->(c2), (g)-[:FROM_CHUNK]->(c2),
  (p)-[:FROM_CHUNK]->(c3), (x)-[:FROM_CHUNK]->(c3)
"""


@contextmanager
def tools(graph: Graph, cache: Path, *, layout: str = "kgeval", said: list[str] | None = None, **more: object) -> Iterator[BuiltinTools]:
    """Tools with the extractive reader and the fake server's embeddings of letters: texts that look alike are near."""
    with FakeServer(dimensions=256) as server:
        embedder = open_embedder("letters", base_url=server.base_url, cache_dir=cache)
        bound = bind(graph, load_profile(layout).layout, None)
        yield BuiltinTools(
            embedder=embedder, graph=graph, layout=bound, cache_dir=cache, say=(said if said is not None else []).append, **more,  # type: ignore[arg-type]
        )


def ask(question: str, **more: object) -> Ask:
    return Ask("q1", question, **more)  # type: ignore[arg-type]
