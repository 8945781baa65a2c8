"""Manifests validated, rendered and judged without cluster or engine."""
