"""kgeval.toml as a whole, and how it is read: unknown and faulty keys are errors, all named at once."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, get_args

from pydantic import BaseModel, Field, ValidationError

from kgeval.config.accuracy import AccuracyOptions
from kgeval.config.audit import AuditSection, GraphSection, IgnoreSection, ReportSection
from kgeval.config.base import Section
from kgeval.config.build import BuildOptions
from kgeval.config.compare import CompareOptions
from kgeval.config.completeness import CompletenessOptions
from kgeval.config.contamination import ContaminationOptions
from kgeval.config.models import LimitsSection, MetricsSection, ModelSection
from kgeval.config.questions import QuestionsSection
from kgeval.config.runs import (
    AblationSection,
    AnswersSection,
    GoldSection,
    MatrixSection,
    RunSection,
    SourceSection,
    SystemSection,
)
from kgeval.config.score import ScoreOptions
from kgeval.errors import ConfigError, did_you_mean
from kgeval.limits import parse_toml

DEFAULT_FILE = "kgeval.toml"


class Config(Section):
    """kgeval.toml as a whole. Sections of later commands are read by them."""

    schema_version: Literal["1"] = "1"
    graph: GraphSection = Field(default_factory=GraphSection)
    audit: AuditSection = Field(default_factory=AuditSection)
    ignore: list[IgnoreSection] = Field(default_factory=list)
    report: ReportSection = Field(default_factory=ReportSection)
    model: ModelSection = Field(default_factory=ModelSection)
    limits: LimitsSection = Field(default_factory=LimitsSection)
    metrics: MetricsSection = Field(default_factory=MetricsSection)
    build: BuildOptions = Field(default_factory=BuildOptions)
    completeness: CompletenessOptions = Field(default_factory=CompletenessOptions)
    accuracy: AccuracyOptions = Field(default_factory=AccuracyOptions)
    contamination: ContaminationOptions = Field(default_factory=ContaminationOptions)
    score: ScoreOptions = Field(default_factory=ScoreOptions)
    compare: CompareOptions = Field(default_factory=CompareOptions)
    systems: list[SystemSection] = Field(default_factory=list)
    questions: QuestionsSection = Field(default_factory=QuestionsSection)
    source: SourceSection = Field(default_factory=SourceSection)
    gold: GoldSection = Field(default_factory=GoldSection)
    answers: AnswersSection = Field(default_factory=AnswersSection)
    ablations: list[AblationSection] = Field(default_factory=list)
    matrix: MatrixSection = Field(default_factory=MatrixSection)
    run: RunSection = Field(default_factory=RunSection)


def parse(content: bytes, file: Path) -> tuple[Config, list[str]]:
    """The configuration without its faulty keys, and one line for each of those. `file`: for messages.

    Raises: ConfigError for what is no TOML.
    """
    try:
        data = parse_toml(content.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as cause:
        raise ConfigError(f"{file}: {cause}", fix="the file must be TOML in UTF-8") from cause
    return _sound(data)


def _sound(data: dict[str, Any]) -> tuple[Config, list[str]]:
    """What is left of the data when each faulty key is taken out, and what was wrong with those."""
    faults: dict[str, None] = {}
    while True:
        try:
            # Again and again: pydantic checks a section as a whole only when each of its keys is sound.
            return Config.model_validate(data), list(faults)
        except ValidationError as cause:
            faults |= dict.fromkeys(explain(cause, Config))
            places = sorted({fault["loc"] for fault in cause.errors()}, key=_order, reverse=True)  # of a list, the last item first
            if not sum(_taken_out(data, place) for place in places):
                return Config(), list(faults)


def _order(place: tuple[int | str, ...]) -> list[str]:
    # Numbers of items as texts of one length: they have to sort beside names.
    return [f"{part:09}" if isinstance(part, int) else part for part in place]


def _taken_out(data: Any, place: tuple[int | str, ...]) -> bool:
    """Takes a key out; where it is not there (it is lacking), what it should be in. False where nothing could be taken out."""
    for depth in range(len(place), 0, -1):
        inside = data
        try:
            for part in place[: depth - 1]:
                inside = inside[part]
            del inside[place[depth - 1]]
        except (KeyError, IndexError, TypeError):
            continue
        return True
    return False


def explain(error: ValidationError, kind: type[BaseModel] | None = None) -> list[str]:
    """One plain line a fault: `section.key: what is wrong`. `kind`: the class, for keys that may have been meant by unknown ones."""
    lines = []
    for fault in error.errors():
        where = ".".join(str(part) for part in fault["loc"]) or "(top)"
        hint = did_you_mean(str(fault["loc"][-1]), _keys(kind, fault["loc"][:-1])) if kind and fault["type"] == "extra_forbidden" else ""
        lines.append(f"{where}: {_wrong(fault['type'], fault['msg'])}{hint}")
    return lines


def _keys(kind: type[BaseModel], place: Sequence[int | str]) -> list[str]:
    """The keys that a place in a file has: () its sections. Empty where a place is no section."""
    for part in place:
        if isinstance(part, int):
            continue  # one of several: the field says of what
        field = kind.model_fields.get(part)
        inside = [] if field is None else [hint for hint in (field.annotation, *get_args(field.annotation)) if isinstance(hint, type)]
        kinds = [hint for hint in inside if issubclass(hint, BaseModel)]
        if not kinds:
            return []
        kind = kinds[0]
    return list(kind.model_fields)


def _wrong(kind: str, message: str) -> str:
    """What is wrong with a value, in plain words."""
    plain = {
        "extra_forbidden": "unknown key", "int_parsing": "no whole number", "int_type": "no whole number",
        "int_from_float": "no whole number", "float_parsing": "no number", "float_type": "no number",
    }
    if kind in plain:
        return plain[kind]
    if kind.startswith("date_"):
        return "a date is needed, such as 2027-01-31"
    return message.removeprefix("Value error, ")


def environment(name: str) -> str | None:
    """A non-empty environment variable, or None."""
    return os.environ.get(name) or None


def cache_folder(given: Path | None = None) -> Path:
    """kgeval's cache folder: the given one, else KGEVAL_CACHE_DIR, else the user's. Not made here."""
    import platformdirs

    chosen = given or environment("KGEVAL_CACHE_DIR")
    return Path(chosen).expanduser() if chosen else platformdirs.user_cache_path("kgeval", appauthor=False)
