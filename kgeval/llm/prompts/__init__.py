"""Prompts are text files, one each, in a folder a language (en is complete). Slots are named in the head; texts are fenced as data.

    # judge-triples: one sentence that says what is asked
    # slots: passage, items
    --- system ---
    text
    --- user ---
    text with {{passage}} and {{items}}

A slot's value goes in as JSON between two lines that no value can contain, because "<" and ">" are escaped in it:

    <data name="passage">
    "The text, with its line ends and its \\u003ctags\\u003e escaped."
    </data>

Items are one JSON object a line, with the tag that an answer must repeat: {"tag": "k7", "item": ...}.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from pydantic import JsonValue

from kgeval.errors import ConfigError, named_again
from kgeval.llm.characters import whole

HOME = Path(__file__).parent
ITEMS = "items"
_SLOT = re.compile(r"\{\{\s*(\w+)\s*\}\}")
_PARTS = re.compile(r"^--- (system|user) ---[ \t]*\n", re.MULTILINE)


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


def load_prompt(name: str, language: str = "en") -> Prompt:
    """The prompt of that name in that language, or in English where the language has none (`.language` tells which).

    `ask-node+question-profile` is a prompt with the two parts of another one added: its rules at the end of the rules, what it
    shows before what the first shows.
    Raises: ConfigError for an unknown name, and for a file with faults (all of them at once).
    """
    first, _, added = name.partition("+")
    prompt = _load(first, language)
    if not added:
        return prompt
    part = _load(added, language)
    return Prompt(
        name=name, language=prompt.language, hash=hashlib.sha256(f"{prompt.hash}+{part.hash}".encode()).hexdigest()[:16],
        slots=(*part.slots, *prompt.slots), system=f"{prompt.system}\n\n{part.system}", user=f"{part.user}\n\n{prompt.user}",
    )


@cache
def _load(name: str, language: str) -> Prompt:
    if not re.fullmatch(r"[a-z0-9-]+", name) or not re.fullmatch(r"[A-Za-z][A-Za-z-]*", language):
        raise ConfigError(f"{name!r} in {language!r} cannot be a prompt", fix="names look like judge-triples, languages like en or de")
    for folder in dict.fromkeys((language, "en")):
        path = HOME / folder / f"{name}.txt"
        if path.is_file():
            return parse_prompt(path.read_text(encoding="utf-8"), name=name, language=folder)
    raise ConfigError(f"there is no prompt {name}", fix=f"prompts in English: {', '.join(prompt_names()) or 'none'}")


def prompt_names(language: str = "en") -> list[str]:
    """The names of the prompts that stand in a language's folder."""
    return sorted(path.stem for path in (HOME / language).glob("*.txt"))


def parse_prompt(text: str, *, name: str, language: str = "en") -> Prompt:
    """A prompt file's content. Raises ConfigError with every fault of its head and parts."""
    first, *rest = _PARTS.split(text)
    parts = dict(zip(rest[::2], (part.strip() for part in rest[1::2]), strict=True))
    head = [line[2:].strip() for line in first.splitlines() if line.startswith("# ")]
    declared = [line.removeprefix("slots:") for line in head if line.startswith("slots:")]
    slots = tuple(slot.strip() for slot in ",".join(declared).split(",") if slot.strip())
    faults = [*_head_faults(name, first, head), *_part_faults(rest[::2], parts), *_slot_faults(slots, parts.values())]
    if faults:
        raise ConfigError(f"prompt {language}/{name}.txt: " + "; ".join(faults), fix="the form of a prompt file: kgeval help models")
    digest = hashlib.sha256(text.encode("utf-8")).hexdigest()[:16]
    return Prompt(name=name, language=language, hash=digest, slots=slots, system=parts["system"], user=parts["user"])


def _head_faults(name: str, first: str, head: list[str]) -> list[str]:
    faults = []
    if not head or not re.match(rf"{re.escape(name)}: \S", head[0]):
        faults.append(f'the first line must be "# {name}: " and a sentence that says what is asked')
    stray = [line for line in first.splitlines() if line.strip() and line[:2] not in ("# ", "#")]
    return faults + [f'"{line}" stands between the head and the parts' for line in stray]


def _part_faults(order: list[str], parts: Mapping[str, str]) -> list[str]:
    if order != ["system", "user"]:
        return ["there must be the parts --- system --- and --- user ---, once each, in that order"]
    return [f"the part {part} is empty" for part, text in parts.items() if not text]


def _slot_faults(slots: tuple[str, ...], parts: Iterable[str]) -> list[str]:
    used = {slot for part in parts for slot in _SLOT.findall(part)}
    faults = [f"slot {slot} is used but not declared" for slot in sorted(used - set(slots))]
    faults += [f"slot {slot} is declared but not used" for slot in sorted(set(slots) - used)]
    return faults + [f"slot {slot} is declared twice" for slot in named_again(slots)]


def render(prompt: Prompt, slots: Mapping[str, JsonValue], items: Mapping[str, JsonValue]) -> tuple[str, str]:
    """The system and the user message, with every value fenced in. `items`: tag -> item, shown in the slot `items`.

    Raises: ValueError if the values are not those that the prompt declares.
    """
    fences = {name: fence(name, [_json(value)]) for name, value in slots.items()}
    if items:
        if ITEMS in fences:
            raise ValueError(f"prompt {prompt.name}: `items` is given as a slot and as items")
        fences[ITEMS] = fence(ITEMS, [_json({"tag": tag, "item": item}) for tag, item in items.items()])
    if set(fences) != set(prompt.slots):
        raise ValueError(f"prompt {prompt.name} takes the slots {sorted(prompt.slots)}, not {sorted(fences)}")
    return _fill(prompt.system, fences), _fill(prompt.user, fences)


def fence(name: str, lines: Iterable[str]) -> str:
    """Lines of JSON between two lines that none of them can contain."""
    return f'<data name="{name}">\n' + "\n".join(lines) + "\n</data>"


def _fill(text: str, fences: Mapping[str, str]) -> str:
    """One pass over the prompt's own text: what a value contains is never looked at again."""
    return _SLOT.sub(lambda match: fences[match.group(1)], text)


def _json(value: JsonValue) -> str:
    """JSON without "<" and ">", in the text's own script; half characters (lone surrogates) become U+FFFD."""
    text = json.dumps(value, ensure_ascii=False, sort_keys=False).replace("<", "\\u003c").replace(">", "\\u003e")
    text = text.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029").replace("\x85", "\\u0085")
    return whole(text)
