"""LightRAG with Neo4JStorage. Tokens are characters here: its own counter would load a vocabulary from the network."""

from __future__ import annotations

import asyncio
import os
import sys
from typing import Any

from reach import URI, USER, password
from world import DOCUMENTS

SIZE = 8


class Characters:
    """A token for each character."""

    def encode(self, content: str) -> list[int]:
        return [ord(one) for one in content]

    def decode(self, tokens: list[int]) -> str:
        return "".join(map(chr, tokens))


async def write(folder: str) -> None:
    os.environ.update(NEO4J_URI=URI, NEO4J_USERNAME=USER, NEO4J_PASSWORD=password())
    from lightrag import LightRAG
    from lightrag.kg.shared_storage import initialize_pipeline_status
    from lightrag.llm.openai import openai_complete_if_cache
    from lightrag.utils import EmbeddingFunc, Tokenizer
    from openai import AsyncOpenAI

    async def ask(prompt: str, system_prompt: str | None = None, history_messages: Any = None, **more: Any) -> str:
        more.pop("hashing_kv", None)
        said: str = await openai_complete_if_cache("lightrag", prompt, system_prompt, history_messages or [], **more)
        return said

    async def embed(texts: list[str]) -> Any:
        import numpy as np

        made = await AsyncOpenAI().embeddings.create(model="vectors", input=texts, encoding_format="float")
        return np.array([one.embedding for one in made.data])

    rag = LightRAG(
        working_dir=folder, llm_model_func=ask, llm_model_name="lightrag", graph_storage="Neo4JStorage",
        embedding_func=EmbeddingFunc(embedding_dim=SIZE, max_token_size=8192, func=embed),
        tokenizer=Tokenizer("characters", Characters()), llm_model_max_async=1, max_parallel_insert=1, chunk_token_size=2000,
        chunk_overlap_token_size=0,
    )
    await rag.initialize_storages()
    await initialize_pipeline_status()
    await rag.ainsert(list(DOCUMENTS.values()), ids=list(DOCUMENTS), file_paths=list(DOCUMENTS))
    await rag.finalize_storages()


if __name__ == "__main__":
    asyncio.run(write(sys.argv[1]))
