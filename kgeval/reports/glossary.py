"""Technical words of all reports with one plain sentence each. A page shows the sentence where somebody points at the word, and lists the
words that it uses at its end, for paper and for screens without a pointer."""

from __future__ import annotations

import re
from typing import Any

from kgeval.format import visible

TERMS: dict[str, str] = {
    # Statistics.
    "95% CI": "A range that would hold the true value in about 95 of 100 repeated measurements: the narrower, the surer.",
    "p-value": "How often chance alone would show a difference this large, if there were none: under 0.05 counts as found.",
    "Holm": "A correction for looking at many figures at once: without it, one of 20 looks like a difference by chance.",
    "80 % power": "A real difference of this size would be found in 80 of 100 such samples.",
    "bootstrap": "An interval from drawing the questions anew many times, and seeing how much the figure moves.",
    "BCa": "A bootstrap interval that corrects for a lopsided spread of the values.",
    "sign flips": "A test that turns the sign of each question's difference at random, and counts how often chance does as well.",
    "Wilcoxon": "A test of paired values by their ranks, which single extreme values do not disturb.",
    "McNemar": "A test of two yes-or-no results on the same items, by the items where they differ.",
    "permutation": "A test that mixes the two sides at random many times, and counts how often chance does as well.",
    "Cohen's d": "The mean difference measured in standard deviations: about 0.2 is small, 0.5 middling, 0.8 large.",
    "Cohen's kappa": "Agreement beyond chance: 1 is perfect, 0 is what guessing gives.",
    "Krippendorff's alpha": "Agreement of several labellers beyond chance: 1 is perfect, 0 is what guessing gives.",
    "Kendall's tau": "How alike two orders are: 1 is the same order, 0 no relation, -1 the reverse.",
    "Spearman": "How well two rankings go together: 1 is the same order, 0 no relation, -1 the reverse.",
    "confidence sequence": "An interval that stays right however often somebody looks at the results while they come in.",
    "always valid": "Right however often somebody looked at the results before the end.",
    "PPI++": "A way to correct many verdicts of a judge by a few labels of people.",
    "Rogan-Gladen": "A way to correct a judge's rate by how often it is known to be wrong in either direction.",
    "AUC": "The chance that a right answer scores higher than a wrong one: 1 tells all apart, 0.5 is guessing.",
    "median": "The value in the middle: half of all values are below it.",
    "outliers": "Values that lie far from all others.",
    "clustered": "Counted by groups of questions that belong together, because such questions are not independent.",
    # Comparisons of systems.
    "relative win rate": "The share of questions that A wins, minus the share that B wins: 0 % is a draw, +100 % means A wins all.",
    "judge bias": "What sways the judge besides quality: the place of an answer, its length, its form.",
    "verdict flips": "The judge names another winner when the same two answers are shown in the other order.",
    "first place wins": "How often the answer that stands first wins: 50 % means that the place does not matter.",
    "at equal lengths": "The rate that is to be expected if both answers had the same number of words.",
    "Bradley-Terry": "A strength for each system, such that the difference of two says how likely one beats the other.",
    "A/A": "A system compared with a second run of itself: there should be no difference.",
    "anchors": "Pairs of answers with known verdicts, judged in every run to see whether the judge has changed.",
    "average win rate": "The share of questions won against all other systems; ties count half.",
    # Scores of answers.
    "F1": "One figure for precision and recall together: it is high only if both are.",
    "precision": "Of what was returned or said, the share that is right.",
    "recall": "Of what should have been returned or said, the share that was.",
    "nDCG": "How good a ranked list is, where hits at the top count more: 1 is the best order.",
    "MRR": "How early the first right hit stands: 1 is always at the top, 0.5 on average second.",
    "ROUGE-L": "How much of the reference stands in the answer, word for word in the same order.",
    "BLEU": "How many short runs of words an answer shares with the reference.",
    "faithfulness": "The share of what the answer says that the passages it was given support.",
    "hallucination": "Something that the answer says and no source supports.",
    "groundedness": "How far what is said rests on the sources that were given.",
    "semantic similarity": "How near two texts are in meaning, by their embeddings.",
    "embedding": "A list of numbers for a text: texts of like meaning get like numbers.",
    "closed book": "The model is asked without any source: what it knows already needs no retrieval.",
    "contamination": "The model may have seen the questions or answers in training, so good scores prove little.",
    "standard error": "How far a mean of these runs may lie from the mean of very many runs.",
    "quartiles": "A quarter of the values lie below the first, half below the second, three quarters below the third.",
    "multi-hop": "A question that needs several facts, each leading to the next.",
    # Audits of graphs.
    "modularity": "How clearly a graph falls into groups: above 0.3 the groups are clear.",
    "clustering": "How often two neighbours of an entity are joined with each other: 1 always, 0 never.",
    "density": "Pairs of entities that are joined, of all pairs there could be.",
    "degree": "The number of relations at an entity.",
    "component": "A part of the graph that no relation joins with the rest: a search never leaves it.",
    "communities": "Groups of entities that are joined closely among themselves.",
    "isolated": "Without any relation: a search along relations never arrives there.",
    "articulation points": "Entities that hold a part of the graph together: without one, the part falls in two.",
    "bridges": "Relations that hold a part of the graph together: without one, the part falls in two.",
    "diameter": "The longest of all shortest ways between two entities.",
    "adjusted Rand index": "How alike two groupings are: 1 is the same, 0 is no more than chance.",
    "likely duplicates": "Entities whose names are variants of each other, and that are probably one thing.",
    "over-merged": "Several different things that were made into one entity.",
    "waived": "Found, and accepted by a rule of the project.",
    "super-nodes": "Entities with very many relations, which make searches slow and vague.",
}
ALIASES: dict[str, str] = {
    "95 %": "95% CI", "p": "p-value", "p-values": "p-value", "kappa": "Cohen's kappa", "kappas": "Cohen's kappa",
    "d": "Cohen's d", "alpha": "Krippendorff's alpha", "tau": "Kendall's tau", "relative": "relative win rate",
    "relative win rates": "relative win rate", "sign-flip": "sign flips", "flips": "verdict flips",
    "interval": "95% CI", "intervals": "95% CI", "confidence sequences": "confidence sequence", "medians": "median",
    "anchor": "anchors", "embeddings": "embedding", "hallucinations": "hallucination", "components": "component",
    "degrees": "degree", "community": "communities", "clustering coefficient": "clustering",
    "isolated entities": "isolated", "over-merged entities": "over-merged",
    "likely duplicates (name variants)": "likely duplicates", "super-node": "super-nodes",
}
WHOLE = frozenset({
    "clustering", "p", "d", "95 %", "alpha", "tau", "relative", "flips", "interval", "intervals", "community", "degree", "degrees",
})
_NAMES = {name.lower(): term for name, term in ({term: term for term in TERMS} | ALIASES).items()}
_TERM = re.compile(
    r"(?<![\w-])(?:" + "|".join(re.escape(name) for name in sorted(_NAMES, key=len, reverse=True) if name not in WHOLE) + r")(?![\w-])",
    re.IGNORECASE,
)


