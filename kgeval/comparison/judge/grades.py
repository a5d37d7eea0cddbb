"""The aspects of a judgement and what each grade means: one text for the judge, the report and people's sheets."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from kgeval.errors import InputError, UsageError, did_you_mean
from kgeval.limits import parse_toml
from kgeval.llm.calls import Reply

MOST_POINTS = 5
ZENG = ("comprehensiveness", "relevance", "empowerment", "directness")  # [Z 4.3]
KNOWN = ("correctness", "completeness")  # what a judge can tell who is shown what is known of the right answer
DONG = ("factual_correctness", "context_relevancy", "answer_relevancy", "faithfulness")  # [D 3.3]: people alone judge in these
SETS = {"zeng": ZENG, "dong": DONG}  # names that stand for several aspects
BIASED = ("comprehensiveness", "diversity", "empowerment", "directness")  # [Z 2]: what the papers that it criticises ask for
OVERALL = "overall"
MOST_ASPECTS = 12
_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
_HERE = Path(__file__).parent
_KEYS = {"asks", "grades", "wordings"}
_DIVERSITY = "How many different sides and points of view does the answer show?"


@dataclass(frozen=True)
class Aspect:
    """One aspect. `asks`: the question that it puts; `grades`: what 0, 1, ... 5 points mean (none: it is only compared, never graded);
    `wordings`: both in other words."""

    name: str
    asks: str
    grades: tuple[str, ...] = ()
    wordings: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def shown(self, wording: int = 0, *, graded: bool = True) -> dict[str, JsonValue]:
        """As a prompt shows it, in one of its wordings from 0; `graded`: with what each grade means."""
        asks, grades = ((self.asks, self.grades), *self.wordings)[wording]
        more: dict[str, JsonValue] = {"grades": {str(points): text for points, text in enumerate(grades)}} if graded else {}
        return {"aspect": self.name, "asks": asks, **more}


@cache
def load_grades() -> Mapping[str, Aspect]:
    """kgeval's own aspects by name, in their order: six with six grades each, in three wordings."""
    return _parsed((_HERE / "grades.toml").read_text(encoding="utf-8"), "grades.toml")


def read_grades(path: Path) -> Mapping[str, Aspect]:
    """Aspects of the user's own, in the form of kgeval/comparison/judge/grades.toml. Raises: InputError with every fault."""
    from kgeval.tables.plain import read_text

    return _parsed(read_text(path), str(path))


def chosen_aspects(names: Sequence[str], known: Mapping[str, Aspect] | None = None) -> tuple[Aspect, ...]:
    """The aspects of these names in the order of the table; none named: Zeng's four, of a table of the user's own all. `zeng` and `dong`
    stand for the four of either paper, where the table has them. Raises: UsageError for unknown ones."""
    if known is None:
        known, names = load_grades(), names or ("zeng",)
    names = [aspect_name for name in names for aspect_name in (SETS[name] if name in SETS and known.keys() >= set(SETS[name]) else (name,))]
    unknown = [name for name in names if name not in known]
    if unknown:
        near = [match for name in unknown for match in get_close_matches(name, known, 1)]
        hint = f"; did you mean {', '.join(dict.fromkeys(near))}?" if near else ""
        raise UsageError(f"there is no aspect {', '.join(unknown)}{hint}", fix=f"one or several of {', '.join(known)}")
    return tuple(aspect for name, aspect in known.items() if not names or name in names)


def biased_aspects() -> tuple[Aspect, ...]:
    """Those of the biased baseline: diversity in the place of relevance, no grades."""
    known = load_grades()
    return tuple(Aspect(name, known[name].asks if name in known else _DIVERSITY) for name in BIASED)


def grade_texts(aspects: Sequence[Aspect]) -> dict[str, list[str]]:
    """Aspect -> its grades from 0 to 5, as the report has them. Aspects without grades are left out."""
    return {aspect.name: list(aspect.grades) for aspect in aspects if aspect.grades}


def _parsed(text: str, name: str) -> Mapping[str, Aspect]:
    try:
        table = parse_toml(text)
    except tomllib.TOMLDecodeError as cause:
        raise InputError(f"{name}: {cause}", fix="the file must be TOML: kgeval help judge-procedures shows its form") from cause
    faults = [f"{aspect}: {fault}" for aspect, value in table.items() for fault in _faults(aspect, value)]
    if not 0 < len(table) <= MOST_ASPECTS:
        faults.append(f"{len(table)} aspects; 1 to {MOST_ASPECTS} are possible")
    if faults:
        fix = "an aspect has `asks` and six `grades`: kgeval help judge-procedures"
        raise InputError(f"{name}: no table of aspects", faults=faults, fix=fix)
    return {
        aspect: Aspect(
            aspect, value["asks"].strip(), tuple(value["grades"]),
            tuple((wording["asks"].strip(), tuple(wording["grades"])) for wording in value.get("wordings", ())),
        )
        for aspect, value in table.items()
    }


def _faults(aspect: str, value: Any) -> list[str]:
    if not isinstance(value, dict):
        return ["is no section"]
    faults = [f"{key}: unknown key{did_you_mean(key, _KEYS)}" for key in value if key not in _KEYS]
    # aspects become fields of a pydantic class: `copy` or `model_x` would hide one of its own
    if not _NAME.fullmatch(aspect) or aspect == OVERALL or aspect in SETS or hasattr(Reply, aspect) or aspect.startswith("model_"):
        faults.append("this cannot be a name: use lower case letters, digits and _, at most 40, and not a word such as overall or copy")
    faults += _text_faults(value)
    wordings = value.get("wordings", [])
    if not isinstance(wordings, list) or not all(isinstance(wording, dict) and set(wording) <= {"asks", "grades"} for wording in wordings):
        return [*faults, "wordings: must be a list of tables with asks and grades"]
    return faults + [f"wordings: {fault}" for wording in wordings for fault in _text_faults(wording)]


def _text_faults(value: Mapping[str, Any]) -> list[str]:
    faults = [] if _filled(value.get("asks")) else ["asks: must be a sentence"]
    grades = value.get("grades")
    if not (isinstance(grades, list) and len(grades) == MOST_POINTS + 1 and all(_filled(grade) for grade in grades)):
        faults.append("grades: must be six sentences, for 0 to 5 points")
    return faults


def _filled(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())
