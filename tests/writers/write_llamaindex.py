"""LlamaIndex: PropertyGraphIndex over a Neo4jPropertyGraphStore. Argument: simple (the default extractor) or dynamic (with types)."""

from __future__ import annotations

import sys
from uuid import NAMESPACE_URL, uuid5

from reach import URI, USER, password
from world import DOCUMENTS


def write(form: str) -> None:
    from llama_index.core import Document, PropertyGraphIndex
    from llama_index.core.indices.property_graph import DynamicLLMPathExtractor, ImplicitPathExtractor, SimpleLLMPathExtractor
    from llama_index.core.node_parser import SentenceSplitter
    from llama_index.embeddings.openai_like import OpenAILikeEmbedding
    from llama_index.graph_stores.neo4j import Neo4jPropertyGraphStore
    from llama_index.llms.openai_like import OpenAILike

    name = "llamaindex-simple" if form == "simple" else "llamaindex"
    llm = OpenAILike(model=name, is_chat_model=True)
    extractor = (SimpleLLMPathExtractor if form == "simple" else DynamicLLMPathExtractor)(llm=llm, num_workers=1)
    store = Neo4jPropertyGraphStore(username=USER, password=password(), url=URI)
    documents = [Document(id_=name, text=text, metadata={"file_name": name}) for name, text in DOCUMENTS.items()]
    PropertyGraphIndex.from_documents(
        documents, llm=llm, kg_extractors=[extractor, ImplicitPathExtractor()], property_graph_store=store,
        embed_model=OpenAILikeEmbedding(model_name="vectors"), use_async=False,
        # ids are random by default, and an entity's embedding is made of its name with that id
        transformations=[SentenceSplitter(id_func=lambda at, document: str(uuid5(NAMESPACE_URL, f"{document.node_id}/{at}")))],
    )
    store.close()


if __name__ == "__main__":
    write(sys.argv[1])
