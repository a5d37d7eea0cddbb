"""kgeval evaluates knowledge graphs stored in Neo4j, and the GraphRAG systems built on them."""

__version__ = "0.1.0"
