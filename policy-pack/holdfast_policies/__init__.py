"""The rules, each plain data and a pure function, and the two ways they are run.

Knows nothing of holdfast.
"""
