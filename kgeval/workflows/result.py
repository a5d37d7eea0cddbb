"""What a task of the library gives back: a record, and what can be done with it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kgeval.errors import GateError, KgevalError

if TYPE_CHECKING:
    import pandas as pd



@dataclass(frozen=True)
class Result:
    """`report`: the record, as its JSON has it. `fault`: what went wrong after it was made, if anything did (a file beside it could not be
    written). A notebook shows it as its page; `print` shows the summary."""

    report: Any
    fault: KgevalError | None = None

    @property
    def exit_code(self) -> int:
        """As the command's: 0 done, 1 a gate is missed, 3 something is incomplete or a gate has no answer."""
        return int(self.report.run.exit_code)

    @property
    def gates(self) -> list[Any]:
        """The gates that were asked for: id, limit, value, met (None: not answered), reason."""
        return list(self.report.gates)

    def raise_for_gates(self) -> None:
        """Raises: GateError with every gate that is missed or has no answer; nothing where all are met."""
        from kgeval.reports.display import beyond

        faults = []
        for gate in (one for one in self.gates if one.decides and not one.met):
            value = "" if gate.value is None else beyond(gate.value, gate.limit)
            why = ": ".join(filter(None, [value, gate.reason]))
            what = "not answered" if gate.met is None else "missed"
            faults.append(f"{gate.id} {gate.limit} is {what}" + (f" ({why})" if why else ""))
        if faults:
            raise GateError("; ".join(faults))

    def save(self, path: str | Path, *, redact: bool = False) -> Path:
        """Writes the report; the ending of the name chooses the form (.html, .json, .md and those of its kind). `redact`: without the texts
        and names of users.

        Raises: UsageError for an ending that this kind of report does not have, or where the file cannot be written.
        """
        from kgeval.reports.write import write_report

        write_report(self.report, Path(path), redact=redact)
        return Path(path)

    def to_dict(self) -> dict[str, Any]:
        """The record as plain data, as the JSON report has it."""
        data: dict[str, Any] = self.report.model_dump(mode="json")
        return data

    def to_pandas(self) -> pd.DataFrame:
        """The rows of the report."""
        raise NotImplementedError

    def rendered(self, form: str, *, redact: bool = False) -> str:
        """The report in one form: text, json, md, html and those of its kind. Raises: UsageError for another form."""
        from kgeval.reports.write import rendered

        return rendered(self.report, form, redact=redact)  # type: ignore[arg-type]  # another form is refused by name

    def _repr_html_(self) -> str:
        """The page in a frame of its own, so that neither its styles nor the notebook's reach the other."""
        from html import escape

        page = escape(self.rendered("html"), quote=True)
        return f'<iframe srcdoc="{page}" style="width:100%;height:40em;border:1px solid #ccc" sandbox="allow-scripts"></iframe>'

    def __str__(self) -> str:
        return self.rendered("text").rstrip("\n")

    def __repr__(self) -> str:
        return f"{type(self).__name__}(exit_code={self.exit_code})"
