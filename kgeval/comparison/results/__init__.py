"""Arrays of pairs -> the report: rates, boxes, intervals, ranking, judge report. Pure: no model, no file.

    inputs.py    what a run hands over
    pair.py      one pair of systems;  stopped_pairs.py: pairs that were stopped when sure
    tally.py     what a judge's calls say of the judge, counted by question;  judge.py: the judge report
    build.py     the report, its ranking, cautions and drill-down
"""
