"""`kgeval annotate sheet`: blind sheets for people, and the key to them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kgeval.cli.common import listed, say
from kgeval.cli.score_options import FILE, input_options, rows_wanted
from kgeval.errors import UsageError

if TYPE_CHECKING:
    from kgeval.comparison.judge.grades import Aspect
    from kgeval.comparison.people.drawing import Drawn, DrawWanted, Spread
    from kgeval.comparison.people.sheets import Sheet, Shown
    from kgeval.files.rows import Rows
    from kgeval.records import SheetKey


@click.command()
@input_options
@click.option(
    "-o", "--output", "folder", required=True, type=click.Path(file_okay=False, path_type=Path), metavar="FOLDER",
    help="Where the sheets go: NAME.csv and NAME.html for each annotator.",
)
@click.option(
    "--key", required=True, type=click.Path(dir_okay=False, path_type=Path), metavar="FILE.json",
    help="Which system is which on whose sheet. Keep it from the annotators: it must not lie in FOLDER.",
)
@click.option(
    "--of", "scope", type=click.Choice(("pairs", "answers")), default="pairs", show_default=True,
    help="pairs: which of two systems' answers is better; answers: points for one answer.",
)
@click.option("--n", type=click.IntRange(1, 10_000), default=60, show_default=True, help="Items, at most.")
@click.option(
    "--annotators", default="3", show_default=True, metavar="N|NAMES", help="How many people, or their names (comma).",
)
@click.option("--per-item", type=click.IntRange(1, 100), default=3, show_default=True, help="People who label each item.")
@click.option("--aspects", multiple=True, metavar="NAMES", help="Aspects (comma or repeated) [default: all of the grades].")
@click.option("--grades", type=FILE, metavar="FILE.toml", help="Aspects and grades of your own [default: kgeval's four].")
@click.option(
    "--scores", multiple=True, type=click.Path(path_type=Path), metavar="FILE", help="Scores: how far apart they lie is difficulty.",
)
@click.option("--show-reference", is_flag=True, help="Put the right answer on the sheets.")
def sheet(**options: Any) -> int:
    """Write blind sheets of ANSWERS for people: a CSV file and a page that works offline for each of them.

    The sample is stratified by level (else type) and by difficulty: hops, else how far --scores lie apart. Systems have no names on the
    sheets, half of each person's pairs have either order, and items are dealt evenly. The same --seed gives the same sheets.

    Exit codes: 0 done, 2 wrong input, or files that are there already.
    """
    from kgeval.comparison.people.drawing import DrawWanted, drawn, spread_of
    from kgeval.comparison.people.sheets import check_places
    from kgeval.files.rows import open_rows

    names = _annotators(options["annotators"])
    check_places(options["folder"], options["key"], names)
    aspects = _aspects(options)
    wanted = DrawWanted(options["scope"], options["n"], names, options["per_item"], options["seed"])
    spread: Spread | None = spread_of(_scores(options["scores"])) if options["scores"] else None
    with open_rows(rows_wanted(options)) as rows:
        for note in rows.notes:
            say(note)
        found = drawn(rows, wanted, spread)
        _write(rows, found, aspects, options)
    _tell(found, wanted, options)
    return 0


def _annotators(given: str) -> tuple[str, ...]:
    if given.strip().isdecimal():
        count = int(given)
        if not 1 <= count <= 200:
            raise UsageError(f"--annotators {count}: between 1 and 200 people can be given sheets", fix="give another number, or names")
        return tuple(f"annotator-{at}" for at in range(1, count + 1))
    names = tuple(listed([given]))
    if not names:
        raise UsageError("--annotators: names nobody", fix="give a number or names, e.g. --annotators ann,ben,cem")
    return names


def _aspects(options: Mapping[str, Any]) -> tuple[Aspect, ...]:
    from kgeval.comparison.judge.grades import chosen_aspects, read_grades

    known = read_grades(options["grades"]) if options["grades"] else None
    return chosen_aspects(listed(options["aspects"]), known)


def _scores(paths: Iterable[Path]) -> Iterable[Any]:
    from kgeval.files.scores import read_scores

    for path in paths:
        yield from read_scores(path)


def _write(rows: Rows, found: Drawn, aspects: tuple[Aspect, ...], options: Mapping[str, Any]) -> None:
    """The key first: sheets without a key are worth nothing."""
    from kgeval.comparison.people.sheets import Sheet, key_of, write_key, write_sheet

    key: SheetKey = key_of(found, aspects, options["seed"])
    write_key(options["key"], key)
    texts = {name: _texts(rows, found, name, with_reference=options["show_reference"]) for name in found.items}
    for who, names in found.dealt.items():
        own = tuple(_shown(name, texts[name], found, who) for name in names)
        made: Sheet = Sheet(key.run, who, found.scope, aspects, own)
        write_sheet(options["folder"], made)


Texts = tuple[str, str | None, dict[str, str]]


def _texts(rows: Rows, found: Drawn, name: str, *, with_reference: bool) -> Texts:
    """Question, reference and the answer of each system: of several the first that is no error."""
    item = found.items[name]
    answers: dict[str, str] = {}
    question, reference = "", None
    for row in rows.find(item.question_id):
        question, reference = row.question.question, "\n\nor: ".join(row.question.right_answers) or None
        if row.answer.error is None:
            answers.setdefault(row.answer.system, row.answer.answer)
    return question, reference if with_reference else None, answers


def _shown(name: str, texts: Texts, found: Drawn, who: str) -> Shown:
    from kgeval.comparison.people.sheets import Shown

    question, reference, answers = texts
    first = found.first[who][name]
    order = [first, *(system for system in found.items[name].systems if system != first)]
    return Shown(name, question, reference, tuple(answers[system] for system in order))


def _tell(found: Drawn, wanted: DrawWanted, options: Mapping[str, Any]) -> None:
    say(f"wrote {len(found.dealt)} sheets to {options['folder']}, the key to {options['key']}: {len(found.items):,} of {found.of:,} items")
    for name, (n, of) in found.strata.items():
        say(f"  {name}: {n:,} of {of:,}")
    for why, n in found.left_out.items():
        say(f"left out: {n:,} {why}")
    if len(wanted.annotators) > 1 and wanted.per_item == 1:
        say("each item has one person: nothing will be known of how far people agree; give --per-item 2 or more")
    say(f"then: kgeval annotate read SHEET... --key {options['key']} -o labels.jsonl")
