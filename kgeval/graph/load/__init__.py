"""Loads graphs from files into Neo4j in kgeval's own layout: readers, format detection, writer."""
