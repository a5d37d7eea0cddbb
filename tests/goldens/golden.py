"""Goldens: what a command or a report gives, made the same on every machine, held against the file that is kept, or kept anew.

KGEVAL_RENEW_GOLDENS=1 (`make goldens`) writes the files instead, and deletes those that no case has.
"""

from __future__ import annotations

import difflib
import io
import json
import os
import re
import shlex
import shutil
import sqlite3
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from platform import python_version
from typing import Any

import pytest

import kgeval

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
EXPECTED = HERE / "expected"
INPUTS = HERE / "inputs"
PLACES = {"sample": Path(kgeval.__file__).parent / "sample", "examples": ROOT / "schemas" / "examples", "inputs": INPUTS}
RENEW = os.environ.get("KGEVAL_RENEW_GOLDENS") == "1"
LONGEST = 155_000  # characters of one golden: longer ones are nobody's to read
_OURS = ("KGEVAL_", "NEO4J_", "OPENAI_", "AURA_", "XDG_", "HF_", "SENTENCE_TRANSFORMERS_")
_SUITE = ("KGEVAL_TEST_", "KGEVAL_NEO4J_LINE", "KGEVAL_RENEW_GOLDENS")


@dataclass(frozen=True)
class Case:
    """One command line, run in a folder of its own.

    `name` names the golden. `words`: the command line without `kgeval`; {url}: the fake model's address, {python}: this Python.
    `inputs`: files that lie in the folder, as place/path of PLACES; a folder is copied whole; NAME<place/path gives another name.
    `before`: command lines that run first and must exit 0; what they write is not shown. `texts`: small files written into the folder.
    `stdin`: what comes through the pipe. `shown`: patterns of the written files that stand in the golden; the others are named.
    `hidden`: patterns of what is measured in this case (it becomes <measured>).
    `world`: what the database holds, "harbour" (the sample graph) or "empty" (tests/neo4j).
    """

    name: str
    words: str
    inputs: tuple[str, ...] = ()
    before: tuple[str, ...] = ()
    texts: Mapping[str, str] = field(default_factory=dict)
    stdin: str = ""
    shown: tuple[str, ...] = ("*",)
    hidden: tuple[str, ...] = ()
    world: str = ""


@dataclass(frozen=True)
class Done:
    """What a command line did."""

    code: int
    out: str
    err: str


def check(golden: Path, text: str) -> None:
    """Fails with a diff where the kept file says otherwise; writes it instead where goldens are renewed."""
    text = text if text.endswith("\n") else text + "\n"
    assert len(text) <= LONGEST, f"{golden.name} would have {len(text):,} characters: give the case a smaller input, or show fewer files"
    if RENEW:
        golden.parent.mkdir(parents=True, exist_ok=True)
        golden.write_text(text, encoding="utf-8")
        return
    kept = golden.read_text(encoding="utf-8") if golden.is_file() else ""
    if kept != text:
        name = golden.relative_to(ROOT)
        diff = difflib.unified_diff(kept.splitlines(), text.splitlines(), f"{name} (kept)", f"{name} (now)", lineterm="", n=2)
        pytest.fail("\n".join([*diff, "", "If this is meant: make goldens, and look at the diff of tests/goldens/expected"]), pytrace=False)


def check_names(folder: str, names: Iterable[str]) -> None:
    """No golden without a case, none twice."""
    wanted = list(names)
    assert len(set(wanted)) == len(wanted), "two cases have one name"
    unused = sorted(path.name for path in (EXPECTED / folder).glob("*") if path.name not in set(wanted))
    if RENEW:
        for name in unused:
            (EXPECTED / folder / name).unlink()
        return
    assert not unused, f"goldens that no case has: {', '.join(unused)}; make goldens deletes them"


@contextmanager
def surroundings(folder: Path, more: Mapping[str, str]) -> Iterator[None]:
    """The same environment on every machine: no settings, an empty home, UTC, 100 columns, no colour."""
    kept, there = dict(os.environ), Path.cwd()
    for key in list(os.environ):
        if key.startswith(_OURS) and not key.startswith(_SUITE):
            del os.environ[key]
    home = folder.parent / "home"
    home.mkdir(exist_ok=True)
    os.environ.update({
        "HOME": str(home), "COLUMNS": "100", "LINES": "40", "TERM": "dumb", "NO_COLOR": "1", "TZ": "UTC",
        "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "PYTHONUTF8": "1", "OPENAI_API_KEY": "sk-golden", **more,
    })
    os.environ.pop("FORCE_COLOR", None)
    time.tzset()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(there)
        os.environ.clear()
        os.environ.update(kept)
        time.tzset()


