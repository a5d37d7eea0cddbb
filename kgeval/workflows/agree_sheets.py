"""People as judges of answers: blind sheets are written for them, and what they filled in is read back as labels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kgeval.config import ReadOptions, SheetOptions
from kgeval.config.agree import MOST_ITEMS, USUAL_ITEMS
from kgeval.errors import InputError, UsageError
from kgeval.workflows.rows import rows_wanted
from kgeval.workflows.session import Session

if TYPE_CHECKING:
    from kgeval.comparison.people.drawing import DrawSettings
    from kgeval.comparison.people.sheets import ShownItem
    from kgeval.records import Answer, HumanLabel, Score, SheetItem
    from kgeval.tables.rows import Rows

MOST_PEOPLE = 200


def write_sheets(session: Session, answers: Sequence[Path], folder: Path, key: Path, options: SheetOptions) -> None:
    """A blind sheet (CSV, and a page that works offline) for each annotator in `folder`, and the key to them: which system is which on
    whose sheet. The same seed gives the same sheets.

    Raises: UsageError, also where files are there already; InputError.
    """
    from kgeval.comparison.judge.grades import chosen_aspects, read_grades
    from kgeval.comparison.people.dimensions import must_show, sheet_aspects
    from kgeval.comparison.people.drawing import DrawSettings, drawn, spread_of
    from kgeval.comparison.people.sheets import PersonSheet, check_places, key_of, write_key, write_sheet
    from kgeval.tables.rows import open_rows

    names = _annotators(options.annotators)
    check_places(folder, key, names)
    aspects = (
        chosen_aspects(options.aspects, read_grades(options.grades)) if options.grades
        else chosen_aspects(options.aspects or ("zeng",), sheet_aspects())
    )
    spec = DrawSettings(
        options.scope, options.n or (USUAL_ITEMS if options.share is None else MOST_ITEMS), names,
        options.per_item or min(3, len(names)), options.seed, options.share, must_show(aspects),
    )
    show = spec.needs.union(options.show)
    spread = spread_of(_scores(options.scores)) if options.scores else None
    with open_rows(rows_wanted(answers, options)) as rows:
        for note in rows.notes:
            session.say(note)
        sample = drawn(rows, spec, spread)
        sheet_key = key_of(sample, aspects, options.seed)
        write_key(key, sheet_key)  # the key first: sheets without a key are worth nothing
        shown = {name: _shown(rows, item, name, spec, show) for name, item in sample.items.items()}
        for who, own in sample.dealt.items():
            items = tuple(shown[name][sample.first[who][name]] for name in own)
            write_sheet(folder, PersonSheet(sheet_key.run, who, sample.scope, aspects, items))
    session.say(f"wrote {len(sample.dealt)} sheets to {folder}, the key to {key}: {len(sample.items):,} of {sample.of:,} items")
    for name, (n, of) in sample.strata.items():
        session.say(f"  {name}: {n:,} of {of:,}")
    for why, n in sample.left_out.items():
        session.say(f"left out: {n:,} {why}")
    if spec.needs:
        session.say(f"on the sheets, as nobody can judge without: {', '.join(sorted(spec.needs))}")
    if len(names) > 1 and spec.per_item == 1:
        session.say("each item has one person: nothing will be known of how far people agree; give --per-item 2 or more")
    session.say(f"then: kgeval annotate read SHEET... --key {key} -o labels.jsonl")


def read_sheets(session: Session, sheets: Sequence[Path], output: Path, options: ReadOptions) -> None:
    """The labels of filled sheets (of RAGChecker's file, with `labels_format`), written one a line. Empty cells are counted, not refused.

    A label of a pair says by how much A is better than B (-2..2), whatever stood first on the sheet; of one answer it is its points.
    Raises: UsageError; InputError with all faults with file and line: then nothing is written.
    """
    from kgeval.reports.write import check_replaced

    outputs = [path for path in (output, options.write_answers, options.write_questions) if path is not None]
    check_replaced(outputs, [*sheets, options.key])
    if len({path.resolve() for path in outputs}) < len(outputs):
        raise UsageError("two outputs are one file", fix="name different files")
    if options.labels_format == "ragchecker":
        _read_ragchecker(session, sheets, output, options)
        return
    from kgeval.comparison.people.reading import read_filled, read_key

    if options.key is None:
        raise UsageError("sheets cannot be read without their key", fix="give --key FILE, as kgeval annotate sheet wrote it")
    if options.write_answers or options.write_questions:
        raise UsageError("--write-answers and --write-questions are for --labels-format ragchecker", fix="leave them out")
    key = read_key(options.key)
    filled = read_filled(sheets, key)
    if not filled.labels:
        raise InputError("no sheet has a label yet", fix="give the sheets that people have filled in")
    _write_labels(session, output, filled.labels)
    for who, labels_given in filled.given.items():
        session.say(f"{who}: {labels_given:,} of {filled.asked[who]:,} labels")
    if filled.missing:
        session.say(f"no sheet of: {', '.join(filled.missing)} ({len(filled.missing)} of {len(key.first)} people)")


def _annotators(given: str) -> tuple[str, ...]:
    """The names of the people. Raises: UsageError where there are none, or more than sheets can be given to."""
    if given.strip().isdecimal():
        count = int(given)
        if not 1 <= count <= MOST_PEOPLE:
            what = f"--annotators {count}: between 1 and {MOST_PEOPLE} people can be given sheets"
            raise UsageError(what, fix="give another number, or names")
        return tuple(f"annotator-{number}" for number in range(1, count + 1))
    names = tuple(part.strip() for part in given.split(",") if part.strip())
    if not names:
        raise UsageError("--annotators: names nobody", fix="give a number or names, e.g. --annotators ann,ben,cem")
    return names


def _scores(paths: Iterable[Path]) -> Iterable[Score]:
    from kgeval.tables.scores import read_scores

    for path in paths:
        yield from read_scores(path)


def _shown(rows: Rows, item: SheetItem, name: str, spec: DrawSettings, show: frozenset[str]) -> dict[str, ShownItem]:
    """An item as a sheet shows it, by the system that stands first: of several answers of a system the first that was drawn from."""
    from kgeval.comparison.people.drawing import context_texts, unfit
    from kgeval.comparison.people.sheets import ShownItem

    answers: dict[str, Answer] = {}
    question, reference = "", None
    for row in rows.find(item.question_id):
        question, reference = row.question.question, "\n\nor: ".join(row.question.right_answers) or None
        if unfit(row, spec.needs) is None:
            answers.setdefault(row.answer.system, row.answer)
    shown = {}
    for first in item.systems:
        order = [first, *(system for system in item.systems if system != first)]
        shown[first] = ShownItem(
            name, question, reference if "reference" in show else None, tuple(answers[system].answer for system in order),
            tuple(context_texts(answers[system]) for system in order) if "contexts" in show else (),
        )
    return shown


def _read_ragchecker(session: Session, files: Sequence[Path], output: Path, options: ReadOptions) -> None:
    from kgeval.comparison.people.labels import read_labels
    from kgeval.tables.answers import write_answers
    from kgeval.tables.output import replacing

    if options.key is not None:
        raise UsageError("--key is for sheets of kgeval", fix="leave it out")
    read = read_labels(files, "ragchecker")
    _write_labels(session, output, read.labels)
    if options.write_answers:
        write_answers(options.write_answers, read.answers)
        session.say(f"wrote {options.write_answers}: {len(read.answers):,} answers")
    if options.write_questions:
        with replacing(options.write_questions) as file:
            file.writelines(question.model_dump_json(exclude_defaults=True) + "\n" for question in read.questions)
        session.say(f"wrote {options.write_questions}: {len(read.questions):,} questions")
    for note in read.notes:
        session.say(note)


def _write_labels(session: Session, path: Path, labels: Sequence[HumanLabel]) -> None:
    from kgeval.comparison.people.labels import as_lines
    from kgeval.tables.output import replacing

    with replacing(path) as file:
        file.writelines(as_lines(labels))
    session.say(f"wrote {path}: {len(labels):,} labels")
