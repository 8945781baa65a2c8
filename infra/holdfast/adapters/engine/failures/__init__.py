"""What the engine says when it fails, with a remedy for each reason that is known."""
