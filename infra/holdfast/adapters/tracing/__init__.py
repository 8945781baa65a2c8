"""Traces of Holdfast's own work: what a piece of work consisted of, and how long each step took."""
