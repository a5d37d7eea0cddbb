"""What all sections of kgeval.toml are: frozen, and strict about their keys."""

from __future__ import annotations

from kgeval.records.base import StrictModel

NAME = r"^[\w@+-][\w.@+-]*$"
OptionValue = bool | int | float | str | list[int | float | str]


class Section(StrictModel):
    """Base of the sections: frozen, and unknown keys are errors."""
