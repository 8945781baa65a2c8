"""Drift of what an agent depends on and no object shows: images on nodes, models, tools, cards.

Each probe asks one thing and compares the answer with what was declared. Judging is pure; what is
asked over a network is asked by one function in each file. What cannot be asked is not checked.
"""
