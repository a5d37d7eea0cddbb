"""From the configuration to the stages of a run, in their order. Pure: nothing is read, started or asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any

from kgeval.config import Config, DatasetSection, ReaderSection, VariantSection
from kgeval.config.words import from_flags, merged
from kgeval.systems.builtin.tools import NEEDS
from kgeval.workflows.pipeline.kinds import KINDS
from kgeval.workflows.pipeline.stages import MatrixPlace, Stage

ONE = DatasetSection(name="-")
CLOSED_BOOK = "closed-book"
FORMS, TEXTS = (".json", ".html"), (".json", ".md")


@dataclass(frozen=True)
class RunRequest:
    """What is said for all stages. `config_file` None: there is none. `connection`: fields of the session of every stage that opens a
    graph; `common`: of every one that may ask models (journal, cache folder, concurrency). `known`: a file with questions that scores and
    comparisons are without; True: what the contamination stage finds."""

    config: Config
    config_file: Path | None
    folder: Path
    connection: Mapping[str, Any] = field(default_factory=dict)
    common: Mapping[str, Any] = field(default_factory=dict)
    known: bool | Path = False


def stages_of(given: RunRequest) -> tuple[Stage, ...]:
    """All stages of a run, in an order in which each comes after what it needs. Left out are stages that [run] skip names, and those
    that nothing is configured for."""
    skipped, axes = set(given.config.run.skip), axes_of(given.config)
    stages = [
        stage for dataset in axes.datasets for stage in _of_dataset(Data(given, dataset, axes), axes) if stage.kind.name not in skipped
    ]
    scored = [stage.id for stage in stages if stage.kind.name == "scores"]
    if has_matrix(given.config) and scored and "matrix" not in skipped:
        stages.append(_gathering(given, "matrix", (".json", ".html", ".md"), scored))
    if stages and "report" not in skipped:
        stages.append(_gathering(given, "report", (".html", ".json", ".md"), [stage.id for stage in stages], ("report",)))
    present = {stage.id for stage in stages}
    return tuple(replace(stage, needs=tuple(need for need in stage.needs if need in present)) for stage in stages)


def has_matrix(config: Config) -> bool:
    """True if something is crossed or taken out."""
    matrix = config.matrix
    return bool(matrix.datasets or matrix.readers or matrix.corpus or matrix.corpus_tokens or matrix.variants or config.ablations)


@dataclass(frozen=True)
class Axes:
    """The axes of the matrix; an axis that is not there has one place, None."""

    datasets: Sequence[DatasetSection | None]
    variants: Sequence[VariantSection | None]
    shares: Sequence[float | None]
    readers: Sequence[ReaderSection | None]


def axes_of(config: Config) -> Axes:
    """The axes; sizes of the corpus with the largest first."""
    matrix = config.matrix
    given = dict.fromkeys([*matrix.corpus, *map(float, matrix.corpus_tokens)])
    shares = sorted(given, key=lambda share: MatrixPlace(share=share).corpus_rank, reverse=True)
    return Axes(matrix.datasets or (None,), matrix.variants or (None,), shares or (None,), matrix.readers or (None,))


def _of_dataset(data: Data, axes: Axes) -> Iterator[Stage]:
    """Graphs, questions, answers, scores of one data set. Questions come from its first graph, which is therefore the first."""
    if data.has_graph:
        yield from _graph_stages(data, data.base)
    yield from _question_stages(data)
    for variant, share in product(axes.variants, axes.shares):
        place = MatrixPlace(dataset=data.place.dataset, variant=variant.name if variant else None, share=share)
        if data.has_graph and place != data.base:
            yield from _graph_stages(data, place)
        for reader in axes.readers:
            yield from _answer_stages(data, place, reader)


def _gathering(given: RunRequest, kind: str, forms: Sequence[str], needs: Sequence[str], sections: tuple[str, ...] = ()) -> Stage:
    """A stage over the whole folder, which makes do with what there is."""
    outputs = tuple(given.folder / f"{kind}{form}" for form in forms)
    more, faults = from_flags(KINDS[kind].flags, given.config.run.options.get(kind, {}))
    return Stage(
        KINDS[kind], MatrixPlace(), (given.folder,), merged({"outputs": tuple(map(str, outputs))}, more), tuple(needs), outputs=outputs,
        sections=sections, unsaid=_config(given) if "config_file" in KINDS[kind].session else {}, gathers=True, faults=tuple(faults),
    )


def _config(given: RunRequest) -> dict[str, Any]:
    return {"config_file": given.config_file} if given.config_file else {}


class Data:
    """One data set: which files and graphs it has at which place of the matrix, and what all its stages share. None: there is only one,
    and the configuration itself describes it."""

    def __init__(self, given: RunRequest, dataset: DatasetSection | None, axes: Axes) -> None:
        self.given, self.config = given, given.config
        self.own = dataset or ONE
        self.place = MatrixPlace(dataset=dataset.name if dataset else None)
        first = axes.variants[0]
        self.base = MatrixPlace(dataset=self.place.dataset, variant=first.name if first else None, share=axes.shares[0])
        self.variants = {variant.name: variant for variant in axes.variants if variant is not None}

    @property
    def documents(self) -> list[Path]:
        """What the graph is built from."""
        return self.own.documents or ([] if self.own.files else self.config.source.documents)

    @property
    def files(self) -> list[Path]:
        """What the graph is loaded from."""
        return self.own.files or ([] if self.own.documents else self.config.source.files)

    @property
    def gold(self) -> Path | None:
        """Gold entities and triples."""
        return self.own.gold or self.config.gold.file

    @property
    def has_graph(self) -> bool:
        """True if there is a graph, or will be."""
        return bool(self.documents or self.files or self.own.graph or self.config.graph.name or self.config.graph.uri)

    @property
    def makes_graph(self) -> bool:
        """True if the run writes the graph, so that its state is the run's own doing."""
        kind = "build" if self.documents else "import"
        return bool(self.documents or self.files) and kind not in self.config.run.skip

    @property
    def question_file(self) -> Path | None:
        """The questions that are there already."""
        return self.own.questions or self.config.questions.file

    @property
    def makes_questions(self) -> bool:
        """True if questions are made from the graph."""
        asked_for = self.question_file is None and bool(self.config.questions.kinds)
        return asked_for and self.has_graph and "questions" not in self.config.run.skip

    @property
    def questions(self) -> Path | None:
        """The question file, there already or made by the run; None: there is none."""
        return self.question_file or (self.at(self.place, "questions.jsonl") if self.makes_questions else None)

    @property
    def question_ids(self) -> tuple[str, ...]:
        """The stage that makes the questions, if one does."""
        return ("/".join((*self.place.parts, "questions")),) if self.makes_questions else ()

    def graph_name(self, place: MatrixPlace) -> str | None:
        """The graph's name in the database; None: the whole database. A graph that the run makes is named after its place."""
        if not (self.documents or self.files):
            return self.own.graph or self.config.graph.name
        name = self.own.graph or "-".join(part for part in (self.config.graph.name, self.place.dataset) if part)
        share = None if place.share in (None, 1.0) else place.size
        return "-".join(part for part in (name or "run", place.variant, share) if part)

    def at(self, place: MatrixPlace, name: str) -> Path:
        """A file of the run at a place."""
        return self.given.folder.joinpath(*place.parts, name)

    def graph(self, place: MatrixPlace) -> dict[str, Any]:
        """How a session finds the graph of a place."""
        name, layout = self.graph_name(place), self.own.layout
        named = {**self.given.connection, **({"graph_name": name} if name else {}), **({"layout": layout} if layout else {})}
        return named if self.has_graph else {}

    def known(self, place: MatrixPlace) -> dict[str, Any]:
        """What scores and comparisons of a place are told of known questions."""
        given = self.given.known
        return {"without_known": self.at(place, "contamination.json") if given is True else given} if given else {}

    def known_ids(self, place: MatrixPlace) -> tuple[str, ...]:
        """The stage that finds them, if one does."""
        return ("/".join((*place.parts, "contamination")),) if self.given.known is True else ()

    def known_inputs(self) -> tuple[Path, ...]:
        """The file that names them, if there is one."""
        return (self.given.known,) if isinstance(self.given.known, Path) else ()

    def stage(
        self, kind: str, place: MatrixPlace, given: Mapping[str, Any], *, files: Sequence[Path] = (), outputs: Sequence[Path] = (),
        written: Sequence[str] = (), sections: tuple[str, ...] = (), makes: str | None = None, **more: Any,
    ) -> Stage:
        """The stage, with what all share and what [run.options] adds. `written`: outputs besides those that the ledger keeps."""
        row = KINDS[kind]
        out = (*written, *map(str, outputs))
        whole = merged(given, {"outputs": out} if out else {})
        extra, wrong = from_flags(row.flags, self.config.run.options.get(kind, {}))
        return Stage(
            row, place, tuple(files), merged(whole, extra), outputs=tuple(outputs), sections=sections,
            unsaid={**(self.given.common if row.asks else {}), **_config(self.given)}, makes=makes,
            reads=self._read(place, sections, makes), faults=(*more.pop("faults", ()), *wrong), **more,
        )

    def _read(self, place: MatrixPlace, sections: Sequence[str], makes: str | None) -> str | None:
        """The graph that a stage reads and the run does not make."""
        if not self.has_graph or self.makes_graph or makes is not None or "graph" not in sections:
            return None
        return self.graph_name(self.base if place == self.place else place) or ""


