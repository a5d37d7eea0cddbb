"""What systems are opened with by `kgeval answer`: models, embedder and graph for built-in ones, each opened once and only when needed."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from kgeval.cli.choose import layout_from_options
from kgeval.cli.common import open_from_options, say
from kgeval.cli.models import command_shared, limits_from_options, open_embedder_from_options, open_models_from_options
from kgeval.errors import UsageError
from kgeval.systems.spec import Opening

if TYPE_CHECKING:
    from kgeval.cli.answer_options import Chosen
    from kgeval.config import Config
    from kgeval.files.asked import Questions
    from kgeval.graph.connect import Graph
    from kgeval.llm.asker import Dry
    from kgeval.llm.prices import Price
    from kgeval.llm.session import Models
    from kgeval.records import Layout
    from kgeval.systems.builtin.tools import BuiltinTools
    from kgeval.systems.spec import SystemSpec

DEFAULT_TIMEOUT = 300.0


@dataclass
class Toolbox:
    """Opens tools when a system needs them, and keeps them for the next one. `dry`: who counts the reader's calls in a dry run."""

    config: Config
    options: Mapping[str, Any]
    stack: ExitStack
    models: Models | None = None
    graph: Graph | None = None
    dry: Dry | None = None
    _made: dict[str, Any] = field(default_factory=dict)

    def tools(self, spec: SystemSpec) -> BuiltinTools:
        """What a built-in system works with. Raises: UsageError where no reader is named, and what opening raises."""
        from kgeval.systems.builtin.tools import NEEDS, BuiltinTools

        needs = NEEDS[spec.name]
        if "reader" in needs and not (self.options["extractive"] or self.options["sweep"]):
            self._open_models(spec.name)
        embedder = self._once("embedder", self._embedder) if "embedder" in needs else None
        layout = self._once("layout", self._layout) if "graph" in needs else None
        return BuiltinTools(
            models=self.models, asker=self.dry, embedder=embedder, graph=self.graph, layout=layout,
            cache_dir=self.options["cache_dir"], timeout=self.options["timeout"] or DEFAULT_TIMEOUT, say=say,
            dry=self.options["dry_run"],
        )

    def _once(self, name: str, make: Any) -> Any:
        if name not in self._made:
            self._made[name] = make()
        return self._made[name]

    def _open_models(self, system: str) -> None:
        if self.models is not None:
            return
        if not (self.options["model"] or self.config.model.reader.name):
            raise UsageError(
                f"{system} needs a reader, and no model is named for it",
                fix="give --model NAME, or name = ... in [model.reader] of kgeval.toml; --extractive needs no model",
            )
        self.models = self.stack.enter_context(open_models_from_options(self.config, "reader", self.options))
        if self.options["dry_run"]:
            from kgeval.llm.asker import Dry

            self.dry = Dry(self.models)

    def _embedder(self) -> Any:
        return self.stack.enter_context(open_embedder_from_options(self.config, self.options))

    def _layout(self) -> Layout:
        options = self.options
        self.graph = self.stack.enter_context(
            open_from_options(self.config, **{name: options[name] for name in ("uri", "username", "database", "home")}),
        )
        return layout_from_options(self.graph, self.config, **{k: options[k] for k in ("graph_name", "layout_option", "overrides")})

    def price(self, model: str, url: str) -> Price | None:
        """The price of a model behind an endpoint, where it is known."""
        from kgeval.llm.calls import Endpoint
        from kgeval.llm.prices import price_of, read_prices

        return price_of(Endpoint(model, url), read_prices(self.options["prices"]))

    def opening(self, one: Chosen, questions: Questions) -> Opening:
        """With what a chosen system is opened, its ablations left out."""
        options = self.options
        limits = limits_from_options(self.config, options)
        return Opening(
            settings=one.settings, timeout=options["timeout"] or one.timeout or DEFAULT_TIMEOUT,
            processes=options["processes"] or one.processes or 1, limits=limits, shared=command_shared(limits), price=self.price,
            tools=self.tools, folder=one.folder, questions=options["questions"], asked=questions.ids, maps=options["mapped"],
            allow_missing=options["allow_missing"], allow_duplicates=options["allow_duplicates"],
            max_bad_rows=options["max_bad_rows"], trials=options["trials"],
            dry=options["dry_run"], say=say,
        )
