"""People as judges: blind sheets out, labels back in, how far people and metrics agree.

    scales.py      the labels, and how people write them
    dimensions.py  the four dimensions of RAG answers: what people are asked and shown, which metrics measure the same
    drawing.py     which items, for whom, which answer first
    sheets.py      a folder of sheets and its key: CSV, and a page that works offline (page/)
    reading.py     filled sheets and the key -> labels, with every fault
    labels.py      files of labels (kgeval's own, and RAGChecker's), and labels as arrays
    predictors.py  metrics, judges and lengths as numbers for items
    measure.py     people with each other; predictors with people; which is nearest
    matrix.py      metrics with metrics
"""
