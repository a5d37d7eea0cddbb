"""What a run consists of: places of the matrix, and stages. A stage is one task, and a command of kgeval that anybody can run by hand."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kgeval.config import BatchOptions, Config, ModelOptions, Section, SessionOptions
from kgeval.config.words import Option, faults_in, from_environment, merged, options_in, values_of, words_of
from kgeval.records import RunPlace
from kgeval.records.model import Role
from kgeval.workflows.session import Session, options_of

if TYPE_CHECKING:
    from kgeval.llm.plan import Plan
    from kgeval.reports.page import Report
    from kgeval.workflows.audit import AuditRequest

LOGS = "logs"  # the folder of messages, below that of the run


class MatrixPlace(RunPlace):
    """One place of the matrix, and what its folders are called."""

    @property
    def parts(self) -> tuple[str, ...]:
        """The place as names of folders, outermost first; () where there is no matrix."""
        share = None if self.share is None else f"corpus-{self.size}"
        return tuple(part for part in (self.dataset, self.variant, share, self.reader) if part is not None)

    @property
    def size(self) -> str:
        """The size of the corpus as a part of names: `0.5`, `56000`; "" where it is whole."""
        if self.share is None:
            return ""
        return f"{self.share:g}" if self.share <= 1 else f"{self.share:.15g}"  # folders of shares are called as they always were

    @property
    def graph(self) -> MatrixPlace:
        """The same place without its reader: graphs do not depend on who reads them."""
        return MatrixPlace(dataset=self.dataset, variant=self.variant, share=self.share)


@dataclass(frozen=True)
class StageKind:
    """A kind of stage.

    `command`: its words after `kgeval`. `options`: the class of its own options. `session`: the fields of SessionOptions that the command
    has. `role`: of the model that it may ask. `run`: (session, files, options) -> Result. `plan`: the same for a dry run; None: it asks
    nothing. `section`: of kgeval.toml with its options. `files`: what the manifest calls the files and folders that it is given;
    `file`: where it is just one. `resumes`: the field with which it goes on where it was cut off. `writes`: whether an output is a
    report, to be written from the result; `record`: the class of that, where it has forms of its own.
    """

    name: str
    command: tuple[str, ...]
    options: type[Section]
    session: tuple[str, ...] = ()
    role: Role | None = None
    batches: bool = False
    run: Callable[[Session, Sequence[Path], Any], Any] = lambda session, files, options: None
    plan: Callable[[Session, Sequence[Path], Any], Plan] | None = None
    section: str | None = None
    files: str | None = None
    file: str | None = None
    resumes: str | None = None
    writes: Callable[[Path], bool] = lambda path: True
    record: type[Report] | None = None

    @property
    def asks(self) -> bool:
        """Whether it may ask a model."""
        return self.role is not None

    @cached_property
    def classes(self) -> tuple[type[Section], ...]:
        """The options classes that its flags are fields of, but SessionOptions."""
        return (self.options, *((ModelOptions,) if self.role else ()), *((BatchOptions,) if self.batches else ()))

    @cached_property
    def flags(self) -> tuple[Option, ...]:
        """All its flags."""
        return (*options_in(self.classes), *options_in([SessionOptions], self.session))


@dataclass(frozen=True)
class Stage:
    """One task of a run. `files`: what it is about; `given`: what was said of its options and its session, field by field, its outputs
    among them; `unsaid`: further ones, which change no result; `faults`: keys of `[run.options]` that cannot be; `needs`: ids of stages
    that must be done before; `inputs`: files that it reads and no stage makes; `outputs`: what it makes; `sections`: of kgeval.toml, that
    its result depends on. `makes`, `reads`: the graph that it writes, and one that no stage of the run makes ("": the whole database).
    `gathers`: it makes do with what there is of what it needs."""

    kind: StageKind
    place: MatrixPlace
    files: tuple[Path, ...] = ()
    given: Mapping[str, Any] = field(default_factory=dict)
    needs: tuple[str, ...] = ()
    inputs: tuple[Path, ...] = ()
    outputs: tuple[Path, ...] = ()
    sections: tuple[str, ...] = ()
    unsaid: Mapping[str, Any] = field(default_factory=dict)
    makes: str | None = None
    reads: str | None = None
    gathers: bool = False
    faults: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """The stage's name in the run: place and kind."""
        return "/".join((*self.place.parts, self.kind.name))

    @property
    def argv(self) -> tuple[str, ...]:
        """The words after `kgeval` that its result depends on."""
        return (*self.kind.command, *map(str, self.files), *words_of(self.kind.flags, self.given))

    @property
    def words(self) -> tuple[str, ...]:
        """All words after `kgeval`."""
        return (*self.argv, *words_of(self.kind.flags, self.unsaid))

    @property
    def line(self) -> str:
        """The command line, ready for a shell."""
        return shlex.join(("kgeval", *self.words))

    def with_options(self, **given: Any) -> Stage:
        """The stage with options that count before its own."""
        return replace(self, given={**self.given, **given})

    @cached_property
    def chosen(self) -> dict[str, Any]:
        """What counts of all that is said: here, then in the environment."""
        variables = from_environment(self.kind.flags, "_".join(("KGEVAL", *self.kind.command)))
        if self.given.get("home") is not None and "uri" not in self.given:
            variables = {name: value for name, value in variables.items() if name != "uri"}  # what is said counts, not the environment
        return {**variables, **merged(self.given, self.unsaid)}

    def options(self, config: Config) -> Section | AuditRequest:
        """The options of its task: what was said over its section of kgeval.toml; of an audit, what they mean too. Raises: UsageError with
        all faults."""
        from kgeval.workflows.audit import audit_request

        own = values_of(self.kind.options, self.chosen)
        if self.kind.section == "audit":
            return audit_request(config, own)  # settings and thresholds add up, by check
        return options_of(self.kind.options, own, getattr(config, self.kind.section) if self.kind.section else None)

    def session_options(self) -> SessionOptions:
        """What was said of its session. Raises: UsageError with all faults."""
        return options_of(SessionOptions, values_of(SessionOptions, self._of_session()))

    def _of_session(self) -> dict[str, Any]:
        """What was said of its session alone: import has a field `form` of its own, which is no form of a report. The cache folder
        of models is that of embeddings too."""
        return {name: value for name, value in self.chosen.items() if name in (*self.kind.session, "cache_dir")}

    def wrong(self) -> list[str]:
        """Every fault of what was said, a line each."""
        values = [fault for kind in self.kind.classes for fault in faults_in(kind, self.chosen)]
        values += faults_in(SessionOptions, self._of_session())
        flags = tuple(fault.partition(" ")[0] for fault in self.faults)  # a flag that is wrong itself has no value that could be
        return [*self.faults, *(fault for fault in values if fault.partition(":")[0] not in flags)]
