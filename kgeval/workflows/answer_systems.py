"""Which systems and settings the options mean, and what the systems are opened with: models, embedder and graph, each once and only when
it is needed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kgeval.config import AnswerOptions, Config, SystemOptions, SystemSection
from kgeval.errors import UsageError
from kgeval.limits import parse_json
from kgeval.systems.spec import SystemSpec, merged, nested, parse_spec
from kgeval.systems.system import Opening

if TYPE_CHECKING:
    from pydantic import JsonValue

    from kgeval.graph.connect import Graph
    from kgeval.llm.asker import Dry
    from kgeval.llm.embed import Embedder
    from kgeval.llm.prices import Price
    from kgeval.llm.session import Models
    from kgeval.records import Layout
    from kgeval.systems.builtin.settings import Preset
    from kgeval.systems.builtin.tools import BuiltinTools
    from kgeval.tables.row_selection import RowSelection
    from kgeval.workflows.session import Session

DEFAULT_TIMEOUT = 300.0  # seconds a question
_SETTING = re.compile(r"(?:([\w.@+-]+):)?([\w.-]+)=(.*)", re.DOTALL)


@dataclass(frozen=True)
class ChosenSystem:
    """A system that was asked for. `label`: by what --setting names it. `function`: of the user's own, which is the system then."""

    spec: SystemSpec
    label: str
    settings: Mapping[str, JsonValue] = field(default_factory=dict)
    ablations: Mapping[str, Sequence[JsonValue]] = field(default_factory=dict)
    timeout: float | None = None
    processes: int | None = None
    folder: Path | None = None
    function: Callable[..., Any] | None = None


def chosen_systems(config: Config, options: SystemOptions, functions: Mapping[str, Callable[..., Any]] | None = None) -> list[ChosenSystem]:
    """The systems with their settings: options over kgeval.toml. `functions`: those that names among the systems stand for.

    Raises: UsageError for faulty words, and for settings of no system.
    """
    named = {system.name: system for system in config.systems}
    if twice := [name for name, count in Counter(system.name for system in config.systems).items() if count > 1]:
        raise UsageError(f"[[systems]]: several are called {', '.join(twice)}", fix="give each a name of its own in kgeval.toml")
    texts = options.systems or tuple(named)
    if not texts:
        raise UsageError("no system is named", fix="give --system, e.g. --system vector or --system command:'python my_system.py'")
    chosen = [_chosen(text, named, functions or {}) for text in dict.fromkeys(texts)]
    settings = _pairs("--setting", options.settings)
    ablations = _pairs("--ablate", options.ablations if isinstance(options, AnswerOptions) else ())
    labels = {system.label for system in chosen}
    if unknown := sorted({name for name, _, _ in (*settings, *ablations) if name is not None} - labels):
        raise UsageError(f"no system is called {', '.join(unknown)}", fix=f"the systems are {', '.join(sorted(labels))}")
    if options.preset and not any(system.spec.kind == "builtin" for system in chosen):
        raise UsageError(
            f"--preset {options.preset}: no built-in system is asked", fix="an adapter has it in its index: kgeval system index --preset",
        )
    folders = _folders(options.folders, labels)
    placed = (replace(system, folder=folders.get(system.label) or folders.get("") or system.folder) for system in chosen)
    return _equal_budgets([_set(one, settings, ablations) for one in placed])


def _equal_budgets(chosen: list[ChosenSystem]) -> list[ChosenSystem]:
    """With the `l_max` of the graph systems for `vector` too, where these agree and it has none of its own: a comparison that changes the
    length of the contexts along with the retrieval says nothing of the retrieval."""
    builtin = {system.label: system.spec.name for system in chosen if system.spec.kind == "builtin"}
    budgets = [system.settings.get("l_max") for system in chosen if builtin.get(system.label) in ("graph", "graph+text")]
    if not budgets or budgets[0] is None or any(budget != budgets[0] for budget in budgets):
        return chosen
    same = {"l_max": budgets[0]}
    return [replace(system, settings={**same, **system.settings}) if builtin.get(system.label) == "vector" else system for system in chosen]


