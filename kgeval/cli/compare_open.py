"""Opening what a comparison needs: answers, systems that can be called, pairs, the judge. Every fault comes before anything is paid."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kgeval.cli.common import say, session_from_options
from kgeval.cli.compare_options import Settings, Show
from kgeval.cli.compare_shards import shard_in
from kgeval.cli.derive import options_from
from kgeval.cli.models import command_shared, embedding_from_options, open_models_from_options
from kgeval.cli.score_options import rows_wanted
from kgeval.config import ModelOptions, SystemOptions
from kgeval.errors import UsageError
from kgeval.workflows.answer_systems import Toolbox, chosen_systems

if TYPE_CHECKING:
    from kgeval.comparison.answering import Answering
    from kgeval.comparison.kept import Pairing
    from kgeval.comparison.pairs import Paired
    from kgeval.comparison.sources import SecondRun, Source
    from kgeval.config import Config
    from kgeval.files.asked import Questions
    from kgeval.files.rows import Rows, RowsWanted
    from kgeval.llm.asker import Asker
    from kgeval.llm.session import Models
    from kgeval.records import Question
    from kgeval.systems.system import System
    from kgeval.workflows.session import Session


@dataclass
class Opened:
    """What a run works with, open. `aligned`, `free`: the answers as the run aligns them, and as they are; one object where it does not
    align. `self_check`: name of a second run -> its system. `judge`: who is asked; in a dry run who counts."""

    models: Models
    judge: Asker
    box: Toolbox
    paired: Paired
    aligned: Answering
    free: Answering
    self_check: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def known_counts(self) -> KnownCounts:
        """Of how many questions something of the right answer is known. Over all of them, so that the parts of a run (--shard) agree."""
        seen: dict[str, tuple[bool, bool]] = {}
        for a, b in self.paired.pairs:
            for one in replace(self.paired, shard=None).questions(a, b):
                if one.id not in seen:
                    seen[one.id] = bool(one.right_answers or one.points), bool(one.evidence_texts)
        return KnownCounts(len(seen), sum(answer for answer, _ in seen.values()), sum(evidence for _, evidence in seen.values()))

    def pairings(self, show: Show) -> list[Pairing]:
        """The pairs with their questions: of each question what a judge and a system are shown, once for all pairs."""
        from kgeval.comparison.kept import Pairing

        seen: dict[str, Question] = {}
        return [
            Pairing(a, b, tuple(seen.setdefault(one.id, _slim(one, show)) for one in self.paired.questions(a, b)))
            for a, b in self.paired.pairs
        ]


@dataclass(frozen=True)
class KnownCounts:
    """Questions of a run, those with a right answer (or points that it makes), and those with the texts that it stands in."""

    questions: int
    reference: int
    evidence: int


def open_all(config: Config, options: Mapping[str, Any], settings: Settings, stack: ExitStack) -> Opened:
    """Opens everything. Raises: UsageError, InputError and what opening systems raises."""
    from kgeval.llm.asker import Dry, Live

    if not options["answers"] and not options["systems"]:
        raise UsageError(
            "there is nothing to compare", fix="give files of answers, or systems to ask with --system; kgeval compare --help shows how",
        )
    rows = _rows(options, stack)
    models = stack.enter_context(open_models_from_options(config, "judge", options))
    box = Toolbox(_reader_session(config, options, stack), options_from(SystemOptions, options), stack)
    systems = _systems(config, options, box, rows, stack)
    judge: Asker = Dry(models) if options["dry_run"] else Live(models)
    return _joined(options, settings, _Parts(rows, models, judge, box, systems), stack)


@dataclass(frozen=True)
class _Parts:
    rows: Rows | Questions
    models: Models
    judge: Asker
    box: Toolbox
    systems: Mapping[str, System]


def _rows(options: Mapping[str, Any], stack: ExitStack) -> Rows | Questions:
    """The answers with their questions, or the questions alone where every system is asked."""
    from kgeval.files.asked import open_questions
    from kgeval.files.rows import open_rows

    if len(set(options["answers"])) < len(options["answers"]):
        twice = sorted({str(path) for path in options["answers"] if options["answers"].count(path) > 1})
        raise UsageError(f"given twice: {', '.join(twice)}", fix="give the answers of two systems; --self-check compares two runs of one")
    wanted = _wanted_rows(options)
    if not options["answers"]:
        if options["questions"] is None:
            raise UsageError("the questions are missing", fix="give --questions FILE: the systems are asked them")
        return stack.enter_context(open_questions(wanted))
    return stack.enter_context(open_rows(wanted))


def _wanted_rows(options: Mapping[str, Any]) -> RowsWanted:
    return rows_wanted({**options, "system": None, "systems": options["filter_systems"], "shard": None})


def _reader_session(config: Config, options: Mapping[str, Any], stack: ExitStack) -> Session:
    """What built-in systems work with: --model is the judge, their reader is --reader; both share the budget."""
    from kgeval.graph.layouts import parse_overrides

    session = stack.enter_context(session_from_options(
        config, "compare", options, graph_name=options["graph_name"], layout=options["layout_option"],
        layout_keys=parse_overrides(list(options["overrides"])), embedding=embedding_from_options(options),
        asking=options_from(ModelOptions, {**options, "model": options["reader"]}), dry=options["dry_run"], show=not options["no_progress"],
    ))
    session.shared = command_shared(session.limits)
    return session


class _Ids:
    """The ids of the questions, for systems that are files."""

    def __init__(self, rows: Rows | Questions) -> None:
        self._rows = rows

    def ids(self) -> Iterator[str]:
        """In order, each once."""
        for one in self._rows:
            yield getattr(one, "question_id", None) or getattr(one, "id", None) or one.question.id  # type: ignore[union-attr]


def _systems(
    config: Config, options: Mapping[str, Any], box: Toolbox, rows: Rows | Questions, stack: ExitStack,
) -> dict[str, System]:
    """The systems that can be called, by name."""
    from kgeval.systems.spec import open_system

    if not options["systems"]:
        return {}
    found: dict[str, System] = {}
    for one in chosen_systems(config, box.options):
        system = stack.enter_context(open_system(one.spec, box.opening(one, _wanted_rows(options), _Ids(rows).ids)))
        if system.name in found:
            raise UsageError(f"two systems are called {system.name}", fix="name them: --system NAME=SPEC")
        found[system.name] = system
    return found


def _joined(options: Mapping[str, Any], settings: Settings, parts: _Parts, stack: ExitStack) -> Opened:
    from kgeval.comparison.pairs import pair_up
    from kgeval.comparison.sources import SECOND, Asked, filed

    files = [info.system for info in getattr(parts.rows, "systems", ())]
    hooks = {name: system for name, system in parts.systems.items() if name in files}
    asked = [name for name in parts.systems if name not in files]
    checks = _checks(options["self_checks"], [*files, *asked])
    again = [(name, f"{name}{SECOND}") for name, other in checks if other is None]
    wanted = _wanted(options, [*files, *asked], [(name, other) for name, other in checks if other is not None])
    paired = replace(pair_up(parts.rows, wanted, asked=asked, second_runs=again), shard=shard_in(options))
    sources: dict[str, Source] = {
        **filed(paired.sharing, tuple(name for name in files if name in paired.systems), hooks),
        **{name: Asked(parts.systems[name]) for name in asked},
    }
    aligned, free = _answering(options, settings, (parts, paired, sources, tuple(again)), stack)
    runs = {other if other is not None else f"{name}{SECOND}": name for name, other in checks}
    return Opened(parts.models, parts.judge, parts.box, paired, aligned, free, runs, [*parts.rows.notes])


def _checks(given: Sequence[str], systems: Sequence[str]) -> list[tuple[str, str | None]]:
    """(system, system of its second run or null) of each --self-check. Raises: UsageError."""
    found: list[tuple[str, str | None]] = []
    for text in given:
        name, _, other = (text, "", "") if text in systems else text.partition("=")
        if unknown := [one for one in (name, other) if one and one not in systems]:
            raise UsageError(
                f"--self-check {text}: no system is called {', '.join(unknown)}", fix=f"the systems are {', '.join(systems[:20])}",
            )
        if name == other:
            raise UsageError(f"--self-check {text}: both are the same run", fix="name the system of the second run's file after the =")
        found.append((name, other or None))
    return found


def _wanted(options: Mapping[str, Any], systems: Sequence[str], checks: Sequence[tuple[str, str]]) -> Any:
    """Which pairs: a second run's file stands beside its own system and no other."""
    from kgeval.comparison.pairs import PairsWanted

    usual = PairsWanted(options["against"], tuple(options["pairs"]), options["allow_missing"])
    if not checks:
        return usual
    if options["against"] or options["pairs"]:
        raise UsageError("--self-check A=B does not go with --against or --pairs", fix="write the check as one of --pairs")
    second = {other for _, other in checks}
    rest = combinations([name for name in systems if name not in second], 2)
    return replace(usual, pairs=tuple(f"{a}:{b}" for a, b in (*rest, *checks)))


