"""The names in the examples of writers' own prompts, and when entities of these names come from there and from no text."""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Iterator
from functools import cache
from pathlib import Path

from pydantic import BaseModel, ConfigDict

FILE = Path(__file__).with_name("prompt_examples.toml")
RARE, COMMON = 2, 1  # what a name weighs as evidence; one that many texts name weighs nothing
ENOUGH, ENOUGH_BLIND = 2, 4  # what is enough where texts can be asked, and where there are none: two rare names, or four common ones


class PromptExample(BaseModel):
    """One example. `of`: packages and versions that have it; `about`: what it is about; its names in lower case, by how much they say."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    of: str
    about: str
    rare: list[str]
    common: list[str]
    everyday: list[str]

    def weight(self, name: str) -> int:
        """What a name (in lower case) says for this example: 0 for one that many texts name."""
        return RARE if name in self.rare else COMMON if name in self.common else 0

    @property
    def names(self) -> Iterator[str]:
        """All its names."""
        yield from (*self.rare, *self.common, *self.everyday)


class _File(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    story: list[PromptExample]


@cache
def prompt_examples() -> tuple[PromptExample, ...]:
    """All examples, in the file's order."""
    return tuple(_File.model_validate(tomllib.loads(FILE.read_text(encoding="utf-8"))).story)


def leaked_names(example: PromptExample, names: Collection[str], in_texts: Collection[str] | None) -> list[str]:
    """The names (in lower case) of a graph's entities that come from an example. `in_texts`: those that the graph's texts hold; None where
    there is no text to ask.

    With texts: whatever none of them holds, where one rare name or two others are of this kind. Without: several rare names together, or
    four of its names, and of these only such as say something.
    """
    own = [name for name in example.names if name in names]
    if in_texts is None:
        said = [name for name in own if example.weight(name)]
        return said if sum(map(example.weight, said)) >= ENOUGH_BLIND else []
    foreign = [name for name in own if name not in in_texts]
    return foreign if sum(map(example.weight, foreign)) >= ENOUGH else []
