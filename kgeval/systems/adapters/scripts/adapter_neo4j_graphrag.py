"""neo4j-graphrag on the user's Neo4j. Modes: vector, vector-cypher, text2cypher. The address and password come from
NEO4J_*."""

from __future__ import annotations

import asyncio
import os
from typing import Any

from adapter_base import Built, Job, PackageAnswer, main

INDEX = "kgeval_chunks"
# what the package's own builder writes: a chunk, the document it is of, the entities found in it
NEIGHBOURS = """
OPTIONAL MATCH (node)-[:FROM_DOCUMENT]->(document)
OPTIONAL MATCH (node)<-[:FROM_CHUNK]-(entity)-[relation]-(other)
WHERE NOT type(relation) IN ['FROM_CHUNK', 'FROM_DOCUMENT', 'NEXT_CHUNK']
WITH node, score, document, collect(DISTINCT startNode(relation).name + ' -' + type(relation) + '-> ' + endNode(relation).name
     + coalesce(': ' + relation.text, ''))[..50] AS facts
RETURN node.text AS text, elementId(node) AS id, document.path AS document, score, facts
"""
PLAIN = """
OPTIONAL MATCH (node)-[:FROM_DOCUMENT]->(document)
RETURN node.text AS text, elementId(node) AS id, document.path AS document, score, [] AS facts
"""
SIZE = "MATCH (n:__Entity__) RETURN count(n) AS nodes"
EDGES = "MATCH (:__Entity__)-[r]->(:__Entity__) RETURN count(r) AS edges"
CHUNKS = "MATCH (c:Chunk) RETURN count(c) AS chunks"
# the package's writer merges relations with APOC; a server without APOC gets the same from Cypher of Neo4j 5.26 and later
APOC = "SHOW PROCEDURES YIELD name WHERE name = 'apoc.merge.relationship' RETURN count(*) AS found"
WITH_APOC = "CALL apoc.merge.relationship(start, row.type, {}, row.properties, end, row.properties) YIELD rel"
WITHOUT_APOC = "MERGE (start)-[rel:$(row.type)]->(end) SET rel += row.properties"
NODE_TYPES = """CALL db.schema.nodeTypeProperties() YIELD nodeType, propertyName, propertyTypes
RETURN nodeType AS owner, collect(propertyName + ': ' + coalesce(propertyTypes[0], 'ANY')) AS properties"""
RELATION_TYPES = "MATCH (a)-[r]->(b) RETURN DISTINCT labels(a)[..3] AS source, type(r) AS type, labels(b)[..3] AS target LIMIT 200"


