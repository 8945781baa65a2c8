"""Prints what every field moves and how it is refused: `python -m tests.golden`."""

import sys

from tests.golden.field_table import moves_of_samples, names, refused

if __name__ == "__main__":
    for name in names():
        moved = ", ".join(moves_of_samples().get(name, ["nothing by itself"]))
        sys.stdout.write(f"{name}\n  moves: {moved}\n  refuses: {refused().get(name, 'nothing')}\n")
