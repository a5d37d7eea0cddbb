"""HippoRAG 2 (package hipporag, 2.0.0 alpha). One mode."""

from __future__ import annotations

import hashlib
import importlib
import sys
import types
from typing import Any

from adapter_base import Built, Job, PackageAnswer, cut, main

CONFIG = (
    "retrieval_top_k", "linking_top_k", "max_qa_steps", "qa_top_k", "graph_type", "max_new_tokens",
    "embedding_batch_size",
    "synonymy_edge_topk", "damping",
)


class HippoRag:
    """One working folder of HippoRAG 2. It takes passages as they are: documents are cut into pieces of `chunk_words`
    first."""

    def __init__(self, job: Job) -> None:
        without_vllm()
        package: Any = importlib.import_module("hipporag.HippoRAG")  # a module; its package has a class of the same name
        from hipporag.embedding_model.OpenAI import OpenAIEmbeddingModel
        from hipporag.utils.config_utils import BaseConfig

        # the package knows an endpoint's model by "text-embedding" in its name: here every model is the endpoint's
        package._get_embedding_model_class = lambda **_: OpenAIEmbeddingModel
        config = BaseConfig(
            llm_name=job.model, llm_base_url=job.base_url, embedding_model_name=job.embedding_model,
            embedding_base_url=job.base_url,
            save_dir=str(job.store), **job.given(*CONFIG),
        )
        self.job = job
        self.passages = self._passages()
        self.rag = package.HippoRAG(global_config=config)
        if job.mode:
            no_cache(self.rag)

    def _passages(self) -> dict[str, str]:
        """Passage -> the document it is of."""
        words, overlap = self.job.setting("chunk_words", 900), self.job.setting("chunk_overlap_words", 0)
        return {piece: document["id"] for document in self.job.documents() for piece in cut(document["text"], words, overlap)}

    def index(self, documents: list[dict[str, Any]]) -> Built:
        self.rag.index(list(self.passages))
        sizes = self.rag.get_graph_info()
        return Built(sizes.get("num_phrase_nodes"), sizes.get("num_extracted_triples"), sizes.get("num_passage_nodes"))

    def answer(self, question: str) -> PackageAnswer:
        solutions, messages, _ = self.rag.rag_qa(queries=[question])
        solution = solutions[0]
        top = self.rag.global_config.qa_top_k
        scores = [None] * len(solution.docs) if solution.doc_scores is None else [float(score) for score in solution.doc_scores]
        contexts = [
            {"text": text, "chunk_id": f"chunk-{md5(text)}", "document": self.passages.get(text), "score": score}
            for text, score in list(zip(solution.docs, scores, strict=False))[:top]
        ]
        return PackageAnswer(solution.answer or messages[0] or "", contexts)

    def close(self) -> None:
        """Nothing is open between calls."""


def without_vllm() -> None:
    """The package imports vLLM for its offline mode, which is not used here: an empty stand-in saves several
    gigabytes."""
    stand_in = types.ModuleType("vllm")
    stand_in.SamplingParams = stand_in.LLM = None  # type: ignore[attr-defined]
    sys.modules.setdefault("vllm", stand_in)


def no_cache(rag: Any) -> None:
    """At answering a repeated question is asked anew, as every trial must be: the package's cache of replies is passed
    by."""
    model = rag.llm_model
    uncached = type(model).infer.__wrapped__

    def infer(*given: Any, **named: Any) -> tuple[Any, Any, bool]:
        text, about = uncached(model, *given, **named)
        return text, about, False

    model.infer = infer
    rag.rerank_filter.llm_infer_fn = infer


def md5(text: str) -> str:
    """How the package names a passage."""
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


if __name__ == "__main__":
    main("hipporag", HippoRag)
