"""A pair of answers that people have labelled, judged again in every run: does the judge still say the same?"""

from __future__ import annotations

from pydantic import Field

from kgeval.records.base import Record
from kgeval.records.comparison import Winner


class Anchor(Record):
    """One labelled pair. `label`: which answer people hold for better, over all; `aspects`: the same by aspect, where they said it.

    The answers are judged as they stand: nothing is aligned or asked again, so that only the judge can change.
    """

    id: str
    question: str
    answer_a: str
    answer_b: str
    label: Winner
    aspects: dict[str, Winner] = Field(default_factory=dict)
    dataset: str | None = None
    level: str | None = None
