"""Question files of multi-hop and reading benchmarks: their evidence, hops and questions without an answer, in their own ways."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from kgeval.tables import cells
from kgeval.tables.cells import Misfit
from kgeval.tables.evidence import gold_path

Row = dict[str, Any]
BROKEN_FACTS = "supporting_facts_broken"
UNANSWERABLE = ":unanswerable"
# as its authors count them [Ho et al. 2020, table 2]
WIKI_HOPS = {"comparison": 2, "inference": 2, "compositional": 2, "bridge_comparison": 4}
NO_ANSWER = frozenset(("no answer present", "insufficient information", "no answer"))
_HOPS = re.compile(r"([2-9])hop\d*_")


def hotpotqa(row: Mapping[str, Any], fields: Row, _stem: str) -> None:
    """The supporting sentences, a passage for each paragraph. Facts that name no sentence are kept in `extra`."""
    fields.pop("evidence", None)
    extra = dict(fields.get("extra") or {})
    passages, broken = _supporting(row)
    if passages:
        fields["evidence"] = passages
    if broken:
        extra[BROKEN_FACTS] = broken
    if not cells.absent(row.get("level")) and "evidences" not in row:
        extra["level"] = row["level"]  # easy, medium, hard: not what kgeval calls a level
    if extra:
        fields["extra"] = extra


def wikimultihop(row: Mapping[str, Any], fields: Row, stem: str) -> None:
    """As HotpotQA; the triples are the gold path, and the type tells the hops."""
    hotpotqa(row, fields, stem)
    triples = []
    for item in _list(row.get("evidences"), "evidences"):
        if not isinstance(item, list | tuple) or len(item) != 3 or not all(isinstance(part, str) and part.strip() for part in item):
            raise Misfit(f"evidences: triples of texts expected, found {_shown(item)}")
        triples.append((item[0], item[1], item[2]))
    if triples:
        fields["path"] = gold_path(triples)
        fields["triples_needed"] = len(triples)
    if (hops := WIKI_HOPS.get(str(row.get("type")))) is not None:
        fields["hops"] = hops


def musique(row: Mapping[str, Any], fields: Row, _stem: str) -> None:
    """The supporting paragraphs, the single questions as steps, the hops by the id. What cannot be answered is negative."""
    fields.pop("evidence", None)
    paragraphs = [_object(item, "paragraphs") for item in _list(row.get("paragraphs"), "paragraphs")]
    answerable = row.get("answerable") is not False
    chosen = [item for item in paragraphs if item.get("is_supporting") or not answerable]
    if chosen:
        fields["evidence"] = [{"text": item.get("paragraph_text"), "document": item.get("title")} for item in chosen]
    steps = [_object(item, "question_decomposition") for item in _list(row.get("question_decomposition"), "question_decomposition")]
    if steps:
        fields["steps"] = [f"{item.get('question')} => {item.get('answer')}" for item in steps]
    match = _HOPS.match(str(row.get("id") or ""))
    if match or steps:
        fields["hops"] = int(match[1]) if match else len(steps)
    if not answerable:
        _negative(fields)
        fields["extra"] = {**(fields.get("extra") or {}), "answer": fields.pop("reference", None)}  # right for its twin, not for it
        fields.pop("references", None)
        if "id" in fields:
            # MuSiQue gives a question that can be answered and its twin that cannot one id.
            fields["id"] = f"{fields['id']}{UNANSWERABLE}"


def multihop_rag(row: Mapping[str, Any], fields: Row, _stem: str) -> None:
    """A fact of an article is a passage; the article's title is its document."""
    fields.pop("evidence", None)
    facts = [_object(item, "evidence_list") for item in _list(row.get("evidence_list"), "evidence_list")]
    if facts:
        fields["evidence"] = [{"text": item.get("fact"), "document": item.get("title") or item.get("url")} for item in facts]
    if row.get("question_type") == "null_query" or _says_none(row.get("answer")):
        _negative(fields)


def ultradomain(_row: Mapping[str, Any], fields: Row, stem: str) -> None:
    """The file's name is the domain, where no field names one. `context` is evidence only where --map says so."""
    fields.setdefault("dataset", stem)