def _folders(given: Sequence[str], labels: set[str]) -> dict[str, Path]:
    """The folder of each system that has one of its own; under no name that of all others. Raises: UsageError."""
    folders: dict[str, Path] = {}
    for text in given:
        label, sign, folder = text.partition("=")
        if not sign or (label not in labels and Path(text).is_dir()):
            label, folder = "", text
        elif label not in labels:
            raise UsageError(f"--folder {text}: no system is called {label}", fix=f"the systems are {', '.join(sorted(labels))}")
        if label in folders or not folder:
            what = "a second folder" if folder else "no folder"
            raise UsageError(f"--folder {text}: {what}", fix="write --folder SYSTEM=DIR for each system")
        folders[label] = Path(folder).expanduser()
    return folders


def _chosen(text: str, named: Mapping[str, SystemSection], functions: Mapping[str, Callable[..., Any]]) -> ChosenSystem:
    if text in functions:
        return ChosenSystem(SystemSpec("function", text, label=text), text, function=functions[text])
    section = named.get(text)
    if section is None:
        spec = parse_spec(text)
        return ChosenSystem(spec, spec.label or spec.name)
    spec = replace(parse_spec(section.spec), label=section.name)
    return ChosenSystem(
        spec, section.name, settings=section.settings, timeout=section.timeout, processes=section.processes,
        folder=section.folder.expanduser() if section.folder else None,
    )


def _set(
    one: ChosenSystem, settings: Iterable[tuple[str | None, str, str]], ablations: Iterable[tuple[str | None, str, str]],
) -> ChosenSystem:
    """With the settings that are meant for it."""
    own = nested((name, value_of(text)) for label, name, text in settings if label in (None, one.label))
    varied: dict[str, list[JsonValue]] = {}
    for label, name, text in ablations:
        if label in (None, one.label):
            varied.setdefault(name, []).extend(value_of(part.strip()) for part in text.split(",") if part.strip())
    return replace(one, settings=merged(one.settings, own), ablations=varied)


def _pairs(flag: str, given: Sequence[str]) -> list[tuple[str | None, str, str]]:
    """(system or None, name, value) of each. Raises: UsageError."""
    matches = [(_SETTING.fullmatch(text), text) for text in given]
    if wrong := [text for match, text in matches if match is None]:
        raise UsageError(f"faulty {flag}: " + ", ".join(f"'{text}'" for text in wrong), fix=f"write {flag} NAME=VALUE")
    return [(match[1], match[2], match[3]) for match, _ in matches if match is not None]


def value_of(text: str) -> JsonValue:
    """A value of the command line: JSON where it is JSON (a number, true, an object), else text."""
    def refuse(word: str) -> None:
        raise ValueError(word)

    try:
        value: JsonValue = parse_json(text, refuse)
    except ValueError:
        return text
    return value


