"""A folder of blind sheets: for each person a CSV file and a page that works offline. The key to them stands elsewhere."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kgeval.comparison.judge.grades import Aspect
from kgeval.comparison.people.drawing import DrawnItems
from kgeval.comparison.people.scales import MEANINGS, OVERALL, SCALES, SHORT, words_of
from kgeval.errors import UsageError
from kgeval.records import LabelScope, SheetKey
from kgeval.tables import sheets
from kgeval.tables.output import replacing
from kgeval.tables.sheets import without_controls

MARK = "kgeval annotate sheet"
PAGE = Path(__file__).parent / "page"
NO_ANSWER = "(no answer)"
NO_CONTEXTS = "(not known)"
NOTHING = "(nothing was retrieved)"


@dataclass(frozen=True)
class ShownItem:
    """One item as a person sees it: nothing here tells which system is which. `contexts`: what was retrieved for each of the answers, None
    where that is not known; empty where sheets do not show it."""

    id: str
    question: str
    reference: str | None
    answers: tuple[str, ...] = field(repr=False)
    contexts: tuple[tuple[str, ...] | None, ...] = field(default=(), repr=False)


@dataclass(frozen=True)
class PersonSheet:
    """What one person gets. `columns`: aspects, for pairs also `overall`."""

    run: str
    annotator: str
    scope: LabelScope
    aspects: tuple[Aspect, ...]
    items: tuple[ShownItem, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        names = tuple(aspect.name for aspect in self.aspects)
        return (*names, OVERALL) if self.scope == "pairs" else names


def key_of(drawn: DrawnItems, aspects: Sequence[Aspect], seed: int) -> SheetKey:
    """The key, with the mark of the run: the same sample and seed have the same mark."""
    names = [aspect.name for aspect in aspects] + ([OVERALL] if drawn.scope == "pairs" else [])
    parts = [drawn.scope, names, seed, {name: item.model_dump() for name, item in drawn.items.items()}, drawn.first]
    run = hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:12]
    return SheetKey(run=run, scope=drawn.scope, aspects=names, seed=seed, items=drawn.items, first=drawn.first)


def check_places(folder: Path, key: Path, annotators: Sequence[str]) -> None:
    """That nothing is lost and nothing given away. Raises: UsageError for names that are no file names, files that are there, and a key
    among the sheets."""
    wrong = [name for name in annotators if not re.fullmatch(r"[\w][\w .@+-]{0,60}", name)]
    faults = [f"'{name}' is no name of a person that a file can have" for name in wrong]
    if len({name.casefold() for name in annotators}) < len(annotators):
        faults.append("two annotators have the same name")
    there = [path for path in (key, *files_of(folder, annotators)) if path.exists()]
    faults += [f"{path}: is there already, and may hold labels or their key" for path in there]
    if key.resolve().parent == folder.resolve() or folder.resolve() in key.resolve().parents:
        faults.append(f"{key}: lies in the folder of the sheets, and would be sent to people with them")
    if faults:
        raise UsageError("; ".join(faults), fix="choose another folder, or another file for --key")


def files_of(folder: Path, annotators: Sequence[str]) -> list[Path]:
    """The files of all sheets."""
    return [folder / f"{name}{ending}" for name in annotators for ending in (".csv", ".html")]


def write_key(path: Path, key: SheetKey) -> None:
    """The key, for its owner's eyes only (0600)."""
    with replacing(path) as file:
        file.write(key.model_dump_json(indent=1) + "\n")


def write_sheet(folder: Path, sheet: PersonSheet) -> None:
    """A person's CSV file and page, readable by their owner only (0600): they hold texts.

    Raises: InputError where nothing can be written.
    """
    rows = (_cells(sheet, item) for item in sheet.items)
    sheets.write_sheet(folder / f"{sheet.annotator}.csv", _columns(sheet), rows, head=_head(sheet), line_end="\r\n")
    with replacing(folder / f"{sheet.annotator}.html") as file:
        file.write(page_of(sheet))


