"""Domain profiles: what is asked about in a kind of texts, who asks, how they word it, and which forms creative tasks take.

The tables are the .toml files here, and files of the same form that users write. A file names what it changes of the profile
that it extends:

    about                         what the texts are, in a line
    extends                       the profile that gives what this file leaves out [default: generic]
    facts, reasoning, summaries   what questions of these levels are about
    [[creative]]                  a form: name; way (role: speak as somebody, rewriting: another kind of text); task, in a sentence
    [[personas]]                  who asks: name; about, in a sentence; tasks: what they need the answer for
    styles                        how questions are worded: one of these for each question
    [[examples]]                  good questions: question; answer; kinds, or groups of them, that it is an example for (none: all)
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue, StringConstraints, ValidationError, ValidationInfo

from kgeval.config import explain
from kgeval.config.questions import PROFILES
from kgeval.errors import ConfigError, did_you_mean, named_again
from kgeval.limits import parse_toml

FOLDER = Path(__file__).parent
PART = "question-profile"  # the prompt that shows reader, style and examples; it is added to those that make a question
MOST_TEXTS, MOST_EXAMPLES = 50, 20  # all examples of a kind are in each of its prompts
Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=2_000)]
Texts = Annotated[tuple[Text, ...], Field(min_length=1, max_length=MOST_TEXTS)]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class CreativeForm(_Part):
    """A form of a creative task. `task`: what is to be written, as a prompt shows it."""

    name: Text
    way: Literal["role", "rewriting"]
    task: Text


class Persona(_Part):
    """Somebody who asks. `about`: who that is, in a sentence; `tasks`: what the answers are needed for."""

    name: Text
    about: Text
    tasks: Texts


class QuestionExample(_Part):
    """A good question. `kinds`: kinds of questions, or groups of them, that it is shown for; empty: all."""

    question: Text
    answer: Annotated[str, StringConstraints(strip_whitespace=True, max_length=2_000)] = ""
    kinds: tuple[str, ...] = ()


def _named_once(parts: tuple[Any, ...]) -> tuple[Any, ...]:
    if twice := named_again(part.name for part in parts):
        raise ValueError(f"several are called {', '.join(twice)}")
    return parts


def _of_known_kinds(examples: tuple[QuestionExample, ...], info: ValidationInfo) -> tuple[QuestionExample, ...]:
    """The examples with the kinds of each group in its place. The context has the kinds by names of kinds and groups."""
    kinds_of: Mapping[str, tuple[str, ...]] | None = info.context
    if kinds_of is None:
        return examples
    wrong = dict.fromkeys(name for example in examples for name in example.kinds if name not in kinds_of)
    if wrong:
        raise ValueError("no kind of question: " + ", ".join(f"'{name}'{did_you_mean(name, kinds_of)}" for name in wrong))
    return tuple(
        example.model_copy(update={"kinds": tuple(kind for name in example.kinds for kind in kinds_of[name])}) for example in examples
    )


class DomainProfile(_Part):
    """What readers of a domain ask about [X figures 8 and 10], and how [X D]. `label`: its name, of a user's file with a digest
    of what is in it: a changed file is another profile."""

    name: Text
    label: str = ""
    about: str = ""
    facts: Texts
    reasoning: Texts
    summaries: Texts
    creative: Annotated[tuple[CreativeForm, ...], Field(min_length=1, max_length=MOST_TEXTS), AfterValidator(_named_once)]
    personas: Annotated[tuple[Persona, ...], Field(max_length=MOST_TEXTS), AfterValidator(_named_once)] = ()
    styles: Annotated[tuple[Text, ...], Field(max_length=MOST_TEXTS)] = ()
    examples: Annotated[tuple[QuestionExample, ...], Field(max_length=MOST_EXAMPLES), AfterValidator(_of_known_kinds)] = ()

    def form(self, number: int) -> CreativeForm:
        """One of the forms, by a number: all come up equally often."""
        return self.creative[number % len(self.creative)]

    def asked_as(self, number: int) -> dict[str, str]:
        """Persona, task and style of the question of this number, as far as the profile has them. All come up equally often, and
        each style with each persona."""
        chosen = {}
        persona_round, place = divmod(number, len(self.personas) or 1)
        if self.personas:
            persona = self.personas[place]
            chosen = {"persona": persona.name, "task": persona.tasks[persona_round % len(persona.tasks)]}
        if self.styles:
            # each persona begins with another style and has the next one each round: so it meets all, however many personas there are
            chosen["style"] = self.styles[(persona_round + place) % len(self.styles)]
        return chosen

    def slots(self, kind: str, number: int) -> dict[str, JsonValue]:
        """What the prompt PART shows for a question of a kind; nothing where the profile says neither who asks nor how."""
        chosen = self.asked_as(number)
        about = {persona.name: persona.about for persona in self.personas}
        examples: list[JsonValue] = [
            {"question": example.question, **({"answer": example.answer} if example.answer else {})}
            for example in self.examples if not example.kinds or kind in example.kinds
        ]
        if not chosen and not examples:
            return {}
        reader: JsonValue = (
            {"who": chosen["persona"], "about": about[chosen["persona"]], "task": chosen["task"]} if "persona" in chosen else None
        )
        return {"reader": reader, "style": chosen.get("style"), "examples": examples}


def load_profile(name: str, kinds_of: Mapping[str, tuple[str, ...]] | None = None) -> DomainProfile:
    """A built-in profile by name, or a file of one's own by path. `kinds_of`: kinds of questions by the names that examples may
    have (kinds.question_profile gives all); None: these names are not looked at.

    Raises: ConfigError that names the file and everything that is wrong with it, or the profiles that there are. """
    if name in PROFILES:
        return _built_in(name)
    path = Path(name)
    if not path.is_file():
        fix = f"profiles are {', '.join(PROFILES)}; or the path of a TOML file (kgeval questions profiles law prints one)"
        raise ConfigError(f"there is no profile '{name}', and no file of that name", fix=fix)
    try:
        content = path.read_bytes()
        values = parse_toml(content.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as cause:
        raise ConfigError(f"{path}: {cause}", fix="a profile is TOML in UTF-8; kgeval questions profiles law prints one") from cause
    faults = [f"{key}: unknown key (a profile is called as its file is)" for key in ("name", "label") if key in values]
    extends = values.get("extends", "generic")
    if extends not in PROFILES:
        faults.append(f"extends: there is no profile {extends!r}{did_you_mean(str(extends), PROFILES)}")
        extends = "generic"  # so that the rest of the file is looked at all the same
    own = {key: value for key, value in values.items() if key not in ("extends", "name", "label")}
    named = {"name": path.stem, "label": f"{path.stem}@{hashlib.sha256(content).hexdigest()[:12]}"}
    try:
        profile = DomainProfile.model_validate({**_built_in(extends).model_dump(), **own, **named}, context=kinds_of)
    except ValidationError as cause:
        faults += explain(cause, DomainProfile)
    if faults:
        raise ConfigError(
            f"{path}: " + "; ".join(faults),
            fix="the keys: kgeval help questions-profiles; kgeval questions profiles law prints a complete file",
        )
    return profile


@cache
def _built_in(name: str) -> DomainProfile:
    values = tomllib.loads((FOLDER / f"{name}.toml").read_text(encoding="utf-8"))
    return DomainProfile.model_validate({**values, "name": name, "label": name})
