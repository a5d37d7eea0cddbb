"""Structures out of Neo4j and GDS: seeded, repeatable, each once. open_sampler is the way in."""
