"""One report over all reports of a run.

`sources`: files and folders -> reports, each recognised by its fields (`kinds`). `build`: reports -> OverviewReport, by `figures`,
`findings`, `gates`, `rubric`, `costs`, `recommendations`, `verdicts` and, against a baseline, `diff`. `priorities`: the findings of one
audit in order; `score_verdict`: who leads by its scores. Nothing here renders: kgeval/reports does.
"""
