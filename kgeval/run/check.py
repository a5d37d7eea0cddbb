"""What is wrong with a configuration before anything is started: every fault of every stage, not the first one only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from kgeval.config import Config
from kgeval.errors import KgevalError
from kgeval.run.stages import LOGS, STAGES


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
        if wrong := [name for name in given if name not in STAGES]:
            yield f"{key}: no such stage: {', '.join(wrong)} (there are {', '.join(STAGES)})"


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
    from kgeval.systems.builtin.tools import NEEDS

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


def _said(key: str, work: Callable[[], object]) -> Iterator[str]:
    """What a check of another room says, as a line."""
    try:
        work()
    except KgevalError as fault:
        yield f"{key}: {fault.message} ({fault.fix})"
