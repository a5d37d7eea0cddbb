"""Makes the comparison whose picture stands in the README: python tools/comparison_picture.py FOLDER

Three systems with a known truth, and a scripted judge with known faults, behind the fake model server. `longwinded` is as good as `plain`,
only longer; `better` is better by two thirds of a point. The judge likes what stands first and what is long, and wavers. No model is asked
and no real system is in it. Then: python tools/screenshot.py FOLDER/comparison.html docs/images/comparison.png --height 1000 --colours 64
"""

from __future__ import annotations

import json
import random
import re
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from kgeval.cli.main import run as kgeval
from kgeval.llm.fake import Chat, FakeServer

LEVELS = ("fact", "reasoning", "summary", "creative")
SYSTEMS = {"plain": (0.0, 45), "longwinded": (0.0, 110), "better": (0.67, 60)}  # points above the others, words
TEXT = "the harbour board kept its books and the ships came in with herring and coal while the town grew along the river"
WORDS = TEXT.split()
QUESTIONS, SPREAD, FIRST, LONGER, NOISE = 100, 0.9, 0.6, 1.0, 0.5  # points; LONGER: for 100 words more
_DATA = re.compile(r'<data name="(\w+)">\n(.*?)\n</data>', re.DOTALL)
_WORTH = re.compile(r"entry (\d+)\.(\d+)")
_asked: Counter[str] = Counter()  # the judge's mood changes from call to call


def main(folder: Path) -> int:
    """Writes the files, runs the comparison; its exit code."""
    folder.mkdir(parents=True, exist_ok=True)
    files = [str(path) for path in written(folder)]
    with FakeServer(judge) as server:
        return kgeval([
            "compare", *files, "--questions", str(folder / "questions.jsonl"), "--model", "scripted-judge", "--base-url", server.base_url,
            "--trials", "5", "--baseline-biased", "--meaning-sample", "0", "--journal", str(folder / "journal.sqlite"),
            "-o", str(folder / "comparison.html"), "--examples", "12",
        ])


def written(folder: Path) -> list[Path]:
    """The questions, and a file of answers of each system: what an answer is worth stands in it as an entry of the town's books."""
    draws = random.Random(7)
    rows: dict[str, list[str]] = {name: [] for name in SYSTEMS}
    questions = []
    for n in range(QUESTIONS):
        key, hard = f"q{n:03}", draws.gauss(0, 0.3)
        questions.append({"id": key, "question": f"What do the town's books say of year {1802 + n}?", "level": LEVELS[n % 4]})
        for name, (gain, length) in SYSTEMS.items():
            worth = min(max(2.6 + gain + hard + draws.gauss(0, SPREAD), 0.2), 4.8)
            words = " ".join(draws.choices(WORDS, k=length + draws.randint(-8, 8)))
            rows[name].append(json.dumps({"question_id": key, "answer": f"As entry {worth:.2f} says, {words}."}))
    (folder / "questions.jsonl").write_text("\n".join(map(json.dumps, questions)) + "\n", encoding="utf-8")
    for name, lines in rows.items():
        (folder / f"{name}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return [folder / f"{name}.jsonl" for name in SYSTEMS]


def judge(chat: Chat) -> Any:
    """Points by what is written, and by place, length and mood; where words are to be added, so many words."""
    blocks = {name: json.loads(body) for name, body in _DATA.findall(chat.subject)}
    fields = list((chat.schema or {}).get("properties", {}))
    if "change" in blocks:
        return {"answer": f"{blocks['answer']} {' '.join((WORDS * 20)[: max(int(blocks['change']['add_words']), 0)])}"}
    one, other = (felt(str(blocks[name])) for name in ("first", "second"))
    longer = (len(str(blocks["first"]).split()) - len(str(blocks["second"]).split())) / 100 * LONGER / 2
    _asked[chat.subject] += 1
    draws = random.Random(f"{_asked[chat.subject]} {chat.subject}")
    if "overall" in fields:
        return {name: {"explanation": "e", "winner": "first" if one + FIRST + longer * 2 >= other else "second"} for name in fields}
    reply = {}
    for name in fields:
        points = (one + FIRST / 2 + longer + draws.gauss(0, NOISE), other - FIRST / 2 - longer + draws.gauss(0, NOISE))
        reply[name] = {
            side: {"reason": "by the script of this demonstration", "score": min(max(round(value), 0), 5)}
            for side, value in zip(("first", "second"), points, strict=True)
        }
    return reply


def felt(text: str) -> float:
    """What the answer is worth."""
    found = _WORTH.search(text)
    return float(f"{found[1]}.{found[2]}") if found else 0.0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
