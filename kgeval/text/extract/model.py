"""Extraction by a model: one call a chunk, and further rounds that ask for what was missed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import replace

from pydantic import JsonValue

from kgeval.errors import UsageError
from kgeval.llm.account import NOT_COUNTED
from kgeval.llm.calls import Task
from kgeval.llm.endpoints import spellings
from kgeval.llm.plan import PlannedStage
from kgeval.llm.session import Models
from kgeval.llm.tokens import count
from kgeval.manifest import Asked
from kgeval.text.extract.gathering import Gathering
from kgeval.text.extract.mentions import Extraction, Source
from kgeval.text.extract.replies import Found, More
from kgeval.text.extract.schema import Allowed, Schema

EXTRACT, GLEAN = "extract", "glean"
RULES = 2  # of what is taken from a reply: to be raised when they change; documents are then read anew, as far as possible from the journal
PARAGRAPH = 40  # tokens: that a text of so many names nothing is asked twice
MOST_GLEANINGS = 10
_REPLY_FRAME = 300
SUGGESTED = Schema(
    "kgeval's suggestion", open_types=True, open_relations=True, entity_types=tuple(Allowed(name) for name in (
        "Person", "Organization", "Group", "Place", "Event", "Work", "Product", "Animal", "Law", "Method", "Concept",
    )),
)


class ModelExtractor:
    """Asks a model for the entities and relations of each chunk. `schema` null: common types are suggested, nothing is refused.

    `gleanings`: how many more times each chunk is asked for what was missed; ends early where nothing new comes. A paragraph of which the
    first reply takes nothing is asked for what was missed at least once. A chunk whose first call fails is an extraction with that
    failure, and so is one whose later round was not asked because the run was stopped: the next run goes on there. Where a later round
    fails by itself, what was found stays, and `dropped` counts gleaning_failed.
    """

    name = "model"

    def __init__(self, models: Models, schema: Schema | None = None, gleanings: int = 0) -> None:
        if not 0 <= gleanings <= MOST_GLEANINGS:
            raise UsageError(f"{gleanings} gleaning rounds are not possible", fix=f"give 0 to {MOST_GLEANINGS}")
        self._models, self._schema, self._gleanings = models, schema, gleanings
        self._extract = models.prompt(EXTRACT)
        self._glean = models.prompt(GLEAN) if gleanings else None

    @property
    def settings(self) -> dict[str, str | int]:
        """What decides which replies are asked for, each by its name: model, endpoint, parameters, prompts, rounds, schema."""
        at = self._models.endpoint
        prompts = [prompt for prompt in (self._extract, self._glean) if prompt is not None]
        return {
            "model": at.model, "endpoint": at.name or "", "parameters": json.dumps(dict(at.parameters), sort_keys=True),
            "gleanings": self._gleanings, "prompts": ", ".join(f"{one.language}/{one.name}@{one.hash}" for one in prompts),
            "schema_hash": self._schema.hash if self._schema is not None else f"suggested {SUGGESTED.hash}",
        }

    @property
    def signature(self) -> str:
        """Changes with the settings, and with the rules of what is taken from a reply."""
        return _signed({**self.settings, "rules": RULES})

    @property
    def older_signatures(self) -> tuple[str, ...]:
        """What 0.1 called these settings: with the endpoint's address in place of its name."""
        at = self._models.endpoint
        decides = {
            "model": at.model, "parameters": dict(at.parameters), "gleanings": self._gleanings,
            "prompts": [prompt.hash for prompt in (self._extract, self._glean) if prompt is not None],
            "schema": (self._schema or SUGGESTED).hash, "enforced": self._schema is not None, "rules": 1,
        }
        return tuple(_signed({**decides, "base_url": url}) for url in spellings(at.base_url or ""))

    def extract(self, sources: Iterable[Source]) -> Iterator[Extraction]:
        """The extractions in the order of the sources; chunks are asked about side by side. Raises as Models.ask does."""
        return self._models.map(self._one, sources, total=len(sources) if isinstance(sources, Sized) else None)

    def asked(self) -> Asked:
        """What was asked of the model so far."""
        return self._models.asked()

    @property
    def notes(self) -> list[str]:
        """What a user should know: prompts in another language, token counts that are estimates."""
        return self._models.notes

    def plan(self, sources: Sequence[Source]) -> tuple[PlannedStage, ...]:
        """What extracting would take: the first round exactly, the gleaning rounds as bounds. Nothing is sent.

        Bounds: every chunk whose first round is still to be asked takes at least one gleaning call; at most all chunks take all.
        A reply, and what a gleaning prompt shows of earlier ones, is reckoned as at most twice the tokens of the text and 300.
        """
        if not sources:
            return ()
        reply = sum(2 * count(source.chunk.text) + _REPLY_FRAME for source in sources) // len(sources)
        run = self._models.dry_run()
        for source in sources:
            known = run.ask(self._task(source)).value
            if known is not None and not self._gleanings and self._rounds(gathered := self._gathered(source, known)):
                run.ask(self._glean_task(source, gathered))
        first, *again = self._models.planned(run)
        first = replace(first, output_tokens_high=max(first.output_tokens_high, reply * first.calls_high))
        if self._glean is None:
            return (first, *again)
        slots = [sum(count(json.dumps(value, ensure_ascii=False)) for value in self._slots(source).values()) for source in sources]
        calls = first.calls_low, len(sources) * self._gleanings
        high = -(-sum(slots) // len(slots)) + reply
        more = self._models.bound(self._glean, calls=calls, slot_tokens=(min(slots), high), stage=GLEAN)
        return first, replace(more, output_tokens_high=max(more.output_tokens_high, reply * calls[1]))

    def _one(self, source: Source) -> Extraction:
        first = self._models.ask(self._task(source))
        if first.value is None:
            return Extraction(source.chunk.id, failure=first.failure)
        gathered = self._gathered(source, first.value)
        for _ in range(self._rounds(gathered)):
            more = self._models.ask(self._glean_task(source, gathered))
            if more.failure is not None and more.failure.cause in NOT_COUNTED:
                return Extraction(source.chunk.id, failure=more.failure)
            if more.value is None:
                gathered.dropped["gleaning_failed"] += 1
                break
            if not gathered.add(more.value):
                break
        return gathered.extraction()

    def _rounds(self, gathered: Gathering) -> int:
        """How often to ask for what was missed, after a first reply."""
        lacking = gathered.empty and count(gathered.text) >= PARAGRAPH
        return max(self._gleanings, int(lacking))

    def _gathered(self, source: Source, first: Found) -> Gathering:
        gathered = Gathering(source, self._schema)
        gathered.add(first)
        return gathered

    def _task(self, source: Source) -> Task[Found]:
        return Task(source.chunk.id, self._extract, self._slots(source), Found, stage=EXTRACT)

    def _glean_task(self, source: Source, gathered: Gathering) -> Task[Found]:
        prompt = self._glean or self._models.prompt(GLEAN)
        return Task(source.chunk.id, prompt, {**self._slots(source), "found": gathered.shown()}, More, stage=GLEAN)

    def _slots(self, source: Source) -> dict[str, JsonValue]:
        schema = self._schema or SUGGESTED
        return {"title": source.title, "before": source.before, "text": source.chunk.text, "schema": schema.as_data()}


def _signed(decides: Mapping[str, object]) -> str:
    return "model:" + hashlib.sha256(json.dumps(decides, sort_keys=True, default=str).encode()).hexdigest()[:16]
