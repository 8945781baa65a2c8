"""Kubernetes vocabulary: objects, references, field paths, quantities, names, managed fields.

Knows no agents and does no I/O; everything here is data and pure functions.
"""