@dataclass
class Toolbox:
    """What systems are opened with. Opens tools when a system needs them, and keeps them for the next one; what `stack` holds is closed
    with it, the rest with the session. `reads`: a reader is asked, where a system has one. `dry`: who counts its calls in a dry run.
    `flag`: how the reader is named."""

    session: Session
    options: SystemOptions
    stack: ExitStack
    reads: bool = True
    flag: str = "--model"
    models: Models | None = None
    graph: Graph | None = None
    dry: Dry | None = None

    def tools(self, spec: SystemSpec) -> BuiltinTools:
        """What a built-in system works with. Raises: UsageError where no reader is named, and what opening raises."""
        from kgeval.systems.builtin.tools import NEEDS, BuiltinTools

        needs, session = NEEDS[spec.name], self.session
        if "reader" in needs and self.reads and not self.options.extractive:
            self._open_models(spec.name)
        embedder = self._embedder if "embedder" in needs else None
        layout = self._layout if "graph" in needs else None
        return BuiltinTools(
            models=self.models, asker=self.dry, embedder=embedder, graph=self.graph, layout=layout,
            layout_settings=session.layout_settings if layout is not None else {}, cache_dir=session.asking.cache_dir,
            timeout=self.options.question_timeout or DEFAULT_TIMEOUT, say=session.say, dry=session.dry, preset=self.options.preset,
        )

    @cached_property
    def preset(self) -> Preset | None:
        """The paper whose baselines are run."""
        from kgeval.systems.builtin.settings import PRESETS

        return PRESETS[self.options.preset] if self.options.preset else None

    @property
    def notes(self) -> list[str]:
        """What of a preset a reader of the answers should know: what the paper leaves open, and where models are others than its own."""
        if self.preset is None:
            return []
        asked = [(self.models.endpoint.model, self.preset.reader)] if self.models is not None else []
        embedded = [(self._embedder.name, self.preset.embedding)] if "_embedder" in self.__dict__ else []
        others = [f"{used} stands for {printed}" for used, printed in (*asked, *embedded) if used != printed]
        return [f"preset {self.options.preset} ({self.preset.source}): " + "; ".join([*others, self.preset.open])]

    def _open_models(self, system: str) -> None:
        if self.models is not None:
            return
        named = self.session.names_model("reader")
        if self.preset is None and not named:
            raise UsageError(
                f"{system} needs a reader, and no model is named for it",
                fix=f"give {self.flag} NAME, or name = ... in [model.reader] of kgeval.toml; --extractive needs no model",
            )
        parameters: dict[str, JsonValue] = {}
        if self.preset is not None and self.preset.temperature is not None:
            parameters = {"temperature": self.preset.temperature, **self.session.config.model.reader.parameters}
        name = None if named or self.preset is None else self.preset.reader
        self.models = self.session.models("reader", self.options, name=name, **parameters)
        if self.session.dry:
            from kgeval.llm.asker import Dry

            self.dry = Dry(self.models)

    @cached_property
    def _embedder(self) -> Embedder:
        named = self.session.embedding.embedding_model or self.session.config.model.embedding.name
        if self.preset is None or named:
            return self.stack.enter_context(self.session.embedder)
        return self.session.open_embedder(self.preset.embedding)

    @cached_property
    def _layout(self) -> Layout:
        self.graph = self.session.graph
        return self.session.bound_layout()

    def price(self, model: str, url: str) -> Price | None:
        """The price of a model behind an endpoint, where it is known."""
        from kgeval.llm.calls import Endpoint
        from kgeval.llm.prices import price_of, read_prices

        return price_of(Endpoint(model, url), read_prices(self.session.asking.prices))

    def opening(self, one: ChosenSystem, wanted: RowSelection, asked: Callable[[], Iterable[str]], *, trials: int = 1) -> Opening:
        """With what a chosen system is opened, its ablations left out. `wanted`: the questions, and how files are read; `asked`: the ids of
        those that are asked."""
        from kgeval.systems.outside.function import is_asynchronous

        options, limits = self.options, self.session.limits
        at_a_time = limits.concurrency if is_asynchronous(one.function) else 1
        return Opening(
            settings=one.settings, timeout=options.question_timeout or one.timeout or DEFAULT_TIMEOUT,
            processes=options.processes or one.processes or at_a_time, function=one.function, limits=limits, shared=self.session.shared,
            price=self.price, tools=self.tools, folder=one.folder, questions=wanted.questions or Path("-"), asked=asked, maps=wanted.maps,
            allow_missing=wanted.allow_missing, allow_duplicates=wanted.allow_duplicates, max_bad_rows=wanted.max_bad_rows, trials=trials,
            dry=self.session.dry, say=self.session.say,
        )
