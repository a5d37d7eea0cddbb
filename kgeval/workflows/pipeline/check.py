"""What is wrong with a run before anything is started: the file, what it names, and what it says to every stage; all of it at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from kgeval.config import DEFAULT_FILE, Config, Section
from kgeval.config.words import values_of
from kgeval.errors import ConfigError, KgevalError, did_you_mean
from kgeval.records import Role
from kgeval.systems.builtin.tools import NEEDS
from kgeval.workflows.pipeline.kinds import KINDS
from kgeval.workflows.pipeline.stages import LOGS, Stage

if TYPE_CHECKING:
    from kgeval.workflows.audit import AuditRequest


def check(config: Config, stages: Sequence[Stage], faults: Sequence[str], file: Path | None) -> None:
    """`faults`: those of the file itself. Raises: ConfigError with all of them, and every fault of what the file names, and of what it says
    to each stage."""
    flagged = (
        f"run.options.{stage.kind.name}: {fault} (the stage is: {stage.line})" for stage in stages for fault in stage.wrong()
    )
    all_faults = list(dict.fromkeys([*faults, *faults_of(config), *_of_tasks(config, stages), *flagged]))
    if all_faults:
        lines = "".join(f"\n  {fault}" for fault in all_faults)
        count = "1 fault" if len(all_faults) == 1 else f"{len(all_faults)} faults"
        raise ConfigError(f"{file or DEFAULT_FILE}: {count}; nothing was started{lines}", fix="kgeval help run describes the file")


def faults_of(config: Config) -> list[str]:
    """One line a fault: `section.key: what is wrong (what to do)`. Files must be there; names of metrics, kinds, systems and stages must
    be known; what needs a model or a source must have one."""
    checks: tuple[Callable[[Config], Iterator[str]], ...] = (
        _files, _names, _stages, _known, _systems, _metrics, _kinds, _models, _matrix, _empty,
    )
    return [fault for check in checks for fault in check(config)]


def _files(config: Config) -> Iterator[str]:
    """Files and folders that are not there."""
    named: list[tuple[str, Path | None]] = [
        *(("source.documents", path) for path in config.source.documents), *(("source.files", path) for path in config.source.files),
        ("gold.file", config.gold.file), ("questions.file", config.questions.file),
        *(("answers.files", path) for path in config.answers.files),
    ]
    for number, one in enumerate(config.matrix.datasets):
        where = f"matrix.datasets.{number}"
        named += [(f"{where}.{key}", path) for key, paths in (("documents", one.documents), ("files", one.files), ("answers", one.answers))
                  for path in paths]
        named += [(f"{where}.questions", one.questions), (f"{where}.gold", one.gold)]
    for key, path in named:
        if path is not None and not path.exists():
            yield f"{key}: {path}: no such file or folder"
    for key, files in (("source.files", config.source.files), *((f"matrix.datasets.{number}.files", one.files)
                       for number, one in enumerate(config.matrix.datasets))):
        if len(files) > 1:
            yield f"{key}: kgeval import loads one file or folder (give one, or build from documents)"
    for number, one in enumerate(config.matrix.datasets):
        if one.documents and one.files:
            yield f"matrix.datasets.{number}: documents and files exclude each other (a graph is built or loaded)"


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
    for key, stage_names in (("run.skip", config.run.skip), ("run.options", list(config.run.options))):
        if wrong := [name for name in stage_names if name not in KINDS]:
            hints = ", ".join(f"{name}{did_you_mean(name, KINDS)}" for name in wrong)
            yield f"{key}: no such stage: {hints} (there are {', '.join(KINDS)})"


def _known(config: Config) -> Iterator[str]:
    """Known questions that nobody could find, or a file of them that is not there or is another one."""
    from kgeval.tables.known_questions import read_known
    from kgeval.workflows.pipeline.plan import CLOSED_BOOK

    given = config.run.without_known
    if isinstance(given, Path) and not given.is_file():
        yield f"run.without_known: {given}: no such file (true: what the run's own contamination stage finds)"
    elif isinstance(given, Path):
        yield from _fault_of("run.without_known", lambda: read_known(given))
    if given is True and not any(system.spec.partition(":")[0] == CLOSED_BOOK for system in config.systems):
        yield 'run.without_known: no system answers without texts (add one with spec = "closed-book" to [[systems]])'
    if given is True and "contamination" in config.run.skip:
        yield "run.without_known: needs the stage contamination (take it out of run.skip)"


def _systems(config: Config) -> Iterator[str]:
    """Systems that cannot be, and ablations of systems that are not there."""
    from kgeval.systems.spec import parse_spec

    for number, one in enumerate(config.systems):
        # the default holds this round's value: a lambda in a loop would see the loop's last one (B023)
        yield from _fault_of(f"systems.{number}.spec", lambda spec=one.spec: parse_spec(spec))  # type: ignore[misc]
    names = {system.name for system in config.systems}
    for number, ablation in enumerate(config.ablations):
        if ablation.system not in names:
            yield f"ablations.{number}.system: no system of [[systems]] is called {ablation.system}"
        if any(isinstance(value, str) and "," in value for value in ablation.values):
            yield f"ablations.{number}.values: a value with a comma would be read as two"
    yield from _settings(config)


def _settings(config: Config) -> Iterator[str]:
    """Settings of built-in systems that they do not have, or values that are none."""
    from kgeval.systems.builtin import read_settings

    for at, one in enumerate(config.systems):
        spec = one.spec.strip()
        if spec not in NEEDS:
            continue
        yield from _fault_of(f"systems.{at}.settings", lambda spec=spec, one=one: read_settings(spec, one.settings))  # type: ignore[misc]
        for number, ablation in enumerate(config.ablations):
            for value in ablation.values if ablation.system == one.name else ():
                given = {ablation.setting: value}
                yield from _fault_of(f"ablations.{number}", lambda spec=spec, given=given: read_settings(spec, given))  # type: ignore[misc]


def _metrics(config: Config) -> Iterator[str]:
    from kgeval.metrics.select import select

    if config.metrics.names:
        yield from _fault_of("metrics.names", lambda: select(config.metrics.names, config.metrics.criteria))


def _kinds(config: Config) -> Iterator[str]:
    from kgeval.questions.kinds import orders_of

    if config.questions.kinds:
        yield from _fault_of("questions.kinds", lambda: orders_of(config.questions.kinds, config.questions.n))
        if config.questions.file is not None:
            yield "questions: file and kinds exclude each other (leave out the one that is not meant)"


def _models(config: Config) -> Iterator[str]:
    """Endpoints that stand for several."""
    named = config.model.reader
    if named.endpoint and not named.base_url and any(reader.base_url for reader in config.matrix.readers):
        yield "model.reader.endpoint: would name the endpoints of all matrix.readers (give model.reader a base_url, or take the name out)"


def _matrix(config: Config) -> Iterator[str]:
    """Axes that nothing can be crossed on."""
    matrix = config.matrix
    builds = bool(config.source.documents) or (bool(matrix.datasets) and all(dataset.documents for dataset in matrix.datasets))
    for key, axis in (("variants", matrix.variants), ("corpus", matrix.corpus), ("corpus_tokens", matrix.corpus_tokens)):
        if axis and not builds:
            yield f"matrix.{key}: the graph must be built by the run (name documents in [source], or in each of matrix.datasets)"
    if matrix.corpus_tokens and (shares := [f"{share:g}" for share in matrix.corpus if share < 1]):
        yield f"matrix.corpus: {', '.join(shares)}: shares and corpus_tokens cannot be crossed (leave out one; 1.0 is all documents)"
    for key, axis2 in (("readers", matrix.readers), ("ablations", config.ablations)):
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
    for stage in stages:
        options = _sound_options(config, stage) if stage.kind.name in _TASKS else None
        if options is not None:
            yield from _TASKS[stage.kind.name](config, stage, options)
        yield from _of_outputs(stage)
    unused = [name for name in config.run.options if name in KINDS and name not in kinds and name not in config.run.skip]
    if unused and not kinds:
        yield "there is nothing to work on: set [graph] name, [source] documents or [answers] files (kgeval init writes what it finds)"
        return
    for name in unused:
        had = f"this run has {', '.join(sorted(kinds))}"
        yield f"run.options.{name}: no such stage in this run ({had})"


def _sound_options(config: Config, stage: Stage) -> Section | AuditRequest | None:
    """The options of a stage without those that cannot be, which are said already; None where that leaves none."""
    try:
        stage.kind.options.model_validate(values_of(stage.kind.options, stage.chosen))
    except ValidationError as cause:
        wrong = {fault["loc"][0] for fault in cause.errors() if fault["loc"]}
        stage = replace(stage, given={name: value for name, value in stage.given.items() if name not in wrong})
    try:
        return stage.options(config)
    except KgevalError:
        return None


def _of_outputs(stage: Stage) -> Iterator[str]:
    """Forms and files that the stage's report cannot have: that must not be found out when everything is paid."""
    from kgeval.reports.write import check_form, check_outputs
    from kgeval.tables.answers import targets

    kind, where = stage.kind, f"run.options.{stage.kind.name}"
    try:
        own = stage.session_options()
    except KgevalError:
        return  # said already
    outputs = [Path(name) for name in own.outputs]
    if kind.record is not None:
        record, reports = kind.record, [path for path in outputs if kind.writes(path)]
        yield from _fault_of(where, lambda: check_form(own.form, record))
        yield from _fault_of(where, lambda: check_outputs(reports, record))
    elif kind.name == "answers":
        yield from _fault_of(where, lambda: targets(outputs, ["system"]))
    else:
        ending = ".jsonl" if kind.name == "questions" else ".json"
        if wrong := [str(path) for path in outputs if path.suffix.lower() != ending]:
            yield f"{where}: {', '.join(wrong)}: unknown ending (give the path of a file that ends with {ending})"
        if own.form not in ("text", "json"):
            yield f"{where}: this stage has no form '{own.form}' (choose text or json)"


