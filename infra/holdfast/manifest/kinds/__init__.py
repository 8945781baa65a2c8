"""The other kinds that may stand in `agents/`, and their versions."""
