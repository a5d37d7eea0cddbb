"""The baseline that [Z] criticises: questions from summaries, without evidence. Built to be compared with, not to be
used.

Beginning and end of each document -> a summary of it -> a description of the whole collection -> users and their tasks
-> five questions for each user and task. Documents are the graph's chunks in their order. Beginning and end are cut at
the length of the text: an end is there for a document of any length. """

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from heapq import nsmallest
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING

from pydantic import JsonValue

from kgeval.llm.asker import Later, digest
from kgeval.llm.calls import Failure, Reply
from kgeval.llm.tokens import count
from kgeval.questions.drafts import lines_of, question_text
from kgeval.questions.excerpts import head, tail
from kgeval.questions.kinds import MakingContext, ParallelMap, QuestionKind, RejectedError, UnansweredError
from kgeval.records import Question
from kgeval.text.clean import clean_line

if TYPE_CHECKING:
    from kgeval.graph.connect import Graph
    from kgeval.records import Layout

# At either end of a document. LightRAG's own script means the same, but cuts the end with a positive bound: of documents of 3,000
# tokens and more it reads the tokens 1,000 to 2,000 only, and no end.
END_TOKENS = 1_000
SUMMARY_TOKENS = 200
DESCRIPTION_TOKENS = 500
MOST_DOCUMENTS = 150
USERS = TASKS = A_TASK = 5
UNANSWERED = Failure("cancelled", "an earlier reply is not in the journal")


class DocumentSummary(Reply):
    """What a document is about."""

    summary: str


class Description(Reply):
    """What a collection is about."""

    description: str


class User(Reply):
    """Somebody who works with the collection."""

    user: str
    tasks: list[str]


class Users(Reply):
    """Who works with the collection."""

    users: list[User]


class FiveQuestions(Reply):
    """The questions of one user for one task."""

    questions: list[str]


@dataclass(frozen=True)
class Excerpt:
    """A document's beginning, and its end where it is longer than both."""

    document: str | None
    beginning: str
    end: str = ""


@dataclass(frozen=True)
class UserTasks:
    """The description, and pairs of a user and a task. No description: a dry run that lacks an earlier reply."""

    description: str = ""
    pairs: tuple[tuple[str, str], ...] = ()


def prepare(context: MakingContext, spread: ParallelMap) -> UserTasks:
    """Sums up the documents and the collection, and names users and tasks: once a run. In a dry run, as far as replies
    are there; the calls that follow are counted.

    Raises: RejectedError("no_documents") where no chunk has a text; UnansweredError where all summaries, or a later
    call, fail. """
    documents = drawn(excerpts(*context.database()), context.options.seed)
    if not documents:
        raise RejectedError("no_documents", "the graph has no chunk with a text")
    # a document that cannot be summed up is left out: the description of a collection does not hang on one
    replies = list(spread(partial(_summary, context), documents))
    summaries = [reply for reply in replies if isinstance(reply, str)]
    missing = [reply for reply in replies if isinstance(reply, UnansweredError)]
    if missing and (context.dry or not summaries):
        if context.asker is None or not context.dry:
            raise missing[0]
        tokens = (len(documents), len(documents) * SUMMARY_TOKENS)
        context.asker.later(Later("describe-dataset", "describe-dataset", digest("summary", "dataset"), tokens))
        return _without_description(context, missing[0])
    if not any(summaries):
        raise RejectedError("empty", "no summary of a document has a text")
    try:
        shown: list[JsonValue] = [head(text, SUMMARY_TOKENS) for text in summaries if text]
        description = context.ask("describe-dataset", {"summaries": shown}, Description).description.strip()
    except UnansweredError as error:
        return _without_description(context, error)
    if not description:
        raise RejectedError("empty", "the description of the collection is empty")
    try:
        return UserTasks(description, _pairs(context.ask("name-users", {"description": description}, Users)))
    except UnansweredError:
        if not context.dry:
            raise
        return UserTasks(description)


def _without_description(context: MakingContext, error: UnansweredError) -> UserTasks:
    """In a dry run: counts the call for users and tasks. Raises: the error, else."""
    if context.asker is None or not context.dry:
        raise error
    context.asker.later(Later("name-users", "name-users", digest("summary", "users"), (1, DESCRIPTION_TOKENS)))
    return UserTasks()


