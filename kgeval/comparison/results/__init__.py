"""Arrays of pairs -> the report: rates, boxes, intervals, ranking, judge report. Pure: no model, no file.

    found.py    what a run hands over
"""