class Words:
    """The technical words of one page. `used`: those that were met, with their sentences."""

    def __init__(self) -> None:
        self.used: dict[str, str] = {}

    def explain(self, text: str, longest: int = 900) -> Any:
        """A text as `visible` shows it, for a page: escaped, each technical word in it once with its sentence. A word that has other
        meanings in a sentence (`p`, `relative`) only where it stands alone, as the head of a column does."""
        from markupsafe import Markup, escape

        line = visible(text, longest=longest)
        if line.lower() in WHOLE:
            return self._marked(line)
        parts, at, seen = [], 0, set()
        for match in _TERM.finditer(line):
            term = _NAMES[match[0].lower()]
            if term not in seen:
                seen.add(term)
                parts += [escape(line[at : match.start()]), self._marked(match[0])]
                at = match.end()
        return Markup("").join([*parts, escape(line[at:])])

    def _marked(self, word: str) -> Any:
        from markupsafe import Markup

        term = _NAMES[word.lower()]
        self.used[term] = TERMS[term]
        return Markup('<abbr title="{}">{}</abbr>').format(TERMS[term], word)

    def listed(self) -> list[tuple[str, str]]:
        """The words that were met so far, in the order of the alphabet."""
        return sorted(self.used.items(), key=lambda pair: pair[0].lower())
