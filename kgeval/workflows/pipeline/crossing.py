"""The scores of all places of a run -> one report: every metric by data set and as the mean, and what each change does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kgeval.errors import InputError
from kgeval.records import (
    Axis,
    CrossedCell,
    CrossedChange,
    CrossedCost,
    CrossedReport,
    IndexRecord,
    KeptCorpus,
    KnownAtPlace,
    LeftOutKnown,
    PipelineRun,
    RunManifest,
    RunPlace,
)
from kgeval.rounding import sign
from kgeval.stats.adjust import holm
from kgeval.stats.clustered import clustered_mean, stratified_mean
from kgeval.stats.paired import sign_flip
from kgeval.stats.rests import differences_of
from kgeval.tables.score_forms import known_in, lower_metrics, read_scores
from kgeval.workflows.pipeline.scaling import CAME, costs_at, graphs_of, growth_of, moved, records_of

Values = Mapping[str, float]  # question id -> value, repetitions averaged
Key = tuple[str, str]  # system, metric
SIGNIFICANT = 0.05


@dataclass
class ScoredPlace:
    """One place: the values of every system and metric, how many questions each was asked, and of which metrics less is better. `known`:
    questions that its report is without."""

    place: RunPlace
    values: dict[Key, Values] = field(default_factory=dict)
    asked: dict[Key, int] = field(default_factory=dict)
    lower: frozenset[str] = frozenset()
    known: LeftOutKnown | None = None
    costs: Sequence[CrossedCost] = ()


def crossed(
    ledger: PipelineRun, run: RunManifest, *, folder: Path | None = None, lower: Iterable[str] = (), seed: int = 0,
) -> CrossedReport:
    """The report of a run whose stages are in `ledger`. `folder`: where the run is now, wherever it was made; `lower`: metrics of which
    less is better.

    Raises: InputError where no place has scores, or a score file cannot be read.
    """
    places, missing = _scored(ledger, folder)
    if not places:
        raise InputError("no place of this run has scores", fix="run the scores stage first: kgeval run --stage scores")
    metrics = list(dict.fromkeys(metric for scored in places for _, metric in scored.values))
    lower_here = [metric for metric in metrics if metric in {*lower, *(name for scored in places for name in scored.lower)}]
    whole = len({scored.place.dataset for scored in places})
    changes = _with_holm([change for step in _steps(places) for change in _compared(step, lower_here, whole, seed)])
    costs, graphs = [one for scored in places for one in scored.costs], graphs_of(ledger, folder)
    return CrossedReport(
        run=run, datasets=_seen(scored.place.dataset for scored in places), variants=_seen(scored.place.variant for scored in places),
        shares=[
            place.share for place in sorted({RunPlace(share=scored.place.share) for scored in places}, key=lambda place: place.corpus_rank)
            if place.share is not None
        ],
        readers=_seen(scored.place.reader for scored in places),
        systems=list(dict.fromkeys(name for scored in places for name, _ in scored.values)), metrics=metrics,
        lower_is_better=lower_here, cells=list(_cells(places, seed)), changes=changes, missing=missing,
        corpora=list(_corpora(ledger, folder)), costs=costs, graphs=graphs, growth=growth_of(costs, graphs),
        known=[
            KnownAtPlace(place=one.place, questions=one.known.questions, left_out=one.known.left_out)
            for one in places if one.known is not None
        ],
    )


def _corpora(ledger: PipelineRun, folder: Path | None) -> Iterator[KeptCorpus]:
    """What each share of the corpus came to, by the records of the builds: of a build without a share nothing is said."""
    built = {
        place: IndexRecord.model_validate(record).corpus
        for place, record in records_of(ledger, folder, "build") if place.share is not None
    }
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
    places, missing = [], []
    for stage in ledger.stages:
        if stage.kind != "scores":
            continue
        report = next((Path(path) for path in stage.outputs if path.endswith(".json")), None)
        if stage.state in CAME and report is not None:
            places.append(_read(stage.place, moved(report.with_suffix(""), stage.place, folder)))
        else:
            missing.append(stage.id)
    return places, missing


def _read(place: RunPlace, folder: Path) -> ScoredPlace:
    """The values of one place, as its report has them: without questions that are known. One with several trials has their mean."""
    known = known_in(folder)
    left_out = frozenset(known.ids if known is not None else ())
    sums: dict[Key, dict[str, list[float]]] = {}
    asked: dict[Key, set[str]] = {}
    for score in (score for score in read_scores(folder) if score.question_id not in left_out):
        key = (score.system, score.metric)
        if score.status != "not_applicable":
            asked.setdefault(key, set()).add(score.question_id)
        if score.value is not None:
            sums.setdefault(key, {}).setdefault(score.question_id, []).append(float(score.value))
    values = {key: {name: sum(trials) / len(trials) for name, trials in table.items()} for key, table in sums.items()}
    counts = {key: len(names) for key, names in asked.items()}
    return ScoredPlace(place, {key: values.get(key, {}) for key in asked}, counts, lower_metrics(folder), known, costs_at(place, folder))


def _cells(places: Sequence[ScoredPlace], seed: int) -> Iterator[CrossedCell]:
    """Every metric of every system at every place, then the means over data sets."""
    import numpy as np

    from kgeval.metrics.summary.spread import spread

    for scored in places:
        for (system, metric), values in scored.values.items():
            mean = clustered_mean(list(values.values()), seed=seed)
            yield CrossedCell(
                place=scored.place, system=system, metric=metric, n=scored.asked[system, metric], n_scored=mean.n, mean=mean.mean,
                low=mean.low, high=mean.high, spread=spread(np.array(list(values.values()))),
            )
    datasets = {scored.place.dataset for scored in places}
    for group in _grouped(places):
        if 1 < len(group) == len(datasets):  # a mean over other data sets than its neighbours' would mislead
            yield from _means(group, seed)


def _grouped(places: Sequence[ScoredPlace]) -> Iterator[list[ScoredPlace]]:
    """Places that differ by their data set only."""
    groups: dict[RunPlace, list[ScoredPlace]] = {}
    for scored in places:
        groups.setdefault(scored.place.model_copy(update={"dataset": None}), []).append(scored)
    yield from groups.values()


def _means(group: Sequence[ScoredPlace], seed: int) -> Iterator[CrossedCell]:
    for key in dict.fromkeys(key for scored in group for key in scored.values):
        parts = {str(scored.place.dataset): list(scored.values[key].values()) for scored in group if key in scored.values}
        if len(parts) == len(group):
            mean = stratified_mean(parts, seed=seed)
            whole = not mean.empty
            yield CrossedCell(
                place=group[0].place.model_copy(update={"dataset": None}), system=key[0], metric=key[1], datasets=len(parts),
                n=sum(scored.asked[key] for scored in group), n_scored=mean.n, mean=mean.mean if whole else None,
                low=mean.low if whole else None, high=mean.high if whole else None,
            )


@dataclass(frozen=True)
class _Step:
    """One change between two places or systems."""

    axis: Axis
    base: str
    changed: str
    system: str
    before: Sequence[tuple[ScoredPlace, str]]  # of each data set: the base's place and system
    after: Sequence[tuple[ScoredPlace, str]]


def _steps(places: Sequence[ScoredPlace]) -> Iterator[_Step]:
    """All changes of one thing at a time: settings of systems at each place, then variants, shares and readers at each other place."""
    for group in _grouped(places):
        yield from _settings(group)
    for axis in ("variant", "share", "reader"):
        sides: dict[RunPlace, list[ScoredPlace]] = {}
        for scored in places:
            sides.setdefault(scored.place.model_copy(update={"dataset": None, axis: None}), []).append(scored)
        for side in sides.values():
            yield from _along(axis, side)


def _settings(group: Sequence[ScoredPlace]) -> Iterator[_Step]:
    """Variants of a system (`graph@hops=2`) against the system itself, within the same places."""
    systems = list(dict.fromkeys(name for scored in group for name, _ in scored.values))
    for system in systems:
        base, sign, setting = system.partition("@")
        if sign and base in systems:
            yield _Step("setting", "as it is", setting, base, [(scored, base) for scored in group], [(scored, system) for scored in group])


def _along(axis: Axis, places: Sequence[ScoredPlace]) -> Iterator[_Step]:
    """Each place of an axis against its first one (of shares: the largest), for every system, over the data sets that both have."""
    values = list(dict.fromkeys(getattr(scored.place, axis) for scored in places))
    if len(values) < 2:
        return
    # a cut corpus is held against the whole one; other axes begin with what the file names first
    base = max(places, key=lambda scored: scored.place.corpus_rank).place.share if axis == "share" else values[0]
    place_of = {(scored.place.dataset, getattr(scored.place, axis)): scored for scored in places}
    for value in (value for value in values if value != base):
        both = [dataset for dataset, this in place_of if this == value and (dataset, base) in place_of]
        before, after = [place_of[dataset, base] for dataset in both], [place_of[dataset, value] for dataset in both]
        for system in dict.fromkeys(name for scored in after for name, _ in scored.values):
            pairs = ([(scored, system) for scored in side] for side in (before, after))
            yield _Step(axis, _named(base), _named(value), system, *pairs)


def _named(value: object) -> str:
    """A place on an axis as changes name it: tokens of a corpus as a whole number."""
    return f"{value:.15g}" if isinstance(value, float) and value > 1 else f"{value}"


def _compared(step: _Step, lower: Sequence[str], datasets: int, seed: int) -> Iterator[CrossedChange]:
    """The change in every metric, by data set; and as the mean where all of them have it."""
    for metric in dict.fromkeys(metric for scored, name in step.before for system, metric in scored.values if system == name):
        bases = {str(scored.place.dataset): scored.values.get((name, metric), {}) for scored, name in step.before}
        parts = {
            dataset: _differences(base, scored.values.get((name, metric), {}))
            for (dataset, base), (scored, name) in zip(bases.items(), step.after, strict=True)
        }
        for name in parts if datasets > 1 else ():
            yield _change(step, metric, {name: parts[name]}, {name: bases[name]}, lower=metric in lower, seed=seed)
        if datasets == 1 or (len(parts) == datasets and all(parts.values())):
            yield _change(step, metric, parts, bases, lower=metric in lower, seed=seed)


def _differences(base: Values, changed: Values) -> list[float]:
    """Changed minus base, for the questions that both have, in the order of the base."""
    both = [name for name in base if name in changed]
    return [*map(float, differences_of([changed[name] for name in both], [base[name] for name in both]))]


def _change(
    step: _Step, metric: str, parts: Mapping[str, list[float]], bases: Mapping[str, Values], *, lower: bool, seed: int,
) -> CrossedChange:
    change = stratified_mean(parts, seed=seed)
    level = stratified_mean({dataset: list(values.values()) for dataset, values in bases.items()}, seed=seed)
    alone = next((scored.place for scored, _ in step.after if len(parts) == 1 and str(scored.place.dataset) in parts), None)
    place = alone or step.after[0][0].place.model_copy(update={"dataset": None})
    weighed = [value / len(part) for part in parts.values() for value in part]  # each data set weighs the same, as in the mean
    p = sign_flip(weighed, seed=seed)
    return CrossedChange(
        axis=step.axis, base=step.base, changed=step.changed, place=place,
        system=step.system, metric=metric, datasets=len(parts), n=change.n, base_mean=level.mean, mean=change.mean, low=change.low,
        high=change.high, p=p, better={0: None, 1: not lower, -1: lower}[sign(change.mean or 0.0)],
    )


def _with_holm(changes: Sequence[CrossedChange]) -> list[CrossedChange]:
    """With p corrected over all of them; which way a change goes is only said where that is sure."""
    corrected = holm([change.p for change in changes])
    return [
        row.model_copy(update={"p_holm": p, "better": row.better if p is not None and p < SIGNIFICANT else None})
        for row, p in zip(changes, corrected, strict=True)
    ]
