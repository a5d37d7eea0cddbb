"""Agreement with people on RAGChecker's answer pairs: what docs/results-human.md says is what comes out here."""

from __future__ import annotations

import re

import pytest
from human_pairs import ASPECTS, RESULTS, differences, documented, pairs, spearman
from test_metrics_lexical import number

MEASURED = ("token_f1", "token_f1_compat", "rouge_l", "rouge_l_compat")
# given with the data for all 560 labels; this half may differ by sampling
FULL_SET = {
    "rouge_l_compat": (0.43, 0.53, 0.52), "token_f1": (0.40, 0.54, 0.51), "length in words": (0.05, 0.42, 0.25),
}


def measured(name: str) -> list[float]:
    if name == "length in words":
        return spearman(differences(lambda answer, _: float(len(answer.split()))))
    return spearman(differences(lambda answer, reference: number(name, answer, reference)))


@pytest.mark.slow
@pytest.mark.parametrize("name", [*MEASURED, "length in words"])
def test_the_documented_agreement_is_what_is_measured(name: str) -> None:
    assert measured(name) == pytest.approx(documented(name), abs=0.006)


@pytest.mark.slow
@pytest.mark.parametrize("name", FULL_SET)
def test_the_half_stays_near_the_figures_of_the_full_set(name: str) -> None:
    assert measured(name) == pytest.approx(FULL_SET[name], abs=0.09)


def test_the_other_annotator_is_as_documented() -> None:
    """Both directions, so that neither of the two is the first."""
    from scipy.stats import spearmanr

    found: dict[tuple[str, str], list[dict[str, float]]] = {}
    for pair in pairs():
        found.setdefault((pair["dataset"], pair["query_id"]), []).append(pair)
    assert len(found) == 139 and {len(both) for both in found.values()} == {2}
    for aspect, expected in zip(ASPECTS, documented("the other annotator"), strict=True):
        one, other = ([both[at][f"{aspect}_label"] for both in found.values()] for at in (0, 1))
        assert float(spearmanr(one + other, other + one).statistic) == pytest.approx(expected, abs=0.002)


def test_a_positive_label_means_that_the_second_answer_is_better() -> None:
    """Seen on the clearest cases: where both people gave 2 or -2, the answer that they prefer has the higher token F1 mostly."""
    difference = differences(lambda answer, reference: number("token_f1", answer, reference))
    clear = [(d, p["overall_label"]) for d, p in zip(difference, pairs(), strict=True) if abs(p["overall_label"]) == 2]
    assert len(clear) > 30
    assert sum((d > 0) == (label > 0) for d, label in clear) / len(clear) > 0.75


@pytest.mark.parametrize("name", ["exact_match", "exact_match_compat"])
def test_exact_match_says_nothing_of_long_answers(name: str) -> None:
    assert set(differences(lambda answer, reference: number(name, answer, reference))) == {0}


def test_the_page_names_its_half() -> None:
    assert re.search(r"139 pairs, 278 labels", RESULTS.read_text(encoding="utf-8"))
