"""The parts of `kgeval completeness` that may ask models: an extractor's ideal graph as gold set, and the facts that follow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kgeval.cli.common import F, say
from kgeval.cli.models import open_embedder_from_options, open_models_from_options, show_plan
from kgeval.errors import UsageError

if TYPE_CHECKING:
    from kgeval.auditing.completeness.fact_files import Facts
    from kgeval.auditing.completeness.facts import FactOptions
    from kgeval.auditing.completeness.gold import Gold
    from kgeval.auditing.completeness.ideal import Ideal
    from kgeval.config import Config
    from kgeval.graph.connect import Graph
    from kgeval.llm.embed import Embedder
    from kgeval.llm.session import Models
    from kgeval.manifest import Asked
    from kgeval.records import CompletenessReport, IdealGraph, Layout, RunManifest
    from kgeval.text.extract.mentions import Extractor, Source

EXTRACTORS = ("model", "rules", "spacy", "triples-file")
SHOWN_FAULTS = 5
MOST_TOKENS = 12_000  # of a fact and 200 relations, generously


def ideal_options(command: F) -> F:
    """--ideal-extractor and what belongs to it, --ideal-sample, --ideal-export, --ideal-labels."""
    for option in reversed((
        click.option(
            "--ideal-extractor", type=click.Choice(EXTRACTORS), default="model", show_default=True,
            help="What reads the documents of --ideal.",
        ),
        click.option(
            "--spacy-model", default="en_core_web_sm", show_default=True, metavar="NAME", help="Pipeline of --ideal-extractor spacy.",
        ),
        click.option("--triples", type=click.Path(path_type=Path), metavar="FILE", help="File of --ideal-extractor triples-file."),
        click.option(
            "--ideal-sample", type=click.IntRange(1, 100_000), metavar="N", help="Items that --ideal-export writes [default: 100].",
        ),
        click.option(
            "--ideal-export", type=click.Path(path_type=Path), metavar="SHEET.csv",
            help="Write a random sample of the ideal graph for people to label.",
        ),
        click.option(
            "--ideal-labels", type=click.Path(path_type=Path), metavar="SHEET.csv",
            help="The labelled sheet: how much of the ideal graph people hold to be right.",
        ),
    )):
        command = option(command)
    return command


def fact_options(command: F) -> F:
    """--top-k and --hops of --facts."""
    for option in reversed((
        click.option("--top-k", type=click.IntRange(1, 100), default=8, show_default=True, help="Entities looked at, nearest to the fact."),
        click.option("--hops", type=click.IntRange(1, 4), default=2, show_default=True, help="Relations up to so many hops around them."),
    )):
        command = option(command)
    return command


@dataclass(frozen=True)
class IdealMade:
    """The ideal graph as gold set, its record, what models were asked for it, and 3 where too much failed (else 0)."""

    gold: Gold
    record: IdealGraph
    asked: Asked
    code: int


def ideal_from_options(config: Config, options: Mapping[str, Any]) -> IdealMade | None:
    """The ideal graph of the documents of --ideal; null after a dry run.

    Raises: UsageError, InputError, IncompleteError, ModelError as ideal_gold does.
    """
    from kgeval.auditing.completeness.ideal import ideal_gold
    from kgeval.text.documents import read_documents

    read = read_documents(list(options["ideal"]))
    for fault in read.faults[:SHOWN_FAULTS]:
        say(f"warning: {fault}")
    with ExitStack() as open_things:
        extractor, made_by, models = _extractor(config, options, open_things)
        if options["dry_run"]:
            _show_ideal_plan(read.documents, extractor, models)
            return None
        ideal = ideal_gold(read.documents, extractor, made_by=made_by, faults=read.faults)
        ideal = _with_people(ideal, options)
        return IdealMade(replace(ideal.gold, inputs=tuple(read.inputs)), ideal.record, extractor.asked(), models.exit_code if models else 0)


def with_ideal(report: CompletenessReport, made: IdealMade) -> CompletenessReport:
    """The report with how its gold set was made, and what models were asked for it."""
    return report.model_copy(update={"ideal": made.record, "run": with_asked(report.run, made.asked)})


@dataclass(frozen=True)
class FactsAsked:
    """What --facts needs: the sentences, the judge, the embedder. `bound`: a dry run must not even embed (it would send something)."""

    read: Facts
    models: Models
    embedder: Embedder
    options: FactOptions
    bound: bool

    def judged(self, graph: Graph, report: CompletenessReport) -> tuple[CompletenessReport, int]:
        """The report with the facts judged, and the models' exit code."""
        from kgeval.auditing.completeness.facts import fact_retention

        facts = fact_retention(graph, report.layout, self.read.facts, self.models, self.embedder, options=self.options)
        notes = [*facts.notes, *(f"--facts: {fault}" for fault in self.read.faults), *self.models.notes]
        run = _with_inputs(with_asked(report.run, self.models.asked()), self.read.inputs)
        return report.model_copy(update={"facts": facts.model_copy(update={"notes": notes}), "run": run}), self.models.exit_code

    def show_plan(self, graph: Graph, layout: Layout) -> None:
        """What judging would cost; asks the judge nothing."""
        from kgeval.auditing.completeness.facts import PROMPT, fact_tasks
        from kgeval.llm.plan import Plan

        prompt = self.models.prompt(PROMPT)
        if self.bound:
            stage = self.models.bound(prompt, calls=(0, len(self.read.facts)), slot_tokens=(0, MOST_TOKENS))
        else:
            stage = self.models.plan(fact_tasks(graph, layout, self.read.facts, prompt, self.embedder, options=self.options))
        show_plan(Plan((stage,), self.models.limits))


