"""The settings of the built-in systems: one table with types, bounds and meaning; read all at once, with variants for
ablations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from pydantic import JsonValue

from kgeval.config.answer import PresetName
from kgeval.errors import UsageError
from kgeval.systems.builtin.tools import NEEDS
from kgeval.systems.system import name_with

SettingType = Literal["whole number", "number", "yes or no", "text", "list"]
RETRIEVING = ("vector", "graph", "graph+text")
GRAPHS = ("graph", "graph+text")
COMMUNITIES = ("communities",)
EVERY = ("closed-book", *RETRIEVING, *COMMUNITIES)
YES, NO = ("yes", "true", "on", "1"), ("no", "false", "off", "0")
# What GraphRAG-Bench [X] has its systems answer with. Trials are there to show how answers differ by sampling [Z 4.2]; at 0 they would not
TRIAL_TEMPERATURE = 0.7
RERANKER = "cross-encoder/ms-marco-MiniLM-L-6-v2"


@dataclass(frozen=True)
class BuiltinSetting:
    """One setting: who has it, its type, its bounds (both included) or choices, and what it does."""

    name: str
    systems: tuple[str, ...]
    type: SettingType
    about: str
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()


SETTINGS: tuple[BuiltinSetting, ...] = (
    BuiltinSetting(
        "k", RETRIEVING, "whole number", "vector: chunks in the context; graph: entry entities at most.", 1, 1_000,
    ),
    BuiltinSetting(
        "chunk_tokens", ("vector",), "whole number",
        "Retrieve pieces of at most so many tokens of the embedding model, cut from the graph's chunks; 0: the chunks.", 0, 100_000,
    ),
    BuiltinSetting("theta", GRAPHS, "number", "An entry entity's cosine with the question is above this.", -1, 1),
    BuiltinSetting("hops", GRAPHS, "whole number", "How far the graph is walked from the entry entities.", 1, 3),
    BuiltinSetting("most", GRAPHS, "whole number", "Relations of one entity that are looked at, at most (bounds super-nodes).", 1, 10_000),
    BuiltinSetting(
        "l_max", (*RETRIEVING, *COMMUNITIES), "whole number", "Tokens of the context, at most; vector takes that of a graph beside it.",
        20, 1_000_000,
    ),
    BuiltinSetting(
        "text_share", ("graph+text",), "number", "Share of l_max kept for chunks, which also get what relations leave over.", 0, 1,
    ),
    BuiltinSetting("entity_types", GRAPHS, "list", "Entry entities have one of these types, written A|B; empty: any."),
    BuiltinSetting("entry", GRAPHS, "text", "Where entry entities are searched.", choices=("lancedb", "neo4j")),
    BuiltinSetting("index", GRAPHS, "text", "With entry=neo4j: the name of the vector index; empty: the one on the layout's embeddings."),
    BuiltinSetting(
        "describe", GRAPHS, "yes or no", "Descriptions of relations and of entry entities (half of l_max at most) too.",
    ),
    BuiltinSetting(
        "elements", GRAPHS, "text", "What retrieved nodes and relations are called by in answers; names fit gold of another source.",
        choices=("ids", "names"),
    ),
    BuiltinSetting("rerank", RETRIEVING, "text", f"Order what was found by a cross-encoder: a model's name or folder; yes: {RERANKER}."),
    BuiltinSetting(
        "candidates", RETRIEVING, "whole number", "With rerank: chunks or relations that it orders, at most.", 1, 1_000,
    ),
    BuiltinSetting("communities", COMMUNITIES, "whole number", "How many communities are summed up, the largest ones.", 1, 1_000),
    BuiltinSetting(
        "facts", COMMUNITIES, "whole number", "Tokens of the facts that a summary is made from, at most.", 100, 1_000_000,
    ),
    BuiltinSetting(
        "map_tokens", COMMUNITIES, "whole number", "Tokens of the summaries that one call looks through for a question.", 500, 1_000_000,
    ),
    BuiltinSetting(
        "max_words", EVERY, "whole number", "Ask the reader for at most so many words; 0: no limit.", 0, 10_000,
    ),
    BuiltinSetting(
        "trial_temperature", EVERY, "number",
        "The reader's temperature where it answers a question several times and its model has no other than 0.", 0, 2,
    ),
    BuiltinSetting(
        "stream", EVERY, "yes or no", "The reader's reply comes piece by piece, so that the seconds to its first token are known (ttft_s).",
    ),
)
BY_NAME = {one.name: one for one in SETTINGS}
# later versions brought these: their defaults are in no signature, so that what was paid for before is found again
LATER = ("trial_temperature", "chunk_tokens", "stream", "elements")


@dataclass(frozen=True)
class Settings:
    """The settings of one built-in system; those that it does not have keep their defaults. SETTINGS says what each one
    does. `preset`: the paper whose settings stand in place of kgeval's defaults."""

    system: str
    preset: PresetName | None = None
    k: int = 5
    chunk_tokens: int = 0
    theta: float = 0.3
    hops: int = 1
    most: int = 100
    l_max: int = 1_000
    text_share: float = 0.5
    entity_types: tuple[str, ...] = ()
    entry: str = "lancedb"
    index: str = ""
    describe: bool = True
    elements: str = "ids"
    rerank: str = ""
    candidates: int = 30
    # what GraphRAG-Bench [X H.2] gives Microsoft's community reports: 8,000 tokens to be made from; and so much to look through
    communities: int = 50
    facts: int = 8_000
    map_tokens: int = 8_000
    max_words: int = 0
    trial_temperature: float = TRIAL_TEMPERATURE
    stream: bool = False

    @property
    def own(self) -> dict[str, JsonValue]:
        """The settings that this system has, by name."""
        own = {setting.name: getattr(self, setting.name) for setting in SETTINGS if self.system in setting.systems}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in own.items()}

    @property
    def variant(self) -> str | None:
        """What differs from the defaults ("hops=2,k=5"), or None; with a preset its name, and what differs from its settings."""
        usual = defaults(self.system, self.preset)
        changed = [f"{name}={_written(value)}" for name, value in self.own.items() if value != usual.own[name]]
        return ",".join([*([f"preset={self.preset}"] if self.preset else []), *changed]) or None

    @property
    def signature(self) -> str:
        """The system and all that is set, as answers keep it."""
        chosen = (f"{name}={value}" for name, value in self.own.items() if name not in LATER or value != getattr(Settings, name))
        return "|".join([self.system, ",".join(chosen), *([f"preset={self.preset}"] if self.preset else [])])

    @property
    def name(self) -> str:
        """The system's name with its variant: "graph", "graph@hops=2"."""
        return name_with(self.system, self.variant)


