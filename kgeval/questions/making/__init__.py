"""Structure -> Question, a module a group of kinds. Each offers KINDS: tuple[Kind, ...]; kinds.py gathers them."""
