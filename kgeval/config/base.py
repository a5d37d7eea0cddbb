"""What all sections of kgeval.toml are: frozen, and strict about their keys."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

NAME = r"^[\w@+-][\w.@+-]*$"
OptionValue = bool | int | float | str | list[int | float | str]


class Section(BaseModel):
    """Base of the sections: frozen, and unknown keys are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)
