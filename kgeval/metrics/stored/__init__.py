"""Answers against the stored graph."""
