"""Words shared with the reference: exact match, token F1, ROUGE-L, BLEU, chrF, and the originals that are made for English."""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING, NamedTuple, Protocol

from kgeval.metrics.definition import Metric, MetricValue, Subject, not_applicable, scored
from kgeval.metrics.shares import is_empty, zero_for_empty
from kgeval.metrics.words import lcs_length, words

if TYPE_CHECKING:
    from pydantic import JsonValue
    from sacrebleu.metrics import BLEU, CHRF

_ARTICLE = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)
_REMEMBERED = 50  # letters: what is longer is hardly a word, and would fill the memory


class WordOverlap(NamedTuple):
    """How far an answer and one reference agree (`value` in 0..1), and on what counts that rests."""

    value: float
    common: int
    answer_words: int
    reference_words: int
    precision: float
    recall: float


def f_measure(common: int, answer: int, reference: int) -> WordOverlap:
    """Precision common / answer, recall common / reference, and their harmonic mean; 0 where nothing is common."""
    if not common:
        return WordOverlap(0.0, 0, answer, reference, 0.0, 0.0)
    return WordOverlap(2 * common / (answer + reference), common, answer, reference, common / answer, common / reference)


def shared_words(one: Sequence[str], other: Sequence[str]) -> WordOverlap:
    """Words in common as often as both have them. Two empty lists are equal, one is nothing: as SQuAD 2 has it."""
    if not one or not other:
        return WordOverlap(float(one == other), 0, len(one), len(other), float(one == other), float(one == other))
    return f_measure((Counter(one) & Counter(other)).total(), len(one), len(other))


def squad_text(text: str) -> str:
    """SQuAD's own normalisation (evaluate-v2.0): lower case, ASCII punctuation deleted, English articles deleted, spaces joined."""
    return " ".join(_ARTICLE.sub(" ", text.lower().translate(_PUNCTUATION)).split())


def squad_words(text: str) -> list[str]:
    """The words of SQuAD's normal form."""
    return squad_text(text).split()


def rouge_words(text: str) -> list[str]:
    """The words as the package rouge-score makes them with its stemmer: runs of a-z and 0-9, Porter stems from 4 letters on.

    A Chinese text has no words by it and scores 0 against itself, which is why `rouge_l` has words of its own."""
    from rouge_score import tokenize

    stems: list[str] = tokenize.tokenize(text, _stemmer())
    return stems


class Stemmer(Protocol):
    """What rouge-score's tokenizer needs."""

    def stem(self, word: str) -> str: ...


@cache
def _stemmer() -> Stemmer:
    """The package's stemmer, which loads slowly and stems slowly: made once, and each word is stemmed once."""
    from nltk.stem.porter import PorterStemmer

    plain: Callable[[str], str] = PorterStemmer().stem

    class Remembering:
        known = staticmethod(lru_cache(50_000)(plain))

        def stem(self, word: str) -> str:
            return self.known(word) if len(word) <= _REMEMBERED else plain(word)

    return Remembering()


def _same(one: Sequence[str], other: Sequence[str]) -> WordOverlap:
    return WordOverlap(float(one == other), 0, len(one), len(other), 0.0, 0.0)


def _longest(one: Sequence[str], other: Sequence[str]) -> WordOverlap:
    return f_measure(lcs_length(one, other), len(one), len(other))


def _all_words(text: str) -> list[str]:
    return words(text, articles=True)


Compare = Callable[[Sequence[str], Sequence[str]], WordOverlap]


def _metric_of(compare: Compare, split: Callable[[str], list[str]], common: str | None) -> Callable[[Subject], MetricValue]:
    """A metric's function: the best of the references. `common`: what the common words are called in the detail; None: no counts."""

    def compute(subject: Subject) -> MetricValue:
        if is_empty(subject):
            return zero_for_empty()
        references = subject.row.question.right_answers
        if not any(_all_words(text) for text in references):
            return not_applicable("the reference has no words")
        answer = split(subject.row.answer.answer)
        overlaps = [compare(answer, split(text)) for text in references]
        best = max(range(len(overlaps)), key=lambda n: overlaps[n].value)
        return scored(overlaps[best].value, **_detail(overlaps[best], common), **({"reference": best + 1} if len(overlaps) > 1 else {}))

    return compute


def _detail(found: WordOverlap, common: str | None) -> dict[str, JsonValue]:
    if common is None:
        return {}
    return {
        common: found.common, "answer_words": found.answer_words, "reference_words": found.reference_words,
        "precision": found.precision, "recall": found.recall,
    }


@cache
def _bleu(tokenizer: str) -> BLEU:
    """sacrebleu's sentence BLEU: orders of n-grams that the answer is too short for do not count, others without a match are smoothed."""
    from sacrebleu.metrics import BLEU

    return BLEU(tokenize=tokenizer, effective_order=True)


