"""A document as one HTML file (templates/document.html.j2; page.py adds style, script, policy and the report as JSON)."""

from __future__ import annotations

from kgeval import __version__
from kgeval.records import RunManifest
from kgeval.reports import page
from kgeval.reports.document import Document, sections_of
from kgeval.reports.glossary import Words


def render(doc: Document, report: page.Report) -> str:
    """The page: the whole document, and the report as JSON in `<script id="report" type="application/gzip">`, compressed."""
    if report.run is None:  # a diff within another report has no run of its own
        run = RunManifest(kgeval=__version__, command=f"kgeval {doc.command}", started="", seconds=0)
        report = report.model_copy(update={"run": run})
    words = Words()
    context = {"doc": doc, "sections": sections_of(doc, "html"), "explain": words.explain, "words": words.listed}
    return page.render("document.html.j2", report, context)
