"""`holdfast drift watch`: reports drift of a stack while it comes and goes."""
