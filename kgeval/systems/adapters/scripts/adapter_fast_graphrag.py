"""fast-graphrag. One mode."""

from __future__ import annotations

from typing import Any

from adapter_base import Built, Job, PackageAnswer, main

DOMAIN = "Find the people, places, organisations, things and events of the text, and how they are related to each other."
QUERIES = "Who did it?\nWhere did it happen?\nHow is the one related to the other?"
TYPES = "person,place,organization,event,object,concept"
PARAM = ("entities_max_tokens", "relations_max_tokens", "chunks_max_tokens")


class FastGraphRag:
    """One working folder of fast-graphrag. It keeps no cache of replies."""

    def __init__(self, job: Job) -> None:
        from fast_graphrag import GraphRAG
        from fast_graphrag._llm import OpenAIEmbeddingService, OpenAILLMService
        from fast_graphrag._policies._ranking import RankingPolicy_TopK, RankingPolicy_WithThreshold
        from fast_graphrag._services._chunk_extraction import DefaultChunkingService, DefaultChunkingServiceConfig

        self.job, settings = job, job.settings
        reach = {"base_url": job.base_url, "api_key": job.key}
        chunking = DefaultChunkingServiceConfig(
            chunk_token_size=job.setting("chunk_token_size", 800),
            chunk_token_overlap=job.setting("chunk_overlap_token_size", 100),
        )
        config = GraphRAG.Config(
            llm_service=OpenAILLMService(model=job.model, **reach),
            embedding_service=OpenAIEmbeddingService(model=job.embedding_model, embedding_dim=job.dimensions, **reach),
            chunking_service_cls=lambda: DefaultChunkingService(chunking),
            entity_ranking_policy=RankingPolicy_WithThreshold(
                RankingPolicy_WithThreshold.Config(threshold=job.setting("entity_ranking_policy", 0.005))
            ),
            relation_ranking_policy=RankingPolicy_TopK(
                RankingPolicy_TopK.Config(top_k=job.setting("relation_ranking_policy", 64)),
            ),
            chunk_ranking_policy=RankingPolicy_TopK(
                RankingPolicy_TopK.Config(top_k=job.setting("chunk_ranking_policy", 8)),
            ),
        )
        self.rag = GraphRAG(
            working_dir=str(job.store), domain=settings.get("domain") or DOMAIN,
            example_queries=settings.get("example_queries") or QUERIES,
            entity_types=[part.strip() for part in (settings.get("entity_types") or TYPES).split(",")], config=config,
        )

    def index(self, documents: list[dict[str, Any]]) -> Built:
        texts, origins = [document["text"] for document in documents], [
            {"id": document["id"]} for document in documents
        ]
        entities, relations, chunks = self.rag.insert(texts, origins, show_progress=False)
        return Built(
            entities, relations, chunks, notes=() if entities else ("the package found no entity in any document",),
        )

    def answer(self, question: str) -> PackageAnswer:
        from fast_graphrag import QueryParam

        reply = self.rag.query(question, QueryParam(**self.job.given(*PARAM)))
        context = reply.context
        contexts = [
            {"text": chunk.content, "chunk_id": str(chunk.id), "document": (chunk.metadata or {}).get("id"), "score": float(score)}
            for chunk, score in context.chunks
        ]
        contexts += [
            {"text": f"{one.name}: {one.description}", "score": float(score)} for one, score in context.entities
        ]
        contexts += [{"text": f"{one.source} - {one.target}: {one.description}", "score": float(score)} for one, score in context.relations]
        return PackageAnswer(
            reply.response, contexts, [one.name for one, _ in context.entities],
            [f"{one.source} - {one.target}" for one, _ in context.relations],
        )

    def close(self) -> None:
        """Nothing is open between calls."""


if __name__ == "__main__":
    main("fast-graphrag", FastGraphRag)
