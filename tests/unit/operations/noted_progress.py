"""Progress that a test reads."""


class NotedProgress:
    """Keeps every line."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def note(self, text: str) -> None:
        """Keep a remark."""
        self.lines.append(text)

    def step(self, text: str) -> None:
        """Keep a step."""
        self.lines.append(text)
