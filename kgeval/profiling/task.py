"""The task behind `kgeval profile` and `kgeval.profile`: options in, a result out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kgeval.profiling.options import ProfileOptions
from kgeval.workflows.result import Result
from kgeval.workflows.session import Session

if TYPE_CHECKING:
    import pandas as pd

    from kgeval.profiling.record import GraphProfile


@dataclass(frozen=True)
class ProfileResult(Result):
    """What a graph is. `report`: a ProfileReport."""

    @property
    def profile(self) -> GraphProfile:
        """What the graph is: labels, types, kind."""
        found: GraphProfile = self.report.profile
        return found

    def to_pandas(self) -> pd.DataFrame:
        """A row a label: nodes, role, kind, keys, name, and whether names identify."""
        import pandas as pd

        return pd.DataFrame([one.model_dump(mode="json", exclude={"properties"}) for one in self.report.profile.labels])


def run(session: Session, options: ProfileOptions) -> ProfileResult:
    """The profile of the session's graph. Reads only; asks no model. Raises: ConnectError, LayoutError, QueryTimeout, UsageError."""
    from kgeval.graph.queries import all_queries
    from kgeval.profiling.engine import profile_graph
    from kgeval.profiling.record import ProfileReport
    from kgeval.reports.write import check_outputs

    check_outputs(session.outputs, ProfileReport)
    graph = session.graph
    with graph.remembering():  # what the layout was bound by is not asked again
        layout = session.bound_layout()
        profile = profile_graph(graph, layout, seed=options.seed, timeout=options.timeout)
    run = session.manifest(
        options, server=graph.info, seed=options.seed,
        hashes={query.name: query.sha256 for query in all_queries().values() if query.folder == "profile"},
    )
    name = session.graph_name or session.config.graph.name
    return ProfileResult(ProfileReport(run=run, graph=name, layout=layout, profile=profile))
