"""Holdfast: AI agents declared in Git, deployed by Pulumi, and held to what was declared."""

__version__ = "0.1.0"
