"""Microsoft GraphRAG (package graphrag, 3.x). Modes: local, global, drift."""

from __future__ import annotations

import asyncio
import importlib
from pathlib import Path
from typing import Any

from adapter_base import Built, Job, PackageAnswer, main

NEEDS = {
    "local": ("entities", "communities", "community_reports", "text_units", "relationships"),
    "global": ("entities", "communities", "community_reports"),
    "drift": ("entities", "communities", "community_reports", "text_units", "relationships"),
}
# setting -> where it stands in the package's configuration
PLACES = {
    "chunk_token_size": ("chunking", "size"), "chunk_overlap_token_size": ("chunking", "overlap"),
    "encoding_model": ("chunking", "encoding_model"),
    "max_gleanings": ("extract_graph", "max_gleanings"),
    "summarize_descriptions_max_length": ("summarize_descriptions", "max_length"),
    "max_cluster_size": ("cluster_graph", "max_cluster_size"),
    "community_reports_max_length": ("community_reports", "max_length"),
    "community_reports_max_input_length": ("community_reports", "max_input_length"),
    "drift_k_followups": ("drift_search", "drift_k_followups"), "n_depth": ("drift_search", "n_depth"),
    "primer_folds": ("drift_search", "primer_folds"), "concurrent_requests": (None, "concurrent_requests"),
}


class GraphRag:
    """One working folder of GraphRAG. At answering its cache is off: a repeated question is asked anew, as every trial
    must be."""

    def __init__(self, job: Job) -> None:
        self.job, self.runner, self.tables = job, asyncio.Runner(), dict[str, Any]()
        self.config = self._config()
        if job.mode:  # loaded and read now, so that the first question does not pay for it
            self.api: Any = importlib.import_module("graphrag.api")
        for name in NEEDS.get(job.mode, ()):
            self._table(name)

    def _config(self) -> Any:
        from graphrag.config.models.graph_rag_config import GraphRagConfig

        job, store = self.job, self.job.store
        reach = {"model_provider": "openai", "api_base": job.base_url, "api_key": job.key, "retry": {"type": "exponential_backoff"}}
        config: dict[str, Any] = {
            "completion_models": {"default_completion_model": {**reach, "model": job.model}},
            "embedding_models": {"default_embedding_model": {**reach, "model": job.embedding_model}},
            "input_storage": {"type": "file", "base_dir": str(store / "input")},
            "output_storage": {"type": "file", "base_dir": str(store / "output")},
            "reporting": {"type": "file", "base_dir": str(store / "logs")},
            "cache": {"type": "none"} if job.mode else {"type": "json", "storage": {"type": "file", "base_dir": str(store / "cache")}},
            "vector_store": {"type": "lancedb", "db_uri": str(store / "lancedb"), "vector_size": job.dimensions},
        }
        for name, (section, key) in PLACES.items():
            value = job.settings.get(name)
            if value is not None:
                (config if section is None else config.setdefault(section, {}))[key] = value
        return GraphRagConfig(**config)

    def index(self, documents: list[dict[str, Any]]) -> Built:
        import pandas as pd
        from graphrag.api import build_index

        for folder in ("input", "output", "logs"):
            Path(self.job.store, folder).mkdir(parents=True, exist_ok=True)
        empty = {"creation_date": "", "raw_data": None}
        frame = pd.DataFrame([
            {"id": document["id"], "human_readable_id": at, "title": document["title"] or document["id"], "text": document["text"], **empty}
            for at, document in enumerate(documents)
        ])
        steps = self.runner.run(build_index(self.config, input_documents=frame))
        wrong = [f"{step.workflow}: {step.error}" for step in steps if step.error is not None]
        if wrong:
            raise RuntimeError("; ".join(wrong))
        size = {
            name: len(self._table(name)) for name in ("entities", "relationships", "text_units", "community_reports")
        }
        return Built(size["entities"], size["relationships"], size["text_units"], notes=(f"{size['community_reports']} community reports",))

    def _table(self, name: str) -> Any:
        import pandas as pd

        if name not in self.tables:
            self.tables[name] = pd.read_parquet(self.job.store / "output" / f"{name}.parquet")
        return self.tables[name]

    def answer(self, question: str) -> PackageAnswer:
        return self.runner.run(self._answer(question))

    async def _answer(self, question: str) -> PackageAnswer:
        mode, settings, api = self.job.mode, self.job.settings, self.api
        arguments: dict[str, Any] = {name: self._table(name) for name in NEEDS[mode]}
        level, form = settings.get("community_level"), settings.get("response_type") or "Multiple Paragraphs"
        arguments |= {"community_level": 2 if level is None else level, "response_type": form, "query": question, "config": self.config}
        if mode == "global":
            text, context = await api.global_search(dynamic_community_selection=False, **arguments)
        elif mode == "local":
            text, context = await api.local_search(covariates=None, **arguments)
        else:
            text, context = await api.drift_search(**arguments)
        return PackageAnswer(str(text), *self._retrieved(context))

    def _retrieved(self, context: Any) -> tuple[list[dict[str, Any]], list[str], list[str]]:
        """Passages (texts with their chunk, reports, entities, relations), and the names of nodes and relations."""
        tables = merged(context)
        texts = [self._text_unit(row) for row in tables.get("sources", [])]
        texts += [{"text": str(row.get("content", ""))} for row in tables.get("reports", [])]
        texts += [{"text": f"{row.get('entity')}: {row.get('description')}"} for row in tables.get("entities", [])]
        pairs = [f"{row.get('source')} - {row.get('target')}" for row in tables.get("relationships", [])]
        texts += [{"text": f"{pair}: {row.get('description')}"} for pair, row in zip(pairs, tables.get("relationships", []), strict=True)]
        return texts, [str(row.get("entity")) for row in tables.get("entities", [])], pairs

    def _text_unit(self, row: dict[str, Any]) -> dict[str, Any]:
        """A source of the context, with the id and the document of the chunk whose number it gives."""
        units = self._table("text_units")
        matching = units[units["human_readable_id"].astype(str) == str(row.get("id"))]
        passage = {"text": str(row.get("text", ""))}
        # a number that fits no chunk, or several, names none
        if len(matching) != 1:
            return passage
        unit = matching.iloc[0]
        document = unit.get("document_id")
        return {**passage, "chunk_id": str(unit["id"]), "document": None if document is None else str(document)}

    def close(self) -> None:
        self.runner.close()


def merged(context: Any) -> dict[str, list[dict[str, Any]]]:
    """The context's tables as rows, each once: of one search, or (drift) of several under their questions."""
    rows: dict[str, list[dict[str, Any]]] = {}
    for name, table in context.items() if isinstance(context, dict) else ():
        if hasattr(table, "to_dict"):
            rows.setdefault(name, []).extend(row for row in table.to_dict("records") if row not in rows[name])
        elif isinstance(table, dict):
            for inner, more in merged(table).items():
                rows.setdefault(inner, []).extend(row for row in more if row not in rows[inner])
    return rows


if __name__ == "__main__":
    main("graphrag", GraphRag)