class Neo4jGraphRag:
    """The package's GraphRAG with one of its retrievers."""

    def __init__(self, job: Job) -> None:
        import neo4j
        from neo4j_graphrag.embeddings import OpenAIEmbeddings
        from neo4j_graphrag.llm import OpenAILLM

        self.job, reach = job, {"base_url": job.base_url, "api_key": job.key}
        self.database = os.environ.get("NEO4J_DATABASE") or None
        login = (os.environ.get("NEO4J_USERNAME", "neo4j"), os.environ.get("NEO4J_PASSWORD", ""))
        self.driver = neo4j.GraphDatabase.driver(os.environ["NEO4J_URI"], auth=login)
        self.driver.verify_connectivity()
        self.llm = OpenAILLM(model_name=job.model, **reach)
        self.embedder = OpenAIEmbeddings(model=job.embedding_model, **reach)
        self.rag: Any = self._rag() if job.mode else None

    def _rag(self) -> Any:
        from neo4j_graphrag.generation import GraphRAG
        from neo4j_graphrag.retrievers import Text2CypherRetriever, VectorCypherRetriever

        if self.job.mode == "text2cypher":
            formatter = {"result_formatter": as_values, "neo4j_database": self.database}
            return GraphRAG(
                Text2CypherRetriever(self.driver, self.llm, neo4j_schema=self._schema(), **formatter), self.llm,
            )
        query = self.job.settings.get("retrieval_query") or (NEIGHBOURS if self.job.mode == "vector-cypher" else PLAIN)
        retriever = VectorCypherRetriever(
            self.driver, self._index_name, query, self.embedder, result_formatter=as_passage,
            neo4j_database=self.database,
        )
        return GraphRAG(retriever, self.llm)

    @property
    def _index_name(self) -> str:
        return self.job.settings.get("vector_index") or INDEX

    def index(self, documents: list[dict[str, Any]]) -> Built:
        """Writes chunks and entities into the database with the package's own builder, and makes the vector index."""
        from neo4j_graphrag.indexes import create_vector_index

        if not documents:
            return Built(notes=("nothing was built: the graph that is in the database is used, with the vector index " + self._index_name,))
        if not self._number(APOC):
            merge_without_apoc()
        failed = asyncio.run(self._build(documents))
        create_vector_index(
            self.driver, self._index_name, label="Chunk", embedding_property="embedding",
            dimensions=self.job.dimensions,
            similarity_fn="cosine", neo4j_database=self.database,
        )
        sizes = [self._number(query) for query in (SIZE, EDGES, CHUNKS)]
        notes = ("nodes, relations and chunks are those of the whole database",)
        return Built(*sizes, failures={"document": len(failed)} if failed else {}, notes=(*notes, *failed[:20]))

    async def _build(self, documents: list[dict[str, Any]]) -> list[str]:
        """What failed, by document."""
        from neo4j_graphrag.components.text_splitters.fixed_size_splitter import FixedSizeSplitter
        from neo4j_graphrag.experimental.pipeline.kg_builder import SimpleKGPipeline

        setting = self.job.setting
        splitter = FixedSizeSplitter(setting("chunk_characters", 4000), setting("chunk_overlap_characters", 200))
        builder = SimpleKGPipeline(
            llm=self.llm, driver=self.driver, embedder=self.embedder, from_file=False, text_splitter=splitter,
            schema="FREE",
            perform_entity_resolution=setting("entity_resolution", False), neo4j_database=self.database,
        )
        failed = []
        for document in documents:
            # gather hands errors back: one document that fails must not end the index
            outcome = (await asyncio.gather(builder.run_async(text=document["text"], file_path=document["id"]), return_exceptions=True))[0]
            cause = f"{type(outcome).__name__}: {outcome}" if isinstance(outcome, BaseException) else unwritten(outcome)
            if cause:
                failed.append(f"document {document['id']} failed: {cause}")
        return failed

    def answer(self, question: str) -> PackageAnswer:
        more = {} if self.job.mode == "text2cypher" else {"top_k": self.job.setting("top_k", 5)}
        reply = self.rag.search(question, retriever_config=more, return_context=True)
        items = reply.retriever_result.items if reply.retriever_result else []
        contexts = [{"text": item.content, **(item.metadata or {})} for item in items]
        metadata = (reply.retriever_result.metadata or {}) if reply.retriever_result else {}
        return PackageAnswer(reply.answer, contexts, cypher=metadata.get("cypher"))

    def _schema(self) -> str:
        """The database's labels, properties and relations in words, without APOC."""
        nodes = [f"{row['owner']} {{{', '.join(row['properties'])}}}" for row in self._rows(NODE_TYPES)]
        edges = [f"({':'.join(row['source'])})-[:{row['type']}]->({':'.join(row['target'])})" for row in self._rows(RELATION_TYPES)]
        return "\n".join(["Node properties:", *nodes, "The relationships:", *edges])

    def _rows(self, query: str) -> list[Any]:
        import neo4j

        rows, _, _ = self.driver.execute_query(query, database_=self.database, routing_=neo4j.RoutingControl.READ)
        return list(rows)

    def _number(self, query: str) -> int:
        return int(self._rows(query)[0][0])

    def close(self) -> None:
        self.driver.close()


def merge_without_apoc() -> None:
    """Has the package's writer merge relations in plain Cypher. Without it they would be lost with no more than a line
    in the log."""
    from neo4j_graphrag.components import kg_writer

    theirs = kg_writer.upsert_relationship_query

    def ours(*given: Any, **named: Any) -> str:
        query = theirs(*given, **named)
        if WITH_APOC not in query:
            raise RuntimeError(
                "this version of neo4j-graphrag writes relations in another way: install APOC on the server",
            )
        return str(query.replace(WITH_APOC, WITHOUT_APOC))

    kg_writer.upsert_relationship_query = ours


def unwritten(done: Any) -> str:
    """Why the writer did not write: it tells by its result only."""
    written = (getattr(done, "result", None) or {}).get("writer") or {}
    fields = written if isinstance(written, dict) else vars(written)
    return "" if fields.get("status", "SUCCESS") == "SUCCESS" else str((fields.get("metadata") or {}).get("error", "not written"))[:500]


def as_passage(record: Any) -> Any:
    """A row of a vector search as the package's item: the text the model sees, and where it is from."""
    from neo4j_graphrag.types import RetrieverResultItem

    row = dict(record)
    text, facts = row.get("text"), row.get("facts") or []
    known = {"chunk_id": row.get("id"), "document": row.get("document"), "score": row.get("score")}
    content = "\n".join([text or str(row), *map(str, facts)])
    return RetrieverResultItem(
        content=content, metadata={name: value for name, value in known.items() if value is not None},
    )


def as_values(record: Any) -> Any:
    """A row of a generated query as the package's item."""
    from neo4j_graphrag.types import RetrieverResultItem

    return RetrieverResultItem(content=str(dict(record)), metadata=None)


if __name__ == "__main__":
    main("neo4j-graphrag", Neo4jGraphRag)