def _named(config: Config, stage: Stage, role: Role) -> bool:
    """True if a model is named for the stage in that role."""
    return bool(stage.chosen.get("model") or getattr(config.model, role).name)


def _of_audit(config: Config, _: Stage, request: AuditRequest) -> Iterator[str]:
    from kgeval.auditing.schema import DATABASE
    from kgeval.workflows.audit_gates import waiver_faults

    texts = {option: f"audit.{option}: {fault.message} ({fault.fix})" for option, fault in request.faults.items()}
    faults = [texts.get("checks"), *request.threshold_faults, *waiver_faults(config), texts.get("settings")]
    yield from filter(None, faults)
    schema_file = request.options.schema_file
    if schema_file is not None and schema_file != DATABASE and not Path(schema_file).is_file():
        yield f"audit.schema_file: {schema_file}: no such file"


def _of_completeness(config: Config, stage: Stage, options: Any) -> Iterator[str]:
    given = {"gold": options.gold, "ideal": options.ideal, "facts": (options.facts,) if options.facts else ()}
    for name, paths in given.items():
        for path in (path for path in paths if path != config.gold.file and not path.exists()):
            yield f"completeness.{name}: {path}: no such file or folder"
    if options.facts and not _named(config, stage, "judge"):
        yield "completeness.facts: need a judge (set name in [model.judge])"
    if options.ideal and options.ideal_extractor == "model" and not _named(config, stage, "extractor"):
        yield 'completeness.ideal: needs a model (set name in [model.extractor], or ideal_extractor = "rules")'


