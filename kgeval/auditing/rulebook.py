"""The rules: one table a rule in rules/*.toml. Its text is the docs page, the advice, and what `kgeval checks show` prints."""

from __future__ import annotations

import importlib.util
import tomllib
from collections.abc import Sequence
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from kgeval.config import explain
from kgeval.errors import ConfigError, UsageError
from kgeval.profiling.record import Kind
from kgeval.records import GROUPS, Group, Severity
from kgeval.text.wordlists import word_list

Role = Literal[
    "relations", "types", "relation_labels", "chunks", "chunk_text", "mentions", "relation_sources", "documents",
    "descriptions", "aliases", "validity", "names", "gds", "schema", "source_limit",
    "embeddings", "nearness", "whole_view", "document_states", "chunk_order", "communities", "community_reports", "community_parents",
    "memories",
]
Setting = float | int | str | bool
Wide = Literal["schema", "part", "embedding", "telling", "profile"]
LabelRole = Literal["entity", "record", "value"]
Hit = Literal["first", "group", "items", "pairs", "share"]


class Rule(BaseModel):
    """One check: what it finds, why it matters, how to repair. `threshold`: share (0..1) that still passes. `cost`: what the hits cost
    those who ask the graph, as the end of a sentence that begins with "3 of 9 entities"; true for one hit and for many.

    `settings`, `words`: its own settings and lists of words; `reads`: what it reads of the options of the whole audit (the schema to check,
    the part to look at, what makes embeddings, properties that tell relations apart, the profile). It gets these and no others.

    `kinds`, `roles`: of labels that it is asked of, by the profile (empty: all); `where_names_identify`: only of labels whose names tell
    which thing is meant; `no_works`: of no works that people keep, which may be called anything; `bearers`: also of values, whatever
    `roles` says, whose label is a word for people, organizations or the like (a Judge). Others are left out, or, of a `whole` check,
    looked at too where any label is asked of. `severity_in`: by kind of graph, where it is not `severity`.

    `advice_made`: the advice in a graph that people made, where it is another one.

    `cause`: its hits are behind those of other findings; `explains`: those checks ("*": all), whose counts leave out what is a hit of this
    one too (kgeval.auditing.causes).

    `hit`: what an example stands for. first: its first item, the others illustrate it; group: all its items together; items: each of its
    items, which no other example has; pairs: two items, and what counts are the items of all pairs, each once; share: nothing that can be
    told again after a rebuild, so that only the share can be compared.

    `repair`: the file of cypher/repair that a person may run (a reading one shows what to look at); empty: there is none, and `no_repair`
    says why. A repair that could lose a fact (a property's value, a relation, a link to a text) is none. `repair_safe`: right for every
    hit, without looking. `repair_lists_hits`: its element ids are those of the hits. `repair_needs`: parts of the layout without which
    there is no repair, with the reason. `repair_only_extracted`: why there is none for a graph of which nothing shows that a writer
    extracted it from texts; empty: there is one for any graph. `repair_renames_types`: it gives relations another type where no property
    holds their name, so that there is none where the layout's writer knows one type only.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    group: Group
    title: str
    severity: Severity
    total_of: str
    threshold: float = Field(default=0.0, ge=0, le=1)
    hit: Hit = "first"
    needs: list[Role] = Field(default_factory=list)
    words: dict[str, str] = Field(default_factory=dict)
    settings: dict[str, Setting] = Field(default_factory=dict)
    reads: list[Wide] = Field(default_factory=list)
    kinds: list[Kind] = Field(default_factory=list)
    roles: list[LabelRole] = Field(default_factory=list)
    where_names_identify: bool = False
    no_works: bool = False
    bearers: bool = False
    whole: bool = False
    severity_in: dict[Kind, Severity] = Field(default_factory=dict)
    cause: bool = False
    explains: list[str] = Field(default_factory=list)
    cost: str
    advice: str
    advice_made: str = ""
    finds: str
    why: str
    example: str
    limits: str
    repair: str = ""
    no_repair: str = ""
    repair_safe: bool = False
    repair_lists_hits: bool = True
    repair_note: str = ""
    repair_needs: dict[str, str] = Field(default_factory=dict)
    repair_only_extracted: str = ""
    repair_renames_types: bool = False

    def filled(self, text: str) -> str:
        """A text of the rule with the default settings put in."""
        for name, value in self.settings.items():
            text = text.replace("{" + name + "}", str(value))
        return text

    @property
    def step(self) -> str | None:
        """The module of the rule's Python step, or None if its Cypher file says it all."""
        module = f"kgeval.auditing.steps.{self.id.replace('-', '_')}"
        return module if importlib.util.find_spec(module) else None


@cache
def load_rules() -> dict[str, Rule]:
    """Every rule by id, in the order of the groups.

    Raises: ConfigError that names every faulty table.
    """
    rules: dict[str, Rule] = {}
    faults: list[str] = []
    for path in sorted((Path(__file__).parent / "rules").glob("*.toml")):
        for rule_id, table in tomllib.loads(path.read_text(encoding="utf-8")).items():
            try:
                rules[rule_id] = Rule.model_validate({"id": rule_id, **table})
            except ValidationError as wrong:
                faults += [f"{path.name}: {rule_id}: {line}" for line in explain(wrong)]
    if faults:
        raise ConfigError("faulty rules:\n  " + "\n  ".join(faults), fix="correct the tables named above")
    return dict(sorted(rules.items(), key=lambda item: (GROUPS.index(item[1].group), item[0])))


def words_of(rule: Rule) -> dict[str, list[str]]:
    """The lists of words that a check takes, by the names of its parameters."""
    return {name: word_list(stem) for name, stem in rule.words.items()}


def choose(checks: Sequence[str], skip: Sequence[str]) -> list[Rule]:
    """The rules to run: all, or those named (ids or groups), less the skipped ones.

    Raises: UsageError that names every unknown id.
    """
    rules = load_rules()
    known = {*rules, *GROUPS}
    unknown = [name for name in [*checks, *skip] if name not in known]
    if unknown:
        near = dict.fromkeys(match for name in unknown for match in get_close_matches(name, known, n=2))
        meant = f"did you mean {' or '.join(near)}? " if near else ""
        raise UsageError(f"no such check: {', '.join(unknown)}", fix=f"{meant}kgeval checks list names all checks and groups")
    wanted = [r for r in rules.values() if not checks or r.id in checks or r.group in checks]
    left = [r for r in wanted if r.id not in skip and r.group not in skip]
    if not left:
        raise UsageError("no check is left to run", fix="leave out --skip, or name other checks")
    return left
