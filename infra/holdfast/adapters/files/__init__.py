"""The file system: files that are written whole or not at all."""
