"""The whole run as one command (`kgeval run`), and commands spread over workers (spread/). It starts commands of kgeval; what a stage
does is in the rooms before this one.
"""
