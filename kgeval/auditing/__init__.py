"""Checks over a graph: rules, structure figures, and the engine that turns both into an audit report."""
