"""Desired and live objects of a stack to findings."""
