"""What a run consists of: places of the matrix, and stages. A stage is one command of kgeval that anybody can run by hand."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path

from kgeval.records import RunPlace

STAGES = (
    "build", "import", "audit", "completeness", "accuracy", "questions", "check", "coverage", "answers", "scores", "contamination",
    "compare", "matrix", "report",
)
LOGS = "logs"  # the folder of messages, below that of the run
COMMANDS = {
    "questions": ("questions", "generate"), "check": ("questions", "check"), "coverage": ("questions", "coverage"),
    "answers": ("answer",), "scores": ("score",), "matrix": ("report", "score-matrix"),
}


class Place(RunPlace):
    """One place of the matrix, and what its folders are called."""

    @property
    def parts(self) -> tuple[str, ...]:
        """The place as names of folders, outermost first; () where there is no matrix."""
        share = None if self.share is None else f"corpus-{self.share:g}"
        return tuple(part for part in (self.dataset, self.variant, share, self.reader) if part is not None)

    @property
    def graph(self) -> Place:
        """The same place without its reader: graphs do not depend on who reads them."""
        return Place(dataset=self.dataset, variant=self.variant, share=self.share)


@dataclass(frozen=True)
class Stage:
    """One command of a run. `argv`: its words after `kgeval`; `unsaid`: further words, which change no result; `needs`: ids of stages that
    must be done before; `inputs`: files that it reads and no stage makes; `outputs`: what it makes; `sections`: of kgeval.toml, that its
    result depends on; `asks`: it may ask a model; `resumes`: the flag with which it goes on where it was interrupted. `makes`, `reads`:
    the graph that it writes, and one that no stage of the run makes ("": the whole database). `gathers`: it makes do with what there is
    of what it needs."""

    kind: str
    place: Place
    argv: tuple[str, ...]
    needs: tuple[str, ...] = ()
    inputs: tuple[Path, ...] = ()
    outputs: tuple[Path, ...] = ()
    sections: tuple[str, ...] = ()
    asks: bool = False
    resumes: str | None = None
    unsaid: tuple[str, ...] = ()
    makes: str | None = None
    reads: str | None = None
    gathers: bool = False

    @property
    def id(self) -> str:
        """The stage's name in the run: place and kind."""
        return "/".join((*self.place.parts, self.kind))

    @property
    def words(self) -> tuple[str, ...]:
        """All words after `kgeval`."""
        return (*self.argv, *self.unsaid)

    @property
    def line(self) -> str:
        """The command line, ready for a shell."""
        return shlex.join(("kgeval", *self.words))


def command_of(kind: str) -> tuple[str, ...]:
    """The command that carries out a kind of stage."""
    return COMMANDS.get(kind, (kind,))
