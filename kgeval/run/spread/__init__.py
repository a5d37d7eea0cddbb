"""Spreading a command over workers: its shards as commands of their own, in processes here (local) or on a Ray cluster (ray_).

What crosses to a worker is an argument list, a folder and environment variables; what comes back is an exit code and last words.
Results are files, which a worker writes and whoever started it reads.
"""
