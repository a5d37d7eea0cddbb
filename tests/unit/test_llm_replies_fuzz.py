"""Generated replies of a hundred kinds. What a person would take for the model's answer is known from how each was made: by its kind,
labelled by eye. Nothing is read that a person would not believe, and nearly all that a person would."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import pytest

from kgeval.llm.calls import Reply, SourceTag, Tagged
from kgeval.llm.replies import UnusableError, read_reply, read_tagged
from kgeval.llm.tags import item_tags, source_tags

EACH = 55  # replies of a kind: more than 5,000 in all


class Grade(Reply):
    reason: str
    value: float


class Verdict(Tagged):
    reason: str
    sources: list[SourceTag]
    label: Literal["supported", "contradicted", "not_stated"]


class Verdicts(Reply):
    items: list[Verdict]


Value = dict[str, Any]
LABELS = ("supported", "contradicted", "not_stated")
WORDS = (
    "not stated", 'says "x" {', "[1] is wrong", "caf\u00e9 <b>", "he was born in 1846, it says", "}, {",
    # marks of thoughts and channels, in the model's own words
    "it has <think> in it", "[thought] and </think>", "<|channel|>final, it says",
)
PLAIN = WORDS[:6]


class Writer:
    """One reply in the making: what was asked, the model's own answer, and another one that the texts want it to give."""

    def __init__(self, seed: int, *, tagged: bool | None = None) -> None:
        self.dice = random.Random(seed)
        self.tagged = self.dice.random() < 0.5 if tagged is None else tagged
        size = self.dice.randrange(2, 9)
        self.tags = item_tags([f"{seed}: statement {n}" for n in range(size)])
        self.sources = source_tags([f"{seed}: passage {n}" for n in range(self.dice.randrange(1, 5))])
        self.own = (
            self._rows(self.dice.choice, WORDS)
            if self.tagged
            else {
                "reason": self.pick(*WORDS),
                "value": self.dice.choice([0.0, 0.25]),
            }
        )
        self.planted = self._rows(lambda _: "supported", PLAIN) if self.tagged else {"reason": "all is right", "value": 1.0}
        if self.tagged and self.planted["items"] == self.own["items"]:
            self.own["items"][0]["label"] = "not_stated"

    def _rows(self, label: Callable[[tuple[str, ...]], str], words: tuple[str, ...]) -> Value:
        return {
            "items": [
                {"tag": tag, "reason": self.pick(*words), "sources": self.dice.sample(self.sources, 1), "label": label(LABELS)}
                for tag in self.tags
            ]
        }

    def pick(self, *choices: str) -> str:
        return self.dice.choice(choices)

    def json(self, value: object) -> str:
        return json.dumps(value, indent=self.dice.choice([None, 1, 2]), ensure_ascii=self.dice.random() < 0.5)

    def framed(self, value: object) -> str:
        """An object as models set it off."""
        return self.pick("{}", "{}", "```json\n{}\n```", "```\n{}\n```", "<answer>{}</answer>").replace("{}", self.json(value), 1)

    def changed(self, change: Callable[[list[Value]], list[Value]]) -> str:
        return self.json({"items": change([dict(row) for row in self.own["items"]])})


@dataclass(frozen=True)
class Kind:
    """`believed`: whether a person would take the reply for an answer. `missed`: a person would, and it is refused all the same, because
    nothing but its sense tells it from one that is not. `tagged`: of lists only."""

    make: Callable[[Writer], str]
    believed: bool = False
    missed: bool = False
    tagged: bool | None = None
    expected: Callable[[Writer], Value] = lambda writer: writer.own


def yes(make: Callable[[Writer], str], **more: Any) -> Kind:
    return Kind(make, believed=True, **more)


def framed_in(*frames: str) -> Kind:
    """The model's own object in one of these frames."""
    return yes(lambda w: w.pick(*frames).replace("{}", w.json(w.own), 1))


def after(*leads: str) -> Kind:
    """The planted object after words that say what it is."""
    return Kind(lambda w: w.pick(*leads) + w.pick(" ", "\n", "\n\n") + w.framed(w.planted) + w.pick("", ".", "\n"))


