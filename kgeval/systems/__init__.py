"""Systems under test: a question in, an Answer out.

    system.py    what a system is: the interface, and what it is shown of a question
    spec.py      closed-book | vector | graph | graph+text | communities | command:... | http:URL | file:PATH | ADAPTER[:MODE]
                 -> an open system
    engine.py    questions -> answers: in order, resumable, with time-outs, trials and budget
    builtin/     closed book, vector (LanceDB), graph and graph+text (LanceDB and Cypher), readers, sweep
    outside/     a process that speaks JSONL, an HTTP endpoint, a file of answers, a function of Python
    adapters/    scripts that wrap other packages, each run in an environment of its own
"""
