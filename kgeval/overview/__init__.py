"""One report over all reports of a run.

`sources`: files and folders -> reports, each recognised by its fields (`kinds`). `whole`: reports -> OverviewReport, by `figures`,
`findings`, `gates`, `mending`, `rubric`, `costs` and, against a baseline, `diff`. `parts`: the record as tables of texts for every form;
`html`, `markdown`, `terminal`, `junit`, `sarif`: the forms.
"""
