"""What is wrong with a run before anything is started: the file, what it names, and the flags of every stage; all of it at once."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kgeval.errors import ConfigError, KgevalError

if TYPE_CHECKING:
    from kgeval.config import Config
    from kgeval.run.stages import Stage


def check(config: Config, stages: Sequence[Stage], faults: Sequence[str], file: Path | None) -> None:
    """`faults`: those of the file itself. Raises: ConfigError with all of them, and every fault of what the file names."""
    from kgeval.config import DEFAULT_FILE
    from kgeval.run.check import faults_of

    flagged = (fault for stage in stages for fault in _flag_faults(stage))
    found = list(dict.fromkeys([*faults, *faults_of(config), *_of_commands(config, stages), *flagged]))
    if found:
        lines = "".join(f"\n  {fault}" for fault in found)
        count = "1 fault" if len(found) == 1 else f"{len(found)} faults"
        raise ConfigError(f"{file or DEFAULT_FILE}: {count}; nothing was started{lines}", fix="kgeval help run describes the file")


def _of_commands(config: Config, stages: Sequence[Stage]) -> Iterator[str]:
    """What the commands themselves would refuse, as far as they can say so before they open anything."""
    from kgeval.run.stages import STAGES

    kinds = {stage.kind for stage in stages}
    if "audit" in kinds:
        yield from _of_audit(config)
    if "scores" in kinds:
        yield from _of_scores(config)
    if "compare" in kinds:
        yield from _of_comparison(config)
    yield from _of_models(config, kinds)
    unused = [name for name in config.run.options if name in STAGES and name not in kinds and name not in config.run.skip]
    if unused and not kinds:
        yield "there is nothing to work on: set [graph] name, [source] documents or [answers] files (kgeval init writes what it finds)"
        return
    for name in unused:
        had = f"this run has {', '.join(sorted(kinds))}"
        yield f"run.options.{name}: no such stage in this run ({had})"


def _of_audit(config: Config) -> Iterator[str]:
    from kgeval.auditing.rulebook import choose
    from kgeval.workflows.audit import parse_settings
    from kgeval.workflows.audit_gates import threshold_faults, waiver_faults

    section = config.audit
    yield from _said("audit.checks", lambda: choose(section.checks, section.skip))
    yield from (*threshold_faults(config), *waiver_faults(config))
    yield from _said("audit.settings", lambda: parse_settings([f"{name}={value}" for name, value in section.settings.items()]))
    if section.schema_file and not Path(section.schema_file).is_file() and not section.schema_file.startswith("graph:"):
        yield f"audit.schema_file: {section.schema_file}: no such file"


def _of_scores(config: Config) -> Iterator[str]:
    from kgeval.metrics.options import make_settings
    from kgeval.metrics.select import select
    from kgeval.metrics.summary.gates import parse_gates

    yield from _said("metrics.settings", lambda: make_settings(config.metrics.settings))
    try:
        chosen = select(config.metrics.names, config.metrics.criteria)
    except KgevalError:
        return  # said already
    yield from _said("metrics.thresholds", lambda: parse_gates(config.metrics.thresholds, chosen.metrics))
    if (judged := chosen.needing("judge")) and not (config.model.judge.name or _given(config, "scores", "model")):
        yield f"metrics.names: {', '.join(judged)}: need a judge (set name in [model.judge], or leave them out)"


def _of_comparison(config: Config) -> Iterator[str]:
    from kgeval.comparison.judge.grades import chosen_aspects

    if "grades" not in config.run.options.get("compare", {}):
        yield from _said("compare.aspects", lambda: chosen_aspects(config.compare.aspects))
    files = config.answers.files or [path for one in config.matrix.datasets for path in one.answers]
    if len(config.systems) < 2 and not files:
        yield "compare: needs two systems (name them in [[systems]], or their files in [answers])"


def _of_models(config: Config, kinds: set[str]) -> Iterator[str]:
    """Stages that need a model that nobody names."""
    if "build" in kinds and not (config.model.extractor.name or _given(config, "build", "model")):
        options = [config.source.options, *({**config.source.options, **one.options} for one in config.matrix.variants)]
        if any(one.get("extractor", "model") == "model" and "model" not in one for one in (options[1:] or options)):
            yield 'source: the graph is built by a model (set name in [model.extractor], or options = { extractor = "rules" })'
    if "questions" in kinds and not (config.model.generator.name or _given(config, "questions", "model")):
        yield from _said("questions.kinds", lambda: _check_generator(config))
    if "answers" in kinds and not (config.model.reader.name or config.matrix.readers or _given(config, "answers", "model")):
        from kgeval.systems.builtin.tools import NEEDS

        reading = [one.name for one in config.systems if one.spec.strip() in NEEDS]
        if reading and not _given(config, "answers", "extractive"):
            yield (
                f"systems: {', '.join(reading)}: need a reader (set name in [model.reader], or extractive = true in [run.options.answers])"
            )


def _check_generator(config: Config) -> None:
    """Raises: UsageError where kinds need a model."""
    from kgeval.errors import UsageError
    from kgeval.questions.kind import MakingOptions
    from kgeval.questions.kinds import orders_of

    try:
        orders = orders_of(config.questions.kinds, config.questions.n)
    except KgevalError:
        return  # said already
    making = MakingOptions(seed=0, template=_given(config, "questions", "template"))
    if needing := [order.kind.name for order in orders if "model" in order.kind.needs_of(making)]:
        raise UsageError(
            f"{', '.join(needing)}: need a generator", fix="set name in [model.generator], or template = true in [run.options.questions]",
        )


def _given(config: Config, stage: str, option: str) -> bool:
    """True if a flag of a stage is set, in the file or by its variable."""
    from kgeval.run.stages import command_of

    name = "_".join(("KGEVAL", *command_of(stage), option)).upper().replace("-", "_")
    return bool(config.run.options.get(stage, {}).get(option) or os.environ.get(name))


def _said(key: str, work: Callable[[], object]) -> Iterator[str]:
    """What another check says, as a line."""
    try:
        work()
    except KgevalError as fault:
        yield f"{key}: {fault.message} ({fault.fix})"


def _flag_faults(stage: Stage) -> list[str]:
    """What the stage's own command says of its words; files that earlier stages make are taken as if they were there."""
    from kgeval.cli.main import cli

    here, made = str(Path(__file__)), set(map(str, stage.outputs))
    folders = {str(path.parent) for path in stage.outputs if not path.parent.exists()}  # of a run that has not begun
    words = [
        str(Path(here).parent) if word in folders else here if word not in made and is_to_come(word) else word for word in stage.words
    ]
    command: click.Command = cli
    context = click.Context(cli, info_name="kgeval")
    try:
        while isinstance(command, click.Group):
            inner = command.get_command(context, words[0]) if words else None
            if inner is None and command.invoke_without_command:
                break  # the words are its own: kgeval audit
            if inner is None:
                return [f"{stage.id}: no such command: kgeval {' '.join(words[:1])}"]
            command, words = inner, words[1:]
        command.make_context(" ".join(stage.argv[:1]), words, parent=context)
    except click.ClickException as wrong:
        return [f"run.options.{stage.kind}: {wrong.format_message()} (the stage is: {stage.line})"]
    return []


def is_to_come(word: str) -> bool:
    """True for the path of a result file that is not there yet."""
    return word.endswith((".jsonl", ".json")) and not Path(word).exists()
