"""The state of a stack: checkpoint, baseline, history, backups and repairs."""