def _graph_stages(data: Data, place: MatrixPlace) -> Iterator[Stage]:
    """The graph at one place: it is made where it has a source, audited, and held against gold."""
    stage = _graph_made(data, place)
    if stage is not None:
        yield stage
    looks: list[tuple[str, dict[str, Any], tuple[str, ...]]] = [("audit", {}, ("audit",))]
    section = data.config.completeness
    measured = (data.gold,) if data.gold is not None else (*section.gold, *section.ideal)
    if measured or section.facts:
        options = {} if data.gold is None else {"gold": (data.gold,)}
        looks.append(("completeness", options, ("model", "completeness")))
    if data.config.gold.sample:
        looks.append(("accuracy", {"n": data.config.gold.sample}, ("model", "accuracy")))
    for kind, options, sections in looks:
        yield data.stage(
            kind, place, {**options, **data.graph(place)}, outputs=[data.at(place, f"{kind}{form}") for form in FORMS],
            needs=_graph_ids(data, place),
            inputs=(*measured, *((section.facts,) if section.facts else ())) if kind == "completeness" else (),
            sections=("graph", "report", *sections),
        )


def _graph_ids(data: Data, place: MatrixPlace) -> tuple[str, ...]:
    """The stages that must be done before a graph can be used."""
    stage = _graph_made(data, place)
    return (stage.id,) if stage is not None else ()