def ms_marco(row: Mapping[str, Any], fields: Row, _stem: str) -> None:
    """The selected passages; all of them where none answers. A well-formed answer stands beside the short one."""
    fields.pop("evidence", None)
    passages = [_object(item, "passages") for item in _rows(row.get("passages"), "passages")]
    negative = any(_says_none(text) for text in _list(row.get("answers"), "answers"))
    chosen = [item for item in passages if negative or item.get("is_selected") in (1, True)]
    if chosen:
        fields["evidence"] = [{"text": item.get("passage_text"), "document": item.get("url")} for item in chosen]
    if negative:
        _negative(fields)


def uda_qa(row: Mapping[str, Any], fields: Row, stem: str) -> None:
    """The right answers of any of its six sets, each a text; the set by its name; and what an extended file has as evidence."""
    for name in ("reference", "references", "evidence"):
        fields.pop(name, None)
    given = row.get("answers", row)
    answers: Mapping[str, Any] = given if isinstance(given, Mapping) else {"answer": given}
    if "long_answer" in answers:
        # the long answer is the passage that holds the short one, and the only answer where there is no short one
        short, long = answers.get("short_answer"), answers["long_answer"]
        dataset, texts = "NqText", [long if cells.absent(short) else short]
        fields["evidence"] = [] if cells.absent(long) else [{"text": long}]
    elif "answer_type" in answers:
        # several spans are one answer, and its scale belongs to it
        parts = [", ".join(map(str, cells.listed(answers.get("answer")) or [])), answers.get("answer_scale")]
        dataset, texts = "TatHybrid", [" ".join(str(part) for part in parts if not cells.absent(part))]
        fields["kind"] = answers["answer_type"]
    elif "str_answer" in answers or ("answer_2" in answers and "answer_3" not in answers):
        # as the report has it, and as a program computes it
        names = ("str_answer", "exe_answer") if "str_answer" in answers else ("answer_1", "answer_2")
        dataset, texts = "FinHybrid", [answers.get(name) for name in names]
    elif isinstance(given, list) or "answer_3" in answers:
        people = given if isinstance(given, list) else [answers.get(f"answer_{number}") for number in (1, 2, 3)]
        dataset = "PaperTab" if "tab" in stem else "PaperText"
        texts = [item.get("answer") if isinstance(item, Mapping) else item for item in people]
    else:
        dataset, texts = "FetaTab", [answers.get("answer")]
    right = list(dict.fromkeys(text for item in texts if (text := cells.text(item)) is not None))
    fields.setdefault("dataset", dataset)
    if right:
        fields["reference"], fields["references"] = right[0], right[1:]
    if evidence := dict.fromkeys(_uda_evidence(row.get("evidence"))):
        fields["evidence"] = [{"text": text} for text in evidence]
    for passage in fields.get("evidence", ()):
        passage["document"] = fields.get("document")


def _uda_evidence(value: Any) -> Iterator[str]:
    """The texts of it: those that people marked in a paper, facts of a report, rows of a table with a marked cell below its head."""
    for part in value if isinstance(value, list) else [value]:
        if not isinstance(part, Mapping):
            continue
        if isinstance(table := part.get("table_array"), list) and table:
            marks = _list(part.get("highlighted_cell_ids"), "highlighted_cell_ids")
            marked = {cell[0] for cell in marks if isinstance(cell, list) and cell}
            rows = [line for at, line in enumerate(table) if at == 0 or at in marked]
            yield "\n".join(" | ".join(map(str, line)) for line in rows)
        elif "raw_evidence" in part:
            yield from (text for text in _list(part["raw_evidence"], "raw_evidence") if isinstance(text, str) and text.strip())
        else:
            yield from (text for text in part.values() if isinstance(text, str) and text.strip())