def _of_accuracy(config: Config, stage: Stage, options: Any) -> Iterator[str]:
    if options.sheet or options.labels or options.labelled_pairs:
        return
    if options.no_model:
        yield "accuracy: no_model leaves nothing to do (give sheet, labels or labelled_pairs)"
    elif not _named(config, stage, "judge"):
        yield "gold.sample: needs a judge (set name in [model.judge])"


def _of_scores(config: Config, stage: Stage, options: Any) -> Iterator[str]:
    from kgeval.metrics.select import select
    from kgeval.metrics.summary.gates import parse_gates
    from kgeval.workflows.score import settings_of
    from kgeval.workflows.score_parts import check_scores

    key = "score.metrics" if options.metrics else "metrics.names"
    yield from _fault_of("score", lambda: check_scores(options))
    yield from _fault_of("metrics.settings", lambda: settings_of(config, options))
    try:
        chosen = select(options.metrics or config.metrics.names, config.metrics.criteria)
    except KgevalError as fault:
        yield f"{key}: {fault.message} ({fault.fix})"
        return
    for name, limits in (("metrics", config.metrics.thresholds), ("score", options.thresholds)):
        yield from _fault_of(f"{name}.thresholds", lambda limits=limits: parse_gates(limits, chosen.metrics))  # type: ignore[misc]
    if (judged := chosen.needing("judge")) and not _named(config, stage, "judge"):
        yield f"{key}: {', '.join(judged)}: need a judge (set name in [model.judge], or leave them out)"


