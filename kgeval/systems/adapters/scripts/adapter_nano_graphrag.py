"""nano-graphrag. Modes: local, global, naive."""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
from typing import Any

from adapter_base import Built, Job, PackageAnswer, graphml_size, main

RAG = ("chunk_token_size", "chunk_overlap_token_size", "entity_extract_max_gleaning", "max_graph_cluster_size", "tiktoken_model_name")
QUERY = ("top_k", "level", "response_type", "local_max_token_for_text_unit", "global_max_token_for_community_report")


class NanoGraphRag:
    """One working folder of nano-graphrag. At answering its cache is off: a repeated question is asked anew, as every
    trial must be."""

    def __init__(self, job: Job) -> None:
        from nano_graphrag import GraphRAG, _llm
        from nano_graphrag.base import EmbeddingFunc

        self.job, self.loop, self.shown = job, asyncio.new_event_loop(), list[str]()
        asyncio.set_event_loop(self.loop)
        client = _llm.get_openai_async_client_instance()

        async def ask(prompt: str, system_prompt: str | None = None, history_messages: Any = (), **more: Any) -> str:
            if job.mode:
                more.pop("hashing_kv", None)
                self.shown.append(system_prompt or "")
            text: str = await _llm.openai_complete_if_cache(
                job.model, prompt, system_prompt, list(history_messages), **more,
            )
            return text

        async def embed(texts: list[str]) -> Any:
            import numpy as np

            reply = await client.embeddings.create(model=job.embedding_model, input=texts, encoding_format="float")
            return np.array([row.embedding for row in reply.data])

        self.rag = GraphRAG(
            working_dir=str(job.store), best_model_func=ask, cheap_model_func=ask, enable_naive_rag=True,
            embedding_func=EmbeddingFunc(embedding_dim=job.dimensions, max_token_size=8192, func=embed),
            **job.given(*RAG),
        )

    def index(self, documents: list[dict[str, Any]]) -> Built:
        self.loop.run_until_complete(self.rag.ainsert([document["text"] for document in documents]))
        entities, relations = graphml_size(self.job.store / "graph_chunk_entity_relation.graphml")
        chunks = self._stored("text_chunks")
        notes = () if entities else ("the package found no entity in any document",)
        return Built(entities, relations, len(chunks), notes=notes)

    def _stored(self, name: str) -> dict[str, Any]:
        path = self.job.store / f"kv_store_{name}.json"
        stored: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
        return stored

    def answer(self, question: str) -> PackageAnswer:
        from nano_graphrag import QueryParam

        self.shown.clear()
        answer = self.loop.run_until_complete(
            self.rag.aquery(question, QueryParam(mode=self.job.mode, **self.job.given(*QUERY))),
        )
        return PackageAnswer(answer or "", self._contexts())

    def _contexts(self) -> list[dict[str, Any]]:
        """The package does not tell what it retrieved: these are the chunks (global: the community reports) that its
        prompts showed."""
        shown = plain("\n".join(self.shown))
        if self.job.mode == "global":
            passages = [{"text": report["report_string"]} for report in self._stored("community_reports").values()]
        else:
            documents = {f"doc-{md5(one['text'])}": one["id"] for one in self.job.documents()}
            passages = [
                {"text": chunk["content"], "chunk_id": name, "document": documents.get(chunk["full_doc_id"])}
                for name, chunk in self._stored("text_chunks").items()
            ]
        placed = [(shown.find(plain(passage["text"])), passage) for passage in passages]
        return [passage for start, passage in sorted(placed, key=lambda one: one[0]) if start >= 0]

    def close(self) -> None:
        self.loop.close()


def plain(text: str) -> str:
    """The text without what a table cell changes: white space and quotation marks."""
    return re.sub(r'[\s"]+', " ", text).strip()


def md5(text: str) -> str:
    """How the package names a document."""
    return hashlib.md5(text.strip().encode(), usedforsecurity=False).hexdigest()


if __name__ == "__main__":
    main("nano-graphrag", NanoGraphRag)
