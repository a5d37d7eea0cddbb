"""The options of `kgeval compare`, and what kgeval.toml and defaults make of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import lcm
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from kgeval.cli.common import F, bad_rows_option, listed
from kgeval.cli.derive import flags_of
from kgeval.cli.score_options import ANSWERS, FILE, filter_options
from kgeval.config import SystemOptions
from kgeval.errors import UsageError

if TYPE_CHECKING:
    from kgeval.cli.compare_open import KnownCounts, Opened
    from kgeval.comparison.align.shape import AlignmentRule
    from kgeval.comparison.judge.ways import Way
    from kgeval.comparison.kept import Round
    from kgeval.comparison.results.found import Figure, Threshold
    from kgeval.config import Config
    from kgeval.records import Procedure, TrialKind
    from kgeval.stats.thresholds import Threshold as Written

PROCEDURES = ("scores", "single", "pairwise-choice", "differential")
TRIALS, REPEATS = 25, 2  # M and N of [Z 4]
Show = Literal["reference", "evidence", "both", "none"]
FIGURES: tuple[Figure, ...] = ("relative", "low", "high", "win", "tie", "loss", "gap")


def answer_options(command: F) -> F:
    """ANSWERS, --questions, which systems, which pairs, which questions."""
    for option in reversed((
        click.argument("answers", nargs=-1, type=ANSWERS),
        click.option("--questions", type=FILE, metavar="FILE", help="The questions; joined with the answers by id."),
        click.option("--map", "maps", multiple=True, metavar="NAME=FIELD", help="Which field of the files is what (repeatable)."),
        click.option("--allow-missing", is_flag=True, help="Compare two systems on the questions that both have; the others are listed."),
        click.option("--allow-duplicates", is_flag=True, help="Of several rows with one id, keep the first and count the rest."),
        bad_rows_option,
        click.option("--against", metavar="SYSTEM", help="Compare every other system with this one only [default: all pairs]."),
        click.option("--pairs", multiple=True, metavar="A:B", help="Compare these pairs only (repeatable)."),
        click.option(
            "--self-check", "self_checks", multiple=True, metavar="SYSTEM[=OTHER]",
            help="A/A check: the system beside a second run of itself; OTHER: the system of a second run's file (repeatable).",
        ),
        flags_of(SystemOptions, without=("ablations",)),
        click.option("--reader", metavar="NAME", help="Model of built-in systems [default: model.reader.name of kgeval.toml]."),
        *filter_options(),
        click.option("--filter-system", "filter_systems", multiple=True, metavar="NAME", help="Only these systems of the files."),
        click.option("--seed", type=click.IntRange(0, 2**31 - 1), default=0, show_default=True, help="Seed of orders and intervals."),
    )):
        command = option(command)
    return command


def procedure_options(command: F) -> F:
    """How it is judged, how often, at which length; defaults: [compare] of kgeval.toml."""
    for option in reversed((
        click.option("--procedure", type=click.Choice(PROCEDURES), help="How the judge is asked [default: scores]."),
        click.option(
            "--show", type=click.Choice(("reference", "evidence", "both", "none")),
            help="What the judge is shown of the right answer [default: what the questions have].",
        ),
        click.option(
            "--aspects", multiple=True, metavar="NAMES",
            help="Which aspects, comma or repeated; zeng: the paper's four [default: these, and correctness and completeness where the "
            "judge is shown something of the right answer].",
        ),
        click.option("--grades", type=FILE, metavar="TOML", help="Aspects and grades of your own (kgeval help judge-procedures)."),
        click.option(
            "--trials", type=click.IntRange(1, 1000), metavar="M",
            help="Trials over all questions, at most: no request is sent again that an earlier trial has sent [default: 25].",
        ),
        click.option(
            "--repeats", type=click.IntRange(1, 100), metavar="N",
            help="Calls for one order of two answers; one where the judge has temperature 0 [default: 2].",
        ),
        click.option(
            "--temperature", type=click.FloatRange(0, 2), metavar="X",
            help="Of the judge; above 0 the same request gives another draw in each trial and repeat [default: 0].",
        ),
        click.option(
            "--wordings", type=click.IntRange(1, 10), metavar="W",
            help="Wordings of aspects and grades, which trials take in turn; kgeval's own have 3 [default: 1].",
        ),
        click.option(
            "--trial-kind", type=click.Choice(("regenerate", "rejudge")),
            help="Does a trial have systems answer again? [default: regenerate where all can be called, else rejudge].",
        ),
        click.option(
            "--align", type=click.Choice(("pair", "longest", "none")),
            help="Bring two answers to one length, all to the longest, or not [default: pair; differential: none].",
        ),
        click.option("--tolerance", type=click.IntRange(0, 10_000), metavar="WORDS", help="Words that may differ [default: 10]."),
        click.option("--attempts", type=click.IntRange(0, 100), help="Times that a system is asked for a length [default: 5]."),
        click.option(
            "--no-force", is_flag=True, help="Have no model add words [default: the reader's of built-in systems does, else the judge].",
        ),
        click.option(
            "--meaning-sample", type=click.IntRange(0, 100_000), default=30, show_default=True, metavar="N",
            help="Aligned answers a pair of which the judge says whether they keep their claims; 0: none.",
        ),
        click.option("--fresh-answers", is_flag=True, help="Ask the systems again, whatever earlier runs kept of their answers."),
        click.option("--baseline-biased", is_flag=True, help="Also the biased way: one order, one trial, free lengths, no ties."),
        click.option("--contrast", multiple=True, type=click.Choice(PROCEDURES), help="Also another procedure beside it (repeatable)."),
        click.option("--stop-when-sure", is_flag=True, help="Stop a pair when its always-valid interval decides [then trials: 3]."),
        click.option("--tie-region", type=click.FloatRange(0, 0.99), metavar="X", help="Relative win rate that is a tie [default: 0.1]."),
        click.option("--anchors", type=FILE, metavar="FILE", help="Pairs with people's verdicts, judged again: has the judge moved?"),
        click.option("--labels", type=FILE, metavar="FILE", help="People's verdicts on a random sample: correct the judge by them."),
        click.option("--simulate", is_flag=True, help="No answers: show on judges with known biases that the procedure has none."),
        click.option("--runs", type=click.IntRange(1, 100_000), metavar="N", help="With --simulate: how many comparisons are drawn."),
        click.option(
            "--simulate-questions", "n_questions", type=click.IntRange(2, 100_000), metavar="N",
            help="With --simulate: questions of a comparison.",
        ),
    )):
        command = option(command)
    return command


def outcome_options(command: F) -> F:
    """What comes out beside the report."""
    for option in reversed((
        click.option("--verdicts", type=click.Path(path_type=Path), metavar="FILE", help="All verdicts: .jsonl or .csv."),
        click.option("--drill", type=click.IntRange(0, 100_000), default=200, show_default=True, help="Questions that the report opens."),
        click.option("--baseline", type=FILE, metavar="JSON", help="An earlier comparison (.json): what has changed."),
        click.option(
            "--threshold", "thresholds", multiple=True, metavar="[A[:B]:]FIGURE[@ASPECT]>=X",
            help="E.g. new:low>=-0.05; FIGURE: relative, low, high, win, tie, loss, gap; missed: exit 1 (comma or repeated).",
        ),
    )):
        command = option(command)
    return command


@dataclass(frozen=True)
class Settings:
    """How a comparison is made: flags over [compare] of kgeval.toml over defaults. `kind` None: as the systems allow. `notes`: what was
    decided once questions, systems and judge were known (`settled`), for dry run and report."""

    rounds: tuple[Round, ...]
    rule: AlignmentRule
    kind: TrialKind | None
    tie_region: float
    thresholds: tuple[str, ...]
    show: Show = "none"
    notes: tuple[str, ...] = ()

    @property
    def main(self) -> Round:
        """The procedure of the comparison itself; the others stand beside it."""
        return self.rounds[0]


def settings_of(config: Config, options: Mapping[str, Any]) -> Settings:
    """The settings in force. Raises: UsageError, InputError (--grades)."""
    from kgeval.comparison.align.rule import alignment
    from kgeval.comparison.stopping import TIE_REGION
    from kgeval.comparison.stopping import TRIALS as SURE_TRIALS

    section = config.compare

    def chosen(flag: str, default: Any) -> Any:
        for value in (options.get(flag), getattr(section, flag, None)):
            if value is not None:
                return value
        return default

    procedure: Procedure = chosen("procedure", "scores")
    ways = _ways(procedure, options, listed(options["aspects"]) or list(section.aspects))
    kind = chosen("align", "pair" if ways[0].aligned else "none")
    rule = alignment(
        kind=kind, attempts=chosen("attempts", 5), tolerance=chosen("tolerance", 10), force=section.force and not options["no_force"],
    )
    if options["tie_region"] is not None and not options["stop_when_sure"]:
        raise UsageError("--tie-region needs --stop-when-sure", fix="give both, or leave it out")
    trials = chosen("trials", SURE_TRIALS if options["stop_when_sure"] else TRIALS)
    rounds = _rounds(ways, trials, chosen("repeats", REPEATS), aligned=kind != "none")
    thresholds = (*section.thresholds, *options["thresholds"])
    return Settings(rounds, rule, chosen("trial_kind", None), chosen("tie_region", TIE_REGION), thresholds)


def settled(settings: Settings, config: Config, options: Mapping[str, Any], opened: Opened) -> Settings:
    """The settings once questions, systems and judge are known: what the judge is shown, by which aspects, and how many trials differ.

    A judge at temperature 0 gives the same reply to the same request. So nothing is repeated, and there are as many trials as have other
    answers (systems that answer anew, files with several answers) or another wording. Raises: UsageError.
    """
    from kgeval.comparison.judge.grades import KNOWN

    show, shown_note = _shown(options["show"] or config.compare.show, opened.known_counts())
    names = listed(options["aspects"]) or list(config.compare.aspects)
    if not names and not options["grades"] and show != "none":
        names = [*KNOWN, "zeng"]
    ways = _ways(settings.main.way.procedure, options, names, informed=show != "none")
    wordings = options["wordings"] or config.compare.wordings or 1
    if wordings > ways[0].wordings:
        what = f"--wordings {wordings}: the aspects have {ways[0].wordings}"
        raise UsageError(what, fix="give fewer, or add wordings to the --grades file")
    sampled = opened.models.endpoint.parameters.get("temperature") != 0
    main = settings.main
    trials, repeats, notes = main.trials, main.repeats, [shown_note]
    if not sampled:
        differ = main.trials
        if opened.aligned.trial_kind == "rejudge":
            differ = min(main.trials, wordings * lcm(*(one.most() for one in opened.aligned.sources.values())))
        if (differ, 1) != (main.trials, main.repeats):
            asked = {"trials": (differ, main.trials), "repeats": (1, main.repeats)}
            cut = ", ".join(f"{name} {made} (of {wanted})" for name, (made, wanted) in asked.items() if made != wanted)
            notes.append(
                f"the judge has temperature 0, where the same request gets the same reply: {cut}; what would make more of them differ: "
                f"--temperature above 0, --wordings (up to {ways[0].wordings}), systems that answer anew"
            )
        trials, repeats = differ, 1
    rounds = tuple(
        replace(one, way=way) if way.procedure == "biased"
        else replace(one, way=way, trials=trials, repeats=repeats, wordings=min(wordings, way.wordings), sampled=sampled)
        for one, way in zip(settings.rounds, ways, strict=True)
    )
    return replace(settings, rounds=rounds, show=show, notes=tuple(notes))


def _shown(given: Show | None, counts: KnownCounts) -> tuple[Show, str]:
    """What the judge is shown of the right answer, and what is said of it. Raises: UsageError for what no question has."""
    has: dict[str, int] = {"reference": counts.reference, "evidence": counts.evidence}
    if given is None:
        there = [name for name, count in has.items() if count]
        show: Show = "both" if len(there) == 2 else "none" if not there else there[0]  # type: ignore[assignment]
    else:
        show = given
    wanted = [name for name in has if show in (name, "both")]
    if lacking := [name for name in wanted if not has[name]]:
        raise UsageError(
            f"--show {show}: no question has {' or '.join(lacking)}", fix="give --questions with these fields, or another --show",
        )
    if not wanted:
        return show, "the judge is shown nothing of the right answers: it judges by what it knows and by how answers read"
    told = ", ".join(f"{name} ({has[name]:,} of {counts.questions:,} questions)" for name in wanted)
    return show, f"the judge is shown of the right answers: {told}"


def _ways(procedure: Procedure, options: Mapping[str, Any], names: Sequence[str], *, informed: bool = False) -> list[Way]:
    """The procedure of the run, then those compared with it."""
    from kgeval.comparison.judge.grades import chosen_aspects, read_grades
    from kgeval.comparison.judge.ways import way_of

    aspects = chosen_aspects(names, read_grades(options["grades"]) if options["grades"] else None)
    wanted: list[Procedure] = [procedure, *options["contrast"]]
    if options["baseline_biased"]:
        wanted.append("biased")
    return [way_of(one, aspects, informed=informed) for one in dict.fromkeys(wanted)]


def _rounds(ways: Sequence[Way], trials: int, repeats: int, *, aligned: bool) -> tuple[Round, ...]:
    """The biased baseline has one trial and one call; it and `differential` see free answers, unless that is the run's own procedure."""
    from kgeval.comparison.kept import Round

    return tuple(
        Round(way, 1, 1, aligned=False) if way.procedure == "biased"
        else Round(way, trials, repeats, aligned=aligned and (way.aligned or number == 0))
        for number, way in enumerate(ways)
    )