def _answering(
    options: Mapping[str, Any], settings: Settings, given: tuple[_Parts, Paired, Mapping[str, Source], tuple[tuple[str, str], ...]],
    stack: ExitStack,
) -> tuple[Answering, Answering]:
    """The answers as the run aligns them, and free; one store for both."""
    from kgeval.comparison.align.force import Forcer
    from kgeval.comparison.answering import Answering, AnsweringSettings
    from kgeval.comparison.sources import second_run
    from kgeval.comparison.store import Store, answers_file
    from kgeval.llm.asker import Live
    from kgeval.llm.places import journal_file

    parts, paired, sources, again = given
    reader = parts.box.models  # who writes for built-in systems also adds words; else the judge does
    writer: Asker = parts.judge if reader is None else parts.box.dry or Live(reader)
    store = stack.enter_context(_Closing(Store(
        answers_file(journal_file(options["journal"], options["cache_dir"])), fresh=options["fresh_answers"],
    )))
    runs: list[SecondRun] = [second_run(sources[name]) for name, _ in again]

    def made(rule: Any, kind: Any) -> Answering:
        how = AnsweringSettings(
            rule=rule, trials=settings.main.trials, kind=kind, seed=options["seed"], meaning_sample=options["meaning_sample"],
            models=_told(parts.models, *([reader] if reader else [])), max_error_rate=parts.models.limits.max_error_rate,
        )
        return Answering(paired, sources, how, store=store, forcer=Forcer(writer), judge=parts.judge, second_runs=runs)

    aligned = made(settings.rule, settings.kind)
    return aligned, made(replace(settings.rule, on=False), aligned.trial_kind) if settings.rule.on else aligned


