"""The stages about questions and answers: made, checked, answered, scored, compared. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from kgeval.config import ReaderSection
from kgeval.run.data import Data, Work
from kgeval.run.graphs import FORMS, graph_ids
from kgeval.run.stages import Place, Stage
from kgeval.systems.builtin.tools import NEEDS

CLOSED_BOOK = "closed-book"
TEXTS = (".json", ".md")


def question_stages(data: Data) -> Iterator[Stage]:
    """Questions are made from the first graph of the data set, where there is no file of them; then looked at."""
    questions = data.questions
    if questions is None:
        return
    graph = data.graph_flags(data.base)
    needs = graph_ids(data, data.base)
    if data.makes_questions:
        made = data.stage("questions", data.place, Work(
            graph, outputs=(questions,), needs=needs, sections=("graph", "questions", "model"), asks=True,
        ))
        yield made
        needs = (*needs, made.id)
    judge = () if data.config.model.judge.name else ("--no-model",)
    inputs = () if data.makes_questions else (questions,)
    for kind, words in (("check", judge), *([("coverage", ())] if data.has_graph else [])):
        yield data.stage(kind, data.place, Work(
            (str(questions), *words, *graph), outputs=tuple(data.at(data.place, f"{kind}{form}") for form in TEXTS), needs=needs,
            inputs=inputs, sections=("graph", "model"), asks=kind == "check",
        ))


def answer_stages(data: Data, place: Place, reader: ReaderSection | None) -> Iterator[Stage]:
    """Answers of all systems at one place, and what comes of them."""
    questions = data.questions
    if questions is None and not data.own.answers and not data.config.answers.files:
        return
    here = place.model_copy(update={"reader": reader.name if reader else None})
    answered = _answers(data, here, questions, reader) if data.config.systems and questions is not None else None
    if answered is not None:
        yield answered
    files = [*(answered.outputs if answered else ()), *_files(data, here)]
    if files:
        yield from _measured(data, here, files, answered)
        if "compare" in data.config.model_fields_set:
            yield _compared(data, Answered(here, reader, files, answered))


def _answers(data: Data, place: Place, questions: Path, reader: ReaderSection | None) -> Stage:
    """The systems of [[systems]], and their variants of [[ablations]]."""
    ablations = [
        f"{one.system}:{one.setting}=" + ",".join(str(value).lower() if isinstance(value, bool) else str(value) for value in one.values)
        for one in data.config.ablations
    ]
    model = ("--model", reader.model, *(("--base-url", reader.base_url) if reader.base_url else ())) if reader else ()
    words = (str(questions), *data.graph_flags(place), *model, *(word for text in ablations for word in ("--ablate", text)))
    return data.stage("answers", place, Work(
        words, outputs=(data.at(place, "answers.jsonl"),), needs=(*graph_ids(data, place.graph), *_questions_id(data)),
        inputs=() if data.makes_questions else (questions,), sections=("graph", "systems", "model", "ablations"), asks=True,
        resumes="--retry-errors",
    ))


def _files(data: Data, place: Place) -> list[Path]:
    """Answers that are there already: they do not change over the matrix, so they stand at its first place."""
    first = data.config.matrix.readers[0].name if data.config.matrix.readers else None
    return (data.own.answers or data.config.answers.files) if place == data.base.model_copy(update={"reader": first}) else []


@dataclass(frozen=True)
class Answered:
    """What there is to measure at a place. `answered`: the stage that asks the systems, null where there are only files."""

    place: Place
    reader: ReaderSection | None
    files: list[Path]
    answered: Stage | None


def _measured(data: Data, place: Place, files: list[Path], answered: Stage | None) -> Iterator[Stage]:
    """Scores, contamination and comparison of the answers in `files`."""
    needs = (*((answered.id,) if answered else ()), *graph_ids(data, place.graph), *_questions_id(data))
    given = [path for path in (*files, data.question_file) if path is not None and path not in (answered.outputs if answered else ())]
    common = Work((), needs=needs, inputs=tuple(given), asks=True)
    asked = ("--questions", str(data.questions)) if data.questions else ()
    answers, config = tuple(map(str, files)), data.config
    if config.metrics.names:
        audit = data.at(place.graph, "audit.json")
        joined = ("--audit", str(audit)) if data.has_graph and "audit" not in config.run.skip else ()
        yield data.stage("scores", place, replace(
            common, words=(*answers, *asked, *joined, *data.graph_flags(place), "-o", f"{data.at(place, 'scores')}/"),
            outputs=tuple(data.at(place, f"scores{form}") for form in FORMS), resumes="--retry-errors",
            needs=(*needs, *(("/".join((*place.graph.parts, "audit")),) if joined else ())),
            sections=("graph", "metrics", "score", "model", "report"),
        ))
    if data.questions and any(system.spec.partition(":")[0] == CLOSED_BOOK for system in config.systems):
        words = (str(data.questions), *(word for path in answers for word in ("--answers", path)))
        yield data.stage("contamination", place, replace(
            common, words=words, outputs=tuple(data.at(place, f"contamination{form}") for form in TEXTS),
            sections=("model", "report", "contamination"),
        ))


def _compared(data: Data, given: Answered) -> Stage:
    """The comparison: of the systems themselves, not of their ablations, which the matrix is for. Answers are judged again in each trial,
    and made again only where [compare] says so: that costs what all answers cost, for each trial."""
    config, files = data.config, given.files
    asked = ("--questions", str(data.questions)) if data.questions else ()
    kind = () if config.compare.trial_kind else ("--trial-kind", "rejudge")
    only = [one.name for one in config.systems] if config.ablations and given.answered is not None and len(files) == 1 else []
    words = (*map(str, files), *asked, *kind, *(word for name in only for word in ("--filter-system", name)), *_hooks(data, given))
    made = given.answered.outputs if given.answered else ()
    inputs = [path for path in (*files, data.question_file) if path is not None and path not in made]
    return data.stage("compare", given.place, Work(
        words, outputs=tuple(data.at(given.place, f"compare{form}") for form in FORMS), inputs=tuple(inputs), asks=True,
        needs=(*((given.answered.id,) if given.answered else ()), *graph_ids(data, given.place.graph), *_questions_id(data)),
        sections=("graph", "compare", "systems", "model", "report"),
    ))


def _hooks(data: Data, given: Answered) -> tuple[str, ...]:
    """The systems that can be asked for an answer of a given length. A reader with an address of its own cannot be named there beside
    the judge's, so that built-in systems are left out then: lengths come about by forced alignment."""
    if given.answered is None:
        return ()
    elsewhere = given.reader is not None and given.reader.base_url is not None
    names = [
        one.name for one in data.config.systems if not (one.spec.startswith("file:") or (elsewhere and one.spec.strip() in NEEDS))
    ]
    if not names:
        return ()
    own = data.config.run.options.get("compare", {})
    plain = data.config.run.options.get("answers", {}).get("extractive") is True and "extractive" not in own
    reader = ("--reader", given.reader.model) if given.reader is not None and not elsewhere else ()
    systems = (word for name in names for word in ("--system", name))
    return (*systems, *reader, *(("--extractive",) if plain else ()), *data.graph_flags(given.place))


def _questions_id(data: Data) -> tuple[str, ...]:
    return ("/".join((*data.place.parts, "questions")),) if data.makes_questions else ()
