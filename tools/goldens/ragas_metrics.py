"""Metrics of ragas, by its own classes, on given claims, verdicts and vectors. A stub model returns what each case says.

A case: `given` (what the model would say), `theirs` (ragas's number). Claims are numbered texts; a verdict list may be short.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

from common import case, write
from langchain_core.outputs import Generation, LLMResult
from ragas import SingleTurnSample
from ragas.embeddings.base import BaseRagasEmbeddings
from ragas.llms.base import BaseRagasLLM
from ragas.metrics import AnswerCorrectness, ContextRelevance, FactualCorrectness, Faithfulness, LLMContextRecall, ResponseRelevancy
from ragas.run_config import RunConfig

QUESTION, ANSWER, REFERENCE, CONTEXT = "the question asked", "the answer given", "the reference known", "the context retrieved"


class StubModel(BaseRagasLLM):
    """Says what `reply` makes of a prompt; several completions where several are asked for."""

    def __init__(self, reply: Any) -> None:
        super().__init__(run_config=RunConfig(max_retries=1))
        self.reply, self.calls = reply, 0

    def generate_text(self, prompt: Any, n: int = 1, **_: Any) -> LLMResult:
        self.calls += 1
        said = self.reply(prompt.to_string(), self.calls)
        texts = said if isinstance(said, list) else [said] * n
        return LLMResult(generations=[[Generation(text=text) for text in texts]])

    async def agenerate_text(self, prompt: Any, n: int = 1, **given: Any) -> LLMResult:
        return self.generate_text(prompt, n)

    def is_finished(self, response: LLMResult) -> bool:
        return True


class StubVectors(BaseRagasEmbeddings):
    """A given vector for each text."""

    def __init__(self, vectors: dict[str, list[float]]) -> None:
        super().__init__()
        self.vectors = vectors
        self.set_run_config(RunConfig(max_retries=1))

    def embed_query(self, text: str) -> list[float]:
        return self.vectors[text]

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [self.vectors[text] for text in texts]

    async def aembed_query(self, text: str) -> list[float]:
        return self.embed_query(text)

    async def aembed_documents(self, texts: list[str]) -> list[list[float]]:
        return self.embed_documents(texts)


def main() -> None:
    cases = [*faithfulness(), *factual(), *recall(), *relevance(), *correctness(), *relevancy()]
    write("ragas", ("ragas", "openai", "numpy"), cases)


def run(metric: Any, reply: Any, vectors: dict[str, list[float]] | None = None) -> float:
    sample = SingleTurnSample(user_input=QUESTION, response=ANSWER, reference=REFERENCE, retrieved_contexts=[CONTEXT])
    metric.llm = StubModel(reply)
    if vectors is not None:
        metric.embeddings = StubVectors(vectors)
        metric.init(RunConfig(max_retries=1))
    return float(asyncio.run(metric.single_turn_ascore(sample)))


def claims(prefix: str, count: int) -> list[str]:
    return [f"{prefix} {number}" for number in range(1, count + 1)]


def nli(prefix: str, verdicts: list[int]) -> str:
    return json.dumps({"statements": [
        {"statement": f"{prefix} {number}", "reason": "r", "verdict": verdict} for number, verdict in enumerate(verdicts, 1)
    ]})


def faithfulness() -> list[dict[str, Any]]:
    """`claims` were extracted, `verdicts` came back."""
    made = []
    for name, count, verdicts in (
        ("full", 4, [1, 0, 1, 1]), ("full", 3, [0, 0, 0]), ("full", 7, [1, 1, 0, 1, 0, 1, 1]), ("full", 1, [1]),
        ("short list", 3, [1]), ("short list", 4, [0, 1]), ("empty list", 3, []), ("no claims", 0, []), ("long list", 2, [1, 0, 0, 0]),
    ):
        def reply(_: str, call: int, count: int = count, verdicts: list[int] = verdicts) -> str:
            return json.dumps({"statements": claims("claim", count)}) if call == 1 else nli("claim", verdicts)

        made.append(case("faithfulness", name, run(Faithfulness(), reply), claims=count, verdicts=verdicts))
    return made


def factual() -> list[dict[str, Any]]:
    """`right`: claims of the answer against the reference; `recalled`: claims of the reference against the answer."""
    made = []
    for name, right, recalled in (
        ("full", [1, 0, 1], [1, 0]), ("full", [1, 1, 1, 0, 1, 0, 0], [1, 0, 1]), ("full", [0, 0], [0, 0, 0]), ("full", [1], [1, 1, 1]),
        ("full", [1, 1, 0], [1, 1, 0, 0, 0, 0, 1]), ("mixed recall", [1] * 9 + [0], [1, 0]), ("mixed recall", [1], [1, 1, 1, 1, 0]),
        ("no claims", [], [1, 0]), ("no claims at all", [], []),
    ):
        theirs = {mode: run(FactualCorrectness(mode=mode), _factual_reply(right, recalled)) for mode in ("precision", "recall", "f1")}
        made.append(case("factual_correctness", name, theirs, right=right, recalled=recalled))
    return made


def _factual_reply(right: list[int], recalled: list[int]) -> Callable[[str, int], str]:
    """ragas asks four times at once; whether it is to list claims or to check them, and of which text, stands at the prompt's end."""

    def reply(prompt: str, _: int) -> str:
        checks = next((text for text in (REFERENCE, ANSWER) if f'"context": "{text}"' in prompt), None)
        if checks is not None:
            return nli("answer", right) if checks == REFERENCE else nli("reference", recalled)
        of_answer = ANSWER in prompt[prompt.rindex('"response"'):]
        return json.dumps({"claims": claims("answer", len(right)) if of_answer else claims("reference", len(recalled))})

    return reply


