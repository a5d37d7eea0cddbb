"""The procedures: what a judge is shown, how its reply becomes verdicts, and the grades of the four aspects."""
