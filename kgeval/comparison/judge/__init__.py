"""The procedures: what a judge is shown, how his reply becomes verdicts, and the grades of the four aspects."""
