"""One data set of a run: which files and graphs it has at which place of the matrix, and the words that all its commands share. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kgeval.config import Config, DatasetSection, OptionValue, ReaderSection, VariantSection
from kgeval.run.stages import Place, Stage, command_of

ONE = DatasetSection(name="-")


@dataclass(frozen=True)
class Given:
    """What the command line says for all stages. `config_file` null: there is none. `connection`: flags of every command that opens a
    graph; `common`: of every command that may ask models (journal, cache folder, concurrency)."""

    config: Config
    config_file: Path | None
    folder: Path
    connection: tuple[str, ...] = ()
    common: tuple[str, ...] = ()


@dataclass(frozen=True)
class Axes:
    """The axes of the matrix; an axis that is not there has one place, null."""

    datasets: Sequence[DatasetSection | None]
    variants: Sequence[VariantSection | None]
    shares: Sequence[float | None]
    readers: Sequence[ReaderSection | None]


@dataclass(frozen=True)
class Work:
    """What is particular to a stage: see stages.Stage for the fields. `words`: those of its command that come first."""

    words: tuple[str, ...]
    outputs: tuple[Path, ...] = ()
    needs: tuple[str, ...] = ()
    inputs: tuple[Path, ...] = ()
    sections: tuple[str, ...] = ()
    asks: bool = False
    resumes: str | None = None
    makes: str | None = None


def axes_of(config: Config) -> Axes:
    """The axes; shares with the largest first."""
    given = config.matrix
    shares = sorted(dict.fromkeys(given.corpus), reverse=True)
    return Axes(given.datasets or (None,), given.variants or (None,), shares or (None,), given.readers or (None,))


def flags(options: Mapping[str, OptionValue]) -> tuple[str, ...]:
    """Options as words of a command line: true is the flag alone, false is no flag, a list repeats the flag."""
    words: list[str] = []
    for name, value in options.items():
        flag = "--" + name.replace("_", "-")
        for one in value if isinstance(value, list) else [value]:
            words += [flag] if one is True else [] if one is False else [flag, str(one)]
    return tuple(words)


def outputs_of(paths: Sequence[Path]) -> tuple[str, ...]:
    """`-o` for each file."""
    return tuple(word for path in paths for word in ("-o", str(path)))


class Data:
    """One data set; null: there is only one, and the configuration itself describes it."""

    def __init__(self, given: Given, dataset: DatasetSection | None, axes: Axes) -> None:
        self.given, self.config = given, given.config
        self.own = dataset or ONE
        self.place = Place(dataset=dataset.name if dataset else None)
        first = axes.variants[0]
        self.base = Place(dataset=self.place.dataset, variant=first.name if first else None, share=axes.shares[0])
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
        wanted = self.question_file is None and bool(self.config.questions.kinds)
        return wanted and self.has_graph and "questions" not in self.config.run.skip

    @property
    def questions(self) -> Path | None:
        """The question file, there already or made by the run; null: there is none."""
        return self.question_file or (self.at(self.place, "questions.jsonl") if self.makes_questions else None)

    def graph_name(self, place: Place) -> str | None:
        """The graph's name in the database; null: the whole database. A graph that the run makes is named after its place."""
        if not (self.documents or self.files):
            return self.own.graph or self.config.graph.name
        name = self.own.graph or "-".join(part for part in (self.config.graph.name, self.place.dataset) if part)
        share = None if place.share in (None, 1.0) else f"{place.share:g}"
        return "-".join(part for part in (name or "run", place.variant, share) if part)

    def at(self, place: Place, name: str) -> Path:
        """A file of the run at a place."""
        return self.given.folder.joinpath(*place.parts, name)

    def graph_flags(self, place: Place) -> tuple[str, ...]:
        """How a command finds the graph of a place."""
        name = self.graph_name(place)
        layout = ("--layout", self.own.layout) if self.own.layout else ()
        return (*self.given.connection, *(("--graph", name) if name else ()), *layout) if self.has_graph else ()

    def stage(self, kind: str, place: Place, work: Work) -> Stage:
        """The stage: its own words, its outputs, what all commands share, and what [run.options] adds."""
        config = ("-c", str(self.given.config_file)) if self.given.config_file else ()
        common = self.given.common if work.asks else ()
        argv = (*command_of(kind), *work.words, *outputs_of(work.outputs), *flags(self.config.run.options.get(kind, {})))
        return Stage(
            kind, place, argv, work.needs, work.inputs, work.outputs, work.sections, work.asks, work.resumes, (*common, *config),
            makes=work.makes, reads=self._read(place, work),
        )

    def _read(self, place: Place, work: Work) -> str | None:
        """The graph that a stage reads and the run does not make."""
        if not self.has_graph or self.makes_graph or work.makes is not None or "graph" not in work.sections:
            return None
        return self.graph_name(self.base if place == self.place else place) or ""
