"""Findings and violations to text and files: the only room that formats.

Writes only where the caller says.
"""