def recall() -> list[dict[str, Any]]:
    """`sentences` of the reference; `verdicts` that came back."""
    made = []
    for name, count, verdicts in (
        ("full", 4, [1, 0, 1, 1]), ("full", 3, [0, 0, 0]), ("full", 6, [1, 1, 1, 1, 1, 0]), ("short list", 4, [1]), ("empty list", 2, []),
    ):
        said = json.dumps({"classifications": [{"statement": f"s {n}", "reason": "r", "attributed": v} for n, v in enumerate(verdicts, 1)]})
        theirs = run(LLMContextRecall(), lambda *_, said=said: said)
        made.append(case("context_recall", name, theirs, claims=count, verdicts=verdicts))
    return made


def relevance() -> list[dict[str, Any]]:
    """Two ratings, each asked up to five times: what was said to the first and to the second prompt."""
    made = []
    for name, first, second in (
        ("same", "2", "2"), ("same", "1", "1"), ("same", "0", "0"), ("two opinions", "2", "1"), ("one failed", "prose", "1"),
        ("both failed", "prose", "prose"), ("off the scale", "12", "1.5"),
    ):
        def reply(prompt: str, _: int, first: str = first, second: str = second) -> str:
            return first if prompt.startswith("###") else second

        made.append(case("context_relevance", name, run(ContextRelevance(), reply), said=[first, second]))
    return made


def correctness() -> list[dict[str, Any]]:
    """`tp`, `fp`, `fn`: how many statements of each; `cosine` by the vectors of answer and reference."""
    made = []
    for name, tp, fp, fn, vector in (
        ("full", 2, 1, 1, [0.6, 0.8]), ("full", 0, 2, 3, [0.6, 0.8]), ("full", 5, 0, 0, [1.0, 0.0]), ("full", 1, 4, 2, [0.28, 0.96]),
        ("negative cosine", 1, 1, 1, [-0.6, 0.8]), ("both lists empty", 0, 0, 0, [0.6, 0.8]), ("classification empty", 0, 0, 0, [0.6, 0.8]),
    ):
        none = name == "both lists empty"

        def reply(_: str, call: int, parts: tuple[int, int, int] = (tp, fp, fn), none: bool = none) -> str:
            if call <= 2:
                return json.dumps({"statements": [] if none else claims("s", 3)})
            named = zip(("TP", "FP", "FN"), parts, strict=True)
            return json.dumps({key: [{"statement": text, "reason": "r"} for text in claims(key, count)] for key, count in named})

        theirs = run(AnswerCorrectness(), reply, {ANSWER: vector, REFERENCE: [1.0, 0.0]})
        made.append(case("answer_correctness", name, theirs, tp=tp, fp=fp, fn=fn, cosine=vector[0]))
    return made


def relevancy() -> list[dict[str, Any]]:
    """Three questions made from the answer, by their cosines with the true one; `evasive`: how many are flagged so."""
    made = []
    for name, cosines, evasive in (
        ("committal", [0.6, 0.8, 1.0], 0), ("committal", [0.28, 0.96, 0.6], 0), ("evasive", [0.6, 0.8, 1.0], 1),
        ("evasive", [1.0, 1.0, 1.0], 3), ("negative", [-0.6, -0.8, -1.0], 0),
    ):
        said = [json.dumps({"question": f"q {n}", "noncommittal": int(n <= evasive)}) for n in (1, 2, 3)]
        vectors = {f"q {n}": [c, (1 - c * c) ** 0.5] for n, c in enumerate(cosines, 1)} | {QUESTION: [1.0, 0.0]}
        theirs = run(ResponseRelevancy(), lambda *_, said=said: said, vectors)
        made.append(case("answer_relevancy", name, theirs, cosines=cosines, evasive=evasive))
    return made


if __name__ == "__main__":
    main()
