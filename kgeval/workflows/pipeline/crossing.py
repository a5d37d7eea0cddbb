"""The scores of all places of a run -> one report: every metric by data set and as the mean, and what each change does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kgeval.errors import InputError
from kgeval.files import read_json
from kgeval.files.score_forms import lower_metrics, read_scores
from kgeval.records import (
    Axis,
    Corpus,
    CrossedCell,
    CrossedChange,
    CrossedReport,
    IndexRecord,
    KeptCorpus,
    PipelineRun,
    RunManifest,
    RunPlace,
    Score,
)
from kgeval.stats.adjust import holm
from kgeval.stats.clustered import clustered_mean, stratified_mean
from kgeval.stats.paired import sign_flip
from kgeval.workflows.pipeline.stages import MatrixPlace

Values = Mapping[str, float]  # question id -> value, repetitions averaged
Key = tuple[str, str]  # system, metric
SURE = 0.05


@dataclass
class ScoredPlace:
    """One place: the values of every system and metric, how many questions each was asked, and of which metrics less is better."""

    place: RunPlace
    values: dict[Key, Values] = field(default_factory=dict)
    asked: dict[Key, int] = field(default_factory=dict)
    lower: frozenset[str] = frozenset()


def crossed(
    ledger: PipelineRun, run: RunManifest, *, folder: Path | None = None, lower: Iterable[str] = (), seed: int = 0,
) -> CrossedReport:
    """The report of a run whose stages are in `ledger`. `folder`: where the run is now, wherever it was made; `lower`: metrics of which
    less is better.

    Raises: InputError where no place has scores, or a score file cannot be read.
    """
    found, missing = _scored(ledger, folder)
    if not found:
        raise InputError("no place of this run has scores", fix="run the scores stage first: kgeval run --stage scores")
    metrics = list(dict.fromkeys(metric for one in found for _, metric in one.values))
    lower_here = [metric for metric in metrics if metric in {*lower, *(name for one in found for name in one.lower)}]
    whole = len({one.place.dataset for one in found})
    changes = _with_holm([change for step in _steps(found) for change in _compared(step, lower_here, whole, seed)])
    return CrossedReport(
        run=run, datasets=_seen(one.place.dataset for one in found), variants=_seen(one.place.variant for one in found),
        shares=sorted({one.place.share for one in found if one.place.share is not None}),
        readers=_seen(one.place.reader for one in found), systems=list(dict.fromkeys(name for one in found for name, _ in one.values)),
        metrics=metrics, lower_is_better=lower_here, cells=list(_cells(found, seed)), changes=changes, missing=missing,
        corpora=list(_corpora(ledger, folder)),
    )


def _corpora(ledger: PipelineRun, folder: Path | None) -> Iterator[KeptCorpus]:
    """What each share of the corpus came to, by the records of the builds: of a build without a share nothing is said."""
    built: dict[RunPlace, Corpus] = {}
    for stage in ledger.stages:
        record = next((Path(path) for path in stage.outputs if path.endswith("build.json")), None)
        if stage.kind == "build" and record is not None and stage.place.share is not None:
            record = _moved(record, stage.place, folder)
            if record.is_file():
                built[stage.place] = IndexRecord.model_validate(read_json(record)).corpus
    for place, corpus in built.items():
        alike = [one for at, one in built.items() if at.model_copy(update={"share": None}) == place.model_copy(update={"share": None})]
        largest = max(alike, key=lambda one: one.documents)
        if corpus is not largest:
            yield KeptCorpus(
                place=place, documents=corpus.documents, of_documents=largest.documents, tokens=corpus.tokens, of_tokens=largest.tokens,
            )


def _seen(names: Iterable[str | None]) -> list[str]:
    return list(dict.fromkeys(name for name in names if name is not None))


def _scored(ledger: PipelineRun, folder: Path | None) -> tuple[list[ScoredPlace], list[str]]:
    """The places with scores, and the ids of stages of scores that did not come to a result."""
    found, missing = [], []
    for stage in ledger.stages:
        if stage.kind != "scores":
            continue
        report = next((Path(path) for path in stage.outputs if path.endswith(".json")), None)
        if stage.state in ("done", "missed", "incomplete") and report is not None:
            found.append(_read(stage.place, _moved(report.with_suffix(""), stage.place, folder)))
        else:
            missing.append(stage.id)
    return found, missing


def _moved(file: Path, place: RunPlace, folder: Path | None) -> Path:
    """The results below the folder, where they are there: a run may have been moved, or made from another working folder."""
    here = folder.joinpath(*MatrixPlace(**place.model_dump()).parts, file.name) if folder is not None else file
    return here if here.exists() else file


def _read(place: RunPlace, folder: Path) -> ScoredPlace:
    """The values of one place; a question with several trials has their mean."""
    sums: dict[Key, dict[str, list[float]]] = {}
    asked: dict[Key, set[str]] = {}
    for score in read_scores(folder):
        key = (score.system, score.metric)
        if score.status != "not_applicable":
            asked.setdefault(key, set()).add(score.question_id)
        if score.value is not None:
            sums.setdefault(key, {}).setdefault(score.question_id, []).append(_value(score))
    values = {key: {name: sum(given) / len(given) for name, given in table.items()} for key, table in sums.items()}
    counts = {key: len(names) for key, names in asked.items()}
    return ScoredPlace(place, {key: values.get(key, {}) for key in asked}, counts, lower_metrics(folder))


def _value(score: Score) -> float:
    return float(score.value or 0.0)


def _cells(found: Sequence[ScoredPlace], seed: int) -> Iterator[CrossedCell]:
    """Every metric of every system at every place, then the means over data sets."""
    for one in found:
        for (system, metric), values in one.values.items():
            made = clustered_mean(list(values.values()), seed=seed)
            yield CrossedCell(
                place=one.place, system=system, metric=metric, n=one.asked[system, metric], n_scored=made.n, mean=made.mean, low=made.low,
                high=made.high,
            )
    datasets = {one.place.dataset for one in found}
    for group in _grouped(found):
        if 1 < len(group) == len(datasets):  # a mean over other data sets than its neighbours' would mislead
            yield from _means(group, seed)


def _grouped(found: Sequence[ScoredPlace]) -> Iterator[list[ScoredPlace]]:
    """Places that differ by their data set only."""
    groups: dict[RunPlace, list[ScoredPlace]] = {}
    for one in found:
        groups.setdefault(one.place.model_copy(update={"dataset": None}), []).append(one)
    yield from groups.values()


def _means(group: Sequence[ScoredPlace], seed: int) -> Iterator[CrossedCell]:
    for key in dict.fromkeys(key for one in group for key in one.values):
        parts = {str(one.place.dataset): list(one.values[key].values()) for one in group if key in one.values}
        if len(parts) == len(group):
            made = stratified_mean(parts, seed=seed)
            whole = not made.empty
            yield CrossedCell(
                place=group[0].place.model_copy(update={"dataset": None}), system=key[0], metric=key[1], datasets=len(parts),
                n=sum(one.asked[key] for one in group), n_scored=made.n, mean=made.mean if whole else None,
                low=made.low if whole else None, high=made.high if whole else None,
            )


@dataclass(frozen=True)
class _Step:
    """One change between two places or systems."""

    axis: Axis
    base: str
    changed: str
    system: str
    one: Sequence[tuple[ScoredPlace, str]]  # of each data set: the base's place and system
    other: Sequence[tuple[ScoredPlace, str]]


def _steps(found: Sequence[ScoredPlace]) -> Iterator[_Step]:
    """All changes of one thing at a time: settings of systems at each place, then variants, shares and readers at each other place."""
    for group in _grouped(found):
        yield from _settings(group)
    for axis in ("variant", "share", "reader"):
        sides: dict[RunPlace, list[ScoredPlace]] = {}
        for one in found:
            sides.setdefault(one.place.model_copy(update={"dataset": None, axis: None}), []).append(one)
        for places in sides.values():
            yield from _along(axis, places)


def _settings(group: Sequence[ScoredPlace]) -> Iterator[_Step]:
    """Variants of a system (`graph@hops=2`) against the system itself, within the same places."""
    systems = list(dict.fromkeys(name for one in group for name, _ in one.values))
    for system in systems:
        base, sign, setting = system.partition("@")
        if sign and base in systems:
            yield _Step("setting", "as it is", setting, base, [(one, base) for one in group], [(one, system) for one in group])


def _along(axis: Axis, places: Sequence[ScoredPlace]) -> Iterator[_Step]:
    """Each place of an axis against its first one (of shares: the largest), for every system, over the data sets that both have."""
    values = list(dict.fromkeys(getattr(one.place, axis) for one in places))
    if len(values) < 2:
        return
    base = max(values) if axis == "share" else values[0]
    at = {(one.place.dataset, getattr(one.place, axis)): one for one in places}
    for value in (value for value in values if value != base):
        both = [dataset for dataset, this in at if this == value and (dataset, base) in at]
        one, other = [at[dataset, base] for dataset in both], [at[dataset, value] for dataset in both]
        for system in dict.fromkeys(name for place in other for name, _ in place.values):
            yield _Step(axis, f"{base}", f"{value}", system, [(place, system) for place in one], [(place, system) for place in other])


def _compared(step: _Step, lower: Sequence[str], datasets: int, seed: int) -> Iterator[CrossedChange]:
    """The change in every metric, by data set; and as the mean where all of them have it."""
    for metric in dict.fromkeys(metric for one, name in step.one for system, metric in one.values if system == name):
        parts = {
            str(one.place.dataset): _differences(one.values.get((a, metric), {}), other.values.get((b, metric), {}))
            for (one, a), (other, b) in zip(step.one, step.other, strict=True)
        }
        bases = {str(one.place.dataset): list(one.values.get((a, metric), {}).values()) for one, a in step.one}
        for name in parts if datasets > 1 else ():
            yield _change(step, metric, {name: parts[name]}, {name: bases[name]}, lower=metric in lower, seed=seed)
        if datasets == 1 or (len(parts) == datasets and all(parts.values())):
            yield _change(step, metric, parts, bases, lower=metric in lower, seed=seed)


def _differences(base: Values, changed: Values) -> list[float]:
    """Changed minus base, for the questions that both have, in the order of the base."""
    return [changed[name] - value for name, value in base.items() if name in changed]


def _change(
    step: _Step, metric: str, parts: Mapping[str, list[float]], bases: Mapping[str, list[float]], *, lower: bool, seed: int,
) -> CrossedChange:
    made = stratified_mean(parts, seed=seed)
    level = stratified_mean(bases, seed=seed)
    alone = next((one.place for one, _ in step.other if len(parts) == 1 and str(one.place.dataset) in parts), None)
    place = alone or step.other[0][0].place.model_copy(update={"dataset": None})
    weighed = [value / len(part) for part in parts.values() for value in part]  # each data set weighs the same, as in the mean
    p = sign_flip(weighed, seed=seed)
    return CrossedChange(
        axis=step.axis, base=step.base, changed=step.changed, place=place,
        system=step.system, metric=metric, datasets=len(parts), n=made.n, base_mean=level.mean, mean=made.mean, low=made.low,
        high=made.high, p=p, better=None if made.mean is None else (made.mean < 0) == lower,
    )


def _with_holm(changes: Sequence[CrossedChange]) -> list[CrossedChange]:
    """With p corrected over all of them; which way a change goes is only said where that is sure."""
    corrected = holm([one.p for one in changes])
    return [
        one.model_copy(update={"p_holm": p, "better": one.better if p is not None and p < SURE else None})
        for one, p in zip(changes, corrected, strict=True)
    ]
