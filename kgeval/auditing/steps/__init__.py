"""Checks whose last step is Python: one module a rule, `run(check) -> CheckOutcome`."""
