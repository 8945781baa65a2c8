"""How verbs write: whether the terminal wants colour."""

import os
import sys


def wants_colour() -> bool:
    """Whether standard output is a terminal whose user has not said no (NO_COLOR)."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")