def kasiak(row: Mapping[str, Any], fields: Row, _stem: str) -> None:
    """Several documents belong to their snippets where the counts agree; one is the question's, and of all snippets."""
    names = [name for item in _list(row.get("doc_name"), "doc_name") if (name := cells.name(item)) is not None]
    snippets = cells.listed(fields.get("evidence")) or []
    if len(names) > 1:
        fields.pop("document", None)
        fields["extra"] = {**(fields.get("extra") or {}), "doc_name": names}
    if len(names) not in (1, len(snippets)) or not all(isinstance(text, str) for text in snippets):
        return
    if len(names) == 1:
        fields["document"] = names[0]
    if snippets:
        fields["evidence"] = [
            {"text": text, "document": names[index if len(names) > 1 else 0]} for index, text in enumerate(snippets) if text.strip()
        ]


def _negative(fields: Row) -> None:
    """A question that its texts do not answer."""
    fields["level"] = "negative"


def _says_none(value: Any) -> bool:
    return isinstance(value, str) and value.strip(" .").lower() in NO_ANSWER


def _supporting(row: Mapping[str, Any]) -> tuple[list[dict[str, Any]], list[Any]]:
    """A passage a paragraph with its supporting sentences in their order, and the facts that name no sentence."""
    paragraphs = _paragraphs(row)
    wanted: dict[str, set[int]] = {}
    broken = []
    for title, number in _facts(row):
        if 0 <= number < len(paragraphs.get(title, ())):
            wanted.setdefault(title, set()).add(number)
        else:
            broken.append([title, number])
    return [
        {"text": " ".join(paragraphs[title][n].strip() for n in sorted(numbers)), "document": title} for title, numbers in wanted.items()
    ], broken


def _paragraphs(row: Mapping[str, Any]) -> dict[str, list[str]]:
    by_title: dict[str, list[str]] = {}
    for title, sentences in _pairs(row.get("context"), "context", ("title", "sentences|content")):
        if not isinstance(title, str) or not isinstance(sentences, list) or not all(isinstance(sentence, str) for sentence in sentences):
            raise Misfit(f"context: paragraphs as [title, [sentences]] expected, found {_shown([title, sentences])}")
        by_title.setdefault(title, sentences)
    return by_title


def _facts(row: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    for title, number in _pairs(row.get("supporting_facts"), "supporting_facts", ("title", "sent_id")):
        if not isinstance(title, str) or not isinstance(number, int) or isinstance(number, bool):
            raise Misfit(f"supporting_facts: [title, number of a sentence] expected, found {_shown([title, number])}")
        yield title, number


def _pairs(value: Any, what: str, names: tuple[str, str]) -> Iterator[tuple[Any, Any]]:
    """Pairs: lists of two, objects with both names, or an object with two lists (as Parquet keeps them)."""
    for item in _rows(value, what):
        if isinstance(item, Mapping):
            first, second = (next((item[key] for key in name.split("|") if key in item), None) for name in names)
            yield first, second
        elif isinstance(item, list | tuple) and len(item) == 2:
            yield item[0], item[1]
        else:
            raise Misfit(f"{what}: pairs expected, found {_shown(item)}")


def _rows(value: Any, what: str) -> list[Any]:
    """A list of items; an object of lists of one length is turned into a list of objects."""
    if isinstance(value, str) and value.lstrip().startswith("{"):
        value = cells.mapping(value)
    if not isinstance(value, Mapping):
        return _list(value, what)
    lists = {name: part for name, part in value.items() if isinstance(part, list | tuple)}
    if not lists or len({len(part) for part in lists.values()}) != 1 or len(lists) != len(value):
        raise Misfit(f"{what}: lists of one length expected, found lengths {_shown({k: len(v) for k, v in lists.items()})}")
    return [dict(zip(lists, row, strict=True)) for row in zip(*lists.values(), strict=True)]


def _list(value: Any, what: str) -> list[Any]:
    """The value as a list, also one that is written as text; nothing for None."""
    if isinstance(value, Mapping):
        raise Misfit(f"{what}: a list expected, found an object")
    return cells.listed(value) or []


def _object(item: Any, what: str) -> Mapping[str, Any]:
    if not isinstance(item, Mapping):
        raise Misfit(f"{what}: objects expected, found {_shown(item)}")
    return item


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}..."
