"""neo4j-graphrag's SimpleKGPipeline, one run a document. Argument: resolved or unresolved."""

from __future__ import annotations

import asyncio
import sys

from reach import URI, USER, password
from world import DOCUMENTS


async def write(*, resolve: bool) -> None:
    import neo4j
    from neo4j_graphrag.embeddings import OpenAIEmbeddings
    from neo4j_graphrag.experimental.pipeline.kg_builder import SimpleKGPipeline
    from neo4j_graphrag.llm import OpenAILLM

    with neo4j.GraphDatabase.driver(URI, auth=(USER, password())) as driver:
        builder = SimpleKGPipeline(
            llm=OpenAILLM(model_name="neo4j-graphrag"), driver=driver, embedder=OpenAIEmbeddings(model="vectors"), from_file=False,
            schema="FREE", perform_entity_resolution=resolve,
        )
        for name, text in DOCUMENTS.items():
            await builder.run_async(text=text, file_path=name)


if __name__ == "__main__":
    asyncio.run(write(resolve=sys.argv[1] == "resolved"))
