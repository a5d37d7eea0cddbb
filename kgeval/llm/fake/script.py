"""Scripts: what the fake model says to which request. A file of rules (JSONL or TOML), a list of rules, or a function."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError, field_validator, model_validator

from kgeval.errors import InputError
from kgeval.limits import parse_toml
from kgeval.llm.fake.request import Chat
from kgeval.tables import read_jsonl, read_text

Fault = Literal[
    "rate_limit", "server_error", "overloaded", "hang", "disconnect", "cut", "prose", "wrong_type", "empty", "refusal",
    "missing", "doubled", "extra", "shifted",
]


class Rule(BaseModel):
    """One rule. Conditions: `match` (a text that some message contains), `regex`, `prompt` (the name of one of kgeval's prompts);
    all that are given must hold. `item`: the rule is about single items whose JSON contains this text, and sets the
    fields `each` of their answers.

    What it does: `reply` (text, or a value sent as JSON), `each` (fields of the answer to every item), `status` (an HTTP
    error, with `message`), `retry_after` (seconds, sent with the status), `fault` (by name), `delay` (seconds, for the server's own).
    `times`: how often the rule answers before later rules get their turn; None: always. A rule with a delay only changes nothing else.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    match: str | None = None
    regex: str | None = None
    prompt: str | None = None
    item: str | None = None
    reply: JsonValue = None
    each: dict[str, JsonValue] = Field(default_factory=dict)
    status: int | None = Field(default=None, ge=400, le=599)
    message: str = "the script says so"
    retry_after: float | None = Field(default=None, ge=0)
    fault: Fault | None = None
    delay: float | None = Field(default=None, ge=0, le=3600)
    times: int | None = Field(default=None, ge=1)

    @field_validator("regex")
    @classmethod
    def _compiles(cls, value: str | None) -> str | None:
        try:
            re.compile(value or "")
        except re.error as cause:
            raise ValueError(f"no regular expression: {cause}") from cause
        return value

    @model_validator(mode="after")
    def _one_thing(self) -> Rule:
        others = {"reply", "status", "fault", "delay", "times", "retry_after", "message"}
        if self.item is not None and (not self.each or self.model_fields_set & others):
            raise ValueError("a rule with `item` sets `each` and nothing else")
        if sum((self.reply is not None, self.status is not None, self.fault is not None)) > 1:
            raise ValueError("give one of reply, status, fault")
        return self

    def fits(self, chat: Chat, openings: Mapping[str, str]) -> bool:
        """True if every condition on the request holds. `openings`: prompt name -> the text that its requests begin with."""
        return (
            (self.match is None or self.match in chat.text)
            and (self.regex is None or re.search(self.regex, chat.text) is not None)
            and (self.prompt is None or openings[self.prompt] in chat.text)
        )


@dataclass
class Script:
    """Rules in order, with how often each has answered; or a function from a request to a reply (None: the model's own)."""

    rules: tuple[Rule, ...] = ()
    function: Callable[[Chat], JsonValue | Rule] | None = None
    openings: Mapping[str, str] = field(default_factory=dict)
    used: dict[int, int] = field(default_factory=dict)

    def find(self, chat: Chat) -> Rule | None:
        """The rule that answers this request (its use is counted), or None."""
        if self.function is not None:
            reply = self.function(chat)
            return reply if isinstance(reply, Rule) or reply is None else Rule(reply=reply)
        for place, rule in enumerate(self.rules):
            if rule.item is None and self.used.get(place, 0) < (rule.times or float("inf")) and rule.fits(chat, self.openings):
                self.used[place] = self.used.get(place, 0) + 1
                return rule
        return None

    def each(self, chat: Chat, rule: Rule | None) -> dict[str, Mapping[str, JsonValue]]:
        """Tag -> the fields that the script sets in its answer: by the first rule for that item, else by the request's rule."""
        about = [other for other in self.rules if other.item is not None and other.fits(chat, self.openings)]
        fields: dict[str, Mapping[str, JsonValue]] = {}
        for tag, item in chat.items.items():
            own = next((other.each for other in about if other.item is not None and other.item in item), None)
            if own is not None or rule is not None:
                fields[tag] = own if own is not None else rule.each if rule is not None else {}
        return fields

    def reset(self) -> None:
        """Forgets how often the rules have answered."""
        self.used.clear()


def make_script(given: Script | Path | list[Rule] | Callable[[Chat], JsonValue | Rule] | None) -> Script:
    """A script from whatever form it was given in."""
    if given is None or isinstance(given, Script):
        return given or Script()
    if isinstance(given, Path):
        return read_script(given)
    return _with_openings(tuple(given)) if isinstance(given, list) else Script(function=given)


def read_script(path: Path) -> Script:
    """The rules of a JSONL file (one a line) or a TOML file (`[[rule]]` tables).

    Raises: InputError that lists every faulty rule with its line (TOML: its place in the list).
    """
    rules, faults = [], []
    for where, value, fault in _raw(path):
        try:
            rules.append(Rule.model_validate(value)) if fault is None else faults.append(f"{where}: {fault}")
        except ValidationError as cause:
            faults += [f"{where}: {'.'.join(map(str, e['loc'])) or 'rule'}: {e['msg']}" for e in cause.errors()]
    if faults:
        raise InputError(f"{path}: {len(faults)} faults in the script", fix="kgeval help fake-model lists the keys", faults=faults)
    return _with_openings(tuple(rules))


def _raw(path: Path) -> list[tuple[str, JsonValue, str | None]]:
    if path.suffix != ".toml":
        return [(line.where, line.value, line.fault) for line in read_jsonl(path)]
    try:
        data = parse_toml(read_text(path))
    except tomllib.TOMLDecodeError as cause:
        raise InputError(f"{path}: not TOML: {cause}", fix="correct the file there") from cause
    rules = data.pop("rule", [])
    if data or not isinstance(rules, list):
        raise InputError(f"{path}: only [[rule]] tables belong into a script", fix="kgeval help fake-model has an example")
    return [(f"{path.name}: rule {place}", rule, None) for place, rule in enumerate(rules, start=1)]


def _with_openings(rules: tuple[Rule, ...]) -> Script:
    """Requests of a prompt are known by the text before the first slot of its system part (its user part if that is empty)."""
    from kgeval.llm.prompts import load_prompt

    names = {rule.prompt for rule in rules if rule.prompt is not None}
    prompts = {name: load_prompt(name) for name in sorted(names)}
    return Script(rules, openings={name: (p.system or p.user).split("{{")[0].strip() for name, p in prompts.items()})
