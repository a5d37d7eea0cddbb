"""The tasks of kgeval as functions: a Session and options in, a Result out. The command line is written on them."""
