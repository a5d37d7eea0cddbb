"""The form of answers, apart from what they say: headings, bold passages, list items. Judges like form; so it is counted. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from kgeval.comparison.table import PairTable

NAMES = ("headings", "bold", "list items")  # the last axis of PairTable.forms

_HEADING = re.compile(r"^ {0,3}#{1,6}[ \t]+\S", re.MULTILINE)
_UNDERLINED = re.compile(r"^ {0,3}\S[^\n]*\n {0,3}(?:={3,}|-{3,})[ \t]*$", re.MULTILINE)
_BOLD = re.compile(r"\*\*(?=\S)[^*\n]{1,500}?(?<=\S)\*\*|(?<!\w)__(?=\S)[^_\n]{1,500}?(?<=\S)__(?!\w)")
_ITEM = re.compile(r"^[ \t]{0,12}(?:[-*+\u2022]|\d{1,3}[.)])[ \t]+\S", re.MULTILINE)


def counts(text: str) -> tuple[int, int, int]:
    """Headings (Markdown, both kinds), bold passages and list items (bullets and numbers) of a text, at any depth.

    A line that is bold from end to end counts as bold, not as a heading.
    """
    text = text.replace("\r\n", "\n")
    return len(_HEADING.findall(text)) + len(_UNDERLINED.findall(text)), len(_BOLD.findall(text)), len(_ITEM.findall(text))


def with_forms(table: PairTable, texts: Callable[[str, str, str, int], tuple[str, str] | None], *, same: bool = False) -> PairTable:
    """The table with the forms of the judged answers, NaN where a text is unknown; of question-trials without a result none is asked for.

    `texts`: (system a, system b, question id, trial from 1) -> both answers as they were judged. `same`: the answers of a question are
    the same in all its trials, so that they are read once.
    """
    import numpy as np

    wins = table.judged_wins()
    forms = np.full((*wins.shape, 2, len(NAMES)), np.nan)
    for place, question in enumerate(table.questions):
        trials = np.nonzero(~np.isnan(wins[place]))[0].tolist()
        for trial in trials[:1] if same else trials:
            pair = texts(table.system_a, table.system_b, question.question_id, trial + 1)
            if pair is not None:
                forms[place, trials if same else trial] = [counts(text) for text in pair]
    return replace(table, forms=forms)
