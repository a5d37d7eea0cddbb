"""What is wrong with a run before anything is started: the file, what it names, and what it says to every stage; all of it at once."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from kgeval.config import DEFAULT_FILE, Config
from kgeval.errors import ConfigError, KgevalError, UsageError
from kgeval.systems.builtin.tools import NEEDS
from kgeval.workflows.pipeline.kinds import KINDS
from kgeval.workflows.pipeline.stages import LOGS, Stage


def check(config: Config, stages: Sequence[Stage], faults: Sequence[str], file: Path | None) -> None:
    """`faults`: those of the file itself. Raises: ConfigError with all of them, and every fault of what the file names, and of what it says
    to each stage."""
    flagged = (
        f"run.options.{stage.kind.name}: {fault} (the stage is: {stage.line})" for stage in stages for fault in stage.wrong()
    )
    found = list(dict.fromkeys([*faults, *faults_of(config), *_of_tasks(config, stages), *flagged]))
    if found:
        lines = "".join(f"\n  {fault}" for fault in found)
        count = "1 fault" if len(found) == 1 else f"{len(found)} faults"
        raise ConfigError(f"{file or DEFAULT_FILE}: {count}; nothing was started{lines}", fix="kgeval help run describes the file")


def faults_of(config: Config) -> list[str]:
    """One line a fault: `section.key: what is wrong (what to do)`. Files must be there; names of metrics, kinds, systems and stages must
    be known; what needs a model or a source must have one."""
    checks: tuple[Callable[[Config], Iterator[str]], ...] = (_files, _names, _stages, _systems, _metrics, _kinds, _models, _matrix, _empty)
    return [fault for check in checks for fault in check(config)]


def _files(config: Config) -> Iterator[str]:
    """Files and folders that are not there."""
    given: list[tuple[str, Path | None]] = [
        *(("source.documents", path) for path in config.source.documents), *(("source.files", path) for path in config.source.files),
        ("gold.file", config.gold.file), ("questions.file", config.questions.file),
        *(("answers.files", path) for path in config.answers.files),
    ]
    for at, one in enumerate(config.matrix.datasets):
        where = f"matrix.datasets.{at}"
        given += [(f"{where}.{key}", path) for key, paths in (("documents", one.documents), ("files", one.files), ("answers", one.answers))
                  for path in paths]
        given += [(f"{where}.questions", one.questions), (f"{where}.gold", one.gold)]
    for key, path in given:
        if path is not None and not path.exists():
            yield f"{key}: {path}: no such file or folder"
    for key, files in (("source.files", config.source.files), *((f"matrix.datasets.{at}.files", one.files)
                       for at, one in enumerate(config.matrix.datasets))):
        if len(files) > 1:
            yield f"{key}: kgeval import loads one file or folder (give one, or build from documents)"
    for at, one in enumerate(config.matrix.datasets):
        if one.documents and one.files:
            yield f"matrix.datasets.{at}: documents and files exclude each other (a graph is built or loaded)"


def _names(config: Config) -> Iterator[str]:
    """Names that stand twice."""
    lists: tuple[tuple[str, Iterable[str]], ...] = (
        ("systems", (one.name for one in config.systems)), ("matrix.datasets", (one.name for one in config.matrix.datasets)),
        ("matrix.readers", (one.name for one in config.matrix.readers)), ("matrix.variants", (one.name for one in config.matrix.variants)),
    )
    for at, one in enumerate(config.matrix.datasets):
        if one.name == LOGS:
            yield f"matrix.datasets.{at}.name: {LOGS} is a folder of the run itself (choose another name)"
    for key, names in lists:
        if twice := [name for name, count in Counter(names).items() if count > 1]:
            yield f"{key}: several are called {', '.join(twice)}"


def _stages(config: Config) -> Iterator[str]:
    """Stages that do not exist."""
    for key, given in (("run.skip", config.run.skip), ("run.options", list(config.run.options))):
        if wrong := [name for name in given if name not in KINDS]:
            yield f"{key}: no such stage: {', '.join(wrong)} (there are {', '.join(KINDS)})"


def _systems(config: Config) -> Iterator[str]:
    """Systems that cannot be, and ablations of systems that are not there."""
    from kgeval.systems.spec import parse_spec

    for at, one in enumerate(config.systems):
        yield from _said(f"systems.{at}.spec", lambda spec=one.spec: parse_spec(spec))  # type: ignore[misc]
    names = {one.name for one in config.systems}
    for at, ablation in enumerate(config.ablations):
        if ablation.system not in names:
            yield f"ablations.{at}.system: no system of [[systems]] is called {ablation.system}"
        if any(isinstance(value, str) and "," in value for value in ablation.values):
            yield f"ablations.{at}.values: a value with a comma would be read as two"
    yield from _settings(config)


def _settings(config: Config) -> Iterator[str]:
    """Settings of built-in systems that they do not have, or values that are none."""
    from kgeval.systems.builtin import read_settings

    for at, one in enumerate(config.systems):
        spec = one.spec.strip()
        if spec not in NEEDS:
            continue
        yield from _said(f"systems.{at}.settings", lambda spec=spec, one=one: read_settings(spec, one.settings))  # type: ignore[misc]
        for number, ablation in enumerate(config.ablations):
            for value in ablation.values if ablation.system == one.name else ():
                given = {ablation.setting: value}
                yield from _said(f"ablations.{number}", lambda spec=spec, given=given: read_settings(spec, given))  # type: ignore[misc]


def _metrics(config: Config) -> Iterator[str]:
    from kgeval.metrics.select import select

    if config.metrics.names:
        yield from _said("metrics.names", lambda: select(config.metrics.names, config.metrics.criteria))


def _kinds(config: Config) -> Iterator[str]:
    from kgeval.questions.kinds import orders_of

    if config.questions.kinds:
        yield from _said("questions.kinds", lambda: orders_of(config.questions.kinds, config.questions.n))
        if config.questions.file is not None:
            yield "questions: file and kinds exclude each other (leave out the one that is not meant)"


def _models(config: Config) -> Iterator[str]:
    """Stages that need a model that is not named."""
    if config.gold.sample and not config.model.judge.name and "accuracy" not in config.run.skip:
        yield "gold.sample: needs a judge (set name in [model.judge])"
    if "compare" in config.model_fields_set and not config.model.judge.name and "compare" not in config.run.skip:
        yield "compare: needs a judge (set name in [model.judge])"
    named = config.model.reader
    if named.endpoint and not named.base_url and any(one.base_url for one in config.matrix.readers):
        yield "model.reader.endpoint: would name the endpoints of all matrix.readers (give model.reader a base_url, or take the name out)"


def _matrix(config: Config) -> Iterator[str]:
    """Axes that nothing can be crossed on."""
    given = config.matrix
    made = bool(config.source.documents) or (bool(given.datasets) and all(one.documents for one in given.datasets))
    for key, axis in (("variants", given.variants), ("corpus", given.corpus)):
        if axis and not made:
            yield f"matrix.{key}: the graph must be built by the run (name documents in [source], or in each of matrix.datasets)"
    for key, axis2 in (("readers", given.readers), ("ablations", config.ablations)):
        if axis2 and not config.systems:
            yield f"{'matrix.' if key == 'readers' else ''}{key}: no system answers here (name some in [[systems]])"
    if config.source.documents and config.source.files:
        yield "source: documents and files exclude each other (a graph is built or loaded)"


def _empty(config: Config) -> Iterator[str]:
    """A run that has nothing to do."""
    data, graph = config.matrix.datasets, config.graph
    if not (config.source.documents or config.source.files or graph.uri or graph.name or config.answers.files or data or config.systems):
        yield "nothing to do: neither [graph] nor [source] nor [answers] nor [[systems]] (kgeval init writes a file to start from)"
    if config.systems and not (config.questions.file or config.questions.kinds):
        if not data:
            yield "systems: there are no questions (set file or kinds in [questions])"
        for at, one in enumerate(data):
            if one.questions is None:
                yield f"matrix.datasets.{at}: {one.name} has no questions (set questions there, or file or kinds in [questions])"


def _of_tasks(config: Config, stages: Sequence[Stage]) -> Iterator[str]:
    """What the tasks themselves would refuse, as far as they can say so before they open anything."""
    kinds = {stage.kind.name for stage in stages}
    if "audit" in kinds:
        yield from _of_audit(config)
    if "scores" in kinds:
        yield from _of_scores(config)
    if "compare" in kinds:
        yield from _of_comparison(config)
    yield from _of_models(config, kinds)
    unused = [name for name in config.run.options if name in KINDS and name not in kinds and name not in config.run.skip]
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
        reading = [one.name for one in config.systems if one.spec.strip() in NEEDS]
        if reading and not _given(config, "answers", "extractive"):
            yield (
                f"systems: {', '.join(reading)}: need a reader (set name in [model.reader], or extractive = true in [run.options.answers])"
            )


def _check_generator(config: Config) -> None:
    """Raises: UsageError where kinds need a model."""
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
    name = "_".join(("KGEVAL", *KINDS[stage].command, option)).upper().replace("-", "_")
    return bool(config.run.options.get(stage, {}).get(option) or os.environ.get(name))


def _said(key: str, work: Callable[[], object]) -> Iterator[str]:
    """What a check of another room says, as a line."""
    try:
        work()
    except KgevalError as fault:
        yield f"{key}: {fault.message} ({fault.fix})"
