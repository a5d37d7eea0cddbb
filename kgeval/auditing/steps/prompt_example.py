"""prompt-example: entities that come from the examples of a writer's own prompt, and from no text of the graph."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import closing

from kgeval.auditing.check import CheckOutcome, CheckRun
from kgeval.auditing.prompt_examples import leaked_names, prompt_examples
from kgeval.auditing.source_texts import Plain
from kgeval.graph.connect import Row
from kgeval.records import Example, GraphRef
from kgeval.text.language import LOOKED_AT, main_script


def run(check: CheckRun) -> CheckOutcome:
    """`count`: entities of such names; `total`: entities. The relations at them are covered."""
    names = sorted({name for example in prompt_examples() for name in example.names})
    row = check.own_rows(examples=names)[0]
    found: list[Row] = row["found"]
    held = {entity["folded"] for entity in found}
    blind = [example for example in prompt_examples() if leaked_names(example, held, ())]
    in_texts, texts = _held_by_texts(check, held) if blind else (None, 0)
    examples: dict[str, Example] = {}
    for story in blind:
        leaked = leaked_names(story, held, in_texts)
        where = f"in none of the {texts:,} texts" if in_texts is not None else f"{len(leaked)} of its names stand here together"
        for entity in found:
            if entity["folded"] in leaked:
                item = GraphRef(element_id=entity["element_id"], key=entity["key"], name=entity["name"], type=entity["type"])
                why = f"an example in the prompt of {story.of} ({story.about}); {where}"
                examples.setdefault(entity["element_id"], Example(items=[item], why=why))
    covers = [relation for entity in found if entity["element_id"] in examples for relation in entity["relations"]]
    return CheckOutcome(len(examples), row["total"], list(examples.values())[: check.sample], covers=covers)


def _held_by_texts(check: CheckRun, names: Collection[str]) -> tuple[set[str] | None, int]:
    """Which of the names stand in a text of the graph, and how many texts there are; None where there are none to ask: in another script
    than the names they hold none of them, whatever they are about."""
    plain, texts, foreign = Plain(), 0, 0
    wanted = {name: plain(name) for name in names}
    held: set[str] = set()
    with closing(check.stream("chunk-sources", texts=True)) as rows:
        for row in rows:
            texts += 1
            foreign += main_script(row["text"][:LOOKED_AT]) not in ("Latin", None)
            text = plain(row["text"])
            held.update(name for name, reduced in wanted.items() if reduced in text)
    return (held if texts > 2 * foreign else None), texts
