"""Judges with known biases and a known truth: the proof that the procedure is unbiased. Pure."""
