"""Checks of any question, whoever made it: answerable from its evidence, closed book, unique, leak, near duplicate, absent.

    table.py    the checks, and what each needs
    leak.py     does the question say its answer: by words, no model
    asked.py    what a model is asked: from the evidence, without it, how many right answers
    proved.py   what the question's own Cypher proves in the graph
    paths.py    what the database proves of its gold path
    run.py      one question, or all of a file
    figures.py  counts, shares, intervals, differences
"""
