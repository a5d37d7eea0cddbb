"""The whole run as one task (`kgeval run`): what a configuration comes to, in which order, and what of it is done already."""
