"""A run of `kgeval compare`: the dry run, judging, the report and the files, and what is said at the end."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import click

from kgeval.cli.common import say, visible
from kgeval.cli.compare_beside import Beside, read_beside
from kgeval.cli.compare_open import Opened, inputs_of, open_all, tell
from kgeval.cli.compare_options import Settings, settings_of, settled, thresholds_of
from kgeval.cli.compare_shards import Told, as_part
from kgeval.cli.compare_told import counted_line, exit_code, last_words, settings_told, signature_of
from kgeval.cli.models import limits_from_options, show_plan
from kgeval.cli.show import show_report
from kgeval.errors import IncompleteError, ModelError
from kgeval.files.joining import only_how_read

if TYPE_CHECKING:
    from kgeval.cli.compare_files import Outputs
    from kgeval.comparison.engine import Run
    from kgeval.comparison.kept import Pairing, Round, Segment, Verdicts
    from kgeval.comparison.results.found import Found, Tables, Threshold
    from kgeval.config import Config
    from kgeval.llm.plan import PlannedStage
    from kgeval.manifest import Started
    from kgeval.records import ComparisonReport, ComparisonVerdict, RunManifest


@dataclass
class Job:
    """One run: what was asked for, open and checked. `told`: of parts that are joined; null where this run asks."""

    config: Config
    options: Mapping[str, Any]
    started: Started
    settings: Settings
    outputs: Outputs
    opened: Opened
    pairings: list[Pairing]
    thresholds: tuple[Threshold, ...]
    beside: Beside
    notes: list[str] = field(default_factory=list)
    told: Told | None = None

    def manifest(self, code: int) -> RunManifest:
        """The manifest of this run."""
        graph = self.opened.box.graph
        made = self.started.manifest(
            server=graph.info if graph else None, inputs=inputs_of(self.config, self.options), seed=self.options["seed"], exit_code=code,
            asked=_asked(self.opened) if self.told is None else self.told.asked,
        )
        return as_part(self, made) if self.options["shard"] else made


def open_job(config: Config, options: Mapping[str, Any], started: Started, stack: ExitStack) -> Job:
    """Everything that a run needs, checked before anything is asked or paid."""
    from kgeval.cli.compare_files import outputs_of

    settings = settings_of(config, options)
    outputs = outputs_of(config, options, inputs_of(config, options))
    beside = Beside() if options["shard"] else read_beside(options)  # what stands beside it is about the whole run: the join looks at it
    opened = open_all(config, options, settings, stack)
    beside.check((a, b) for a, b in opened.paired.pairs if not opened.self_check.keys() & {a, b})
    tell(opened)
    settings = settled(settings, config, options, opened)
    for note in settings.notes:
        say(note)
    aspects = (*settings.main.way.names, "overall")
    return Job(
        config, options, started, settings, outputs, opened, opened.pairings(settings.show),
        () if options["shard"] else thresholds_of(settings.thresholds, opened.paired.systems, aspects), beside,
    )


def show_dry_run(job: Job) -> int:
    """The calls that a run would make, by stage; nothing is sent."""
    from kgeval.comparison.answering_plan import plan as plan_answers
    from kgeval.comparison.foresight import Foresight
    from kgeval.comparison.planning import Planning, exact, plan
    from kgeval.llm.asker import Dry
    from kgeval.llm.plan import Plan

    opened, judge = job.opened, job.opened.judge
    dry = judge if isinstance(judge, Dry) else Dry(opened.models)
    planning = Planning(
        opened.models, dry, Foresight(opened.aligned), Foresight(opened.free), job.pairings, job.settings.rounds,
    )
    stages: list[PlannedStage] = []
    if exact(planning):
        answers = plan_answers(opened.aligned)
        stages += answers.stages
        for line in answers.lines:
            click.echo(visible(line))
    more, notes = plan(planning)
    job.beside.plan(job.settings.main, dry)
    stages += [*(opened.box.dry.stages() if opened.box.dry is not None else ()), *dry.stages(), *more]
    click.echo(visible(counted_line(job)))
    for note in notes:
        click.echo(note)
    show_plan(Plan(tuple(stages), limits_from_options(job.config, job.options)))
    return 0


def in_batches(job: Job) -> None:
    """With --batch: the judge's calls, as far as the answers are known, by batches; the run finds them in the journal."""
    from kgeval.cli.batching import batch_first
    from kgeval.comparison.foresight import Foresight
    from kgeval.comparison.planning import Planning, walk
    from kgeval.llm.asker import Dry

    opened = job.opened
    planning = Planning(
        opened.models, Dry(opened.models), Foresight(opened.aligned), Foresight(opened.free), job.pairings, job.settings.rounds,
    )
    batch_first(opened.models, lambda asker: walk(planning, asker), job.options)


