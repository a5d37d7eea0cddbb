"""The sections about models: which ones, how much of them, what they score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Annotated, Any, Literal, get_args

from pydantic import BeforeValidator, Field, JsonValue, field_validator

from kgeval.config.base import Section
from kgeval.config.flags import Power

Seen = Literal["question", "answer", "reference", "contexts", "evidence"]
Grade = int | float


class ModelChoice(Section):
    """One model: its name, where it is (None: OPENAI_BASE_URL, else the client's default), and request parameters. No key.

    `endpoint`: what the endpoint at this address is called in journal keys, signatures and graphs, so that a server may move to another
    port or host; without an address here, the one in use."""

    name: Annotated[str | None, Power("model")] = None
    base_url: Annotated[str | None, Power("address", "what models are asked, and OPENAI_API_KEY,")] = None
    endpoint: str | None = None
    parameters: dict[str, JsonValue] = Field(default_factory=dict)


class ModelSection(Section):
    """`[model.judge]`, `[model.reader]`, `[model.extractor]`, `[model.generator]`, `[model.embedding]`: which model plays which part."""

    judge: ModelChoice = Field(default_factory=ModelChoice)
    reader: ModelChoice = Field(default_factory=ModelChoice)
    extractor: ModelChoice = Field(default_factory=ModelChoice)
    generator: ModelChoice = Field(default_factory=ModelChoice)
    embedding: ModelChoice = Field(default_factory=ModelChoice)


class LimitsSection(Section):
    """`[limits]`: how much at a time and in all. `cost` in USD; `error_rate`: largest share of failed items, else exit 3."""

    concurrency: int = Field(default=8, ge=1, le=1024)
    rpm: int | None = Field(default=None, ge=1)
    tpm: int | None = Field(default=None, ge=1)
    retries: int = Field(default=6, ge=0, le=100)
    reasks: int = Field(default=2, ge=0, le=20)
    timeout: float = Field(default=60.0, gt=0, le=86_400, allow_inf_nan=False)
    cost: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    calls: int | None = Field(default=None, ge=0)
    error_rate: float = Field(default=0.1, ge=0, le=1)


def _grades(value: Any) -> dict[Grade, str]:
    """The grades from the lowest to the highest; TOML has texts for keys. Raises: ValueError with all faults."""
    if not isinstance(value, Mapping):
        raise ValueError("a text for each grade is needed: {1 = ..., 2 = ...}")
    grades: dict[Grade, str] = {}
    faults = []
    for key, text in value.items():
        try:
            # float() would take a truth value: True is 1.0.
            number = float("nan") if isinstance(key, bool) else float(key)
        except (TypeError, ValueError, OverflowError):
            number = float("nan")
        grade: Grade = int(number) if isfinite(number) and number == int(number) else number
        if not isfinite(number):
            faults.append(f"{key!r} is no number")
        elif not isinstance(text, str) or not text.strip():
            faults.append(f"{key}: a text is needed: when it is given (a grade with a point needs quotes: \"0.5\" = ...)")
        elif grade in grades:
            faults.append(f"{key} is there twice")
        else:
            text.encode()  # raises ValueError for half of a character
            grades[grade] = text.strip()
    if len(value) < 2:
        faults.append("two are needed at least")
    if faults:
        raise ValueError("; ".join(faults))
    return dict(sorted(grades.items()))


class Criterion(Section):
    """A judged criterion of one's own: a question that the judge answers about each row, by one of the grades.

    `name`: the metric's, a word (letters, digits, _). `question`: to the judge. `grades`: number -> when it is given;
    the lowest is the value 0, the highest 1, the others lie between them by their numbers. `sees`: what of the row the
    judge is shown (question, answer, reference, contexts, evidence); a row without it is not graded. `description`:
    more about it, for pages and reports. `low_is_good`: a low grade is the better one.

    Raises: pydantic's ValidationError, a ValueError, with everything that is wrong.
    """

    name: str = Field(max_length=60)
    question: str
    grades: Annotated[dict[Grade, str], BeforeValidator(_grades)]
    sees: Sequence[Seen] = ("question", "answer")
    description: str = ""
    low_is_good: bool = False

    @field_validator("question", "description")
    @classmethod
    def _can_be_sent(cls, value: str) -> str:
        value.encode()  # raises ValueError for half of a character
        return value.strip()

    @field_validator("name")
    @classmethod
    def _is_a_word(cls, value: str) -> str:
        if not value.isidentifier():
            raise ValueError("a word is needed: letters, digits, _")
        return value

    @field_validator("question")
    @classmethod
    def _is_no_blank(cls, value: str) -> str:
        if not value.strip():
            raise ValueError("a question to the judge is needed")
        return value

    @field_validator("sees")
    @classmethod
    def _in_order(cls, value: Sequence[Seen]) -> tuple[Seen, ...]:
        if not value:
            raise ValueError(f"name what the judge is shown: {', '.join(get_args(Seen))}")
        return tuple(name for name in get_args(Seen) if name in value)


class MetricsSection(Section):
    """`[metrics]`: metrics and presets by name, their settings (`kgeval metrics show NAME` has each), and thresholds of
    `kgeval score`. A name may be FILE.py:NAME, a metric of one's own. `[[metrics.criteria]]`: judged criteria of one's
    own, to be named in `names`."""

    names: Annotated[list[str], Power("metric")] = Field(default_factory=list)
    criteria: list[Criterion] = Field(default_factory=list)
    settings: Annotated[dict[str, bool | int | float | str], Power("settings")] = Field(default_factory=dict)
    thresholds: list[str] = Field(default_factory=list)
