"""The unbiased comparison of systems: answers + judge + statistics -> Comparison; and agreement with people.

    pairs.py      which questions two systems share, what one of them lacks; the pairs that a run compares
    answering.py  a question, a pair and a trial -> the two answers as they are judged, each asked once
    answering_plan.py  what of that is known without asking, and what the rest takes
    sources.py    where a system's answers come from: a file, a system that is asked, a second run
    alignment_log.py  what alignment, meaning and use came to, in temporary tables
    verdict_store.py  the verdicts of a run on disk as they come; planning.py: what the judge would be asked
    align/        bringing two answers to one length: asked again, words added, discarded; does the meaning stay
    judge/        the procedures: what a judge is shown, how its reply becomes verdicts, the grades
    engine.py     questions x trials x positions x repeats -> verdicts, resumable; stops when it is sure
    rejoined.py   the same over verdicts that parts of a run have already
    table.py      verdicts -> arrays of one pair (pure)
    given/        scores and verdicts of somebody else's judge -> the same arrays (pure)
    corrected.py, drift.py  a judge against labels of people, and against itself at another time (pure)
    results/      arrays -> ComparisonReport: rates, boxes, intervals, ranking, judge report (pure)
    simulate/     judges with known biases and a known truth: the proof that the procedure is unbiased (pure)
    people/       sheets for people, labels back in, agreement between people and with metrics
"""
