"""What of a graph the questions of a file touch, and what they miss."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from kgeval.config import CoverageOptions
from kgeval.workflows.result import Result, exit_code
from kgeval.workflows.rows import STDIN, names_of, questions_of
from kgeval.workflows.session import Session

if TYPE_CHECKING:
    import pandas as pd




@dataclass(frozen=True)
class CoverageResult(Result):
    """What sets of questions cover of a graph. `report`: a CoverageReport."""

    def to_pandas(self) -> pd.DataFrame:
        """A row a facet of a set: file, and the facet's figures, without its groups."""
        import pandas as pd

        lists = {"groups", "missing", "parameters"}
        rows = [{"file": one.file, **figure.model_dump(mode="json", exclude=lists)} for one in self.report.sets for figure in one.figures]
        return pd.DataFrame(rows)


def run(session: Session, files: Sequence[Path], options: CoverageOptions) -> CoverageResult:
    """What the questions of one file or two cover of the session's graph. No model is asked.

    Raises: UsageError, InputError, ConnectError.
    """
    from kgeval.graph.queries import all_queries
    from kgeval.questions.checking.gates import parse_check_gates
    from kgeval.questions.coverage import FACETS, coverage, evaluated
    from kgeval.questions.covering.graph_groups import load_graph_groups
    from kgeval.records import CoverageReport
    from kgeval.reports.write import check_outputs

    names = names_of(session, files, "described")
    gates = parse_check_gates(options.thresholds, FACETS, names, noun="facet")
    check_outputs(session.outputs, CoverageReport, read=files)
    with ExitStack() as stack:
        sets = [stack.enter_context(questions_of(session, path, options)) for path in files]
        graph, layout = session.graph, session.bound_layout()
        land = load_graph_groups(graph, layout, timeout=options.timeout, seed=options.seed)
        covered = [coverage(question_set, land, name, examples=options.examples) for question_set, name in zip(sets, names, strict=True)]
    results = evaluated(gates, covered)
    code = exit_code(results)
    run = session.manifest(
        options, server=graph.info, inputs=[path for path in files if path != STDIN], seed=options.seed, exit_code=code,
        hashes={query.name: query.sha256 for query in all_queries().values() if query.name.startswith("coverage-")},
    )
    untyped = f"{land.untyped:,} of {len(land.ids):,} entities have no type, and are in no group of types"
    report = CoverageReport(
        run=run, graph=session.graph_name or session.config.graph.name, layout=layout, entities=len(land.ids),
        relations=sum(land.sizes["predicates"].values()), sets=covered, gates=results, notes=[untyped] if land.untyped else [],
    )
    return CoverageResult(report)
