"""From what the engine sends to plain data, once a request; the only room that knows its encoding.

Numbers that are integral become ints, secrets are unwrapped, unknown values become `Unknown`.
"""
