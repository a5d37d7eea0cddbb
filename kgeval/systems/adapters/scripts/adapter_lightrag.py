"""LightRAG (package lightrag-hku). Modes: naive, local, global, hybrid, mix."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

from adapter_base import Built, Job, PackageAnswer, graphml_size, main

RAG = ("chunk_token_size", "chunk_overlap_token_size", "entity_extract_max_gleaning", "llm_model_max_async", "tiktoken_model_name")
QUERY = ("top_k", "chunk_top_k", "max_entity_tokens", "max_relation_tokens", "max_total_tokens", "response_type")


class LightRag:
    """One working folder of LightRAG. At answering its cache is off: a repeated question is asked anew, as every trial
    must be."""

    def __init__(self, job: Job) -> None:
        self.job, self.runner, self.places = job, asyncio.Runner(), places(job.documents())
        self.rag = self.runner.run(self._open())

    async def _open(self) -> Any:
        from lightrag import LightRAG
        from lightrag.kg.shared_storage import initialize_pipeline_status
        from lightrag.llm.openai import openai_complete_if_cache, openai_embed
        from lightrag.utils import EmbeddingFunc

        job = self.job
        reach = {"base_url": job.base_url, "api_key": job.key}
        embed = partial(openai_embed.func, model=job.embedding_model, **reach)

        async def ask(prompt: str, system_prompt: str | None = None, history_messages: Any = None, **more: Any) -> str:
            more.pop("hashing_kv", None)
            text: str = await openai_complete_if_cache(
                job.model, prompt, system_prompt, history_messages or [], **more, **reach,
            )
            return text

        rag = LightRAG(
            working_dir=str(job.store), llm_model_func=ask, llm_model_name=job.model,
            embedding_func=EmbeddingFunc(embedding_dim=job.dimensions, max_token_size=8192, func=embed),
            enable_llm_cache=not job.mode, **job.given(*RAG),
        )
        await rag.initialize_storages()
        await initialize_pipeline_status()
        return rag

    def index(self, documents: list[dict[str, Any]]) -> Built:
        return self.runner.run(self._index(documents))

    async def _index(self, documents: list[dict[str, Any]]) -> Built:
        names, ids = list(places(documents)), [whole(one["id"]) for one in documents]
        await self.rag.ainsert([document["text"] for document in documents], ids=ids, file_paths=names)
        from lightrag.base import DocStatus

        failed = await self.rag.doc_status.get_docs_by_statuses([DocStatus.FAILED])
        processed = await self.rag.doc_status.get_docs_by_statuses([DocStatus.PROCESSED])
        entities, relations = graphml_size(self.job.store / "graph_chunk_entity_relation.graphml")
        chunks = sum(document.chunks_count or 0 for document in processed.values())
        causes = [f"document {name} failed: {document.error_msg}" for name, document in failed.items()]
        return Built(entities, relations, chunks, {"document": len(failed)} if failed else {}, tuple(causes[:20]))

    def answer(self, question: str) -> PackageAnswer:
        return self.runner.run(self._answer(question))

    async def _answer(self, question: str) -> PackageAnswer:
        from lightrag import QueryParam

        param = QueryParam(mode=self.job.mode, enable_rerank=False, **self.job.given(*QUERY))
        reply = await self.rag.aquery_llm(question, param)
        if reply.get("status") == "failure" and not (reply.get("llm_response") or {}).get("content"):
            raise RuntimeError(str(reply.get("message", "LightRAG says no cause")))
        data = reply.get("data") or {}
        contexts = [
            {"text": chunk["content"], "chunk_id": chunk.get("chunk_id") or None, "document": self.places.get(chunk.get("file_path", ""))}
            for chunk in data.get("chunks", [])
        ]
        contexts += [{"text": f"{part['entity_name']}: {part['description']}"} for part in data.get("entities", [])]
        contexts += [{"text": f"{part['src_id']} - {part['tgt_id']}: {part['description']}"} for part in data.get("relationships", [])]
        return PackageAnswer(
            (reply.get("llm_response") or {}).get("content") or "", contexts,
            [part["entity_name"] for part in data.get("entities", [])],
            [f"{part['src_id']} - {part['tgt_id']}" for part in data.get("relationships", [])],
        )

    def close(self) -> None:
        self.runner.run(self.rag.finalize_storages())
        self.runner.close()


def places(documents: list[dict[str, Any]]) -> dict[str, str]:
    """File name -> document id. LightRAG keeps only the last part of a path, so equal last parts are told apart by a
    number."""
    names: dict[str, str] = {}
    for number, document in enumerate(documents):
        name = str(document["id"]).replace("\\", "/").rstrip("/").rpartition("/")[2]
        name = whole(name).strip() or "document"
        while name in names:
            name = f"{number}-{name}"
        names[name] = document["id"]
    return names


def whole(name: str) -> str:
    """A name that LightRAG takes for one: it joins names with "<SEP>", and cuts them apart there."""
    return name.replace("<SEP>", "-")


if __name__ == "__main__":
    main("lightrag-hku", LightRag)
