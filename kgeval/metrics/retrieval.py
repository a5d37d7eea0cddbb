"""Retrieved contexts against question and evidence."""

from __future__ import annotations

from functools import partial

from kgeval.metrics.definition import Metric, MetricValue, Subject, not_applicable, scored, unscored
from kgeval.metrics.facts import ItemVerdicts
from kgeval.metrics.shares import NO_REFERENCE_CLAIM, against_contexts

NOTHING = "nothing was retrieved"
SOURCE = "Xiang et al. "
EMPTY = " Nothing retrieved: not applicable."


def _rated(subject: Subject, fact: str) -> ItemVerdicts | MetricValue:
    """The ratings, or why there is no value."""
    contexts = subject.row.answer.contexts or []
    if not subject.row.answer.context_texts:
        return not_applicable("the contexts have no text" if contexts else NOTHING, contexts=len(contexts))
    ratings = subject.facts.checks[fact]
    if (failure := ratings.unscored) is not None:
        return unscored(failure, contexts=len(contexts), unjudged=len(ratings.items) - ratings.judged)
    return ratings


def context_relevance(subject: Subject) -> MetricValue:
    """Mean rating [X eq. 3], over the contexts that have a text.

    Each context is rated by itself and beside the evidence, as the formula has it; the authors' script rates all contexts as one
    text, cut at 20,000 characters and without evidence (`context_relevance_compat`).
    """
    ratings = _rated(subject, "ratings")
    if isinstance(ratings, MetricValue):
        return ratings
    total = sum(item.rating or 0.0 for item in ratings.items)
    return scored(
        total / len(ratings.items), **_counts(subject, ratings), evidence=len(subject.row.question.evidence_texts),
    )


def context_precision(subject: Subject) -> MetricValue:
    """Contexts with a rating from `relevant_from` on / contexts that have a text."""
    ratings = _rated(subject, "ratings")
    if isinstance(ratings, MetricValue):
        return ratings
    relevant = sum((item.rating or 0.0) >= subject.settings.relevant_from for item in ratings.items)
    return scored(relevant / len(ratings.items), **_counts(subject, ratings), above=relevant)


def context_relevance_compat(subject: Subject) -> MetricValue:
    """One rating of the joined text."""
    ratings = _rated(subject, "rating:joined")
    return ratings if isinstance(ratings, MetricValue) else scored(ratings.items[0].rating or 0.0)


def _counts(subject: Subject, ratings: ItemVerdicts) -> dict[str, int]:
    counts = {name: ratings.count(name) for name in ("relevant", "partly_relevant", "irrelevant")}
    without = len(subject.row.answer.contexts or ()) - len(ratings.items)
    return {"contexts": len(ratings.items), **counts} | ({"without_text": without} if without else {})


METRICS: tuple[Metric, ...] = (
    Metric(
        name="context_relevance", group="retrieval", summary="How much the retrieved contexts help to answer the question.",
        definition="mean over the retrieved contexts of R(context, question, evidence): 0, 0.5 or 1 (the scale is ours). The evidence is "
        "shown to the judge where the row has some." + EMPTY,
        source=SOURCE + "eq. 3", compute=context_relevance, needs=("contexts",), asks=("ratings",), tools=("judge",), calls="1",
    ),
    Metric(
        name="context_relevance_compat", group="retrieval", summary="The same as GraphRAG-Bench's code has it: one rating of all.",
        definition="one rating (0, 0.5, 1) of all contexts joined to one text, without evidence. The original asks twice at temperature 0 "
        "and cuts the text; here it is asked once and whole." + EMPTY,
        source=SOURCE + "eq. 3, as in the code of GraphRAG-Bench", compute=context_relevance_compat, needs=("contexts",),
        asks=("rating:joined",), tools=("judge",), calls="1",
    ),
    Metric(
        name="context_precision", group="retrieval", summary="Retrieved contexts that are relevant.",
        definition="contexts rated at least `relevant_from` (0.5) / contexts. The ratings are those of context_relevance. A plain "
        "share: the order plays no part, unlike in rank-aware metrics of the same name (ragas, DeepEval)." + EMPTY,
        source="GraphRAG evaluation methodology, section 2", compute=context_precision, needs=("contexts",), asks=("ratings",),
        tools=("judge",), settings=("relevant_from",), calls="1",
    ),
    Metric(
        name="evidence_recall", group="retrieval", summary="Evidence that the retrieved contexts hold.",
        definition="evidence texts supported by the retrieved contexts / evidence texts. One that stands word for word in a context (case, "
        "blanks and punctuation aside) is supported without asking. Nothing retrieved: 0.",
        source=SOURCE + "eq. 4, over the evidence", compute=partial(
            against_contexts, fact="evidence@contexts", label="supported", what="evidence",
            none=not_applicable("no evidence text is given"),
        ),
        needs=("contexts", "evidence"), asks=("evidence@contexts",), tools=("judge",), calls="1", version=2,
    ),
    Metric(
        name="claim_recall", group="retrieval", summary="Claims of the reference that the retrieved contexts hold.",
        definition="claims of the reference supported by the retrieved contexts / claims of the reference. Nothing retrieved: 0. A "
        "reference that makes no claim: not applicable.",
        source=SOURCE + "eq. 4, by the letter; RAGChecker's claim recall", needs=("contexts", "reference"),
        compute=partial(
            against_contexts, fact="reference_claims@contexts", label="supported", what="reference_claims",
            none=not_applicable(NO_REFERENCE_CLAIM),
        ),
        asks=("claims:reference", "reference_claims@contexts"), tools=("judge",), calls="2",
    ),
)
