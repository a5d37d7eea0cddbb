"""People as judges: blind sheets out, labels back in, how far people and metrics agree."""