DEFAULTS: Mapping[str, Mapping[str, int | float]] = {"graph": {"k": 20}, "graph+text": {"k": 20}}


@dataclass(frozen=True)
class Preset:
    """How a paper ran its baselines: what stands in place of kgeval's defaults. `source`: where the paper prints it;
    `reader`, `embedding`: models by name; `temperature`: of the reader (None: not printed); `settings`: by system;
    `open`: what the paper leaves open, and what stands there."""

    source: str
    reader: str
    embedding: str
    settings: Mapping[str, Mapping[str, Any]]
    open: str
    temperature: float | None = None


# [K] names its models (3.4), one hop and one sentence a relation (3.3.2), and a reranker for both ways of retrieval
# (3.2.2, 5.3). Its models know texts up to 31 May 2024 (4.1), which is so of GPT-4.1 nano, the one that it names in 4.1.
# l_max holds five chunks of its 600 tokens (5.4.1): it showed its chunks whole.
_KASIAK = {"rerank": RERANKER, "l_max": 3_000}
_KASIAK_GRAPH = {**_KASIAK, "hops": 1, "describe": False}
# [X H.2] has five pieces of 256 tokens and a reranker. Its graph systems kept the settings of their packages, which ours
# are not: they have the same budget as vector, since contexts that differ in length compare lengths.
_XIANG_BUDGET = {"l_max": 5 * 256}
PRESETS: Mapping[PresetName, Preset] = {
    "kasiak": Preset(
        "Kasiak 3.2-3.4, 4.1, 5.3", "gpt-4.1-nano", "all-MiniLM-L6-v2",
        {"vector": _KASIAK, "graph": _KASIAK_GRAPH, "graph+text": _KASIAK_GRAPH},
        "k, theta, L_max and the temperature are not printed there: kgeval's own (l_max: 3000); chunks are the graph's (the "
        "paper's: about 600 tokens)",
    ),
    "xiang": Preset(
        "GraphRAG-Bench, appendix H.2", "gpt-4o-mini", "BAAI/bge-large-en-v1.5",
        {
            "vector": {"k": 5, "chunk_tokens": 256, "rerank": "BAAI/bge-reranker-large", **_XIANG_BUDGET},
            "graph": _XIANG_BUDGET, "graph+text": _XIANG_BUDGET,
        },
        "how many pieces the reranker of vector orders is not printed: 30; graph and graph+text are not in that paper: only "
        "models, temperature and l_max (1280, as vector) are set",
        temperature=0.7,
    ),
}