def make(context: MakingContext) -> Question:
    """The question of this number: the first five are those of the first user's first task, and so on.

    Raises: RejectedError; UnansweredError: in a dry run that does not know the tasks, the call that gives this question
    and its four neighbours is counted. """
    prepared, (pair, place) = context.prepared, divmod(context.structure.number, A_TASK)
    if not isinstance(prepared, UserTasks) or not prepared.pairs:
        if context.asker is not None:
            key, tokens = digest("summary", "questions", pair), (1, DESCRIPTION_TOKENS + 100)
            context.asker.later(Later("ask-summary", "ask-summary", key, tokens))
        raise UnansweredError(UNANSWERED)
    if pair >= len(prepared.pairs):
        raise RejectedError("used_up", f"the description gives {len(prepared.pairs) * A_TASK} questions at most")
    user, task = prepared.pairs[pair]
    slots: dict[str, JsonValue] = {"description": prepared.description, "user": user, "task": task}
    texts = lines_of(context.ask("ask-summary", slots, FiveQuestions).questions)
    if not texts:
        raise RejectedError("declined", "the model finds no question of this user for this task in the description")
    if place >= len(texts):
        raise RejectedError("missing", f"the reply has {len(texts)} of {A_TASK} questions")
    return Question(id="", question=question_text(texts[place]), level="summary", extra={"user": user, "task": task})


def excerpts(graph: Graph, layout: Layout) -> Iterator[Excerpt]:
    """Beginning and end of every document of the graph, by name. Memory holds one document's ends at a time."""
    from kgeval.graph.queries import all_queries

    rows = graph.stream(all_queries()["document-chunks"], {"layout": layout.model_dump()})
    for document, chunks in groupby(rows, key=lambda row: row["document"]):
        excerpt = excerpt_of((row["text"] or "" for row in chunks), document)
        if excerpt is not None:
            yield excerpt


def excerpt_of(chunks: Iterable[str], document: str | None = None, tokens: int = END_TOKENS) -> Excerpt | None:
    """The first and the last `tokens` tokens of a text that comes in chunks; None where it is empty. A text of up to
    twice as many is all beginning."""
    first, last = list[str](), deque[tuple[str, int]]()
    in_first = in_last = total = 0
    for chunk in chunks:
        size = count(chunk)
        total += size
        if in_first < 2 * tokens:
            first.append(chunk)
            in_first += size
        last.append((chunk, size))
        in_last += size
        while in_last - last[0][1] >= tokens:
            in_last -= last.popleft()[1]
    start = "\n".join(first).strip()
    if not start:
        return None
    if total <= 2 * tokens:
        return Excerpt(document, start)
    return Excerpt(document, head(start, tokens), tail("\n".join(text for text, _ in last), tokens))


def drawn(found: Iterable[Excerpt], seed: int, most: int = MOST_DOCUMENTS) -> list[Excerpt]:
    """All documents in their order; of more than `most`, so many of them by the seed."""
    chosen = nsmallest(most, enumerate(found), key=lambda pair: digest(seed, pair[1].document, pair[0]))
    return [excerpt for _, excerpt in sorted(chosen, key=itemgetter(0))]


def _summary(context: MakingContext, excerpt: Excerpt) -> str | UnansweredError:
    try:
        return context.ask(
            "sum-up-document", {"beginning": excerpt.beginning, "end": excerpt.end}, DocumentSummary,
        ).summary.strip()
    except UnansweredError as error:
        return error


def _pairs(reply: Users) -> tuple[tuple[str, str], ...]:
    """Users and tasks, one task of each user first, then the second of each, and so on. Raises:
    RejectedError("empty")."""
    users = [(clean_line(user.user), lines_of(user.tasks)[:TASKS]) for user in reply.users[:USERS]]
    pairs = tuple((user, tasks[task]) for task in range(TASKS) for user, tasks in users if user and task < len(tasks))
    if not pairs:
        raise RejectedError("empty", "the reply names no user with a task")
    return pairs


KINDS: tuple[QuestionKind, ...] = (
    QuestionKind(
        name="summary", group="summary", level="summary",
        about="the baseline: from a description of the collection, without evidence",
        source="[Z] 1, 3, as LightRAG's evaluation has it", draws=None, most=USERS * TASKS * A_TASK, make=make,
        prepare=prepare,
        needs=frozenset({"model", "chunks", "documents"}), first="sum-up-document",
    ),
)
