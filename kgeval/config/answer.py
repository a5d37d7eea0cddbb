"""The options of `kgeval answer`: which systems answer, how they are set, and which questions they are asked."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from kgeval.config.base import Section
from kgeval.config.flags import DAY, Flag, Power, Unit
from kgeval.config.rows import ROWS, FilterOptions, QuestionFileOptions

# headings of --help
SYSTEMS, RETRIEVAL, LOAD = "How systems are asked", "Indexes and retrieval of built-in systems", "Throughput under load"
SPECS = (
    "closed-book, vector, graph, graph+text, communities, command:..., http:URL, file:PATH, ADAPTER[:MODE], or a name of [[systems]] in "
    "kgeval.toml (repeatable)"
)

INDEX = "opens an index, which may hold code"


def _json(value: object) -> str:
    try:
        return json.dumps(value)
    except (TypeError, ValueError) as cause:
        raise ValueError(f"a value of type {type(value).__name__} cannot be set") from cause


def _texts(value: object) -> object:
    """A single text or path stands for a list of one; paths are texts."""
    if isinstance(value, str | Path):
        return (str(value),)
    return tuple(str(item) if isinstance(item, Path) else item for item in value) if isinstance(value, list | tuple) else value


def _settings(value: object) -> object:
    """A mapping as the texts that the command line takes: {"graph:hops": 2} is graph:hops=2."""
    return tuple(f"{name}={_json(setting)}" for name, setting in value.items()) if isinstance(value, Mapping) else _texts(value)


def _ablations(value: object) -> object:
    """A mapping as the texts that the command line takes: {"hops": [1, 2]} is hops=1,2."""
    if not isinstance(value, Mapping):
        return _texts(value)
    lists = {
        name: [_json(item) for item in (values if isinstance(values, list | tuple) else [values])]
        for name, values in value.items()
    }
    if wrong := [name for name, texts in lists.items() if any("," in text for text in texts)]:
        raise ValueError(f"{', '.join(wrong)}: a value with a comma cannot be varied")
    return tuple(f"{name}={','.join(texts)}" for name, texts in lists.items())


def _folders(value: object) -> object:
    return tuple(f"{name}={folder}" for name, folder in value.items()) if isinstance(value, Mapping) else _texts(value)


def _words(value: object) -> object:
    return str(value) if isinstance(value, int | Path) and not isinstance(value, bool) else value


def _levels(value: object) -> object:
    """One number stands for a list of one; commas separate; the fewest first, each once."""
    parts = value.split(",") if isinstance(value, str) else value if isinstance(value, list | tuple) else [value]
    try:
        return tuple(sorted({int(str(part)) for part in parts if str(part).strip()}))
    except ValueError:
        raise ValueError("write whole numbers: 1,4,16") from None


PresetName = Literal["kasiak", "xiang"]
Specs = Annotated[tuple[str, ...], BeforeValidator(_texts), Flag("--system", "[NAME=]SPEC"), Power("system")]


class SystemOptions(Section):
    """Which systems under test, and how they are set and opened. Values of settings are JSON where they can be, else
    text."""

    systems: Specs = Field(default=(), description=f"{SPECS}.")
    settings: Annotated[tuple[str, ...], BeforeValidator(_settings), Flag("--setting", "[SYSTEM:]NAME=VALUE"), Power("settings")] = Field(
        default=(), description="A setting of the systems: hops=2 (repeatable).",
    )
    extractive: bool = Field(
        default=False, description="Built-in systems answer with words of their contexts: no model is asked, for trying out.",
    )
    preset: Annotated[PresetName | None, Flag(heading=SYSTEMS)] = Field(
        default=None,
        description="Run built-in systems as a paper ran its baselines: models, settings, temperature; what you set yourself counts.",
    )
    folders: Annotated[
        tuple[str, ...], BeforeValidator(_folders), Flag("--folder", "[SYSTEM=]DIR", heading=SYSTEMS), Power("switch", INDEX),
    ] = Field(
        default=(), description="The index of an adapter: the folder of kgeval system index (repeatable).",
    )
    question_timeout: Annotated[float | None, Unit("seconds"), Flag(heading=SYSTEMS)] = Field(
        default=None, gt=0, le=DAY, allow_inf_nan=False, description="Seconds a question may take [default: 300].",
    )
    processes: Annotated[int | None, Flag(heading=SYSTEMS)] = Field(
        default=None, ge=1, le=256, description="Processes of a command at a time [default: 1].",
    )


class AnswerOptions(FilterOptions, QuestionFileOptions, SystemOptions):
    """What is asked of which systems: keywords of kgeval.answer, flags of `kgeval answer`."""

    systems: Specs = Field(default=(), description=f"{SPECS} [default: all of [[systems]]].")
    ablations: Annotated[
        tuple[str, ...], BeforeValidator(_ablations), Flag("--ablate", "[SYSTEM:]NAME=V1,V2", heading=SYSTEMS),
        Power("settings"),
    ] = Field(default=(), description="Ask variants too, one for each value: hops=1,2 (repeatable).")
    allow_missing: Annotated[bool, Flag(heading=ROWS)] = Field(
        default=False, description="With file: a question without an answer is an error of its own, others are left out.",
    )
    trials: int = Field(default=1, ge=1, le=100, description="Ask each question so many times")
    target_words: Annotated[str | None, BeforeValidator(_words), Flag(metavar="N|FILE", heading=SYSTEMS), Power("path")] = Field(
        default=None, description="Ask for about so many words; FILE: rows with id and target_words.",
    )
    resume: bool = Field(default=False, description="Ask for nothing that an earlier run with the same settings has answered.")
    retry_errors: bool = Field(default=False, description="As --resume, but questions with an error are asked again.")
    fresh_answers: bool = Field(default=False, description="Ask all questions anew, whatever an interrupted run has answered.")
    index_record: Annotated[Path | None, Flag(metavar="JSON", heading=RETRIEVAL)] = Field(
        default=None, description="Write what the index of a built-in system took; {system} in the name for several.",
    )
    load: Annotated[
        tuple[Annotated[int, Field(ge=1, le=1024)], ...], BeforeValidator(_levels), Flag(metavar="N,N", commas=True, heading=LOAD),
    ] = Field(default=(), description=(
        "Measure answers a second and latency with so many questions in flight, in place of answers: 1,4,16. Finished calls of the journal "
        "are not used."
    ))
    load_answers: Annotated[int, Flag(metavar="N", heading=LOAD)] = Field(
        default=100, ge=20, le=1_000_000, description="Questions that are measured at each level, those of the file by turns",
    )
    load_warm_up: Annotated[int, Flag(metavar="N", heading=LOAD)] = Field(
        default=10, ge=0, le=100_000, description="Questions before them that are not, at least two for each in flight",
    )
    sweep: Annotated[bool, Flag(heading=RETRIEVAL)] = Field(
        default=False, description="Print what theta, k and l_max of graph would find, and stop; no reader is asked.",
    )