def defaults(system: str, preset: PresetName | None = None) -> Settings:
    """The defaults of a system, with a preset's settings over them. theta, k and l_max were chosen by a sweep
    (docs/built-in-systems.md). Raises: UsageError."""
    if system not in NEEDS:
        raise UsageError(f"there is no built-in system {system}", fix=f"built in are {', '.join(NEEDS)}")
    printed = PRESETS[preset].settings.get(system, {}) if preset else {}
    return replace(Settings(system, preset), **{**DEFAULTS.get(system, {}), **printed})


def read_settings(system: str, given: Mapping[str, JsonValue], *, base: Settings | None = None) -> Settings:
    """The settings of a system from texts or values. `base`: what holds where nothing is given (None: the defaults).

    Raises: UsageError that lists every setting that is unknown, not this system's, of another type or out of bounds.
    """
    start = base or defaults(system)
    faults, values = list[str](), dict[str, Any]()
    for name, value in given.items():
        setting = BY_NAME.get(name)
        if setting is None or system not in setting.systems:
            names = ", ".join(one.name for one in SETTINGS if system in one.systems)
            faults.append(f"{system} has no setting {name} (it has {names})")
            continue
        try:
            values[name] = _read(setting, value)
        except ValueError as cause:
            faults.append(f"{name}: {cause}")
    if faults:
        fix = "kgeval help built-in-systems lists the settings with their bounds"
        raise UsageError(f"settings of {system}: " + "; ".join(faults), fix=fix)
    return replace(start, **values)


def variants(
    system: str, given: Mapping[str, JsonValue], ablations: Mapping[str, Sequence[JsonValue]],
) -> list[Settings]:
    """The system as it is given, then one variant for each value of each ablation: one thing is changed at a time. A
    value that changes nothing gives no variant of its own.

    Raises: UsageError as read_settings does, for all values at once.
    """
    base = read_settings(system, given)
    variants, faults = [base], []
    for name, value in ((name, value) for name, values in ablations.items() for value in values):
        try:
            variant = read_settings(system, {name: value}, base=base)
        except UsageError as fault:
            faults.append(fault.message)
            continue
        if variant not in variants:
            variants.append(variant)
    if faults:
        raise UsageError(
            "; ".join(dict.fromkeys(faults)), fix="kgeval help built-in-systems lists the settings with their bounds",
        )
    return variants


def _read(setting: BuiltinSetting, value: JsonValue) -> int | float | bool | str | tuple[str, ...]:
    """The value in the setting's type. Raises: ValueError that says what was expected."""
    if setting.type == "list":
        parts = value if isinstance(value, list) else str(value).split("|")
        return tuple(text for part in parts if (text := str(part).strip()))
    text = str(value).strip()
    if setting.name == "rerank":
        word = "" if value is None else text
        return "" if word.casefold() in NO else RERANKER if word.casefold() in YES else word
    if setting.type == "yes or no":
        if text.casefold() not in (*YES, *NO):
            raise ValueError(f"{value!r} is neither yes nor no")
        return text.casefold() in YES
    if setting.type == "text":
        if setting.choices and text not in setting.choices:
            raise ValueError(f"{value!r} is none of {', '.join(setting.choices)}")
        return text
    low, high = setting.low or 0, setting.high or 0
    try:
        number = int(text) if setting.type == "whole number" else float(text)
    except ValueError:
        raise ValueError(f"{text!r} is no {setting.type}") from None
    if not low <= number <= high:
        raise ValueError(f"{text} is not between {low:g} and {high:g}")
    return number


def _written(value: JsonValue) -> str:
    """A value as the command line takes it."""
    if isinstance(value, list):
        return "|".join(map(str, value))
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else f"{value:g}" if isinstance(value, float) else str(value)
