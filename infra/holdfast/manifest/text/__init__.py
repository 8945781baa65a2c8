"""YAML text to plain data and back, with file and line."""
