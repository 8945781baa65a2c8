"""The only room that talks to an API server: list, patch, audit log.

Knows no agents and no Pulumi.
"""
