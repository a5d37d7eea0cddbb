"""Are two names one thing? One answer for builds, audits, completeness, questions and metrics."""
