"""Builds a graph from extractions: resolves mentions to entities, and brings the graph in Neo4j to that state."""
