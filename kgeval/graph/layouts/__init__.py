"""Layouts: how a graph is stored. Load, recognise, override, bind to a database."""

from kgeval.graph.layouts.bind import bind
from kgeval.graph.layouts.catalogue import PAIR_LABELS, Catalogue, Index, catalogue
from kgeval.graph.layouts.detect import Candidate, Detection, detect, misfit
from kgeval.graph.layouts.profile import Detect, Profile, fixes_types, load_profile, names, override, profiles

__all__ = [
    "PAIR_LABELS", "Candidate", "Catalogue", "Detect", "Detection", "Index", "Profile", "bind", "catalogue", "detect", "fixes_types",
    "load_profile", "misfit", "names", "override", "profiles",
]
