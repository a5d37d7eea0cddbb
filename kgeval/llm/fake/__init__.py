"""Fakes that are part of the product: a scripted model, and an HTTP server that speaks the protocol, with faults on demand."""
