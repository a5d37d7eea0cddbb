"""Domain profiles: what is asked about in a kind of texts, and which forms creative tasks take. The tables are the
.toml files here.

    facts, reasoning, summaries   what questions of these levels are about
    [[creative]]                  a form: name; way (role: speak as somebody, rewriting: another kind of text); task, in a sentence
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal, get_args

from kgeval.errors import ConfigError
from kgeval.questions.kinds import Profile

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class CreativeForm:
    """A form of a creative task. `task`: what is to be written, as a prompt shows it."""

    name: str
    way: Literal["role", "rewriting"]
    task: str


@dataclass(frozen=True)
class DomainProfile:
    """What readers of a domain ask about [X figures 8 and 10]."""

    name: str
    facts: tuple[str, ...]
    reasoning: tuple[str, ...]
    summaries: tuple[str, ...]
    creative: tuple[CreativeForm, ...]

    def form(self, number: int) -> CreativeForm:
        """One of the forms, by a number: all come up equally often."""
        return self.creative[number % len(self.creative)]


@cache
def load_profile(name: str) -> DomainProfile:
    """The profile of that name. Raises: ConfigError for a name that is not one of the profiles."""
    if name not in get_args(Profile):
        raise ConfigError(f"there is no profile {name!r}", fix=f"choose one of: {', '.join(get_args(Profile))}")
    values = tomllib.loads((FOLDER / f"{name}.toml").read_text(encoding="utf-8"))
    lists = {key: tuple(values[key]) for key in ("facts", "reasoning", "summaries")}
    return DomainProfile(name, **lists, creative=tuple(CreativeForm(**form) for form in values["creative"]))
