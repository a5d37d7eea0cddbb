"""LangChain: LLMGraphTransformer, then Neo4jGraph.add_graph_documents.

Argument: base (base label and sources), sources, or plain (neither).
"""

from __future__ import annotations

import sys

from reach import URI, USER, password
from world import DOCUMENTS


def write(form: str) -> None:
    from langchain_core.documents import Document
    from langchain_neo4j import Neo4jGraph
    from langchain_neo4j.graph_transformers.llm import LLMGraphTransformer
    from langchain_openai import ChatOpenAI

    transformer = LLMGraphTransformer(llm=ChatOpenAI(model="langchain"))
    documents = [Document(page_content=text, metadata={"source": name}) for name, text in DOCUMENTS.items()]
    found = transformer.convert_to_graph_documents(documents)
    with Neo4jGraph(url=URI, username=USER, password=password()) as graph:
        if form == "plain":
            graph.add_graph_documents(found)
        else:
            graph.add_graph_documents(found, include_source=True, baseEntityLabel=form == "base")


if __name__ == "__main__":
    write(sys.argv[1])
