"""Systems that are not kgeval's: a process that speaks JSONL, an HTTP endpoint, a file of answers, a function of
Python."""
