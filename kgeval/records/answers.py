"""Questions, the answers of systems, and a row: an answer with its question."""

from __future__ import annotations

from pydantic import Field, JsonValue

from kgeval.records.base import Record
from kgeval.records.graph import GraphRef
from kgeval.records.structures import QuestionCheck, StructureKind
from kgeval.records.texts import Passage, Triple

LEVELS_OF_X = ("fact_retrieval", "complex_reasoning", "contextual_summarize", "creative_generation")


class GoldPath(Record):
    """The way through a graph that answers a question: its nodes and relations in order, and the same in words, a step each."""

    nodes: list[GraphRef] = Field(default_factory=list)
    relations: list[GraphRef] = Field(default_factory=list)
    text: list[str] = Field(default_factory=list)


class MadeBy(Record):
    """How a question was made. `prompt`: name and hash of each prompt ("single-hop@1f0c9a..., ..."), or "template" with its name;
    `version`: kgeval's; `kind`: the kind of question by kgeval's name; `structure`: what it was made from, `number`: which draw;
    `profile`: the domain profile."""

    seed: int | None = None
    prompt: str | None = None
    model: str | None = None
    version: str | None = None
    kind: str | None = None
    structure: StructureKind | None = None
    number: int | None = None
    profile: str | None = None


class Question(Record):
    """A question with what is known of its right answer. Only `id` and `question` are needed.

    `kind`: the type as the file has it (several are a list); `level`: one of kgeval's names (fact_retrieval, complex_reasoning,
    contextual_summarize, creative_generation, node, edge, path, subgraph, summary, single_hop, ... out_of_context, negative).
    `hops`: depth; `triples_needed`: breadth. `reference`: the right answer; `references`: further right answers. `points`: what a
    complete answer says; `statements`: gold statements that a long answer may make. `evidence`: passages that hold the answer;
    `evidence_ids`: groups of chunk ids, of each of which one is needed. `document`: the one that the answer is in.
    `cypher`: returns the answer from the graph. `structure`: what it was made from. `checks`: what was checked of it.
    `extra`: fields of the file that kgeval has no name for.
    """

    id: str
    question: str
    dataset: str | None = None
    kind: str | list[str] | None = None
    level: str | None = None
    hops: int | None = None
    triples_needed: int | None = None
    reference: str | None = None
    references: list[str] = Field(default_factory=list)
    points: list[str] = Field(default_factory=list)
    statements: list[str] = Field(default_factory=list)
    evidence: list[Passage] = Field(default_factory=list)
    evidence_ids: list[list[str]] = Field(default_factory=list)
    path: GoldPath | None = None
    steps: list[str] = Field(default_factory=list)
    cypher: str | None = None
    document: str | None = None
    structure: list[GraphRef] = Field(default_factory=list)
    made_by: MadeBy | None = None
    checks: list[QuestionCheck] = Field(default_factory=list)
    extra: dict[str, JsonValue] = Field(default_factory=dict)

    @property
    def kinds(self) -> tuple[str, ...]:
        """The types as a tuple, whether the file had none, one or several."""
        return () if self.kind is None else (self.kind,) if isinstance(self.kind, str) else tuple(self.kind)

    def drawn_with(self, field: str | None = None) -> str | None:
        """What it shares with the questions that say the same as it says: its document, else that of its evidence, else the first entity
        that it was made from, within its data set; None: it stands alone. `field`: what decides instead: `question` (each stands alone),
        `document`, `entity`, `dataset`, `level`, or a field of `extra`."""
        if field in ("dataset", "level"):
            return self.dataset if field == "dataset" else self.level
        if field not in (None, "document", "entity"):
            value = self.extra.get(field)
            return None if field == "question" or value is None else str(value)
        evidence = {passage.document for passage in self.evidence if passage.document}
        document = self.document or (next(iter(evidence)) if len(evidence) == 1 else None)
        entity = next((ref.key for ref in self.structure if ref.kind == "entity"), None)
        name = document if field == "document" else entity if field == "entity" else document or entity
        return None if name is None else f"{self.dataset or ''}\0{name}"

    @property
    def right_answers(self) -> tuple[str, ...]:
        """All right answers with a text, each once, the first one first."""
        given = [self.reference, *self.references]
        return tuple(dict.fromkeys(text for text in given if text and text.strip()))

    @property
    def evidence_texts(self) -> tuple[str, ...]:
        """The texts of the evidence, without those that are known by id only."""
        return tuple(passage.text for passage in self.evidence if passage.text.strip())

    @property
    def evidence_groups(self) -> tuple[tuple[str, ...], ...]:
        """Groups of chunk ids: of each group one is needed."""
        if self.evidence_ids:
            return tuple(tuple(group) for group in self.evidence_ids if group)
        return tuple((passage.chunk_id,) for passage in self.evidence if passage.chunk_id)


class Citation(Record):
    """A claim of an answer with the chunk or document that the answer names for it. `claim` null: for the answer as a whole."""

    claim: str | None = None
    chunk_id: str | None = None
    document: str | None = None


class Aligned(Record):
    """How an answer was brought to a length."""

    system: str | None = None
    target_words: int | None = None
    attempt: int | None = None
    forced: bool = False


class Stages(Record):
    """Seconds that parts of an answer took."""

    retrieval: float | None = None
    entry: float | None = None
    expand: float | None = None
    rerank: float | None = None
    generate: float | None = None


class Answer(Record):
    """What a system answered. `answer` may be empty: the system said nothing. `error`: why there is no answer.

    `contexts`: what it retrieved, in its order; null: not known (an empty list: nothing was retrieved). `retrieved_nodes`,
    `retrieved_relations`: element ids or names, null: not known. `triples`: the answer as triples, where the file has them.
    `reasoning`: the steps by which the system came to its answer, in its own words; null: it tells none.
    `latency_s`, `ttft_s`, `stages`: seconds; `cost`: USD; `calls`, tokens: of this answer. `model`: what wrote it. `trial`: which
    repetition. `signature`: changes with all that is known of how the system was set.
    """

    question_id: str
    system: str
    variant: str | None = None
    answer: str
    cypher: str | None = None
    contexts: list[Passage] | None = None
    retrieved_nodes: list[str] | None = None
    retrieved_relations: list[str] | None = None
    triples: list[Triple] | None = None
    citations: list[Citation] | None = None
    reasoning: list[str] | None = None
    aligned_to: Aligned | None = None
    latency_s: float | None = None
    ttft_s: float | None = None
    stages: Stages | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    calls: int | None = None
    cost: float | None = None
    model: str | None = None
    trial: int | None = None
    error: str | None = None
    signature: str | None = None
    extra: dict[str, JsonValue] = Field(default_factory=dict)

    @property
    def context_texts(self) -> tuple[str, ...]:
        """The texts of the retrieved contexts, without those that are known by id only."""
        return tuple(passage.text for passage in self.contexts or () if passage.text.strip())


class Row(Record):
    """An answer with its question. `n`: its place among all rows of a run, from 0. `where`: file and line, for messages."""

    n: int
    where: str
    question: Question
    answer: Answer