def _graph_made(data: Data, place: MatrixPlace) -> Stage | None:
    """The stage that writes the graph; None where it is there already."""
    name, source = data.graph_name(place), data.config.source
    if name is None or not (data.documents or data.files):
        return None
    kind = "build" if data.documents else "import"
    variant = data.variants.get(place.variant or "")
    options = {**source.options, **(variant.options if variant and data.documents else {})}
    own, faults = from_flags(KINDS[kind].flags, options)
    named: dict[str, Any] = merged({"graph_name": name}, own)
    if not data.documents:
        return data.stage(
            "import", place, merged(named, data.given.connection), files=data.files, inputs=tuple(data.files), sections=("graph",),
            makes=name, faults=faults,
        )
    if place.share not in (None, 1):  # documents that the questions name are in every part
        size = "corpus_tokens" if place.share is not None and place.share > 1 else "share"
        named = merged(named, {size: place.size, **({"keep": data.questions} if data.questions is not None else {})})
    return data.stage(
        "build", place, merged(named, data.given.connection), files=data.documents, outputs=[data.at(place, "build.json")],
        needs=data.question_ids if place != data.base and place.share is not None else (), inputs=tuple(data.documents),
        sections=("graph", "model", "build"), makes=name, faults=faults,
    )


def _question_stages(data: Data) -> Iterator[Stage]:
    """Questions are made from the first graph of the data set, where there is no file of them; then looked at."""
    questions = data.questions
    if questions is None:
        return
    graph, needs = data.graph(data.base), _graph_ids(data, data.base)
    if data.makes_questions:
        yield data.stage("questions", data.place, graph, outputs=[questions], needs=needs, sections=("graph", "questions", "model"))
        needs = (*needs, *data.question_ids)
    for kind in ("check", "coverage") if data.has_graph else ("check",):
        judged = kind == "coverage" or data.config.model.judge.name
        yield data.stage(
            kind, data.place, {**({} if judged else {"no_model": True}), **graph}, files=[questions],
            outputs=[data.at(data.place, f"{kind}{form}") for form in TEXTS], needs=needs,
            inputs=() if data.makes_questions else (questions,), sections=("graph", "model"),
        )


def _answer_stages(data: Data, place: MatrixPlace, reader: ReaderSection | None) -> Iterator[Stage]:
    """Answers of all systems at one place, and what comes of them."""
    questions = data.questions
    if questions is None and not data.own.answers and not data.config.answers.files:
        return
    here = place.model_copy(update={"reader": reader.name if reader else None})
    answered = _answers(data, here, questions, reader) if data.config.systems and questions is not None else None
    if answered is not None:
        yield answered
    files = [*(answered.outputs if answered else ()), *_answer_files(data, here)]
    if files:
        yield from _measured(data, here, files, answered)
        if "compare" in data.config.model_fields_set:
            yield _compared(data, Answered(here, reader, files, answered))


def _answers(data: Data, place: MatrixPlace, questions: Path, reader: ReaderSection | None) -> Stage:
    """The systems of [[systems]], and their variants of [[ablations]]."""
    def words(values: Sequence[object]) -> str:
        return ",".join(str(value).lower() if isinstance(value, bool) else str(value) for value in values)

    ablations = tuple(f"{ablation.system}:{ablation.setting}={words(ablation.values)}" for ablation in data.config.ablations)
    model = {"model": reader.model, **({"base_url": reader.base_url} if reader.base_url else {})} if reader else {}
    return data.stage(
        "answers", place, {**data.graph(place), **model, **({"ablations": ablations} if ablations else {})}, files=[questions],
        outputs=[data.at(place, "answers.jsonl")], needs=(*_graph_ids(data, place.graph), *data.question_ids),
        inputs=() if data.makes_questions else (questions,), sections=("graph", "systems", "model", "ablations"),
    )


