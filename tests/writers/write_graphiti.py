"""Graphiti: one episode a document, with entity types, in one group."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

from reach import URI, USER, password
from world import DOCUMENTS, TYPES

FIRST = datetime(2020, 1, 1, tzinfo=UTC)
SIZE = 8


async def write() -> None:
    from graphiti_core import Graphiti
    from graphiti_core.embedder.openai import OpenAIEmbedder, OpenAIEmbedderConfig
    from graphiti_core.llm_client.config import LLMConfig
    from graphiti_core.llm_client.openai_generic_client import OpenAIGenericClient
    from graphiti_core.nodes import EpisodeType
    from pydantic import create_model

    graphiti = Graphiti(
        URI, USER, password(), llm_client=OpenAIGenericClient(LLMConfig(model="graphiti", small_model="graphiti", api_key="none")),
        embedder=OpenAIEmbedder(OpenAIEmbedderConfig(embedding_model="vectors", embedding_dim=SIZE)), max_coroutines=1,
    )
    await graphiti.build_indices_and_constraints()
    kinds = {name: create_model(name, __doc__=f"a {name.lower()}") for name in TYPES}
    for at, (name, text) in enumerate(DOCUMENTS.items()):
        await graphiti.add_episode(
            name=name, episode_body=text, source_description="a text file", reference_time=FIRST + timedelta(days=at),
            source=EpisodeType.text, group_id="harrowmere", entity_types=kinds,
        )
    await graphiti.close()


if __name__ == "__main__":
    asyncio.run(write())