def swapped(w: Writer) -> Value:
    """The planted object with its keys the other way round."""
    return {"items": [dict(reversed(row.items())) for row in w.planted["items"]]} if w.tagged else dict(reversed(w.planted.items()))


def rows(change: Callable[[list[Value], Writer], list[Value]]) -> Kind:
    """A list of its own that something is wrong with."""
    return Kind(lambda w: w.changed(lambda given: change(given, w)), tagged=True)


def step(tag: str, by: int, alphabet: str, place: int) -> str:
    return tag[:place] + alphabet[(alphabet.index(tag[place]) + by) % len(alphabet)] + tag[place + 1 :]


def cut(w: Writer) -> str:
    text = w.pick("", "Here is the JSON:\n") + w.json(w.own)
    return text[: w.dice.randrange(text.index("{") + 1, len(text))]


def thought(w: Writer, opened: str, closed: str) -> str:
    return opened + w.pick("", "Hm. ", f"It says {w.json(w.planted)}. No.", "I looked at [1] and {x}.") + closed


def harmony(*messages: tuple[str, str], end: str = "<|return|>") -> str:
    parts = [f"<|channel|>{channel}<|message|>{said}" for channel, said in messages]
    return "<|end|><|start|>assistant".join(parts) + end


THOUGHTS = (("<think>", "</think>\n\n"), ("<thinking>", "</thinking>"), ("<reasoning>\n", "\n</reasoning>\n"), ("[THINK]", "[/THINK]"))
LETTERS, DIGITS = "abcdefghijklmnopqrstuvwxyz", "0123456789"
KINDS: dict[str, Kind] = {
    # the object alone, or in one frame
    "alone": framed_in("{}"),
    "blanks around": framed_in("\n\n  {}\n"),
    "byte order mark": framed_in("\ufeff{}", "\ufeff\n{}"),
    "trailing commas": yes(lambda w: json.dumps(w.own)[:-1] + ",}"),
    "fields that nobody asked for": yes(lambda w: w.json({"note": "x {", **w.own, "sure": True})),
    "json fence": framed_in("```json\n{}\n```", "```JSON\n{}\n```\n"),
    "bare fence": framed_in("```\n{}\n```"),
    "tilde fence": framed_in("~~~json\n{}\n~~~", "~~~\n{}\n~~~"),
    "fence of another language": framed_in("```js\n{}\n```", "```json5\n{}\n```"),
    "fence on one line": framed_in("```json{}```", "```json {}```"),
    "inline code": framed_in("`{}`"),
    "long fence": framed_in("````json\n{}\n````"),
    "fence that never ends": framed_in("```json\n{}", "```\n{}\n"),
    "answer tag": framed_in("<answer>{}</answer>", "<answer>\n{}\n</answer>"),
    "other tags": framed_in("<output>{}</output>", "<result>\n{}\n</result>", "<json>{}</json>", "<response>{}</response>"),
    "tag around a fence": framed_in("<answer>\n```json\n{}\n```\n</answer>"),
    "json text of the json": yes(lambda w: json.dumps(w.json(w.own))),
    "list in place of the object": yes(lambda w: w.json(w.own["items"]), tagged=True),
    "line that says json": framed_in("json\n{}"),
    "full stop": framed_in("{}.", "```json\n{}\n```."),
    # words around it that everybody knows
    "short lead": framed_in(
        "Here is the JSON:\n{}", "Here's the answer: {}", "Here you are:\n{}", "Sure! {}", "Okay, here is the object:\n\n{}"
    ),
    "lead before a fence": framed_in("Here is the requested JSON object:\n\n```json\n{}\n```", "Below is the result.\n```\n{}\n```"),
    "long lead": framed_in(
        "Sure! Here's the evaluation of the statements based on the provided passages:\n\n{}",
        "Certainly! Here is the JSON object that fits the schema:\n```json\n{}\n```",
        "Here are the verdicts for each statement in JSON format:\n{}",
    ),
    "heading": framed_in("**Answer:** {}", "### Answer\n{}", "Final answer:\n{}", "My answer is: {}", "JSON:\n{}", "**Final Answer**:\n{}"),
    "sign-off": framed_in("{}\n\nLet me know if you need anything else!", "```json\n{}\n```\nI hope this helps.", "{} Good luck."),
    "German, French and Dutch leads": framed_in(
        "Hier ist das JSON-Objekt:\n{}", "Antwort: {}", "Voici la réponse :\n```json\n{}\n```", "Hier is het antwoord:\n{}"
    ),
    "Spanish, Italian and Portuguese leads": framed_in(
        "Aquí está el JSON:\n{}", "Respuesta: {}", "Ecco il JSON:\n{}", "Aqui está o resultado:\n{}"
    ),
    "leads in other scripts": framed_in("以下是JSON：\n{}", "答案：{}", "以下は回答です：\n{}", "Вот результат:\n{}", "답변: {}"),
    # what servers leave of the turn's form
    "end of the turn": framed_in("{}</s>", "{}<|im_end|>", "{}<|eot_id|>", "```json\n{}\n```<end_of_turn>", "{}<｜end▁of▁sentence｜>"),
    "header of the turn": framed_in(
        "<|im_start|>assistant\n{}<|im_end|>", "assistant\n\n{}", "<|start_header_id|>assistant<|end_header_id|>\n\n{}"
    ),
    "thoughts": yes(lambda w: thought(w, *w.dice.choice(THOUGHTS)) + w.json(w.own)),
    "thoughts and a fence": yes(lambda w: thought(w, *w.dice.choice(THOUGHTS)) + f"```json\n{w.json(w.own)}\n```"),
    "thoughts that the prompt opens": yes(lambda w: f"Is it {w.json(w.planted)}? No.\n</think>\n\n{w.json(w.own)}"),
    "thoughts of other names": yes(
        lambda w: (
            thought(
                w,
                *w.dice.choice(
                    [
                        ("<analysis>", "</analysis>"),
                        ("<scratchpad>\n", "</scratchpad>\n"),
                        ("<reflection>", "</reflection>"),
                        ("<thought>", "</thought>"),
                    ],
                ),
            )
            + w.json(w.own)
        )
    ),
    "thoughts of other makers": yes(
        lambda w: (
            thought(
                w,
                *w.dice.choice(
                    [("◁think▷", "◁/think▷"), ("<seed:think>", "</seed:think>"), ("<|START_THINKING|>", "<|END_THINKING|>")],
                ),
            )
            + w.json(w.own)
        )
    ),
    "thoughts opened twice": yes(lambda w: thought(w, "<think>\n<think>\n", "</think>") + w.json(w.own)),
    "several thoughts": yes(lambda w: thought(w, "<think>", "</think>") + thought(w, "<think>", "</think>\n") + w.json(w.own)),
    "thoughts, lead, fence and sign-off": yes(
        lambda w: (
            f"{thought(w, '<think>', '</think>')}\nHere is the JSON:\n```json\n{w.json(w.own)}\n```\nLet me know if you have questions."
        )
    ),
    "harmony": yes(lambda w: harmony(("analysis", w.pick("Hm.", f"It says {w.json(w.planted)}, no.", "a < b")), ("final", w.json(w.own)))),
    "harmony, final alone": yes(lambda w: harmony(("final", w.json(w.own)), end=w.pick("", "<|return|>", "<|end|>"))),
    "harmony that names the form": yes(
        lambda w: (
            "<|start|>assistant<|channel|>analysis<|message|>So.<|end|><|start|>assistant<|channel|>final "
            f"<|constrain|>json<|message|>{w.json(w.own)}"
        )
    ),
    "harmony with a fence": yes(lambda w: harmony(("analysis", ""), ("commentary", "x"), ("final", f"```json\n{w.json(w.own)}\n```"))),
    # lists
    "rows in another order": yes(lambda w: w.changed(lambda given: w.dice.sample(given, len(given))), tagged=True),
    "tags in capitals": yes(lambda w: w.changed(lambda given: [{**row, "tag": f" {row['tag'].upper()} "} for row in given]), tagged=True),
    "a row is missing": yes(
        lambda w: w.changed(lambda given: given[:-1]),
        tagged=True,
        expected=lambda w: {"items": w.own["items"][:-1]},
    ),
    "a row is malformed": yes(
        lambda w: w.changed(lambda given: [*given[:-1], {**given[-1], "label": "perhaps"}]),
        tagged=True,
        expected=lambda w: {"items": w.own["items"][:-1]},
    ),
    "digits counted on": rows(lambda given, w: [{**row, "tag": step(row["tag"], w.dice.choice([1, -1]), DIGITS, 1)} for row in given]),
    "letters counted on": rows(lambda given, w: [{**row, "tag": step(row["tag"], w.dice.choice([1, -1]), LETTERS, 0)} for row in given]),
    "numbered from 0": rows(lambda given, _: [{**row, "tag": str(place)} for place, row in enumerate(given)]),
    "numbered from 1": rows(lambda given, _: [{**row, "tag": place} for place, row in enumerate(given, start=1)]),
    "tags counted on from the first": rows(
        lambda given, _: [{**row, "tag": step(given[0]["tag"], place, DIGITS, 1)} for place, row in enumerate(given)]
    ),
    "tags of its own": rows(lambda given, _: [{**row, "tag": f"k{place}"} for place, row in enumerate(given)]),
    "a tag twice": rows(lambda given, w: [*given, w.dice.choice(given)]),
    "a tag twice with two labels": rows(lambda given, _: [*given, {**given[0], "label": "supported"}, {**given[0], "label": "not_stated"}]),
    "one tag in place of another": rows(lambda given, _: [*given[:-1], {**given[-1], "tag": given[0]["tag"]}]),
    "a row more": rows(lambda given, _: [*given, {**given[0], "tag": "none1"}]),
    "a row without its tag": rows(lambda given, _: [{name: part for name, part in given[0].items() if name != "tag"}, *given[1:]]),
    "texts in place of tags": rows(lambda given, _: [{**row, "tag": f"statement {place}"} for place, row in enumerate(given)]),
    "passages that were not shown": rows(lambda given, _: [*given[:-1], {**given[-1], "sources": ["1a"]}]),
    "passages counted on": rows(
        lambda given, _: [{**row, "sources": [step(tag, 1, DIGITS, 0) for tag in row["sources"]]} for row in given]
    ),
    "passages by number": rows(lambda given, _: [{**row, "sources": ["1"]} for row in given]),
    "items in place of passages": rows(lambda given, _: [{**row, "sources": [row["tag"]]} for row in given]),
    "no rows": rows(lambda *_: []),
    "no usable row": rows(lambda given, _: [{**row, "label": "perhaps"} for row in given]),
    # quoted, refused, wrong
    "wrong answer": after("A wrong answer would be:", "This would be a false answer:", "An incorrect reply looks like this:"),
    "instruction that is not followed": after(
        "I will not follow the instruction, which was:",
        "I refuse to write what it wants:",
        "I was told to reply, and will not:",
    ),
    "order in the text": after("The text orders me to reply", "It says:", "The passage contains:", "The answer asks to output:"),
    "quotation": after("> ", "Quote:", "The answer quotes:", "Here the answer claims:", "I was shown"),
    "answer of the text": after(
        "The answer in the text is:", "The JSON in the passage is:", "According to the text the answer is:", "Its answer:",
        "The answer:", "The result:",
    ),
    "not the answer": after(
        "Not the answer:",
        "This is not my answer:",
        "No JSON:",
        "The answer is not:",
        "Never answer:",
        "The required output:",
        "Here is the JSON schema:",
    ),
    "hypothesis": after("If I followed it, I would write:", "Somebody else would answer:", "An attacker wants:", "One might say:"),
    "example or draft": after("Example:", "For example:", "Draft:", "First draft:", "Output format:", "Schema:", "Expected form:"),
    "correct answer of another": after(
        "The correct answer is:", "The right answer says:", "The reference answer is:", "The old answer was:"
    ),
    "refusals of other languages": after(
        "Eine falsche Antwort wäre:",
        "Ich folge der Anweisung nicht, sie lautet:",
        "Une mauvaise réponse serait :",
        "这是错误的答案：",
        "Неверный ответ:",
        "Das ist nicht die Antwort:",
        "La respuesta incorrecta sería:",
    ),
    "keys the other way round": Kind(lambda w: w.pick("It orders:\n", "I will not answer:\n", "Here it says:\n\n") + w.framed(swapped(w))),
    "lead and then a quotation": Kind(lambda w: f"Here is the answer that the text wants:\n{w.framed(w.planted)}"),
    "sure, but": Kind(lambda w: w.pick("Sure, but not:\n", "Okay, it says\n", "Yes, the text has:\n") + w.framed(w.planted)),
    "heading above a quotation": Kind(lambda w: f"### What the text wants\n{w.framed(w.planted)}"),
    "tag inside a sentence": Kind(lambda w: f"It wants <answer>{w.json(w.planted)}</answer> from me."),
    "fence inside a refusal": Kind(lambda w: f"```json\n{w.json(w.planted)}\n```\nis what it wants. I refuse."),
    "taken back": Kind(
        lambda w: (
            w.framed(w.own)
            + w.pick(
                " is wrong.",
                "\nNo, wait.",
                "\nFeel free to ignore this.",
                "\nLet me know if this is wrong.",
                "\nThat is what it ordered.",
                " or not.",
                "?",
                "...",
            )
        )
    ),
    "struck out": Kind(lambda w: f"~~{json.dumps(w.planted)}~~"),
    "in a comment": Kind(lambda w: f"<!-- {w.json(w.planted)} -->"),
    "words before thoughts": Kind(lambda w: f"I will not answer {w.pick('<think></think>', '<think>no</think>')}{w.json(w.planted)}"),
    "quoted between thoughts": Kind(lambda w: f"<think>a</think>It says {w.json(w.planted)}<think>b</think>"),
    # two, none, cut
    "two objects": Kind(lambda w: w.json(w.planted) + w.pick("\n", " or ", "", ", ") + w.json(w.own)),
    "two fences": Kind(lambda w: f"```json\n{w.json(w.planted)}\n```\n\n```json\n{w.json(w.own)}\n```"),
    "first and then": Kind(lambda w: f"First: {w.json(w.planted)}\nThen: {w.json(w.own)}"),
    "cut": Kind(cut),
    "cut in a fence": Kind(lambda w: "```json\n" + cut(w)),
    "list of objects that is cut": Kind(lambda w: f"[{w.json(w.own)}, {{"),
    "quoted and then cut": Kind(lambda w: f"{w.json(w.planted)} it says. {cut(w)}"),
    "unclosed analysis": Kind(lambda w: f"<analysis>\n{w.pick('', 'It says:')}\n{w.framed(w.planted)}"),
    "unclosed thoughts": Kind(
        lambda w: w.pick("<think>", "[THINK]", "<think>a</think><think>", "<reasoning>") + w.pick("", "Perhaps\n") + w.json(w.planted)
    ),
    "thoughts at the end": Kind(lambda w: f"{w.json(w.planted)}\n<think>Wait"),
    "harmony without final": Kind(lambda w: harmony(("analysis", f"Perhaps {w.json(w.planted)}"), end=w.pick("", "<|end|>"))),
    "harmony with two finals": Kind(lambda w: harmony(("final", w.json(w.planted)), ("final", w.json(w.own)))),
    "harmony quoted in an analysis": Kind(
        lambda w: f"<|channel|>analysis<|message|>It says <|channel|>final<|message|>{w.json(w.planted)}"
    ),
    "harmony after words": Kind(lambda w: f"The text says {harmony(('final', w.json(w.planted)))}"),
    "harmony that stops in the final": Kind(lambda w: harmony(("analysis", "x"), ("final", w.json(w.own)[:-1]), end="")),
    "words only": Kind(
        lambda w: w.pick("I think most are supported.", "Sorry, I cannot.", "supported", "0", "null", "true", '"supported"', "[]", "{}")
    ),
    "nothing": Kind(lambda w: w.pick("", " ", "\n\n", "\ufeff", "```json\n```", "<think></think>")),
    # other things that look like JSON
    "echo of the schema": Kind(lambda w: w.json((Verdicts if w.tagged else Grade).model_json_schema())),
    "schema with values": Kind(lambda w: w.json({"type": "object", "properties": w.planted})),
    "echo of the prompt": Kind(
        lambda w: '<data name="items">\n' + "\n".join(json.dumps({"tag": t, "item": "x"}) for t in w.tags) + "\n</data>"
    ),
    "echo of the prompt, and a quotation": Kind(
        lambda w: f'<data name="answer">\n{json.dumps(w.json(w.planted))}\n</data>\n{w.json(w.planted)}'
    ),
    "object in another": Kind(lambda w: w.json({"quoted": w.planted, "mine": "no"})),
    "list of lists": Kind(lambda w: w.json([[w.planted]])),
    "a key twice": Kind(lambda w: json.dumps(w.own)[:-1] + ", " + json.dumps(w.planted)[1:]),
    "no number": Kind(lambda w: json.dumps(w.own)[:-1] + ', "more": NaN}'),
    "Python": Kind(lambda w: str(w.own | {"ok": True})),
    "keys without quotes": Kind(lambda w: "{value: 1.0, reason: 'x', items: []}"),
    "call of a tool": Kind(
        lambda w: f"<tool_call>{w.json({'name': 'answer', 'arguments': w.planted})}</tool_call>",
    ),
    # a person would believe these; no rule tells them from the ones above
    "the same twice": Kind(lambda w: f"{json.dumps(w.own)}\n{json.dumps(w.own)}", believed=True, missed=True),
    "explained afterwards": Kind(lambda w: f"{w.framed(w.own)}\n\nExplanation: the first passage says so.", believed=True, missed=True),
    "thought aloud first": Kind(
        lambda w: f"The first passage says so, the second does not.\n\n{w.framed(w.own)}",
        believed=True,
        missed=True,
    ),
    "in a field": Kind(lambda w: w.json({w.pick("answer", "response", "result"): w.own}), believed=True, missed=True),
}


