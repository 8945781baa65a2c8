"""Holds a stack to a branch: commits, drift, nodes and metrics are its triggers."""