def _answer_files(data: Data, place: MatrixPlace) -> list[Path]:
    """Answers that are there already: they do not change over the matrix, so they stand at its first place."""
    first = data.config.matrix.readers[0].name if data.config.matrix.readers else None
    return (data.own.answers or data.config.answers.files) if place == data.base.model_copy(update={"reader": first}) else []


@dataclass(frozen=True)
class Answered:
    """What there is to measure at a place. `answered`: the stage that asks the systems, None where there are only files."""

    place: MatrixPlace
    reader: ReaderSection | None
    files: list[Path]
    answered: Stage | None


def _measured(data: Data, place: MatrixPlace, files: list[Path], answered: Stage | None) -> Iterator[Stage]:
    """Scores and contamination of the answers in `files`."""
    config, answers = data.config, answered.outputs if answered else ()
    needs = (*((answered.id,) if answered else ()), *_graph_ids(data, place.graph), *data.question_ids)
    inputs = tuple(path for path in (*files, data.question_file) if path is not None and path not in answers)
    contaminated = []
    if data.questions and any(system.spec.partition(":")[0] == CLOSED_BOOK for system in config.systems):
        contaminated = [data.stage(
            "contamination", place, {"answers": tuple(files)}, files=[data.questions],
            outputs=[data.at(place, f"contamination{form}") for form in TEXTS], needs=needs, inputs=inputs,
            sections=("model", "report", "contamination"),
        )]
    first = data.given.known is True  # scores wait for what it finds
    yield from contaminated if first else ()
    flags, _ = from_flags(KINDS["scores"].flags, config.run.options.get("scores", {}))
    if config.metrics.names or config.score.metrics or flags.get("metrics"):
        joined = data.has_graph and "audit" not in config.run.skip
        options = {
            **({"questions": data.questions} if data.questions else {}),
            **({"audit": data.at(place.graph, "audit.json")} if joined else {}), **data.known(place), **data.graph(place),
        }
        yield data.stage(
            "scores", place, options, files=files, written=[f"{data.at(place, 'scores')}/"],
            outputs=[data.at(place, f"scores{form}") for form in FORMS],
            needs=(*needs, *data.known_ids(place), *(("/".join((*place.graph.parts, "audit")),) if joined else ())),
            inputs=(*inputs, *data.known_inputs()), sections=("graph", "metrics", "score", "model", "report"),
        )
    yield from () if first else contaminated


def _compared(data: Data, given: Answered) -> Stage:
    """The comparison: of the systems themselves, not of their ablations, which the matrix is for. Answers are judged again in each trial,
    and made again only where [compare] says so: that costs what all answers cost, for each trial."""
    config, files = data.config, given.files
    only = tuple(system.name for system in config.systems) if config.ablations and given.answered is not None and len(files) == 1 else ()
    own = {
        **({"questions": data.questions} if data.questions else {}), **({} if config.compare.trial_kind else {"trial_kind": "rejudge"}),
        **({"filter_systems": only} if only else {}), **data.known(given.place), **_hooks(data, given),
    }
    answers = given.answered.outputs if given.answered else ()
    inputs = [path for path in (*files, data.question_file) if path is not None and path not in answers]
    return data.stage(
        "compare", given.place, own, files=files, outputs=[data.at(given.place, f"compare{form}") for form in FORMS],
        inputs=(*inputs, *data.known_inputs()),
        needs=(
            *((given.answered.id,) if given.answered else ()), *_graph_ids(data, given.place.graph), *data.question_ids,
            *data.known_ids(given.place),
        ),
        sections=("graph", "compare", "systems", "model", "report"),
    )


def _hooks(data: Data, given: Answered) -> dict[str, Any]:
    """The systems that can be asked for an answer of a given length. A reader with an address of its own cannot be named there beside
    the judge's, so that built-in systems are left out then: lengths come about by forced alignment."""
    if given.answered is None:
        return {}
    elsewhere = given.reader is not None and given.reader.base_url is not None
    names = tuple(
        system.name for system in data.config.systems
        if not (system.spec.startswith("file:") or (elsewhere and system.spec.strip() in NEEDS))
    )
    if not names:
        return {}
    answers, compare = (data.config.run.options.get(stage, {}) for stage in ("answers", "compare"))
    same = {name: answers[name] for name in ("extractive", "preset") if answers.get(name) and name not in compare}
    reader = {"reader": given.reader.model} if given.reader is not None and not elsewhere else {}
    return {"systems": names, **reader, **same, **data.graph(given.place)}
