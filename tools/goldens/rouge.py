"""ROUGE-L of the rouge-score package, with its stemmer: F-measure of whole strings."""

from __future__ import annotations

from typing import Any

from common import write
from rouge_score.rouge_scorer import RougeScorer

PAIRS = (
    ("the cat sat on the mat", "the cat sat on the mat"),
    ("The cats were sitting on mats.", "the cat sat on the mat"),
    ("Ada Lovelace wrote the first program in 1843", "The first program was written by Ada Lovelace in 1843."),
    ("running runs runner ran", "run running"),
    ("flies dies lies", "fly die lie"),
    ("COVID-19 isn't over; it's 2.5 times worse", "COVID 19 is not over and 2.5x worse"),
    ("", "something"), ("something", ""), ("", ""), ("!!!", "???"),
    ("Żółta łódź płynie", "Żółta łódź płynie"), ("北京是中国的首都", "北京是中国的首都"), ("Straße in Köln", "strasse in koeln"),
    ("a b c d e f g h", "h g f e d c b a"), ("a a a b", "a b b a"),
    ("generalization organizational relational conditional", "generalize organize relate condition"),
)


def main() -> None:
    scorer = RougeScorer(["rougeL"], use_stemmer=True)
    cases: list[dict[str, Any]] = [
        {"answer": answer, "reference": reference, "theirs": scorer.score(reference, answer)["rougeL"].fmeasure}
        for answer, reference in PAIRS
    ]
    write("rouge", ("rouge_score",), cases)


if __name__ == "__main__":
    main()
