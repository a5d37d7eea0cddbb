"""Are two names one thing? One answer for builds, audits, completeness, questions and metrics."""

from kgeval.names.compare import NameVerdict, compare_names
from kgeval.names.groups import group_names, with_type

__all__ = ["NameVerdict", "compare_names", "group_names", "with_type"]