def _of_contamination(_config: Config, _stage: Stage, options: Any) -> Iterator[str]:
    from kgeval.metrics.contamination.gates import parse_gates

    yield from _fault_of("contamination.thresholds", lambda: parse_gates(options.thresholds))


def _of_comparison(config: Config, stage: Stage, options: Any) -> Iterator[str]:
    from kgeval.comparison.judge.grades import chosen_aspects

    if not _named(config, stage, "judge"):
        yield "compare: needs a judge (set name in [model.judge])"
    if options.grades is None:
        yield from _fault_of("compare.aspects", lambda: chosen_aspects(options.aspects))
    files = config.answers.files or [path for dataset in config.matrix.datasets for path in dataset.answers]
    if options.stop_when_sure and options.without_known:
        yield "compare.stop_when_sure: does not go with without_known, which leaves questions out afterwards (leave one of them out)"
    if len(config.systems) < 2 and not files:
        yield "compare: needs two systems (name them in [[systems]], or their files in [answers])"


def _of_build(config: Config, stage: Stage, options: Any) -> Iterator[str]:
    if options.extractor == "model" and not _named(config, stage, "extractor"):
        yield 'source: the graph is built by a model (set name in [model.extractor], or options = { extractor = "rules" })'


def _of_questions(config: Config, stage: Stage, options: Any) -> Iterator[str]:
    from kgeval.questions.kinds import MakingOptions, orders_of, question_profile

    yield from _fault_of("questions.profile", lambda: question_profile(options.profile))
    try:
        orders = orders_of(options.kinds, options.n)
    except KgevalError:
        return  # said already
    making = MakingOptions(seed=0, template=options.template)
    needing = [order.kind.name for order in orders if "model" in order.kind.needs_of(making)]
    if needing and not _named(config, stage, "generator"):
        kinds = ", ".join(needing)
        yield f"questions.kinds: {kinds}: need a generator (set name in [model.generator], or template = true in [questions])"


def _of_answers(config: Config, stage: Stage, options: Any) -> Iterator[str]:
    if options.load:
        yield "run.options.answers.load: measures, and gives no answers (give --load to kgeval answer)"
    if options.extractive and (names := [system.name for system in config.systems if system.spec.strip() == "communities"]):
        yield f"systems: {', '.join(names)}: communities needs a model (leave extractive out of [run.options.answers])"
    reading = [system.name for system in config.systems if system.spec.strip() in NEEDS]
    if reading and not (options.extractive or options.preset or _named(config, stage, "reader")):
        yield f"systems: {', '.join(reading)}: need a reader (set name in [model.reader], or extractive = true in [run.options.answers])"


_TASKS: dict[str, Callable[[Config, Stage, Any], Iterator[str]]] = {
    "build": _of_build, "audit": _of_audit, "completeness": _of_completeness, "accuracy": _of_accuracy, "questions": _of_questions,
    "answers": _of_answers, "scores": _of_scores, "contamination": _of_contamination, "compare": _of_comparison,
}


def _fault_of(key: str, work: Callable[[], object]) -> Iterator[str]:
    """What a check of another room says, as a line."""
    try:
        work()
    except KgevalError as fault:
        yield f"{key}: {fault.message} ({fault.fix})"
