"""Does a question say its own answer? By words, without a model: a question that leaks tests nothing.

Yes, where every word of a right answer that carries meaning stands in the question. Part of them is shown and is no
leak: a sentence as right answer repeats the words of its question. Words are compared in their normal form, whole;
scripts without spaces by character. """

from __future__ import annotations

import re

from kgeval.questions.checking.check_table import QuestionCheckOutcome, decided, is_negative, not_applicable
from kgeval.records import Question
from kgeval.text.clean import normal_form
from kgeval.text.scripts import RUNNING
from kgeval.text.wordlists import word_list

NAME = "leak"
SHOWN = 0.5  # a share of common words from which it is worth a remark
SMALL_NUMBER = 2  # digits: "2" stands in many a question by chance
_WORD = re.compile(rf"[{RUNNING}]|\d+(?:[.,:/-]\d+)*|(?:(?![{RUNNING}_\d])\w)+(?:['’](?:(?![{RUNNING}_\d])\w)+)*")
_RUNS = re.compile(rf"[{RUNNING}]+")
_LIST = re.compile(r"[,;\n|]\s*+(?:(?:and|or|und|oder|et|ou|y|e)\s++)?|(?<!\s)\s++(?:and|und|et|&)\s++")
_CHOICE = re.compile(r"\b(?:or|oder|ou|versus|vs)\b|或|还是|または", re.IGNORECASE)
_EITHER = frozenset(("yes", "no", "true", "false", "ja", "nein", "oui", "non", "si", "sí", "both", "neither", "none"))
_YES_OR_NO = _EITHER - {"both", "neither", "none"}
_SENTENCE = re.compile(r"(?<![.!?;])[.!?;]++\s++")
_GERMAN_WORDS = "bin darf durfte hat hatte hatten haben ist kann können konnte musste muss sind soll war waren werden wird wurde wurden"
_OPENING_WORDS = (
    "am are aren't can can't could did didn't do does doesn't don't had has have is isn't may might must shall should was wasn't were will "
    "would es son era eran está están ha han puede pueden tiene tienen est-ce"
)
_ASKING_WORDS = (
    "who whom whose what which where when why how wer wen wem wessen welche welcher welches wo wann warum wie woher wohin "
    "qui quel quelle quels quelles où quand pourquoi comment quién qué cuál dónde cuándo cómo"
)
_GERMAN = frozenset(_GERMAN_WORDS.split())  # before them, "was" is what and not the English verb
_OPENERS = _GERMAN | frozenset(_OPENING_WORDS.split())
_ASKING = frozenset(_ASKING_WORDS.split())


def leak(question: Question) -> QuestionCheckOutcome:
    """The check "leak": passed where the question does not say a right answer."""
    if is_negative(question):
        return not_applicable(NAME, "a negative question has no answer to give away")
    answers = question.right_answers
    if not answers:
        return not_applicable(NAME, "no right answer is given")
    question_words = words(question.question)
    outcomes = [_of_answer(question, question_words, answer) for answer in answers]
    # a question that says one of several right answers gives it away
    worst = max(outcomes, key=lambda one: ("not_applicable", "passed", "failed").index(one.status))
    return next((one for one in outcomes if one.status == worst.status and one.reason), worst)


def words(text: str) -> list[str]:
    """The words of a text in their normal form: NFKC, case-folded, without a possessive ending; numbers without
    thousands commas."""
    # twice: folding can undo the normal form
    folded = normal_form(normal_form(text, "NFKC").casefold(), "NFKC")
    return [re.sub(r"['’]s?$", "", re.sub(r"(?<=\d),(?=\d{3})", "", word)) or word for word in _WORD.findall(folded)]


def telling(found: list[str]) -> list[str]:
    """The words that carry meaning, each once."""
    empty = frozenset(word_list("function_words"))
    return list(dict.fromkeys(word for word in found if word not in empty))


def _of_answer(question: Question, asked: list[str], answer: str) -> QuestionCheckOutcome:
    """The check for one right answer."""
    meaningful = telling(words(answer))
    if not meaningful:
        return not_applicable(NAME, "the right answer has no word that carries meaning")
    if all(word in _EITHER for word in meaningful):
        return not_applicable(NAME, "the right answer is yes or no, or the like")
    if words(answer)[0] in _YES_OR_NO and all(word in asked for word in meaningful if word not in _YES_OR_NO):
        return not_applicable(NAME, "the right answer is yes or no, in a sentence")
    there = sum(word in asked for word in meaningful)
    if there < len(meaningful):
        of_items = _items(asked, answer)
        of_words = f"{there} of {len(meaningful)} words of the answer are in the question" if there >= SHOWN * len(meaningful) else ""
        return decided(NAME, True, of_items or of_words)
    # every word is there: a leak, unless the question offers the answer as one of several, or it is a small number
    kinds = (question.level or "", *question.kinds)
    if any("compar" in kind.lower() for kind in kinds) or _CHOICE.search(question.question) is not None:
        return decided(NAME, True, "the question offers the answer as one of several")  # Which is older, the mill or the lighthouse?
    if len(words(answer)) > 2 and _asks_whether(question.question):
        return not_applicable(NAME, "the question asks for yes or no, and its answer affirms it")
    if len(meaningful) == 1 and _short(meaningful[0]):
        return decided(NAME, True, f"'{meaningful[0]}' is in the question, which may be chance")
    # in scripts without spaces each character is a word: common ones stand in every question
    if _RUNS.fullmatch("".join(meaningful)) and "".join(words(answer)) not in "".join(asked):
        return decided(NAME, True, "its characters are in the question, but not together")
    return decided(NAME, False, f"the question says the answer: {' '.join(answer.split())[:100]}")


def _short(word: str) -> bool:
    return len(word) <= SMALL_NUMBER if word.isdecimal() else len(word) == 1 and word.isascii()


def _asks_whether(text: str) -> bool:
    """Whether the question asks for yes or no: "Is Mogador part of Morocco?" has to say what its answer affirms."""
    last = _SENTENCE.split(text.strip())[-1]
    clauses = [clause_words for clause in last.split(",") if (clause_words := words(clause))]
    if any(word in _ASKING for clause in clauses for word in clause):
        return False
    return any(clause[0] in _OPENERS and not (clause[0] == "was" and clause[1:2] and clause[1] in _GERMAN) for clause in clauses)


def _items(asked: list[str], answer: str) -> str:
    """How many items of an answer that is a list stand in the question; "" for none, or for an answer that is no
    list."""
    items = [item for part in _LIST.split(answer) if (item := telling(words(part)))]
    there = sum(all(word in asked for word in item) for item in items)
    return f"{there} of {len(items)} items of the answer are in the question" if len(items) > 1 and there else ""
