"""BERTScore: how near the tokens of answer and reference are in a language model's contexts, by the package bert-score."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kgeval.errors import ModelError, first_line, library
from kgeval.metrics.definition import Metric, MetricValue, Subject, not_applicable, scored
from kgeval.metrics.shares import is_empty, zero_for_empty

if TYPE_CHECKING:
    from bert_score import BERTScorer

PACKAGE = "bert_score"


@cache
def load_scorer(model: str) -> BERTScorer:
    """The package's scorer with this model: a name of the hub or a folder, loaded once. Its layer is the one that the package chose for the
    model (by its name, also of a folder that is called so), else the last.

    Raises: ConfigError where the package is missing; ModelError where the model cannot be had.
    """
    package = library(PACKAGE)
    from kgeval.llm.embed_sources import local_place, quiet

    with quiet():
        place, offline = local_place(model)
        layers = package.utils.model2layers
        try:
            layer = layers.get(model) or layers.get(Path(place).name) or _layers(place, offline=offline)
            scorer: BERTScorer = package.BERTScorer(model_type=place, num_layers=layer)
        except (OSError, ValueError, RuntimeError, KeyError, AssertionError, AttributeError) as cause:
            raise ModelError(
                f"model {model} of bertscore cannot be loaded: {first_line(cause, longest=200)}",
                fix="give bertscore_model a model of BERT's kind: a folder or a name of the hub",
            ) from cause
    return scorer


def _layers(place: str, *, offline: bool) -> int:
    return int(library("transformers").AutoConfig.from_pretrained(place, local_files_only=offline).num_hidden_layers)


def _f1(subject: Subject) -> MetricValue:
    """F1 against the reference that is nearest by it."""
    if is_empty(subject):
        return zero_for_empty()
    references = [text for text in subject.row.question.right_answers if text.strip()]
    if not references:
        return not_applicable("the reference has no words")
    model, answer = subject.settings.bertscore_model, subject.row.answer.answer
    scorer: Any = load_scorer(model)
    try:
        precision, recall, f1 = (part.tolist() for part in scorer.score([answer] * len(references), references))
    except (RuntimeError, ValueError, IndexError, OverflowError) as cause:
        raise ModelError(
            f"{model}: bertscore failed: {first_line(cause, longest=200)}", fix="give bertscore_model another model of BERT's kind",
        ) from cause
    best = max(range(len(references)), key=lambda n: f1[n])
    several = {"reference": best + 1} if len(references) > 1 else {}
    return scored(_share(f1[best]), precision=_share(precision[best]), recall=_share(recall[best]), **several)


def _share(value: float) -> float:
    """A mean of cosines, which may pass 0 and 1 by its last digits."""
    return max(0.0, min(1.0, value))


METRICS: tuple[Metric, ...] = (
    Metric(
        "bertscore", "answers", "Tokens of answer and reference matched by a language model's vectors.",
        "F1 of BERTScore: each token's highest cosine with a token of the other text, averaged over the answer (precision) and over the "
        "reference (recall), without weights by rarity and not rescaled, so that texts with nothing in common get about 0.8 "
        "(roberta-large). Model: bertscore_model; text beyond its window does not count. Several references: the nearest. An empty "
        "answer is 0.",
        "Zhang et al. 2020 (BERTScore), package bert-score; [D 2]", _f1, needs=("reference",), tools=("bert-score",),
        settings=("bertscore_model",), aspects=("precision", "recall"),
    ),
)