def command(words: Sequence[str], stdin: str = "") -> Done:
    """Runs `kgeval WORDS` in this process."""
    from kgeval.cli.main import run

    out, err, given = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="\n", write_through=True) for _ in range(3))
    given.write(stdin)
    given.seek(0)
    kept = sys.stdout, sys.stderr, sys.stdin
    sys.stdout, sys.stderr, sys.stdin = out, err, given
    try:
        code = run(list(words))
    finally:
        sys.stdout, sys.stderr, sys.stdin = kept
    return Done(code, *(stream.buffer.getvalue().decode("utf-8") for stream in (out, err)))  # type: ignore[attr-defined]


def transcript(case: Case, folder: Path, values: Mapping[str, str] | None = None, environment: Mapping[str, str] | None = None) -> str:
    """Runs the case below `folder`: command line, exit code, stdout, stderr and the files that it wrote, as one text."""
    work = folder / "work"
    work.mkdir()
    _lay_out(case, work)
    known = {"python": sys.executable, **(values or {})}
    with surroundings(work, environment or {}):
        for line in case.before:
            done = command(_split(line, known))
            assert done.code == 0, f"{line}: exit {done.code}\n{done.out}{done.err}"
        known |= _call(work) if "{call}" in case.words else {}
        before = {path: path.stat().st_mtime_ns for path in _files(work)}
        done = command(_split(case.words, known), case.stdin)
    parts = [f"$ kgeval {case.words}", f"exit {done.code}"]
    parts += [f"--- {name}\n{normal(text.rstrip())}" for name, text in (("stdout", done.out), ("stderr", done.err)) if text.strip()]
    parts += [_shown(case, path, work) for path in _files(work) if before.get(path) != path.stat().st_mtime_ns]
    text = normal("\n".join(parts), work)
    if "{url}" in case.words:  # what signs scores knows the model's address
        text = re.sub(r"(@|&#64;)(\d+)(:|&#58;)[0-9a-f]{12}\b", r"\g<1>\g<2>:<digest>", text)
    for pattern in case.hidden:
        text = re.sub(pattern, "<measured>", text)
    return text


def _call(work: Path) -> dict[str, str]:
    """The first call of the journal, by its request."""
    with closing(sqlite3.connect(work / "cache" / "journal.sqlite")) as journal:
        (key,) = journal.execute("SELECT key FROM calls ORDER BY key").fetchone()
    return {"call": key[:12]}


def _split(line: str, values: Mapping[str, str]) -> list[str]:
    return [word.format_map(values) if re.search(r"\{(url|python|call)\}", word) else word for word in shlex.split(line)]


def _lay_out(case: Case, work: Path) -> None:
    for entry in case.inputs:
        name, _, where = entry.rpartition("<")
        place, _, rest = where.partition("/")
        source = PLACES[place] / rest
        target = work / (name or source.name)
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target)
        else:
            shutil.copyfile(source, target)
    for name, text in case.texts.items():
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).write_text(text, encoding="utf-8")


def _files(work: Path) -> list[Path]:
    """What lies in the folder, but for what a database keeps beside its file, and tables of many files."""
    found = (path for path in work.rglob("*") if path.is_file() and not path.name.endswith((".lock", "-wal", "-shm", "-journal")))
    return sorted(path for path in found if ".lance/" not in path.as_posix())


def _shown(case: Case, path: Path, work: Path) -> str:
    name = path.relative_to(work).as_posix()
    if not any(Path(name).match(pattern) for pattern in case.shown):
        return f"--- wrote {name} (not shown)"
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return f"--- wrote {name} (not text)"
    if path.suffix == ".html":
        text = page(text)
    elif path.suffix == ".json":
        text = json.dumps(_without_versions(json.loads(text)), indent=1, ensure_ascii=False)
    return f"--- wrote {name}\n{normal(text.rstrip())}"


def _without_versions(value: Any) -> Any:
    """A manifest names the versions of everything."""
    if isinstance(value, dict):
        return {key: dict.fromkeys(one, "<version>") if key == "libraries" else _without_versions(one) for key, one in value.items()}
    return [_without_versions(one) for one in value] if isinstance(value, list) else value


