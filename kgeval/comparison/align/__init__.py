"""Two answers to one length [Z 4]: the shorter one is asked for again with the target length, then words are added, then it is discarded.

    rule.py     the rule itself, and what it comes to (pure: who is asked again, and who adds words, is given)
    force.py    a model adds words without new meaning, or takes some away
    meaning.py  does an aligned answer still make the claims of the free one
"""