def _columns(sheet: PersonSheet) -> list[str]:
    answers = ["answer_1", "answer_2"] if sheet.scope == "pairs" else ["answer"]
    contexts = [name.replace("answer", "contexts") for name in answers] if any(item.contexts for item in sheet.items) else []
    return ["id", *sheet.columns, "question", *(["reference"] if _references(sheet) else []), *answers, *contexts, "note"]


def _cells(sheet: PersonSheet, item: ShownItem) -> list[str]:
    reference = [item.reference or ""] if _references(sheet) else []
    answers, contexts = (text or NO_ANSWER for text in item.answers), map(_contexts_cell, item.contexts)
    return [item.id, *("" for _ in sheet.columns), item.question, *reference, *answers, *contexts, ""]


def _contexts_cell(texts: tuple[str, ...] | None) -> str:
    """All retrieved texts in one cell, numbered in their order."""
    if texts is None:
        return NO_CONTEXTS
    return "\n\n".join(f"[{number}] {text}" for number, text in enumerate(texts, start=1)) or NOTHING


def _references(sheet: PersonSheet) -> bool:
    return any(item.reference for item in sheet.items)


def _head(sheet: PersonSheet) -> Iterator[str]:
    # `=` never begins these lines, so they are safe in a spreadsheet
    yield f"# {MARK} (run={sheet.run} scope={sheet.scope} annotator={sheet.annotator})"
    if sheet.scope == "pairs":
        words = "; ".join(f"{word} ({meaning})" for word, meaning in MEANINGS.items())
        yield f"# Two answers to each question. Write into the column of each aspect: {words}"
        yield f"# {OVERALL}: which answer you would rather have, all in all."
    else:
        yield "# One answer to each question. Write the points that fit, 0 to 5, into the column of each aspect."
    if any(item.contexts for item in sheet.items):
        yield "# contexts: the texts that were retrieved for an answer, in their order."
    yield "# Leave a cell empty where you cannot say. Do not change ids. Judge alone, and by what is written only."
    for aspect in sheet.aspects:
        yield f"# {aspect.name}: {aspect.asks}"
        for points, text in enumerate(aspect.grades):
            yield f"#   {points}: {text}"


def page_of(sheet: PersonSheet) -> str:
    """The page: one file, nothing loaded from anywhere, labels kept in the browser and saved by a download."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    css, js = ((PAGE / name).read_text(encoding="utf-8") for name in ("sheet.css", "sheet.js"))
    environment = Environment(
        loader=FileSystemLoader(PAGE), undefined=StrictUndefined, autoescape=True, trim_blocks=True, lstrip_blocks=True,
    )
    # the page shows texts of anybody: only our own script and style run, and nothing is loaded or sent
    policy = (
        f"default-src 'none'; style-src '{_sha256(css)}'; script-src '{_sha256(js)}'; img-src data:; base-uri 'none'; form-action 'none'"
    )
    words: Mapping[str, str] = SHORT if sheet.scope == "pairs" else {word: word for word in SCALES["answers"]}
    return environment.get_template("sheet.html.j2").render(
        sheet=sheet, csp=policy, css=Markup(css), js=Markup(js), words=words, overall=OVERALL,  # noqa: S704 - our own files
        no_answer=NO_ANSWER, no_contexts=NO_CONTEXTS, nothing=NOTHING,
        data=Markup(_embedded({  # noqa: S704 - escaped by _embedded
            "run": sheet.run, "annotator": sheet.annotator, "scope": sheet.scope, "columns": sheet.columns,
            "items": [item.id for item in sheet.items], "words": list(words_of(sheet.scope)), "mark": MARK,
        })),
        texts=[_texts(item) for item in sheet.items],
    ) + "\n"


def _texts(item: ShownItem) -> dict[str, Any]:
    return {
        "id": item.id, "question": without_controls(item.question), "reference": without_controls(item.reference or ""),
        "answers": [without_controls(text) for text in item.answers],
        "contexts": [None if texts is None else [without_controls(text) for text in texts] for texts in item.contexts],
    }


def _embedded(value: Any) -> str:
    """JSON that is safe inside a script element."""
    return re.sub("[<>&\u2028\u2029]", lambda m: f"\\u{ord(m[0]):04x}", json.dumps(value))


def _sha256(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
