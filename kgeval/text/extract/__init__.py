"""Extractors: chunks in, mentions of entities and links between them out. What an extractor may not do: merge, or write."""
