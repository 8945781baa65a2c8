"""`make demo`: the main job of Holdfast on the embedded sandbox, told as a story."""

import sys

from examples.demo.story import tell

if __name__ == "__main__":
    sys.exit(tell())
