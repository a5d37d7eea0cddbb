"""RAGChecker's diagnostic figures (Ru et al. 2024) from the shared verdicts: where the wrong and the right claims of an answer come from.

A context is *relevant* if it supports a claim of the reference. A claim of the answer is *right* if the reference supports it, else
*wrong* (contradicted or not stated). It *comes from* the contexts that support it. precision, recall and F1 over claims are
`factual_correctness`; `claim_recall` and `faithfulness` are the other two of RAGChecker's eleven.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kgeval.llm.calls import Failure
from kgeval.metrics.definition import Metric, MetricValue, Need, Subject, not_applicable, scored, unscored
from kgeval.metrics.facts import ItemVerdicts
from kgeval.metrics.shares import NO_REFERENCE_CLAIM, is_empty, no_context_text, says_nothing, zero_for_empty

RIGHT, FROM = "answer_claims@reference", "answer_claims@contexts"
RECALLED, FOUND = "reference_claims@answer", "reference_claims@contexts"
PAPER = "Ru et al. 2024 (RAGChecker, arXiv 2408.08067), section 3.3"
CLAIMS, REFERENCE_CLAIMS = "claims:answer", "claims:reference"
BOTH: tuple[Need, ...] = ("reference", "contexts")
SUPPORTED, NO_TEXT = "supported", "the contexts have no text"


@dataclass(frozen=True)
class Claim:
    """A claim of the answer: right by the reference or not, supported by a relevant context, by an irrelevant one."""

    right: bool
    relevant: bool
    irrelevant: bool

    @property
    def unsupported(self) -> bool:
        """True if no context supports it."""
        return not (self.relevant or self.irrelevant)


def harmonic(subject: Subject) -> MetricValue:
    """The harmonic mean of precision and recall over claims; 0 where one of them is."""
    if is_empty(subject):
        return zero_for_empty()
    right, recalled = subject.facts.checks[RIGHT], subject.facts.checks[RECALLED]
    if failure := right.unscored or recalled.unscored:
        return unscored(failure, **_judged(right), **{f"reference_{name}": count for name, count in _judged(recalled).items()})
    if not recalled.items:
        return not_applicable(NO_REFERENCE_CLAIM)
    precision = right.count(SUPPORTED) / len(right.items) if right.items else 0.0
    recall = recalled.count(SUPPORTED) / len(recalled.items)
    both = 2 * precision * recall / (precision + recall) if precision * recall else 0.0
    return scored(both, precision=precision, recall=recall)


def context_precision(subject: Subject) -> MetricValue:
    """Contexts that support at least one claim of the reference / contexts. Every context of the input counts."""
    contexts = len(subject.row.answer.context_texts)
    if not contexts:
        return not_applicable(NO_TEXT if no_context_text(subject) else "nothing was retrieved")
    verdicts = subject.facts.checks[FOUND]
    if failure := _failed(verdicts):
        return unscored(failure, contexts=contexts, **_judged(verdicts))
    if not verdicts.items:
        return not_applicable(NO_REFERENCE_CLAIM)
    relevant = _sources(verdicts)
    return scored(len(relevant) / contexts, contexts=contexts, relevant=len(relevant))


def context_utilization(subject: Subject) -> MetricValue:
    """Claims of the reference that a context and the answer support / claims of the reference that a context supports."""
    if no_context_text(subject):
        return not_applicable(NO_TEXT)
    verdicts = subject.facts.checks[FOUND]
    supported = {item.number for item in verdicts.items if item.label == SUPPORTED}
    if supported and is_empty(subject):
        return scored(0.0, retrieved=len(supported), used=0, empty_answer=True)
    if failure := verdicts.unscored:
        return unscored(failure, **_judged(verdicts))
    if not supported:
        return not_applicable("the contexts support no claim of the reference", reference_claims=len(verdicts.items))
    recalled = subject.facts.checks[RECALLED]
    # whether the answer makes a claim that was not retrieved is not asked here
    needed = ItemVerdicts(tuple(item for item in recalled.items if item.number in supported), recalled.failure)
    if failure := needed.unscored:
        return unscored(failure, retrieved=len(supported), **_judged(recalled))
    used = needed.count(SUPPORTED)
    return scored(used / len(supported), retrieved=len(supported), used=used)


def _share(counted: Callable[[Claim], bool], *, relevance: bool) -> Callable[[Subject], MetricValue]:
    """The function of a metric: claims of the answer that `counted` holds for / claims of the answer. `relevance`: it needs to know
    which contexts are relevant; without, all of them are treated alike and one check less is read."""

    def compute(subject: Subject) -> MetricValue:
        names = (RIGHT, FROM, FOUND) if relevance else (RIGHT, FROM)
        if is_empty(subject):
            return says_nothing(subject)
        if no_context_text(subject):
            return not_applicable(NO_TEXT)
        checks = {name: subject.facts.checks[name] for name in names}
        for name, checked in checks.items():
            if failure := _failed(checked) if relevance and name != RIGHT else checked.unscored:
                return unscored(failure, **_judged(checked))
        claims = _claims(checks[RIGHT], checks[FROM], _sources(checks[FOUND]) if relevance else frozenset())
        if not claims:
            return says_nothing(subject)
        count = sum(map(counted, claims))
        return scored(count / len(claims), claims=len(claims), counted=count)

    return compute


def _claims(right: ItemVerdicts, origin: ItemVerdicts, relevant: frozenset[int]) -> list[Claim]:
    verdicts = {item.number: item.label == SUPPORTED for item in right.items}
    claims = []
    for item in origin.items:
        supported, sources = item.label == SUPPORTED, frozenset(item.sources)
        # a supported claim comes from somewhere, also where a judge names no context: then `relevant` is not asked for (see _failed)
        irrelevant = supported and (not sources or bool(sources - relevant))
        claims.append(Claim(verdicts[item.number], relevant=supported and bool(sources & relevant), irrelevant=irrelevant))
    return claims


def _sources(checked: ItemVerdicts) -> frozenset[int]:
    """Numbers of the contexts that support an item."""
    return frozenset(number for item in checked.items if item.label == SUPPORTED for number in item.sources)


def _failed(checked: ItemVerdicts) -> Failure | None:
    """As ItemVerdicts.unscored; also a supported item without a context: then it is not known which contexts are relevant."""
    nowhere = next((item for item in checked.items if item.label == SUPPORTED and not item.sources), None)
    if checked.unscored is None and nowhere is not None:
        return Failure("missing_item", f"item {nowhere.number} is called supported, but by no context")
    return checked.unscored


def _judged(checked: ItemVerdicts) -> dict[str, int]:
    return {"items": len(checked.items), "judged": checked.judged}


def _metric(name: str, summary: str, definition: str, counted: Callable[[Claim], bool], *, relevance: bool) -> Metric:
    asks = (CLAIMS, REFERENCE_CLAIMS, RIGHT, FROM, FOUND) if relevance else (CLAIMS, RIGHT, FROM)
    return Metric(
        name=name, group="grounding", summary=summary, definition=definition, source=PAPER, compute=_share(counted, relevance=relevance),
        needs=BOTH, asks=asks, tools=("judge",), calls="5" if relevance else "3", better="lower",
    )


METRICS: tuple[Metric, ...] = (
    Metric(
        name="factual_correctness_compat", group="answers", summary="RAGChecker's F1: the harmonic mean of both shares.",
        definition="2PR / (P + R). P: claims of the answer that the reference supports / claims of the answer. R: claims of the "
        "reference that the answer says / claims of the reference. It differs from factual_correctness where the two lists are of "
        "unlike grain.",
        source=PAPER, compute=harmonic, needs=("reference",), asks=(CLAIMS, REFERENCE_CLAIMS, RIGHT, RECALLED), tools=("judge",), calls="4",
        aspects=("precision", "recall"),
    ),
    Metric(
        name="context_precision_compat", group="retrieval", summary="RAGChecker's context precision, from claims.",
        definition="contexts that support at least one claim of the reference / contexts with a text. `context_precision` asks how "
        "relevant a context is to the question instead: a context may be relevant and support no claim of a short reference.",
        source=PAPER, compute=context_precision, needs=BOTH, asks=(REFERENCE_CLAIMS, FOUND), tools=("judge",), calls="2",
    ),
    Metric(
        name="context_utilization", group="grounding", summary="Of the right claims that were retrieved, the share that the answer makes.",
        definition="claims of the reference that both a context and the answer support / claims of the reference that a context "
        "supports. An empty answer uses none: 0. Contexts that support no claim of the reference: not applicable.",
        source=PAPER, compute=context_utilization, needs=BOTH, asks=(REFERENCE_CLAIMS, FOUND, RECALLED), tools=("judge",), calls="3",
    ),
    _metric(
        "noise_sensitivity_relevant", "Wrong claims that come from relevant contexts.",
        "claims of the answer that the reference does not support and a relevant context does / claims of the answer. A context is "
        "relevant if it supports a claim of the reference.",
        lambda claim: not claim.right and claim.relevant, relevance=True,
    ),
    _metric(
        "noise_sensitivity_irrelevant", "Wrong claims that come from irrelevant contexts only.",
        "claims of the answer that the reference does not support, an irrelevant context does, and no relevant one / claims of the "
        "answer. With noise_sensitivity_relevant and hallucination it adds up to the share of wrong claims.",
        lambda claim: not claim.right and claim.irrelevant and not claim.relevant, relevance=True,
    ),
    _metric(
        "hallucination", "Wrong claims that no context supports.",
        "claims of the answer that neither the reference nor a context supports / claims of the answer",
        lambda claim: not claim.right and claim.unsupported, relevance=False,
    ),
    _metric(
        "self_knowledge", "Right claims that no context supports: known by the model, not read.",
        "claims of the answer that the reference supports and no context does / claims of the answer",
        lambda claim: claim.right and claim.unsupported, relevance=False,
    ),
)
