"""The verbs of the Git loop."""
