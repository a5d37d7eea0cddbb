"""`kgeval stats paired`, `aa`, `power`: scores of several systems, question by question."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from kgeval.cli.common import F, Option, listed
from kgeval.cli.score_options import maps_of
from kgeval.cli.stats_options import FILE, Share, begin, bounds_of, check_once, common_options, finish, refuse_missing
from kgeval.errors import InputError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kgeval.comparison.given.scores import Column, Span
    from kgeval.files.score_tables import Scores
    from kgeval.records import PairedResult, PairResult, SelfCheck


def score_options(command: F) -> F:
    """How files of scores are read."""
    for option in reversed((
        click.option("--paired-by", metavar="FIELD", help="The field that pairs the rows of two systems [default: question_id]."),
        click.option(
            "--filter-system", "systems", cls=Option, old="--systems", multiple=True, metavar="NAMES",
            help="Only these systems; in a wide table: these columns.",
        ),
        click.option("--metrics", multiple=True, metavar="NAMES", help="Only these metrics."),
        click.option("--range", "bounds", metavar="LOW,HIGH", help="The scores must lie in it, ends included."),
        click.option("--allow-missing", is_flag=True, help="Go on where systems have different questions."),
    )):
        command = option(command)
    return command


@click.command()
@click.argument("files", nargs=-1, required=True, type=FILE)
@score_options
@common_options()
def paired(**options: Any) -> int:
    """Systems on the same questions: differences with intervals, tests, effect sizes.

    FILES: kgeval's scores, long tables (question_id, system, score), wide ones (question_id and a column a system), or one file a system.
    Every two systems are compared on every metric; p Holm is corrected over all that is printed.

    Exit codes: 0 done, 2 wrong input.
    """
    from kgeval.comparison.given.scores import means, missing_of, paired_results, scale_of

    started = begin("paired", options)
    scores, columns = scores_of(options)
    if len(columns) < 2:
        found = ", ".join(f"'{one.system}' ({one.metric})" for one in columns) or "none"
        raise InputError(
            f"two systems are needed, found: {found}", fix="give a file of another system, or name columns: --filter-system A,B",
        )
    scale = scale_of(columns, bounds_of(options["bounds"]))
    known = {"seed": options["seed"], "confidence": options["confidence"], "scale": scale}
    results = paired_results(columns, **known)
    if not results:
        raise InputError("no metric is there for two systems", fix="give the same metric for both; --map metric=FIELD names its field")
    return finish(started, "paired", options, {
        "systems": means(columns, **known), "paired": results, "missing": missing_of(columns),
        "notes": [*scores.notes, *cautions(results), *scale_notes(results, scale)],
    }, scores.rows)


def scores_of(options: Mapping[str, Any]) -> tuple[Scores, list[Column]]:
    """The scores of FILES by system and metric. Raises: InputError for faults, and for systems with different questions unless allowed."""
    from kgeval.comparison.given.scores import columns_of, missing_of
    from kgeval.files.score_tables import ScoresWanted, read_score_tables

    check_once(options["files"])
    maps = maps_of(options["maps"])
    if options["paired_by"]:
        maps["question_id"] = options["paired_by"]
    wanted = ScoresWanted(maps, tuple(listed(options["systems"])), tuple(listed(options["metrics"])), bounds_of(options["bounds"]))
    scores = read_score_tables(options["files"], wanted)
    columns = columns_of(scores.cells)
    refuse_missing(missing_of(columns), options, "systems have different questions")
    return scores, columns


def cautions(results: Sequence[PairedResult] | Sequence[PairResult]) -> list[str]:
    """What must be said of the size of the sample."""
    from kgeval.stats.power import tier

    scored = [one.n_scored for one in results]
    if not any(scored):
        return ["no question has a value of two systems"]
    least = min(scored)
    if least == 1:
        return ["one question only: there is no interval and no test"]
    caution = tier(least).caution
    return [caution] if caution else []


def scale_notes(results: Sequence[PairedResult], scale: Span | None) -> list[str]:
    """Why there is no interval where all differences are equal and nobody said where scores can lie."""
    flat = any(one.n_scored > 1 and one.difference.low is None for one in results)
    return ["no interval where all differences are equal: give --range LOW,HIGH, the least and largest score there can be"] * (
        flat and scale is None
    )


@click.command()
@click.argument("files", nargs=-1, required=True, type=FILE)
@score_options
@common_options()
def aa(**options: Any) -> int:
    """A/A check: two independent runs of one system must not differ.

    FILES: the scores of both runs (a file each, or one with two systems), or verdicts of a judge between them. It is passed where the
    interval of the difference holds 0. With few questions a pass says little: see the smallest difference that would have been found.

    Exit codes: 0 done, 2 wrong input.
    """
    from kgeval.records import SelfCheck

    started = begin("aa", options)
    if _has_winner(options):
        return _aa_of_verdicts(started, options)
    scores, columns = _runs(options)
    from kgeval.comparison.given.scores import missing_of, paired_results, scale_of

    scale = scale_of(columns, bounds_of(options["bounds"]))
    results = paired_results(columns, seed=options["seed"], confidence=options["confidence"], scale=scale)
    checks = [
        SelfCheck(
            system=f"{one.system_a} / {one.system_b}, {one.metric}", relative=one.difference, n=one.n_scored,
            passed=_holds(one),
        ) for one in results
    ]
    return finish(started, "aa", options, {
        "self_checks": checks, "paired": results, "missing": missing_of(columns),
        "notes": [*scores.notes, *cautions(results), *scale_notes(results, scale)],
    }, scores.rows)


def _holds(one: PairedResult) -> bool | None:
    """Whether the interval holds 0. Without one, where all differences are equal: 0 lies in any interval of differences that are 0."""
    found = one.difference
    if found.low is None or found.high is None:
        return True if found.value == 0 and one.n_scored > 1 else None
    return found.low <= 0 <= found.high


def _runs(options: Mapping[str, Any]) -> tuple[Scores, list[Column]]:
    """Two columns a metric. Two files of one system with one name: the runs are called by their files."""
    from dataclasses import replace

    from kgeval.comparison.given.scores import columns_of, missing_of
    from kgeval.files.score_tables import Scores

    files = options["files"]
    if len(files) == 2:
        alone = [scores_of({**options, "files": (path,), "allow_missing": True})[0] for path in files]
        names = [set(one.systems) for one in alone]
        if len(names[0]) == 1 and names[0] == names[1]:
            stems = [path.stem if files[0].stem != files[1].stem else str(path) for path in files]
            cells = [replace(cell, system=stem) for stem, one in zip(stems, alone, strict=True) for cell in one.cells]
            rows = {str(path): sum(one.rows.values()) for path, one in zip(files, alone, strict=True)}
            scores = Scores(tuple(cells), rows, alone[0].notes)
            columns = columns_of(scores.cells)
            refuse_missing(missing_of(columns), options, "the runs have different questions")
            return scores, columns
    scores, columns = scores_of(options)
    if len(scores.systems) != 2:
        raise InputError(f"two runs are needed, found: {', '.join(scores.systems) or 'none'}", fix="choose two: --filter-system RUN1,RUN2")
    return scores, columns


def _has_winner(options: Mapping[str, Any]) -> bool:
    """Whether the first file holds verdicts: two systems in a row."""
    from kgeval.files.given import Faults, fields_of, sheet_of
    from kgeval.files.verdict_files import FIELDS

    if len(options["files"]) != 1 or str(options["files"][0]) == "-":
        return False
    fields = fields_of(sheet_of(options["files"][0], Faults()), FIELDS, {})
    return "system_a" in fields and "system_b" in fields


def _aa_of_verdicts(started: Any, options: Mapping[str, Any]) -> int:
    from kgeval.cli.stats_options import notes_of, verdicts_of
    from kgeval.comparison.given.verdicts import self_check_of

    found, tables = verdicts_of({**options, "winners": (), "procedure": None})
    checks: list[SelfCheck] = [self_check_of(table, seed=options["seed"], confidence=options["confidence"]) for table in tables.tables]
    return finish(started, "aa", options, {"self_checks": checks, "notes": notes_of(found, tables)}, found.rows)


@click.command()
@click.argument("files", nargs=-1, type=FILE)
@click.option("--difference", type=float, metavar="D", help="The difference that shall be found: gives the n that it needs.")
@click.option("--n", "questions", type=click.IntRange(min=2), metavar="N", help="Questions: gives the smallest difference that they find.")
@click.option("--sd", type=float, metavar="SD", help="Standard deviation of the questions' differences [default: that of FILES].")
@click.option("--power", type=Share(), default=0.8, show_default=True, metavar="SHARE", help="The chance to find it.")
@score_options
@common_options()
def power(**options: Any) -> int:
    """How many questions a difference needs, or what a number of questions can find.

    The spread of the questions' differences comes from --sd or from FILES of scores (a pilot). Without --n, the number of FILES is taken;
    without --difference, the difference seen in them.

    Exit codes: 0 done, 2 wrong input.
    """
    started = begin("power", options)
    _check_power(options)
    if not options["files"]:
        return finish(started, "power", options, {"power": [_power_row(options, options["sd"], bounds_of(options["bounds"]))]}, {})
    from kgeval.comparison.given.scores import paired_results, scale_of

    scores, columns = scores_of(options)
    scale = scale_of(columns, bounds_of(options["bounds"]))
    results = paired_results(columns, seed=options["seed"], confidence=options["confidence"], scale=scale)
    if not results:
        raise InputError("two systems are needed to see a spread", fix="give the scores of two systems, or --sd")
    rows = [_power_row(options, options["sd"] if options["sd"] is not None else one.sd or 0.0, scale, one) for one in results]
    flat = [f"{one.system_a} - {one.system_b}: no spread is seen, so nothing can be said" for one in results if not one.sd]
    return finish(started, "power", options, {"power": rows, "notes": [*scores.notes, *flat]}, scores.rows)


def _check_power(options: Mapping[str, Any]) -> None:
    """Raises: UsageError for options that do not go together."""
    wrong = [name for name in ("sd", "difference") if options[name] is not None and not abs(options[name]) < float("inf")]
    if wrong or (options["sd"] is not None and options["sd"] <= 0):
        raise UsageError("--sd and --difference are finite numbers, --sd above 0", fix="e.g. --sd 0.3 --difference 0.05")
    if not options["files"] and options["sd"] is None:
        raise UsageError("no spread is known", fix="give --sd, or files of scores from a pilot")
    if not options["files"] and options["difference"] is None and options["questions"] is None:
        raise UsageError("nothing is asked", fix="give --difference D for the n that it needs, or --n N for what N questions find")
    if options["difference"] == 0:
        raise UsageError("no number of questions finds a difference of 0", fix="give the smallest difference that matters")
    if 1 - options["confidence"] >= options["power"]:
        raise UsageError("--power must lie above 1 - --confidence", fix="e.g. --power 0.8 --confidence 0.95")


def _power_row(options: Mapping[str, Any], sd: float, scale: Span | None, one: PairedResult | None = None) -> Any:
    from kgeval.comparison.given.scores import within
    from kgeval.records import PowerRow
    from kgeval.stats.power import detectable, needed, tier

    alpha, chance = 1 - options["confidence"], options["power"]
    n = options["questions"] if options["questions"] is not None else one.n_scored if one else None
    wanted = options["difference"] if options["difference"] is not None else one.difference.value if one else None
    names = {"system_a": one.system_a, "system_b": one.system_b, "metric": one.metric} if one else {}
    least = detectable(sd, n, power=chance, alpha=alpha) if n is not None and n > 1 else None
    return PowerRow(
        sd=sd, power=chance, n=n, detectable=within(least, None if scale is None else scale[1] - scale[0]),
        difference=wanted, needed=needed(wanted, sd, power=chance, alpha=alpha) if wanted is not None else None,
        tier=tier(n).name if n is not None else None, **names,
    )
