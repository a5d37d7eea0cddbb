"""Two answers to one length [Z 4]: the shorter one is asked for again with the target length, then words are added, then it is discarded.

    shape.py    what an alignment comes to
"""