class _Closing:
    """A store as a context manager."""

    def __init__(self, store: Any) -> None:
        self._store = store

    def __enter__(self) -> Any:
        return self._store

    def __exit__(self, *_: object) -> None:
        self._store.close()


def _told(*models: Models) -> str:
    """Who judges, and who adds words: what is kept of one says nothing of another."""
    return " ".join(f"{at.model}@{at.name} {sorted(at.parameters.items())}" for at in (one.endpoint for one in models))


def _slim(question: Question, show: Show) -> Question:
    from kgeval.records import Question

    slim = Question(id=question.id, question=question.question, dataset=question.dataset, level=question.level)
    known: dict[str, Any] = {}
    if show in ("reference", "both"):
        known |= {"reference": question.reference, "references": question.references, "points": question.points}
    if show in ("evidence", "both"):
        known["evidence"] = question.evidence
    return slim.model_copy(update=known)


def inputs_of(config: Config, options: Mapping[str, Any]) -> list[Path]:
    """The files that a run reads, for the manifest and so that no output replaces one. Raises: UsageError for --system."""
    from kgeval.config import DEFAULT_FILE

    chosen = chosen_systems(config, options_from(SystemOptions, options)) if options["systems"] else []
    named = [
        *options["answers"], options["questions"], options["grades"], options["anchors"], options["labels"], options["baseline"],
        options["config_file"] or DEFAULT_FILE, options["prices"], options["layout_option"],
        *(Path(one.spec.argument).expanduser() for one in chosen if one.spec.kind == "file"),
    ]
    return list(dict.fromkeys(Path(name) for name in named if name and Path(name).is_file()))


def tell(opened: Opened) -> None:
    """Says what was decided about files and pairs."""
    for note in dict.fromkeys([*opened.notes, *opened.paired.notes]):
        say(note)
