"""Facts that a model is asked for: claims, verdicts, ratings; and the dry run of the same."""