def carry_out(job: Job, judged: Callable[[Job, Verdicts], Run] | None = None) -> int:
    """Judges everything, writes what was asked for, shows the report, and says by its exit code what came of it. `judged`: where the
    verdicts come from instead."""
    from kgeval.comparison.kept import Verdicts

    try:
        with Verdicts(job.outputs.growing, fingerprint=signature_of(job)) as verdicts:
            run = (judged or _judged)(job, verdicts)
            report = _report(job, run)
            written = job.outputs.write(job, run, report)
    except (KeyboardInterrupt, IncompleteError, ModelError):
        if job.told is None:
            say("replies that came are in the journal: the same command goes on, and pays for none of them again")
        raise
    for path in written:
        say(f"wrote {path}")
    show_report(report, job.options, job.outputs.reports)
    for line in last_words(report):
        say(line)
    return report.run.exit_code


def _judged(job: Job, verdicts: Verdicts) -> Run:
    from kgeval.comparison.engine import Run, Sources, Sure
    from kgeval.comparison.stopping import Stopping

    opened, options = job.opened, job.options
    sure = Sure(lambda: Stopping(tie_region=job.settings.tie_region), options["seed"]) if options["stop_when_sure"] else None
    run = Run(
        opened.models, opened.judge, Sources(opened.aligned, opened.free), verdicts, job.pairings, job.settings.rounds, sure,
    )
    run.carry_out()
    if opened.models.stopped is None and opened.aligned.settings.rule.on:
        opened.aligned.check_meaning(opened.models.map)
    job.beside.judge(job.settings.main, run)
    return run


def _report(job: Job, run: Run) -> ComparisonReport:
    """The report, with its exit code."""
    from kgeval.comparison.results.build import build_report

    report = build_report(_found(job, run))
    report = job.beside.compared(report)
    return report.model_copy(update={"run": report.run.model_copy(update={"exit_code": exit_code(job, report)})})


def _found(job: Job, run: Run) -> Found:
    from kgeval.comparison.judge.grades import grade_texts
    from kgeval.comparison.results.found import Found

    opened, main = job.opened, job.settings.main
    looked = _Looked(run.verdicts)
    stopped = opened.models.stopped is not None or opened.aligned.stopped is not None
    complete = not stopped if job.told is None else job.told.complete
    bearing = [note for note in opened.notes if not only_how_read(note)]
    asking = opened.models.notes if job.told is None else job.told.notes
    scale = run.scales.get(main.way.procedure)
    corrected, told = job.beside.corrected(run.verdicts.tables(main))
    return Found(
        run=job.manifest(0), signature=signature_of(job), tables=_tables(run.verdicts, main), procedure=main.way.procedure,
        trial_kind=opened.aligned.trial_kind, complete=complete, max_error_rate=opened.models.limits.max_error_rate,
        settings=settings_told(job), grades=_grades(job, grade_texts),
        contrast={one.way.procedure: _tables(run.verdicts, one) for one in job.settings.rounds[1:]}, texts=opened.aligned.texts,
        question_text=_question_text(job.pairings), calls=looked.calls, systems=opened.aligned.uses(), alignment=_counts(opened),
        stopped=tuple(run.stopped), corrected=corrected, drift=job.beside.drift, self_check=opened.self_check,
        missing=opened.paired.missing, thresholds=job.thresholds, seed=job.options["seed"], drill=job.options["drill"],
        judgements=scale.judgements if scale else 0, requests=scale.requests if scale else 0,
        notes=tuple(dict.fromkeys([*run.notes, *job.settings.notes, *told, *bearing, *opened.aligned.notes, *asking])),
    )


def _grades(job: Job, texts: Any) -> dict[str, list[str]]:
    found: dict[str, list[str]] = texts(job.settings.main.way.aspects) if job.settings.main.way.graded else {}
    return found


def _counts(opened: Opened) -> tuple[Any, ...]:
    return opened.aligned.counts() if opened.aligned.settings.rule.on else ()


def _tables(verdicts: Verdicts, of: Round) -> Tables:
    return lambda: verdicts.tables(of)


def _question_text(pairings: Iterable[Pairing]) -> Any:
    texts = {question.id: question.question for pairing in pairings for question in pairing.questions}
    return texts.get


class _Looked:
    """Finds the calls of one question, for the drill-down."""

    def __init__(self, verdicts: Verdicts) -> None:
        self._verdicts = verdicts
        main = verdicts.segments[0].round if verdicts.segments else None
        self._segments: dict[tuple[str, str], Segment] = {
            (one.pairing.a, one.pairing.b): one for one in verdicts.segments if one.round is main
        }
        self._places: tuple[Segment | None, dict[str, int]] = (None, {})

    def calls(self, a: str, b: str, question_id: str, trial: int) -> Iterator[ComparisonVerdict]:
        """The verdicts of a question in a trial, in their order."""
        segment = self._segments.get((a, b))
        if segment is None:
            return
        if self._places[0] is not segment:
            self._places = segment, {question.id: place for place, question in enumerate(segment.pairing.questions)}
        place = self._places[1].get(question_id)
        if place is not None:
            yield from (one for one in self._verdicts.verdicts(segment, place) if one.trial == trial)


def _asked(opened: Opened) -> Any:
    from kgeval.manifest import Asked

    both = [opened.models.asked(), *([opened.box.models.asked()] if opened.box.models is not None else [])]
    return Asked(
        [ref for one in both for ref in one.models], [use for one in both for use in one.use],
        {name: digest for one in both for name, digest in one.prompt_hashes.items()},
    )
