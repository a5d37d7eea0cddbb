"""Checks of any question, whoever made it: answerable from its evidence, closed book, unique, leak, near duplicate,
absent.

    check_table.py    the checks, and what each needs
    leak.py           does the question say its answer: by words, no model
    model_checks.py   what a model is asked: from the evidence, without it, how many right answers
    cypher_checks.py  what the question's own Cypher proves in the graph
    path_checks.py    what the database proves of its gold path
    run.py            one question, or all of a file
    figures.py        counts, shares, intervals, differences
    gates.py          thresholds on shares
"""
