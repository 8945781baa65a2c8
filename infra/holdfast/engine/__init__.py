"""The only room that runs the Pulumi engine.

Its environment, its process, its events, its failures.
"""