_VERSIONS = (  # of any kgeval: that the next one is out changes no golden
    (re.compile(r'(kgeval(?:-toolkit)?(?:",?\s*"version)?["\']?[ :=]*["\']?|"kgeval" value=")\d+\.\d+\.\d+\w*'), r"\1<version>"),
    (re.compile(r"\d+\.\d+\.\d+\w*(?= \(report schema)"), "<version>"),
    (re.compile(rf'("version": ?"){re.escape(kgeval.__version__)}(?=")'), r"\1<version>"),
    (re.compile(rf"(?i)(python\S{{0,3}}\s+){re.escape(python_version())}"), r"\1<version>"),
)
_RUNS = [(re.compile(pattern), by) for pattern, by in (
    (r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?", "<time>"),
    (r'("[a-z_]*seconds[a-z_]*": ?)-?\d[\d.e+-]*', r"\1<seconds>"),
    (r"\b\d[\d,]*(\.\d+)? ?(ms|s|min|h)\b(?! of)", "<duration>"),
    (r"(127\.0\.0\.1|localhost):\d+", r"\1:<port>"),
    (r"\b[45]:[0-9a-f]{8}-[0-9a-f-]{27}:\d+", "<element-id>"),
    (r"\bpid(\W{1,4})\d+", r"pid\1<pid>"),
    (r'(<testsuites? [^>]*time=")[\d.]+', r"\1<seconds>"),
    (r"#[0-9a-f]{8}\b", "#<tag>"),
    (r"\bNeo4j \d+\.\d+(\.\d+)?", "Neo4j <version>"),
    (r'("neo4j": "|"gds": "|\bgds +)\d+\.\d+\.\d+', r"\1<version>"),
    (r'("fingerprint": ")[0-9a-f]+', r"\1<digest>"),
    (r"(?m)^(extra +.+: )(installed|not installed: .+)$", r"\1<state>"),
    (r"\bcommand(:|&#58;)[0-9a-f]{12}\b", "command:<digest>"),  # it holds the path of Python; Markdown escapes : before some digits
    (r'("[\w/.-]+": ")[0-9a-f]{64}', r"\1<digest>"),
)]
_LIBRARIES = re.compile(r'"libraries": ?\{[^}]*\}')
_LONG = re.compile(r"(?<![\w.])-?\d+\.\d{10,}(?:e[+-]?\d+)?")


def fixed(text: str) -> str:
    """A text made from fixed data: kgeval's and Python's versions go, and long fractions keep ten digits (the last ones depend on the
    processor)."""
    for pattern, by in _VERSIONS:
        text = pattern.sub(by, text)
    return _LONG.sub(lambda number: f"{float(number[0]):.10g}", text)


def normal(text: str, work: Path | None = None) -> str:
    """A text of a run, besides without times, durations, ports, places, element ids, process ids, digests of files and queries, and the
    tags that stand for texts in a redacted report (they differ from run to run)."""
    places = [(str(work), "<here>"), (str(work.parent), "<around>")] if work else []
    for place, by in (*places, (sys.executable, "<python>"), (str(ROOT), "<root>")):
        text = text.replace(place, by)
    for pattern, by in _RUNS:
        text = pattern.sub(by, text)
    return fixed(_LIBRARIES.sub(lambda block: re.sub(r'(: ?")[^"]*"', r'\1<version>"', block[0]), text))


_VOID = frozenset(["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"])


class _Page(HTMLParser):
    """An HTML page as lines: an element a line, indented, its text behind it. Of a drawing stay its texts and the number of its marks;
    style, scripts and their hashes are left out (the data of a report stand in its JSON form)."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.lines: list[str] = []
        self.open: list[str] = []
        self.marks: list[int] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if "svg" in self.open:
            self.marks[-1] += tag in ("path", "use", "rect", "circle", "line", "polyline", "polygon")
        else:
            kept = [(name, value) for name, value in attrs if name not in ("d", "data-head")]
            given = " ".join(name if value is None else f'{name}="{_without_hashes(value)}"' for name, value in kept)
            self._line(f"<{tag}{' ' if given else ''}{given}>")
        if tag == "svg":
            self.marks.append(0)
        if tag not in _VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in _VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.open:
            return
        while self.open and self.open.pop() != tag:
            pass
        if tag == "svg" and (marks := self.marks.pop()):
            self._line(f" ({marks} marks)")

    def handle_data(self, data: str) -> None:
        text = " ".join(data.split())
        if not text or (self.open and self.open[-1] in ("style", "script")):
            return
        drawn = "svg" in self.open
        if self.lines and self.lines[-1].endswith(">") and not drawn and self.lines[-1].lstrip().startswith(f"<{self.open[-1]}"):
            self.lines[-1] += text
        else:
            self._line(text)

    def _line(self, text: str) -> None:
        self.lines.append(" " * len(self.open) + text)


def _without_hashes(value: str) -> str:
    return re.sub(r"sha256-[\w+/=]+", "sha256-<hash>", " ".join(value.split()))


def page(html: str) -> str:
    """The HTML page as lines that one can read in a diff."""
    reader = _Page()
    reader.feed(re.sub(r"</?abbr[^>]*>", "", html))  # the words of the glossary stand at the end of the page
    reader.close()
    return "\n".join(reader.lines)


def changes(before: str, after: str) -> str:
    """The lines that differ, without their places."""
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=0)
    kept = [line for line in lines if not line.startswith(("---", "+++", "@@"))]
    return "\n".join(kept) or "(the same)"
