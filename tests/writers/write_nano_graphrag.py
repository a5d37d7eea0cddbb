"""nano-graphrag with Neo4jStorage. Tokens are characters here: its own counter would load a vocabulary from the network."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

from reach import URI, USER, password
from world import DOCUMENTS

SIZE = 8


def write(folder: str) -> None:
    import os

    import tiktoken

    characters = SimpleNamespace(
        encode=lambda text, **_: [ord(one) for one in text], decode=lambda codes: "".join(map(chr, codes)),
        decode_batch=lambda many, **_: ["".join(map(chr, codes)) for codes in many],
        encode_batch=lambda many, **_: [[ord(one) for one in text] for text in many],
    )
    tiktoken.encoding_for_model = tiktoken.get_encoding = lambda _name: characters
    from nano_graphrag import GraphRAG
    from nano_graphrag._storage import Neo4jStorage
    from nano_graphrag._utils import wrap_embedding_func_with_attrs
    from openai import AsyncOpenAI

    client = AsyncOpenAI()

    async def ask(prompt: str, system_prompt: str | None = None, history_messages: Any = (), **more: Any) -> str:
        wanted = {key: more[key] for key in ("response_format",) if key in more}
        system = [{"role": "system", "content": system_prompt}] if system_prompt else []
        messages = [*system, *history_messages, {"role": "user", "content": prompt}]
        said = await client.chat.completions.create(model="nano-graphrag", messages=messages, **wanted)
        return said.choices[0].message.content or ""

    @wrap_embedding_func_with_attrs(embedding_dim=SIZE, max_token_size=8192)
    async def embed(texts: list[str]) -> Any:
        import numpy as np

        made = await client.embeddings.create(model="vectors", input=texts, encoding_format="float")
        return np.array([one.embedding for one in made.data])

    os.chdir(folder)  # the label is made of the folder's name: a short one, the same everywhere
    rag = GraphRAG(
        working_dir="./harrowmere", best_model_func=ask, cheap_model_func=ask, embedding_func=embed, graph_storage_cls=Neo4jStorage,
        addon_params={"neo4j_url": URI, "neo4j_auth": (USER, password())}, chunk_token_size=2000, chunk_overlap_token_size=0,
        best_model_max_async=1, cheap_model_max_async=1, enable_llm_cache=False,
    )
    rag.insert(list(DOCUMENTS.values()))


if __name__ == "__main__":
    write(sys.argv[1])
