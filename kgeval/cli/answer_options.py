"""The options of `kgeval answer`, and which systems and settings they mean."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kgeval.cli.common import F, Option, OutputPath, Seconds, bad_rows_option
from kgeval.cli.score_options import ANSWERS, filter_options
from kgeval.errors import InputError, UsageError

if TYPE_CHECKING:
    from pydantic import JsonValue

    from kgeval.config import Config
    from kgeval.records import Question
    from kgeval.systems.spec import SystemSpec

_SETTING = re.compile(r"(?:([\w.@+-]+):)?([\w.-]+)=(.*)", re.DOTALL)
SHOWN = 10


def question_options(command: F) -> F:
    """QUESTIONS and how they are read: --map, --filter-..."""
    for option in reversed((
        click.argument("questions", type=ANSWERS),
        click.option("--map", "maps", multiple=True, metavar="NAME=FIELD", help="Which field of the file is what (repeatable)."),
        click.option(
            "--allow-missing", is_flag=True, help="With file: a question without an answer is an error of its own, others are left out.",
        ),
        click.option("--allow-duplicates", is_flag=True, help="Of several rows with one id, keep the first and count the rest."),
        bad_rows_option,
        *filter_options(),
        click.option("--seed", type=click.IntRange(0, 2**31 - 1), default=0, show_default=True, help="Seed of samples."),
    )):
        command = option(command)
    return command


def spec_options(*, ablate: bool = True) -> tuple[Callable[[F], F], ...]:
    """--system and how systems are set and opened. `ablate`: with --ablate."""
    ablations = click.option(
        "--ablate", "ablations", multiple=True, metavar="[SYSTEM:]NAME=V1,V2",
        help="Ask variants too, one for each value: hops=1,2 (repeatable).",
    )
    return (
        click.option(
            "--system", "systems", multiple=True, metavar="[NAME=]SPEC",
            help="closed-book, vector, graph, graph+text, command:..., http:URL, file:PATH, ADAPTER[:MODE], or a name of [[systems]] "
            "in kgeval.toml (repeatable)" + (" [default: all of [[systems]]]." if ablate else "."),
        ),
        click.option(
            "--setting", "settings", multiple=True, metavar="[SYSTEM:]NAME=VALUE", help="A setting of the systems: hops=2 (repeatable).",
        ),
        *([ablations] if ablate else []),
        click.option(
            "--extractive", is_flag=True, help="Built-in systems answer with words of their contexts: no model is asked, for trying out.",
        ),
        click.option(
            "--folder", "folders", multiple=True, metavar="[SYSTEM=]DIR",
            help="The index of an adapter: the folder of kgeval system index (repeatable).",
        ),
        click.option(
            "--question-timeout", "timeout", cls=Option, old="--timeout", type=Seconds(),
            help="Seconds a question may take [default: 300].",
        ),
        click.option("--processes", type=click.IntRange(1, 256), help="Processes of a command at a time [default: 1]."),
    )


def system_options(command: F) -> F:
    """Which systems, and how they are set and asked."""
    for option in reversed((
        *spec_options(),
        click.option("--trials", type=click.IntRange(1, 100), default=1, show_default=True, help="Ask each question so many times."),
        click.option(
            "--target-words", metavar="N|FILE", help="Ask for about so many words; FILE: rows with id and target_words.",
        ),
        click.option("--resume", is_flag=True, help="Take over the answers that an interrupted run with the same -o has."),
        click.option("--retry-errors", is_flag=True, help="As --resume, but questions with an error are asked again."),
        click.option(
            "--index-record", type=click.Path(path_type=Path), metavar="JSON",
            help="Write what the index of a built-in system took; {system} in the name for several.",
        ),
        click.option("--sweep", is_flag=True, help="Print what theta, k and l_max of graph would find, and stop; no reader is asked."),
        click.option(
            "-o", "--output", "outputs", multiple=True, type=OutputPath(path_type=Path),
            help="Answers: .jsonl .json .csv .parquet; DIR/ or a name with {system}: one file a system (repeatable) [default: stdout].",
        ),
        click.option("-q", "--quiet", is_flag=True, help="No summary on stdout."),
    )):
        command = option(command)
    return command


@dataclass(frozen=True)
class Chosen:
    """A system that was asked for. `label`: by what --setting names it."""

    spec: SystemSpec
    label: str
    settings: Mapping[str, JsonValue] = field(default_factory=dict)
    ablations: Mapping[str, Sequence[JsonValue]] = field(default_factory=dict)
    timeout: float | None = None
    processes: int | None = None
    folder: Path | None = None


def chosen_systems(config: Config, options: Mapping[str, Any]) -> list[Chosen]:
    """The systems with their settings: flags over kgeval.toml. Raises: UsageError for faulty words, and for settings of no system."""
    named = {one.name: one for one in config.systems}
    if twice := [name for name, count in Counter(one.name for one in config.systems).items() if count > 1]:
        raise UsageError(f"[[systems]]: several are called {', '.join(twice)}", fix="give each a name of its own in kgeval.toml")
    texts = list(options["systems"]) or list(named)
    if not texts:
        raise UsageError("no system is named", fix="give --system, e.g. --system vector or --system command:'python my_system.py'")
    found = [_chosen(text, named) for text in dict.fromkeys(texts)]
    settings = _pairs("--setting", options["settings"])
    ablations = _pairs("--ablate", options["ablations"])
    labels = {one.label for one in found}
    if unknown := sorted({name for name, _, _ in (*settings, *ablations) if name is not None} - labels):
        raise UsageError(f"no system is called {', '.join(unknown)}", fix=f"the systems are {', '.join(sorted(labels))}")
    folders = _folders(options["folders"], labels)
    made = (replace(one, folder=folders.get(one.label) or folders.get("") or one.folder) for one in found)
    return _equal_budgets([_set(one, settings, ablations) for one in made])


def _equal_budgets(chosen: list[Chosen]) -> list[Chosen]:
    """With the `l_max` of the graph systems for `vector` too, where these agree and it has none of its own: a comparison that changes the
    length of the contexts along with the retrieval says nothing of the retrieval."""
    builtin = {one.label: one.spec.name for one in chosen if one.spec.kind == "builtin"}
    budgets = [one.settings.get("l_max") for one in chosen if builtin.get(one.label) in ("graph", "graph+text")]
    if not budgets or budgets[0] is None or any(budget != budgets[0] for budget in budgets):
        return chosen
    same = {"l_max": budgets[0]}
    return [replace(one, settings={**same, **one.settings}) if builtin.get(one.label) == "vector" else one for one in chosen]


def _folders(given: Sequence[str], labels: set[str]) -> dict[str, Path]:
    """The folder of each system that has one of its own; under no name that of all others. Raises: UsageError."""
    found: dict[str, Path] = {}
    for text in given:
        label, sign, folder = text.partition("=")
        if not sign or (label not in labels and Path(text).is_dir()):
            label, folder = "", text
        elif label not in labels:
            raise UsageError(f"--folder {text}: no system is called {label}", fix=f"the systems are {', '.join(sorted(labels))}")
        if label in found or not folder:
            what = "a second folder" if folder else "no folder"
            raise UsageError(f"--folder {text}: {what}", fix="write --folder SYSTEM=DIR for each system")
        found[label] = Path(folder).expanduser()
    return found


def _chosen(text: str, named: Mapping[str, Any]) -> Chosen:
    from kgeval.systems.spec import parse_spec

    section = named.get(text)
    if section is None:
        spec = parse_spec(text)
        return Chosen(spec, spec.label or spec.name)
    spec = replace(parse_spec(section.spec), label=section.name)
    return Chosen(
        spec, section.name, settings=section.settings, timeout=section.timeout, processes=section.processes,
        folder=section.folder.expanduser() if section.folder else None,
    )


def _set(one: Chosen, settings: Iterable[tuple[str | None, str, str]], ablations: Iterable[tuple[str | None, str, str]]) -> Chosen:
    """With the settings that are meant for it."""
    from kgeval.systems.spec import merged, nested

    own = nested((name, value_of(text)) for label, name, text in settings if label in (None, one.label))
    varied: dict[str, list[JsonValue]] = {}
    for label, name, text in ablations:
        if label in (None, one.label):
            varied.setdefault(name, []).extend(value_of(part.strip()) for part in text.split(",") if part.strip())
    return replace(one, settings=merged(one.settings, own), ablations=varied)


def _pairs(flag: str, given: Sequence[str]) -> list[tuple[str | None, str, str]]:
    """(system or null, name, value) of each. Raises: UsageError."""
    found = [(_SETTING.fullmatch(text), text) for text in given]
    wrong = [text for match, text in found if match is None]
    if wrong:
        raise UsageError(f"faulty {flag}: " + ", ".join(f"'{text}'" for text in wrong), fix=f"write {flag} NAME=VALUE")
    return [(match[1], match[2], match[3]) for match, _ in found if match is not None]


def value_of(text: str) -> JsonValue:
    """A value of the command line: JSON where it is JSON (a number, true, an object), else text."""
    def refuse(word: str) -> None:
        raise ValueError(word)

    try:
        value: JsonValue = json.loads(text, parse_constant=refuse)
    except (ValueError, RecursionError):
        return text
    return value


def check_lengths(given: str | None, target: Callable[[Question], int | None], questions: Iterable[Question]) -> None:
    """Raises: InputError that lists the questions for which the file of lengths has none, before anything is asked."""
    lacking = [question.id for question in questions if target(question) is None]
    if lacking:
        shown = [*lacking[:SHOWN], *([f"... and {len(lacking) - SHOWN:,} more"] if len(lacking) > SHOWN else [])]
        raise InputError(
            f"{given}: questions without target_words: {len(lacking):,}", faults=shown, fix="give a row for every question that is asked",
        )


def target_words(given: str | None) -> tuple[Callable[[Question], int | None] | None, str]:
    """How many words an answer shall have, and what stands for that in fingerprints. Raises: UsageError, InputError."""
    if given is None:
        return None, ""
    if given.isdecimal():
        if not 0 < int(given) <= 100_000:
            raise UsageError(f"--target-words {given}: not between 1 and 100,000", fix="give a number of words")
        return (lambda question: int(given)), given
    words = _words_of(Path(given))
    return (lambda question: words.get(question.id)), json.dumps(sorted(words.items()))


def _words_of(path: Path) -> dict[str, int]:
    from kgeval.files import cells
    from kgeval.files.stream import stream

    words: dict[str, int] = {}
    faults: list[str] = []
    for line in stream(path):
        row = line.value if line.fault is None else {}
        try:
            name, count = cells.name(row.get("id", row.get("question_id"))), cells.whole(row.get("target_words"))
        except cells.Misfit as misfit:
            faults.append(f"{line.where}: {misfit}")
            continue
        if line.fault or name is None or not count:
            faults.append(f"{line.where}: {line.fault or 'id and target_words (1 or more) are needed'}")
        elif words.get(name, count) != count:
            faults.append(f"{line.where}: another length for {name}, which has {words[name]} already")
        else:
            words[name] = count
    if faults:
        raise InputError(f"{path}: {len(faults)} rows are faulty", fix='a row is {"id": "q1", "target_words": 80}', faults=faults[:SHOWN])
    return words