def thresholds_of(texts: Sequence[str], systems: Sequence[str], aspects: Sequence[str]) -> tuple[Threshold, ...]:
    """The thresholds of a run. `systems`, `aspects`: those that it has. Raises: UsageError with every fault of all of them."""
    from kgeval.comparison.results.found import Threshold
    from kgeval.stats.thresholds import parse_thresholds

    read = parse_thresholds(
        texts, lambda one: _faults(one, systems, aspects), span=(-1000, 1000),
        fix=f"write [A[:B]:]FIGURE[@ASPECT]>=X, e.g. new:low>=-0.05; FIGURE is one of {', '.join(FIGURES)}",
    )
    figures: dict[str, Figure] = {name: name for name in FIGURES}
    return tuple(
        Threshold(
            figures[one.name], one.least("lower" if one.name == "loss" else "higher"), one.limit, one.at or "overall",
            *_pair_of(one.of, systems)[:2],
        )
        for one in read
    )


def _faults(one: Written, systems: Sequence[str], aspects: Sequence[str]) -> list[str]:
    if one.name not in FIGURES:
        return [f"there is no figure {one.name[:60]}"]
    found = []
    if one.sign == "=" and one.name == "tie":
        found.append("of ties neither more nor fewer are better: write >= or <=")
    if one.at not in (None, "overall", *aspects):
        found.append(f"there is no aspect {(one.at or '')[:60]}")
    fault = _pair_of(one.of, systems)[2]
    return [*found, fault] if fault else found


def _pair_of(text: str | None, systems: Sequence[str]) -> tuple[str | None, str | None, str]:
    """(A, B, fault); null stands for any. Names may have colons of their own."""
    if not text:
        return None, None, ""
    if text in systems:
        return text, None, ""
    for at in (at for at, sign in enumerate(text) if sign == ":"):
        if text[:at] in systems and text[at + 1:] in systems:
            return text[:at], text[at + 1:], ""
    return None, None, f"no system is called {text[:100]}"
