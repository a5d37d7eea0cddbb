"""Prompts are text files, one each, in a folder a language (en is complete). Slots are named in the head; texts are fenced as data."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Prompt:
    """A prompt file. `hash` (SHA-256 of the file, first 16 hex digits) goes into journal keys and signatures.

    `system` and `user` are the two parts, with `{{slot}}` where a value goes in.
    """

    name: str
    language: str
    hash: str
    slots: tuple[str, ...]
    system: str
    user: str