def facts_from_options(config: Config, options: Mapping[str, Any], open_things: ExitStack) -> FactsAsked | None:
    """The sentences of --facts and the models that they need; null without --facts. Asks nothing yet.

    Raises: InputError, UsageError, ModelError: the file or a model cannot be used.
    """
    from kgeval.auditing.completeness.fact_files import read_facts
    from kgeval.auditing.completeness.facts import FactOptions

    if not options["facts"]:
        return None
    read = read_facts([options["facts"]])
    for fault in read.faults[:SHOWN_FAULTS]:
        say(f"warning: --facts: {fault}")
    models = open_things.enter_context(open_models_from_options(config, "judge", options))
    embedder = open_things.enter_context(open_embedder_from_options(config, options))
    chosen = FactOptions(top_k=options["top_k"], hops=options["hops"], timeout=options["timeout"])
    return FactsAsked(read, models, embedder, chosen, bool(options["embedding_url"] or config.model.embedding.base_url))


def with_asked(run: RunManifest, asked: Asked) -> RunManifest:
    """The manifest with what models were asked added."""
    return run.model_copy(update={
        "models": [*run.models, *asked.models], "model_use": [*run.model_use, *asked.use],
        "prompt_hashes": dict(sorted({**run.prompt_hashes, **asked.prompt_hashes}.items())),
    })


def _with_inputs(run: RunManifest, inputs: Sequence[Path]) -> RunManifest:
    from kgeval.manifest import input_file

    return run.model_copy(update={"inputs": [*run.inputs, *(input_file(path) for path in inputs)]})


def check_ideal(options: Mapping[str, Any]) -> None:
    """Raises: UsageError: options of --ideal that do not fit, all at once."""
    faults = []
    if not options["ideal"] and (options["ideal_export"] or options["ideal_labels"]):
        faults.append("--ideal-export and --ideal-labels belong to --ideal DOCS")
    if options["ideal_sample"] and not options["ideal_export"]:
        faults.append("--ideal-sample says how many items --ideal-export writes; give that file too")
    if options["ideal_export"] and options["ideal_labels"]:
        faults.append("--ideal-export writes an empty sheet, --ideal-labels reads a labelled one: one after the other")
    if options["ideal_export"] and options["ideal_export"].exists():
        faults.append(f"--ideal-export {options['ideal_export']}: is there already, and may hold labels; choose another name")
    if (options["ideal_extractor"] == "triples-file") != bool(options["triples"]):
        faults.append("--ideal-extractor triples-file and --triples FILE belong together")
    if faults:
        raise UsageError("; ".join(faults), fix="kgeval completeness --help lists the options")


def _extractor(config: Config, options: Mapping[str, Any], open_things: ExitStack) -> tuple[Extractor, str, Models | None]:
    """The extractor of the options, what is printed as the ideal graph's maker, and the model's session where there is one."""
    from kgeval.cli.build_parts import extractor_of

    kind = options["ideal_extractor"]
    if kind == "model":
        from kgeval.text.extract.model import ModelExtractor

        models = open_things.enter_context(open_models_from_options(config, "extractor", options))
        return ModelExtractor(models), models.endpoint.model, models
    made_by = {
        "rules": "kgeval's rules extractor", "spacy": f"spaCy {options['spacy_model']}",
        "triples-file": f"the triples of {options['triples'].name}" if options["triples"] else "",
    }[kind]
    given = {**options, "extractor": kind, "nouns": None, "cooccurrence": False}
    return extractor_of(open_things, config, given, None), made_by, None


def _with_people(ideal: Ideal, options: Mapping[str, Any]) -> Ideal:
    """The ideal graph after a sheet was written, or read back."""
    from kgeval.auditing.completeness.ideal_sheet import checked, sampled, write_sheet

    if options["ideal_labels"]:
        return checked(ideal, options["ideal_labels"])
    if options["ideal_export"]:
        items = sampled(ideal, options["ideal_sample"] or 100)
        write_sheet(options["ideal_export"], items)
        say(f"wrote {options['ideal_export']}: {len(items)} items to label; give it back with --ideal-labels")
        return replace(ideal, record=ideal.record.model_copy(update={"sampled": len(items)}))
    return ideal


def _show_ideal_plan(documents: Sequence[Any], extractor: Extractor, models: Models | None) -> None:
    from kgeval.llm.plan import Plan
    from kgeval.text.build.state import Cutting, sources_of
    from kgeval.text.extract.model import ModelExtractor

    sources: list[Source] = [source for document in documents for source in sources_of(document, Cutting())]
    if models is None or not isinstance(extractor, ModelExtractor):
        click.echo(f"{len(sources)} chunks; {extractor.name} asks no model\ndry run: nothing was sent")
        return
    show_plan(Plan(tuple(extractor.plan(sources)), models.limits))
