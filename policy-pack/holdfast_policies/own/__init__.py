"""A company's own rules: Python files beside the pack, read as text and checked before they run."""