@cache
def _chrf() -> CHRF:
    from sacrebleu.metrics import CHRF

    return CHRF()


def _sacrebleu(of: Callable[[Subject], BLEU | CHRF]) -> Callable[[Subject], MetricValue]:
    """A metric's function: the package's score of one answer with all references, of 100. It passes 100 by its last digits."""

    def compute(subject: Subject) -> MetricValue:
        if is_empty(subject):
            return zero_for_empty()
        references = [text for text in subject.row.question.right_answers if _all_words(text)]
        if not references:
            return not_applicable("the reference has no words")
        return scored(max(0.0, min(1.0, of(subject).sentence_score(subject.row.answer.answer, references).score / 100)))

    return compute


_PR = ("precision", "recall")
_BEST = "Several references: the best one. An empty answer is 0."
_WORDS = (
    "Words: NFKC, case-folded, without punctuation but for signs that carry meaning (C#, HER2-, 5%); letters of scripts without spaces are "
    "words of their own"
)

METRICS: tuple[Metric, ...] = (
    Metric(
        "exact_match", "answers", "The answer is the reference, word for word.",
        f"1 if the answer and a reference have the same words, else 0. {_WORDS}; English articles are dropped. {_BEST}",
        "Rajpurkar et al. 2016 (SQuAD), made safe for every script", _metric_of(_same, words, None), needs=("reference",),
    ),
    Metric(
        "exact_match_compat", "answers", "Exact match as SQuAD's own script computes it.",
        f"1 if both are equal in lower case without ASCII punctuation and English articles, else 0. {_BEST}",
        "Rajpurkar et al. 2016, 2018 (SQuAD), evaluate-v2.0", _metric_of(_same, squad_words, None), needs=("reference",),
    ),
    Metric(
        "token_f1", "answers", "Words shared with the reference.",
        f"2 * common / (answer words + reference words), a word counted as often as both have it. {_WORDS}; English articles are "
        f"dropped. {_BEST}",
        "Rajpurkar et al. 2016 (SQuAD), made safe for every script", _metric_of(shared_words, words, "common"), needs=("reference",),
        aspects=_PR,
    ),
    Metric(
        "token_f1_compat", "answers", "Token F1 as SQuAD's own script computes it.",
        f"token_f1 on words in lower case without ASCII punctuation and English articles; two sides without words: 1. {_BEST}",
        "Rajpurkar et al. 2016, 2018 (SQuAD), evaluate-v2.0", _metric_of(shared_words, squad_words, "common"), needs=("reference",),
        aspects=_PR,
    ),
    Metric(
        "rouge_l", "answers", "Longest common subsequence with the reference.",
        f"2 * L / (answer words + reference words), L the longest common subsequence of words. {_WORDS}; articles stay, no stemmer. "
        f"{_BEST}",
        "Lin 2004 (ROUGE-L, F with beta 1), made safe for every script", _metric_of(_longest, _all_words, "lcs"), needs=("reference",),
        aspects=_PR,
    ),
    Metric(
        "rouge_l_compat", "answers", "ROUGE-L as the rouge-score package computes it.",
        "F of rougeL of the package rouge-score with its stemmer: words are runs of a-z and 0-9, so a text in another script scores 0 "
        f"even against itself. {_BEST}",
        "rouge-score 0.1.2, use_stemmer=True; [X 4.1]", _metric_of(_longest, rouge_words, "lcs"), needs=("reference",), aspects=_PR,
    ),
    Metric(
        "bleu", "answers", "n-grams of the answer that are in the reference.",
        "sacrebleu's BLEU of one answer, over 100: the geometric mean of the shares of its 1- to 4-grams that a reference has (orders that "
        "it is too short for left out; an order without a match smoothed, exp), times the brevity penalty exp(1 - r / c) for an "
        "answer of c words where the nearest reference has r, more. Words as bleu_tokenizer cuts them, case kept. All references at once. "
        "The mean over answers is no corpus BLEU. An empty answer is 0.",
        "Papineni et al. 2002 (BLEU), as sacrebleu computes it; [D 2]",
        _sacrebleu(lambda subject: _bleu(subject.settings.bleu_tokenizer)), needs=("reference",), settings=("bleu_tokenizer",),
    ),
    Metric(
        "chrf", "answers", "Letters in a row that answer and reference share.",
        "sacrebleu's chrF2, over 100: F with recall counting twice as much (beta 2), of the mean precision and recall of the 1- to 6-grams "
        "of letters without spaces. Fits any script. Several references: the best one. An empty answer is 0.",
        "Popović 2015 (chrF), as sacrebleu computes it; [D 2]", _sacrebleu(lambda subject: _chrf()), needs=("reference",),
    ),
)
