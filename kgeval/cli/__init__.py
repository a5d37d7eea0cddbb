"""The command line: one file a command group. Prints and exit codes live here and nowhere else."""