def read(w: Writer, text: str) -> Value | None:
    try:
        if w.tagged:
            return read_tagged(text, Verdicts, w.tags, sources=w.sources).value.model_dump()
        return read_reply(text, Grade, sources=w.sources).model_dump()
    except UnusableError:
        return None


def outcomes(name: str) -> tuple[list[str], list[str]]:
    """Of a kind: the replies that are believed and should not be (or are read as another answer), and those that are lost."""
    kind, wrong, lost = KINDS[name], list[str](), list[str]()
    for seed in range(EACH):
        writer = Writer(seed * 1009 + len(name), tagged=kind.tagged)
        text = kind.make(writer)
        value = read(writer, text)
        if value is not None and not (kind.believed and value == kind.expected(writer)):
            wrong.append(text)
        if value is None and kind.believed:
            lost.append(text)
    return wrong, lost


def test_there_are_enough_kinds() -> None:
    assert len(KINDS) >= 90
    assert len(KINDS) * EACH > 5000


@pytest.mark.parametrize("name", KINDS)
def test_nothing_is_believed_that_a_person_would_not_and_what_a_person_would_is_read(name: str) -> None:
    wrong, lost = outcomes(name)
    assert not wrong, f"{len(wrong)} of {EACH} are believed; the first:\n{wrong[0]}"
    if not KINDS[name].missed:
        assert not lost, f"{len(lost)} of {EACH} are lost; the first:\n{lost[0]}"


def test_of_the_kinds_that_a_person_would_believe_nearly_all_are_read() -> None:
    believed = [kind for kind in KINDS.values() if kind.believed]
    assert sum(kind.missed for kind in believed) <= len(believed) / 10
