"""Rendered objects as Pulumi component resources, for our program and for those of other teams.

A constructor validates, renders, registers and gives its outputs; it reads no file and
computes nothing.
"""
