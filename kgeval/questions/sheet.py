"""The sheet on which people confirm questions: written as CSV that no spreadsheet takes for formulas, read back with
all its faults at once. People keep or drop a question, and may write its text or its answer anew."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from kgeval.errors import InputError
from kgeval.questions.drafts import answer_text, question_text
from kgeval.questions.kinds import RejectedError
from kgeval.records import Question, QuestionCheck
from kgeval.tables import sheets
from kgeval.tables.sheets import without_controls

MARK = "kgeval questions sheet"
COLUMNS = ("id", "decision", "question", "reference", "kind", "level", "evidence", "relations", "checks", "note")
WORDS: dict[str, Literal["keep", "drop"]] = {
    "keep": "keep", "kept": "keep", "yes": "keep", "y": "keep", "ok": "keep", "drop": "drop", "dropped": "drop",
    "no": "drop", "n": "drop",
}
HEAD = (
    f"# {MARK}",
    "# Write keep or drop into the column decision. Keep: the question can be understood alone, its evidence answers it, and the "
    "reference is right.",
    "# A question or a reference that is nearly right may be written anew in its own cell; then write keep.",
    "# Do not change ids. Several people: a copy of this file each.",
)
Undecided = Literal["refuse", "keep", "drop"]


@dataclass(frozen=True)
class SheetDecision:
    """What one sheet says of a question. Texts are None where they were left as they are."""

    decision: Literal["keep", "drop"] | None
    question: str | None = None
    reference: str | None = None


@dataclass
class Confirmed:
    """What became of the questions."""

    kept: int = 0
    dropped: int = 0
    edited: int = 0
    undecided: list[str] = field(default_factory=list)


def write_sheet(path: Path, questions: Iterable[Question]) -> None:
    """One row a question, the decision left empty; for its owner's eyes only (0600).

    Raises: UsageError where the file exists, so that no decision is lost; InputError where it cannot be written.
    """
    sheets.write_sheet(path, COLUMNS, map(_cells, questions), head=HEAD, holds="decisions")


def _cells(question: Question) -> list[str]:
    evidence = "\n\n".join(f"[{n}] {text}" for n, text in enumerate(question.evidence_texts, start=1))
    relations = "\n".join(question.path.text if question.path is not None else question.points)
    verdicts = {True: "passed", False: "failed", None: "not decided"}
    checks = "\n".join(
        f"{check.name}: {verdicts[check.passed]}{f' ({check.reason})' if check.reason else ''}" for check in question.checks
    )
    return [
        question.id, "", question.question, question.reference or "", ", ".join(question.kinds), question.level or "",
        evidence, relations,
        checks, "",
    ]


def confirmed(
    questions: Iterable[Question], paths: Sequence[Path], undecided: Undecided, result: Confirmed,
) -> Iterator[Question]:
    """The questions that people keep, with their texts, in their order; `result` is counted up. Several sheets: most
    decide.

    Questions on which nobody, or equally many for either, decided are kept, dropped or, with "refuse", listed in
    `result` only. Raises: InputError with every fault of every sheet: unknown ids and decisions, ids twice, texts that
    differ between sheets. """
    rows, faults = _read(paths)
    out: list[Question] = []
    for question in questions:
        decisions = rows.pop(question.id, [])
        votes = Counter(decision.decision for decision in decisions if decision.decision is not None)
        if votes["keep"] == votes["drop"]:
            result.undecided.append(question.id)
        most_keep = votes["keep"] > votes["drop"]
        if not most_keep and not (votes["keep"] == votes["drop"] and undecided == "keep"):
            result.dropped += 1
            continue
        edited, wrong = _edited(question, decisions)
        faults += wrong
        result.kept += 1
        result.edited += edited.question != question.question or edited.reference != question.reference
        reason = f"{votes['keep']} of {votes['keep'] + votes['drop']} keep it"
        check = QuestionCheck(name="confirmed", passed=True if most_keep else None, reason=reason)
        out.append(edited.model_copy(update={"checks": [*edited.checks, check]}))
    faults += [f"id '{name[:60]}' is none of the questions" for name in rows]
    if faults:
        raise InputError(
            f"{', '.join(map(str, paths))}: {len(faults)} faults", faults=faults,
            fix="decisions are keep, drop or empty; the questions must be those that the sheet was written for",
        )
    yield from out


def _edited(question: Question, given: Sequence[SheetDecision]) -> tuple[Question, list[str]]:
    """The question with the texts that people wrote, and what is wrong with them. Checks of other texts are left
    out."""
    keeping = [decision_given for decision_given in given if decision_given.decision != "drop"]
    faults, new = [], dict[str, str]()
    for name, before in (("question", question.question), ("reference", question.reference or "")):
        # spreadsheets change blanks and control characters: a text that differs in these only is the same
        written = (getattr(decision, name) for decision in keeping)
        texts = {text for text in written if text is not None and _words(text) != _words(before)}
        if len(texts) > 1:
            faults.append(f"id '{question.id}': the sheets have different texts for the {name}")
        elif texts:
            new[name] = texts.pop()
    try:
        if "question" in new:
            new["question"] = question_text(new["question"])
        if new.get("reference"):
            new["reference"] = answer_text(new["reference"])
    except RejectedError as error:
        faults.append(f"id '{question.id}': {error}")
    if not new:
        return question, faults
    before_texts = {f"{name}_before": getattr(question, name) for name in new}
    return question.model_copy(update={
        **new, "reference": new.get("reference", question.reference) or None, "checks": [],
        "extra": {**question.extra, **before_texts},
    }), faults


def _words(text: str) -> list[str]:
    return without_controls(text).split()


def _read(paths: Sequence[Path]) -> tuple[dict[str, list[SheetDecision]], list[str]]:
    """What the sheets say of each question, and what is wrong with them. Raises: InputError for a file that cannot be
    read."""
    decisions: dict[str, list[SheetDecision]] = {}
    faults: list[str] = []
    for path in paths:
        sheet = sheets.FilledSheet(path, faults)
        seen: set[str] = set()
        for where, row in sheet.rows() if sheet.has("id", "decision") else ():
            name, word = row.get("id", "").strip(), row.get("decision", "").strip()
            if name in seen:
                faults.append(f"{where}: id '{name[:60]}' stands twice on this sheet")
                continue
            seen.add(name)
            decision = WORDS.get(word.casefold().strip(" .!"))
            if word and decision is None:
                faults.append(f"{where}: decision '{word[:40]}' is none of keep, drop")
            decisions.setdefault(name, []).append(SheetDecision(decision, row.get("question"), row.get("reference")))
    return decisions, faults
